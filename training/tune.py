"""Tune the numbers of the thumb rules as an answer to the heuristic, by CMA-ES (Hansen and Ostermeier, 2001)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import cma
import numpy as np
from numpy.typing import NDArray

from scarto_env.arena.estimate import Estimate
from scarto_env.batch import Batch
from scarto_env.bots.knowledge import new_mind
from scarto_env.bots.style import EXPERT_COLUMN, HEURISTIC, HEURISTIC_COLUMN, Numbers, new_style, numbers_of
from scarto_env.jit import kernel
from scarto_env.rules import Rules, rules_table
from scarto_env.state import GAME, SCORE_UNITS
from training.playouts import play_by_rules

HALVES: Final = 2
"""Parts of the deals that generations take turns with, so that no lucky numbers stay for long."""
FRESH_DEALS: Final = 6000
_STEP: Final = 0.3
"""First steps, as a share of a number; in points for numbers that are 0."""


class Progress(NamedTuple):
    """What a generation has come to: its mean numbers, and their points on deals that nothing was tuned on."""

    generation: int
    numbers: Numbers
    points: Estimate


@kernel
def play_answers(deals: Any, table: Any, minds: Any, alone: Any, row: Any, points: Any) -> None:
    """Write the points of ``minds[1]`` against copies of ``minds[0]``, the mean over all seats of each deal.

    ``alone`` [P, P] is true on its diagonal.
    """
    rules = table[0]
    players = int(rules.players)
    for index in range(len(deals)):
        total = 0
        for seat in range(players):
            row[0] = deals[index]
            play_by_rules(row[0], rules, minds, alone[seat])
            total += int(row[0].settled[seat])
        points[index] = total / (SCORE_UNITS * players * players)


def points_of(numbers: Numbers, deals: Batch) -> NDArray[np.float64]:
    """Return the points of a player with these numbers against heuristic ones, [B], each deal in every seat."""
    points = np.zeros(len(deals))
    minds = new_mind(HEURISTIC, new_style(numbers))
    alone, row = np.eye(deals.rules.players, dtype=np.bool_), np.zeros(1, GAME).view(np.recarray)
    play_answers(deals.games, rules_table(deals.rules), minds, alone, row, points)
    return points


def free_names() -> list[str]:
    """Return the numbers that are tuned: those in which expert and heuristic differ."""
    heuristic, expert = numbers_of(HEURISTIC_COLUMN), numbers_of(EXPERT_COLUMN)
    return [name for name in heuristic if heuristic[name] != expert[name]]


def as_vector(numbers: Numbers) -> NDArray[np.float64]:
    """Return the free numbers in a row."""
    return np.concatenate([np.atleast_1d(numbers[name]) for name in free_names()])


def with_vector(numbers: Numbers, vector: NDArray[np.float64]) -> Numbers:
    """Return numbers with the free ones replaced."""
    changed, place = dict(numbers), 0
    for name in free_names():
        size = np.size(numbers[name])
        part = tuple(float(number) for number in vector[place : place + size])
        changed[name] = part if isinstance(numbers[name], tuple) else part[0]
        place += size
    return changed


def tune(
    rules: Rules, generations: int, deals: int, population: int, seed: int, every: int = 10
) -> Iterator[Progress]:  # fmt: skip
    """Yield what has been reached after every few generations, beginning with the heuristic's numbers.

    Args:
        rules: the rules.
        generations: how many.
        deals: for the choice within a generation.
        population: numbers tried in a generation.
        seed: of the deals and the search.
        every: generations between two reports.
    """
    halves = [Batch(deals, rules, seed=HALVES * seed + half, redeal=False) for half in range(HALVES)]
    fresh = Batch(FRESH_DEALS, rules, seed=(1 << 40) + seed, redeal=False)
    numbers = numbers_of(HEURISTIC_COLUMN)
    start = as_vector(numbers)
    scale = np.where(start == 0, 1.0, np.abs(start)) * _STEP
    search = cma.CMAEvolutionStrategy(
        np.zeros(len(start)), 1.0, {"popsize": population, "seed": seed + 1, "verbose": -9}
    )
    for generation in range(1, generations + 1):
        steps = search.ask()
        tried = [with_vector(numbers, start + scale * step) for step in steps]
        chosen = halves[generation % HALVES]
        search.tell(steps, [-float(points_of(one, chosen).mean()) for one in tried])
        if generation % every == 0 or generation == generations:
            mean = with_vector(numbers, start + scale * search.mean)
            yield Progress(generation, mean, Estimate.of(points_of(mean, fresh)))
