"""The AEC environment: PettingZoo's own tests, its promises, errors and copies."""

import copy
import pickle
import random
import re
from collections.abc import Callable
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import state_test
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper, OrderEnforcingWrapper
from positions import MIXES, codes_of, deal_in_order, ids, reference_game
from reference import Game, deck

import scarto_env
from scarto_env import PRESETS, Batch, Deal, IllegalActionError, scarto_v0
from scarto_env.aec import ScartoEnv

# PettingZoo's tests warn of what a card game with masks has to have.
EXPECTED_WARNINGS = (
    "Observation space for each agent probably should be",
    "Observation is not a NumPy array",  # A dictionary with the mask.
    "Action mask numpy array is all zeros",  # Of the agents that do not act.
)


def with_expected_warnings(test: Any) -> Any:
    for message in EXPECTED_WARNINGS:
        test = pytest.mark.filterwarnings(f"ignore:{message}:UserWarning")(test)
    return test


def choose(env: Any, rng: random.Random) -> int:
    """Return a legal card of the agent to act."""
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(rng.choice(mask.nonzero()[0].tolist()))


def play(env: Any, rng: random.Random, num_steps: int = 10**9) -> None:
    """Play random legal cards, dead steps included, until the episode is over or for a number of steps."""
    while env.agents and num_steps > 0:
        env.step(None if env.terminations[env.agent_selection] else choose(env, rng))
        num_steps -= 1


def play_deal(env: Any, rng: random.Random) -> None:
    """Play to the last card of an episode and stop before the dead steps."""
    while not env.terminations[env.agent_selection]:
        env.step(choose(env, rng))


