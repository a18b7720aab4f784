"""What a policy network sees: an observation turned into planes of cards with the suits in canonical order.

The four suits are alike in the rules, so they are sorted by the cards dealt to me: one hand has one
picture, whichever suits it was dealt in.  The order depends on dealt cards alone and holds for the whole deal.
Features are computed from the observation and the rules, so nothing hidden can reach the network.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.cards import FIRST_TRUMP, FOOL, NO_CARD, NUM_CARDS, NUM_SUITS, NUM_TRUMPS, SUIT, SUIT_SIZE, TRUMPS
from scarto_env.jit import kernel
from scarto_env.observation import NUM_LED, offsets
from scarto_env.rules import MAX_PLAYERS

FEATURES_VERSION: Final = 1

MOST_TRICKS: Final = 25
LANE: Final = 32
"""The number of features is a multiple of this, which matrix units like."""

_SECTIONS: Final = ("hand", "discard", "played", "table", "void", "trumps_lacked", "led_suit", "winning",
                    "dealer", "leader", "discarding", "trick_of", "tricks_done", "points")  # fmt: skip
(_HAND, _DISCARD, _PLAYED, _TABLE, _VOID, _LACKED, _LED, _WINNING, _DEALER, _LEADER, _DISCARDING, _TRICK_OF,
 _TRICKS_DONE, _POINTS) = range(len(_SECTIONS))  # fmt: skip


def num_planes(players: int) -> int:
    """Return the number of planes of 78 cards.

    Hand; away (played or laid away by me); played by each other seat; on the table by each other seat; what would
    take the trick now; masters; higher cards unseen; what each other seat may hold.
    """
    return 5 + 3 * (players - 1)


def num_globals(players: int) -> int:
    """Return the number of single features: those after the planes."""
    others = players - 1
    return others * NUM_LED + NUM_LED + 4 * players + 3 + MOST_TRICKS + NUM_LED * players + players + NUM_LED


def num_features(players: int) -> int:
    """Return F, the length of the feature vector, padded with zeros to a multiple of ``LANE``."""
    used = num_planes(players) * NUM_CARDS + num_globals(players)
    return -(-used // LANE) * LANE


def feature_scale(players: int) -> NDArray[np.float32]:
    """Return [F] float32: the network sees features times this, so that counts are of the size of flags."""
    scale = np.ones(num_features(players), np.float32)
    higher = (2 + 2 * (players - 1) + 2) * NUM_CARDS
    scale[higher : higher + NUM_CARDS] = 1 / 8
    start = num_planes(players) * NUM_CARDS
    others = players - 1
    start += others * NUM_LED + NUM_LED + 4 * players
    scale[start + 1] = 1 / 3  # cards laid away
    scale[start + 2] = 1 / 15  # thirds on the table
    start += 3 + MOST_TRICKS
    scale[start : start + NUM_LED * players] = 1 / 2  # leads
    start += NUM_LED * players
    scale[start : start + players] = 1 / 30  # points
    scale[start + players : start + players + NUM_LED] = 1 / 8  # lengths
    return scale


def section_starts(players: int) -> NDArray[np.int64]:
    """Return where the observation's sections that ``encode`` reads start."""
    return np.array([offsets(players)[name] for name in _SECTIONS], np.int64)


@kernel
def suit_order(observation: Any, starts: Any, order: Any) -> None:
    """Write the suits from the longest dealt to me to the shortest, ties by their highest cards, into ``order`` [4]."""
    for place in range(NUM_SUITS):
        order[place] = place
    keys = (np.int64(0), np.int64(0), np.int64(0), np.int64(0))
    first = suit_key(observation, starts, 0)
    second = suit_key(observation, starts, 1)
    third = suit_key(observation, starts, 2)
    fourth = suit_key(observation, starts, 3)
    keys = (first, second, third, fourth)
    for place in range(1, NUM_SUITS):
        suit = int(order[place])
        gap = place
        while gap > 0 and keys[int(order[gap - 1])] < keys[suit]:
            order[gap] = order[gap - 1]
            gap -= 1
        order[gap] = suit


@kernel
def suit_key(observation: Any, starts: Any, suit: int) -> int:
    """Return the number by which suits are sorted: cards of the suit dealt to me, then which."""
    key = np.int64(0)
    base = suit * SUIT_SIZE
    for strength in range(SUIT_SIZE):
        card = base + strength
        dealt = (
            observation[starts[_HAND] + card]
            | observation[starts[_DISCARD] + card]
            | observation[starts[_PLAYED] + card]
        )
        if dealt:
            key += (1 << strength) + (1 << SUIT_SIZE)
    return key


