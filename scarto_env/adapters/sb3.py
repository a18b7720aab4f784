"""A MaskablePPO of sb3-contrib as a bot.  Training needs no adapter: ``gymnasium.make("Scarto-v0")`` fits as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from scarto_env.adapters.saved import SavedPolicyBot
from scarto_env.rules import Rules


class SB3Bot(SavedPolicyBot):
    """A ``MaskablePPO`` trained on ``Scarto-v0``, flat or dict: ``make_bot("sb3:PATH")``.

    Args:
        policy: the model, or the file of ``model.save``; loading it runs code that it holds.
        rules: preset or ``Rules`` that will be played.
        seed: taken for the sake of a common call.

    Raises:
        ValueError: there is no such file, or the model was trained for another number of players.
    """

    def __init__(self, policy: Any, rules: str | Rules = "scarto", seed: int = 0) -> None:
        super().__init__(policy, rules, seed)
        space = self.policy.observation_space
        self._sees_mask = isinstance(space, spaces.Dict)
        self._check_size((space["observation"] if self._sees_mask else space).shape[0])

    def _load(self, path: Path) -> Any:
        return MaskablePPO.load(path, device="cpu")

    def _choose(self, observation: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[Any]:
        seen: Any = observation
        if self._sees_mask:
            seen = {"observation": observation, "action_mask": legal.astype(np.int8)}
        cards: NDArray[Any] = self.policy.predict(seen, action_masks=legal, deterministic=True)[0]
        return cards
