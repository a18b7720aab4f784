"""How fast the package is on this machine: random play through each of its interfaces.

``benchmarks`` measures the same tasks side by side with other libraries.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from scarto_env.batch import Batch
from scarto_env.rules import Rules, as_rules
from scarto_env.scarto_v0 import env as aec_env
from scarto_env.scarto_v0 import raw_env
from scarto_env.single import ScartoEnv
from scarto_env.vector import ScartoVectorEnv

BATCH_SIZES: Final = (64, 256, 1024, 4096, 16384, 65536)
VECTOR_SIZES: Final = (64, 256, 1024, 4096)
THREADED_SIZE: Final = 4096
ENGINE_SIZE: Final = 1024

ENGINE: Final = "random deals inside the engine"
ONE_GAME: Final = "Batch of one: legal cards, one play a call"
AEC_ONE_GAME: Final = "raw_env: legal cards, one play a call"
AEC_FIRST: Final = "env(): last, first legal card, step"
AEC_SAMPLE: Final = "env(): last, sample(mask), step"
SINGLE: Final = "Gymnasium, one environment"
_STEPS: Final = 32
"""Steps of many games that make a portion of work: long against the clock's own cost."""
_VECTOR_STEPS: Final = 256
"""The same where the cards have to be counted: long against the counting too, which costs as much as a step."""


def batch_name(size: int) -> str:
    """Return the name of the task that steps a batch of ``size`` games."""
    return f"Batch of {size:,}: random legal cards, step"


def threads_name(threads: int) -> str:
    """Return the name of the task that steps a batch on a number of threads."""
    return f"Batch of {THREADED_SIZE:,} on {threads} thread{'s' if threads > 1 else ''}"


def threads_step_name(threads: int) -> str:
    """Return the name of the same task where ``step`` alone is timed, not the choice of cards."""
    return f"{threads_name(threads)}: step alone"


def vector_name(size: int) -> str:
    """Return the name of the task that steps a vector environment."""
    return f"Gymnasium vector environment of {size:,}"


Work = Callable[[], int]
"""Does a portion of work and returns how many units that was."""


class Task(NamedTuple):
    """Work whose speed is measured.

    Attributes:
        name: what is done.
        unit: what is counted.
        make: prepares the work.
        clock: seconds; the processor's time of this process unless several threads work.
    """

    name: str
    unit: str
    make: Callable[[], Work]
    clock: Callable[[], float] = time.process_time


class Speed(NamedTuple):
    """A measurement: what was done, in which unit, and how many a second in each repeat."""

    name: str
    unit: str
    speeds: list[float]

    @property
    def median(self) -> float:
        """The median over the repeats."""
        return statistics.median(self.speeds)


