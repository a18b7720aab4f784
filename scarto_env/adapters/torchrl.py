"""The AEC environment for TorchRL, and a policy of TorchRL as a bot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type

from scarto_env.adapters.saved import SavedPolicyBot
from scarto_env.aec import ScartoEnv

GROUP: Final = "player"
_OBSERVATION: Final = "observation"
_MASK: Final = "action_mask"
_ACTION: Final = "action"


class OneMaskEnv(ScartoEnv):
    """The AEC environment with masks in the observations alone.

    TorchRL 0.14 removes a mask from the observation or from the infos, and fails where both have one.
    """

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode, as ``ScartoEnv`` does."""
        super().reset(seed, options)
        self._drop_masks()

    def step(self, action: Any) -> None:
        """Play a card, as ``ScartoEnv`` does."""
        super().step(action)
        self._drop_masks()

    def _drop_masks(self) -> None:
        for info in self.infos.values():
            info.pop(_MASK, None)


def torchrl_env(group_map: Any = None, return_state: bool = False, **arguments: Any) -> PettingZooWrapper:
    """Return the AEC environment wrapped for TorchRL; an illegal card raises by default.

    Of a group, ``action_mask`` holds the legal cards of the seat to act, all true for the others, and ``mask``
    says whose turn it is: only those rows are decisions.

    Args:
        group_map: as of ``PettingZooWrapper``; one group ``"player"`` of all seats by default.
        return_state: also give the full information, for a central critic.
        **arguments: of ``scarto_env.aec.ScartoEnv``.
    """
    env = OneMaskEnv(**arguments)
    # One-hot actions fail in the first rollout.
    return PettingZooWrapper(
        env,
        use_mask=True,
        categorical_actions=True,
        group_map={GROUP: env.possible_agents} if group_map is None else group_map,
        return_state=return_state,
    )


class TorchRLBot(SavedPolicyBot):
    """A TensorDict module that reads observation and mask and writes an action: ``make_bot("torchrl:PATH")``.

    Its keys may lie at any depth, as ``torchrl_env`` nests them: ``("player", "observation",
    "observation")``, ``("player", "action_mask")`` and ``("player", "action")``.

    Args:
        policy: the module, or the file of ``torch.save(module, path)``; loading it runs code that it holds.
        rules: preset or ``Rules`` that will be played.
        seed: taken for the sake of a common call.

    Raises:
        ValueError: there is no such file, or the module has no such keys.
    """

    def __init__(self, policy: Any, rules: Any = "scarto", seed: int = 0) -> None:
        super().__init__(policy, rules, seed)
        self._seen = self._key(self.policy.in_keys, _OBSERVATION)
        self._mask = self._key(self.policy.in_keys, _MASK)
        self._action = self._key(self.policy.out_keys, _ACTION)

    def _key(self, keys: Iterable[Any], name: str) -> Any:
        for key in keys:
            if (key if isinstance(key, str) else key[-1]) == name:
                return key
        raise ValueError(f"{self}: none of its keys ends in {name!r}: {', '.join(map(str, keys))}")

    def _load(self, path: Path) -> Any:
        return torch.load(path, map_location="cpu", weights_only=False)

    def _choose(self, observation: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[Any]:
        data = TensorDict({}, [len(legal)])
        data[self._seen] = torch.from_numpy(observation)
        data[self._mask] = torch.from_numpy(legal)
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            cards: NDArray[Any] = self.policy(data)[self._action].numpy()
        return cards
