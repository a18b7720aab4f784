"""Play deals at a table: every deal with every seating, all of them in one batch."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scarto_env.arena.deals import DealSet
from scarto_env.batch import Batch
from scarto_env.bots import Bot
from scarto_env.cards import NUM_CARDS
from scarto_env.state import SCORE_UNITS

HANDS_A_BATCH = 1536
"""Hands played side by side: enough to hide the cost of a call, few enough to stay in cache and to be spread."""


Result = TypeVar("Result")


@dataclasses.dataclass
class Usage:
    """What a bot did at the tables: decisions, seconds spent in ``act``, illegal proposals."""

    decisions: int = 0
    seconds: float = 0.0
    illegal: int = 0

    @property
    def decisions_a_second(self) -> float:
        """Decisions a second, as timed around ``act``."""
        return self.decisions / self.seconds if self.seconds else 0.0

    def add(self, other: Usage) -> None:
        """Add what was done at another table."""
        self.decisions += other.decisions
        self.seconds += other.seconds
        self.illegal += other.illegal


Part = tuple[NDArray[np.float64], NDArray[np.int64], tuple[Usage, ...]]
"""Of some deals: points [deals, seatings, P], dealers, what each bot did."""


@dataclasses.dataclass(frozen=True)
class Hands:
    """What was scored.

    Attributes:
        points: [deals, seatings, P] settled score of each seat, in points.
        dealers: [deals] the dealing seat.
        seatings: [seatings, P] which bot sat where.
        usage: what each bot did.
    """

    points: NDArray[np.float64]
    dealers: NDArray[np.int64]
    seatings: NDArray[np.int64]
    usage: tuple[Usage, ...]

    def of_bot(self, bot: int, seatings: slice) -> NDArray[np.float64]:
        """Return a bot's mean points over its seats in some seatings, [deals]."""
        seated = self.seatings[seatings] == bot
        points: NDArray[np.float64] = self.points[:, seatings][:, seated].mean(axis=1)
        return points

    def of_role(self, bot: int, seatings: slice, role: int) -> NDArray[np.float64]:
        """Return a bot's mean points as dealer (role 0), forehand (1), ... over some seatings, [deals]."""
        players = self.points.shape[2]
        seats = (self.dealers + role) % players
        seated = self.seatings[seatings].T[seats] == bot
        points = np.take_along_axis(self.points[:, seatings], seats[:, None, None], axis=2)[:, :, 0]
        mean: NDArray[np.float64] = (points * seated).sum(axis=1) / np.maximum(seated.sum(axis=1), 1)
        return mean


def rotations(lineup: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the line-up turned to every seat.

    >>> rotations([0, 1, 1])
    [(0, 1, 1), (1, 1, 0), (1, 0, 1)]
    """
    return [tuple(lineup[turn:]) + tuple(lineup[:turn]) for turn in range(len(lineup))]


def all_orders(lineup: Sequence[int]) -> list[tuple[int, ...]]:
    """Return every different order of the line-up around the table: six for three different bots."""
    return sorted(set(itertools.permutations(lineup)))


@dataclasses.dataclass(frozen=True)
class Tables:
    """Tables that are being played.

    Attributes:
        seatings: [seatings, P] which bot sits where.
        parts: points, dealers and usage of some deals each.
    """

    seatings: NDArray[np.int64]
    parts: Sequence[Future[Part]]

    def hands(self) -> Hands:
        """Return the scores once all is played."""
        points, dealers, usages = zip(*(part.result() for part in self.parts), strict=True)
        usage = tuple(Usage() for _ in usages[0])
        for used in usages:
            for total, more in zip(usage, used, strict=True):
                total.add(more)
        return Hands(np.concatenate(points), np.concatenate(dealers), self.seatings, usage)


def play_tables(bots: Sequence[Bot], seatings: Sequence[Sequence[int]], deals: DealSet) -> Hands:
    """Return the scores of every deal with every seating.

    A deal's cards and dealer stay; the bots change seats.  An illegal proposal is counted and the first
    legal card played instead.

    Args:
        bots: the bots, called in this order.
        seatings: [seatings, P] indices into ``bots``.
        deals: what is played.
    """
    return set_tables(bots, seatings, deals).hands()


def set_tables(
    bots: Sequence[Bot], seatings: Sequence[Sequence[int]], deals: DealSet, executor: Executor | None = None
) -> Tables:
    """Have an executor play what ``play_tables`` plays, in the same parts; without one it is played here and now."""
    seats = np.asarray(seatings, np.int64)
    submit = executor.submit if executor else done_here
    chunks = deals.chunks(max(1, HANDS_A_BATCH // len(seats)))
    return Tables(seats, [submit(_play_chunk, bots, seats, deals, numbers) for numbers in chunks])


def done_here(function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Call a function and return its result as an executor does."""
    future: Future[Result] = Future()
    future.set_result(function(*arguments))
    return future


def _play_chunk(bots: Sequence[Bot], seats: NDArray[np.int64], deals: DealSet, numbers: range) -> Part:
    """Return points [deals, seatings, P], dealers and usage of some deals: hand = seating x deals + deal."""
    num_seatings, players = seats.shape
    usage = tuple(Usage() for _ in bots)
    batch = Batch(num_seatings * len(numbers), deals.rules, seed=0, threads=1, redeal=False)
    batch.reset(seeds=[deals.batch_seed(number) for number in numbers] * num_seatings)
    seated = np.repeat(seats, len(numbers), axis=0)
    dealers = batch.games.dealer[: len(numbers)].astype(np.int64)
    hands = np.arange(len(batch))
    cards = np.zeros(len(batch), np.int64)
    for _ in range(deals.rules.num_decisions):
        acting = seated[hands, batch.seat]
        for index, bot in enumerate(bots):
            chosen = np.flatnonzero(acting == index)
            if len(chosen):
                cards[chosen] = _asked(bot, batch.observation[chosen], batch.action_mask[chosen], usage[index])
        batch.step(cards)
    points = batch.games.settled[:, :players] / (SCORE_UNITS * players)
    return points.reshape(num_seatings, len(numbers), players).swapaxes(0, 1), dealers, usage


def _asked(bot: Bot, observation: NDArray[np.int8], mask: NDArray[np.int8], usage: Usage) -> NDArray[np.int64]:
    """Return the bot's cards, illegal ones counted and replaced."""
    started = time.perf_counter()
    cards = np.asarray(bot.act(observation, mask))
    usage.seconds += time.perf_counter() - started
    usage.decisions += len(mask)
    if cards.shape != (len(mask),):
        raise ValueError(f"{bot!r} returned cards of shape {cards.shape}: expected ({len(mask)},)")
    possible = (cards >= 0) & (cards < NUM_CARDS)
    legal = possible & (mask[np.arange(len(mask)), np.where(possible, cards, 0)] > 0)
    if not legal.all():
        usage.illegal += int((~legal).sum())
        cards = np.where(legal, cards, mask.argmax(axis=1))
    return cards.astype(np.int64, copy=False)
