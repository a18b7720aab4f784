"""``Batch.step_some``: games that move independently of each other, against the same moves one by one."""

import copy
import functools
import pickle
import random
import re
from collections.abc import Callable

import numpy as np
import pytest

from scarto_env import Batch, IllegalActionError, Rules
from scarto_env.batch import Reward
from scarto_env.loops import CARD, DEAL, GO_ON, RANDOM, WAIT
from scarto_env.state import GAME, OVER

NUM_GAMES = 9


def row(batch: Batch, game: int) -> list[bytes]:
    """Return the game itself; what the last step of a batch brought is compared apart."""
    fields = [name for name in GAME.names or () if name not in ("reward", "done")]
    return [batch.games[name][game].tobytes() for name in fields]


@functools.cache
def alone(rules: Rules, reward: Reward) -> Batch:
    """Return a batch of one to be cloned: making one anew takes longer."""
    return Batch(1, rules, seed=0, reward=reward, redeal=False, threads=1)


def moved_one_by_one(
    batch: Batch, game: int, order: int, card: int, viewer: int, random_others: list[bool]
) -> tuple[Batch, np.ndarray]:
    """Return a batch of one with the game moved by ``step`` and ``reset``, and the rewards of it all."""
    single = alone(batch.rules, batch.reward).clone()
    single.games[:] = batch.games[game : game + 1]
    single.refresh()
    reward = np.zeros(batch.rules.players, np.float32)
    if order == DEAL:
        single.reset()
    elif order == CARD:
        reward += single.step([card]).reward[0]
    elif order == RANDOM and single.games.phase[0] != OVER:
        reward += single.step(single.random_actions()).reward[0]
    plays_at_random = [False, *random_others]
    players = batch.rules.players
    while single.games.phase[0] != OVER and plays_at_random[(int(single.seat[0]) - viewer) % players]:
        reward += single.step(single.random_actions()).reward[0]
    return single, reward


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("preset", "reward"), [("scarto", "score"), ("four_player", "trick"), ("piccolo", "win")])
def test_every_game_moves_as_it_would_alone(preset: str, reward: str, threads: int) -> None:
    rng = random.Random(f"{preset} {threads}")
    batch = Batch(NUM_GAMES, preset, seed=4, reward=reward, threads=threads, redeal=bool(threads - 1))  # type: ignore[arg-type]
    players = batch.rules.players
    viewers = [rng.randrange(players) for _ in range(NUM_GAMES)]
    random_others = [rng.random() < 0.6 for _ in range(players - 1)]
    for _ in range(batch.rules.num_decisions - 5):  # So that soon the first deals end.
        batch.step(batch.random_actions())
    num_over = 0
    for _ in range(100 if threads == 1 else 15):  # Starting threads is slow on a busy machine.
        orders = [
            rng.choice([WAIT, DEAL, DEAL, GO_ON, CARD]) if phase == OVER else rng.choice([WAIT, CARD, RANDOM, GO_ON])
            for phase in batch.games.phase
        ]
        orders = [DEAL if rng.random() < 0.01 else order for order in orders]
        cards = [int(rng.choice(mask.nonzero()[0])) if mask.any() else 0 for mask in batch.action_mask]
        rows = [row(batch, game) for game in range(NUM_GAMES)]
        seen = batch.observation.copy(), batch.action_mask.copy()
        paid, done = (part.copy() for part in batch._step)
        expected = [
            moved_one_by_one(batch, game, orders[game], cards[game], viewers[game], random_others)
            for game in range(NUM_GAMES)
        ]
        step = batch.step_some(orders, cards, viewers, random_others)
        for game, (single, reward_alone) in enumerate(expected):
            if orders[game] == WAIT:
                assert row(batch, game) == rows[game]
                assert np.array_equal(batch.observation[game], seen[0][game])
                assert np.array_equal(batch.action_mask[game], seen[1][game])
                assert np.array_equal(step.reward[game], paid[game]) and step.done[game] == done[game]
                continue
            assert row(batch, game) == row(single, 0)
            assert np.array_equal(step.reward[game], reward_alone)
            over = single.games.phase[0] == OVER
            num_over += bool(over)
            assert step.done[game] == over
            viewer = viewers[game] if over else int(single.seat[0])
            assert np.array_equal(batch.observation[game], single.observe(0, viewer))
            assert np.array_equal(batch.action_mask[game], single.action_mask[0])
    assert num_over > 5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"orders": [CARD, 5]}, ValueError, "orders[1]=5 is no order: expected 0..4"),
        ({"orders": [-1, WAIT]}, ValueError, "orders[0]=-1 is no order"),
        ({"orders": [WAIT]}, ValueError, "orders must have shape (2,)"),
        ({"orders": [1.0, 1.0]}, TypeError, "orders must be whole numbers"),
        ({"viewers": [0, 3]}, ValueError, "viewers[1]=3 is no seat: expected 0..2"),
        ({"viewers": [-1, 0]}, ValueError, "viewers[0]=-1 is no seat"),
        ({"viewers": [0.0, 0.0]}, TypeError, "viewers must be whole numbers"),
        ({"actions": [0, 0, 0]}, ValueError, "actions must have shape (2,)"),
        ({"actions": [True, True]}, TypeError, "actions must be whole numbers"),
        ({"random_others": [True]}, ValueError, "random_others=(True,) is not allowed: expected 2 of"),
        ({"random_others": [True] * 3}, ValueError, "random_others=(True, True, True) is not allowed"),
    ],
)
def test_what_is_refused_moves_no_game(changes: dict, error: type[Exception], message: str) -> None:
    batch = Batch(2, seed=0, threads=1)
    legal = batch.random_actions().tolist()
    before = [row(batch, game) for game in range(2)]
    arguments = {"orders": [CARD, CARD], "actions": legal, "viewers": [0, 0], "random_others": None} | changes
    with pytest.raises(error, match="^" + re.escape(message)):
        batch.step_some(**arguments)
    assert [row(batch, game) for game in range(2)] == before


