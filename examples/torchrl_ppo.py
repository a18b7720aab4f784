"""Masked PPO of TorchRL on the AEC environment, one policy for all seats.

    python examples/torchrl_ppo.py --decisions 20000 --save policy.pt
    scarto eval torchrl:policy.pt random

Needs ``scarto[torchrl]``.
"""

from __future__ import annotations

import argparse
import time

import torch
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

from scarto_env.adapters.torchrl import GROUP, torchrl_env

OBSERVATION = (GROUP, "observation", "observation")
NUM_EPOCHS = 3
BATCH_SIZE = 256
LEARNING_RATE = 1e-3
REWARD_SCALE = 0.1


def make_policy(size: int = 710, width: int = 64) -> ProbabilisticActor:
    """Return the policy of a seat: the mask goes into the distribution."""
    network = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, 78))
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=[OBSERVATION], out_keys=[(GROUP, "logits")]),
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(GROUP, "log_prob"),
    )


def make_loss(policy: ProbabilisticActor, size: int = 710, width: int = 64) -> ClipPPOLoss:
    """Return TorchRL's loss with a value of its own for each seat."""
    network = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, 1))
    value = ValueOperator(network, in_keys=[OBSERVATION], out_keys=[(GROUP, "value")])
    loss = ClipPPOLoss(policy, value, entropy_coeff=0.01, normalize_advantage=True)
    loss.set_keys(
        action=(GROUP, "action"),
        sample_log_prob=(GROUP, "log_prob"),
        value=(GROUP, "value"),
        advantage=(GROUP, "advantage"),
        value_target=(GROUP, "return"),
    )
    return loss


def rewards_to_go(reward: Tensor, done: Tensor) -> Tensor:
    """Return, [T, 3, 1], what each seat still got in the deal, [T, 3, 1] rewards and [T, 1] ends given."""
    result, running = torch.zeros_like(reward), torch.zeros_like(reward[0])
    for step in reversed(range(len(reward))):
        running = reward[step] + running * ~done[step]
        result[step] = running
    return result


def decisions(rollout: TensorDictBase) -> TensorDict:
    """Return the rows in which a seat acted: the others hold a filler mask and action."""
    seats = rollout[GROUP].clone()
    seats["return"] = REWARD_SCALE * rewards_to_go(rollout["next", GROUP, "reward"], rollout["next", "done"])
    acted = seats[seats["mask"]]
    return TensorDict({GROUP: acted}, acted.batch_size)


def update(loss: ClipPPOLoss, optimizer: torch.optim.Optimizer, data: TensorDict) -> None:
    """Learn from some decisions."""
    with torch.no_grad():
        loss.critic_network(data)
    data[GROUP, "advantage"] = data[GROUP, "return"] - data[GROUP, "value"]
    for _ in range(NUM_EPOCHS):
        for chosen in torch.randperm(len(data)).split(BATCH_SIZE):
            losses = loss(data[chosen])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            optimizer.step()


def train(num_decisions: int, seed: int = 0, deals_a_rollout: int = 10) -> ProbabilisticActor:
    """Return a policy that has learned from so many decisions."""
    torch.set_num_threads(1)  # on few cores more are many times slower
    torch.manual_seed(seed)
    env = torchrl_env(reward="trick")
    env.set_seed(seed)
    policy = make_policy()
    loss = make_loss(policy)
    optimizer = torch.optim.Adam(loss.parameters(), lr=LEARNING_RATE)
    done, started = 0, time.perf_counter()
    while done < num_decisions:
        with torch.no_grad():
            rollout = env.rollout(78 * deals_a_rollout, policy, break_when_any_done=False)
        data = decisions(rollout)
        update(loss, optimizer, data)
        done += len(data)
        print(f"{done:8} decisions, {done / (time.perf_counter() - started):5.0f}/s")
    env.close()
    return policy


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=20_000, help="decisions to learn from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the policy")
    arguments = parser.parse_args()
    policy = train(arguments.decisions, arguments.seed)
    if arguments.save:
        torch.save(policy, arguments.save)


if __name__ == "__main__":
    main()
