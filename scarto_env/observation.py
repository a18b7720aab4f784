"""What a seat may know, as one vector: the table of sections, the encoder, named views.

The observation is an information state: together with the rules it holds everything that the seat has seen
and nothing else.  Seats are relative to the viewer (0 is me, 1 the next to play), cards are in the order of
their ids.  ``OBSERVATION_VERSION`` changes whenever a vector would.
"""

from __future__ import annotations

import functools
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarto_env.cards import ALL_TRUMPS, FIRST_TRUMP, NO_SUIT, NUM_CARDS, NUM_SUITS, NUM_TRUMPS, SUIT_BITS, SUIT_SIZE
from scarto_env.jit import copy, inlined_kernel, kernel, put_word, spread
from scarto_env.rules import THIRDS
from scarto_env.state import DISCARD, MAX_PLAYERS, MIN_PLAYERS, NO_SEAT, OVER, SCORE_UNITS

OBSERVATION_VERSION: Final = 1

NUM_LED: Final = NUM_SUITS + 1
"""Suits that can be led: the four and the trumps."""
TOTAL_BASE: Final = 250
"""A total is TOTAL_BASE * total_carry + total, so that every entry is a small whole number."""
DEAL_BASE: Final = 100
MAX_DEALS: Final = 300
"""Deals in a match at most; totals then stay within one byte of carry."""


class Section(NamedTuple):
    """A part of the observation: its name, number of entries, shape seen by ``view``, bounds and meaning."""

    name: str
    size: int
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str


def _section(name: str, shape: tuple[int, ...], meaning: str, low: int = 0, high: int = 1) -> Section:
    return Section(name, int(np.prod(shape)), shape, low, high, meaning)


@functools.cache
def sections(players: int = 3) -> tuple[Section, ...]:
    """Return the table of the observation for a number of players."""
    others = players - 1
    return (
        _section("hand", (NUM_CARDS,), "cards I hold"),
        _section("talon", (NUM_CARDS,), "the talon, if I took it up as dealer, else 0"),
        _section("discard", (NUM_CARDS,), "cards I have laid away as dealer, else 0"),
        _section("played", (players, NUM_CARDS), "cards each seat has played, the trick on the table included"),
        _section("table", (NUM_CARDS,), "the trick on the table"),
        _section("void", (others, NUM_LED), "suits, then trumps, that each other seat has shown it lacks"),
        _section(
            "trumps_lacked",
            (others, NUM_TRUMPS),
            "trumps I..XXI that each other seat has shown it lacks (A13)",
        ),
        _section("led_suit", (NUM_LED,), "suit to follow: one of the four or trumps; none before it is known"),
        _section("winning", (players,), "who is winning the trick"),
        _section("dealer", (players,), "who dealt"),
        _section("leader", (players,), "who led, or will lead, the trick"),
        _section("discarding", (1,), "1 while the dealer lays away"),
        _section("over", (1,), "1 once the deal is over"),
        _section("trick_of", (NUM_CARDS,), "number of the trick each card was played to, 0: not played", high=25),
        _section("tricks_done", (1,), "tricks finished", high=25),
        _section("points", (players,), "whole points of each pile as far as public: without the discard", high=127),
        _section("thirds", (players,), "thirds of a point beside them", high=THIRDS - 1),
        _section("total", (players,), f"match total before this deal, less {TOTAL_BASE} x total_carry", -125, 124),
        _section("total_carry", (players,), f"{TOTAL_BASE}s in the match total", -128, 127),
        _section("total_part", (players,), f"fraction of the match total, in 1/({SCORE_UNITS} x players)", high=23),
        _section("deal", (2,), f"number of the deal in its match, 0 first: {DEAL_BASE}s and units", high=99),
    )


SECTIONS: Final = sections(3)
"""The observation's table for three players; ``sections(4)`` for four."""


@functools.cache
def observation_size(players: int = 3) -> int:
    """Return D, the length of the observation."""
    return sum(section.size for section in sections(players))


@functools.cache
def offsets(players: int = 3) -> dict[str, int]:
    """Return where each section starts."""
    starts, start = {}, 0
    for section in sections(players):
        starts[section.name] = start
        start += section.size
    return starts


