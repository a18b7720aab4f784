"""Teach a smaller network what a policy would do: quicker than learning anew, and nearly as strong."""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from scarto_env.bots.policy import read_config
from training.checkpoint import load_actor, save_policy
from training.config import Config
from training.learner import ADAM_EPSILON, Learner
from training.network import MASKED, FrozenPerceptron
from training.rollout import ROWS_AT_ONCE, Rollout
from training.train import new_deals

REPORT_EVERY: Final = 20


def distillation_loss(logits: Tensor, teacher: Tensor, mask: Tensor) -> Tensor:
    """Return the mean divergence of a policy from its teacher's, KL(teacher, pupil), from logits [N, 78]."""
    mine = torch.log_softmax(logits.masked_fill(~mask, MASKED), dim=-1)
    theirs = teacher.masked_fill(~mask, MASKED)
    return (torch.softmax(theirs, dim=-1) * (torch.log_softmax(theirs, dim=-1) - mine)).sum(1).mean()


def distillation_config(folder: Path, settings: dict[str, Any]) -> Config:
    """Return the config of a pupil of the policy in ``folder``."""
    rules = read_config(folder)["rules_name"]
    config = Config(rules=rules, workers=1, deals_at_once=256, minibatches=8, actor=(128, 128), learning_rate=2e-3)
    return dataclasses.replace(config, **settings)


def distill(folder: Path, config: Config, out: Path) -> float:
    """Teach a new network the policy in ``folder``, on deals that the teacher plays; return the last divergence.

    Raises:
        CheckpointError: the teacher cannot be read.
        RunError: the pupil could not be written.
    """
    torch.set_num_threads(1)
    teacher = Learner(dataclasses.replace(config, actor=tuple(read_config(folder)["layers"][1:-1])))
    load_actor(folder, teacher.actor)
    frozen = FrozenPerceptron(teacher.actor, teacher.dtype)
    pupil = Learner(config)
    optimiser = torch.optim.Adam(pupil.actor.parameters(), config.learning_rate, eps=ADAM_EPSILON, fused=True)
    rollout = Rollout(pupil.rules, config.deals_at_once, pupil.encoder)
    began, last = time.perf_counter(), 0.0
    for update in range(config.updates):
        generator = np.random.default_rng([config.seed, update, 0])
        decisions = rollout.play(frozen, None, new_deals(config, update, 0), generator)
        features = torch.from_numpy(decisions.features[: decisions.count])
        mask = torch.from_numpy(decisions.mask[: decisions.count].view(np.bool_))
        told = torch.cat([frozen(pupil.encoder.inputs(part)) for part in torch.split(features, ROWS_AT_ONCE)])
        progress = update / config.updates
        optimiser.param_groups[0]["lr"] = config.learning_rate * (1 + (config.learning_rate_end - 1) * progress)
        losses = []
        for part in np.array_split(generator.permutation(decisions.count), config.minibatches):
            rows = torch.from_numpy(part)
            loss = distillation_loss(pupil.actor(pupil.encoder.inputs(features[rows])), told[rows], mask[rows])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(float(loss.detach()))
        last = float(np.mean(losses))
        if (update + 1) % REPORT_EVERY == 0:
            seconds = time.perf_counter() - began
            sys.stderr.write(f"{update + 1}/{config.updates} updates, divergence {last:.4f}, {seconds:.0f} s\n")
    save_policy(out, pupil.actor, config.rules)
    return last
