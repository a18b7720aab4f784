"""Learn from a rollout: clipped policy gradient with entropy, and a critic that sees every hand."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarto_env.bots.policy_features import feature_scale, num_features
from scarto_env.cards import NUM_CARDS
from scarto_env.rules import as_rules
from training.config import Config
from training.network import FrozenPerceptron, masked_log_policy, new_actor, new_critic
from training.returns import advantages
from training.rollout import Decisions


@dataclasses.dataclass(frozen=True)
class PolicyLoss:
    """The loss of a minibatch and what is watched beside it, all scalars."""

    loss: Tensor
    entropy: Tensor
    divergence: Tensor
    clipped: Tensor


def policy_loss(
    logits: Tensor, mask: Tensor, place: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: float, entropy_weight: float
) -> PolicyLoss:
    """Return the clipped surrogate (Schulman et al. 2017) less the entropy bonus.

    Args:
        logits: [N, 78].
        mask: [N, 78] bool, true for legal.
        place: [N] int64, what was chosen.
        old_log_prob: [N], when it was chosen.
        advantage: [N], normalised.
        clip: how far the ratio may move from 1.
        entropy_weight: of the bonus.
    """
    log_policy = masked_log_policy(logits, mask)
    change = log_policy.gather(1, place[:, None])[:, 0] - old_log_prob
    ratio = change.exp()
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    entropy = -(log_policy.exp() * log_policy).sum(1).mean()
    with torch.no_grad():
        divergence = (ratio - 1 - change).mean()
        clipped = ((ratio - 1).abs() > clip).float().mean()
    return PolicyLoss(-surrogate.mean() - entropy_weight * entropy, entropy.detach(), divergence, clipped)


class Learner:
    """The two networks, their optimisers and the averaged policy."""

    def __init__(self, config: Config) -> None:
        self.config = config
        players = as_rules(config.rules).players
        generator = torch.Generator().manual_seed(config.seed)
        inputs = num_features(players)
        self.dtype = torch.bfloat16 if config.precision == "bf16" else torch.float32
        self.actor = new_actor(inputs, config.actor, generator)
        self.critic = new_critic(inputs + players * NUM_CARDS, config.critic, generator)
        self.averaged = copy.deepcopy(self.actor)
        self.updates = 0
        self._scale = torch.from_numpy(feature_scale(players)).to(self.dtype)
        self._optimisers = [
            torch.optim.Adam(network.parameters(), lr=config.learning_rate, eps=1e-5, fused=True)
            for network in (self.actor, self.critic)
        ]

    def frozen_actor(self) -> FrozenPerceptron:
        """Return the policy as it is now, for acting."""
        return FrozenPerceptron(self.actor, self.dtype)

    def _actor_inputs(self, features: Tensor) -> Tensor:
        return features.to(self.dtype).mul_(self._scale)

    def _critic_inputs(self, features: Tensor, hidden: Tensor) -> Tensor:
        inputs = torch.empty(len(features), features.shape[1] + hidden.shape[1], dtype=self.dtype)
        inputs[:, : features.shape[1]] = features
        inputs[:, : features.shape[1]].mul_(self._scale)
        inputs[:, features.shape[1] :] = hidden
        return inputs

    @torch.no_grad()
    def values(self, features: Tensor, hidden: Tensor) -> NDArray[np.float32]:
        """Return the critic's value of each decision, [N]."""
        critic = FrozenPerceptron(self.critic, self.dtype)
        out = np.empty(len(features), np.float32)
        for start in range(0, len(features), 2048):
            part = slice(start, start + 2048)
            out[part] = critic(self._critic_inputs(features[part], hidden[part])).numpy()[:, 0]
        return out

    def learn(self, decisions: Decisions, progress: float, generator: np.random.Generator) -> dict[str, float]:
        """Improve both networks with a rollout and return what was seen.

        Args:
            decisions: of the present policy.
            progress: share of the run that is over.
            generator: orders the minibatches.
        """
        config, count = self.config, decisions.count
        rate = config.learning_rate * (1 + (config.learning_rate_end - 1) * progress)
        entropy_weight = config.entropy * (config.entropy_end / config.entropy) ** progress
        for optimiser in self._optimisers:
            optimiser.param_groups[0]["lr"] = rate
        features = torch.from_numpy(decisions.features[:count])
        hidden = torch.from_numpy(decisions.hidden[:count].reshape(count, -1))
        mask = torch.from_numpy(decisions.mask[:count]).bool()
        place = torch.from_numpy(decisions.place[:count])
        log_prob = torch.from_numpy(decisions.log_prob[:count])
        value = self.values(features, hidden)
        advantage = advantages(decisions.reward[:count], value, decisions.following[:count], config.trace)
        target = torch.from_numpy(advantage + value)
        normal = torch.from_numpy((advantage - advantage.mean()) / (advantage.std() + 1e-8))
        explained = 1 - float(np.var(advantage) / np.var(advantage + value))
        sums = np.zeros(5)
        steps = 0
        for _ in range(config.epochs):
            shuffled = torch.from_numpy(generator.permutation(count))
            for part in shuffled.split(config.minibatch):
                if len(part) < config.minibatch // 2:
                    continue
                chosen = features.index_select(0, part)
                loss = policy_loss(
                    self.actor(self._actor_inputs(chosen)), mask[part], place[part], log_prob[part], normal[part],
                    config.clip, entropy_weight,
                )  # fmt: skip
                error = self.critic(self._critic_inputs(chosen, hidden.index_select(0, part)))[:, 0] - target[part]
                value_loss = error.square().mean()
                self._step(0, loss.loss)
                self._step(1, 0.5 * value_loss)
                watched = (loss.loss, loss.entropy, loss.divergence, loss.clipped, value_loss)
                sums += [float(value.detach()) for value in watched]
                steps += 1
        self.updates += 1
        decay = min(config.average_decay, 1 - 1 / self.updates)
        with torch.no_grad():
            for mean, now in zip(self.averaged.parameters(), self.actor.parameters(), strict=True):
                mean.lerp_(now, 1 - decay)
        names = ("policy_loss", "entropy", "kl", "clipped", "value_loss")
        report = dict(zip(names, sums / steps, strict=True))
        return {**report, "explained_variance": explained, "learning_rate": rate, "entropy_weight": entropy_weight}

    def _step(self, which: int, loss: Tensor) -> None:
        """Take one step of the actor (0) or the critic (1)."""
        network, optimiser = (self.actor, self.critic)[which], self._optimisers[which]
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), self.config.max_gradient)
        optimiser.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that a resumed run needs, by name."""
        found = {}
        for name, network in (("actor", self.actor), ("critic", self.critic), ("averaged", self.averaged)):
            found |= {f"{name}.{key}": value for key, value in network.state_dict().items()}
        for name, optimiser in zip(("actor", "critic"), self._optimisers, strict=True):
            for index, state in optimiser.state_dict()["state"].items():
                found |= {f"adam.{name}.{index}.{key}": value for key, value in state.items()}
        return {name: value.detach().clone().contiguous() for name, value in found.items()}

    def restore(self, tensors: dict[str, Tensor], updates: int) -> None:
        """Take up where ``tensors`` was written."""
        self.updates = updates
        for name, network in (("actor", self.actor), ("critic", self.critic), ("averaged", self.averaged)):
            network.load_state_dict({key: tensors[f"{name}.{key}"] for key in network.state_dict()})
        for name, optimiser in zip(("actor", "critic"), self._optimisers, strict=True):
            state: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors.items():
                if key.startswith(f"adam.{name}."):
                    index, field = key.split(".")[2:]
                    state.setdefault(int(index), {})[field] = value.clone()
            groups = optimiser.state_dict()["param_groups"]
            optimiser.load_state_dict({"state": state, "param_groups": groups})