@functools.cache
def bounds(players: int = 3) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the lowest and highest value of every entry, each [D] int8."""
    low = np.concatenate([np.full(section.size, section.low, np.int8) for section in sections(players)])
    high = np.concatenate([np.full(section.size, section.high, np.int8) for section in sections(players)])
    return low, high


def num_players(size: int) -> int:
    """Return the number of players whose observation has ``size`` entries.

    Raises:
        ValueError: there is none.
    """
    for players in range(3, MAX_PLAYERS + 1):
        if observation_size(players) == size:
            return players
    known = " or ".join(f"{observation_size(players)} ({players} players)" for players in (3, 4))
    raise ValueError(f"an observation has {known} entries, not {size}")


def view(observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the sections of an observation by name, as views of the same memory.

    Args:
        observation: [..., D]; a section's own shape follows the leading axes.

    Raises:
        ValueError: the last axis is no observation.

    >>> from scarto_env import Batch
    >>> int(view(Batch(num_games=1, seed=0).observation)["hand"].sum())
    28
    """
    observation = np.asarray(observation)
    players = num_players(observation.shape[-1])
    start = offsets(players)
    return {
        section.name: observation[..., start[section.name] : start[section.name] + section.size].reshape(
            *observation.shape[:-1], *section.shape
        )
        if section.size > 1
        else observation[..., start[section.name]]
        for section in sections(players)
    }


_WORD: Final = 32
"""Bytes that ``spread`` and ``copy`` write at a time."""
_LAST_SUIT_BIT: Final = FIRST_TRUMP - _WORD
_LAST_BIT: Final = NUM_CARDS - _WORD


_THIRD_OF_16_BITS: Final = 21846
"""``points * _THIRD_OF_16_BITS >> 16`` is ``points // 3`` for the points of any deal."""


@inlined_kernel
def write_cards(out: Any, start: int, plain: int, tarocchi: int) -> None:
    """Write a set of cards as 78 bytes of 0 or 1 from ``start`` on.

    Three writes of 32 overlap so that not a byte outside the 78 is touched; the later ones are the valid ones.
    """
    spread(tarocchi << (FIRST_TRUMP - _LAST_BIT), out, start + _LAST_BIT)
    spread(plain, out, start)
    spread(plain >> _LAST_SUIT_BIT, out, start + _LAST_SUIT_BIT)


@inlined_kernel
def relative(seat: int, viewer: int, players: int) -> int:
    """Return a seat's number as ``viewer`` counts: 0 is itself, 1 the next to play."""
    seat -= viewer
    return seat + players if seat < 0 else seat


@inlined_kernel
def after(viewer: int, place: int, players: int) -> int:
    """Return the seat whose number is ``place`` as ``viewer`` counts."""
    seat = viewer + place
    return seat - players if seat >= players else seat


@inlined_kernel
def write_shown(game: Any, players: int, viewer: int, out: Any, start: int) -> None:
    """Write what the other seats have shown not to hold: suits, then trumps."""
    others = players - 1
    voids = 0
    for place in range(others):
        seat = after(viewer, place + 1, players)
        plain = game.lacks[seat, 0]
        for suit in range(NUM_SUITS):
            voids |= int((plain >> (SUIT_SIZE * suit)) & SUIT_BITS == SUIT_BITS) << (place * NUM_LED + suit)
        voids |= int(game.lacks[seat, 1] == ALL_TRUMPS) << (place * NUM_LED + NUM_SUITS)
    spread(voids, out, start)
    start += others * NUM_LED
    for place in range(others):
        spread(game.lacks[after(viewer, place + 1, players), 1], out, start + place * NUM_TRUMPS)


@inlined_kernel
def trick_flags(game: Any, players: int, viewer: int) -> int:
    """Return, as bits, the led suit, who is winning, dealer, leader, and the phase."""
    flags = 0
    if game.led_suit != NO_SUIT:
        flags |= 1 << int(game.led_suit)
    if game.best_seat != NO_SEAT:
        flags |= 1 << (NUM_LED + relative(int(game.best_seat), viewer, players))
    flags |= 1 << (NUM_LED + players + relative(int(game.dealer), viewer, players))
    flags |= 1 << (NUM_LED + 2 * players + relative(int(game.leader), viewer, players))
    flags |= int(game.phase == DISCARD) << (NUM_LED + 3 * players)
    flags |= int(game.phase == OVER) << (NUM_LED + 3 * players + 1)
    return flags


@inlined_kernel
def public_points(game: Any, players: int, viewer: int) -> int:
    """Return, as bytes, the whole points of each pile, then the thirds beside them."""
    wholes = 0
    thirds = 0
    for place in range(players):
        points = int(game.points[after(viewer, place, players)])
        whole = points * _THIRD_OF_16_BITS >> 16
        wholes |= whole << (8 * place)
        thirds |= (points - THIRDS * whole) << (8 * place)
    return wholes | thirds << (8 * players)


@kernel
def observe(game: Any, rules: Any, viewer: int, out: Any) -> None:
    """Write what ``viewer`` may know into ``out``, [D] int8, every entry.

    Written out for each number of players: all places are then known to the compiler, which saves a third of the time.
    """
    if rules.players == MIN_PLAYERS:
        observe_among(game, MIN_PLAYERS, viewer, out)
    else:
        observe_among(game, MAX_PLAYERS, viewer, out)


