"""Masked PPO in one file over the native vector environment, in the manner of CleanRL.

    python examples/masked_ppo.py --steps 200000 --opponents greedy

Needs torch.  It ends with how the policy fares against its opponents on duplicate deals.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import scarto_env  # noqa: F401 - registers Scarto-v0
from scarto_env.arena.duels import duel

NUM_CARDS = 78
NUM_ENVS = 64
NUM_STEPS = 64
NUM_EPOCHS = 4
BATCH_SIZE = 512
LEARNING_RATE = 1e-3
GAE_LAMBDA = 0.95
CLIP = 0.2
ENTROPY_WEIGHT = 0.01
VALUE_WEIGHT = 0.5
MAX_GRADIENT = 0.5
REWARD_SCALE = 0.1
"""Scores reach from -27 to 54 points."""


class Agent(nn.Module):
    """Policy and value of an observation, illegal cards left out."""

    def __init__(self, size: int, width: int = 128) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, NUM_CARDS)
        self.value = nn.Linear(width, 1)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Categorical, Tensor]:
        """Return the distribution over cards and the value of each row."""
        features = self.trunk(observation)
        logits = self.policy(features)
        # Not minus infinity: 0 x -inf would spoil the entropy.
        logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        return Categorical(logits=logits), self.value(features).squeeze(-1)

    @torch.no_grad()
    def act(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the most probable legal cards: a function of this form is a bot."""
        seen = torch.as_tensor(observation, dtype=torch.float32)
        return self(seen, torch.as_tensor(mask).bool())[0].probs.argmax(-1).numpy()


def collect(env, agent: Agent, observation: Tensor, mask: Tensor) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Play NUM_STEPS decisions in every environment; return them with what is seen next."""
    steps = []
    for _ in range(NUM_STEPS):
        with torch.no_grad():
            distribution, value = agent(observation, mask)
            action = distribution.sample()
        seen, reward, terminated, _, infos = env.step(action.numpy())
        steps.append(
            {
                "observation": observation,
                "mask": mask,
                "action": action,
                "log_prob": distribution.log_prob(action),
                "value": value,
                "reward": torch.as_tensor(reward, dtype=torch.float32),
                "done": torch.as_tensor(terminated, dtype=torch.float32),
            }
        )
        observation, mask = torch.as_tensor(seen), torch.as_tensor(infos["action_mask"]).bool()
    return {name: torch.stack([step[name] for step in steps]) for name in steps[0]}, observation, mask


def advantages(rollout: dict[str, Tensor], next_value: Tensor) -> Tensor:
    """Return generalised advantages [T, B]; a deal is one undiscounted episode."""
    result, running = torch.zeros_like(rollout["reward"]), torch.zeros_like(next_value)
    for step in reversed(range(len(result))):
        going_on = 1 - rollout["done"][step]
        delta = rollout["reward"][step] + going_on * next_value - rollout["value"][step]
        running = delta + going_on * GAE_LAMBDA * running
        result[step] = running
        next_value = rollout["value"][step]
    return result


def loss(agent: Agent, batch: dict[str, Tensor]) -> Tensor:
    """Return PPO's clipped loss."""
    distribution, value = agent(batch["observation"], batch["mask"])
    ratio = (distribution.log_prob(batch["action"]) - batch["log_prob"]).exp()
    advantage = (batch["advantage"] - batch["advantage"].mean()) / (batch["advantage"].std() + 1e-8)
    gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
    error = (value - batch["return"]).square().mean()
    return VALUE_WEIGHT * error - gain - ENTROPY_WEIGHT * distribution.entropy().mean()


def update(agent: Agent, optimizer: torch.optim.Optimizer, rollout: dict[str, Tensor]) -> None:
    """Learn from a rollout."""
    flat = {name: values.flatten(0, 1) for name, values in rollout.items()}
    size = len(flat["action"])
    for _ in range(NUM_EPOCHS):
        for chosen in torch.randperm(size).split(BATCH_SIZE):
            optimizer.zero_grad()
            loss(agent, {name: values[chosen] for name, values in flat.items()}).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()


def train(steps: int, opponents: str = "random", seed: int = 0) -> Agent:
    """Return an agent that has learned from ``steps`` decisions."""
    torch.set_num_threads(1)  # on few cores more are slower
    torch.manual_seed(seed)
    # SAME_STEP: no row is a reset without a decision.
    env = gymnasium.make_vec(
        "Scarto-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point", opponents=opponents,
        reward="trick", reward_scale=REWARD_SCALE, autoreset_mode="SameStep",
    )  # fmt: skip
    agent = Agent(env.single_observation_space.shape[0])
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
    seen, infos = env.reset(seed=seed)
    observation, mask = torch.as_tensor(seen), torch.as_tensor(infos["action_mask"]).bool()
    started = time.perf_counter()
    for done in range(NUM_ENVS * NUM_STEPS, steps + 1, NUM_ENVS * NUM_STEPS):
        rollout, observation, mask = collect(env, agent, observation, mask)
        with torch.no_grad():
            next_value = agent(observation, mask)[1]
        rollout["advantage"] = advantages(rollout, next_value)
        rollout["return"] = rollout["advantage"] + rollout["value"]
        update(agent, optimizer, rollout)
        points = rollout["reward"].sum() / rollout["done"].sum() / REWARD_SCALE
        print(f"{done:9} decisions, {done / (time.perf_counter() - started):6.0f}/s, {points:+.2f} points a deal")
    env.close()
    return agent


def main() -> None:
    """Train, save and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000, help="decisions to learn from")
    parser.add_argument("--opponents", default="random", help="bot of the other seats")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the weights")
    arguments = parser.parse_args()
    agent = train(arguments.steps, arguments.opponents, arguments.seed)
    if arguments.save:
        torch.save(agent.state_dict(), arguments.save)
    result = duel(agent.act, arguments.opponents, deals=500)
    print(f"against {arguments.opponents}: {result.alone.points} points a deal")


if __name__ == "__main__":
    main()