@kernel
def canonical_card(card: int, place_of: Any) -> int:
    """Return the place of a card once suits are in canonical order."""
    if card >= FIRST_TRUMP:
        return card
    suit = card // SUIT_SIZE
    return card + (int(place_of[suit]) - suit) * SUIT_SIZE


@kernel
def original_card(place: int, order: Any) -> int:
    """Return the card at a place of the canonical order."""
    if place >= FIRST_TRUMP:
        return place
    suit = place // SUIT_SIZE
    return place + (int(order[suit]) - suit) * SUIT_SIZE


@kernel
def count_leads(observation: Any, starts: Any, rules: Any, place_of: Any, grid: Any, out: Any, base: int) -> None:
    """Add to ``out`` from ``base`` on, [P, 5], how often each seat has led each suit."""
    players = int(rules.players)
    done = int(observation[starts[_TRICKS_DONE]])
    for trick in range(done + 1):
        for seat in range(players):
            grid[trick, seat] = NO_CARD
    for seat in range(players):
        played = starts[_PLAYED] + seat * NUM_CARDS
        for card in range(NUM_CARDS):
            if observation[played + card]:
                grid[int(observation[starts[_TRICK_OF] + card]) - 1, seat] = card
    leader = 0
    for seat in range(players):
        if observation[starts[_DEALER] + seat]:
            leader = (seat + 1) % players
    for trick in range(done + 1):
        if grid[trick, leader] == NO_CARD:
            return
        suit = int(SUIT[grid[trick, leader]])
        if suit <= TRUMPS:
            place = int(place_of[suit]) if suit < TRUMPS else suit
            out[base + leader * NUM_LED + place] += 1
        leader = trick_winner(grid[trick], leader, rules)


@kernel
def trick_winner(cards: Any, leader: int, rules: Any) -> int:
    """Return the relative seat that takes the trick of ``cards`` by relative seat (A16); the leader if none can."""
    players = int(rules.players)
    best = leader
    power = -1
    led = -1
    for turn in range(players):
        seat = (leader + turn) % players
        card = int(cards[seat])
        if card == NO_CARD or card == FOOL:
            continue
        suit = int(SUIT[card])
        if led < 0:
            led = suit
        if (suit == led or suit == TRUMPS) and rules.power[card] > power:
            power = int(rules.power[card])
            best = seat
    return best


@kernel
def write_planes(observation: Any, starts: Any, rules: Any, order: Any, out: Any) -> int:
    """Write the planes of one row into ``out`` and return the thirds of a point on the table."""
    players = int(rules.players)
    others = players - 1
    away = NUM_CARDS
    theirs = 2 * NUM_CARDS
    table = theirs + others * NUM_CARDS
    beats = table + others * NUM_CARDS
    master = beats + NUM_CARDS
    higher = master + NUM_CARDS
    may_hold = higher + NUM_CARDS
    led = -1
    for suit in range(NUM_LED):
        if observation[starts[_LED] + suit]:
            led = suit
    winning = 0
    for seat in range(players):
        if observation[starts[_WINNING] + seat]:
            winning = seat
    best_power = -1
    thirds = 0
    in_deck = starts[_TRICK_OF]  # only read where a card has been seen or is in the deck
    for place in range(NUM_CARDS):
        card = original_card(place, order)
        seen = int(observation[starts[_HAND] + card])
        out[place] = seen
        mine = int(observation[starts[_DISCARD] + card] | observation[starts[_PLAYED] + card])
        out[away + place] = mine
        on_table = int(observation[starts[_TABLE] + card])
        seen |= mine
        for other in range(others):
            played = int(observation[starts[_PLAYED] + (other + 1) * NUM_CARDS + card])
            out[theirs + other * NUM_CARDS + place] = played
            out[table + other * NUM_CARDS + place] = played & on_table
            seen |= played
            if played & on_table and other + 1 == winning:
                best_power = int(rules.power[card])
        if on_table:
            thirds += 3 * int(rules.value[card]) - 2
        unseen = 0 if seen or not rules.in_deck[card] else 1
        for other in range(others):
            lacked = 0
            if card < FIRST_TRUMP:
                lacked = int(observation[starts[_VOID] + other * NUM_LED + card // SUIT_SIZE])
            elif card < FOOL:
                lacked = int(observation[starts[_LACKED] + other * NUM_TRUMPS + card - FIRST_TRUMP])
            out[may_hold + other * NUM_CARDS + place] = unseen & (1 - lacked)
        out[beats + place] = unseen  # kept here until the next loop
    return thirds + in_deck * 0 + led * 0 + best_power * 0
