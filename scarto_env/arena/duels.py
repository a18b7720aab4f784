"""One bot against copies of another, both ways, on duplicate deals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Final

from scarto_env.arena.deals import DealSet, deal_set
from scarto_env.arena.estimate import Estimate, Verdict
from scarto_env.arena.table import Hands, Usage, play_tables, rotations
from scarto_env.bots import Bot, make_bot
from scarto_env.rules import Rules, as_rules

CANDIDATE: Final = 0
REFERENCE: Final = 1

ROLES: Final = ("dealer", "forehand", "second", "third")


def role_names(players: int) -> tuple[str, ...]:
    """Return the names of the seats counted from the dealer.

    >>> role_names(3)
    ('dealer', 'forehand', 'third')
    """
    return (*ROLES[:2], *ROLES[-(players - 2) :])


@dataclasses.dataclass(frozen=True)
class Side:
    """One bot alone at a table of copies of another, in every seat of every deal.

    Attributes:
        points: points a deal of the bot alone, mean over its seats; equal bots have 0.
        by_role: the same by role: dealer, forehand, third.
        won: share of its hands with a positive score (A23).
    """

    points: Estimate
    by_role: dict[str, Estimate]
    won: float


@dataclasses.dataclass(frozen=True)
class Duel:
    """A candidate against a reference.

    Attributes:
        candidate: its name.
        reference: its name.
        deals: what was played.
        alone: the candidate alone against copies of the reference.
        opposed: the reference alone against copies of the candidate, where that was played too.
        usage: decisions, seconds and illegal proposals of candidate and reference.
    """

    candidate: str
    reference: str
    deals: DealSet
    alone: Side
    opposed: Side | None
    usage: tuple[Usage, Usage]

    @property
    def mean(self) -> float:
        """Mean points a deal of the candidate alone."""
        return self.alone.points.mean

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of ``mean``."""
        return self.alone.points.interval

    @property
    def verdict(self) -> Verdict:
        """Whether the candidate is ahead, by the interval."""
        return self.alone.points.verdict


def duel(
    candidate: str | Path | Bot | Any,
    reference: str | Path | Bot | Any,
    rules: str | Rules = "scarto",
    deals: int | str | DealSet = 1000,
    seed: int = 0,
    both_ways: bool = False,
) -> Duel:
    """Return how a candidate fares against copies of a reference, each deal played in every seat.

    Args:
        candidate: what ``make_bot`` takes.
        reference: the same.
        rules: preset or ``Rules``.
        deals: number, name of a set, or a set.
        seed: of the deals, when ``deals`` is a number, and of bots that draw.
        both_ways: also seat the reference alone against copies of the candidate.

    >>> duel("greedy", "greedy", deals=2).mean
    0.0
    """
    chosen = deal_set(deals, rules, seed)
    rules = as_rules(chosen.rules)
    bots = [make_bot(bot, rules, seed) for bot in (candidate, reference)]
    others = rules.players - 1
    seatings = rotations([CANDIDATE] + [REFERENCE] * others)
    if both_ways:
        seatings += rotations([REFERENCE] + [CANDIDATE] * others)
    hands = play_tables(bots, seatings, chosen)
    players = rules.players
    return Duel(
        candidate=name_of(candidate),
        reference=name_of(reference),
        deals=chosen,
        alone=side(hands, CANDIDATE, slice(0, players)),
        opposed=side(hands, REFERENCE, slice(players, 2 * players)) if both_ways else None,
        usage=(hands.usage[CANDIDATE], hands.usage[REFERENCE]),
    )


def side(hands: Hands, bot: int, seatings: slice) -> Side:
    """Return what a bot scored in some seatings."""
    players = hands.points.shape[2]
    seated = hands.seatings[seatings] == bot
    return Side(
        points=Estimate.of(hands.of_bot(bot, seatings)),
        by_role={
            name: Estimate.of(hands.of_role(bot, seatings, role)) for role, name in enumerate(role_names(players))
        },
        won=float((hands.points[:, seatings][:, seated] > 0).mean()),
    )


def name_of(bot: str | Path | Bot | Any) -> str:
    """Return how a bot is called in results."""
    return str(bot) if isinstance(bot, (str, Path)) else getattr(bot, "name", None) or repr(bot)
