"""Batch: steps, rewards, bad input, the contract of its arrays."""

import copy
import gc
import pickle
import random
import re
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from positions import (
    ID,
    LAST,
    MIXES,
    Mix,
    begin,
    exact_settled,
    ids,
    legal_codes,
    mix,
    play_codes,
    random_deal,
    random_mix,
    reference_game,
    table_position,
)
from reference import ALL_CARDS, Game, deck
from steering import DEALS, STEERED, at_random

from scarto_env import Batch, IllegalActionError
from scarto_env.batch import REWARDS
from scarto_env.observation import observation_size
from scarto_env.rules import PRESETS
from scarto_env.state import DISCARD, GAME, OVER, PLAY


def memory(batch: Batch) -> list[bytes]:
    """Return every byte that a batch shows or holds."""
    reward, done = batch._step
    return [
        part.tobytes()
        for part in (batch.games, batch.observation, batch.action_mask, batch.seat, reward, done, batch._actions)
    ]


# --- The arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_s17_shapes_and_types(preset: str) -> None:
    batch = Batch(5, preset, seed=0)
    players = batch.rules.players
    for _ in range(2 * batch.rules.num_decisions):
        assert batch.seat.shape == (5,) and batch.seat.dtype == np.int8
        assert batch.observation.shape == (5, observation_size(players)) and batch.observation.dtype == np.int8
        assert batch.action_mask.shape == (5, 78) and batch.action_mask.dtype == np.int8
        assert np.isin(batch.action_mask, (0, 1)).all() and batch.action_mask.any(axis=1).all()
        actions = batch.random_actions()
        assert actions.shape == (5,) and actions.dtype == np.int64
        assert batch.action_mask[range(5), actions].all()
        step = batch.step(actions)
        assert step.reward.shape == (5, players) and step.reward.dtype == np.float32
        assert step.done.shape == (5,) and step.done.dtype == np.bool_


def test_the_memory_is_the_same_at_every_step() -> None:
    batch = Batch(3, seed=0)
    kept = batch.observation, batch.action_mask, batch.seat, batch.random_actions(), *batch.step(batch.random_actions())
    for _ in range(100):
        step = batch.step(batch.random_actions())
        now = batch.observation, batch.action_mask, batch.seat, batch.random_actions(), *step
        assert all(old is new for old, new in zip(kept, now, strict=True))


@pytest.mark.parametrize(
    "copied", [Batch.clone, copy.copy, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))]
)
def test_a_copy_plays_in_memory_of_its_own(copied: Callable[[Batch], Batch]) -> None:
    batch = Batch(5, seed=3)
    other = copied(batch)
    before = memory(batch)
    for _ in range(80):
        other.step(other.random_actions())
    assert memory(batch) == before
    del batch
    gc.collect()
    other.step(other.random_actions())
    fresh = Batch(5, seed=3)
    for _ in range(81):
        fresh.step(fresh.random_actions())
    # Field by field: a copy need not keep the bytes between them.
    assert all(np.array_equal(other.games[name], fresh.games[name]) for name in GAME.names)
    assert np.array_equal(other.observation, fresh.observation)
    assert np.array_equal(other.action_mask, fresh.action_mask)


