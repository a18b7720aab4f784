"""Many seats against bots over one batch: Gymnasium's rules for vector environments, and SyncVectorEnv's steps."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_reset_options, check_reset_return_type, check_reset_seed_determinism
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from scarto_env import IllegalActionError
from scarto_env.observation import view

MODES = list(AutoresetMode)
NUM_ENVS = 5


def make(num_envs=NUM_ENVS, opponents="random", **options):
    return gymnasium.make_vec(
        "Scarto-v0",
        num_envs=num_envs,
        vectorization_mode="vector_entry_point",
        opponents=opponents,
        **options,
    )


def make_sync(num_envs=NUM_ENVS, opponents="random", autoreset_mode=AutoresetMode.NEXT_STEP, **options):
    return gymnasium.make_vec(
        "Scarto-v0",
        num_envs=num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": autoreset_mode},
        opponents=opponents,
        **options,
    )


def lowest(observation, mask):
    return mask.argmax(axis=1)


def highest(mask):
    """Return the highest legal card of each row, 0 of an empty one."""
    return np.where(mask.any(axis=1), mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1), 0)


def assert_equal(one, other):
    """Compare what two environments returned, infos and arrays of objects included."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key])
    elif isinstance(one, tuple) or (isinstance(one, np.ndarray) and one.dtype == object):
        for part, other_part in zip(one, other, strict=True):
            assert_equal(part, other_part)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("opponents", ["random", "greedy", [lowest, "random"]], ids=str)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_same_as_sync_vector_env_step_by_step(mode, opponents, flat):
    options = {"opponents": opponents, "flat": flat, "reward": "trick", "autoreset_mode": mode}
    one, other = make(**options), make_sync(**options)
    assert one.observation_space == other.observation_space
    assert one.action_space == other.action_space
    returned = one.reset(seed=10)
    assert_equal(returned, other.reset(seed=10))
    for _ in range(90):
        infos = returned[-1]
        actions = highest(infos["action_mask"])
        returned = one.step(actions)
        assert_equal(returned, other.step(actions))
        ended = returned[2]
        if mode is AutoresetMode.DISABLED and ended.any():
            mask = {"reset_mask": ended}
            observation, infos = one.reset(options=dict(mask))
            assert_equal((observation, infos), other.reset(options=dict(mask)))
            assert np.array_equal(infos["_action_mask"], ended)
            infos = {"action_mask": np.where(ended[:, None], infos["action_mask"], returned[-1]["action_mask"])}
            returned = (observation, infos)


