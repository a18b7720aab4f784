"""A club player's thumb rules, each a small function that judges a card in points.

Every legal card is judged by the rules of its moment (laying away, leading, following) and the card worth most
is played.  A kernel reads of the row only what the seat to act may know, so the same code plays at a table,
where the row is recalled from an observation, and in the imagined rows of a search.

The numbers were tuned one at a time by duels on duplicate deals, against random, greedy and the expert at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards, as_bytes
from scarto_env.bots.knowledge import higher_out, new_mind, note_position, points, takes
from scarto_env.bots.recall import recall
from scarto_env.cards import (
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    JACK_STRENGTH,
    KING_STRENGTH,
    NO_SUIT,
    NUM_SUITS,
    STRENGTH,
    SUIT,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import DISCARD, GAME

# Laying away.
SHORT_SUIT: Final = 4.2  # for each card that the suit is shorter
BANKED_POINT: Final = 0.39  # for each point brought home
UNDER_KING: Final = 6.7  # against a suit whose king I hold
LAST_RESORT: Final = 37.0  # against trumps

# Chances.
NOT_BEATEN: Final = 0.26  # that one higher card out there is not played now
MISSES: Final = 0.28  # that a given card of a suit is not with a given seat, when asking whether it is void

# Leading.
LONG_SUIT: Final = 6.9  # for each card of the suit that I hold
OUT_OF_SUIT: Final = 0.17  # against each that is still out
INITIATIVE: Final = 3.3  # for winning with a lead
DRAW_TRUMPS: Final = 64.0  # for leading trumps with more than all others together
TRUMP_LEAD: Final = 2.1  # against leading them with fewer

# Following.
NEXT_LEAD: Final = 1.3  # for leading to the next trick

# What a card would still bring if kept.
KEPT_COURT: Final = (0.82, 0.75, 0.67, 0.46)  # share of its points by the higher cards out: 0, 1, 2, more
RUFFED: Final = 0.18  # part of that lost when everyone else is void
RUFFED_LATER: Final = 0.72  # how that falls with each card of the suit out
ENDING: Final = 0.15  # part of it lost in the last trick, half of that in the last but one, and so on
GUARD: Final = 0.076  # part of it won by each pip beside the court, three at most
PIP_RANK: Final = 0.028  # for each step of a pip's strength
PIP_LENGTH: Final = 0.1  # for each card of its suit
TRUMP: Final = 0.66
TRUMP_HEIGHT: Final = 3.0  # more for the highest
TRUMP_STEP: Final = 0.95  # how that falls with each higher trump out
TRUMP_LATE: Final = 0.42  # more in the last trick, half of that in the last but one, and so on
TRUMP_SURPLUS: Final = 0.036  # less for each trump that I hold
HONOUR: Final = 4.7  # more for a trump that counts
SAVED_BAGATTO: Final = 5.7
SAVED_FOOL: Final = 0.96
SAVED_FOOL_EARLY: Final = 0.044  # more for each trick to come
LATE_FOOL: Final = -3.5  # once it may fall in the last trick and be lost
LATE_TRICKS: Final = 3
LAST_CALL: Final = 60.0  # for leading it when it could not leave later
STRANDED: Final = 0.38  # against baring a court that is not the highest

LAST_BUT_ONE: Final = 2
_MOST_TIMES = 28


def _powers(share: float) -> NDArray[np.float64]:
    """Return a share to the power of 0, 1, ..., by multiplying: looked up it takes a fraction of the time."""
    return np.multiply.accumulate([1.0] + [share] * _MOST_TIMES)


_NOT_BEATEN = _powers(NOT_BEATEN)
_MISSES = _powers(MISSES)
_TRUMP_STEP = _powers(TRUMP_STEP)
_RUFFED_LATER = _powers(RUFFED_LATER)
_MOST_GUARDS = 3
_PIPS = (1 << JACK_STRENGTH) - 1


@kernel
def falling(share: float, times: int) -> float:
    """Return ``share`` to the power of a small whole number."""
    total = 1.0
    for _ in range(times):
        total *= share
    return total


@kernel
def discard_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge laying a card away: void a short suit without its king and bank points; trumps last."""
    if card >= FIRST_TRUMP:
        return -LAST_RESORT - points(rules, card)
    mine = mind.mine[SUIT[card]]
    worth = BANKED_POINT * points(rules, card) - SHORT_SUIT * popcount(mine)
    if mine >> KING_STRENGTH & 1:
        worth -= UNDER_KING
    return worth


