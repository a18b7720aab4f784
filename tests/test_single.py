"""Scarto-v0: one seat against bots under Gymnasium."""

import copy
import pickle

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from scarto_env import PRESETS, Batch, Deal, IllegalActionError, scarto_v0
from scarto_env.cards import parse_card
from scarto_env.notation import read_record, write_record
from scarto_env.observation import view
from scarto_env.state import OVER, SCORE_UNITS

CHOSEN = {
    "hands": [
        "SK SQ SC SJ ST S9 S8 S7 S6 S5 S4 S3 S2 S1 01 02 03 04 05 06 07 08 09 10 MT",
        "CK CQ CC CJ C1 C2 C3 C4 C5 C6 C7 C8 C9 CT DQ DC DJ D1 D2 D3 D4 D5 D6 D7 D8",
        "BK BQ BC BJ BT B9 B8 B7 B6 B5 B4 B3 B2 B1 11 12 13 14 15 16 17 18 19 20 21",
    ],
    "talon": "DK D9 DT",
    "dealer": 0,
}
DISCARD = ["SQ", "SC", "SJ"]


def lowest(observation, mask):
    return mask.argmax(axis=1)


def highest(mask):
    return int(np.flatnonzero(mask)[-1])


def make(opponents="random", **options):
    return gymnasium.make("Scarto-v0", opponents=opponents, **options)


def play(env, observation, info):
    """Play the highest legal card to the end and return everything seen."""
    seen, terminated = [(observation, 0.0, info)], False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(highest(info["action_mask"]))
        assert not truncated
        seen.append((observation, reward, info))
    return seen


def assert_same(one, other):
    assert len(one) == len(other)
    for (vector, reward, info), (other_vector, other_reward, other_info) in zip(one, other, strict=True):
        assert np.array_equal(vector, other_vector)
        assert reward == other_reward
        assert info["seat"] == other_info["seat"]
        assert np.array_equal(info["action_mask"], other_info["action_mask"])


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("opponents", ["random", "greedy", ["greedy", "random"]])
def test_passes_the_checks_of_gymnasium(opponents, flat):
    check_env(make(opponents, flat=flat, illegal="replace").unwrapped, skip_render_check=True)


def test_passes_the_checks_of_gymnasium_in_every_render_mode(capsys):
    pytest.importorskip("resvg_py")
    pytest.importorskip("PIL")
    check_env(make(illegal="replace", render_mode="ansi").unwrapped)

    assert capsys.readouterr().out


def test_renders_what_the_learner_may_see(capsys):
    env = make(lowest, seat=1, render_mode="ansi")
    env.reset(options=CHOSEN)
    text = env.render()
    assert "CK" in text and "BK" not in text
    env = make(lowest, seat=1, render_mode="human")
    env.reset(options=CHOSEN)
    assert "CK" in capsys.readouterr().out
    assert env.render() is None


def test_gives_the_record_of_the_deal():
    env = make("greedy", rules="piccolo")
    seen = play(env, *env.reset(seed=8))
    record = env.unwrapped.record()
    assert read_record(write_record(record)) == record
    assert record.seed == 8
    batch = Batch(1, "piccolo", seed=0, threads=1)
    batch.reset(seeds=[8])
    assert record.deal == batch.deal(0)
    assert float(record.result[seen[-1][2]["seat"]]) == pytest.approx(seen[-1][2]["score"])
    env.reset(options={"deal": record.deal})
    assert env.unwrapped.record().seed is None
    with pytest.raises(ResetNeeded):
        make().unwrapped.record()


def test_the_default_opponents_are_the_heuristic():
    one, other = gymnasium.make("Scarto-v0"), make("heuristic")
    for seed in range(3):
        assert_same(play(one, *one.reset(seed=seed)), play(other, *other.reset(seed=seed)))


def test_the_spec_sets_no_limit_of_steps():
    spec = gymnasium.spec("Scarto-v0")
    assert spec.max_episode_steps is None
    assert spec.additional_wrappers == ()


