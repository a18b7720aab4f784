"""Several processes that learn as one: each plays its own deals, gradients are averaged in shared memory."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any, Final, TypeVar

import torch
from torch import Tensor

from training.checkpoint import RunError
from training.learner import Learner

PATIENCE_SECONDS: Final = 600.0
"""How long a worker waits for the others: longer than any evaluation takes."""
Answer = TypeVar("Answer")
_CONTEXT: Final = multiprocessing.get_context("spawn")


@dataclasses.dataclass(frozen=True)
class Shared:
    """What the processes share.

    Attributes:
        slots: [2, workers, numbers] fp32: gradients; two sets in turn, so that one barrier a step is enough.
        stop: [1]: 1 once the first worker wants to stop.
        barrier: for all of them.
        errors: what went wrong, one line each.
    """

    slots: Tensor
    stop: Tensor
    barrier: Barrier
    errors: Any

    @classmethod
    def of(cls, workers: int, numbers: int) -> Shared:
        """Return shared memory for so many workers and gradients of so many numbers."""
        slots = torch.zeros(2, workers, numbers)
        stop = torch.zeros(1, dtype=torch.int32)
        for tensor in (slots, stop):
            tensor.share_memory_()  # type: ignore[no-untyped-call]
        return cls(slots, stop, _CONTEXT.Barrier(workers), _CONTEXT.SimpleQueue())


class Crew:
    """One worker's place among the others.

    Args:
        rank: 0 leads: it saves, evaluates and reports.
        shared: None when it works alone.
    """

    def __init__(self, rank: int = 0, shared: Shared | None = None) -> None:
        self.rank, self.shared = rank, shared
        self.size = 1  # processes that another program started
        self._turn = 0

    @property
    def leads(self) -> bool:
        """Whether this worker saves, evaluates and reports."""
        return self.rank == 0

    def share(self, rollouts: int) -> range:
        """Return the ranks of those rollouts of an update that this worker learns from."""
        return range(rollouts)

    def led(self, ask: Callable[[], Answer]) -> Answer:
        """Return what the leader answers."""
        return ask()

    def join(self, learner: Learner) -> None:
        """Make ready to learn with the others, who begin with the same weights."""

    def average(self, gradients: list[Tensor]) -> None:
        """Replace gradients by their mean over the workers, in place; the same numbers for all of them."""
        if self.shared is None:
            return
        slots = self.shared.slots[self._turn]
        self._turn = 1 - self._turn
        torch.cat([gradient.reshape(-1).cpu() for gradient in gradients], out=slots[self.rank])
        self._wait()
        mean, start = slots.mean(0), 0
        for gradient in gradients:
            gradient.copy_(mean[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()

    def agree(self, stop: bool) -> bool:
        """Return whether to stop, as the leader wants it."""
        if self.shared is None:
            return stop
        if self.leads:
            self.shared.stop[0] = int(stop)
        self._wait()
        return bool(self.shared.stop[0])

    def _wait(self) -> None:
        assert self.shared is not None
        try:
            self.shared.barrier.wait(PATIENCE_SECONDS)
        except BrokenBarrierError:
            errors = self.shared.errors
            reason = errors.get() if not errors.empty() else "it was killed or is stuck"
            raise RunError(f"another worker has stopped: {reason}") from None

    def give_up(self, reason: str) -> None:
        """Tell the others that this worker cannot go on."""
        if self.shared is not None:
            self.shared.errors.put(reason)
            self.shared.barrier.abort()


def leave_with_parent() -> None:
    """End this process soon after its parent has ended, however that was."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def start_workers(target: Any, arguments: tuple[Any, ...], shared: Shared, workers: int) -> list[Any]:
    """Start ``target(rank, shared, *arguments)`` in a process of its own for the ranks 1.. and return them."""
    processes = [
        _CONTEXT.Process(target=target, args=(rank, shared, *arguments), daemon=True) for rank in range(1, workers)
    ]
    for process in processes:
        process.start()
    return processes
