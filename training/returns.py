"""Advantages and value targets along each seat's own decisions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.jit import kernel

NO_DECISION: Final = -1
SCORE_SCALE: Final = 30.0
"""The learner's unit of reward in points: scores then have a deviation of about 0.3."""


@kernel
def add_rewards(reward: Any, latest: Any, total: Any) -> None:
    """Add the rewards of a step, [B, P], to the latest decision of each seat, [B, P]; none yet: it is dropped.

    What a seat gets before its first decision depends on nothing that it did.
    """
    for game in range(reward.shape[0]):
        for seat in range(reward.shape[1]):
            if reward[game, seat] != 0 and latest[game, seat] != NO_DECISION:
                total[latest[game, seat]] += reward[game, seat]


@kernel
def link_decisions(rows: Any, seats: Any, first: int, latest: Any, following: Any) -> None:
    """Make decisions ``first``.. the latest of their seats, and the following ones of those before."""
    for index in range(len(rows)):
        game, seat = rows[index], int(seats[rows[index]])
        before = latest[game, seat]
        if before != NO_DECISION:
            following[before] = first + index
        latest[game, seat] = first + index


@kernel
def _advantages(reward: Any, value: Any, following: Any, trace: float, out: Any) -> None:
    for decision in range(len(reward) - 1, -1, -1):
        after = following[decision]
        if after == NO_DECISION:
            out[decision] = reward[decision] - value[decision]
        else:
            out[decision] = reward[decision] + value[after] - value[decision] + trace * out[after]


def advantages(
    reward: NDArray[np.float32], value: NDArray[np.float32], following: NDArray[np.int64], trace: float
) -> NDArray[np.float32]:
    """Return the generalised advantages (Schulman et al. 2016), undiscounted, [N] float32.

    Args:
        reward: [N], what came between a decision and its seat's next.
        value: [N], expected sum of rewards from the decision on.
        following: [N], the seat's next decision, always a later one, or ``NO_DECISION`` at the deal's end.
        trace: lambda: 0 trusts the values, 1 the rewards alone.
    """
    out = np.empty(len(reward), np.float32)
    _advantages(reward, value, following, trace, out)
    return out