@pytest.mark.parametrize("illegal", ["replace", "terminate"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=str)
def test_the_same_as_sync_vector_env_with_illegal_cards(mode, illegal):
    options = {"opponents": ["greedy", "random"], "illegal": illegal, "autoreset_mode": mode, "flat": False}
    one, other = make(**options), make_sync(**options)
    assert_equal(one.reset(seed=3), other.reset(seed=3))
    one.action_space.seed(0)
    ends = 0
    for _ in range(60):
        actions = one.action_space.sample()
        returned = one.step(actions)
        assert_equal(returned, other.step(actions))
        ends += int(returned[2].sum())
    assert ends >= NUM_ENVS


def test_chosen_seeds_and_reset_masks_are_those_of_sync_vector_env():
    one, other = make(opponents="greedy"), make_sync(opponents="greedy")
    for seed in ([4, 4, 9, 2**70, 0], [None, 4, None, 1, 2], 8):
        assert_equal(one.reset(seed=seed), other.reset(seed=seed))
    mask = np.array([True, False, False, True, False])
    assert_equal(
        one.reset(seed=[1, None, None, None, None], options={"reset_mask": mask}),
        other.reset(seed=[1, None, None, None, None], options={"reset_mask": mask}),
    )
    assert_equal(one.reset(options={"dealer": 1}), other.reset(options={"dealer": 1}))


def test_metadata_spec_and_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = make(autoreset_mode="SameStep")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.spec.id == "Scarto-v0"
    assert envs.num_envs == NUM_ENVS
    assert envs.unwrapped.rules.players == 3
    assert envs.single_observation_space.contains(envs.reset(seed=0)[0][0])
    assert envs.observation_space.contains(envs.reset(seed=0)[0])
    assert make().metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    envs.close()


def test_passes_the_checks_of_gymnasium_that_fit_vector_environments():
    envs = make(opponents="greedy", illegal="replace")
    check_reset_return_type(envs)
    check_reset_seed_determinism(envs)
    check_reset_options(envs)


def step_to_an_end(envs, infos):
    """Step until the deal of some environment has ended; return what the step returned."""
    for _ in range(40):
        returned = envs.step(highest(infos["action_mask"]))
        if returned[2].any():
            return returned
        infos = returned[-1]
    raise AssertionError("no deal has ended")


def test_next_step_deals_at_the_step_after_the_end_whatever_the_action():
    envs = make(reward="win")
    observation, reward, ended, _, infos = step_to_an_end(envs, envs.reset(seed=0)[1])
    assert not infos["action_mask"][ended].any()
    assert view(observation)["over"][ended].all()
    assert (reward[ended] != 0).all()
    actions = highest(infos["action_mask"])
    actions[ended] = -5
    observation, reward, terminated, truncated, infos = envs.step(actions)
    assert not (reward[ended].any() or terminated[ended].any() or truncated[ended].any())
    assert infos["action_mask"][ended].any(axis=1).all()
    assert not view(observation)["over"][ended].any()


def test_same_step_deals_at_once_and_keeps_the_end_in_the_infos():
    envs = make(autoreset_mode=AutoresetMode.SAME_STEP)
    observation, reward, ended, _, infos = step_to_an_end(envs, envs.reset(seed=0)[1])
    assert infos["action_mask"].any(axis=1).all()
    assert not view(observation)["over"].any()
    assert np.array_equal(infos["_final_obs"], ended) and np.array_equal(infos["_final_info"], ended)
    for game in np.flatnonzero(ended):
        assert view(infos["final_obs"][game])["over"] == 1
        assert infos["final_info"]["score"][game] == pytest.approx(reward[game], abs=1e-5)
    assert not infos["score"].any()
    assert "final_obs" not in envs.step(highest(infos["action_mask"]))[-1]


def test_disabled_leaves_the_end_until_its_reset_and_other_games_as_they_are():
    envs = make(opponents="greedy", autoreset_mode=AutoresetMode.DISABLED)
    observation, _, ended, _, infos = step_to_an_end(envs, envs.reset(seed=0)[1])
    assert not ended.all()
    with pytest.raises(ResetNeeded, match=f"environment {ended.argmax()} is over"):
        envs.step(highest(infos["action_mask"]))
    again, infos = envs.reset(options={"reset_mask": ended})
    assert np.array_equal(again[~ended], observation[~ended])
    assert not view(again)["over"].any()
    assert infos["action_mask"][ended].any(axis=1).all()
    assert not infos["action_mask"][~ended].any()
    actions = highest(envs.action_masks().astype(np.int8))
    assert not envs.step(actions)[2].all()


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True] * NUM_ENVS, TypeError),
        (np.ones(NUM_ENVS, np.int8), TypeError),
        (np.ones(NUM_ENVS + 1, np.bool_), ValueError),
        (np.zeros(NUM_ENVS, np.bool_), ValueError),
    ],
)
def test_a_faulty_reset_mask(mask, error):
    with pytest.raises(error, match="reset_mask"):
        make().reset(options={"reset_mask": mask})


