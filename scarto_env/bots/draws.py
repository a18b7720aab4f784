"""Random numbers of the bots: they depend on a seed and on what a seat knows, on nothing else.

So a bot that draws plays the same in a batch of any size and order, and hidden cards cannot move its choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarto_env.jit import kernel
from scarto_env.play import mixed

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHARE_SHIFT = np.uint64(11)
_SHARE_UNIT = 2.0**-53


@kernel
def keyed(game: Any, rules: Any, seed: Any) -> Any:
    """Return a 64-bit word that depends on the seed and on what the viewer of a recalled row knows alone."""
    word = mixed(seed + np.uint64(game.hand[0, 0]) * _GOLDEN)
    word = mixed(word + np.uint64(game.hand[0, 1]))
    word = mixed(word + np.uint64(game.discarded[0]))
    word = mixed(word + np.uint64(game.discarded[1] + 8 * game.dealer + game.leader))
    for seat in range(rules.players):
        word = mixed(word + np.uint64(game.played[seat, 0]) * _GOLDEN)
        word = mixed(word + np.uint64(game.played[seat, 1]))
    return word


@kernel
def next_bot_share(game: Any) -> float:
    """Return a number uniform over [0, 1), moving the row's generator of the bots."""
    game.bot_random += _GOLDEN
    return np.float64(mixed(game.bot_random) >> _SHARE_SHIFT) * _SHARE_UNIT
