"""How likely the others would have played as seen in an imagined world.

Every choice of another seat is judged on the hand that the world gives it: the nearer the card's worth to the best
one's, the likelier.  A seat may also play by other lights: its choices are weighed as a whole by two kinds of
player, so that one surprising card does not rule a world out, and many tell that the heuristic's rules say little of
that seat's cards.

What is public about a choice is replayed once for a decision, not once for a world.  The worth of the cards of a suit
depends on the seat's cards of that suit and on little else, and the same holdings come again in many worlds: what a
suit adds to a choice is worked out once and kept.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from scarto_env.bots.heuristic import card_worth
from scarto_env.bots.history import MOST_PLAYS, rewind, rewind_to_discard
from scarto_env.bots.knowledge import note_position
from scarto_env.cards import (
    ALL_TRUMPS,
    FIRST_TRUMP,
    FOOL,
    FOOL_BIT,
    NO_CARD,
    NO_SUIT,
    NUM_SUITS,
    SUIT,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.play import act, play, set_legal
from scarto_env.state import MAX_PLAYERS

TEMPERATURE: Final = 1.0
"""Points of worth by which a choice falls short that is e times less likely; 0.5 and 2 measured no better."""
STRAY: Final = 0.1
"""Share of choices that a player by the heuristic's rules is taken to make by other lights."""
LOOSE: Final = 0.9
"""The same of a player of the other kind."""
NUM_KINDS: Final = 2
_FAR: Final = 30.0
"""Differences in worth, in temperatures, that need no exponential."""
_SLOTS: Final = 32
"""Holdings of a suit kept for a choice; after the last choice for laying away."""
_SPREAD: Final = 0x9E3779B1
_SHIFT: Final = 20
_WIDE: Final = 21
"""Bits of a suit in a key: the trumps are the longest."""

PAST: Final = np.dtype(
    [
        ("number", np.int64),  # choices of the others so far
        ("card", np.int64, (MOST_PLAYS + 1,)),  # chosen, by choice
        ("order", np.int64, (MOST_PLAYS,)),  # in which choices are judged: leads, which tell most, first
        ("share", np.float64, (MAX_PLAYERS, NUM_KINDS)),  # likelihood of a seat's choices by kind of player
        ("trial", np.float64, (MAX_PLAYERS, NUM_KINDS)),  # the same in the world being judged
        ("key", np.int64, (MOST_PLAYS + 1, NUM_SUITS + 1, _SLOTS, 2)),  # what the worth of a suit's cards depends on
        ("peak", np.float64, (MOST_PLAYS + 1, NUM_SUITS + 1, _SLOTS)),  # the highest of them
        ("own", np.float64, (MOST_PLAYS + 1, NUM_SUITS + 1, _SLOTS)),  # the worth of the chosen card, if it is one
        ("mass", np.float64, (MOST_PLAYS + 1, NUM_SUITS + 1, _SLOTS)),  # sum of their exponentials below the peak
    ],
    align=True,
)
"""The choices of the others up to now, and what has been worked out about them."""


def new_past() -> np.recarray[Any, Any]:
    """Return one empty record of choices."""
    return np.zeros(1, PAST).view(np.recarray)


@kernel
def list_choices(game: Any, rules: Any, plays: Any, scratch: Any, moments: Any, past: Any) -> None:
    """Write to ``moments`` the row before each choice of another seat, as far as it is public.

    Args:
        game: recalled row, the viewer being seat 0.
        rules: record of ``rules_table``.
        plays: what ``list_plays`` wrote.
        scratch: row.
        moments: rows, ``MOST_PLAYS`` of them.
        past: gets number, cards and order of the choices, and forgets what it held.
    """
    players = int(rules.players)
    past.number = 0
    for seat in range(players):
        for kind in range(NUM_KINDS):
            past.share[seat, kind] = 1
    forget(past, MOST_PLAYS)
    past.card[MOST_PLAYS] = NO_CARD
    rewind(game, rules, scratch)
    card = plays[scratch.seat]
    while card >= 0:
        if scratch.seat != 0:
            moments[past.number] = scratch
            past.card[past.number] = card
            forget(past, past.number)
            past.number += 1
        play(scratch, rules, card)
        card = plays[scratch.trick * players + scratch.seat]
    place = 0
    for leads in range(1, -1, -1):
        for choice in range(past.number):
            if (moments[choice].turn == 0) == leads:
                past.order[place] = choice
                place += 1