def sight(env: Any) -> dict[str, Any]:
    """Return everything that an environment shows, as plain values."""
    shown = {
        "agents": list(env.agents),
        "selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative": dict(env.unwrapped._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": {agent: {k: np.asarray(v).tolist() for k, v in env.infos[agent].items()} for agent in env.agents},
        "state": env.state().tolist(),
        "deal": env.unwrapped.deal,
        "piles": env.unwrapped.piles,
    }
    for agent in env.possible_agents:
        seen = env.observe(agent)
        shown[agent] = (seen["observation"].tolist(), seen["action_mask"].tolist())
    return shown


# --- PettingZoo's tests -------------------------------------------------------------------------------


@with_expected_warnings
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("make", [scarto_v0.env, scarto_v0.raw_env], ids=["env", "raw_env"])
def test_api(make: Callable[..., Any], preset: str) -> None:
    api_test(make(rules=preset), num_cycles=200)
    api_test(make(rules=preset, deals=2, reward="trick"), num_cycles=200)


@pytest.mark.parametrize("preset", PRESETS)
def test_seed(preset: str) -> None:
    seed_test(lambda: scarto_v0.env(rules=preset), num_cycles=300)
    seed_test(lambda: scarto_v0.env(rules=preset, target=40, illegal="replace"), num_cycles=300)


@with_expected_warnings
@pytest.mark.parametrize("preset", PRESETS)
def test_parallel_api(preset: str) -> None:
    parallel_api_test(scarto_v0.parallel_env(rules=preset), num_cycles=300)


@pytest.mark.parametrize("preset", PRESETS)
def test_state(preset: str) -> None:
    for illegal in ("terminate", "replace"):
        state_test(scarto_v0.env(rules=preset, illegal=illegal), scarto_v0.parallel_env(rules=preset))


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("resvg_py", reason="pixels need the extra `render`")
    render_test(scarto_v0.env)
    assert capsys.readouterr().out.strip()  # The mode "human" prints.


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry from 1.27 on")
def test_s27_registered() -> None:
    env = pettingzoo.make("aec", "scarto-v0", rules="four_player", deals=2, render_mode="ansi")
    assert env.unwrapped.rules == PRESETS["four_player"]
    env.reset(seed=1)
    play(env, random.Random(1))
    assert pettingzoo.make("parallel", "scarto-v0").possible_agents == ["player_0", "player_1", "player_2"]
    scarto_env._register()  # A second import gives no warning that something is overridden.


# --- What it promises ---------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_names_and_spaces(preset: str) -> None:
    env = scarto_v0.raw_env(rules=preset)
    players = PRESETS[preset].players
    assert env.possible_agents == env.agents == [f"player_{seat}" for seat in range(players)]
    assert env.metadata["name"] == "scarto_v0" and env.metadata["is_parallelizable"] is False
    assert set(env.metadata["render_modes"]) == {"ansi", "rgb_array", "human"}
    assert env.metadata["render_fps"] > 0
    spaces = [env.observation_space(agent) for agent in env.agents]
    assert all(space is spaces[0] for space in spaces)
    box = spaces[0]["observation"]
    assert box.dtype == np.float32 and np.isfinite(box.low).all() and np.isfinite(box.high).all()
    assert (box.low < box.high).all() and box.low.min() >= -128 and box.high.max() <= 127
    assert spaces[0]["action_mask"] == gymnasium.spaces.Box(0, 1, (78,), np.int8)
    assert env.action_space("player_0") == gymnasium.spaces.Discrete(78)
    for method in (env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="'player_9' is no agent: expected one of player_0"):
            method("player_9")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_environment_shows_the_reference_game(preset: str) -> None:
    """Every deal of an episode, card by card: agent, legal cards, piles, scores."""
    options = MIXES[preset].options
    env = scarto_v0.env(rules=preset)
    rng = random.Random(preset)
    for seed in range(4):
        env.reset(seed=seed)
        assert env.unwrapped.deal == Batch(1, preset, seed=seed).deal()
        game = reference_game(options, env.unwrapped.deal)
        while game.phase != "over":
            agent = f"player_{game.to_act}"
            assert env.agent_selection == agent
            observation, _, terminated, truncated, info = env.last()
            assert not terminated and not truncated
            assert set(codes_of(observation["action_mask"].nonzero()[0])) == game.legal()
            assert np.array_equal(info["action_mask"], observation["action_mask"])
            card = choose(env, rng)
            env.step(card)
            game.play(codes_of([card])[0])
            assert [set(codes_of(pile)) for pile in env.unwrapped.piles] == game.piles
            if game.phase != "over":
                points = [float(points) for points in game.public_points()]
                known = {agent: info["points"] for agent, info in env.infos.items()}
                acting = f"player_{game.to_act}"
                assert known[acting] == pytest.approx(points[game.to_act])
        scores = [float(score) for score in game.settled()]
        assert [env.rewards[agent] for agent in env.possible_agents] == pytest.approx(scores)
        assert [env.infos[agent]["score"] for agent in env.possible_agents] == pytest.approx(scores)
        points = [float(points) for points in game.points()]
        assert [env.infos[agent]["points"] for agent in env.possible_agents] == pytest.approx(points)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("reward", ["score", "trick", "win"])
def test_s15_last_gives_every_agent_all_its_rewards(preset: str, reward: str) -> None:
    """The documented loop: what ``last`` gives an agent sums to the settled score, or to the win."""
    env = scarto_v0.env(rules=preset, reward=reward)
    rng = random.Random(f"{preset} {reward}")
    for seed in range(12):
        env.reset(seed=seed)
        collected = dict.fromkeys(env.possible_agents, 0.0)
        game = reference_game(MIXES[preset].options, env.unwrapped.deal)
        for agent in env.agent_iter():
            observation, payment, terminated, _, _ = env.last()
            collected[agent] += payment
            if terminated:
                env.step(None)
                continue
            card = int(rng.choice(observation["action_mask"].nonzero()[0]))
            game.play(codes_of([card])[0])
            env.step(card)
        settled = [float(score) for score in game.settled()]
        if reward == "win":
            winners = [score == max(settled) for score in settled]
            settled = [len(winners) / sum(winners) - 1 if winner else -1 for winner in winners]
        assert list(collected.values()) == pytest.approx(settled, abs=1e-4)
        assert not env.agents


@pytest.mark.parametrize("preset", ["scarto", "four_player", "piccolo"])
def test_s16_s17_masks(preset: str) -> None:
    """The acting agent's mask has its legal cards and is fresh in both places; the others' are zero."""
    env = scarto_v0.raw_env(rules=preset, deals=2)
    env.reset(seed=3)
    rng = random.Random(3)
    while env.agents:
        for agent in env.possible_agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.dtype == np.int8 and mask.shape == (78,) and set(mask.tolist()) <= {0, 1}
            acting = agent == env.agent_selection and not env.terminations.get(agent, True)
            assert mask.any() == acting
            if agent in env.agents:
                told = env.infos[agent]["action_mask"]
                assert told.dtype == np.int8 and np.array_equal(told, mask)
                assert env.action_space(agent).contains(env.action_space(agent).sample(mask if acting else None))
        play(env, rng, 1)


@pytest.mark.parametrize("preset", PRESETS)
def test_everything_shown_lies_in_its_space(preset: str) -> None:
    """In long matches too, where totals grow, and for the dead."""
    env = scarto_v0.env(rules=preset, target=200, max_deals=40, reward="trick")
    rng = random.Random(preset)
    env.reset(seed=5)
    keys = {"action_mask", "points", "score", "total", "deal"}
    while env.agents:
        for agent in env.possible_agents:
            assert env.observation_space(agent).contains(env.observe(agent))
            if agent in env.agents:
                assert set(env.infos[agent]) == keys
                assert all(isinstance(value, (int, float, np.ndarray)) for value in env.infos[agent].values())
        assert env.state_space.contains(env.state())
        assert abs(sum(env.rewards.values())) < 1e-4
        play(env, rng, 3)
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))
    assert env.state_space.contains(env.state())


