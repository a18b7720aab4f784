"""What a policy network sees: an observation turned into planes of cards with the suits in canonical order.

The four suits are alike in the rules, so they are sorted by the cards dealt to me: one hand has one
picture, whichever suits it was dealt in.  The order depends on dealt cards alone and holds for the whole deal.
Features are computed from the observation and the rules, so nothing hidden can reach the network.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarto_env.cards import (
    ALL_TRUMPS,
    FIRST_TRUMP,
    FOOL,
    NO_CARD,
    NUM_CARDS,
    NUM_SUITS,
    NUM_TRUMPS,
    SUIT,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.observation import NUM_LED, offsets, write_cards
from scarto_env.rules import THIRDS, Rules, card_set, deck_cards
from scarto_env.state import MAX_PLAYERS

FEATURES_VERSION: Final = 1

MOST_TRICKS: Final = 25
LANE: Final = 32
"""The number of features is a multiple of this, which matrix units like."""

_SECTIONS: Final = ("hand", "discard", "played", "table", "void", "trumps_lacked", "led_suit", "winning", "dealer",
                    "leader", "discarding", "trick_of", "tricks_done", "points")  # fmt: skip
(_HAND, _DISCARD, _PLAYED, _TABLE, _VOID, _LACKED, _LED, _WINNING, _DEALER, _LEADER, _DISCARDING, _TRICK_OF,
 _TRICKS_DONE, _POINTS) = range(len(_SECTIONS))  # fmt: skip

_DECK, _MINE, _UNSEEN, _LEGAL, _TRICK, _AWAY, _PLACES = range(7)
"""Sets of cards in the working memory, then the places of the four suits."""


def num_planes(players: int) -> int:
    """Return the number of planes of 78 cards.

    My hand; what I have played or laid away; what each other seat has played; what each has on the table; legal
    cards that would take the trick now; masters in my hand; how many unseen cards beat each card of my hand; what
    each other seat may hold.
    """
    return 5 + 3 * (players - 1)


def num_globals(players: int) -> int:
    """Return the number of single features, those after the planes, in the order of ``write_globals``."""
    others = players - 1
    return others * NUM_LED + NUM_LED + 4 * players + 3 + MOST_TRICKS + NUM_LED * players + players + NUM_LED


def num_features(players: int) -> int:
    """Return F, the length of the feature vector, padded with zeros to a multiple of ``LANE``."""
    used = num_planes(players) * NUM_CARDS + num_globals(players)
    return -(-used // LANE) * LANE


def feature_scale(players: int) -> NDArray[np.float32]:
    """Return [F] float32: the network sees features times this, so that counts are of the size of flags."""
    scale = np.ones(num_features(players), np.float32)
    others = players - 1
    higher = (4 + 2 * others) * NUM_CARDS
    scale[higher : higher + NUM_CARDS] = 1 / 8
    start = num_planes(players) * NUM_CARDS + others * NUM_LED + NUM_LED + 4 * players
    scale[start + 1] = 1 / 3  # cards laid away
    scale[start + 2] = 1 / 15  # thirds on the table
    start += 3 + MOST_TRICKS
    scale[start : start + NUM_LED * players] = 1 / 2  # leads
    start += NUM_LED * players
    scale[start : start + players] = 1 / 30  # points
    scale[start + players : start + players + NUM_LED] = 1 / 8  # lengths
    return scale


class Reading(NamedTuple):
    """What ``encode_rows`` needs beside the rows; one for each thread, as it holds working memory.

    Attributes:
        starts: where the sections of the observation start.
        words: [8, 2] int64, sets of cards by number, and where each suit is in the canonical order.
        grid: [26, 4] int8, cards by trick and seat.
    """

    starts: NDArray[np.int64]
    words: NDArray[np.int64]
    grid: NDArray[np.int8]

    @classmethod
    def of(cls, rules: Rules) -> Reading:
        """Return the reading of observations under ``rules``."""
        starts = np.array([offsets(rules.players)[name] for name in _SECTIONS], np.int64)
        words = np.zeros((_PLACES + 2, 2), np.int64)
        words[_DECK] = card_set(deck_cards(rules))
        return cls(starts, words, np.zeros((MOST_TRICKS + 1, MAX_PLAYERS), np.int8))


@kernel
def packed(observation: Any, start: int, size: int) -> int:
    """Return ``size`` entries of 0 or 1 as bits."""
    word = 0
    for bit in range(size):
        word |= int(observation[start + bit]) << bit
    return word


@kernel
def suit_order(dealt: int, order: Any, place_of: Any) -> None:
    """Write the suits from the longest in ``dealt`` to the shortest, ties by the highest cards, to ``order`` [4].

    ``place_of`` [4] gets the inverse.
    """
    for place in range(NUM_SUITS):
        suit = place
        cards = (dealt >> (SUIT_SIZE * suit)) & SUIT_BITS
        key = (popcount(cards) << SUIT_SIZE) + cards
        gap = place
        while gap > 0:
            other = int(order[gap - 1])
            others_cards = (dealt >> (SUIT_SIZE * other)) & SUIT_BITS
            if (popcount(others_cards) << SUIT_SIZE) + others_cards >= key:
                break
            order[gap] = other
            gap -= 1
        order[gap] = suit
    for place in range(NUM_SUITS):
        place_of[int(order[place])] = place


@kernel
def sorted_suits(plain: int, order: Any) -> int:
    """Return a set of plain cards with its suits in canonical order."""
    word = 0
    for place in range(NUM_SUITS):
        word |= ((plain >> (SUIT_SIZE * int(order[place]))) & SUIT_BITS) << (SUIT_SIZE * place)
    return word


@kernel
def original_card(place: int, order: Any) -> int:
    """Return the card at a place of the canonical order."""
    if place >= FIRST_TRUMP:
        return place
    suit = place // SUIT_SIZE
    return place + (int(order[suit]) - suit) * SUIT_SIZE


@kernel
def write_hand_strength(
    hand: Any, unseen: Any, legal: Any, led: int, best_power: int, rules: Any, out: Any, base: int
) -> None:
    """Write three planes from ``base`` on: what takes the trick now, masters, number of unseen cards that beat.

    All sets are [2] words in canonical order.
    """
    master = base + NUM_CARDS
    higher = master + NUM_CARDS
    for card in range(NUM_CARDS):
        out[base + card] = 0
        out[master + card] = 0
        out[higher + card] = 0
    for word in range(2):
        cards = hand[word]
        first = FIRST_TRUMP * word
        while cards:
            bit = lowest_bit(cards)
            cards &= cards - 1
            card = first + bit
            if card == FOOL:
                continue
            if word == 0:
                suit = bit // SUIT_SIZE
                suit_cards = (unseen[0] >> (SUIT_SIZE * suit)) & SUIT_BITS
                above = popcount(suit_cards >> (bit - SUIT_SIZE * suit + 1))
            else:
                suit = TRUMPS
                above = popcount(unseen[1] & rules.higher[bit + 1])
            out[master + card] = above == 0
            out[higher + card] = above
            # A suit moved by the canonical order keeps the strengths of its cards.
            if (legal[word] >> bit) & 1 and led >= 0 and suit in (led, TRUMPS):
                out[base + card] = rules.power[card] > best_power


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
        suit = int(SUIT[int(grid[trick, leader])])
        if suit <= TRUMPS:
            place = int(place_of[suit]) if suit < TRUMPS else suit
            out[base + leader * NUM_LED + place] += 1
        leader = trick_winner(grid[trick], leader, rules)


@kernel
def trick_winner(cards: Any, leader: int, rules: Any) -> int:
    """Return the seat that takes the trick of ``cards`` by seat (A16); unfinished, the one winning it."""
    players = int(rules.players)
    best = leader
    power = -1
    led = -1
    for turn in range(players):
        seat = (leader + turn) % players
        card = int(cards[seat])
        if card in (NO_CARD, FOOL):
            continue
        suit = int(SUIT[card])
        if led < 0:
            led = suit
        if suit in (led, TRUMPS) and rules.power[card] > power:
            power = int(rules.power[card])
            best = seat
    return best


@kernel
def write_globals(
    observation: Any, starts: Any, rules: Any, hand: Any, thirds: int, order: Any, place_of: Any, grid: Any,
    out: Any, start: int,
) -> None:  # fmt: skip
    """Write the single features from ``start`` on; the rest of ``out`` is cleared first."""
    players = int(rules.players)
    for index in range(start, len(out)):
        out[index] = 0
    for other in range(players - 1):
        for suit in range(NUM_LED):
            place = int(place_of[suit]) if suit < NUM_SUITS else suit
            out[start + place] = observation[starts[_VOID] + other * NUM_LED + suit]
        start += NUM_LED
    for suit in range(NUM_LED):
        place = int(place_of[suit]) if suit < NUM_SUITS else suit
        out[start + place] = observation[starts[_LED] + suit]
    start += NUM_LED
    discarding = int(observation[starts[_DISCARDING]])
    leader = 0
    for seat in range(players):
        out[start + seat] = observation[starts[_WINNING] + seat]
        out[start + players + seat] = observation[starts[_DEALER] + seat]
        out[start + 2 * players + seat] = observation[starts[_LEADER] + seat]
        if observation[starts[_LEADER] + seat]:
            leader = seat
    if not discarding:
        out[start + 3 * players + (players - leader) % players] = 1  # my turn in the trick
    start += 4 * players
    out[start] = discarding
    if discarding:
        for card in range(NUM_CARDS):
            out[start + 1] += observation[starts[_DISCARD] + card]
    out[start + 2] = thirds
    start += 3
    if not discarding:
        out[start + min(int(observation[starts[_TRICKS_DONE]]), MOST_TRICKS - 1)] = 1
    start += MOST_TRICKS
    count_leads(observation, starts, rules, place_of, grid, out, start)
    start += NUM_LED * players
    for seat in range(players):
        out[start + seat] = observation[starts[_POINTS] + seat]
    start += players
    for suit in range(NUM_SUITS):
        out[start + suit] = popcount((hand[0] >> (SUIT_SIZE * suit)) & SUIT_BITS)
    out[start + NUM_SUITS] = popcount(hand[1] & ALL_TRUMPS)


@kernel
def packed_cards(observation: Any, start: int, order: Any, out: Any) -> None:
    """Write 78 entries as a set of cards, [2] words, its suits in canonical order."""
    out[0] = sorted_suits(packed(observation, start, FIRST_TRUMP), order)
    out[1] = packed(observation, start + FIRST_TRUMP, NUM_TRUMPS + 1)


@kernel
def read_own(observation: Any, action_mask: Any, starts: Any, words: Any, order: Any) -> None:
    """Find the suit order and the sets of cards that are mine, the trick, and what is unseen so far."""
    away = packed(observation, starts[_DISCARD], FIRST_TRUMP) | packed(observation, starts[_PLAYED], FIRST_TRUMP)
    suit_order(packed(observation, starts[_HAND], FIRST_TRUMP) | away, order, words[_PLACES:].reshape(4))
    packed_cards(observation, starts[_HAND], order, words[_MINE])
    packed_cards(observation, starts[_DISCARD], order, words[_AWAY])
    packed_cards(observation, starts[_PLAYED], order, words[_UNSEEN])
    packed_cards(observation, starts[_TABLE], order, words[_TRICK])
    packed_cards(action_mask, 0, order, words[_LEGAL])
    for word in range(2):
        words[_AWAY, word] |= words[_UNSEEN, word]
        # The deck has the same cards of every suit, so its order does not matter.
        words[_UNSEEN, word] = words[_DECK, word] & ~words[_MINE, word] & ~words[_AWAY, word]


@kernel
def write_played(observation: Any, starts: Any, rules: Any, words: Any, order: Any, out: Any, start: int) -> int:
    """Write what each other seat has played and has on the table; return the power that wins the trick, or -1.

    What they have played is no longer unseen.
    """
    others = int(rules.players) - 1
    best_power = -1
    for other in range(others):
        played = starts[_PLAYED] + (other + 1) * NUM_CARDS
        plain = sorted_suits(packed(observation, played, FIRST_TRUMP), order)
        tarocchi = packed(observation, played + FIRST_TRUMP, NUM_TRUMPS + 1)
        write_cards(out, start + other * NUM_CARDS, plain, tarocchi)
        words[_UNSEEN, 0] &= ~plain
        words[_UNSEEN, 1] &= ~tarocchi
        plain &= words[_TRICK, 0]
        tarocchi &= words[_TRICK, 1]
        write_cards(out, start + (others + other) * NUM_CARDS, plain, tarocchi)
        if observation[starts[_WINNING] + other + 1]:
            card = lowest_bit(plain) if plain else FIRST_TRUMP + lowest_bit(tarocchi)
            best_power = int(rules.power[card])
    return best_power


@kernel
def write_may_hold(
    observation: Any, starts: Any, players: int, words: Any, place_of: Any, out: Any, start: int
) -> None:
    """Write, for each other seat, the unseen cards that it has not shown to lack."""
    for other in range(players - 1):
        plain = words[_UNSEEN, 0]
        for suit in range(NUM_SUITS):
            if observation[starts[_VOID] + other * NUM_LED + suit]:
                plain &= ~(SUIT_BITS << (SUIT_SIZE * int(place_of[suit])))
        lacked = packed(observation, starts[_LACKED] + other * NUM_TRUMPS, NUM_TRUMPS)
        write_cards(out, start + other * NUM_CARDS, plain, words[_UNSEEN, 1] & ~lacked)


@kernel
def thirds_of(cards: Any, rules: Any) -> int:
    """Return what a set of cards, [2] words, counts by itself, in thirds of a point (A19)."""
    thirds = 0
    for word in range(2):
        left = cards[word]
        while left:
            thirds += THIRDS * int(rules.value[FIRST_TRUMP * word + lowest_bit(left)]) - 2
            left &= left - 1
    return thirds


@kernel
def encode_row(
    observation: Any, action_mask: Any, starts: Any, rules: Any, words: Any, grid: Any, out: Any, order: Any
) -> None:
    """Write one row's features, [F], and its suit order, [4]."""
    players = int(rules.players)
    others = players - 1
    read_own(observation, action_mask, starts, words, order)
    place_of = words[_PLACES:].reshape(4)
    write_cards(out, 0, words[_MINE, 0], words[_MINE, 1])
    write_cards(out, NUM_CARDS, words[_AWAY, 0], words[_AWAY, 1])
    start = 2 * NUM_CARDS
    best_power = write_played(observation, starts, rules, words, order, out, start)
    start += 2 * others * NUM_CARDS
    led = -1
    for suit in range(NUM_LED):
        if observation[starts[_LED] + suit]:
            led = int(place_of[suit]) if suit < NUM_SUITS else suit
    write_hand_strength(words[_MINE], words[_UNSEEN], words[_LEGAL], led, best_power, rules, out, start)
    start += 3 * NUM_CARDS
    write_may_hold(observation, starts, players, words, place_of, out, start)
    start += others * NUM_CARDS
    thirds = thirds_of(words[_TRICK], rules)
    write_globals(observation, starts, rules, words[_MINE], thirds, order, place_of, grid, out, start)