def test_order_of_calls_and_seeds():
    envs = make()
    with pytest.raises(ResetNeeded, match="environment 0 has no deal"):
        envs.step(np.zeros(NUM_ENVS, np.int64))
    mask = np.array([True, False, True, True, True])
    envs.reset(options={"reset_mask": mask})
    with pytest.raises(ResetNeeded, match="environment 1 has no deal"):
        envs.step(np.zeros(NUM_ENVS, np.int64))
    with pytest.raises(ValueError, match="5 seeds, not 2"):
        envs.reset(seed=[1, 2])


def test_an_illegal_card_names_the_environment_and_none_moves():
    envs, other = make(opponents="greedy"), make(opponents="greedy")
    returned = step_to_an_end(envs, envs.reset(seed=2)[1])
    assert_equal(step_to_an_end(other, other.reset(seed=2)[1]), returned)
    ended, mask = returned[2], returned[-1]["action_mask"]
    game = int(np.flatnonzero(~ended)[-1])
    wrong = highest(mask)
    wrong[game] = np.flatnonzero(mask[game] == 0)[0]
    for _ in range(2):
        with pytest.raises(IllegalActionError, match="may not play") as error:
            envs.step(wrong)
        assert error.value.game == game
    assert_equal(envs.step(highest(mask)), other.step(highest(mask)))


@pytest.mark.parametrize("opponents", ["random", ["greedy", "random"]], ids=str)
def test_results_do_not_depend_on_threads(opponents):
    runs = []
    for threads in (1, 2, 3):
        envs = make(65, opponents, threads=threads, reward="trick")
        returned = envs.reset(seed=1)
        run = [returned]
        for _ in range(40):
            returned = envs.step(highest(returned[-1]["action_mask"]))
            run.append(returned)
        runs.append(tuple(run))
    assert_equal(runs[0], runs[1])
    assert_equal(runs[0], runs[2])


def test_observations_are_fresh_unless_asked_otherwise():
    fresh, shared = make(), make(copy=False)
    first, infos = fresh.reset(seed=0)
    kept = first.copy()
    second = fresh.step(highest(infos["action_mask"]))[0]
    assert np.array_equal(first, kept) and not np.shares_memory(first, second)
    first, infos = shared.reset(seed=0)
    assert np.array_equal(first, kept)
    assert np.shares_memory(first, shared.step(highest(infos["action_mask"]))[0])
    assert np.array_equal(first, second)


def test_samples_with_masks_are_legal():
    envs = make()
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(60):
        actions = envs.action_space.sample(mask=tuple(infos["action_mask"]))
        infos = envs.step(actions)[-1]
    assert infos["_action_mask"].all()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=str)
def test_record_episode_statistics_counts_scores_and_lengths(mode):
    envs = wrappers.RecordEpisodeStatistics(make(autoreset_mode=mode))
    infos = envs.reset(seed=0)[1]
    returns, lengths = [], []
    for _ in range(120):
        _, reward, ended, _, infos = envs.step(highest(infos["action_mask"]))
        if ended.any():
            returns += infos["episode"]["r"][ended].tolist()
            lengths += infos["episode"]["l"][ended].tolist()
            assert np.array_equal(infos["episode"]["r"][ended], reward[ended])
    assert len(returns) >= 3 * NUM_ENVS
    # 25 tricks, and 3 cards laid away where the learner deals.
    assert set(lengths) <= {25, 28}


def test_wrappers_of_gymnasium():
    envs = wrappers.FlattenObservation(make(flat=False))
    observation, infos = envs.reset(seed=0)
    assert observation.shape == (NUM_ENVS, 78 + make().single_observation_space.shape[0])
    assert envs.observation_space.contains(observation)

    envs = wrappers.DictInfoToList(make(autoreset_mode=AutoresetMode.SAME_STEP))
    _, infos = envs.reset(seed=0)
    ends = 0
    for _ in range(60):
        actions = highest(np.stack([info["action_mask"] for info in infos]))
        _, _, ended, _, infos = envs.step(actions)
        for game in np.flatnonzero(ended):
            assert infos[game]["final_info"]["action_mask"].sum() == 0
            ends += 1
    assert ends >= NUM_ENVS