def test_no_kernel_is_led_astray_from_outside() -> None:
    batch = Batch(3, seed=5)
    for name in ("observation", "action_mask"):
        with pytest.raises(AttributeError):
            setattr(batch, name, np.zeros((1, 1), np.int8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            getattr(batch, name).shape = (-1,)
    batch.reset()
    other = Batch(3, seed=5)
    other.reset()
    assert batch.observation.tobytes() == other.observation.tobytes()
    assert batch.action_mask.tobytes() == other.action_mask.tobytes()


def test_actions_of_any_integer_type_and_layout_are_taken() -> None:
    expected = Batch(6, seed=1)
    first = expected.random_actions().copy()
    expected.step(first)
    doubled = np.repeat(first, 2)
    for actions in (
        first.tolist(),
        tuple(first.tolist()),
        *(first.astype(dtype) for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint64, ">i4")),
        doubled[::2],
    ):
        batch = Batch(6, seed=1)
        batch.random_actions()
        batch.step(actions)
        assert batch.games.tobytes() == expected.games.tobytes()


def test_a_new_deal_follows_at_once() -> None:
    batch = Batch(4, "piccolo", seed=6)
    for _ in range(3):
        for number in range(1, batch.rules.num_decisions + 1):
            done = batch.step(batch.random_actions()).done
            assert done.all() if number == batch.rules.num_decisions else not done.any()
        assert (batch.games.phase == DISCARD).all()
        assert (batch.seat == batch.games.dealer).all()
        assert (batch.observation[:, :78].sum(axis=1) == 18).all()


def test_without_redeal_a_game_stays_over() -> None:
    batch = Batch(2, "piccolo", seed=6, redeal=False)
    while not batch.step(batch.random_actions()).done.all():
        assert batch.action_mask.any(axis=1).all()
    assert not batch.action_mask.any()
    batch.step([0, 77])  # Any card is taken and ignored; what the step before brought is cleared.
    before = batch.games.tobytes()
    step = batch.step(batch.random_actions())
    assert not step.reward.any() and not step.done.any()
    assert batch.games.tobytes() == before
    batch.reset(games=[False, True])
    assert batch.games.phase.tolist() == [OVER, DISCARD]


def test_reset_of_some_games_leaves_the_others() -> None:
    batch = Batch(4, seed=0)
    for _ in range(10):
        batch.step(batch.random_actions())
    rows = [batch.games[game].tobytes() for game in range(4)]
    batch.reset(games=np.array([True, False, True, False]))
    changed = [batch.games[game].tobytes() != rows[game] for game in range(4)]
    assert changed == [True, False, True, False]
    batch.reset(games=[True, False, False, False], seeds=[5, 5, 5, 5])
    assert batch.deal(0) == Batch(1, seed=5).deal()
    assert batch.games[1].tobytes() == rows[1]


def test_random_actions_are_uniform_over_the_legal_cards() -> None:
    batch = table_position("scarto", "C5 C9 CK 03 21 MT B1", "", seat=0)
    counts = np.zeros(78)
    for _ in range(7000):
        counts[batch.random_actions()[0]] += 1
    expected = set(ids("C5 C9 CK 03 21 MT B1"))
    assert set(counts.nonzero()[0]) == expected
    assert abs(counts[sorted(expected)] - 1000).max() < 150


@pytest.mark.parametrize("preset", PRESETS)
def test_s24_every_state_has_a_legal_card_until_the_end(preset: str) -> None:
    """Random mixes and steered deals do the same in the differential test; here 300 lockstep games."""
    batch = Batch(300, preset, seed=9, redeal=False)
    for number in range(batch.rules.num_decisions):
        counts = batch.action_mask.sum(axis=1)
        assert counts.min() >= 1
        if number == batch.rules.num_decisions - 1:
            assert (counts == 1).all()
        batch.step(batch.random_actions())
    assert (batch.games.phase == OVER).all() and not batch.action_mask.any()


# --- Rewards ------------------------------------------------------------------------------------------


def rewarded_play(chosen: Mix, reward: str, rng: random.Random) -> tuple[list[np.ndarray], Game, Batch]:
    """Return the rewards of every step of a deal, the reference after it, and the batch."""
    deal = rng.choice(DEALS)(chosen.options, rng)
    batch, game = begin(chosen.rules, deal, reward=reward), reference_game(chosen.options, deal)
    choose = rng.choice([at_random, *STEERED])
    rewards = []
    while game.phase != "over":
        card = choose(game, sorted(game.legal()), rng)
        game.play(card)
        step = batch.step(ids([card]))
        assert step.done[0] == (game.phase == "over")
        rewards.append(step.reward[0].copy())
    return rewards, game, batch


def reward_mixes(rng: random.Random) -> list[Mix]:
    special = [
        mix(settlement="lowest_pays"),
        mix("traditional", settlement="lowest_pays", fool_lost_in_last_trick=True),
        mix("four_player", settlement="lowest_pays", leftovers="whole"),
        mix("ultimo", ultimo="bagatto_or_fool", settlement="lowest_pays"),
    ]
    return [*MIXES.values(), *special, *(random_mix(rng) for _ in range(40))]


def test_a22_score_rewards_are_the_settlement_on_the_last_play() -> None:
    rng = random.Random("score rewards")
    for chosen in reward_mixes(rng):
        *earlier, last = rewarded_play(chosen, "score", rng)[0:1][0]
        assert not np.any(earlier)
        assert abs(last.sum()) < 1e-4


def test_a21_trick_rewards_sum_to_zero_at_every_step_and_to_the_settlement() -> None:
    rng = random.Random("trick rewards")
    for chosen in reward_mixes(rng):
        for _ in range(3):
            rewards, game, batch = rewarded_play(chosen, "trick", rng)
            players, settled = chosen.rules.players, game.settled()
            assert np.allclose(np.sum(rewards, axis=1), 0, atol=1e-4)
            assert np.allclose(np.sum(rewards, axis=0, dtype=np.float64), [float(pay) for pay in settled], atol=1e-4)
            assert exact_settled(batch) == settled
            play_steps = rewards[chosen.rules.talon_size :]
            assert not np.any(rewards[: chosen.rules.talon_size])
            for number, reward in enumerate(play_steps, start=1):
                assert number % players == 0 or not reward.any()  # Paid when a trick is taken.


def test_trick_rewards_are_the_points_taken_less_the_equal_share() -> None:
    """Trick by trick, what is public: with the discard and the bonus paid with the last one."""
    rng = random.Random("points taken")
    for chosen in MIXES.values():
        deal = random_deal(chosen.options, rng)
        batch, game = begin(chosen.rules, deal, reward="trick"), reference_game(chosen.options, deal)
        before = game.public_points()
        while True:
            card = rng.choice(sorted(game.legal()))
            game.play(card)
            reward = batch.step(ids([card])).reward[0]
            if game.phase == "over":
                break
            if not game.table and game.tricks:
                gains = [after - was for after, was in zip(game.public_points(), before, strict=True)]
                share = sum(gains, Fraction(0)) / chosen.rules.players
                assert np.allclose(reward, [float(gain - share) for gain in gains], atol=1e-5)
                before = game.public_points()


def test_win_rewards() -> None:
    rng = random.Random("win rewards")
    for chosen in reward_mixes(rng):
        rewards, game, _ = rewarded_play(chosen, "win", rng)
        assert not np.any(rewards[:-1])
        settled, players = game.settled(), chosen.rules.players
        winners = [seat for seat in range(players) if settled[seat] == max(settled)]
        expected = [players / len(winners) - 1 if seat in winners else -1 for seat in range(players)]
        assert np.allclose(rewards[-1], expected)


def test_a_shared_win_is_shared_out() -> None:
    """In whole points the lead is often shared, by two seats and even by three."""
    batch = Batch(3000, "traditional", seed=8, reward="win", redeal=False)
    while not (step := batch.step(batch.random_actions())).done.all():
        assert not step.reward.any()
    settled = batch.games.settled[:, :3]
    winning = settled == settled.max(axis=1, keepdims=True)
    num_winners = winning.sum(axis=1)
    assert set(num_winners.tolist()) == {1, 2, 3}
    assert np.allclose(step.reward, np.where(winning, (3 / num_winners - 1)[:, None], -1))
    assert np.allclose(step.reward.sum(axis=1), 0)


def test_rewards_of_a_finished_deal_belong_to_it() -> None:
    """With ``redeal`` the row already holds the next deal; the reward is still the old deal's."""
    batch, twin = Batch(3, seed=2, reward="trick"), Batch(3, seed=2, redeal=False)
    total = np.zeros((3, 3))
    for _ in range(batch.rules.num_decisions):
        actions = batch.random_actions().copy()
        twin.step(actions)
        total += batch.step(actions).reward
    assert np.allclose(total, [[float(pay) for pay in exact_settled(twin, game)] for game in range(3)], atol=1e-4)


# --- Bad input ----------------------------------------------------------------------------------------

REASON = re.compile(r"\((A\d+)\)$")


def refusal_of(act: Callable[[Any], object], action: Any) -> ValueError:
    """Return the error by which an action is refused (``pytest.raises`` would take most of the time)."""
    try:
        act(action)
    except ValueError as error:
        return error
    raise AssertionError(f"{action} was not refused")


def article_of_the_reference(game: Game, code: str) -> str:
    """Return the article by which the reference refuses a card."""
    found = REASON.search(str(refusal_of(game.play, code)))
    assert found is not None
    return found.group(1)


def expected_article(game: Game, code: str) -> str:
    """Return the article that the engine should name: the reference's, but for two kinds it tells apart.

    A card outside the deck is refused by A1, and to the dealer, who alone may know, one laid away by A10.
    """
    if code not in deck(game.options):
        return "A1"
    if code in game.discarded and game.to_act == game.dealer:
        return "A10"
    return article_of_the_reference(game, code)


def positions_to_refuse_in(rng: random.Random, number: int) -> Sequence[tuple[Mix, Batch, Game]]:
    """Return a position of each of many deals, of every preset and of random mixes."""
    positions = []
    for count in range(number):
        chosen = list(MIXES.values())[count % 6] if count % 2 else random_mix(rng)
        deal = rng.choice(DEALS)(chosen.options, rng)
        batch, game = begin(chosen.rules, deal), reference_game(chosen.options, deal)
        length = rng.randrange(chosen.rules.num_decisions)
        if rng.random() < 0.15:
            length = rng.randrange(chosen.rules.talon_size)
        for _ in range(length):
            card = rng.choice(sorted(game.legal()))
            game.play(card)
            batch.step(ids([card]))
        positions.append((chosen, batch, game))
    return positions


def test_s14_every_illegal_card_is_refused_by_name_and_article() -> None:
    """All 78 cards in 1,000 positions: refused exactly when the reference refuses, and nothing changes."""
    articles = set()
    for _, batch, game in positions_to_refuse_in(random.Random("refusals"), 1000):
        before = memory(batch)
        legal = game.legal()
        for code in ALL_CARDS:
            if code in legal:
                continue
            article = expected_article(game, code)
            error = refusal_of(batch.step, ids([code]))
            assert isinstance(error, IllegalActionError)
            assert (error.action, error.seat, error.article, error.game) == (ID[code], game.to_act, article, 0), error
            assert str(error).startswith(f"seat {game.to_act} may not play {code}: ")
            assert str(error).endswith(f"({article})")
            articles.add(article)
        assert memory(batch) == before
        for code in legal:
            assert batch.action_mask[0, ID[code]] == 1
    assert articles == {"A1", "A8", "A9", "A10", "A11", "A12", "A13"}


def test_a_refusal_says_why_in_words() -> None:
    cases = [
        ("S5 S2 08 C2", "SK", "08", "swords must be followed (A12)"),
        ("05 08 C2", "SK", "C2", "a trump must be played (A13)"),
        ("05 08 C2", "04", "C2", "trumps must be followed (A13)"),
        ("05 19 C2", "S3 10", "05", "a trump that beats the 10 on the table must be played (A13)"),
        ("05 C2", "MT C4", "05", "cups must be followed (A12)"),
    ]
    for hand, trick, card, reason in cases:
        with pytest.raises(IllegalActionError, match=re.escape(f"may not play {card}: {reason}")):
            play_codes(table_position("scarto", hand, trick), card)
    cheapest = mix(cheapest_overtrump=True).rules
    with pytest.raises(IllegalActionError, match="a trump that beats must be the lowest that does"):
        play_codes(table_position(cheapest, "11 19 C2", "S3 10"), "19")
    with pytest.raises(IllegalActionError, match="a trump that beats the 10 on the table must be played"):
        play_codes(table_position(cheapest, "05 19 C2", "S3 10"), "05")


def test_the_illegal_game_of_a_batch_is_named_and_none_has_moved() -> None:
    for threads in (1, 2):
        batch = Batch(6, seed=3, threads=threads)
        for _ in range(7):
            batch.step(batch.random_actions())
        actions = batch.random_actions().copy()
        for game in (4, 5):
            actions[game] = next(card for card in range(78) if not batch.action_mask[game, card])
        before = memory(batch)
        with pytest.raises(IllegalActionError, match=r"^game 4: seat \d may not play") as refused:
            batch.step(actions)
        assert refused.value.game == 4 and refused.value.action == actions[4]
        assert memory(batch) == before


@pytest.mark.parametrize("card", [-1, 78, 127, 128, 2**40, -(2**63)])
def test_numbers_that_are_no_card_are_refused(card: int) -> None:
    batch = Batch(1, seed=0)
    before = memory(batch)
    with pytest.raises(IllegalActionError, match=r"an action is a card 0\.\.77 \(A1\)"):
        batch.step([card])
    assert memory(batch) == before


@pytest.mark.parametrize("card", [2**63, 2**64 - 1])
def test_numbers_beyond_the_signed_ones_are_refused(card: int) -> None:
    batch = Batch(1, seed=0)
    before = memory(batch)
    with pytest.raises((ValueError, TypeError)):
        batch.step(np.array([card], np.uint64))
    assert memory(batch) == before


@pytest.mark.parametrize(
    "actions",
    [
        [1.0, 2.0],
        [float("nan"), 1],
        [True, False],
        ["SK", "S1"],
        [None, None],
        np.array([1 + 0j, 2]),
        np.array([3, 4], dtype=object),
        np.array(["2020", "2021"], dtype="datetime64[Y]"),
    ],
    ids=str,
)
def test_actions_of_a_wrong_type_are_refused(actions: object) -> None:
    batch = Batch(2, seed=0)
    before = memory(batch)
    with pytest.raises(TypeError, match=r"^actions must be whole numbers of an integer dtype, not "):
        batch.step(actions)  # type: ignore[arg-type]
    assert memory(batch) == before


@pytest.mark.parametrize("actions", [[], [1], [1, 2, 3], [[1, 2]], [[1], [2]], 5, None, "SK", np.zeros((2, 78), int)])
def test_actions_of_a_wrong_shape_are_refused(actions: object) -> None:
    batch = Batch(2, seed=0)
    before = memory(batch)
    with pytest.raises(ValueError, match=re.escape("actions must have shape (2,), one a game, not (")):
        batch.step(actions)  # type: ignore[arg-type]
    assert memory(batch) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_games": -1}, "num_games=-1"),
        ({"num_games": 2.0}, "num_games=2.0"),
        ({"num_games": True}, "num_games=True"),
        ({"num_games": None}, "num_games=None"),
        ({"num_games": "2"}, "num_games='2'"),
        ({"threads": 0}, "threads=0"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"threads": True}, "threads=True"),
        ({"reward": "points"}, "reward='points'"),
        ({"reward": None}, "reward=None"),
        ({"reward": 0}, "reward=0"),
        ({"rules": "skat"}, "rules='skat'"),
        ({"rules": None}, "rules=None"),
    ],
)
def test_arguments_that_are_refused_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        Batch(**{"seed": 0} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": [True]}, "games must be [2] bool"),
        ({"games": [1, 0]}, "games must be [2] bool"),
        ({"games": "all"}, "games must be [2] bool"),
        ({"games": [[True, True]]}, "games must be [2] bool"),
        ({"dealer": 3}, "dealer=3 is no seat"),
        ({"dealer": -1}, "dealer=-1 is no seat"),
        ({"dealer": 1.0}, "dealer=1.0 is no seat"),
        ({"dealer": True}, "dealer=True is no seat"),
        ({"dealer": "0"}, "dealer='0' is no seat"),
        ({"seeds": [1]}, "seeds must be 2 whole numbers"),
        ({"seeds": [1, 2, 3]}, "seeds must be 2 whole numbers"),
        ({"seeds": 1}, "seeds must be 2 whole numbers"),
        ({"seeds": [1, -1]}, "seed=-1 is not allowed"),
        ({"seeds": [1, 0.5]}, "seed=0.5 is not allowed"),
        ({"seeds": [1, None]}, "seed=None is not allowed"),
    ],
)
def test_resets_that_are_refused_change_nothing(arguments: dict, message: str) -> None:
    batch = Batch(2, seed=0)
    batch.step(batch.random_actions())
    before = memory(batch)
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        batch.reset(**arguments)
    assert memory(batch) == before


