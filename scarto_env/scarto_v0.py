"""The environment by PettingZoo's older custom: ``scarto_v0.env()``, ``raw_env()``, ``parallel_env()``."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from scarto_env.aec import ScartoEnv

__all__ = ["env", "parallel_env", "raw_env"]


def env(**arguments: Any) -> ScartoEnv:
    """Return the environment; an illegal card ends the episode by default (arguments of ``ScartoEnv``)."""
    return ScartoEnv(**{"illegal": "terminate", **arguments})


def raw_env(**arguments: Any) -> ScartoEnv:
    """Return the environment; an illegal card raises ``IllegalActionError`` by default."""
    return ScartoEnv(**arguments)


def parallel_env(**arguments: Any) -> Any:
    """Return PettingZoo's turn-based conversion: only the selected agent's action is read."""
    return turn_based_aec_to_parallel(env(**arguments))  # type: ignore[arg-type] # a dead agent's action is None