class Stopwatch:
    """A clock that goes only within ``with``, in seconds."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds += time.perf_counter() - self._start

    def __call__(self) -> float:
        """Return how long it has gone."""
        return self._seconds


def speed(work: Work, seconds: float, clock: Callable[[], float]) -> float:
    """Return how many units are done in a second, over at least ``seconds``.

    For half as long before, the same is done and not counted: a core that had nothing to do wakes slowly.
    """
    _speed(work, seconds / 2, clock)
    return _speed(work, seconds, clock)


def _speed(work: Work, seconds: float, clock: Callable[[], float]) -> float:
    done = 0
    start = now = clock()
    while now - start < seconds:
        done += work()
        now = clock()
    return done / (now - start)


def measure(rules: str | Rules = "scarto", seconds: float = 0.5, repeats: int = 5) -> Iterator[Speed]:
    """Yield the speed of each task as soon as it is measured; compiling is not counted.

    Args:
        rules: preset or rules.
        seconds: time a repeat takes at least.
        repeats: how often each is measured.
    """
    for task in tasks(rules):
        work = task.make()
        work()
        yield Speed(task.name, task.unit, [speed(work, seconds, task.clock) for _ in range(repeats)])


def tasks(rules: str | Rules = "scarto") -> Iterator[Task]:
    """Yield the tasks; every one plays random legal cards, dealing included."""
    rules = as_rules(rules)
    yield Task(ENGINE, "cards", partial(_engine, rules))
    for size in BATCH_SIZES:
        yield Task(batch_name(size), "cards", partial(_batch, rules, size))
    for threads in (1, 2):
        yield Task(threads_name(threads), "cards", partial(_batch, rules, THREADED_SIZE, threads), time.perf_counter)
    for threads in (1, 2):
        watch = Stopwatch()
        yield Task(threads_step_name(threads), "cards", partial(_step_alone, rules, threads, watch), watch)
    for size in VECTOR_SIZES:
        yield Task(vector_name(size), "cards", partial(_vector, rules, size))
    yield Task(SINGLE, "cards", partial(_single, rules))
    yield Task(ONE_GAME, "cards", partial(_one_game, rules))
    yield Task(AEC_ONE_GAME, "cards", partial(_aec_one_game, rules))
    yield Task(AEC_FIRST, "steps", partial(_aec, rules, sample=False))
    yield Task(AEC_SAMPLE, "steps", partial(_aec, rules, sample=True))


def _engine(rules: Rules) -> Work:
    batch = Batch(ENGINE_SIZE, rules, seed=0, threads=1, redeal=False)

    def work() -> int:
        batch.reset()
        return batch.play_out()

    return work


def _batch(rules: Rules, size: int, threads: int = 1) -> Work:
    batch = Batch(size, rules, seed=0, threads=threads)

    def work() -> int:
        for _ in range(_STEPS):
            batch.step(batch.random_actions())
        return _STEPS * size

    return work


def _step_alone(rules: Rules, threads: int, watch: Stopwatch) -> Work:
    batch = Batch(THREADED_SIZE, rules, seed=0, threads=threads)

    def work() -> int:
        for _ in range(_STEPS):
            cards = batch.random_actions()
            with watch:
                batch.step(cards)
        return _STEPS * THREADED_SIZE

    return work


def cards_played(batch: Batch) -> int:
    """Return how many cards have been laid away or played in all games since their streams began."""
    games = batch.games.view(np.ndarray)
    rules = batch.rules
    deals = games["deal_number"].astype(np.int64) * rules.num_decisions
    tricks = games["trick"].astype(np.int64) * rules.players
    return int((deals + games["num_discarded"] + tricks + games["turn"]).sum())


def _vector(rules: Rules, size: int) -> Work:
    """The learner plays at random too, its cards drawn by the batch, as those of ``Batch``'s task."""
    envs = ScartoVectorEnv(size, "random", rules=rules, threads=1)
    envs.reset(seed=0)
    batch = envs.batch

    def work() -> int:
        before = cards_played(batch)
        for _ in range(_VECTOR_STEPS):
            envs.step(batch.random_actions())
        return cards_played(batch) - before

    return work


def _single(rules: Rules) -> Work:
    env = ScartoEnv("random", rules=rules)
    env.reset(seed=0)

    def work() -> int:
        _, info = env.reset()
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(info["action_mask"].argmax())
        return rules.num_decisions

    return work


def draws(number: int = 4096) -> list[int]:
    """Return whole numbers whose remainders choose among legal cards: drawing is not what is measured."""
    return [int(number) for number in np.random.default_rng(0).integers(1 << 20, size=number)]


def _one_game(rules: Rules) -> Work:
    batch = Batch(1, rules, seed=0, threads=1)
    mask = batch.action_mask[0].view(np.bool_)  # NumPy lists the true entries faster than the ones
    drawn = draws()

    def work() -> int:
        for number in drawn:
            legal = mask.nonzero()[0]
            batch.step_one(legal.item(number % len(legal)))
        return len(drawn)

    return work


def _aec_one_game(rules: Rules) -> Work:
    env = raw_env(rules=rules)
    drawn = draws()
    env.reset(seed=0)

    def work() -> int:
        for number in drawn:
            if env.terminations[env.agent_selection]:
                env.reset()
            legal = env.infos[env.agent_selection]["action_mask"].view(np.bool_).nonzero()[0]
            env.step(legal.item(number % len(legal)))
        return len(drawn)

    return work


def _aec(rules: Rules, sample: bool) -> Work:
    env = aec_env(rules=rules)
    env.reset(seed=0)
    space = env.action_space(env.possible_agents[0])
    space.seed(0)

    def work() -> int:
        steps = 0
        env.reset()
        for _agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            steps += 1
            if terminated or truncated or observation is None:
                env.step(None)
                continue
            mask = observation["action_mask"]
            env.step(space.sample(mask) if sample else mask.argmax())
        return steps

    return work
