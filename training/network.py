"""The networks: multilayer perceptrons on planes of cards, with fp32 parameters, computed in bf16 where it is fast."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

MASKED = -1e9
"""Logit of a card that may not be played."""


def fastest_precision(device: str) -> Literal["bf16", "fp32"]:
    """Return what a device multiplies matrices fastest in.

    A processor without instructions for bf16 emulates it: on AVX2 a run then takes six times as long as in fp32.
    """
    if torch.device(device).type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    has = torch.cpu.get_capabilities()
    return "bf16" if has.get("amx_bf16") or has.get("avx512_bf16") else "fp32"


class Perceptron(nn.Module):
    """Linear layers with ReLU between them, computed in the dtype of the input.

    Args:
        sizes: inputs, hidden widths, outputs.
        last_gain: gain of the last layer's orthogonal start; a small one starts near zero.
        generator: for the starting weights.
    """

    def __init__(self, sizes: Sequence[int], last_gain: float, generator: torch.Generator) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for layer, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            gain = last_gain if layer == len(sizes) - 2 else math.sqrt(2)
            weight = torch.empty(outputs, inputs)
            nn.init.orthogonal_(weight, gain, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(outputs)))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs, [N, last size] fp32."""
        return forward(list(self.weights), list(self.biases), inputs)


class FrozenPerceptron:
    """A copy of a perceptron's weights in the dtype it computes in: for acting, without casting them at each call."""

    def __init__(self, network: Perceptron, dtype: torch.dtype) -> None:
        self.weights = [weight.detach().to(dtype, copy=True) for weight in network.weights]
        self.biases = [bias.detach().to(dtype, copy=True) for bias in network.biases]

    @torch.inference_mode()
    def __call__(self, inputs: Tensor) -> Tensor:
        """Return the outputs, [N, last size] fp32."""
        return forward(self.weights, self.biases, inputs)


def forward(weights: Sequence[Tensor], biases: Sequence[Tensor], inputs: Tensor) -> Tensor:
    """Return a perceptron's outputs, fp32, computed in the dtype of ``inputs``."""
    hidden = inputs
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        hidden = functional.linear(hidden, weight.to(hidden.dtype), bias.to(hidden.dtype))
        if layer < len(weights) - 1:
            hidden = hidden.relu_()
    return hidden.float()
