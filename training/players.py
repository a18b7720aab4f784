"""The players of a run on a cluster as its driver sees them."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from scarto_env.adapters.cluster import ClusterError, code_version, refuse_other_code
from training.checkpoint import RunError
from training.crew import PATIENCE_SECONDS
from training.orders import Order, Played

ORDERS_AT_ONCE: Final = 2
"""Of a player: one that it plays and one that waits, so that it need not wait for the driver, which may be learning."""
BEGIN_SECONDS: Final = 60.0
"""How long the first players wait for the others."""
Sent = tuple[Order, tuple[Any, ...]]
"""An order and what goes with it, as the cluster keeps it."""


class Players:
    """The players of a run as the driver sees them: orders go out, what was lost goes out again.

    Args:
        number: how many; those for which the cluster has no place yet join when it has.
        make: makes an actor like ``training.cluster.RemotePlayer``, which Ray begins anew when it is lost.
    """

    def __init__(self, number: int, make: Callable[[], Any]) -> None:
        import ray

        self._ray = ray
        self.lost = 0
        self._orders: deque[Sent] = deque()
        self._playing: dict[Any, tuple[Any, Sent]] = {}
        self._load: dict[Any, int] = {}
        self._coming: dict[Any, Any] = {}
        for _ in range(number):
            self._greet(make())
        self._begin()

    def _greet(self, player: Any) -> None:
        """Ask a player that begins who it is; it gets no orders before it has answered."""
        self._coming[player.hello.options(max_task_retries=-1).remote()] = player

    def _begin(self) -> None:
        """Wait until all players have come, or some and the others are late.

        Raises:
            ClusterError: one of them runs other code.
        """
        last = time.monotonic() + BEGIN_SECONDS
        while self._coming and (time.monotonic() < last or not self._load):
            for greeting in self._wait(self._coming, None if not self._load else max(0.0, last - time.monotonic())):
                player = self._coming.pop(greeting)
                refuse_other_code(*self._greeting(greeting))
                self._load[player] = 0
        if self._coming:
            sys.stderr.write(f"{len(self._load)} players begin; {len(self._coming)} have no place yet\n")

    def _welcome(self, greeting: Any) -> None:
        """Give a player that comes during the run its place, unless it runs other code: then the others go on."""
        player = self._coming.pop(greeting)
        try:
            refuse_other_code(*self._greeting(greeting))
        except ClusterError as error:
            if not (self._load or self._coming):
                raise
            sys.stderr.write(f"{error}; it is left out\n")
            self._ray.kill(player)
        else:
            self._load[player] = 0

    def _greeting(self, greeting: Any) -> tuple[str, str, str]:
        """Return the code of a player that has come, the driver's, and its node."""
        try:
            node, code = self._ray.get(greeting)
        except self._ray.exceptions.RayError as error:
            raise RunError(f"a player could not begin: {str(error).splitlines()[0]}") from None
        return code, code_version(), node

    def put(self, value: Any) -> Any:
        """Return where the cluster keeps a value that several orders need."""
        return self._ray.put(value)

    def order(self, order: Order, *references: Any) -> None:
        """Have a rollout played: by the player with the fewest orders, as soon as one has room."""
        self._orders.append((order, references))
        self._give_out()

    def _give_out(self) -> None:
        while self._orders and self._load:
            player = min(self._load, key=self._load.__getitem__)
            if self._load[player] >= ORDERS_AT_ONCE:
                return
            order = self._orders.popleft()
            self._load[player] += 1
            self._playing[player.play.remote(order[0], *order[1])] = (player, order)

    def finished(self) -> list[tuple[Order, Played]]:
        """Wait until something has happened and return the rollouts that have been played.

        Raises:
            ClusterError: a player that came runs other code.
            RunError: nothing has happened for long, or a player met an error of its own.
        """
        found = []
        for reference in self._wait([*self._playing, *self._coming]):
            if reference in self._coming:
                self._welcome(reference)
                continue
            player, order = self._playing.pop(reference)
            try:
                found.append((order[0], self._ray.get(reference)))
            except self._ray.exceptions.RayTaskError as error:
                cause = str(getattr(error, "cause", None) or error).splitlines()
                raise RunError(f"a player has stopped: {cause[0] if cause else error!r}") from None
            except self._ray.exceptions.RayError:
                self._lose(player, order)
                continue
            if player in self._load:
                self._load[player] -= 1
        self._give_out()
        return found

    def _lose(self, player: Any, order: Sent) -> None:
        """Put an order back, first in the line, and expect the player that had it to begin anew."""
        self._orders.appendleft(order)
        self.lost += 1
        lost = order[0]
        sys.stderr.write(f"a player was lost: rollout {lost.rank} of update {lost.update + 1} is played again\n")
        if self._load.pop(player, None) is not None:
            self._greet(player)

    def _wait(self, references: Any, seconds: float | None = None) -> list[Any]:
        """Return what has come of some references: within some seconds, or one at least."""
        waiting = list(references)
        found = self._ray.wait(waiting, num_returns=1, timeout=PATIENCE_SECONDS if seconds is None else seconds)[0]
        if not found and seconds is None:
            raise RunError(f"no player has answered for {PATIENCE_SECONDS:.0f} seconds: has the cluster a free core?")
        ready: list[Any] = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0]
        return ready
