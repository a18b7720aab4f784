"""``scarto eval``: bots on duplicate deals."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

import click

from scarto_env.arena import NAMED_SETS, Evaluation, deal_set, evaluate, to_html, to_markdown, to_text
from scarto_env.bots import make_bot
from scarto_env.commands.options import (
    BAR_MISSED,
    check_output,
    finite,
    json_option,
    number_or_name,
    print_json,
    refused,
    rules_option,
)
from scarto_env.rules import Rules

_CANDIDATE: Final = "heuristic"
_OPPONENTS: Final = ("random", "greedy")


@click.command("eval")
@click.argument("candidate", default=_CANDIDATE, metavar="[BOT]")
@click.argument("opponents", nargs=-1, metavar="[OPPONENT]...")
@click.option("--against", "-a", multiple=True, metavar="BOT", help="One more opponent [random and greedy].")
@click.option("--deals", default="1000", show_default=True, help=f"How many, or a set: {', '.join(NAMED_SETS)}.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Deals of this seed.")
@click.option("--mixed-deals", type=click.IntRange(min=0), default=200, show_default=True,
              help="Deals at each table of different bots, at most; 0 for no such tables.")  # fmt: skip
@click.option("--at-least", type=float, metavar="POINTS", callback=finite,
              help="Exit 1 unless the first bot's whole 95 % interval against each other is above this.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with plots to this file.")
@click.option("--ray", "cluster", metavar="WHERE",
              help="Play on a Ray cluster: local, auto or an address; the numbers are the same.")  # fmt: skip
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--records", type=click.Path(dir_okay=False), help="Write the sample deals to this file.")
@rules_option
@json_option
@click.pass_context
def evaluate_command(
    context: click.Context,
    candidate: str,
    opponents: Sequence[str],
    against: Sequence[str],
    deals: str,
    seed: int,
    mixed_deals: int,
    at_least: float | None,
    html: str | None,
    cluster: str | None,
    markdown: bool,
    records: str | None,
    rules: Rules,
    as_json: bool,
) -> None:
    """Measure bots against each other on duplicate deals: every deal is played in every seat.

    Points are settled scores; equal bots have 0.  The deal, not the hand, is the unit of the interval.

    \b
    Examples:
      scarto eval
      scarto eval greedy random --deals 300
      scarto eval search:worlds=40 heuristic --deals test-1000 --at-least 3.5
      scarto eval checkpoints/scarto-base heuristic greedy --html arena.html
      scarto eval search heuristic --deals test-10000 --ray auto
    """  # noqa: D301
    bots = (candidate, *((*opponents, *against) or (name for name in _OPPONENTS if name != candidate)))
    check_output(html, records)
    with refused(ValueError, TypeError):
        chosen = deal_set(number_or_name(deals), rules, seed)
        for name in bots:
            make_bot(name, rules=rules)
        steps = _num_steps(len(bots), rules, mixed_deals)
        with _executor(cluster) as executor, _progress(steps) as progress:
            result = evaluate(bots, rules, chosen, seed, mixed_deals, progress=progress, executor=executor)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(to_markdown(result) if markdown else to_text(result), nl=False)
    with refused(OSError):
        if records:
            Path(records).write_text("\n".join(result.samples), encoding="utf-8", newline="")
        if html:
            Path(html).write_text(to_html(result), encoding="utf-8")
    if at_least is not None and _lowest(result) <= at_least:
        sys.stderr.write(f"missed: {candidate}'s interval is not all above {at_least:g}\n")
        context.exit(BAR_MISSED)


def _lowest(result: Evaluation) -> float:
    """Return the lowest end of the first bot's intervals."""
    first = result.bots[0]
    return min(side.points.interval[0] for (bot, _), side in result.pairs.items() if bot == first)


def _num_steps(num_bots: int, rules: Rules, mixed_deals: int) -> int:
    return math.comb(num_bots, 2) + (math.comb(num_bots, rules.players) if mixed_deals else 0)


@contextlib.contextmanager
def _executor(cluster: str | None) -> Iterator[Executor | None]:
    """Give what plays: a cluster's tasks, or None for this process."""
    if cluster is None:
        yield None
        return
    from scarto_env.adapters.cluster import ClusterExecutor, connected

    with connected(cluster, os.cpu_count() or 1):
        yield ClusterExecutor()


@contextlib.contextmanager
def _progress(num_steps: int) -> Iterator[Callable[[str], None]]:
    """Give a function to call before each step: a bar on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda line: click.echo(line, err=True)
        return
    with click.progressbar(length=num_steps, file=sys.stderr, show_eta=False, item_show_func=str) as bar:
        started = 0

        def step(line: str) -> None:
            nonlocal started
            bar.update(min(started, 1), line)
            started += 1

        yield step
        bar.update(1)
