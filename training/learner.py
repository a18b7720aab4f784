"""Learn from a rollout: a clipped policy gradient with entropy, and a critic that may see every hand."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarto_env.bots.policy_features import num_features
from scarto_env.cards import NUM_CARDS
from scarto_env.rules import as_rules
from training.config import Config
from training.network import MASKED, FrozenPerceptron, Perceptron, fastest_precision
from training.returns import advantages
from training.rollout import ROWS_AT_ONCE, Decisions, Encoder

ADAM_EPSILON: Final = 1e-5
TINY: Final = 1e-8
Average = Callable[[list[Tensor]], None]
"""Replaces gradients by their mean over all workers, in place."""


class PolicyLoss(NamedTuple):
    """The loss of a minibatch and what is watched beside it, all scalars."""

    loss: Tensor
    entropy: Tensor
    divergence: Tensor
    clipped: Tensor


class Judgement(NamedTuple):
    """Of all cards of N decisions.

    Attributes:
        judged: [N] bool, whether they were.
        policy: [N, 78], the probability of each before the update.
        advantage: [N, 78], of each card over the policy's mean, in the unit of the sampled cards'; 0 where not legal.
    """

    judged: Tensor
    policy: Tensor
    advantage: Tensor


def surrogate(new: Tensor, old: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Return what probabilities gain, as far as they have moved no more than a share of ``clip`` from the old ones."""
    return torch.minimum(new * advantage, new.clamp((1 - clip) * old, (1 + clip) * old) * advantage)


def policy_loss(
    logits: Tensor,
    mask: Tensor,
    place: Tensor,
    old_log_prob: Tensor,
    advantage: Tensor,
    clip: float,
    entropy_weight: float,
    judgement: Judgement | None = None,
) -> PolicyLoss:
    """Return the clipped surrogate (Schulman et al. 2017) less the entropy bonus.

    Where all cards were judged, it is the surrogate's mean over the cards that the policy could have chosen.

    The gradient of a masked logit is exactly zero.

    Args:
        logits: [N, 78].
        mask: [N, 78] bool, true for legal.
        place: [N] int64, what was chosen.
        old_log_prob: [N], when it was chosen.
        advantage: [N], normalised.
        clip: how far the ratio may move from 1.
        entropy_weight: of the bonus.
        judgement: of all cards, for some of the decisions.
    """
    legal_logits = logits.masked_fill(~mask, MASKED)
    log_policy = torch.log_softmax(legal_logits, dim=-1)
    change = log_policy.gather(1, place[:, None])[:, 0] - old_log_prob
    ratio = change.exp()
    # Not log_policy.exp(): exponentials of -1e9 take the slow road, 40 times slower.
    policy = torch.softmax(legal_logits, dim=-1)
    gain = surrogate(ratio, torch.ones_like(ratio), advantage, clip)
    if judgement is not None:
        gains = surrogate(policy, judgement.policy, judgement.advantage, clip).sum(1)
        gain = torch.where(judgement.judged, gains, gain)
    entropy = -(policy * log_policy).sum(1).mean()
    with torch.no_grad():
        divergence = (ratio - 1 - change).mean()
        clipped = ((ratio - 1).abs() > clip).float().mean()
    return PolicyLoss(-gain.mean() - entropy_weight * entropy, entropy.detach(), divergence, clipped)


def judge(decisions: Decisions, unit: np.float32) -> Judgement:
    """Return the judgement of a rollout's cards, advantages in units of ``unit``."""
    count = decisions.count
    judged = decisions.judged[:count]
    # What was not judged was not written: it may be no number, which no weight of 0 makes good.
    policy, values = (np.where(judged[:, None], part[:count], 0) for part in (decisions.policy, decisions.values))
    advantage = (values - (policy * values).sum(1, keepdims=True)) * decisions.mask[:count] / unit
    return Judgement(*(torch.from_numpy(column) for column in (judged, policy, advantage)))


def schedules(config: Config, progress: float) -> tuple[float, float]:
    """Return learning rate and entropy weight when ``progress`` (0..1) of the run is over."""
    rate = config.learning_rate * (1 + (config.learning_rate_end - 1) * progress)
    return rate, config.entropy * (config.entropy_end / config.entropy) ** progress