@pytest.mark.parametrize("rules", list(PRESETS))
def test_a_deal_of_every_preset_ends_with_the_settled_score(rules):
    env = make(rules=rules, flat=False)
    scores = []
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        seen = play(env, observation, info)
        for observation, _, info in seen:
            assert env.observation_space.contains(observation)
            assert np.array_equal(observation["action_mask"], info["action_mask"])
        assert all(reward == 0 for _, reward, _ in seen[:-1])
        assert seen[-1][1] == pytest.approx(seen[-1][2]["score"], abs=1e-5)
        assert not seen[-1][2]["action_mask"].any()
        scores.append(seen[-1][1])
    assert any(scores)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_batch_card_by_card(seed):
    """The learner sees and earns what its seat sees and earns in a batch of one, on the same deal."""
    env = make("random", reward="trick")
    observation, info = env.reset(seed=seed)
    batch = Batch(1, seed=0, reward="trick", redeal=False, threads=1)
    batch.reset(seeds=[seed])
    learner, due = info["seat"], 0.0
    assert learner == seed % 3
    while batch.games[0].phase != OVER:
        if batch.seat[0] != learner:
            due += batch.step(batch.random_actions()).reward[0, learner]
            continue
        assert np.array_equal(observation, batch.observation[0])
        assert np.array_equal(info["action_mask"], batch.action_mask[0])
        card = highest(info["action_mask"])
        due = batch.step([card]).reward[0, learner]
        # The environment plays on at once: the batch catches up before the next comparison.
        observation, reward, _, _, info = env.step(card)
        while batch.games[0].phase != OVER and batch.seat[0] != learner:
            due += batch.step(batch.random_actions()).reward[0, learner]
        assert reward == due
    assert np.array_equal(observation, batch.observe(0, learner))
    assert info["score"] == batch.games[0].settled[learner] / (SCORE_UNITS * 3)


@pytest.mark.parametrize("rules", list(PRESETS))
def test_agrees_with_the_aec_environment_card_by_card(rules):
    env = make(lowest, rules=rules, reward="trick")
    aec = scarto_v0.raw_env(rules=rules, reward="trick")
    observation, info = env.reset(seed=11)
    aec.reset(seed=11)
    learner = f"player_{info['seat']}"
    reward, terminated = 0.0, False
    for agent in aec.agent_iter():
        seen, due, over, _, _ = aec.last()
        if over:
            break
        if agent != learner:
            aec.step(int(seen["action_mask"].argmax()))
            continue
        assert np.array_equal(observation, seen["observation"])
        assert np.array_equal(info["action_mask"], seen["action_mask"])
        assert reward == pytest.approx(due, abs=1e-5)
        card = highest(info["action_mask"])
        observation, reward, terminated, _, info = env.step(card)
        aec.step(card)
    assert terminated
    assert np.array_equal(observation, aec.observe(learner)["observation"])
    assert info["score"] == aec.infos[learner]["score"]
    assert reward == pytest.approx(aec._cumulative_rewards[learner], abs=1e-5)


def test_trick_rewards_come_in_the_gap_and_sum_to_the_score():
    by_trick, by_score = make("greedy", reward="trick"), make("greedy", reward="score")
    for seed in range(9):
        tricks = play(by_trick, *by_trick.reset(seed=seed))
        scores = play(by_score, *by_score.reset(seed=seed))
        assert sum(reward for _, reward, _ in tricks) == pytest.approx(scores[-1][1], abs=1e-4)
        assert sum(reward != 0 for _, reward, _ in tricks) > 10


def test_win_rewards_and_their_scale():
    env = make("greedy", reward="win", reward_scale=0.5)
    rewards = {play(env, *env.reset(seed=seed))[-1][1] for seed in range(20)}
    assert rewards <= {1.0, -0.5, 0.25, 0.0}
    assert {1.0, -0.5} <= rewards


def test_seats_rotate_by_the_seed_and_from_deal_to_deal():
    env = make()
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(6)] == [0, 1, 2, 0, 1, 2]
    assert [env.reset()[1]["seat"] for _ in range(4)] == [0, 1, 2, 0]
    fixed = make(seat=1)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(4)} == {1}


