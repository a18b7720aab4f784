"""What the holder of a hand can work out: cards still out, who is void, who can still beat a card.

``note_position`` fills a ``MIND`` record from a game's row and reads of the row only what the seat to act may
know: its own hand, every card played, what others have shown to lack, the trick, and as dealer the discard.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.style import HEURISTIC, STYLE
from scarto_env.cards import (
    ALL_TRUMPS,
    FIRST_TRUMP,
    FOOL_BIT,
    JACK_STRENGTH,
    NO_SUIT,
    NUM_SUITS,
    STRENGTH,
    SUIT,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, popcount
from scarto_env.state import NO_SEAT

NUM_CARDS_FULL: Final = 78
COUNT_OFF: Final = 2 / 3
"""What the count by threes takes off a card (A19), to judge by; the count itself is the engine's."""
_FULL_PLAIN = (1 << FIRST_TRUMP) - 1
_PICCOLO_SUIT = SUIT_BITS & ~((1 << (JACK_STRENGTH - 1)) - 1)
_PICCOLO_PLAIN = sum(_PICCOLO_SUIT << (SUIT_SIZE * suit) for suit in range(NUM_SUITS))

MIND: Final = np.dtype(
    [
        ("mine", np.int64, (NUM_SUITS + 1,)),  # my cards of each suit, then trumps: a bit a strength
        ("out", np.int64, (NUM_SUITS + 1,)),  # cards I have not seen, the same way
        ("voids", np.int64, (NUM_SUITS,)),  # seats still to play to this trick that cannot hold the suit
        ("ruffers", np.int64, (NUM_SUITS,)),  # those of them that may hold a trump
        ("trumps_behind", np.int64),  # trumps that some seat still to play may hold
        ("behind", np.int64),  # seats still to play to this trick after me
        ("left", np.int64),  # tricks left, this one included
        ("table", np.float32),  # points on the table, each card's count by threes taken off
        ("suit_lead", np.float64, (NUM_SUITS + 1,)),  # what leading a suit is worth, whatever the card
        ("promise", np.float64, (NUM_SUITS + 1,)),  # what no lead of the suit can be worth more than
        ("style", STYLE),  # the numbers of the player who judges
    ],
    align=True,
)
"""Notes on one position, and who takes them."""


def new_mind(*styles: NDArray[Any]) -> np.recarray[Any, Any]:
    """Return an empty record of notes for each style of a player, one of the heuristic's if none is given."""
    numbers = np.stack(styles or (HEURISTIC,))
    mind = np.zeros(len(numbers), MIND).view(np.recarray)
    mind["style"] = numbers
    return mind


@kernel
def deck_words(rules: Any) -> tuple[int, int]:
    """Return the deck as a set of two words."""
    plain = _FULL_PLAIN if rules.deck_size == NUM_CARDS_FULL else _PICCOLO_PLAIN
    return plain, ALL_TRUMPS | FOOL_BIT


@kernel
def note_cards(game: Any, rules: Any, mind: Any) -> None:
    """Note, suit by suit, the cards held and the cards not seen."""
    seat = int(game.seat)
    plain, tarocchi = deck_words(rules)
    trumps = tarocchi & ALL_TRUMPS
    for other in range(rules.players):
        plain &= ~game.played[other, 0]
        trumps &= ~game.played[other, 1]
    held = game.hand[seat, 0]
    plain &= ~held
    trumps &= ~game.hand[seat, 1]
    if seat == game.dealer:
        plain &= ~game.discarded[0]
        trumps &= ~game.discarded[1]
    for suit in range(NUM_SUITS):
        mind.mine[suit] = held & SUIT_BITS
        mind.out[suit] = plain & SUIT_BITS
        held >>= SUIT_SIZE
        plain >>= SUIT_SIZE
    mind.mine[TRUMPS] = game.hand[seat, 1] & ALL_TRUMPS
    mind.out[TRUMPS] = trumps


@kernel
def note_position(game: Any, rules: Any, mind: Any) -> None:
    """Note all that the seat to act can work out about the trick on the table."""
    note_cards(game, rules, mind)
    players = int(rules.players)
    mind.left = rules.tricks - game.trick
    mind.behind = players - 1 - game.turn
    fool = game.fool_seat != NO_SEAT
    mind.table = game.trick_value - COUNT_OFF * (game.turn - fool)
    trumps_behind = np.int64(0)
    for suit in range(NUM_SUITS):
        mind.voids[suit] = 0
        mind.ruffers[suit] = 0
    seat = int(game.seat)
    for _ in range(mind.behind):
        seat = seat + 1 if seat + 1 < players else 0
        trumps = mind.out[TRUMPS] & ~game.lacks[seat, 1]
        trumps_behind |= trumps
        lacks = game.lacks[seat, 0]
        for suit in range(NUM_SUITS):
            if lacks & SUIT_BITS == SUIT_BITS or mind.out[suit] == 0:
                mind.voids[suit] += 1
                mind.ruffers[suit] += trumps != 0
            lacks >>= SUIT_SIZE
    mind.trumps_behind = trumps_behind


@kernel
def points(rules: Any, card: int) -> float:
    """Return what a card brings the pile it falls to: its value less its part of the count by threes."""
    return int(rules.value[card]) - COUNT_OFF


@kernel
def higher_out(mind: Any, rules: Any, card: int) -> int:
    """Return how many cards not seen beat ``card`` within its suit."""
    if card >= FIRST_TRUMP:
        return popcount(mind.out[TRUMPS] & rules.higher[card - FIRST_TRUMP + 1])
    return popcount(mind.out[card // SUIT_SIZE] >> STRENGTH[card])


@kernel
def takes(game: Any, rules: Any, card: int) -> bool:
    """Return whether ``card`` would be winning the trick once played (A16)."""
    suit = SUIT[card]
    if suit == NO_SUIT:
        return False
    if game.led_suit == NO_SUIT:
        return True
    return bool(rules.power[card] > game.best_power and (suit == game.led_suit or suit == TRUMPS))
