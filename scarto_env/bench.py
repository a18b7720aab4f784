"""How fast the engine is on this machine: random play, medians over repeats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from scarto_env.batch import Batch
from scarto_env.rules import Rules, as_rules

_MANY: Final = 1024


class Speed(NamedTuple):
    """A measurement: what was done, in which unit, and how many a second in each repeat."""

    name: str
    unit: str
    speeds: list[float]

    @property
    def median(self) -> float:
        """The median over the repeats."""
        return statistics.median(self.speeds)


def measure(rules: str | Rules = "scarto", seconds: float = 0.5, repeats: int = 5) -> Iterator[Speed]:
    """Yield the speeds of the engine, each as soon as it is measured.

    Args:
        rules: preset or rules.
        seconds: time a repeat takes at least.
        repeats: how often each is measured.
    """
    rules = as_rules(rules)
    single, many = Batch(1, rules, seed=0, threads=1), Batch(_MANY, rules, seed=0, threads=1)
    every_core = Batch(_MANY * 8, rules, seed=0)
    tasks: list[tuple[str, Callable[[], int]]] = [
        ("whole random deals, one core", lambda: _deals(many)),
        (f"whole random deals, {every_core.threads} threads", lambda: _deals(every_core)),
        (f"step with observation and mask, {_MANY} games", lambda: _step(many)),
        ("step with observation and mask, one game", lambda: _step(single)),
    ]
    for name, task in tasks:
        task()  # compile
        yield Speed(name, "cards", [_speed(task, seconds) for _ in range(repeats)])


def _deals(batch: Batch) -> int:
    batch.reset()
    return batch.play_out()


def _step(batch: Batch) -> int:
    batch.step(batch.random_actions())
    return len(batch)


def _speed(task: Callable[[], int], seconds: float) -> float:
    done = 0
    start = now = time.perf_counter()
    while now - start < seconds:
        done += task()
        now = time.perf_counter()
    return done / (now - start)