@inlined_kernel
def observe_among(game: Any, players: int, viewer: int, out: Any) -> None:
    """Write the observation at a table of ``players``.

    Sections are written in order: a write of 32 bytes may run into the next section, which then overwrites it.
    """
    others = players - 1
    dealer = int(game.dealer)
    write_cards(out, 0, game.hand[viewer, 0], game.hand[viewer, 1])
    start = NUM_CARDS
    if viewer == dealer:
        write_cards(out, start, game.talon[0], game.talon[1])
        write_cards(out, start + NUM_CARDS, game.discarded[0], game.discarded[1])
    else:
        write_cards(out, start, 0, 0)
        write_cards(out, start + NUM_CARDS, 0, 0)
    start += 2 * NUM_CARDS
    for place in range(players):
        seat = after(viewer, place, players)
        write_cards(out, start, game.played[seat, 0], game.played[seat, 1])
        start += NUM_CARDS
    write_cards(out, start, game.trick_cards[0], game.trick_cards[1])
    start += NUM_CARDS

    write_shown(game, players, viewer, out, start)
    start += others * (NUM_LED + NUM_TRUMPS)
    spread(trick_flags(game, players, viewer), out, start)
    start += NUM_LED + 3 * players + 2
    # Zeros for the match, overlapping what the next lines write; the first deal of a match needs no more.
    spread(0, out, start + NUM_CARDS + 1 + 5 * players + 2 - _WORD)
    copy(game.trick_of, 0, out, start)
    copy(game.trick_of, _WORD, out, start + _WORD)
    copy(game.trick_of, _LAST_BIT, out, start + _LAST_BIT)
    start += NUM_CARDS
    out[start] = game.trick
    start += 1
    put_word(public_points(game, players, viewer), out, start)
    if game.match_deal > 0:
        write_match(game, players, viewer, out, start + 2 * players)


@kernel
def write_match(game: Any, players: int, viewer: int, out: Any, start: int) -> None:
    """Write the totals before this deal and the deal's number in its match."""
    unit = SCORE_UNITS * players
    for place in range(players):
        total = int(game.total[(viewer + place) % players])
        whole = total // unit
        carry = (whole + TOTAL_BASE // 2) // TOTAL_BASE
        out[start + place] = whole - carry * TOTAL_BASE
        out[start + players + place] = carry
        out[start + 2 * players + place] = total - whole * unit
    out[start + 3 * players] = game.match_deal // DEAL_BASE
    out[start + 3 * players + 1] = game.match_deal % DEAL_BASE


@kernel
def write_mask(game: Any, out: Any) -> None:
    """Write the legal cards of the seat to act as [78] int8, 1 for legal."""
    write_cards(out, 0, game.legal[0], game.legal[1])


@functools.cache
def state_sections(players: int = 3) -> tuple[Section, ...]:
    """Return the table of the full information: seat 0's observation, the rest of the hands, who acts.

    Its talon and discard are the true ones, whoever deals; seats are absolute.
    """
    return (
        *sections(players),
        _section("other_hands", (players - 1, NUM_CARDS), "cards that seats 1.. hold"),
        _section("acting", (players,), "who acts"),
    )


@functools.cache
def state_size(players: int = 3) -> int:
    """Return S, the length of the full information."""
    return sum(section.size for section in state_sections(players))


@kernel
def write_state(game: Any, rules: Any, out: Any) -> None:
    """Write the full information into ``out``, [S] int8, every entry."""
    players = int(rules.players)
    observe(game, rules, 0, out)
    start = len(out) - players - (players - 1) * NUM_CARDS
    write_cards(out, NUM_CARDS, game.talon[0], game.talon[1])
    write_cards(out, 2 * NUM_CARDS, game.discarded[0], game.discarded[1])
    for seat in range(1, players):
        write_cards(out, start, game.hand[seat, 0], game.hand[seat, 1])
        start += NUM_CARDS
    for seat in range(players):
        out[start + seat] = seat == game.seat


@kernel
def write_hidden(game: Any, rules: Any, viewer: int, out: Any) -> None:
    """Write what ``viewer`` may not know into ``out``, [P * 78] int8: the other hands by relative seat, the discard.

    For a critic in training only.  The discard is the true one, the dealer's own included.
    """
    players = int(rules.players)
    seat = viewer
    for place in range(players - 1):
        seat = seat + 1 if seat + 1 < players else 0
        write_cards(out, place * NUM_CARDS, game.hand[seat, 0], game.hand[seat, 1])
    write_cards(out, (players - 1) * NUM_CARDS, game.discarded[0], game.discarded[1])
