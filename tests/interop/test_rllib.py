"""PPO of RLlib's new API stack on the AEC environment."""
# ruff: noqa: E402 - the library is looked for first

from __future__ import annotations

import numpy as np
import pytest

from scarto_env import Batch, make_bot
from scarto_env.arena.duels import duel
from scarto_env.state import SCORE_UNITS

ray = pytest.importorskip("ray", reason="ray is not installed: scarto[rllib], in an environment of its own")

import torch
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.columns import Columns

from scarto_env.adapters.rllib import POLICY, RLlibBot, ScartoMultiAgentEnv, ppo_config

pytestmark = pytest.mark.filterwarnings("default")  # RLlib's own: deprecations inside, unclosed sockets of its workers

SCALE = 0.1


class Results(RLlibCallback):
    """Notes, at the end of every deal, what RLlib counted for the agents and what the engine counts."""

    def on_episode_end(self, *, episode, env, env_index, metrics_logger, **_):
        game = env.unwrapped.envs[env_index].unwrapped.env if hasattr(env.unwrapped, "envs") else env.unwrapped.env
        settled = game.batch.games.settled[0, :3] / (3 * SCORE_UNITS)
        counted = [episode.agent_episodes[agent].get_return() for agent in game.possible_agents]
        decisions = sum(len(seat) for seat in episode.agent_episodes.values())
        metrics_logger.log_value("difference", float(np.abs(settled * SCALE - counted).max()), reduce="max")
        metrics_logger.log_value("decisions", decisions, reduce="min")


@pytest.fixture(scope="module")
def learner():
    """A trained algorithm and the result of its last iteration."""
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False)
    config = (
        ppo_config(reward="trick", reward_scale=SCALE)
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=1560, minibatch_size=256, num_epochs=6, gamma=1.0, lr=1e-3)
        .callbacks(Results)
        .debugging(seed=1, log_level="ERROR")
    )
    algorithm = config.build_algo()
    results = [algorithm.train() for _ in range(3)]
    yield algorithm, results
    algorithm.stop()
    ray.shutdown()


def test_every_seat_is_paid_the_score_of_the_engine(learner):
    _, results = learner
    for result in results:
        runners = result["env_runners"]
        assert runners["num_episodes"] >= 10
        assert runners["difference"] < 1e-5
        assert runners["decisions"] == 78
        assert runners["episode_return_mean"] == pytest.approx(0, abs=1e-5)
        assert set(runners["agent_episode_returns_mean"]) == {"player_0", "player_1", "player_2"}


def test_update_leaves_illegal_cards_no_probability(learner):
    algorithm, results = learner
    module = algorithm.learner_group._learner.module[POLICY]
    batch = Batch(32, seed=1)
    seen = {
        "observations": torch.as_tensor(batch.observation, dtype=torch.float32),
        "action_mask": torch.as_tensor(batch.action_mask),
    }
    for forward in (module.forward_train, module.forward_exploration, module.forward_inference):
        given = {Columns.OBS: dict(seen)}
        if forward == module.forward_train:
            module.compute_values(given)  # RLlib's learner does so before, which takes the mask out
        chances = forward(given)[Columns.ACTION_DIST_INPUTS].softmax(-1)
        assert (chances[seen["action_mask"] == 0] == 0).all()
    learned = results[-1]["learners"][POLICY]
    assert np.isfinite(learned["total_loss"]) and np.isfinite(learned["entropy"]) and learned["entropy"] > 0


def test_saved_policy_beats_random_without_an_illegal_card_in_a_thousand_deals(learner, tmp_path):
    algorithm, _ = learner
    path = algorithm.save_to_path(str(tmp_path / "algorithm"))
    bot = make_bot(f"rllib:{path}")
    result = duel(bot, "random", deals=400)
    assert result.usage[0].decisions == 400 * (3 * 25 + 3)
    assert result.usage[0].illegal == 0
    low, _ = result.interval
    assert low > 0
    same = RLlibBot(algorithm.get_module(POLICY))
    assert duel(bot, same, deals=20).mean == 0


def test_environment_without_a_library_around_it():
    env = ScartoMultiAgentEnv({"rules": "four_player"})
    assert env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    observations, _ = env.reset(seed=3)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    done = False
    while not done:
        ((agent, seen),) = observations.items()
        assert env.observation_spaces[agent].contains(seen)
        observations, rewards, terminated, _, _ = env.step({agent: int(seen["action_mask"].argmax())})
        for name, reward in rewards.items():
            paid[name] += reward
        done = terminated["__all__"]
    settled = env.env.batch.games.settled[0, :4] / (4 * SCORE_UNITS)
    assert list(paid.values()) == pytest.approx(settled.tolist())
    assert set(observations) == set(env.possible_agents)


def test_refuses_other_rules(learner):
    algorithm, _ = learner
    with pytest.raises(ValueError, match="trained on 710 entries, these rules have 822"):
        RLlibBot(algorithm.get_module(POLICY), rules="four_player")