class Learner:
    """The two networks, their optimisers and the averaged policy.

    Args:
        config: the run.
        average: replaces gradients by their mean over all workers; None for a single one.
    """

    def __init__(self, config: Config, average: Average | None = None) -> None:
        self.config = config
        self.rules = as_rules(config.rules)
        generator = torch.Generator().manual_seed(config.seed)
        inputs = num_features(self.rules.players)
        hidden = self.rules.players * NUM_CARDS if config.critic_sees_all else 0
        self.actor = Perceptron([inputs, *config.actor, NUM_CARDS], 0.01, generator).to(config.device)
        self.critic = Perceptron([inputs + hidden, *config.critic, 1], 1.0, generator).to(config.device)
        self.averaged = copy.deepcopy(self.actor)
        self.updates = 0
        precision = fastest_precision(config.device) if config.precision == "auto" else config.precision
        self.dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        self.encoder = Encoder(self.rules, self.dtype, config.device)
        self._average = average
        self._optimisers = {
            name: torch.optim.Adam(network.parameters(), config.learning_rate, eps=ADAM_EPSILON, fused=True)
            for name, network in (("actor", self.actor), ("critic", self.critic))
        }

    def frozen_actor(self) -> FrozenPerceptron:
        """Return the policy as it is now, for acting."""
        return FrozenPerceptron(self.actor, self.dtype)

    def critic_inputs(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Return what the critic sees: the actor's inputs and, where it may, the hidden cards, [N, P * 78] int8."""
        if not self.config.critic_sees_all:
            return inputs
        return torch.cat([inputs, hidden.to(inputs.device).to(inputs.dtype)], dim=1)

    def values(self, features: Tensor, hidden: Tensor) -> NDArray[np.float32]:
        """Return the critic's value of each decision, [N]."""
        critic = FrozenPerceptron(self.critic, self.dtype)
        parts = zip(torch.split(features, ROWS_AT_ONCE), torch.split(hidden, ROWS_AT_ONCE), strict=True)
        found = [critic(self.critic_inputs(self.encoder.inputs(part), unseen)).cpu() for part, unseen in parts]
        return torch.cat(found)[:, 0].numpy()

    def learn(self, decisions: Decisions, progress: float, generator: np.random.Generator) -> dict[str, float]:
        """Improve both networks with a rollout and return what was seen.

        Args:
            decisions: of the present policy.
            progress: share of the run that is over.
            generator: orders the minibatches.

        Raises:
            FloatingPointError: a loss is no number.
        """
        config, count = self.config, decisions.count
        critic_only = self.updates < config.critic_updates
        rate, entropy_weight = schedules(config, progress)
        for optimiser in self._optimisers.values():
            optimiser.param_groups[0]["lr"] = rate
        features = torch.from_numpy(decisions.features[:count])
        hidden = torch.from_numpy(decisions.hidden[:count].reshape(count, -1))
        value = self.values(features, hidden)
        advantage = advantages(decisions.reward[:count], value, decisions.following[:count], config.trace)
        unit = advantage.std() + TINY
        sampled = advantage[~decisions.judged[:count]]
        normal = (advantage - (sampled.mean() if len(sampled) else 0)) / unit
        columns = (decisions.mask[:count].view(np.bool_), decisions.place[:count], decisions.log_prob[:count],
                   normal, advantage + value)  # fmt: skip
        tensors = [torch.from_numpy(column) for column in columns]
        judgement = judge(decisions, unit) if decisions.judged[:count].any() else ()
        seen = []
        for _ in range(config.epochs):
            for part in np.array_split(generator.permutation(count), config.minibatches):
                rows = torch.from_numpy(part)
                chosen = [tensor[rows].to(config.device) for tensor in tensors]
                judged = Judgement(*(tensor[rows].to(config.device) for tensor in judgement)) if judgement else None
                inputs = self.encoder.inputs(features.index_select(0, rows))
                unseen = hidden.index_select(0, rows)
                seen.append(self._step(inputs, unseen, chosen, judged, entropy_weight, critic_only))
        self.updates += 1
        self._average_weights()
        names = ("policy_loss", "entropy", "kl", "clipped", "value_loss")
        found = dict(zip(names, np.mean(seen, axis=0).tolist(), strict=True))
        if not all(np.isfinite(list(found.values()))):
            raise FloatingPointError(f"update {self.updates}: a loss is no number: {found}")
        explained = 1 - float(np.var(advantage) / max(np.var(advantage + value), 1e-12))
        return {**found, "explained_variance": explained, "learning_rate": rate, "entropy_weight": entropy_weight}

    def _step(
        self, inputs: Tensor, hidden: Tensor, chosen: list[Tensor], judgement: Judgement | None,
        entropy_weight: float, critic_only: bool,
    ) -> list[float]:  # fmt: skip
        """Take one step of both networks, or of the critic alone."""
        mask, place, log_prob, advantage, target = chosen
        policy = policy_loss(
            self.actor(inputs), mask, place, log_prob, advantage, self.config.clip, entropy_weight, judgement
        )
        value_loss = (self.critic(self.critic_inputs(inputs, hidden))[:, 0] - target).square().mean()
        for optimiser in self._optimisers.values():
            optimiser.zero_grad()
        policy.loss.backward()  # type: ignore[no-untyped-call]
        (value_loss / 2).backward()
        if self._average:
            networks = (self.actor, self.critic)
            self._average([weight.grad for net in networks for weight in net.parameters() if weight.grad is not None])
        for name, network in (("actor", self.actor), ("critic", self.critic))[critic_only:]:
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.config.max_gradient)
            self._optimisers[name].step()
        return [float(number.detach()) for number in (*policy, value_loss)]

    @torch.no_grad()
    def _average_weights(self) -> None:
        """Move the averaged policy towards the present one; early on it is the plain mean."""
        decay = min(self.config.average_decay, 1 - 1 / self.updates)
        for mean, now in zip(self.averaged.parameters(), self.actor.parameters(), strict=True):
            mean.lerp_(now, 1 - decay)

    def _networks(self) -> dict[str, Perceptron]:
        return {"actor": self.actor, "critic": self.critic, "averaged": self.averaged}

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that a resumed run needs beside its config and ``updates``, by name."""
        found: dict[str, Tensor] = {}
        for name, network in self._networks().items():
            found |= {f"{name}.{key}": value for key, value in network.state_dict().items()}
        for name, optimiser in self._optimisers.items():
            for index, state in optimiser.state_dict()["state"].items():
                found |= {f"adam.{name}.{index}.{key}": value for key, value in state.items()}
        return {name: value.detach().cpu().clone().contiguous() for name, value in found.items()}

    def restore(self, tensors: Mapping[str, Tensor], updates: int) -> None:
        """Go on from what ``tensors`` gave after so many updates.

        Raises:
            KeyError: a tensor is missing.
            RuntimeError: one has another shape.
        """
        self.updates = updates
        for name, network in self._networks().items():
            network.load_state_dict({key: tensors[f"{name}.{key}"] for key in network.state_dict()})
        for name, optimiser in self._optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for key, value in tensors.items():
                if key.startswith(f"adam.{name}."):
                    index, field = key.split(".")[2:]
                    state.setdefault(int(index), {})[field] = value.clone()
            optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