def test_observations_and_infos_are_never_changed_later() -> None:
    env = scarto_v0.env(deals=2)
    env.reset(seed=0)
    rng = random.Random(0)
    kept = []
    while env.agents:
        seen, info = env.observe(env.agent_selection), env.infos[env.agent_selection]
        state = env.state()
        kept.append((seen, copy.deepcopy(seen), info, copy.deepcopy(info), state, state.copy()))
        play(env, rng, 1)
    env.reset()
    for seen, seen_then, info, info_then, state, state_then in kept:
        assert all(np.array_equal(seen[key], seen_then[key]) for key in seen)
        assert all(np.array_equal(info[key], info_then[key]) for key in info)
        assert np.array_equal(state, state_then)
    seen = env.observe("player_0")
    seen["observation"][:] = 99
    seen["action_mask"][:] = 1
    env.infos["player_0"]["action_mask"][:] = 1
    assert env.observe("player_0")["observation"].max() < 99
    assert env.observe("player_0")["action_mask"].sum() < 78


def test_observing_changes_nothing() -> None:
    env, quiet = scarto_v0.env(), scarto_v0.env()
    rng = random.Random(4)
    env.reset(seed=4)
    quiet.reset(seed=4)
    while env.agents:
        before = sight(env)
        assert sight(env) == before
        assert before == sight(quiet)
        card = None if env.terminations[env.agent_selection] else choose(env, rng)
        env.step(card)
        quiet.step(card)


def test_s21_the_same_seed_gives_the_same_deals_whatever_the_global_generators() -> None:
    deals = []
    for number in (1, 2):
        random.seed(number)
        np.random.seed(number)  # noqa: NPY002 - the global generator is what must not matter
        before = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index, union-attr]  # noqa: NPY002
        env = scarto_v0.env(illegal="replace")
        env.reset(seed=9)
        found = [env.unwrapped.deal]
        for _ in range(3):
            for _ in range(90):
                if env.agents:
                    env.step(None if env.terminations[env.agent_selection] else 0)
            env.reset()
            found.append(env.unwrapped.deal)
        after = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index, union-attr]  # noqa: NPY002
        assert before == after
        deals.append(found)
    assert deals[0] == deals[1] and len(set(deals[0])) == 4
    batch = Batch(1, seed=9)
    for deal in deals[0]:
        assert batch.deal() == deal
        batch.reset()


def test_without_a_seed_deals_differ_from_env_to_env() -> None:
    deals = set()
    for _ in range(4):
        env = scarto_v0.env()
        env.reset()
        deals.add(env.unwrapped.deal)
    assert len(deals) == 4


# --- Reset options ------------------------------------------------------------------------------------

CHOSEN = deal_in_order(MIXES["scarto"].options, deck(MIXES["scarto"].options), 1)


def test_a_chosen_deal() -> None:
    env = scarto_v0.env()
    spelled = {"hands": [codes_of(hand) for hand in CHOSEN.hands], "talon": list(CHOSEN.talon), "dealer": 1}
    for options in ({"deal": CHOSEN}, spelled, spelled | {"unknown": 3}):
        env.reset(seed=2, options=options)
        assert env.unwrapped.deal == CHOSEN
        assert env.agent_selection == "player_1"
        env.reset()
        assert env.unwrapped.deal != CHOSEN


