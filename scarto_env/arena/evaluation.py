"""All pairs of some bots, and tables of different bots, on one set of deals."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import itertools
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from scarto_env.arena.deals import DealSet, deal_set
from scarto_env.arena.duels import Side, name_of, side
from scarto_env.arena.estimate import Estimate
from scarto_env.arena.ratings import Rating, rate
from scarto_env.arena.table import Tables, Usage, all_orders, rotations, set_tables
from scarto_env.batch import Batch
from scarto_env.bots import Bot, make_bot
from scarto_env.rules import Rules, as_rules, rules_name

MIXED_DEALS = 200
"""Deals for each table of different bots at most: these tables multiply."""
SAMPLES = 3
"""Deals kept as records."""


@dataclasses.dataclass(frozen=True)
class Mixed:
    """What a bot scored at tables of different bots, every order around the table played.

    Attributes:
        points: points a deal, mean over its tables and seats.
        rating: openskill's, or None where the library is not installed.
    """

    points: Estimate
    rating: Rating | None


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Everything measured in one run.

    Attributes:
        bots: their names.
        deals: what was played.
        digest: hash of the deals.
        command: the command or call that made it.
        versions: of Python and the libraries.
        pairs: ``pairs[a, b]``: bot ``a`` alone against copies of ``b``.
        mixed: what each bot scored at tables of different bots; empty with fewer bots than seats.
        mixed_deals: deals at each of those tables.
        usage: of each bot: decisions, seconds, illegal proposals.
        samples: some of the deals as records in the ``.stn`` form.
    """

    bots: tuple[str, ...]
    deals: DealSet
    digest: str
    command: str
    versions: dict[str, str]
    pairs: dict[tuple[str, str], Side]
    mixed: dict[str, Mixed]
    mixed_deals: int
    usage: dict[str, Usage]
    samples: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "command": self.command,
            "versions": self.versions,
            "rules": rules_name(self.deals.rules),
            "deals": {"set": self.deals.name, "seed": self.deals.seed, "number": self.deals.num_deals,
                      "hash": self.digest},
            "bots": list(self.bots),
            "pairs": [
                {"bot": bot, "against": other, "points": result.points.to_dict(), "won": result.won,
                 "by_role": {role: estimate.to_dict() for role, estimate in result.by_role.items()}}
                for (bot, other), result in self.pairs.items()
            ],
            "mixed_deals": self.mixed_deals,
            "mixed": {
                bot: {"points": result.points.to_dict(),
                      "rating": dataclasses.asdict(result.rating) if result.rating else None}
                for bot, result in self.mixed.items()
            },
            "usage": {
                bot: {"decisions": usage.decisions, "decisions_a_second": round(usage.decisions_a_second),
                      "illegal": usage.illegal}
                for bot, usage in self.usage.items()
            },
            "samples": list(self.samples),
        }  # fmt: skip


def evaluate(
    bots: Sequence[Any],
    rules: str | Rules = "scarto",
    deals: int | str | DealSet = "test-1000",
    seed: int = 0,
    mixed_deals: int = MIXED_DEALS,
    samples: int = SAMPLES,
    command: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
    executor: Executor | None = None,
) -> Evaluation:
    """Play all pairs both ways and all tables of different bots.

    Args:
        bots: what ``make_bot`` takes, two or more, all different.
        rules: preset or ``Rules``.
        deals: number, name of a set, or a set.
        seed: of the deals, when ``deals`` is a number, and of bots that draw.
        mixed_deals: deals for each table of different bots, at most; 0 for no such tables.
        samples: how many deals are kept as records.
        command: what to state as the command; the running one by default.
        progress: is told in a line what is played next.
        executor: plays, in any order; the numbers are the same as without one.

    Raises:
        ValueError: fewer than two bots, or two of one name.
    """
    names = tuple(name_of(bot) for bot in bots)
    if len(names) < 2 or len(set(names)) < len(names):  # noqa: PLR2004
        raise ValueError(f"bots={names}: expected two or more different ones")
    chosen = deal_set(deals, rules, seed)
    rules = as_rules(chosen.rules)
    made = [make_bot(bot, rules, seed) for bot in bots]
    usage = [Usage() for _ in names]
    asked = []
    for first, second in itertools.combinations(range(len(names)), 2):
        progress(f"{names[first]} and {names[second]}: {chosen.num_deals} deals, both ways")
        asked.append((first, second, _both_ways([made[first], made[second]], chosen, executor)))
    num_mixed = min(mixed_deals, chosen.num_deals) if len(names) >= rules.players else 0
    few = dataclasses.replace(chosen, num_deals=num_mixed) if num_mixed else None
    lineups = _set_mixed(made, names, few, progress, executor) if few else []
    pairs: dict[tuple[str, str], Side] = {}
    for first, second, tables in asked:
        hands = tables.hands()
        pairs[names[first], names[second]] = side(hands, 0, slice(0, rules.players))
        pairs[names[second], names[first]] = side(hands, 1, slice(rules.players, None))
        for bot, used in zip((first, second), hands.usage, strict=True):
            usage[bot].add(used)
    mixed = _mixed(names, lineups, usage) if lineups else {}
    ordered = {(a, b): pairs[a, b] for a in names for b in names if a != b}
    return Evaluation(
        bots=names, deals=chosen, digest=chosen.digest(), command=command or running_command(),
        versions=versions(), pairs=ordered, mixed=mixed, mixed_deals=num_mixed,
        usage=dict(zip(names, usage, strict=True)), samples=_samples(made, names, chosen, samples),
    )  # fmt: skip