def test_who_acts_is_for_reading() -> None:
    batch = Batch(2, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        batch.seat[0] = 1
    batch.games.seat[0] = (batch.seat[0] + 1) % 3
    assert batch.seat[0] == batch.games.seat[0]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_first_illegal_game_is_named_on_any_number_of_threads(threads: int) -> None:
    batch = Batch(9, seed=0, threads=threads)
    for wrong in ([8], [3, 8], [2, 3, 4, 5]):
        actions = batch.random_actions().copy()
        before = memory(batch)
        actions[wrong] = -1
        with pytest.raises(IllegalActionError) as caught:
            batch.step(actions)
        assert caught.value.game == wrong[0]
        assert memory(batch) == before


def test_repr_and_length() -> None:
    batch = Batch(3, "piccolo", seed=12, reward="win")
    assert len(batch) == 3
    assert repr(batch).startswith("Batch(num_games=3, rules=Rules(") and "seed=12, reward='win'" in repr(batch)
    assert repr(Batch(2, threads=3, redeal=False)).endswith("threads=3, redeal=False)")
    assert REWARDS == ("score", "trick", "win")


def test_a_row_has_the_size_that_speed_rests_on() -> None:
    assert GAME.itemsize <= 640
    assert GAME.isalignedstruct


def test_lockstep_of_one_game_is_the_batch_of_many() -> None:
    """Many games at once are each the game that it would be alone, cards chosen the same."""
    together = Batch(7, seed=31, reward="trick")
    alone = [Batch(1, seed=0, reward="trick") for _ in range(7)]
    for game, single in enumerate(alone):
        single.games[:] = together.games[game : game + 1]
        single.refresh()
    for _ in range(170):
        actions = together.random_actions().copy()
        step = together.step(actions)
        for game, single in enumerate(alone):
            single_step = single.step(actions[game : game + 1])
            assert np.array_equal(single_step.reward[0], step.reward[game])
            assert single_step.done[0] == step.done[game]
            assert np.array_equal(single.observation[0], together.observation[game])
            assert np.array_equal(single.action_mask[0], together.action_mask[game])


def test_legal_cards_depend_on_hand_and_table_alone() -> None:
    """The same hand and table in another deal, after other tricks, allow the same cards (S10)."""
    rng = random.Random("no history")
    for chosen in (*MIXES.values(), *(random_mix(rng) for _ in range(30))):
        players = chosen.rules.players
        for _ in range(20):
            cards = deck(chosen.options)
            rng.shuffle(cards)
            num_played = rng.randrange(players)
            trick, hand = cards[:num_played], cards[num_played : num_played + rng.randrange(1, 9)]
            seen = set()
            for number, seat in ((1, 0), (2, 1), (LAST, 2)):
                batch = table_position(chosen.rules, " ".join(hand), " ".join(trick), seat, number)
                assert batch.games.phase[0] == PLAY
                seen.add(frozenset(legal_codes(batch)))
            assert len(seen) == 1