def test_opponents_sit_in_the_order_of_the_list():
    seen = {"next": set(), "last": set()}

    def watcher(name):
        def act(observation, mask):
            seen[name].update(np.flatnonzero(view(observation)["hand"][0]).tolist())
            return lowest(observation, mask)

        return act

    env = make([watcher("next"), watcher("last")], seat=1)
    play(env, *env.reset(options=CHOSEN))
    deal = Deal(**CHOSEN)
    assert seen["next"] == set(deal.hands[2])
    assert seen["last"] >= set(deal.hands[0]) - {parse_card(code) for code in DISCARD}
    assert seen["last"] <= set(deal.hands[0]) | set(deal.talon)


def test_one_bot_object_for_all_seats_is_asked_once_a_turn():
    calls = []

    def act(observation, mask):
        calls.append(len(mask))
        return lowest(observation, mask)

    env = make(act)
    play(env, *env.reset(seed=3))
    assert set(calls) == {1}
    assert 50 <= len(calls) <= 53


def test_a_chosen_deal():
    env = make(lowest, seat=0)
    observation, info = env.reset(options=CHOSEN)
    assert info["seat"] == 0
    assert env.unwrapped.rules == PRESETS["scarto"]
    hand = view(observation)["hand"]
    assert hand.sum() == 28
    for code in DISCARD:
        observation, reward, terminated, _, info = env.step(parse_card(code))
        assert (reward, terminated) == (0, False)
    # Forehand, seat 1, led its lowest card; seat 2 holds no coppe and played its lowest trump.
    table = np.flatnonzero(view(observation)["table"]).tolist()
    assert table == [parse_card("CT"), parse_card("11")]
    assert np.array_equal(env.reset(options={"deal": Deal(**CHOSEN)})[0][:78], hand)


def test_a_dealer_may_be_chosen_alone_and_unknown_options_are_left():
    env = make(seat=2)
    for dealer in range(3):
        observation, _ = env.reset(seed=5, options={"dealer": dealer, "colour": "red"})
        assert view(observation)["dealer"].argmax() == (dealer - 2) % 3


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({**CHOSEN, "talon": "DK D9 D9"}, "D9 is dealt 2 times"),
        ({"hands": CHOSEN["hands"]}, "talon is missing"),
        ({"dealer": 3}, "dealer=3"),
    ],
)
def test_a_faulty_option_changes_nothing(options, fault):
    env = make(lowest)
    env.reset(seed=1)
    before = env.get_wrapper_attr("action_masks")()
    with pytest.raises(ValueError, match=fault):
        env.reset(options=options)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), before)


def test_masks_are_bool_reachable_through_wrappers_and_fresh():
    env = gymnasium.wrappers.RecordEpisodeStatistics(make())
    _, info = env.reset(seed=2)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_ and masks.shape == (78,)
    assert info["action_mask"].dtype == np.int8
    assert np.array_equal(masks, info["action_mask"] == 1)
    masks[:] = False
    info["action_mask"][:] = 0
    assert env.get_wrapper_attr("action_masks")().any()


def illegal_card(info):
    return int(np.flatnonzero(info["action_mask"] == 0)[0])


def test_an_illegal_card_raises_and_nothing_has_been_played():
    env, other = make("greedy"), make("greedy")
    (observation, info), _ = env.reset(seed=4), other.reset(seed=4)
    for action in (illegal_card(info), -1, 78):
        with pytest.raises(IllegalActionError, match=r"seat 1 may not play"):
            env.step(action)
    with pytest.raises(TypeError, match="integer"):
        env.step(1.5)
    assert_same(play(env, observation, info), play(other, observation, info))


def test_an_illegal_card_may_end_the_deal_for_the_par():
    env = make("greedy", illegal="terminate", reward_scale=0.1)
    before, info = env.reset(seed=4)
    observation, reward, terminated, truncated, info = env.step(illegal_card(info))
    assert reward == pytest.approx(-2.7)
    assert terminated and not truncated
    assert np.array_equal(observation, before)
    assert info["score"] == 0 and not info["action_mask"].any()
    assert not env.get_wrapper_attr("action_masks")().any()
    with pytest.raises(ResetNeeded):
        env.step(0)
    _, info = env.reset()
    assert info["action_mask"].any()


