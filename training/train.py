"""Self-play: roll out, learn, note, save; again until the deals are played.  ``run`` is the story on one screen."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from scarto_env import Batch
from training.checkpoint import STATE_FILE, RunError, begin_from, restore_state
from training.config import Config
from training.crew import STOPS, Crew, Shared, handling_stops, leave_with_parent, make_workers, start
from training.league import League
from training.learner import Learner
from training.report import Reporter
from training.rollout import Decisions, Opponent, Rollout, opponents_seats

MOST_PROCESSES = 64
"""Workers on one machine."""
MOST_WORKERS = 512
"""Rollouts of an update, wherever they are played."""
MOST_UPDATES = 1 << 17
"""Of a run with more rollouts an update than ``MOST_PROCESSES``."""


class Source(Protocol):
    """Where the rollouts of a run come from.

    Attributes:
        rollouts: of an update, that this process learns from.
    """

    rollouts: int

    def play(self, learner: Learner) -> tuple[Decisions, np.random.Generator]:
        """Return the decisions of the learner's next update and the generator that goes on from them."""
        ...

    def seen(self) -> dict[str, float]:
        """Return what is to be noted of the rollouts played last."""
        ...

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all processes of the run since they began."""
        ...


class Player:
    """Plays rollouts with the weights of a learner."""

    def __init__(self, config: Config, learner: Learner) -> None:
        theirs = opponents_seats(config.deals_at_once, learner.rules.players, config.league_share, "league")
        self.config = config
        judges = config.playouts and config.league_share > 0 and bool(config.league_bots)
        self._rollout = Rollout(
            learner.rules, config.deals_at_once, learner.encoder, theirs,
            playouts=judges, endings=config.endings, sure=config.sure,
        )  # fmt: skip

    def play(
        self, learner: Learner, opponent: Opponent | None, update: int, rank: int, generator: np.random.Generator
    ) -> Decisions:
        """Return the decisions of one rollout of an update; the same memory at every call."""
        deals = new_deals(self.config, update, rank)
        return self._rollout.play(learner.frozen_actor(), opponent, deals, generator)


class OwnRollouts:
    """A worker's own rollouts: one an update, played when it is asked for."""

    rollouts = 1

    def __init__(self, config: Config, learner: Learner, league: League, rank: int) -> None:
        self.config, self.league, self.rank = config, league, rank
        self._player = Player(config, learner)

    def play(self, learner: Learner) -> tuple[Decisions, np.random.Generator]:
        """Return the decisions of the learner's next update and the generator that goes on from them."""
        generator = np.random.default_rng([self.config.seed, learner.updates, self.rank])
        opponent = self.league.opponent(learner, generator)
        return self._player.play(learner, opponent, learner.updates, self.rank, generator), generator

    def seen(self) -> dict[str, float]:
        """Return nothing: what is played is learned from at once."""
        return {}

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all workers: they do the same work, so this one's time stands for each."""
        return time.process_time() * self.config.workers


MakeSource = Callable[[Learner, League], Source]


def run(
    config: Config,
    folder: Path,
    crew: Crew | None = None,
    make_source: MakeSource | None = None,
    executor: Executor | None = None,
) -> bool:
    """Train from the state in ``folder`` if there is one; return whether all was played.

    Args:
        config: the run.
        folder: of the run.
        crew: the processes that learn as one, this one among them; without, it learns alone.
        make_source: makes what plays; without, this process plays.
        executor: evaluates; without, this process does.
    """
    torch.set_num_threads(1)  # a process for each core does better than two threads that wait for each other
    crew = crew or Crew()
    # From the first moment: an interrupt raised while kernels are compiled may be lost in a callback.
    with stop_requests(crew.leads) as requested:
        learner = Learner(config, crew.average if crew.shared else None)
        progress = {}
        if (folder / STATE_FILE).exists():
            progress = restore_state(folder, learner)
        elif config.start:
            begin_from(config.start, learner)
        crew.join(learner)
        league = League(config, folder, learner.dtype)
        source = make_source(learner, league) if make_source else OwnRollouts(config, learner, league, crew.rank)
        reporter = Reporter(config, folder, learner, progress, source.cpu_seconds, executor) if crew.leads else None
        while learner.updates < config.updates:
            decisions, generator = source.play(learner)
            found = learner.learn(decisions, learner.updates / config.updates, generator)
            if reporter:
                league.admit(learner)
                reporter.note(learner, found | source.seen(), decisions.count / source.rollouts)
            stop = crew.agree(bool(requested))
            if reporter and (stop or reporter.save_is_due(learner)):
                reporter.save(learner)
            if stop:
                return False
    if reporter:
        reporter.finish(learner)
    return True


