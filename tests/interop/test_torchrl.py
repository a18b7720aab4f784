"""TorchRL's masked PPO on the AEC environment."""
# ruff: noqa: E402 - the library is looked for first

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from scarto_env import make_bot
from scarto_env.arena.duels import duel
from scarto_env.state import SCORE_UNITS

torch = pytest.importorskip("torch", reason="torch is not installed: scarto[torchrl]")
pytest.importorskip("torchrl.envs", reason="torchrl is not installed: scarto[torchrl]")

from torchrl.envs import MarlGroupMapType
from torchrl.envs.utils import check_env_specs

from scarto_env.adapters.torchrl import TorchRLBot, torchrl_env

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*[Pp]etting[Zz]oo:UserWarning"),  # it was tested with an older one
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "torchrl_ppo.py"


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("torchrl_ppo", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    sys.modules["torchrl_ppo"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def policy(example):
    return example.train(6 * 780)


def test_specs_and_state_fit():
    check_env_specs(torchrl_env(return_state=True))


def test_one_group_a_seat():
    env = torchrl_env(group_map=MarlGroupMapType.ONE_GROUP_PER_AGENT)
    rollout = env.rollout(100)
    assert len(rollout) == 78
    assert set(env.group_map) == {"player_0", "player_1", "player_2"}


@pytest.mark.parametrize("reward", ["score", "trick"])
def test_every_seat_is_paid_the_score_of_the_engine(example, reward):
    env = torchrl_env(reward=reward)
    env.set_seed(4)
    rollout = env.rollout(100, example.make_policy())
    assert len(rollout) == 78 and rollout["next", "done"][-1].all()
    settled = env.batch.games.settled[0, :3] / (3 * SCORE_UNITS)
    assert rollout["next", "player", "reward"].sum(0).squeeze(-1).tolist() == pytest.approx(settled.tolist(), abs=1e-4)
    assert np.abs(settled).max() > 0


def test_update_sees_legal_cards_of_the_seat_to_act_alone(example):
    torch.manual_seed(5)
    policy = example.make_policy()
    loss = example.make_loss(policy)
    rollout = torchrl_env(reward="trick").rollout(156, policy, break_when_any_done=False).detach()
    data = example.decisions(rollout)
    assert len(data) == 156
    masks, actions = data["player", "action_mask"], data["player", "action"]
    assert masks.gather(-1, actions.unsqueeze(-1)).all()
    assert ((masks.sum(-1) >= 1) & (masks.sum(-1) <= 28)).all()
    chances = policy.get_dist(data).probs
    assert (chances[~masks] == 0).all()
    before = [weights.clone() for weights in loss.parameters()]
    example.update(loss, torch.optim.SGD(loss.parameters(), lr=0.1), data)
    after = list(loss.parameters())
    assert all(weights.isfinite().all() for weights in after)
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


def test_rewards_to_go_of_a_case_to_check_by_hand(example):
    reward = torch.tensor([1.0, 2.0, 4.0, 8.0]).reshape(4, 1, 1)
    done = torch.tensor([False, True, False, False]).reshape(4, 1)
    assert example.rewards_to_go(reward, done).flatten().tolist() == [3, 2, 12, 8]


def test_saved_policy_beats_random_without_an_illegal_card_in_a_thousand_deals(policy, tmp_path):
    torch.save(policy, tmp_path / "policy.pt")
    bot = make_bot(f"torchrl:{tmp_path / 'policy.pt'}")
    result = duel(bot, "random", deals=400)
    assert result.usage[0].decisions == 400 * (3 * 25 + 3)
    assert result.usage[0].illegal == 0
    low, _ = result.interval
    assert low > 0
    assert duel(bot, TorchRLBot(policy), deals=20).mean == 0


def test_refuses_a_module_with_other_keys():
    from tensordict.nn import TensorDictModule

    with pytest.raises(ValueError, match="none of its keys ends in 'action_mask'"):
        TorchRLBot(TensorDictModule(torch.nn.Identity(), in_keys=["observation"], out_keys=["action"]))
