"""What bots of other libraries share: a saved policy, asked for the seats that are to act."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards
from scarto_env.observation import observation_size
from scarto_env.rules import Rules, as_rules


class SavedPolicyBot(abc.ABC):
    """A policy of another library as a bot: the most probable legal card, nothing is drawn.

    Args:
        policy: the policy, or where it was saved.
        rules: preset or ``Rules`` that will be played.
        seed: taken for the sake of a common call.

    Raises:
        ValueError: nothing is saved there, or the policy was trained for another number of players.
    """

    def __init__(self, policy: Any, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed
        self.name = (
            f"{type(self).__name__}({str(policy) if isinstance(policy, (str, Path)) else type(policy).__name__})"
        )
        if isinstance(policy, (str, Path)):
            if not Path(policy).exists():
                raise ValueError(f"{str(policy)!r}: there is no saved policy")
            policy = self._load(Path(policy))
        self.policy = policy

    def __repr__(self) -> str:
        """Return the class and the policy's place."""
        return self.name

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the policy's card each, [B] int64; 0 where the mask is empty.

        Raises:
            ValueError: the observations are of another number of players than the policy's.
        """
        legal = np.asarray(action_mask) > 0
        acting = legal.any(axis=1)
        cards = np.zeros(len(legal), np.int64)
        if acting.any():
            cards[acting] = self._choose(np.asarray(observation)[acting].astype(np.float32), legal[acting])
        return cards

    def _check_size(self, size: int) -> None:
        """Refuse a policy whose observations are not those of the rules."""
        expected = observation_size(self.rules.players)
        if size != expected:
            raise ValueError(f"{self}: it was trained on {size} entries, these rules have {expected}")

    @abc.abstractmethod
    def _load(self, path: Path) -> Any:
        """Return the policy saved at ``path``."""

    @abc.abstractmethod
    def _choose(self, observation: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the cards, [B], for observations [B, D] and masks [B, 78], none of them empty."""
