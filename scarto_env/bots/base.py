"""What a bot is: a program that chooses cards from observations alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from scarto_env.cards import NUM_CARDS
from scarto_env.observation import observation_size
from scarto_env.rules import Rules

Cards = NDArray[np.int64]
MOST_NUMBER: Final = 10**9
"""No option of a bot may be more: counts fit the kernels, times a float."""
LEAST_SHARE: Final = 1e-9
"""Of options that must be more than 0."""
ActFunction = Callable[[NDArray[Any], NDArray[Any]], Any]


@runtime_checkable
class Bot(Protocol):
    """Chooses a card for each of B seats that are to act.

    A bot keeps no memory of a deal: the observation recalls all of it.  Its choice depends on the
    observation, the mask and its own seed alone, so it is the same in a batch of any size and order.  Threads
    may share one: what it works with belongs to the call.
    """

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return a legal card each, [B] int64; 0 where the mask is empty.

        Args:
            observation: [B, D], any number type.
            action_mask: [B, 78], 1 or true for legal.
        """
        ...


class FunctionBot:
    """A function of observation and mask as a bot.

    Args:
        function: takes [B, D] and [B, 78], returns [B] cards.
    """

    def __init__(self, function: ActFunction) -> None:
        self.function = function

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"FunctionBot({self.function!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the function's cards, [B] int64.

        Raises:
            ValueError: the function returned another shape or no whole numbers.
        """
        cards = np.asarray(self.function(observation, action_mask))
        if cards.shape != (len(action_mask),) or cards.dtype.kind not in "iu":
            raise ValueError(
                f"{self.function!r} returned {cards.dtype} of shape {cards.shape}: "
                f"expected ({len(action_mask)},) card ids of an integer dtype"
            )
        return cards.astype(np.int64)


def check_whole(name: str, value: Any, least: int, most: int = MOST_NUMBER) -> None:
    """Refuse an option that is no whole number, or out of its range.

    Raises:
        ValueError: it is; the message names option and range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ValueError(f"{name}={value!r} is not allowed: expected a whole number from {least} to {most}")


def check_number(name: str, value: Any, least: float, most: float = MOST_NUMBER) -> None:
    """Refuse an option that is no number, or out of its range.

    Raises:
        ValueError: it is; the message names option and range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not (
        least <= value <= most
    ):  # fmt: skip
        raise ValueError(f"{name}={value!r} is not allowed: expected a number from {least:g} to {most:g}")


def as_bytes(
    observation: NDArray[Any], action_mask: NDArray[Any], rules: Rules
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return observation and mask as contiguous int8 arrays, [B, D] and [B, 78], for the kernels.

    Raises:
        ValueError: a shape does not fit the rules.
    """
    size = observation_size(rules.players)
    observation, action_mask = np.asarray(observation), np.asarray(action_mask)
    if observation.ndim != 2 or observation.shape[1] != size:  # noqa: PLR2004
        raise ValueError(f"observation has shape {observation.shape}: expected [B, {size}] with these rules")
    if action_mask.shape != (len(observation), NUM_CARDS):
        raise ValueError(f"action_mask has shape {action_mask.shape}: expected [{len(observation)}, {NUM_CARDS}]")
    # Writable too: for a read-only array the kernels would be compiled a second time.
    return np.require(observation, np.int8, ["C", "W"]), np.require(action_mask, np.int8, ["C", "W"])