@kernel
def fill_moment(moment: Any, rules: Any, world: Any) -> None:
    """Give the seat of a choice what it held and knew in a world, and what it might play."""
    seat = int(moment.seat)
    for word in range(2):
        held = world.hand[seat, word] | world.played[seat, word]
        moment.hand[seat, word] = held & ~moment.played[seat, word]
        moment.discarded[word] = world.discarded[word]
        moment.talon[word] = world.talon[word]
    set_legal(moment, rules)


@kernel
def forget(past: Any, choice: int) -> None:
    """Empty all slots of a choice."""
    for suit in range(NUM_SUITS + 1):
        for slot in range(_SLOTS):
            past.key[choice, suit, slot, 0] = -1


@kernel
def suit_of_set(words: Any, suit: int) -> int:
    """Return the cards of a suit, or the trumps, in a set, a bit a strength."""
    if suit == TRUMPS:
        return int(words[1]) & ALL_TRUMPS
    return int(words[0]) >> (SUIT_SIZE * suit) & SUIT_BITS


@kernel
def judged_suit(moment: Any, rules: Any, mind: Any, past: Any, choice: int, suit: int, temperature: float) -> int:
    """Return the slot that holds what the legal cards of a suit add to a choice, working it out if it is not kept.

    ``mind`` holds the notes on ``moment``.  The heuristic judges a card by the holding of its suit, by who may ruff
    it and whether trumps are out at all; a trump by the trumps and the suit led.  (The expert looks at the courts of
    all suits before it leads a trump; in the heuristic's numbers that counts nothing.)
    """
    legal = suit_of_set(moment.legal, suit)
    led = int(moment.led_suit)
    watched = led if suit == TRUMPS and led < NUM_SUITS else suit
    flags = 2 * (mind.trumps_behind != 0) + (mind.out[TRUMPS] != 0)
    if watched < NUM_SUITS:
        flags += 16 * mind.voids[watched] + 4 * mind.ruffers[watched]
    first = mind.mine[suit] | mind.out[suit] << _WIDE
    second = legal | mind.out[watched] << _WIDE | flags << (2 * _WIDE)
    slot: int = ((first ^ second * 5) * _SPREAD >> _SHIFT) & (_SLOTS - 1)
    if past.key[choice, suit, slot, 0] == first and past.key[choice, suit, slot, 1] == second:
        return slot
    past.key[choice, suit, slot, 0] = first
    past.key[choice, suit, slot, 1] = second
    peak, mass = -np.inf, 0.0
    chosen = past.card[choice]
    first_of_suit = SUIT_SIZE * suit
    rest = legal
    while rest:
        card = lowest_bit(rest) + first_of_suit
        rest &= rest - 1
        worth = card_worth(moment, rules, card, mind)
        if card == chosen:
            past.own[choice, suit, slot] = worth
        peak, mass = heaped(peak, mass, worth, 1.0, temperature)
    past.peak[choice, suit, slot] = peak
    past.mass[choice, suit, slot] = mass
    return slot


@kernel
def heaped(peak: float, mass: float, worth: float, number: float, temperature: float) -> tuple[float, float]:
    """Return a sum of exponentials, ``mass`` times that of ``peak``, with ``number`` times that of ``worth`` added."""
    difference = (worth - peak) / temperature
    if difference <= 0:
        return peak, mass + number * math.exp(difference) if difference > -_FAR else mass
    return worth, number + mass * math.exp(-difference) if difference < _FAR else number


@kernel
def judged(
    moment: Any, rules: Any, mind: Any, past: Any, choice: int, temperature: float
) -> tuple[float, float, float]:  # fmt: skip
    """Return peak and mass of all legal cards, and the worth of the chosen; ``mind`` holds the notes on ``moment``."""
    peak, mass, own = -np.inf, 0.0, 0.0
    chosen = SUIT[past.card[choice]]
    for suit in range(NUM_SUITS + 1):
        if suit_of_set(moment.legal, suit):
            slot = judged_suit(moment, rules, mind, past, choice, suit, temperature)
            if mass == 0:
                peak, mass = past.peak[choice, suit, slot], past.mass[choice, suit, slot]
            else:
                peak, mass = heaped(
                    peak, mass, past.peak[choice, suit, slot], past.mass[choice, suit, slot], temperature
                )
            if suit == chosen:
                own = past.own[choice, suit, slot]
    if moment.legal[1] & FOOL_BIT:
        worth = card_worth(moment, rules, FOOL, mind)
        if chosen == NO_SUIT:
            own = worth
        peak, mass = heaped(peak, mass, worth, 1.0, temperature)
    return peak, mass, own


