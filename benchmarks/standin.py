"""A stand-in for a player on the cluster: takes its time and sends its bytes, but plays nothing and needs no core."""

from __future__ import annotations

import time
from typing import Any

from training.orders import Columns, Order, Played, Weights


class StandIn:
    """Answers each order after some seconds with the same columns.

    Args:
        code: the driver's version, which it claims to run.
        columns: of a rollout.
        count: of its decisions.
    """

    def __init__(self, code: str, columns: Columns, count: int) -> None:
        self.code, self.columns, self.count = code, columns, count
        self.seconds = 0.0

    def take(self, seconds: float) -> None:
        """Take so long for a rollout from now on."""
        self.seconds = seconds

    def hello(self) -> tuple[str, str]:
        return "stand-in", self.code

    def play(self, order: Order, weights: Weights, past: Any) -> Played:
        assert weights and past is None
        time.sleep(self.seconds)
        return Played(self.columns, self.count, order.generator, self.seconds)