def test_numpy_to_torch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    envs = wrappers.NumpyToTorch(make())
    observation, infos = envs.reset(seed=0)
    assert observation.dtype == torch.float32 and observation.shape[0] == NUM_ENVS
    observation, reward, terminated, _, infos = envs.step(infos["action_mask"].argmax(dim=1))
    assert reward.shape == terminated.shape == (NUM_ENVS,)
    assert infos["action_mask"].dtype == torch.int8


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_a_copy_keeps_all_deals_in_progress(copied):
    envs = make(opponents="greedy", reward="trick")
    _, _, _, _, infos = step_to_an_end(envs, envs.reset(seed=5)[1])
    other = copied(envs)
    for _ in range(30):
        actions = highest(infos["action_mask"])
        returned = envs.step(actions)
        assert_equal(returned, other.step(actions))
        infos = returned[-1]


def test_gives_the_record_of_each_deal():
    envs, single = make(opponents="greedy"), gymnasium.make("Scarto-v0", opponents="greedy")
    step_to_an_end(envs, envs.reset(seed=5)[1])
    single.reset(seed=7)
    assert envs.unwrapped.record(2).deal == single.unwrapped.record().deal


def test_sync_vector_env_is_what_this_is_compared_with():
    assert isinstance(make_sync().unwrapped, SyncVectorEnv)
    assert not isinstance(make().unwrapped, SyncVectorEnv)


def test_observations_that_somebody_holds_are_never_written_again() -> None:
    envs = make(opponents="random")
    held = [envs.reset(seed=3)[0]]
    rows = [held[0][2:4, 7:]]
    for step in range(40):
        observation = envs.step(envs.batch.random_actions())[0]
        if step % 3 == 0:
            held.append(observation)
        elif step % 3 == 1:
            rows.append(observation[1:3, 5:])
    observation.flags.writeable = False
    before = [array.copy() for array in held + rows]
    addresses = set()
    del observation
    for _ in range(40):
        addresses.add(envs.step(envs.batch.random_actions())[0].ctypes.data)
    assert all((array == kept).all() for array, kept in zip(held + rows, before, strict=True))
    assert addresses.isdisjoint(array.ctypes.data for array in held)
    assert len(addresses) == 1, "memory that nobody holds is used again"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs=0 is not allowed"),
        ({"num_envs": 2.0}, r"num_envs=2\.0 is not allowed"),
        ({"autoreset_mode": "bad"}, "autoreset_mode='bad' is not allowed: expected one of NextStep"),
        ({"copy": 3}, "copy=3 is not allowed"),
        ({"reward_scale": "a"}, "reward_scale='a' is not allowed"),
        ({"reward_scale": None}, "reward_scale=None is not allowed"),
        ({"reward_scale": float("nan")}, "reward_scale=nan is not allowed"),
    ],
)
def test_the_argument_that_is_refused_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_a_bot_that_fails_leaves_no_card_of_its_own_to_the_learner():
    calls = []

    def flaky(observation, mask):
        calls.append(len(mask))
        if len(calls) == 5:
            raise RuntimeError("a bot fails")
        return mask.argmax(axis=1)

    envs = make(opponents=flaky, seat=0)
    envs.reset(seed=1)

    def play():
        while True:
            envs.step(highest(envs.action_masks()))

    with pytest.raises(RuntimeError, match="a bot fails"):
        play()
    with pytest.raises(gymnasium.error.ResetNeeded, match="a bot failed in the midst of a turn"):
        envs.step(highest(envs.action_masks()))
    envs.reset()
    assert (envs.batch.seat == 0).all()
    envs.step(highest(envs.action_masks()))


def test_seeds_may_be_numpy_numbers():
    single = gymnasium.make("Scarto-v0", opponents="random")
    assert np.array_equal(single.reset(seed=np.int64(3))[0], single.reset(seed=3)[0])
