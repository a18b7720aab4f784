"""Several learners that ``torchrun`` started, with torch's own data parallelism: gloo on CPUs, nccl on GPUs."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from training.checkpoint import RunError
from training.crew import PATIENCE_SECONDS, Crew
from training.learner import Learner

Answer = TypeVar("Answer")


class Replica(DistributedDataParallel):
    """A network whose gradients are averaged over all processes as they are computed; else the network itself."""

    def state_dict(self, *arguments: Any, **named: Any) -> Any:
        """Return the network's weights under its own names."""
        return self.module.state_dict(*arguments, **named)

    def load_state_dict(self, *arguments: Any, **named: Any) -> Any:
        """Give the network weights under its own names."""
        return self.module.load_state_dict(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        """Return what the network has and the replica has not."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)


class TorchCrew(Crew):
    """One process's place among those that torchrun started."""

    def __init__(self) -> None:
        super().__init__(distributed.get_rank())
        self.size = distributed.get_world_size()

    def share(self, rollouts: int) -> range:
        """Return the ranks of those rollouts of an update that this process learns from.

        Raises:
            RunError: they cannot be shared equally.
        """
        if rollouts % self.size:
            raise RunError(f"workers={rollouts} rollouts cannot be shared equally by {self.size} processes")
        each = rollouts // self.size
        return range(self.rank * each, (self.rank + 1) * each)

    def join(self, learner: Learner) -> None:
        """Make the learner's networks replicas, all with the first process's weights."""
        for name in ("actor", "critic"):
            setattr(learner, name, Replica(getattr(learner, name)))

    def agree(self, stop: bool) -> bool:
        """Return whether to stop, as the leader wants it."""
        wanted = torch.tensor([int(stop)], dtype=torch.int32)
        distributed.broadcast(wanted, 0)
        return bool(wanted[0])

    def led(self, ask: Callable[[], Answer]) -> Answer:
        """Return what the leader answers; where it fails, the others leave without a word."""
        answer: list[Answer | None] = [None]
        try:
            if self.leads:
                answer[0] = ask()
        finally:
            distributed.broadcast_object_list(answer, 0)
        if answer[0] is None:
            raise SystemExit(2)
        return answer[0]


def launched() -> bool:
    """Return whether torchrun started this process."""
    return distributed.is_torchelastic_launched()


@contextmanager
def together() -> Iterator[TorchCrew]:
    """Be one of the processes that torchrun started; where there are GPUs, each has its own."""
    # The first optimiser brings torch's compiler along, which would hold a group that is there already: its threads
    # would then run to the very end of the process, and now and then abort it (torch 2.13).
    importlib.import_module("torch._dynamo")
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(backend, timeout=timedelta(seconds=PATIENCE_SECONDS))
    crew = TorchCrew()
    if not crew.leads:  # stopping is the leader's business
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    try:
        yield crew
    finally:
        distributed.destroy_process_group()
