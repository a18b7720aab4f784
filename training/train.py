"""Self-play, on one screen: roll out, learn, note, save; again until the deals are played."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarto_env import Batch
from training.checkpoint import STATE_FILE, RunError, begin_from, restore_state
from training.config import Config
from training.crew import Crew, Shared, leave_with_parent, start_workers
from training.league import League
from training.learner import Learner
from training.report import Reporter
from training.rollout import Rollout, opponents_seats

MOST_WORKERS = 64


def run(config: Config, folder: Path, rank: int = 0, shared: Shared | None = None) -> bool:
    """Train as one of the workers, from the state in ``folder`` if there is one; return whether all was played."""
    torch.set_num_threads(1)  # a process for each core does better than two threads that wait for each other
    crew = Crew(rank, shared)
    learner = Learner(config, crew.average if shared else None)
    progress = {}
    if (folder / STATE_FILE).exists():
        progress = restore_state(folder, learner)
    elif config.start:
        begin_from(Path(config.start), learner)
    reporter = Reporter(config, folder, learner, progress) if crew.leads else None
    league = League(config, folder, learner.dtype)
    theirs = opponents_seats(config.deals_at_once, learner.rules.players, config.league_share, "league")
    rollout = Rollout(learner.rules, config.deals_at_once, learner.encoder, theirs)
    with stop_requests(crew.leads) as requested:
        while learner.updates < config.updates:
            update = learner.updates
            generator = np.random.default_rng([config.seed, update, rank])
            opponent = league.opponent(learner, generator)
            decisions = rollout.play(learner.frozen_actor(), opponent, new_deals(config, update, rank), generator)
            found = learner.learn(decisions, update / config.updates, generator)
            if reporter:
                league.admit(learner)
                reporter.note(learner, found, decisions.count)
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
    seed = (config.seed * (1 << 20) + update) * MOST_WORKERS + rank
    return Batch(config.deals_at_once, config.rules, seed=seed, reward=config.reward, threads=1, redeal=False)


def train(config: Config, folder: Path) -> bool:
    """Train with all workers; return whether all was played, which a request to stop prevents.

    Raises:
        RunError: the run cannot go on; its last save is whole.
    """
    if config.workers > MOST_WORKERS:
        raise RunError(f"workers={config.workers} are too many: at most {MOST_WORKERS}")
    if config.workers == 1:
        with refusals():
            return run(config, folder)
    learner = Learner(config)
    numbers = sum(weight.numel() for net in (learner.actor, learner.critic) for weight in net.parameters())
    shared = Shared.of(config.workers, numbers)
    processes = start_workers(work, (config, folder), shared, config.workers)
    try:
        with refusals():
            return run(config, folder, 0, shared)
    except BaseException as error:
        Crew(0, shared).give_up(str(error))
        raise
    finally:
        for process in processes:
            process.join(10)
            process.kill()


def work(rank: int, shared: Shared, config: Config, folder: Path) -> None:
    """Be one of the workers that do not lead; Ctrl-C is the leader's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_with_parent()
    try:
        with refusals():
            run(config, folder, rank, shared)
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
        raise RunError(f"{error.filename or 'a file'}: {error.strerror}; the last save is whole") from None


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

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