def test_a_chosen_dealer_of_a_random_deal() -> None:
    env = scarto_v0.env(rules="four_player")
    dealt = set()
    for dealer in range(4):
        env.reset(seed=5, options={"dealer": dealer})
        assert env.agent_selection == f"player_{dealer}"
        assert env.unwrapped.deal.dealer == dealer
        dealt.add(env.unwrapped.deal)
    assert len(dealt) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": "SK"}, "option deal='SK'"),
        ({"deal": None}, "option deal=None"),
        ({"hands": CHOSEN.hands, "talon": CHOSEN.talon}, "dealer is missing"),
        ({"hands": CHOSEN.hands, "dealer": 0}, "talon is missing"),
        ({"talon": CHOSEN.talon, "dealer": 0}, "hands is missing"),
        ({"hands": CHOSEN.hands[:2], "talon": CHOSEN.talon, "dealer": 0}, "the deal has 2 hands"),
        ({"hands": CHOSEN.hands, "talon": CHOSEN.talon[:2], "dealer": 0}, "the talon has 2 cards"),
        ({"hands": CHOSEN.hands, "talon": CHOSEN.talon, "dealer": 7}, "dealer=7 is no seat"),
        ({"hands": [CHOSEN.hands[0]] * 3, "talon": CHOSEN.talon, "dealer": 0}, "is dealt 3 times"),
        ({"dealer": 3}, "dealer=3 is no seat"),
        ({"dealer": 1.0}, "dealer=1.0 is no seat"),
        ({"dealer": "0"}, "dealer='0' is no seat"),
        ({"record": "text"}, "option record='text'"),
    ],
)
def test_options_that_are_refused_change_nothing(options: dict, message: str) -> None:
    env = scarto_v0.env()
    env.reset(seed=1)
    play(env, random.Random(1), 20)
    before = sight(env)
    for seed in (None, 3):
        with pytest.raises(ValueError, match=re.escape(message)):
            env.reset(seed=seed, options=options)
        assert sight(env) == before
    env.reset()
    fresh = scarto_v0.env()
    fresh.reset(seed=1)
    fresh.reset()
    assert env.unwrapped.deal == fresh.unwrapped.deal


@pytest.mark.parametrize("seed", [-1, 1.5, float("nan"), "1", True])
def test_seeds_that_are_refused_change_nothing(seed: object) -> None:
    env = scarto_v0.env()
    env.reset(seed=1)
    before = sight(env)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)  # type: ignore[arg-type]
    assert sight(env) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "skat"}, "rules='skat'"),
        ({"deals": 0}, "deals=0"),
        ({"deals": 1.0}, "deals=1.0"),
        ({"deals": True}, "deals=True"),
        ({"deals": None}, "deals=None"),
        ({"target": 0}, "target=0"),
        ({"target": "100"}, "target='100'"),
        ({"target": 50, "deals": 3}, "deals=3 and target=50"),
        ({"target": 50, "max_deals": 0}, "max_deals=0"),
        ({"max_deals": 10**6}, "max_deals=1000000"),
        ({"reward": "points"}, "reward='points'"),
        ({"reward": None}, "reward=None"),
        ({"illegal": "ignore"}, "illegal='ignore'"),
        ({"render_mode": "svg"}, "render_mode='svg'"),
    ],
)
def test_arguments_that_are_refused_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        ScartoEnv(**arguments)


# --- Order, bad actions, illegal cards ----------------------------------------------------------------


