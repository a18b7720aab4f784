"""A rating beside the points: openskill's Plackett-Luce model over the ranks of single hands."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MOST_HANDS: Final = 6000
"""Hands rated at most, spread over the tables: more change a rating little and cost a second a few thousand."""


@dataclasses.dataclass(frozen=True)
class Rating:
    """An openskill rating: mean and standard deviation of the believed skill."""

    mu: float
    sigma: float


def rate(num_bots: int, tables: Sequence[tuple[NDArray[Any], NDArray[np.float64]]]) -> list[Rating] | None:
    """Return a rating for each bot, or None where openskill is not installed.

    Args:
        num_bots: bots are 0..num_bots-1.
        tables: for each table the seatings [seatings, P] and the points [deals, seatings, P].
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        return None
    model = PlackettLuce()
    ratings = [model.rating() for _ in range(num_bots)]
    # Deal by deal over all tables, so that no table's hands all come last: late hands weigh most.
    most_deals = max(1, MOST_HANDS // sum(len(seatings) for seatings, _ in tables))
    for deal in range(min(most_deals, *(len(points) for _, points in tables))):
        for seatings, points in tables:
            for seats, scores in zip(seatings, points[deal], strict=True):
                rated = model.rate([[ratings[bot]] for bot in seats], scores=scores.tolist())
                for bot, (rating,) in zip(seats, rated, strict=True):
                    ratings[bot] = rating
    return [Rating(round(rating.mu, 3), round(rating.sigma, 3)) for rating in ratings]
