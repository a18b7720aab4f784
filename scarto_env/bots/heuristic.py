"""A club player's thumb rules, each a small function that judges a card in points.

Every legal card is judged by the rules of its moment (laying away, leading, following) and the card worth most
is played.  A kernel reads of the row only what the seat to act may know, so the same code plays at a table,
where the row is recalled from an observation, and in the imagined rows of a search.  The numbers are those of the
player whose notes are taken (``style``).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards, as_bytes
from scarto_env.bots.knowledge import COUNT_OFF, higher_out, new_mind, note_position, points, takes
from scarto_env.bots.recall import recall
from scarto_env.bots.style import EXPERT, HEURISTIC
from scarto_env.cards import (
    ALL_TRUMPS,
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    FOOL_BIT,
    JACK_STRENGTH,
    KING_STRENGTH,
    NO_SUIT,
    NUM_SUITS,
    STRENGTH,
    SUIT,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.rules import COURT_VALUES, EMPTY_VALUE, HONOUR_VALUE, Rules, as_rules, rules_table
from scarto_env.state import DISCARD, GAME

LATE_TRICKS: Final = 3
"""From here to the end the Fool may fall in the last trick."""
LAST_BUT_ONE: Final = 2
_MOST_GUARDS = 3
_PIPS = (1 << JACK_STRENGTH) - 1
_HIGHER_PIPS = sum((_PIPS & ~1) << (SUIT_SIZE * suit) for suit in range(NUM_SUITS))
_TOP_COURT = max(COURT_VALUES) - COUNT_OFF
_TOP_TRUMP = HONOUR_VALUE - COUNT_OFF
_PIP = EMPTY_VALUE - COUNT_OFF


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
        return float(-mind.style.last_resort - points(rules, card))
    mine = mind.mine[SUIT[card]]
    worth: float = mind.style.banked_point * points(rules, card) - mind.style.short_suit * popcount(mine)
    if mine >> KING_STRENGTH & 1:
        worth -= mind.style.under_king
    return worth


@kernel
def ruff_chance(mind: Any, suit: int) -> float:
    """Return the chance that a seat still to play is void in ``suit`` and has a trump: 1 once it has shown so."""
    if mind.trumps_behind == 0:
        return 0.0
    if mind.ruffers[suit] > 0:
        return 1.0
    void = mind.style.misses[popcount(mind.out[suit])]
    return 1 - falling(1 - void, mind.behind - mind.voids[suit])


@kernel
def hold_chance(mind: Any, rules: Any, card: int, led_suit: int) -> float:
    """Return the chance that a card that wins so far is not beaten by the seats still to play."""
    if mind.behind == 0:
        return 1.0
    suit = SUIT[card]
    if suit == TRUMPS:
        above = popcount(mind.trumps_behind & rules.higher[card - FIRST_TRUMP + 1])
        beaten: float = 1 - mind.style.not_beaten[above]
        return 1 - beaten if led_suit == TRUMPS else 1 - ruff_chance(mind, led_suit) * beaten
    higher = higher_out(mind, rules, card) if mind.voids[suit] < mind.behind else 0
    held: float = mind.style.not_beaten[higher] * (1 - ruff_chance(mind, suit))
    return held


@kernel
def kept_fool(mind: Any, rules: Any) -> float:
    """Judge keeping the Fool: it saves a card later, but must leave before the last trick takes it (A17)."""
    late = rules.fool_lost_in_last_trick and mind.left <= LATE_TRICKS
    return float(mind.style.late_fool if late else mind.style.saved_fool + mind.style.saved_fool_early * int(mind.left))


@kernel
def kept_trump(mind: Any, rules: Any, card: int) -> float:
    """Judge keeping a trump: the higher the better, those that count most, the Bagatto for a safe trick."""
    if card == BAGATTO:
        return float(mind.style.saved_bagatto)
    style = mind.style
    worth: float = style.trump + style.trump_height * style.trump_step[higher_out(mind, rules, card)]
    worth += style.trump_late / int(mind.left)
    worth -= style.trump_surplus * popcount(mind.mine[TRUMPS])
    return worth + style.honour if rules.value[card] > 1 else worth


@kernel
def kept_pip(mind: Any, card: int) -> float:
    """Judge keeping a plain card that counts nothing: high ones and long suits a little more."""
    length = popcount(mind.mine[SUIT[card]])
    return float(mind.style.pip_rank * int(STRENGTH[card]) + mind.style.pip_length * length)


@kernel
def kept_court(mind: Any, rules: Any, card: int) -> float:
    """Judge keeping a court card: its points by the higher cards out, the danger of a ruff, its guards."""
    suit = SUIT[card]
    higher = min(higher_out(mind, rules, card), len(mind.style.kept_court) - 1)
    worth: float = points(rules, card) * mind.style.kept_court[higher]
    if mind.out[TRUMPS]:
        worth *= 1 - mind.style.ruffed * mind.style.ruffed_later[popcount(mind.out[suit])]
    guards = min(popcount(mind.mine[suit] & _PIPS), _MOST_GUARDS)
    worth *= (1 - mind.style.ending / int(mind.left)) * (1 + mind.style.guard * guards)
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
    """Judge leading trumps at all: draw them when mine outnumber those out, or what they could take from me is much."""
    num_mine, num_out = popcount(mind.mine[TRUMPS]), popcount(mind.out[TRUMPS])
    if num_out == 0:
        return 0.0
    style = mind.style
    worth = style.draw_trumps if num_mine > num_out else style.trump_lead
    courts = masters = 0
    for suit in range(NUM_SUITS):
        courts += popcount(mind.mine[suit] >> JACK_STRENGTH)
        masters += mind.mine[suit] > mind.out[suit]
    worth += style.trump_lead_length * num_mine + style.trump_lead_early * int(mind.left)
    worth += style.trump_lead_courts * courts + style.trump_lead_masters * masters
    return float(worth)


@kernel
def suit_lead_worth(mind: Any, suit: int) -> float:
    """Judge leading a suit: the longest forces out trumps and makes its last cards good, and so do voids behind me."""
    if suit == TRUMPS:
        return trump_lead_worth(mind)
    style = mind.style
    worth = style.long_suit * popcount(mind.mine[suit]) - style.out_of_suit * popcount(mind.out[suit])
    return float(worth + style.void_behind * mind.voids[suit] + style.ruffer_behind * mind.ruffers[suit])


@kernel
def card_lead_worth(mind: Any, rules: Any, card: int) -> float:
    """Judge a lead within its suit: what it wins if it holds, less what the card would bring later."""
    style = mind.style
    worth = -kept_worth(mind, rules, card)
    if card == FOOL:
        last_call = rules.fool_lost_in_last_trick and mind.left == LAST_BUT_ONE
        return float(style.last_call) if last_call else worth
    suit = int(SUIT[card])
    gain = points(rules, card) + (1.0 if suit == TRUMPS else style.initiative)
    worth += hold_chance(mind, rules, card, suit) * gain
    if suit == TRUMPS:
        return worth
    if strands_court(mind, card):
        worth -= style.stranded
    elif STRENGTH[card] >= JACK_STRENGTH and mind.out[TRUMPS]:
        worth += style.court_lead * points(rules, card)
    return worth


@kernel
def lead_worth(mind: Any, rules: Any, card: int) -> float:
    """Judge a lead."""
    worth = card_lead_worth(mind, rules, card)
    return worth if card == FOOL else worth + suit_lead_worth(mind, int(SUIT[card]))


@kernel
def most_lead_worth(mind: Any, suit: int) -> float:
    """Return what no lead of a suit can be worth more than: no card would bring less than nothing if it were kept."""
    worth: float = mind.suit_lead[suit]
    if suit == TRUMPS:
        return worth + _TOP_TRUMP + 1
    worth += mind.style.initiative
    return worth + (1 + mind.style.court_lead) * _TOP_COURT if mind.mine[suit] >> JACK_STRENGTH else worth + _PIP


@kernel
def best_lead(game: Any, rules: Any, mind: Any) -> int:
    """Return the lead worth most, the first among equals: suit by suit, until none is left that could hold a better."""
    plain, tarocchi = lowest_pips(game.legal[0]), int(game.legal[1])
    best, best_worth = -1, -np.inf
    if tarocchi & FOOL_BIT:
        best, best_worth = FOOL, card_lead_worth(mind, rules, FOOL)
    for suit in range(NUM_SUITS + 1):
        mind.promise[suit] = -np.inf
        if mind.mine[suit]:
            mind.suit_lead[suit] = suit_lead_worth(mind, suit)
            mind.promise[suit] = most_lead_worth(mind, suit)
    while True:
        suit = 0
        for other in range(1, NUM_SUITS + 1):
            if mind.promise[other] > mind.promise[suit]:
                suit = other
        if mind.promise[suit] < best_worth or mind.promise[suit] == -np.inf:
            return best
        mind.promise[suit] = -np.inf
        rest = tarocchi & ALL_TRUMPS if suit == TRUMPS else plain >> (SUIT_SIZE * suit) & SUIT_BITS
        while rest:
            card = lowest_bit(rest) + SUIT_SIZE * suit
            rest &= rest - 1
            worth = card_lead_worth(mind, rules, card) + mind.suit_lead[suit]
            if worth > best_worth or (worth == best_worth and card < best):
                best, best_worth = card, worth


@kernel
def follow_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a card played to the trick: what it wins if it holds, less what it would bring later."""
    worth = -kept_worth(mind, rules, card)
    if card == FOOL:
        return worth
    if takes(game, rules, card):
        gain = mind.table + points(rules, card) + mind.style.next_lead
        worth += hold_chance(mind, rules, card, int(game.led_suit)) * gain
    elif strands_court(mind, card):
        worth -= mind.style.stranded
    return worth


