"""Deals that agree with everything a seat knows, for searches outside that need whole states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scarto_env.batch import Batch
from scarto_env.bots.belief import believe, imagine, new_belief
from scarto_env.bots.recall import recall
from scarto_env.deal import Deal
from scarto_env.jit import kernel
from scarto_env.rules import Rules, rules_table
from scarto_env.state import GAME, cards_of

_RANDOM_WORDS = 2**53


class World(NamedTuple):
    """A way to deal the hidden cards.

    Attributes:
        deal: the cards before the exchange.
        discard: what the dealer has laid away, in rising order; empty while it lays away.
    """

    deal: Deal
    discard: list[int]


@kernel
def imagine_world(observation: Any, mask: Any, table: Any, rows: Any, beliefs: Any, word: Any) -> float:
    """Write to ``rows[1]`` a world drawn with ``word`` for what a seat sees; return how many there are."""
    recall(observation[0], mask[0], table[0], rows[0])
    rows[0].bot_random = word
    worlds = believe(rows[0], table[0], beliefs[0])
    rows[1] = rows[0]
    if worlds > 0:
        imagine(rows[0], table[0], beliefs[0], rows[1])
    return worlds


class Imagination:
    """Draws worlds, uniform over all that a seat cannot rule out.

    Respected are the sizes of hands, voids and trumps shown to be lacking, what may not be laid away, and what
    the dealer knows of talon and discard.  A talon that the viewer has not seen is any of the dealer's cards.

    Args:
        rules: what is played.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._rows = np.zeros(2, GAME).view(np.recarray)
        self._belief = new_belief()

    def draw(self, batch: Batch, viewer: int, random: Callable[[], float]) -> World:
        """Return a world for what ``viewer`` knows of the game in a batch of one.

        Args:
            batch: the game; only what the viewer may know of it is read.
            viewer: a seat.
            random: returns numbers uniform over [0, 1).
        """
        players = self.rules.players
        seen = batch.observe(0, viewer)[None]
        mask = batch.action_mask if viewer == batch.seat[0] else np.zeros_like(batch.action_mask)
        word = np.uint64(int(random() * _RANDOM_WORDS))
        imagine_world(seen, mask, rules_table(self.rules), self._rows, self._belief, word)
        world = self._rows[1]
        held = [set(cards_of(world.hand[seat])) | set(cards_of(world.played[seat])) for seat in range(players)]
        dealer, discard = int(world.dealer), cards_of(world.discarded)
        held[dealer] |= set(discard)
        talon = cards_of(world.talon)
        if dealer != 0:
            cards = sorted(held[dealer])
            talon = [cards.pop(int(random() * len(cards))) for _ in range(self.rules.talon_size)]
        held[dealer] -= set(talon)
        hands = tuple(tuple(held[(seat - viewer) % players]) for seat in range(players))
        return World(Deal(hands, tuple(talon), (dealer + viewer) % players), discard)