@pytest.mark.parametrize("threads", [1, 2])
def test_an_illegal_card_is_named_and_moves_no_game(threads: int) -> None:
    batch = Batch(3, seed=0, threads=threads)
    legal = batch.random_actions().tolist()
    illegal = int(np.flatnonzero(batch.action_mask[2] == 0)[0])
    before = [row(batch, game) for game in range(3)]
    with pytest.raises(IllegalActionError, match=r"^game 2: seat \d may not play"):
        batch.step_some([CARD, RANDOM, CARD], [legal[0], 0, illegal], [0, 1, 2])
    assert [row(batch, game) for game in range(3)] == before
    # A card that is not ordered is not looked at.
    batch.step_some([CARD, WAIT, GO_ON], [legal[0], -5, 999], [0, 1, 2])
    assert [row(batch, game) for game in (1, 2)] == before[1:]


def test_step_one_is_step_without_an_array() -> None:
    batch, other = Batch(1, "piccolo", seed=1, redeal=False), Batch(1, "piccolo", seed=1, redeal=False)
    while batch.games.phase[0] != OVER:
        card = int(batch.random_actions()[0])
        other.random_actions()
        assert np.array_equal(batch.step([card]).reward, other.step_one(card).reward)
        assert row(batch, 0) == row(other, 0) and np.array_equal(batch.observation, other.observation)
    fresh = Batch(1, seed=1)
    with pytest.raises(IllegalActionError, match="may not play"):
        fresh.step_one(int(np.flatnonzero(fresh.action_mask[0] == 0)[0]))


def test_step_one_takes_one_card_of_one_game() -> None:
    with pytest.raises(ValueError, match="not in one of 4"):
        Batch(4, seed=1).step_one(0)
    batch = Batch(1, seed=1)
    before = batch.games.tobytes()
    with pytest.raises(TypeError):
        batch.step_one(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="whole number"):
        batch.step_one(True)
    for card in (-1, 78, 2**63, 2**70, -(2**70)):
        with pytest.raises(IllegalActionError):
            batch.step_one(card)
    assert batch.games.tobytes() == before