def test_use_before_reset_is_refused() -> None:
    env = scarto_v0.raw_env()
    uses: list[Callable[[], Any]] = [
        lambda: env.step(0), env.last, env.state, env.render, env.record, env.agent_iter,
        lambda: env.observe("player_0"),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset before \w+"):
            use()
    env.reset(seed=0)
    assert env.last()[0] is not None


def test_steps_after_the_end() -> None:
    env = scarto_v0.raw_env(rules="piccolo")
    env.reset(seed=0)
    play_deal(env, random.Random(0))
    assert env.agents == env.possible_agents and all(env.terminations.values())
    before = sight(env)
    for action in (0, 77, np.int64(3), 1.5):
        with pytest.raises(ValueError, match=r"player_\d's episode is over: its only action is None"):
            env.step(action)
        assert sight(env) == before
    for left in (2, 1, 0):
        env.step(None)
        assert len(env.agents) == left
    for action in (None, 5):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.last()
    assert list(env.agent_iter()) == []
    env.reset()
    assert env.agents == env.possible_agents


def test_a_turn_of_agent_iter_without_a_step_is_refused() -> None:
    env = scarto_v0.raw_env()
    env.reset(seed=0)
    turns = env.agent_iter()
    next(turns)
    with pytest.raises(RuntimeError, match="call step or reset for every agent"):
        next(turns)


def test_agent_iter_stops_at_its_limit() -> None:
    env = scarto_v0.raw_env()
    env.reset(seed=0)
    rng = random.Random(0)
    turns = 0
    for _ in env.agent_iter(10):
        env.step(choose(env, rng))
        turns += 1
    assert turns == 10


@pytest.mark.parametrize("illegal", ["raise", "terminate", "replace"])
@pytest.mark.parametrize(
    "action", [None, 1.0, float("nan"), "SK", True, np.bool_(True), [1], np.array([1, 2]), np.array(1.0), (), {}]
)
def test_what_is_no_whole_number_is_a_type_error(illegal: str, action: object) -> None:
    env = scarto_v0.env(illegal=illegal)
    env.reset(seed=0)
    before = sight(env)
    with pytest.raises(TypeError, match=r"is no card: expected a whole number 0\.\.77"):
        env.step(action)  # type: ignore[arg-type]
    assert sight(env) == before


@pytest.mark.parametrize("illegal", ["raise", "terminate", "replace"])
@pytest.mark.parametrize("action", [-1, 78, 10**30, np.int64(-5), np.uint8(200)])
def test_numbers_that_are_no_card_are_refused(illegal: str, action: int) -> None:
    env = scarto_v0.env(illegal=illegal)
    env.reset(seed=0)
    before = sight(env)
    with pytest.raises(IllegalActionError, match=r"an action is a card 0\.\.77 \(A1\)"):
        env.step(action)
    assert sight(env) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64, np.int64, np.array])
def test_whole_numbers_of_any_type_are_taken(kind: Callable[[int], Any]) -> None:
    env = scarto_v0.raw_env()
    env.reset(seed=0)
    card = choose(env, random.Random(0))
    env.step(kind(card))
    assert env.batch.games[0].num_discarded == 1


def test_s14_raise_is_the_default_of_raw_env() -> None:
    env = scarto_v0.raw_env()
    env.reset(seed=0)
    rng = random.Random(0)
    for _ in range(78):
        before = sight(env)
        mask = env.observe(env.agent_selection)["action_mask"]
        for card in np.flatnonzero(mask == 0)[::7]:
            seat = env.agent_selection[-1]
            code = codes_of([card])[0]
            with pytest.raises(IllegalActionError, match=rf"^seat {seat} may not play {code}: .*\(A\d+\)$"):
                env.step(int(card))
        assert sight(env) == before
        env.step(choose(env, rng))


def illegal_card(env: Any) -> int:
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("num_steps", [0, 5, 30])
def test_s19_terminate_ends_the_episode_and_the_next_one_is_clean(preset: str, num_steps: int) -> None:
    """The offender pays the par, the others share it; all are terminated, none truncated."""
    env = scarto_v0.env(rules=preset, deals=3)
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(BaseWrapper(env)))
    wrapped.reset(seed=6)
    rng = random.Random(6)
    play(wrapped, rng, num_steps)
    offender = wrapped.agent_selection
    wrapped.step(illegal_card(wrapped))
    par, players = float(PRESETS[preset].par), PRESETS[preset].players
    expected = {agent: -par if agent == offender else par / (players - 1) for agent in env.possible_agents}
    assert wrapped.rewards == pytest.approx(expected)
    assert all(wrapped.terminations.values()) and not any(wrapped.truncations.values())
    collected = {}
    for agent in wrapped.agent_iter():
        observation, payment, terminated, _, _ = wrapped.last()
        assert terminated and not observation["action_mask"].any()
        collected[agent] = payment
        wrapped.step(None)
    assert collected == pytest.approx(expected)
    other = scarto_v0.env(rules=preset, deals=3)
    for seed in range(10):
        wrapped.reset(seed=seed)
        other.reset(seed=seed)
        generator, other_generator = random.Random(seed), random.Random(seed)
        for _ in range(25):
            layer = wrapped
            while layer is not env:
                assert layer.agent_selection == other.agent_selection
                layer = layer.env
            assert sight(env) == sight(other)
            play(wrapped, generator, 7)
            play(other, other_generator, 7)


