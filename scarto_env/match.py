"""A match: several deals, their dealers, totals and end (A7, A22, A24)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scarto_env.observation import MAX_DEALS
from scarto_env.rules import Rules
from scarto_env.state import SCORE_UNITS


class Match:
    """The standing of a match: so many deals, or deals until a total of settled scores reaches a target.

    Args:
        rules: rules of every deal.
        deals: number of deals; counts when there is no target.
        target: points at which the match ends, as soon as one seat leads alone (A24).
        max_deals: most deals of a match with a target; tied leaders then share the win.

    Attributes:
        totals: settled scores so far by seat, in 1 / (SCORE_UNITS * players) of a point.
        num_deals: deals counted.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(self, rules: Rules, deals: int = 1, target: int | None = None, max_deals: int = MAX_DEALS) -> None:
        for name, number, most in (
            ("deals", deals, MAX_DEALS),
            ("target", target, 10_000),
            ("max_deals", max_deals, MAX_DEALS),
        ):
            if number is None and name == "target":
                continue
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or not 1 <= number <= most:
                raise ValueError(f"{name}={number!r} is not allowed: expected a whole number 1..{most}")
        if target is not None and deals != 1:
            raise ValueError(f"deals={deals} and target={target} are two ways to end a match: give one of them")
        self.rules = rules
        self.target = target
        self.most_deals = int(max_deals if target is not None else deals)
        self.begin()

    def begin(self) -> None:
        """Start a new match at zero."""
        self.totals = [0] * self.rules.players
        self.num_deals = 0
        self._reached = False

    def clone(self) -> Match:
        """Return an independent copy."""
        other = Match.__new__(Match)
        other.__dict__ = {**self.__dict__, "totals": self.totals.copy()}
        return other

    def add(self, settled: Sequence[int] | np.ndarray[Any, Any]) -> None:
        """Count the settled scores of a deal, in the unit of ``totals``."""
        self.totals = [total + int(score) for total, score in zip(self.totals, settled, strict=True)]
        self.num_deals += 1
        if self.target is not None and max(self.totals) >= self.target * self.unit:
            self._reached = True

    @property
    def unit(self) -> int:
        """One point in the unit of ``totals``."""
        return SCORE_UNITS * self.rules.players

    @property
    def leaders(self) -> list[int]:
        """Seats with the highest total."""
        highest = max(self.totals)
        return [seat for seat, total in enumerate(self.totals) if total == highest]

    @property
    def over(self) -> bool:
        """Whether no deal follows: a lead held by one seat once the target was reached, or the last deal."""
        if self.num_deals >= self.most_deals:
            return True
        return self._reached and len(self.leaders) == 1

    def win_rewards(self) -> list[float]:
        """Return n/w - 1 for each of the w leaders and -1 for the others: they sum to zero."""
        leaders = self.leaders
        return [self.rules.players / len(leaders) - 1 if seat in leaders else -1.0 for seat in range(len(self.totals))]