@pytest.mark.parametrize("num_games", [10**15, 2**62, 2**70])
def test_more_games_than_memory_holds_are_refused_at_once(num_games: int) -> None:
    with pytest.raises(ValueError, match=f"num_games={num_games} of .* find no room"):
        Batch(num_games)


def test_redeal_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="redeal='no' is not allowed"):
        Batch(1, redeal="no")  # type: ignore[arg-type]


def ended_by_viewers() -> tuple[Batch, list[int]]:
    """Return games whose deals have all ended, each seen by a viewer who is not the seat of its row."""
    batch = Batch(4, seed=1)
    for _ in range(batch.rules.num_decisions - 1):
        batch.step(batch.random_actions())
    viewers = [(int(seat) + 1) % 3 for seat in batch.seat]
    batch.step_some([CARD] * 4, batch.random_actions(), viewers)
    assert (batch.games.phase == OVER).all()
    return batch, viewers


@pytest.mark.parametrize(
    "copied", [lambda batch: pickle.loads(pickle.dumps(batch)), copy.deepcopy, copy.copy, Batch.clone]
)
def test_a_copy_shows_what_the_viewers_saw(copied: Callable[[Batch], Batch]) -> None:
    batch, viewers = ended_by_viewers()
    other = copied(batch)
    assert np.array_equal(other.observation, batch.observation)
    assert np.array_equal(other.observation, np.stack([batch.observe(game, viewers[game]) for game in range(4)]))
    assert not other.action_mask.any() and not np.shares_memory(other.observation, batch.observation)


def test_what_is_not_dealt_anew_goes_on_showing_the_same() -> None:
    batch, _ = ended_by_viewers()
    before = batch.observation.copy()
    batch.reset(np.array([True, False, False, False]))
    assert np.array_equal(batch.observation[1:], before[1:]) and not np.array_equal(batch.observation[0], before[0])
    batch.set_deal(1, batch.deal(0))
    assert np.array_equal(batch.observation[2:], before[2:]) and not np.array_equal(batch.observation[1], before[1])


@pytest.mark.parametrize(
    "others", [["0", "1"], "01", (2, 0), (float("nan"), 0), [[True], [False]], 5, (True,), object()]
)
def test_random_others_are_named_where_they_are_none(others: object) -> None:
    batch = Batch(2, seed=3)
    before = batch.games.tobytes()
    with pytest.raises(ValueError, match=r"random_others=.* is not allowed: expected 2 of True or False"):
        batch.step_some([GO_ON] * 2, [0, 0], [0, 0], others)  # type: ignore[arg-type]
    assert batch.games.tobytes() == before


def test_what_is_no_array_is_named() -> None:
    batch = Batch(2, seed=3)
    for name in ("out", "gained", "score"):
        with pytest.raises(TypeError, match=f"{name} must be an array of float"):
            batch.step_some([GO_ON] * 2, [0, 0], [0, 0], **{name: [0.0, 0.0]})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="deal=None is no Deal"):
        batch.set_deal(0, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"rows must be an array of state\.GAME"):
        batch.clone_into([1])  # type: ignore[arg-type]


def test_huge_numbers_are_named_as_they_were_given() -> None:
    batch, huge = Batch(2, seed=3), np.full(2, 2**64 - 1, np.uint64)
    with pytest.raises(IllegalActionError, match="18446744073709551615"):
        batch.step(huge)
    with pytest.raises(IllegalActionError, match="9223372036854775808"):
        batch.step_some([CARD] * 2, [2**63] * 2, [0, 0])
    with pytest.raises(ValueError, match=r"orders\[0\]=18446744073709551615 is no order"):
        batch.step_some(huge, [0, 0], [0, 0])