@kernel
def weigh(past: Any, seat: int, share: float, num_legal: int, stray: float) -> None:
    """Multiply a seat's likelihood by that of one choice, for either kind of player."""
    past.trial[seat, 0] *= (1 - stray) * share + stray / num_legal
    past.trial[seat, 1] *= (1 - LOOSE) * share + LOOSE / num_legal


@kernel
def together(past: Any, players: int, doubt: float) -> float:
    """Return the likelihood of all seats' choices, each seat being of the other kind with chance ``doubt``."""
    total = 1.0
    for seat in range(1, players):
        total *= (1 - doubt) * past.trial[seat, 0] + doubt * past.trial[seat, 1]
    return total


@kernel
def weigh_discard(
    world: Any, rules: Any, scratch: Any, mind: Any, past: Any, temperature: float, stray: float
) -> None:  # fmt: skip
    """Weigh the world's discard, laid away in the order that the heuristic would take, for its dealer."""
    rewind_to_discard(world, rules, scratch)
    for _ in range(rules.talon_size):
        note_position(scratch, rules, mind)
        best, best_worth = -1, -np.inf
        for word in range(2):
            rest = world.discarded[word] & ~scratch.discarded[word]
            while rest:
                card = lowest_bit(rest) + FIRST_TRUMP * word
                rest &= rest - 1
                worth = card_worth(scratch, rules, card, mind)
                if worth > best_worth:
                    best, best_worth = card, worth
        peak, mass, _ = judged(scratch, rules, mind, past, MOST_PLAYS, temperature)
        share = math.exp((best_worth - peak) / temperature) / mass
        num_legal = popcount(scratch.legal[0]) + popcount(scratch.legal[1])
        weigh(past, int(world.dealer), share, num_legal, stray)
        act(scratch, rules, best)


@kernel
def likelihood(
    world: Any, known: Any, rules: Any, scratch: Any, moments: Any, mind: Any, past: Any,
    temperature: float, stray: float, doubt: float, floor: float,
) -> float:  # fmt: skip
    """Return the likelihood of all that the other seats did, in an imagined world; 1 before the first trick.

    Every choice can only lower it: once it is below ``floor`` what it would come to is not worked out.  What it is
    by seat and kind is left in ``past.trial``.

    Args:
        world: full row, the viewer being seat 0.
        known: a world judged before, whose likelihoods ``past.share`` holds; the recalled row if there is none.
        rules: record of ``rules_table``.
        scratch: row.
        moments: what ``list_choices`` wrote.
        mind: scratch notes.
        past: the same.
        temperature: points of worth by which a choice e times less likely falls short.
        stray: share of choices made by other lights, of a player by the heuristic's rules.
        doubt: chance that a seat is a player of the other kind.
        floor: below this any number does.
    """
    players = int(rules.players)
    open_seats = 0
    dealer = int(world.dealer)
    for seat in range(1, players):
        same = world.hand[seat, 0] == known.hand[seat, 0] and world.hand[seat, 1] == known.hand[seat, 1]
        if seat == dealer:
            same &= world.discarded[0] == known.discarded[0] and world.discarded[1] == known.discarded[1]
        open_seats |= (not same) << seat
        for kind in range(NUM_KINDS):
            past.trial[seat, kind] = past.share[seat, kind] if same else 1.0
    for place in range(past.number):
        choice = past.order[place]
        moment = moments[choice]
        seat = int(moment.seat)
        if not open_seats >> seat & 1:
            continue
        fill_moment(moment, rules, world)
        num_legal = popcount(moment.legal[0]) + popcount(moment.legal[1])
        if num_legal > 1:
            note_position(moment, rules, mind)
            peak, mass, own = judged(moment, rules, mind, past, choice, temperature)
            share = math.exp((own - peak) / temperature) / mass
            weigh(past, seat, share, num_legal, stray)
            total = together(past, players, doubt)
            if total < floor:
                return total
    if open_seats >> dealer & 1:
        weigh_discard(world, rules, scratch, mind, past, temperature, stray)
    return together(past, players, doubt)