def _both_ways(bots: Sequence[Bot], deals: DealSet, executor: Executor | None) -> Tables:
    others = deals.rules.players - 1
    return set_tables(bots, [*rotations([0] + [1] * others), *rotations([1] + [0] * others)], deals, executor)


def _set_mixed(
    bots: Sequence[Bot], names: Sequence[str], deals: DealSet,
    progress: Callable[[str], None], executor: Executor | None,
) -> list[tuple[tuple[int, ...], Tables]]:  # fmt: skip
    """Have all tables of different bots played and return them with their line-ups."""
    found = []
    for lineup in itertools.combinations(range(len(names)), deals.rules.players):
        progress(f"{', '.join(names[bot] for bot in lineup)} at one table: {deals.num_deals} deals")
        found.append((lineup, set_tables(bots, all_orders(lineup), deals, executor)))
    return found


def _mixed(
    names: Sequence[str], lineups: Sequence[tuple[tuple[int, ...], Tables]], usage: Sequence[Usage]
) -> dict[str, Mixed]:
    """Return what each bot scored at all tables of different bots."""
    points: list[list[Any]] = [[] for _ in names]
    ranked = []
    for lineup, tables in lineups:
        hands = tables.hands()
        for bot in lineup:
            points[bot].append(hands.of_bot(bot, slice(None)))
            usage[bot].add(hands.usage[bot])
        ranked.append((hands.seatings, hands.points))
    ratings = rate(len(names), ranked)
    return {
        name: Mixed(Estimate.of(np.mean(points[bot], axis=0)), ratings[bot] if ratings else None)
        for bot, name in enumerate(names)
    }


def _samples(bots: Sequence[Bot], names: Sequence[str], deals: DealSet, num_samples: int) -> tuple[str, ...]:
    """Return the first deals as records, the bots seated in turn."""
    from scarto_env.notation import record_of, write_record

    records = []
    players = deals.rules.players
    for number in range(min(num_samples, deals.num_deals)):
        seats = [(number + seat) % len(bots) for seat in range(players)]
        seed = deals.batch_seed(number)
        batch = Batch(1, deals.rules, seed=seed, threads=1, redeal=False)
        for _ in range(deals.rules.num_decisions):
            bot = bots[seats[int(batch.seat[0])]]
            batch.step(bot.act(batch.observation, batch.action_mask))
        record = record_of(batch.games[0], deals.rules, seats=[names[seat] for seat in seats], seed=seed)
        records.append(write_record(record))
    return tuple(records)


def versions() -> dict[str, str]:
    """Return the versions that a number may depend on."""
    libraries = {name: importlib.metadata.version(name) for name in ("scarto", "numpy", "numba")}
    return {"python": platform.python_version(), **libraries}


def running_command() -> str:
    """Return the command line of this process as one would type it."""
    program, *arguments = sys.argv
    return shlex.join([program.rpartition("/")[2], *arguments])