def test_replace_plays_a_legal_card_of_the_seeded_generator() -> None:
    plays = []
    for _ in range(2):
        env = scarto_v0.env(illegal="replace")
        env.reset(seed=7)
        game = reference_game(MIXES["scarto"].options, env.unwrapped.deal)
        while not env.terminations[env.agent_selection]:
            env.step(illegal_card(env))
        cards = [*env.record().discard, *env.record().plays]
        for code in codes_of(cards):
            game.play(code)  # Which refuses an illegal card.
        assert game.phase == "over"
        plays.append(cards)
    assert plays[0] == plays[1]


def test_replace_leaves_legal_cards_as_they_are() -> None:
    env, strict = scarto_v0.env(illegal="replace"), scarto_v0.raw_env()
    env.reset(seed=7)
    strict.reset(seed=7)
    rng = random.Random(7)
    while env.agents:
        card = None if env.terminations[env.agent_selection] else choose(env, rng)
        env.step(card)
        strict.step(card)
        assert env.rewards == strict.rewards
        assert env.unwrapped.piles == strict.piles


# --- Copies -------------------------------------------------------------------------------------------

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
    "clone": lambda env: env.clone(),
}


def wrapped(env: Any) -> Any:
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(BaseWrapper(env)))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("wrap", [False, True])
def test_s18_a_copy_is_the_game_in_progress(how: str, wrap: bool) -> None:
    """In every phase: the exchange, the play, the second deal, after the end, before the first reset."""
    if how == "clone" and wrap:
        how = "deepcopy"
    rng = random.Random(f"copies {how} {wrap}")
    for seed in range(30):
        preset = sorted(PRESETS)[seed % 6]
        made = scarto_v0.env(rules=preset, deals=2, reward=("score", "trick", "win")[seed % 3], render_mode="ansi")
        env = wrapped(made) if wrap else made
        env.reset(seed=seed)
        num_decisions = 2 * PRESETS[preset].num_decisions
        steps = rng.choice([0, 1, 2, rng.randrange(num_decisions), num_decisions - 1, num_decisions, num_decisions + 1])
        play(env, random.Random(seed), steps)
        before = sight(env)
        other = COPIES[how](env)
        assert sight(other) == before
        play(other, random.Random(1), 10)
        after = sight(other) if other.agents else None
        assert sight(env) == before
        play(env, random.Random(1), 10)
        assert (sight(env) if env.agents else None) == after
        for either in (env, other):
            either.reset()
        assert sight(env) == sight(other)
        for either in (env, other):
            either.reset(seed=3)
        assert sight(env) == sight(other)


@pytest.mark.parametrize("how", COPIES)
def test_s18_a_copy_before_the_first_reset(how: str) -> None:
    env = scarto_v0.env(rules="piccolo", deals=2)
    other = COPIES[how](env)
    assert other.agents == env.agents
    for each in (env, other):
        each.reset(seed=2)
    assert sight(env) == sight(other)
    play(other, random.Random(0))
    assert len(env.agents) == 3


def test_s18_the_generator_of_replaced_cards_is_copied_too() -> None:
    env = scarto_v0.env(illegal="replace")
    env.reset(seed=5)
    other, cloned = pickle.loads(pickle.dumps(env)), env.clone()
    for _ in range(60):
        for each in (env, other, cloned):
            each.step(illegal_card(each))
        assert sight(env) == sight(other) == sight(cloned)


def test_unwrapped_attributes() -> None:
    env = wrapped(scarto_v0.env(rules="piccolo"))
    env.reset(seed=1)
    bare = env.unwrapped
    assert isinstance(bare, ScartoEnv) and isinstance(bare.deal, Deal)
    assert bare.rules == PRESETS["piccolo"]
    play_deal(env, random.Random(1))
    assert sorted(card for pile in bare.piles for card in pile) == ids(deck(MIXES["piccolo"].options))
    record = bare.record()
    game: Game = reference_game(MIXES["piccolo"].options, record.deal)
    for code in codes_of([*record.discard, *record.plays]):
        game.play(code)
    assert record.result == tuple(game.settled())


def test_a_notebook_shows_the_table() -> None:
    env = scarto_v0.env()
    env.reset(seed=1)
    assert env._repr_svg_().startswith("<svg")