def new_deals(config: Config, update: int, rank: int) -> Batch:
    """Return the deals of one rollout: their seed is below 2**40, where the arena's begin."""
    block, place = divmod(rank, MOST_PROCESSES)
    seed = (config.seed * (1 << 20) + block * MOST_UPDATES + update) * MOST_PROCESSES + place
    return Batch(config.deals_at_once, config.rules, seed=seed, reward=config.reward, threads=1, redeal=False)


def check_workers(config: Config, most: int) -> None:
    """Refuse more workers than there are deals for, and staleness where there is none.

    Raises:
        RunError: there are too many, or too many updates with them.
    """
    if config.workers > most:
        raise RunError(f"workers={config.workers} are too many: at most {most}")
    if config.staleness and most == MOST_PROCESSES:
        raise RunError(f"staleness={config.staleness}: without --ray what is played is learned from at once")
    if config.workers > MOST_PROCESSES and config.updates > MOST_UPDATES:
        raise RunError(f"workers={config.workers} allow {MOST_UPDATES} updates at most, not {config.updates}")


def train(config: Config, folder: Path) -> bool:
    """Train with all workers; return whether all was played, which a request to stop prevents.

    Raises:
        RunError: the run cannot go on; its last save is whole.
    """
    check_workers(config, MOST_PROCESSES)
    if config.workers == 1:
        with refusals():
            return run(config, folder)
    learner = Learner(config)
    numbers = sum(weight.numel() for net in (learner.actor, learner.critic) for weight in net.parameters())
    shared = Shared.of(config.workers, numbers)
    processes = make_workers(work, (config, folder), shared, config.workers)
    try:
        start(processes)
        with refusals():
            return run(config, folder, Crew(0, shared, processes))
    except BaseException as error:
        Crew(0, shared).give_up(str(error))
        raise
    finally:
        for process in processes:
            if process.pid is not None:
                process.join(10)
                process.kill()


def train_together(config: Config, folder: Path, crew: Crew) -> bool:
    """Train as one of the processes that another program started; return whether all was played.

    Raises:
        RunError: there are not as many as workers, or the run cannot go on.
    """
    check_workers(config, MOST_PROCESSES)
    if config.workers != crew.size:
        raise RunError(f"workers={config.workers}: {crew.size} processes were started")
    with refusals():
        return run(config, folder, crew)


def work(rank: int, shared: Shared, config: Config, folder: Path) -> None:
    """Be one of the workers that do not lead: stops are not for them."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    leave_with_parent()
    try:
        with refusals():
            run(config, folder, Crew(rank, shared))
    except RunError as error:
        Crew(rank, shared).give_up(str(error))


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what can go wrong in a run into one line."""
    try:
        yield
    except FloatingPointError as error:
        raise RunError(f"{error}; the last save is from before: resume with a smaller learning rate") from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise RunError(f"{where}{error.strerror or error}; the last save is whole") from None


@contextmanager
def stop_requests(listens: bool) -> Iterator[list[int]]:
    """Give a list that gets an entry at each SIGINT or SIGTERM; a second SIGINT is not waited for."""
    requested: list[int] = []
    if not listens:
        yield requested
        return

    def note(number: int, _: Any) -> None:
        requested.append(number)
        if len(requested) > 1:
            raise KeyboardInterrupt

    with handling_stops(note):
        yield requested
