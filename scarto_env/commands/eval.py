"""``scarto eval``: bots on duplicate deals."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from scarto_env.arena import NAMED_SETS, DealSet, Duel, Estimate, deal_set, duel
from scarto_env.batch import Batch
from scarto_env.bots import make_bot
from scarto_env.commands.options import BAR_MISSED, json_option, print_json, refused, rules_option
from scarto_env.notation import Record, record_of, save_records
from scarto_env.rules import Rules, rules_name

_CANDIDATE: Final = "heuristic"
_REFERENCES: Final = ("random", "greedy")
_SAMPLES: Final = 10
_HEADS: Final = (
    "candidate",
    "against",
    "points a deal, 95 %",
    "verdict",
    "hands won",
    "by role",
    "decisions/s",
    "illegal",
)


@click.command("eval")
@click.argument("candidate", default=_CANDIDATE, metavar="[BOT]")
@click.argument("opponents", nargs=-1, metavar="[OPPONENT]...")
@click.option("--against", "-a", multiple=True, metavar="BOT", help="Opponent; may be repeated [random and greedy].")
@click.option("--deals", default="1000", show_default=True, help=f"How many, or a set: {', '.join(NAMED_SETS)}.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Deals of this seed.")
@click.option("--both-ways", is_flag=True, help="Also seat the opponent alone against copies of the candidate.")
@click.option("--at-least", type=float, help="Exit 1 unless the whole 95 % interval is above this many points a deal.")
@click.option("--records", type=click.Path(dir_okay=False), help=f"Write the first {_SAMPLES} deals to this file.")
@rules_option
@json_option
@click.pass_context
def evaluate(
    context: click.Context,
    candidate: str,
    opponents: Sequence[str],
    against: Sequence[str],
    deals: str,
    seed: int,
    both_ways: bool,
    at_least: float | None,
    records: str | None,
    rules: Rules,
    as_json: bool,
) -> None:
    """Measure a bot against copies of others on duplicate deals: every deal is played in every seat.

    Points are settled scores; equal bots have 0.  The deal, not the hand, is the unit of the interval.

    \b
    Examples:
      scarto eval
      scarto eval greedy --against random --deals 300
      scarto eval search:worlds=40 -a heuristic --deals test-1000 --at-least 3.5
      scarto eval checkpoints/scarto-base -a heuristic --json
      scarto eval sb3:model.zip heuristic
    """  # noqa: D301
    against = (*opponents, *against)
    with refused(ValueError, TypeError):
        chosen = deal_set(int(deals) if deals.isdecimal() else deals, rules, seed)
        for name in (candidate, *against):
            make_bot(name, rules=rules)
    duels = []
    for opponent in against or _REFERENCES:
        sys.stderr.write(f"{candidate} against {opponent}: {chosen.num_deals} deals in {rules.players} seats\n")
        duels.append(duel(candidate, opponent, rules, chosen, seed=seed, both_ways=both_ways))
    if records:
        with refused(OSError):
            save_records(records, _sampled(candidate, (against or _REFERENCES)[0], chosen))
    command = f"scarto eval {' '.join(sys.argv[2:])}".rstrip()
    if as_json:
        print_json({"command": command, **_set_fields(chosen), "duels": [_fields(result) for result in duels]})
    else:
        click.echo(f"{rules_name(rules)}; {chosen.name}, hash {chosen.digest()}")
        click.echo(_table(duels))
    missed = at_least is not None and any(result.interval[0] <= at_least for result in duels)
    if missed:
        sys.stderr.write(f"missed: the interval is not all above {at_least:g}\n")
        context.exit(BAR_MISSED)


def _table(duels: Sequence[Duel]) -> str:
    rows = [_HEADS]
    for result in duels:
        usage = result.usage[0]
        roles = ", ".join(f"{role} {estimate.mean:+.1f}" for role, estimate in result.alone.by_role.items())
        rows.append((
            result.candidate, result.reference, str(result.alone.points), result.verdict,
            f"{result.alone.won:.0%}", roles, f"{usage.decisions_a_second:,.0f}", str(usage.illegal),
        ))  # fmt: skip
        if result.opposed is not None:
            roles = ", ".join(f"{role} {estimate.mean:+.1f}" for role, estimate in result.opposed.by_role.items())
            usage = result.usage[1]
            rows.append((
                result.reference, result.candidate, str(result.opposed.points), result.opposed.points.verdict,
                f"{result.opposed.won:.0%}", roles, f"{usage.decisions_a_second:,.0f}", str(usage.illegal),
            ))  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _set_fields(deals: DealSet) -> dict[str, Any]:
    return {"rules": rules_name(deals.rules), "deals": deals.num_deals, "set": deals.name, "hash": deals.digest()}


def _fields(result: Duel) -> dict[str, Any]:
    sides = {"alone": result.alone, "opposed": result.opposed}
    return {
        "candidate": result.candidate,
        "against": result.reference,
        **{
            name: {
                "points": _estimate(side.points),
                "by_role": {role: _estimate(estimate) for role, estimate in side.by_role.items()},
                "won": side.won,
            }
            for name, side in sides.items()
            if side is not None
        },
        "verdict": result.verdict,
        "usage": {
            name: {
                "decisions": usage.decisions,
                "decisions_a_second": round(usage.decisions_a_second),
                "illegal": usage.illegal,
            }
            for name, usage in zip(("candidate", "against"), result.usage, strict=True)
        },
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"mean": estimate.mean, "interval": list(estimate.interval), "deviation": estimate.deviation}


def _sampled(candidate: str, reference: str, deals: DealSet) -> Iterator[Record]:
    """Yield records of the first deals, the candidate in seat 0."""
    rules = deals.rules
    names = [candidate, *[reference] * (rules.players - 1)]
    bots = [make_bot(name, rules=rules, seed=deals.seed) for name in names]
    for number in range(min(_SAMPLES, deals.num_deals)):
        seed = deals.batch_seed(number)
        batch = Batch(1, rules, seed=seed, threads=1, redeal=False)
        for _ in range(rules.num_decisions):
            batch.step(bots[int(batch.seat[0])].act(batch.observation, batch.action_mask))
        yield record_of(batch.games[0], rules, seats=names, seed=seed)