@kernel
def card_worth(game: Any, rules: Any, card: int, mind: Any) -> float:
    """Judge a legal card by the rules of its moment."""
    if game.phase == DISCARD:
        return discard_worth(game, rules, card, mind)
    if game.led_suit == NO_SUIT:
        return lead_worth(mind, rules, card)
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
def lowest_pips(plain: int) -> int:
    """Return a set of plain cards without the pips whose next lower pip is in it, which is never worth less."""
    return plain & ~(plain << 1 & _HIGHER_PIPS)


@kernel
def heuristic_card(game: Any, rules: Any, mind: Any) -> int:
    """Return the card worth most to the seat to act, 0 if none is legal; ``mind`` is overwritten."""
    best = only_card(game)
    if best >= 0:
        return best
    note_position(game, rules, mind)
    if game.phase != DISCARD and game.led_suit == NO_SUIT:
        return best_lead(game, rules, mind)
    best_worth = -np.inf
    for word in range(2):
        rest = game.legal[1] if word else lowest_pips(game.legal[0])
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

    Attributes:
        style: the numbers that the rules weigh by.
    """

    style: ClassVar[NDArray[Any]] = HEURISTIC

    def __init__(self, rules: str | Rules = "scarto", seed: int = 0) -> None:
        self.rules = as_rules(rules)
        self.seed = seed

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"{type(self).__name__}({self.rules!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the card worth most each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        row = np.zeros(1, GAME).view(np.recarray)
        heuristic_cards(observation, action_mask, rules_table(self.rules), row, new_mind(self.style), cards)
        return cards


class ExpertBot(HeuristicBot):
    """Plays by the heuristic's rules with other numbers, an answer to it: the strongest player by rules alone."""

    style = EXPERT
