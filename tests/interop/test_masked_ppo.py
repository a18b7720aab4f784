"""The single-file masked PPO over the native vector environment."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from scarto_env import make_bot
from scarto_env.arena.duels import duel
from scarto_env.state import SCORE_UNITS

torch = pytest.importorskip("torch", reason="torch is not installed: scarto[train]")

EXAMPLE = Path(__file__).parents[2] / "examples" / "masked_ppo.py"


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("masked_ppo", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    sys.modules["masked_ppo"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def agent(example):
    return example.train(20_480)


def test_beats_random_without_an_illegal_card_in_a_thousand_deals(agent):
    result = duel(agent.act, "random", deals=400)
    assert result.usage[0].decisions == 400 * (3 * 25 + 3)
    assert result.usage[0].illegal == 0
    low, _ = result.interval
    assert low > 0


def test_an_illegal_card_has_no_probability_and_no_gradient(example):
    agent = example.Agent(710)
    observation = torch.rand(8, 710)
    mask = torch.zeros(8, 78, dtype=torch.bool)
    mask[:, 3:9] = True
    distribution, _ = agent(observation, mask)
    assert (distribution.probs[~mask] == 0).all()
    rollout = {
        "observation": observation,
        "mask": mask,
        "action": distribution.sample(),
        "log_prob": torch.zeros(8),
        "advantage": torch.randn(8),
        "return": torch.randn(8),
    }
    loss = example.loss(agent, rollout)
    loss.backward()
    gradient = agent.policy.bias.grad
    assert loss.isfinite()
    assert (gradient[3:9] != 0).all()
    assert (gradient[:3] == 0).all() and (gradient[9:] == 0).all()


def test_every_seat_is_paid_the_score_of_the_engine(example):
    env = gymnasium.make_vec(
        "Scarto-v0", num_envs=12, vectorization_mode="vector_entry_point", opponents="random", reward="trick",
        autoreset_mode="Disabled",
    )  # fmt: skip
    agent = example.Agent(710)
    seen, infos = env.reset(seed=5)
    paid, over = np.zeros(12), np.zeros(12, bool)
    seats = infos["seat"].copy()
    assert set(seats) == {0, 1, 2}
    while not over.any():
        # Seats that deal have three decisions more: those games end later.
        distribution, _ = agent(torch.as_tensor(seen), torch.as_tensor(infos["action_mask"]).bool())
        seen, reward, over, _, infos = env.step(distribution.sample().numpy())
        paid += reward
    games = env.unwrapped._versus.batch.games
    scores = games.settled[np.arange(12), seats] / (3 * SCORE_UNITS)
    assert over.sum() >= 3
    assert paid[over] == pytest.approx(scores[over], abs=1e-5)


def test_advantages_of_a_case_to_check_by_hand(example):
    rollout = {
        "reward": torch.tensor([[1.0], [0.0], [2.0]]),
        "done": torch.tensor([[0.0], [1.0], [0.0]]),
        "value": torch.tensor([[0.5], [0.25], [1.0]]),
    }
    result = example.advantages(rollout, torch.tensor([3.0]))
    last = 2 + 3 - 1
    end = 0 + 0 - 0.25
    first = 1 + 0.25 - 0.5 + example.GAE_LAMBDA * end
    assert result.squeeze(1).tolist() == pytest.approx([first, end, last])


def test_saved_weights_load(example, agent, tmp_path):
    torch.save(agent.state_dict(), tmp_path / "agent.pt")
    loaded = example.Agent(710)
    loaded.load_state_dict(torch.load(tmp_path / "agent.pt", weights_only=True))
    assert duel(make_bot(loaded.act), make_bot(agent.act), deals=50).mean == 0
