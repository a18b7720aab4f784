"""How search grows with its worlds: points against copies of some bots, and what a hand costs.

``python -m scarto_env.arena.growth`` plays ``search`` with 10, 40, 160, 640 and 1,280 worlds.  A row's worth of deals
is played at a time and printed at once, so that a long measurement can be stopped and still tells something.  All rows
begin with the same deals: what one gains on the row before is measured deal by deal, which takes far fewer of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarto_env.arena.deals import deal_set
from scarto_env.arena.duels import CANDIDATE, REFERENCE
from scarto_env.arena.estimate import Estimate
from scarto_env.arena.page import interval_plot
from scarto_env.arena.table import play_tables, rotations
from scarto_env.bots import make_bot
from scarto_env.rules import Rules, as_rules

DEALS: Final = {10: 400, 40: 400, 160: 200, 640: 60, 1280: 40}
"""Worlds -> deals: a hand with many worlds takes long."""
_BOT: Final = "search:worlds={worlds}"


class Step(NamedTuple):
    """One measurement.

    Attributes:
        worlds: of the searching bot.
        opponent: whose copies it plays against.
        points: points a deal.
        gain: points a deal on the row before against the same bot, over the deals of both; None for the first.
        seconds: processor time of a hand, the opponents' and the arena's included.
    """

    worlds: int
    opponent: str
    points: Estimate
    gain: Estimate | None
    seconds: float


def growth(
    opponents: Sequence[str], deals: dict[int, int], bot: str = _BOT, rules: str | Rules = "scarto", seed: int = 0
) -> Iterator[Step]:
    """Yield one step after another.

    Args:
        opponents: names of bots.
        deals: worlds -> how many deals of ``seed``, each played in all seats.
        bot: name of the searching bot with ``{worlds}`` in it.
        rules: preset or ``Rules``.
        seed: of the deals.
    """
    rules = as_rules(rules)
    seatings = rotations([CANDIDATE] + [REFERENCE] * (rules.players - 1))
    before: dict[str, NDArray[np.float64]] = {}
    for worlds, num_deals in deals.items():
        for opponent in opponents:
            bots = [make_bot(name, rules, seed) for name in (bot.format(worlds=worlds), opponent)]
            play_tables(bots, seatings, deal_set(1, rules, seed))  # compiled before the clock starts
            started = time.process_time()
            points = play_tables(bots, seatings, deal_set(num_deals, rules, seed)).of_bot(CANDIDATE, slice(None))
            seconds = (time.process_time() - started) / (num_deals * rules.players)
            gain = None
            if opponent in before:
                common = min(num_deals, len(before[opponent]))
                gain = Estimate.of(points[:common] - before[opponent][:common])
            before[opponent] = points
            yield Step(worlds, opponent, Estimate.of(points), gain, seconds)


def plot(steps: Sequence[Step]) -> str:
    """Return the steps as SVG: a row each, mean and 95 % interval."""
    rows = [(f"{step.worlds:,} worlds against {step.opponent}", step.points) for step in steps]
    return interval_plot(rows, "Points a deal by worlds")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one row after another as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m scarto_env.arena.growth", description=__doc__)
    parser.add_argument("--deals", nargs="+", type=_row, metavar="WORLDS:DEALS", help=f"by default {_written(DEALS)}")
    parser.add_argument("--against", nargs="+", default=["heuristic", "greedy"], metavar="BOT")
    parser.add_argument("--bot", default=_BOT, help="the searching bot, {worlds} standing for their number")
    parser.add_argument("--seed", type=int, default=0, help="of the deals")
    parser.add_argument("--svg", type=Path, help="write a plot to this file")
    given = parser.parse_args(arguments)
    deals = dict(given.deals or DEALS)
    if len(deals) < len(given.deals or ()) or len(set(given.against)) < len(given.against):
        parser.error("a number of worlds or an opponent is named twice: rows that repeat one gain nothing on it")
    if given.svg and not given.svg.parent.is_dir():
        parser.error(f"--svg {given.svg}: there is no folder {given.svg.parent}")
    try:
        for worlds, number in deals.items():
            make_bot(given.bot.format(worlds=worlds))
            deal_set(number, "scarto", given.seed)
        for name in given.against:
            make_bot(name)
    except (KeyError, IndexError, AttributeError):
        parser.error(f"--bot {given.bot!r} is not allowed: expected nothing in braces but {{worlds}}")
    except (ValueError, ImportError, OSError) as error:
        parser.error(str(error))
    if len(deals) > 1 and "{worlds}" not in given.bot:
        parser.error(f"--bot {given.bot!r} is not allowed: expected {{worlds}} in it, or its rows repeat each other")
    print("| worlds | against two | points a deal | deals | gain on the row before | deals | CPU seconds a hand |")
    print("|---:|---|---|---:|---|---:|---:|")
    steps = []
    for step in growth(given.against, deals, given.bot, seed=given.seed):
        shown = [f"{step.worlds:,}", step.opponent, *_shown(step.points), *_shown(step.gain), f"{step.seconds:.3f}"]
        print(f"| {' | '.join(shown)} |", flush=True)
        steps.append(step)
    if given.svg:
        given.svg.write_text(plot(steps), encoding="utf-8")


def _row(text: str) -> tuple[int, int]:
    """Return a number of worlds and one of deals from ``WORLDS:DEALS``."""
    worlds, _, number = text.partition(":")
    if not (worlds.isdecimal() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: expected WORLDS:DEALS, two whole numbers")
    return int(worlds), int(number)


def _shown(estimate: Estimate | None) -> tuple[str, str]:
    """Return an estimate and its deals, as cells."""
    return (str(estimate), str(estimate.num_deals)) if estimate else ("", "")


def _written(deals: dict[int, int]) -> str:
    return " ".join(f"{worlds}:{number}" for worlds, number in deals.items())


if __name__ == "__main__":
    main()