@kernel
def ruff_chance(mind: Any, suit: int) -> float:
    """Return the chance that a seat still to play is void in ``suit`` and has a trump: 1 once it has shown so."""
    if mind.trumps_behind == 0:
        return 0.0
    if mind.ruffers[suit] > 0:
        return 1.0
    void = _MISSES[popcount(mind.out[suit])]
    return 1 - falling(1 - void, mind.behind - mind.voids[suit])


@kernel
def hold_chance(mind: Any, rules: Any, card: int, led_suit: int) -> float:
    """Return the chance that a card that wins so far is not beaten by the seats still to play."""
    if mind.behind == 0:
        return 1.0
    suit = SUIT[card]
    if suit == TRUMPS:
        above = popcount(mind.trumps_behind & rules.higher[card - FIRST_TRUMP + 1])
        beaten: float = 1 - _NOT_BEATEN[above]
        return 1 - beaten if led_suit == TRUMPS else 1 - ruff_chance(mind, led_suit) * beaten
    higher = higher_out(mind, rules, card) if mind.voids[suit] < mind.behind else 0
    held: float = _NOT_BEATEN[higher] * (1 - ruff_chance(mind, suit))
    return held


@kernel
def kept_fool(mind: Any, rules: Any) -> float:
    """Judge keeping the Fool: it saves a card later, but must leave before the last trick takes it (A17)."""
    if rules.fool_lost_in_last_trick and mind.left <= LATE_TRICKS:
        return LATE_FOOL
    return SAVED_FOOL + SAVED_FOOL_EARLY * int(mind.left)


@kernel
def kept_trump(mind: Any, rules: Any, card: int) -> float:
    """Judge keeping a trump: the higher the better, those that count most, the Bagatto for a safe trick."""
    if card == BAGATTO:
        return SAVED_BAGATTO
    worth: float = TRUMP + TRUMP_HEIGHT * _TRUMP_STEP[higher_out(mind, rules, card)] + TRUMP_LATE / int(mind.left)
    worth -= TRUMP_SURPLUS * popcount(mind.mine[TRUMPS])
    return worth + HONOUR if rules.value[card] > 1 else worth


@kernel
def kept_pip(mind: Any, card: int) -> float:
    """Judge keeping a plain card that counts nothing: high ones and long suits a little more."""
    return PIP_RANK * int(STRENGTH[card]) + PIP_LENGTH * popcount(mind.mine[SUIT[card]])


@kernel
def kept_court(mind: Any, rules: Any, card: int) -> float:
    """Judge keeping a court card: its points by the higher cards out, the danger of a ruff, its guards."""
    suit = SUIT[card]
    higher = min(higher_out(mind, rules, card), len(KEPT_COURT) - 1)
    worth: float = points(rules, card) * KEPT_COURT[higher]
    if mind.out[TRUMPS]:
        worth *= 1 - RUFFED * _RUFFED_LATER[popcount(mind.out[suit])]
    guards = min(popcount(mind.mine[suit] & _PIPS), _MOST_GUARDS)
    worth *= (1 - ENDING / int(mind.left)) * (1 + GUARD * guards)
    return worth


@kernel
def kept_worth(mind: Any, rules: Any, card: int) -> float:
    """Judge what a card would still bring if it were kept."""
    if card == FOOL:
        return kept_fool(mind, rules)
    if card >= FIRST_TRUMP:
        return kept_trump(mind, rules, card)
    return kept_court(mind, rules, card) if STRENGTH[card] >= JACK_STRENGTH else kept_pip(mind, card)


