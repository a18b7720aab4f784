"""Where a batched step's time goes and what it writes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from scarto_env.batch import Batch
from scarto_env.jit import kernel
from scarto_env.loops import RANDOM, WAIT, choose_random, first_illegal
from scarto_env.observation import observe, write_mask
from scarto_env.play import act, deal, set_legal
from scarto_env.rules import Rules
from scarto_env.state import DISCARD, HOT_BYTES, PLAY

NUM_GAMES = 1024
"""Fits the second-level cache with its observations."""


@kernel
def act_all(games: Any, table: Any, actions: Any) -> None:
    for index in range(len(games)):
        act(games[index], table[0], actions[index])


@kernel
def legal_all(games: Any, table: Any) -> None:
    for index in range(len(games)):
        set_legal(games[index], table[0])


@kernel
def deal_all(games: Any, table: Any) -> None:
    for index in range(len(games)):
        deal(games[index], table[0], -1)


@kernel
def observe_all(games: Any, table: Any, out: Any) -> None:
    for index in range(len(games)):
        game = games[index]
        observe(game, table[0], int(game.seat), out[index])


@kernel
def mask_all(games: Any, out: Any) -> None:
    for index in range(len(games)):
        write_mask(games[index], out[index])


def account(rules: Rules, repeats: int = 15) -> dict[str, Any]:
    """Return nanoseconds a game and step by part, and bytes, of a batched step with a random legal card."""
    batch = spread(rules, NUM_GAMES)
    batch.random_actions()
    return {
        "games": NUM_GAMES,
        "nanoseconds": _nanoseconds(batch, repeats),
        "bytes": _bytes(batch),
        "memory of 65,536 games, MB": _memory(rules, 65536) / 1e6,
    }


def spread(rules: Rules, num_games: int) -> Batch:
    """Return games at all points of a deal: every deal has as many cards, so by themselves they stay level."""
    batch = Batch(num_games, rules, seed=0, threads=1)
    nobody, everybody = np.zeros(num_games, np.int64), np.arange(num_games)
    for step in range(rules.num_decisions):
        batch.step_some(np.where(everybody % rules.num_decisions > step, RANDOM, WAIT), nobody, nobody)
    return batch


def _nanoseconds(batch: Batch, repeats: int) -> dict[str, float]:
    """Return the shares of a step, what is rare by how often it comes, and what they leave over."""
    rows, table, actions, rules = batch._rows, batch._table, batch._actions, batch.rules
    copied = rows.copy()
    playing = rows["phase"] == PLAY
    ends_trick = playing & (rows["turn"] == rules.players - 1)
    within = playing & ~ends_trick
    discarding = rows["phase"] == DISCARD

    def share(work: Callable[[], Any]) -> float:
        return _time(work, repeats) / len(rows)

    def act_share(chosen: Any) -> float:
        return _act(rows[chosen], table, actions[chosen], repeats) * chosen.mean()

    shares = {
        "choose a random legal card": share(lambda: choose_random(rows, actions, 0, len(rows))),
        "check that the card is legal": share(lambda: first_illegal(rows, actions, 0, len(rows))),
        "lay a card away": act_share(discarding),
        "play a card within a trick": act_share(within),
        "play a trick's last card, take it, count": act_share(ends_trick),
        "shuffle and deal": share(lambda: deal_all(copied, table)) / rules.num_decisions,
        "encode the observation": share(lambda: observe_all(rows, table, batch.observation)),
        "encode the mask": share(lambda: mask_all(rows, batch.action_mask)),
    }
    sample = rows[within]
    legal = _time(lambda: legal_all(sample, table), repeats) / len(sample)
    whole = share(lambda: batch.step(batch.random_actions()))
    rest = whole - sum(shares.values())
    # Less than nothing where the parts cost more alone than one after the other on a row in the nearest cache.
    return {**shares, "the whole less these parts": rest, "whole step": whole, "legal cards, within play": legal}


def _act(games: Any, table: Any, cards: Any, repeats: int) -> float:
    """Playing changes the rows, so each time works on a copy, whose own time is taken off."""
    copied = games.copy()

    def restore() -> None:
        copied.view(np.uint8)[:] = games.view(np.uint8)

    def restore_and_act() -> None:
        restore()
        act_all(copied, table, cards)

    return (_time(restore_and_act, repeats) - _time(restore, repeats)) / len(games)


def _time(work: Callable[[], Any], repeats: int) -> float:
    """Return the median nanoseconds of a call."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time_ns()
        for _ in range(50):
            work()
        times.append((time.process_time_ns() - start) / 50)
    return statistics.median(times)


def _bytes(batch: Batch) -> dict[str, float]:
    """Return what a step writes for one game; of the row, the bytes whose value changes, on average, and the front."""
    changed = []
    for _ in range(100):
        before = batch._rows.copy()
        step = batch.step(batch.random_actions())
        same = before.view(np.uint8) == batch._rows.view(np.uint8)
        changed.append(int((~same).sum()) / len(batch))
    return {
        "observation": batch.observation.nbytes / len(batch),
        "mask": batch.action_mask.nbytes / len(batch),
        "rewards and done": (step.reward.nbytes + step.done.nbytes) / len(batch),
        "row, changed": statistics.mean(changed),
        "row, touched": HOT_BYTES,
        "row, size": batch._rows.itemsize,
    }


def _memory(rules: Rules, num_games: int) -> int:
    """Return the bytes of a batch with its observation."""
    batch = Batch(num_games, rules, seed=0, threads=1)
    arrays = {id(array): array.nbytes for array in vars(batch).values() if isinstance(array, np.ndarray)}
    del arrays[id(batch._rows)]
    return sum(arrays.values()) + batch.games.nbytes + batch._step.reward.nbytes + batch._step.done.nbytes
