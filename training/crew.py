"""Several processes that learn as one: each plays its own deals, gradients are averaged in shared memory."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Semaphore
from typing import Any, Final, TypeVar

import torch
from torch import Tensor

from training.checkpoint import RunError
from training.learner import Learner

PATIENCE_SECONDS: Final = 600.0
"""How long a worker waits for the others: longer than any evaluation takes."""
LOOK_SECONDS: Final = 1.0
"""Between two looks, while waiting, at whether the others still run."""
STOPS: Final = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a run to stop."""
Answer = TypeVar("Answer")
_CONTEXT: Final = multiprocessing.get_context("spawn")


@dataclasses.dataclass(frozen=True)
class Shared:
    """What the processes share.

    Attributes:
        slots: [2, workers, numbers] fp32: gradients; two sets in turn, so that one barrier a step is enough.
        stop: [1] int32: 1 once the leader wants to stop.
        failed: [1] int32: 1 once a worker cannot go on.
        errors: what went wrong, one line each.
        arrived: a semaphore for each worker but the leader, released when it waits for the others.
        go: the same, released when all wait.  Unlike a barrier, they hold nobody up who waits with one that was killed.
    """

    slots: Tensor
    stop: Tensor
    failed: Tensor
    errors: Any
    arrived: Sequence[Semaphore]
    go: Sequence[Semaphore]

    @classmethod
    def of(cls, workers: int, numbers: int) -> Shared:
        """Return shared memory for so many workers and gradients of so many numbers."""
        slots = torch.zeros(2, workers, numbers)
        stop, failed = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        for tensor in (slots, stop, failed):
            tensor.share_memory_()  # type: ignore[no-untyped-call]
        arrived, go = ([_CONTEXT.Semaphore(0) for _ in range(workers - 1)] for _ in range(2))
        return cls(slots, stop, failed, _CONTEXT.SimpleQueue(), arrived, go)


class Crew:
    """One worker's place among the others.

    Args:
        rank: 0 leads: it saves, evaluates and reports.
        shared: None when it works alone.
        processes: the leader's: those of the others.
    """

    def __init__(self, rank: int = 0, shared: Shared | None = None, processes: Sequence[BaseProcess] = ()) -> None:
        self.rank, self.shared, self.processes = rank, shared, processes
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
        """Wait until all workers wait: the leader for each of them, they for the leader."""
        assert self.shared is not None
        if not self.leads:
            self.shared.arrived[self.rank - 1].release()
            self._take(self.shared.go[self.rank - 1])
            return
        for semaphore in self.shared.arrived:
            self._take(semaphore)
        for semaphore in self.shared.go:
            semaphore.release()

    def _take(self, semaphore: Semaphore) -> None:
        """Take what another worker will release, as long as there is hope that it will."""
        assert self.shared is not None
        until = time.monotonic() + PATIENCE_SECONDS
        while not semaphore.acquire(timeout=LOOK_SECONDS):
            if self.shared.failed[0] or time.monotonic() > until:
                errors = self.shared.errors
                reason = errors.get() if not errors.empty() else f"it has been stuck for {PATIENCE_SECONDS:.0f} seconds"
                raise RunError(f"another worker has stopped: {reason}")
            for rank, process in enumerate(self.processes, 1):
                if process.exitcode:
                    how = f"signal {-process.exitcode}" if process.exitcode < 0 else f"exit status {process.exitcode}"
                    raise RunError(f"worker {rank} was ended by {how}; the last save is whole")

    def give_up(self, reason: str) -> None:
        """Tell the others that this worker cannot go on."""
        if self.shared is not None:
            self.shared.errors.put(reason)
            self.shared.failed[0] = 1


def leave_with_parent() -> None:
    """End this process soon after its parent has ended, however that was."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def make_workers(target: Any, arguments: tuple[Any, ...], shared: Shared, workers: int) -> list[BaseProcess]:
    """Return a process for each of the ranks 1.., which will do ``target(rank, shared, *arguments)``."""
    return [_CONTEXT.Process(target=target, args=(rank, shared, *arguments), daemon=True) for rank in range(1, workers)]


def start(processes: Sequence[BaseProcess]) -> None:
    """Start processes that take no notice of a stop, which reaches the whole group: it is the leader's business."""
    with stops_held_back():
        for process in processes:
            process.start()


@contextmanager
def handling_stops(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Have stops handled, in the main thread, as Python calls handlers: with their number and a frame."""
    before = {number: signal.signal(number, handler) for number in STOPS}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def stops_held_back() -> Iterator[None]:
    """Keep stops waiting until the end; processes that are started meanwhile get none."""
    held: list[int] = []
    blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
    try:
        # Blocked for the processes, which inherit that. Here they must be caught too: what the main thread blocks
        # reaches another thread of a library, and Python would raise KeyboardInterrupt in the middle of a start.
        with handling_stops(lambda number, _: held.append(number)):
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS) if blocks else None
            try:
                yield
            finally:
                if mask is not None:
                    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    finally:
        if held:
            signal.raise_signal(held[0])