@kernel
def strands_court(mind: Any, card: int) -> bool:
    """Return whether a pip is the last guard of a court card below the king."""
    suit = SUIT[card]
    if suit >= NUM_SUITS or STRENGTH[card] >= JACK_STRENGTH:
        return False
    mine = mind.mine[suit]
    courts = mine >> JACK_STRENGTH
    return courts != 0 and popcount(mine & _PIPS) <= 1 and not mine >> KING_STRENGTH & 1


@kernel
def trump_lead_worth(mind: Any) -> float:
    """Judge leading trumps at all: draw them when mine outnumber those out, else leave them."""
    num_out = popcount(mind.out[TRUMPS])
    if num_out == 0:
        return 0.0
    return DRAW_TRUMPS if popcount(mind.mine[TRUMPS]) > num_out else -TRUMP_LEAD


@kernel
def long_suit_worth(mind: Any, suit: int) -> float:
    """Judge leading a suit by its length: the longest forces out trumps and makes its last cards good."""
    return LONG_SUIT * popcount(mind.mine[suit]) - OUT_OF_SUIT * popcount(mind.out[suit])


@kernel
def lead_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a lead: what it wins if it holds, less what the card would bring later, and the suit."""
    worth = -kept_worth(mind, rules, card)
    if card == FOOL:
        last_call = rules.fool_lost_in_last_trick and mind.left == LAST_BUT_ONE
        return LAST_CALL if last_call else worth
    suit = int(SUIT[card])
    gain = points(rules, card) + (1.0 if suit == TRUMPS else INITIATIVE)
    worth += hold_chance(mind, rules, card, suit) * gain
    if suit == TRUMPS:
        return worth + trump_lead_worth(mind)
    if strands_court(mind, card):
        worth -= STRANDED
    return worth + long_suit_worth(mind, suit)


@kernel
def follow_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a card played to the trick: what it wins if it holds, less what it would bring later."""
    worth = -kept_worth(mind, rules, card)
    if card == FOOL:
        return worth
    if takes(game, rules, card):
        gain = mind.table + points(rules, card) + NEXT_LEAD
        worth += hold_chance(mind, rules, card, int(game.led_suit)) * gain
    elif strands_court(mind, card):
        worth -= STRANDED
    return worth


@kernel
def card_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a legal card by the rules of its moment."""
    if game.phase == DISCARD:
        return discard_worth(game, rules, card, mind)
    if game.led_suit == NO_SUIT:
        return lead_worth(game, rules, card, mind)
    return follow_worth(game, rules, card, mind)


@kernel
def only_card(game: Any) -> int:
    """Return the legal card if there is just one, -1 if there are more, 0 if there is none."""
    plain, tarocchi = game.legal[0], game.legal[1]
    if (plain and tarocchi) or plain & (plain - 1) or tarocchi & (tarocchi - 1):
        return -1
    if plain:
        return lowest_bit(plain)
    return FIRST_TRUMP + lowest_bit(tarocchi) if tarocchi else 0


@kernel
def heuristic_card(game: Any, rules: Any, mind: Any) -> int:
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
            worth = card_worth(game, rules, card, mind)
            if worth > best_worth:
                best, best_worth = card, worth
    return best


@kernel
def heuristic_cards(observation: Any, mask: Any, table: Any, row: Any, mind: Any, cards: Any) -> None:
    """Write the heuristic's card for each seat."""
    for index in range(len(cards)):
        recall(observation[index], mask[index], table[0], row[0])
        cards[index] = heuristic_card(row[0], table[0], mind[0])


class HeuristicBot:
    """Plays by thumb rules.

    Args:
        rules: preset or ``Rules``.
        seed: taken for the sake of a common call; nothing is drawn.
    """

    def __init__(self, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"HeuristicBot({self.rules!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the card worth most each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        row = np.zeros(1, GAME).view(np.recarray)
        heuristic_cards(observation, action_mask, rules_table(self.rules), row, new_mind(), cards)
        return cards
