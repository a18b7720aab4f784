"""What the driver of a run on a cluster and its players send each other."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

Columns = dict[str, np.ndarray[Any, Any]]
Weights = dict[str, Columns]
"""By network and parameter."""


@dataclasses.dataclass(frozen=True)
class Order:
    """A rollout to be played.

    Attributes:
        settings: of the run.
        update: that is to learn from it.
        rank: among the update's rollouts.
        version: updates that made the weights it is played with.
        opponent: a bot's name, a past self's update, or None.
        generator: draws the cards.
    """

    settings: dict[str, Any]
    update: int
    rank: int
    version: int
    opponent: str | int | None
    generator: np.random.Generator


@dataclasses.dataclass(frozen=True)
class Played:
    """A rollout that has been played.

    Attributes:
        columns: the arrays of its decisions.
        count: of its decisions.
        generator: after them.
        cpu_seconds: that it took.
    """

    columns: Columns
    count: int
    generator: np.random.Generator
    cpu_seconds: float
