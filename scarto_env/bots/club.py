"""A plain rule player that stays as it is: a fixed yardstick, while the heuristic may grow stronger.

A dozen rules of the kind that manuals of tarot games give to beginners, with numbers set by feel and never tuned.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards, as_bytes
from scarto_env.bots.heuristic import LAST_BUT_ONE, falling, only_card
from scarto_env.bots.knowledge import higher_out, new_mind, note_position, points, takes
from scarto_env.bots.recall import recall
from scarto_env.cards import (
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    JACK_STRENGTH,
    KING_STRENGTH,
    NO_SUIT,
    STRENGTH,
    SUIT,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.rules import THIRDS, Rules, as_rules, rules_table
from scarto_env.state import DISCARD, GAME

CASH: Final = 100.0
DRAW: Final = 90.0
RUN: Final = 80.0
NEVER: Final = -50.0
FOOL_IN_TIME: Final = 95.0
FOOL_PRICE: Final = 0.7
TRUMP_STEP: Final = 0.17
PIP_STEP: Final = 0.01
_SAFE_LENGTH: Final = 4
"""Cards of a suit still out with which a first round is not expected to be ruffed."""


@kernel
def club_discard(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge laying a card away: short suits without the king, rich cards, no trumps."""
    if card >= FIRST_TRUMP:
        return NEVER
    mine = mind.mine[SUIT[card]]
    king = 8.0 if mine >> KING_STRENGTH & 1 else 0.0
    return 1.2 * THIRDS * points(rules, card) - 3.0 * popcount(mine) - king


@kernel
def club_lead(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a lead: cash masters, draw trumps when strong, run masters, else low from the longest suit."""
    if card == FOOL:
        return FOOL_IN_TIME if mind.left == LAST_BUT_ONE else NEVER
    suit, value = int(SUIT[card]), points(rules, card)
    master = higher_out(mind, rules, card) == 0
    trumps_out = popcount(mind.out[TRUMPS])
    if suit == TRUMPS:
        if card == BAGATTO:
            return RUN if trumps_out == 0 else NEVER
        strong = popcount(mind.mine[TRUMPS]) > trumps_out > 0
        return DRAW if strong and master else -10 - TRUMP_STEP * int(STRENGTH[card])
    if master and mind.ruffers[suit] == 0 and popcount(mind.out[suit]) >= _SAFE_LENGTH:
        return CASH + value
    if master and trumps_out == 0:
        return RUN + value
    if STRENGTH[card] >= JACK_STRENGTH:
        return -5 - value
    return popcount(mind.mine[suit]) - PIP_STEP * int(STRENGTH[card])


@kernel
def club_hold(mind: Any, rules: Any, card: int) -> float:
    """Return the guessed chance that a card is not beaten by the seats still to play."""
    suit = int(SUIT[card])
    higher = falling(0.5, higher_out(mind, rules, card))
    if mind.behind == 0:
        return 1.0
    if suit == TRUMPS:
        return higher
    if mind.ruffers[suit] > 0:
        return 0.0
    return higher * (1 - falling(0.55, popcount(mind.out[suit])))


@kernel
def club_follow(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a card played to the trick: win what pays, else give little; the Fool instead of a court."""
    if card == FOOL:
        return FOOL_IN_TIME if mind.left == LAST_BUT_ONE else -FOOL_PRICE
    value = points(rules, card)
    price = (TRUMP_STEP if SUIT[card] == TRUMPS else PIP_STEP) * int(STRENGTH[card])
    if takes(game, rules, card):
        hold = club_hold(mind, rules, card)
        return hold * (float(mind.table) + value + 1) - (1 - hold) * (float(mind.table) / 2 + value) - price
    return -value - price


@kernel
def club_card(game: Any, rules: Any, mind: Any) -> int:
    """Return the card worth most to the seat to act, 0 if none is legal; ``mind`` is overwritten."""
    best = only_card(game)
    if best >= 0:
        return best
    note_position(game, rules, mind)
    best_worth = -np.inf
    for word in range(2):
        rest = game.legal[word]
        while rest:
            card = lowest_bit(rest) + FIRST_TRUMP * word
            rest &= rest - 1
            if game.phase == DISCARD:
                worth = club_discard(game, rules, card, mind)
            elif game.led_suit == NO_SUIT:
                worth = club_lead(game, rules, card, mind)
            else:
                worth = club_follow(game, rules, card, mind)
            if worth > best_worth:
                best, best_worth = card, worth
    return best


@kernel
def club_cards(observation: Any, mask: Any, table: Any, row: Any, mind: Any, cards: Any) -> None:
    """Write the club player's card for each seat."""
    for index in range(len(cards)):
        recall(observation[index], mask[index], table[0], row[0])
        cards[index] = club_card(row[0], table[0], mind[0])


class ClubBot:
    """Plays by a beginner's rules.

    Args:
        rules: preset or ``Rules``.
        seed: taken for the sake of a common call; nothing is drawn.
    """

    def __init__(self, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"ClubBot({self.rules!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the card worth most each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        row = np.zeros(1, GAME).view(np.recarray)
        club_cards(observation, action_mask, rules_table(self.rules), row, new_mind(), cards)
        return cards
