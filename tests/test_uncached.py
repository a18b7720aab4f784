"""Batches larger than a cache: rows written past the caches are the ones that are written through them."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scarto_env import Batch
from scarto_env.jit import JIT_DISABLED
from scarto_env.loops import _CACHED, advance, advance_uncached, new_stage
from scarto_env.observation import observation_size

LINE = 64
GAMES = 41
MARK = -77


def framed(size: int, shift: int) -> tuple[NDArray[np.int8], NDArray[np.int8], int]:
    """Return memory full of a mark, ``size`` bytes of it from ``shift`` bytes into a line on, and their first line."""
    memory = np.full(size + 4 * LINE, MARK, np.int8)
    start = -memory.ctypes.data % LINE + LINE + shift
    return memory, memory[start : start + size], -shift % LINE


@pytest.mark.parametrize("preset", ["scarto", "four_player"])
@pytest.mark.parametrize("shift", [0, 1, 30, 63])
def test_rows_are_the_same_wherever_lines_begin(preset: str, shift: int) -> None:
    rng = np.random.default_rng(shift)
    batch = Batch(GAMES, preset, seed=shift)
    width = observation_size(batch.rules.players)
    memory, observation, line = framed(GAMES * width, shift)
    mask_memory, mask, mask_line = framed(GAMES * 78, (7 * shift) % LINE)
    stage = new_stage(1)[0]
    for _ in range(batch.rules.num_decisions + 2):
        cards = batch.random_actions()
        other = batch.clone()
        cuts = [0, *np.sort(rng.integers(0, GAMES + 1, 3)), GAMES]
        observation[:], mask[:] = MARK, MARK
        for start, stop in itertools.pairwise(cuts):
            advance_uncached(
                other._rows, other._table, cards, observation, mask, line, mask_line, stage, int(start), int(stop)
            )
        advance(batch._rows, batch._table, cards, batch._observation, batch._action_mask, 0, GAMES)
        assert observation.tobytes() == batch.observation.tobytes()
        assert mask.tobytes() == batch.action_mask.tobytes()
        assert other.games.tobytes() == batch.games.tobytes()
    for whole, part in ((memory, observation), (mask_memory, mask)):
        assert np.count_nonzero(whole == MARK) == len(whole) - len(part), "a byte outside was written"


@pytest.mark.skipif(JIT_DISABLED, reason="43,000 games take minutes in plain Python")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_batch_beyond_the_caches_sees_what_it_always_sees(threads: int) -> None:
    num_games = _CACHED // (observation_size() + 78) + 7
    batch = Batch(num_games, seed=5, threads=threads)
    few = Batch(500, seed=5)
    for _ in range(4):
        batch.step(batch.random_actions())
        few.step(few.random_actions())
        seen: list[Any] = [batch.observation.copy(), batch.action_mask.copy()]
        batch.refresh()
        assert np.array_equal(seen[0], batch.observation) and np.array_equal(seen[1], batch.action_mask)
        assert np.array_equal(batch.observation[:500], few.observation)


def test_threads_are_fixed_and_as_many_as_one_likes() -> None:
    batch = Batch(3, seed=1, threads=10**18)
    with pytest.raises(AttributeError):
        batch.threads = 64  # type: ignore[misc]
    assert batch.threads == 10**18
    for _ in range(3):
        batch.step(batch.random_actions())
    other = Batch(3, seed=1)
    for _ in range(3):
        other.step(other.random_actions())
    assert np.array_equal(batch.observation, other.observation)
