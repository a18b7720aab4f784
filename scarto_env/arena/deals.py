"""Sets of deals: the same deal for the same (seed, number), whatever else is played."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from scarto_env.batch import Batch
from scarto_env.deal import Deal
from scarto_env.rules import Rules, as_rules

FIRST_ARENA_SEED: Final = 1 << 40
"""Deals of the arena start here, so that no training run with a seed a person would type has seen them."""
MAX_DEALS: Final = 1 << 24
"""Deals of a seed at most."""

NAMED_SETS: Final = MappingProxyType(
    {
        "smoke-100": (101, 100),
        "select-1000": (102, 1_000),
        "test-1000": (103, 1_000),
        "test-10000": (103, 10_000),
        "final-4000": (104, 4_000),
    }
)
"""Name -> seed and number of deals.  Choose among candidates on ``select``, report on the others."""


@dataclasses.dataclass(frozen=True)
class DealSet:
    """Deals 0..num_deals-1 of a seed, under some rules.

    Attributes:
        rules: what is played.
        seed: whole number >= 0; sets of different seeds share no deal.
        num_deals: how many deals.
    """

    rules: Rules
    seed: int
    num_deals: int

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"seed={self.seed!r} is not allowed: expected a whole number of 0 or more")
        if isinstance(self.num_deals, bool) or not isinstance(self.num_deals, int):
            raise ValueError(f"deals={self.num_deals!r} is not allowed: expected a whole number of 1 or more")
        if not 1 <= self.num_deals <= MAX_DEALS:
            raise ValueError(f"deals={self.num_deals!r} is not allowed: expected 1..{MAX_DEALS}")

    @property
    def name(self) -> str:
        """The published name of the set, or ``"seed S, N deals"``."""
        for name, content in NAMED_SETS.items():
            if content == (self.seed, self.num_deals):
                return name
        return f"seed {self.seed}, {self.num_deals} deals"

    def batch_seed(self, number: int) -> int:
        """Return the seed whose ``Batch(1, seed=...)`` begins with deal ``number``."""
        return FIRST_ARENA_SEED + self.seed * MAX_DEALS + number

    def deal(self, number: int) -> Deal:
        """Return one deal."""
        return Batch(1, self.rules, seed=self.batch_seed(number)).deal()

    def chunks(self, deals_a_chunk: int) -> Iterator[range]:
        """Return the numbers of the deals in ranges of at most ``deals_a_chunk``."""
        for start in range(0, self.num_deals, deals_a_chunk):
            yield range(start, min(start + deals_a_chunk, self.num_deals))

    def digest(self) -> str:
        """Return a hash of all cards and dealers: equal for equal deals only."""
        total = hashlib.sha256()
        for numbers in self.chunks(4096):
            batch = Batch(len(numbers), self.rules, seed=0, threads=1)
            batch.reset(seeds=[self.batch_seed(number) for number in numbers])
            fields = (batch.games.hand, batch.games.talon, batch.games.dealer)
            for index in range(len(numbers)):
                for field in fields:
                    total.update(field[index].tobytes())
        return total.hexdigest()[:16]


def deal_set(deals: int | str | DealSet = "test-1000", rules: str | Rules = "scarto", seed: int = 0) -> DealSet:
    """Return a set of deals from a number, or one of the named sets.

    Args:
        deals: how many deals of ``seed``, a name of ``NAMED_SETS`` (the seed is then the set's), or a set.
        rules: preset or ``Rules``.
        seed: whole number >= 0.

    Raises:
        ValueError: no set has that name, or a number is not allowed.

    >>> deal_set("smoke-100").name
    'smoke-100'
    """
    if isinstance(deals, DealSet):
        return deals
    if isinstance(deals, str):
        if deals not in NAMED_SETS:
            near = difflib.get_close_matches(deals, NAMED_SETS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{deals!r} is no set of deals: expected one of {', '.join(NAMED_SETS)}{hint}")
        return DealSet(as_rules(rules), *NAMED_SETS[deals])
    return DealSet(as_rules(rules), seed, deals)
