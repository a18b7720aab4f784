"""The two simplest bots: random, and greedy for points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards, as_bytes
from scarto_env.bots.draws import keyed
from scarto_env.bots.knowledge import takes
from scarto_env.bots.recall import recall
from scarto_env.cards import FIRST_TRUMP, NO_SUIT
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.play import bounded, card_at, mixed
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import DISCARD, GAME, stream_key

_STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def random_cards(observation: Any, mask: Any, table: Any, row: Any, seed: Any, cards: Any) -> None:
    """Write a card uniform over the legal ones for each seat, drawn from the seed and what the seat sees."""
    game = row[0]
    for index in range(len(cards)):
        cards[index] = 0
        recall(observation[index], mask[index], table[0], game)
        num_legal = popcount(game.legal[0]) + popcount(game.legal[1])
        if num_legal == 0:
            continue
        word = keyed(game, table[0], seed)
        place = bounded(word, num_legal)
        while place < 0:
            word += _STEP
            place = bounded(mixed(word), num_legal)
        cards[index] = card_at(game.legal[0], game.legal[1], place)


@kernel
def greedy_card(game: Any, rules: Any) -> int:
    """Return the card of the greedy bot.

    Lay away the most valuable card; lead the cheapest; take the trick whenever a card does, with the most
    points; else throw the cheapest.  Among equals the weakest.
    """
    best = -1
    best_rank = np.int64(0)
    leads = game.led_suit == NO_SUIT
    for word in range(2):
        left = game.legal[word]
        while left:
            card = lowest_bit(left) + FIRST_TRUMP * word
            left &= left - 1
            value = np.int64(rules.value[card])
            power = np.int64(rules.power[card])
            if game.phase == DISCARD:
                rank = value * 64 - power
            elif not leads and takes(game, rules, card):
                rank = 4096 + value * 64 - power
            else:
                rank = -value * 64 - power
            if best < 0 or rank > best_rank:
                best, best_rank = card, rank
    return best


@kernel
def greedy_cards(observation: Any, mask: Any, table: Any, row: Any, cards: Any) -> None:
    """Write the greedy bot's card for each seat."""
    game = row[0]
    for index in range(len(cards)):
        recall(observation[index], mask[index], table[0], game)
        cards[index] = max(greedy_card(game, table[0]), 0)


class RandomBot:
    """Plays a card uniform over the legal ones, drawn from the seed and the observation.

    Args:
        rules: preset or ``Rules``.
        seed: whole number >= 0.
    """

    def __init__(self, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed
        self._key = stream_key(seed)

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"RandomBot({self.rules!r}, seed={self.seed})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return a random legal card each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        random_cards(
            observation, action_mask, rules_table(self.rules), np.zeros(1, GAME).view(np.recarray), self._key, cards
        )
        return cards


class GreedyBot:
    """Takes points whenever a card does, else throws the cheapest.

    Args:
        rules: preset or ``Rules``.
        seed: taken for the sake of a common call; nothing is drawn.
    """

    def __init__(self, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"GreedyBot({self.rules!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the greedy card each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        greedy_cards(observation, action_mask, rules_table(self.rules), np.zeros(1, GAME).view(np.recarray), cards)
        return cards
