"""Rebuild from an observation the part of a game's row that the viewer knows.

The viewer becomes seat 0.  Other hands, a talon taken up and cards laid away by another stay empty: kernels
that read such a row cannot read what is hidden.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarto_env.cards import (
    ALL_TRUMPS,
    BAGATTO_BIT,
    FIRST_TRUMP,
    FOOL_BIT,
    NO_CARD,
    NO_SUIT,
    NUM_CARDS,
    NUM_SUITS,
    NUM_TRUMPS,
    SUIT_BITS,
    SUIT_SIZE,
)
from scarto_env.jit import kernel, lowest_bit
from scarto_env.observation import NUM_LED
from scarto_env.rules import THIRDS
from scarto_env.state import DISCARD, NO_SEAT, OVER, PLAY


@kernel
def bits(vector: Any, start: int, size: int) -> int:
    """Return ``size`` entries of 0 or 1 from ``start`` on as a word."""
    word = 0
    for place in range(size):
        word |= int(vector[start + place]) << place
    return word


@kernel
def first_set(vector: Any, start: int, size: int) -> int:
    """Return the place of the first entry that is not 0, or -1."""
    for place in range(size):
        if vector[start + place]:
            return place
    return -1


@kernel
def read_cards(vector: Any, start: int, out: Any) -> None:
    """Read 78 entries of 0 or 1 as the two words of a set."""
    out[0] = bits(vector, start, FIRST_TRUMP)
    out[1] = bits(vector, start + FIRST_TRUMP, NUM_CARDS - FIRST_TRUMP)


@kernel
def recall(observation: Any, mask: Any, rules: Any, game: Any) -> None:
    """Write what the viewer knows into a row, the viewer being seat 0 and the one to act.

    Left alone: the random streams, piles and their sizes (``recall_piles``), scores and totals of the match.

    Args:
        observation: [D] int8.
        mask: [78] int8, becomes ``game.legal``.
        rules: record of ``rules_table``.
        game: row, written in place.
    """
    players = int(rules.players)
    read_cards(mask, 0, game.legal)
    read_cards(observation, 0, game.hand[0])
    read_cards(observation, NUM_CARDS, game.talon)
    read_cards(observation, 2 * NUM_CARDS, game.discarded)
    start = 3 * NUM_CARDS
    game.lacks[0, 0] = 0
    game.lacks[0, 1] = 0
    for seat in range(players):
        read_cards(observation, start, game.played[seat])
        start += NUM_CARDS
        if seat:
            game.hand[seat, 0] = 0
            game.hand[seat, 1] = 0
    read_cards(observation, start, game.trick_cards)
    start += NUM_CARDS
    for seat in range(1, players):
        lacks = np.int64(0)
        for suit in range(NUM_SUITS):
            if observation[start + suit]:
                lacks |= SUIT_BITS << (SUIT_SIZE * suit)
        start += NUM_LED
        game.lacks[seat, 0] = lacks
    for seat in range(1, players):
        game.lacks[seat, 1] = bits(observation, start, NUM_TRUMPS)
        start += NUM_TRUMPS
    recall_place(observation, start, players, game)
    game.seat = 0
    game.num_discarded = 0
    recall_table(game, rules)
    recall_discard(game, rules)


@kernel
def recall_place(observation: Any, start: int, players: int, game: Any) -> None:
    """Write how far the deal has come, from the section ``led_suit`` on."""
    led_suit = first_set(observation, start, NUM_LED)
    game.led_suit = NO_SUIT if led_suit < 0 else led_suit
    start += NUM_LED
    game.best_seat = first_set(observation, start, players)
    game.dealer = first_set(observation, start + players, players)
    game.leader = first_set(observation, start + 2 * players, players)
    start += 3 * players
    game.phase = DISCARD if observation[start] else (OVER if observation[start + 1] else PLAY)
    start += 2
    for card in range(NUM_CARDS):
        game.trick_of[card] = observation[start + card]
    start += NUM_CARDS
    game.trick = observation[start]
    for seat in range(players):
        game.points[seat] = THIRDS * int(observation[start + 1 + seat]) + observation[start + 1 + players + seat]


@kernel
def recall_table(game: Any, rules: Any) -> None:
    """Write who has which card on the table, and what follows from it."""
    game.turn = 0
    game.trick_value = 0
    game.best_power = -1
    game.fool_seat = NO_SEAT
    for seat in range(rules.players):
        plain = game.trick_cards[0] & game.played[seat, 0]
        tarocchi = game.trick_cards[1] & game.played[seat, 1]
        game.table[seat] = NO_CARD
        if plain:
            game.table[seat] = lowest_bit(plain)
        elif tarocchi:
            game.table[seat] = FIRST_TRUMP + lowest_bit(tarocchi)
        else:
            continue
        game.turn += 1
        if tarocchi & FOOL_BIT:
            game.fool_seat = seat
        else:
            game.trick_value += rules.value[game.table[seat]]
    if game.best_seat != NO_SEAT:
        game.best_power = rules.power[game.table[game.best_seat]]


@kernel
def recall_discard(game: Any, rules: Any) -> None:
    """Write, for a viewer that deals, how far the exchange has come and what may be laid away (A8, A9)."""
    game.discardable[0] = 0
    game.discardable[1] = 0
    if game.dealer != 0:
        return
    discarded = game.discarded
    for word in range(2):
        left = discarded[word]
        while left:
            left &= left - 1
            game.num_discarded += 1
    plain = game.hand[0, 0] | discarded[0] | game.played[0, 0]
    tarocchi = game.hand[0, 1] | discarded[1] | game.played[0, 1]
    trumps = ALL_TRUMPS | FOOL_BIT if rules.bagatto_fool_blocks else ALL_TRUMPS
    never = rules.never_discard[1]
    if tarocchi & trumps & ~BAGATTO_BIT:
        never |= BAGATTO_BIT
    game.discardable[0] = plain & ~rules.never_discard[0]
    game.discardable[1] = tarocchi & ~never
