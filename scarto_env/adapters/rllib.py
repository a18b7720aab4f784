"""Scarto for RLlib's new API stack: the AEC environment as a ``MultiAgentEnv``, a PPO that honours masks, its bot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from scarto_env.adapters.saved import SavedPolicyBot
from scarto_env.aec import ScartoEnv
from scarto_env.rules import Rules

POLICY: Final = "shared"
"""The one policy of all seats."""
_MODULE: Final = Path("learner_group", "learner", "rl_module", POLICY)
"""Where a saved algorithm keeps it."""

_OBSERVATIONS: Final = "observations"
"""What RLlib's masking module calls the observation."""


class ScartoMultiAgentEnv(PettingZooEnv):
    """The AEC environment as RLlib takes it, with the keys of its action-masking module.

    Args:
        config: arguments of ``scarto_env.aec.ScartoEnv``, and ``reward_scale``, what rewards are multiplied by.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        arguments = dict(config or {})
        self.reward_scale = float(arguments.pop("reward_scale", 1.0))
        env = ScartoEnv(**arguments)
        self.agents, self.possible_agents = env.agents[:], env.possible_agents
        super().__init__(env)
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: _renamed_space(env.observation_space(agent)) for agent in env.possible_agents
        }
        self.observation_space = spaces.Dict(self.observation_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; return what the first agent to act sees."""
        observations, infos = super().reset(seed=seed, options=options)
        return _renamed(observations), infos

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Play a card; return what belongs to the next agent to act, or to all at the end."""
        observations, rewards, terminated, truncated, infos = super().step(action)
        scaled = {agent: reward * self.reward_scale for agent, reward in rewards.items()}
        return _renamed(observations), scaled, terminated, truncated, infos

    def render(self) -> Any:
        """Return the table as ``render_mode`` says."""
        return self.env.render()


def _renamed(observations: Mapping[str, Any]) -> dict[str, Any]:
    return {
        agent: {_OBSERVATIONS: seen["observation"], "action_mask": seen["action_mask"]}
        for agent, seen in observations.items()
    }


def _renamed_space(space: Any) -> spaces.Dict:
    return spaces.Dict({_OBSERVATIONS: space["observation"], "action_mask": space["action_mask"]})


def _policy_of(agent: str, *_: Any, **__: Any) -> str:
    return POLICY


def ppo_config(**env_config: Any) -> PPOConfig:
    """Return a PPO of one masked policy for all seats, to be adapted by RLlib's own methods.

    Args:
        **env_config: of ``ScartoMultiAgentEnv``.
    """
    return (
        PPOConfig()
        # The check samples without masks: an illegal card raises.
        .environment(ScartoMultiAgentEnv, env_config=env_config, disable_env_checking=True)
        .multi_agent(policies={POLICY}, policy_mapping_fn=_policy_of)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )


class RLlibBot(SavedPolicyBot):
    """A policy of ``ppo_config`` as a bot: ``make_bot("rllib:PATH")``.

    Args:
        policy: the module, or the folder of ``algorithm.save_to_path``, or that of a saved module; loading it
            runs code that it holds.
        rules: preset or ``Rules`` that will be played.
        seed: taken for the sake of a common call.

    Raises:
        ValueError: there is no such folder, or the policy was trained for another number of players.
    """

    def __init__(self, policy: Any, rules: str | Rules = "scarto", seed: int = 0) -> None:
        super().__init__(policy, rules, seed)
        self._check_size(self.policy.observation_space[_OBSERVATIONS].shape[0])

    def _load(self, path: Path) -> Any:
        inner = path / _MODULE
        return RLModule.from_checkpoint(str((inner if inner.exists() else path).absolute()))

    def _choose(self, observation: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[Any]:
        seen = {_OBSERVATIONS: torch.from_numpy(observation), "action_mask": torch.from_numpy(legal.astype(np.int8))}
        with torch.no_grad():
            scores = self.policy.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
        cards: NDArray[Any] = scores.argmax(-1).numpy()
        return cards