@pytest.mark.parametrize("illegal", ["raise", "terminate", "replace"])
@pytest.mark.parametrize("action", [-1, 78, np.int64(-5), np.uint8(200)])
def test_numbers_that_are_no_card_are_refused(illegal, action):
    """A slip of the program, not of play: refused whatever is done about illegal cards, as by the AEC environment."""
    env, other = make("greedy", illegal=illegal), make("greedy", illegal=illegal)
    observation, info = env.reset(seed=4)
    other.reset(seed=4)
    with pytest.raises(IllegalActionError, match=r"an action is a card 0\.\.77 \(A1\)"):
        env.step(action)
    assert_same(play(env, observation, info), play(other, observation, info))


def test_an_illegal_card_may_be_replaced_by_the_same_legal_one_for_the_same_seed():
    runs = []
    for _ in range(2):
        env = make("greedy", illegal="replace")
        observation, info = env.reset(seed=4)
        seen = [(observation, 0.0, info)]
        for card in range(77):
            observation, reward, terminated, _, info = env.step(card)
            seen.append((observation, reward, info))
            if terminated:
                break
        assert terminated
        runs.append(seen)
    assert_same(*runs)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)),
                                    lambda e: cloudpickle.loads(cloudpickle.dumps(e))])  # fmt: skip
@pytest.mark.parametrize("opponents", ["random", "greedy"])
def test_a_copy_keeps_the_deal_in_progress(copied, opponents):
    env = make(opponents, reward="trick")
    observation, info = env.reset(seed=7)
    for _ in range(9):
        observation, _, _, _, info = env.step(highest(info["action_mask"]))
    other = copied(env)
    expected = play(env, observation, info)
    assert_same(play(other, observation, info), expected)
    assert np.array_equal(env.reset()[0], other.reset()[0])


def test_a_seed_gives_the_same_deals_in_every_environment():
    first, second = make("greedy"), make("greedy")
    second.reset(seed=99)
    for env in (first, second):
        env.reset(seed=12)
    for _ in range(3):
        assert_same(play(first, *first.reset()), play(second, *second.reset()))


def test_without_a_seed_deals_differ():
    assert not np.array_equal(make(seat=0).reset()[0][:78], make(seat=0).reset()[0][:78])


def test_order_of_calls():
    env = make().unwrapped
    with pytest.raises(ResetNeeded, match="no deal has begun"):
        env.step(0)
    play(env, *env.reset(seed=1))
    with pytest.raises(ResetNeeded, match="the deal is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"seat": 3}, "seat=3"),
        ({"seat": True}, "seat=True"),
        ({"illegal": "forgive"}, "illegal='forgive'"),
        ({"reward": "money"}, "reward='money'"),
        ({"rules": "bridge"}, "rules='bridge'"),
        ({"opponents": ["random"]}, "a list of 2, not of 1"),
        ({"opponents": "gredy"}, "did you mean 'greedy'"),
    ],
)
def test_a_faulty_argument_is_named(options, fault):
    with pytest.raises(ValueError, match=fault):
        make(**{"opponents": "random", **options})


@pytest.mark.parametrize("name", ["reward_scale", "flat"])
def test_settings_that_mean_nothing_are_refused(name: str) -> None:
    wrong = {"reward_scale": [float("nan"), float("inf")], "flat": ["x", 1, None]}[name]
    for value in wrong:
        with pytest.raises(ValueError, match=f"{name}="):
            gymnasium.make("Scarto-v0", opponents="random", **{name: value})
        with pytest.raises(ValueError, match=f"{name}="):
            gymnasium.make_vec("Scarto-v0", num_envs=2, opponents="random", **{name: value})


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_seeds_that_are_none_are_refused(seed: object) -> None:
    single = gymnasium.make("Scarto-v0", opponents="random").unwrapped
    several = gymnasium.make_vec("Scarto-v0", num_envs=2, opponents="random")
    for env in (single, several):
        with pytest.raises(ValueError, match="seed="):
            env.reset(seed=seed)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="options='abc' are not allowed"):
            env.reset(options="abc")  # type: ignore[arg-type]
