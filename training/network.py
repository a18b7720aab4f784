"""The networks: multilayer perceptrons on planes of cards, with fp32 parameters, computed in bf16 where it is fast."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Sequence
from typing import Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

MASKED: Final = -1e9
"""Logit of a card that may not be played."""
_TRIAL_SIZE: Final = 512
_TRIALS: Final = 10


def fastest_precision(device: str) -> Literal["bf16", "fp32"]:
    """Return what a device multiplies matrices fastest in.

    A processor without instructions for bf16 emulates it: on AVX2 a run then takes six times as long as in fp32.  With
    AMX they are many times faster than fp32; those of AVX-512 alone are twice as fast on some processors, and on others
    they take almost twice as long: there both are tried.
    """
    if torch.device(device).type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    has = torch.cpu.get_capabilities()
    if has.get("amx_bf16"):
        return "bf16"
    if not has.get("avx512_bf16"):
        return "fp32"
    times = multiplication_seconds(torch.float32, torch.bfloat16)
    return "bf16" if times[torch.bfloat16] < times[torch.float32] else "fp32"


@functools.cache  # so that two learners of a process never differ
def multiplication_seconds(*dtypes: torch.dtype) -> dict[torch.dtype, float]:
    """Return how long this processor takes to multiply two matrices, the best of several tries in turns."""
    matrices = {dtype: torch.ones(_TRIAL_SIZE, _TRIAL_SIZE, dtype=dtype) for dtype in dtypes}
    times = dict.fromkeys(dtypes, math.inf)
    for _ in range(_TRIALS):
        for dtype, matrix in matrices.items():
            began = time.perf_counter()
            functional.linear(matrix, matrix)
            times[dtype] = min(times[dtype], time.perf_counter() - began)
    return times


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