@kernel
def encode_rows(
    observation: Any, action_mask: Any, rows: Any, reading: Any, table: Any, features: Any, mask: Any, order: Any
) -> None:
    """Write the features of some rows.

    Args:
        observation: [B, D] int8.
        action_mask: [B, 78] int8.
        rows: [N] int64, which of the B.
        reading: a ``Reading`` of the same rules.
        table: ``rules_table``.
        features: [N, F] int8, written.
        mask: [N, 78] int8, the action mask in canonical order, written.
        order: [N, 4] int8, the suit at each canonical place, written.
    """
    rules = table[0]
    starts, words, grid = reading
    for index in range(len(rows)):
        row = rows[index]
        encode_row(observation[row], action_mask[row], starts, rules, words, grid, features[index], order[index])
        write_cards(mask[index], 0, words[_LEGAL, 0], words[_LEGAL, 1])


@kernel
def sort_cards(planes: Any, rows: Any, order: Any, out: Any) -> None:
    """Write planes of 78 cards of some rows, [B, K, 78], in canonical order to ``out`` [N, K, 78]."""
    for index in range(len(rows)):
        for plane in range(planes.shape[1]):
            for place in range(NUM_CARDS):
                card = original_card(place, order[index])
                out[index, plane, place] = planes[rows[index], plane, card]


@kernel
def forced_cards(mask: Any, cards: Any, free: Any) -> int:
    """Write the first legal card of each row, [B], and list the rows with a choice; return how many those are."""
    num_free = 0
    for row in range(len(mask)):
        count = 0
        cards[row] = 0
        for card in range(NUM_CARDS - 1, -1, -1):
            if mask[row, card]:
                count += 1
                cards[row] = card
        if count > 1:
            free[num_free] = row
            num_free += 1
    return num_free


@kernel
def put_cards(places: Any, order: Any, rows: Any, cards: Any) -> None:
    """Write the cards at canonical places [N] to the rows [N] of ``cards`` [B]."""
    for index in range(len(rows)):
        cards[rows[index]] = original_card(int(places[index]), order[index])
