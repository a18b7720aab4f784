"""MaskablePPO of sb3-contrib on Scarto-v0."""

from __future__ import annotations

import functools
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from scarto_env import Batch, make_bot
from scarto_env.arena.duels import duel

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: scarto[sb3]")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from scarto_env.adapters.sb3 import SB3Bot

SCALE = 0.1


def make_env(**arguments):
    return gymnasium.make(
        "Scarto-v0", **{"opponents": "random", "reward_scale": SCALE, "illegal": "raise", **arguments}
    )


def makers(num_envs, **arguments):
    return [functools.partial(make_env, **arguments)] * num_envs


class Results(BaseCallback):
    """Collects what the learner was paid in each deal and what the engine counted for its seat."""

    def __init__(self):
        super().__init__()
        self.paid, self.scores, self.seats = [], [], []

    def _on_training_start(self):
        self.running = np.zeros(self.training_env.num_envs)

    def _on_step(self):
        self.running += self.locals["rewards"]
        for index in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][index]
            self.paid.append(self.running[index])
            self.scores.append(info["score"])
            self.seats.append(info["seat"])
            self.running[index] = 0
        return True


def small_model(env, **arguments):
    policy = "MultiInputPolicy" if isinstance(env.observation_space, gymnasium.spaces.Dict) else "MlpPolicy"
    return MaskablePPO(policy, env, **{"n_steps": 128, "batch_size": 64, "seed": 1, "device": "cpu", **arguments})


@pytest.fixture(scope="module")
def learner():
    """A model that has seen 10,240 decisions, with what it was paid meanwhile."""
    env = DummyVecEnv(makers(8, reward="trick"))
    model = small_model(env, batch_size=256, n_epochs=4, learning_rate=1e-3, gamma=1.0)
    results = Results()
    model.learn(10_240, callback=results)
    return model, results


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_learns_on_legal_cards_alone(kind, flat, monkeypatch):
    if kind is DummyVecEnv:
        env = kind(makers(2, flat=flat))
    else:
        env = kind(makers(2, flat=flat), start_method="spawn")
    model = small_model(env)
    buffer = model.rollout_buffer
    updates = []
    evaluate = model.policy.evaluate_actions

    def watched(observation, actions, action_masks=None):
        assert action_masks.reshape(-1, 78).gather(1, actions.reshape(-1, 1)).bool().all()
        updates.append(action_masks)
        result = evaluate(observation, actions, action_masks=action_masks)
        assert result[1].isfinite().all()
        return result

    monkeypatch.setattr(model.policy, "evaluate_actions", watched)
    results = Results()
    model.learn(256, callback=results)
    env.close()
    assert len(updates) == model.n_epochs * 256 // 64
    masks = buffer.action_masks.reshape(-1, 78)
    assert masks.sum(axis=1).min() >= 1 and masks.sum(axis=1).max() <= 28
    if not flat:
        assert np.array_equal(masks, buffer.observations["action_mask"].reshape(-1, 78))
    assert results.paid == pytest.approx(np.multiply(results.scores, SCALE), abs=1e-5)
    assert len(results.paid) >= 8


def test_every_seat_is_paid_the_score_of_the_engine(learner):
    _, results = learner
    assert set(results.seats) == {0, 1, 2}
    assert results.paid == pytest.approx(np.multiply(results.scores, SCALE), abs=1e-5)


def test_beats_random_without_an_illegal_card_in_a_thousand_deals(learner):
    model, _ = learner
    result = duel(SB3Bot(model), "random", deals=400)
    assert result.usage[0].decisions == 400 * (3 * 25 + 3)
    assert result.usage[0].illegal == 0
    low, _ = result.interval
    assert low > 0


def test_evaluation_honours_masks(learner):
    model, _ = learner
    mean, _ = evaluate_policy(model, make_env(), n_eval_episodes=10, warn=False)
    assert -27 * SCALE <= mean <= 54 * SCALE


def test_saved_model_loads_and_plays_the_same(learner, tmp_path):
    model, _ = learner
    path = tmp_path / "model.zip"
    model.save(path)
    bot = make_bot(f"sb3:{path}")
    batch = Batch(64, seed=3)
    for _ in range(78):
        cards = bot.act(batch.observation, batch.action_mask)
        assert np.array_equal(cards, SB3Bot(model).act(batch.observation, batch.action_mask))
        batch.step(cards)


def test_eval_measures_a_saved_model(learner, tmp_path):
    model, _ = learner
    model.save(tmp_path / "model.zip")
    command = ["eval", f"sb3:{tmp_path / 'model.zip'}", "random", "--deals", "60", "--at-least", "0"]
    done = subprocess.run([sys.executable, "-m", "scarto_env", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sb3:" in done.stdout


def test_plays_as_an_opponent(learner):
    model, _ = learner
    env = make_env(opponents=[SB3Bot(model), "greedy"])
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
    assert info["score"] != 0


def test_refuses_a_missing_file_and_other_rules(learner):
    model, _ = learner
    with pytest.raises(ValueError, match="no saved policy"):
        make_bot("sb3:nowhere.zip")
    with pytest.raises(ValueError, match="trained on 710 entries, these rules have 822"):
        SB3Bot(model, rules="four_player")
