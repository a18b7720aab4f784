"""The networks: multilayer perceptrons on planes of cards, in bf16 with fp32 masters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from scarto_env.cards import NUM_CARDS

MASKED = -1e9
"""Logit of a card that may not be played."""


class Perceptron(nn.Module):
    """Linear layers with ReLU between them; the first may have several inputs, the last is computed in fp32.

    Hidden layers are computed in the dtype of the input, so that bf16 inputs use the matrix units while the
    parameters stay fp32.  The last layer is fp32 because bf16 logits are too coarse for log-probabilities.

    Args:
        sizes: inputs, hidden widths, outputs.
        last_gain: gain of the last layer's orthogonal start; small starts near uniform.
        generator: for the starting weights.
    """

    def __init__(self, sizes: Sequence[int], last_gain: float, generator: torch.Generator) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for layer, (inputs, outputs) in enumerate(zip(sizes, sizes[1:], strict=False)):
            gain = last_gain if layer == len(sizes) - 2 else math.sqrt(2)
            weight = torch.empty(outputs, inputs)
            nn.init.orthogonal_(weight, gain, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(outputs)))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs, [N, last size] fp32."""
        hidden = inputs
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = functional.relu(
                functional.linear(hidden, weight.to(hidden.dtype), bias.to(hidden.dtype)), inplace=True
            )
        return functional.linear(hidden.float(), self.weights[-1], self.biases[-1])


class FrozenPerceptron:
    """A copy of a perceptron for acting, with its hidden layers already in the compute dtype."""

    def __init__(self, network: Perceptron, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.layers = [
            (weight.detach().to(dtype, copy=True), bias.detach().to(dtype, copy=True))
            for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True)
        ]
        self.last = network.weights[-1].detach().clone(), network.biases[-1].detach().clone()

    @torch.inference_mode()
    def __call__(self, inputs: Tensor) -> Tensor:
        """Return the outputs, [N, last size] fp32."""
        hidden = inputs
        for weight, bias in self.layers:
            hidden = functional.linear(hidden, weight, bias).relu_()
        return functional.linear(hidden.float(), *self.last)


def masked_log_policy(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the log-probabilities, [N, 78]; those of cards that may not be played are about ``MASKED``.

    The gradient of a masked logit is exactly zero.
    """
    return torch.log_softmax(logits.masked_fill(~mask, MASKED), dim=-1)


def new_actor(num_features: int, widths: Sequence[int], generator: torch.Generator) -> Perceptron:
    """Return a policy network that starts near uniform."""
    return Perceptron([num_features, *widths, NUM_CARDS], 0.01, generator)


def new_critic(num_inputs: int, widths: Sequence[int], generator: torch.Generator) -> Perceptron:
    """Return a value network."""
    return Perceptron([num_inputs, *widths, 1], 1.0, generator)
