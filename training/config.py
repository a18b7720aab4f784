"""Every number of a run: one frozen, documented record."""

from __future__ import annotations

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Config:
    """One training run.

    Attributes:
        rules: preset to learn.
        deals: deals to play in all; schedules run over them.
        seed: of weights, deals and choices, 0..9999.
        deals_at_once: deals each worker plays between updates.
        actor: widths of the policy's hidden layers.
        critic: widths of the value network's hidden layers.
        precision: of hidden layers, ``"bf16"`` or ``"fp32"``.
        trace: lambda of the advantages.
        epochs: times each decision is learned from.
        minibatch: decisions a gradient step, of each worker.
        clip: how far a step may move a probability ratio from 1.
        learning_rate: of Adam at the start.
        learning_rate_end: at the end, as a share of the start; falls linearly.
        entropy: weight of the entropy bonus at the start.
        entropy_end: at the end; falls geometrically.
        max_gradient: norm above which a gradient is scaled down, each network by itself.
        average_decay: of the averaged weights that are the final policy, per update, at most.
    """

    rules: str = "scarto"
    deals: int = 60_000
    seed: int = 0
    deals_at_once: int = 1024
    actor: tuple[int, ...] = (512, 512, 512)
    critic: tuple[int, ...] = (256, 256, 256)
    precision: Literal["bf16", "fp32"] = "bf16"
    trace: float = 0.95
    epochs: int = 2
    minibatch: int = 4096
    clip: float = 0.2
    learning_rate: float = 5e-4
    learning_rate_end: float = 0.02
    entropy: float = 0.03
    entropy_end: float = 0.003
    max_gradient: float = 0.5
    average_decay: float = 0.98
