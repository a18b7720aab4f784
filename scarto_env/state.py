"""One game is one row of a NumPy record array: the dtype and what each field means.

A set of cards is two 64-bit words: plain cards (bit = card) and tarocchi (bit = card - 56: trumps, then
the Fool).  Everything a game needs is in its row, its random stream included, so copying a row copies
the game.  The same fields read alike in compiled code and in Python.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.cards import FIRST_TRUMP, NUM_CARDS

MIN_PLAYERS: Final = 3
MAX_PLAYERS: Final = 4
"""Seats that a row has room for."""

DISCARD: Final = 0
PLAY: Final = 1
OVER: Final = 2
"""Phases of a deal: the dealer lays away, the tricks are played, nothing is left to do."""

SCORE_UNITS: Final = 6
"""Settled scores are whole multiples of 1 / (SCORE_UNITS * players) of a point: shares of thirds, halved by A22."""

_FIELDS: Final = np.dtype(
    [
        # Every step touches what lies before the talon, few steps touch the rest: the fewer cache lines a game
        # takes, the faster are games that fill more than a cache.
        ("legal", np.int64, (2,)),  # what the seat to act may play; empty when the deal is over
        ("bot_random", np.uint64),  # generator of random play; never moves the deals'
        ("phase", np.int8),
        ("seat", np.int8),  # who acts
        ("dealer", np.int8),
        ("leader", np.int8),  # who led, or will lead, the trick
        ("turn", np.int8),  # cards on the table
        ("trick", np.int8),  # tricks finished
        ("led_suit", np.int8),  # suit to follow, TRUMPS, or NO_SUIT
        ("best_seat", np.int8),  # who is winning the trick
        ("fool_seat", np.int8),  # who played the Fool to this trick, or NO_SEAT
        ("num_discarded", np.int8),
        ("done", np.bool_),  # the last step ended a deal
        ("best_power", np.int16),  # of the card winning the trick
        ("trick_value", np.int16),
        ("table", np.int8, (MAX_PLAYERS,)),  # card each seat has on the table, or NO_CARD
        ("match_deal", np.int32),  # number of this deal in the match
        ("points", np.int16, (MAX_PLAYERS,)),  # A19 in thirds: public ones, at the end with discard and ultimo
        ("trick_cards", np.int64, (2,)),  # the trick on the table
        ("reward", np.float32, (MAX_PLAYERS,)),  # of the last step, by seat
        ("trick_of", np.int8, (NUM_CARDS,)),  # number 1.. of the trick each card was played to, 0: not yet
        ("hand", np.int64, (MAX_PLAYERS, 2)),  # cards each seat holds now
        ("played", np.int64, (MAX_PLAYERS, 2)),  # cards each seat has played, the table included
        ("lacks", np.int64, (MAX_PLAYERS, 2)),  # cards a seat has shown by its play not to hold
        ("talon", np.int64, (2,)),
        ("discarded", np.int64, (2,)),
        ("pile", np.int64, (MAX_PLAYERS, 2)),  # cards won; the dealer's gets the discard when the deal is over
        ("pile_value", np.int16, (MAX_PLAYERS,)),  # values of the cards won (A4)
        ("pile_size", np.int8, (MAX_PLAYERS,)),
        ("discardable", np.int64, (2,)),  # judged once on the dealer's full hand (A9)
        ("score", np.int32, (MAX_PLAYERS,)),  # A21, in 1 / (3 * players) of a point; of the last finished deal
        ("settled", np.int32, (MAX_PLAYERS,)),  # A22, in 1 / (SCORE_UNITS * players) of a point
        ("paid", np.int32, (MAX_PLAYERS,)),  # settled score already paid as trick rewards
        ("total", np.int32, (MAX_PLAYERS,)),  # settled scores of the match's earlier deals
        ("key", np.uint64),  # names the game's stream of deals: seed and game index
        ("deal_random", np.uint64),  # generator of the deals; moved by dealing only
        ("deal_number", np.int32),  # number of this deal in the game's stream
    ],
    align=True,
)
GAME: Final = np.dtype((np.record, _FIELDS))
"""One game.  A new or copied row is a game of its own.

As a record type, so that a view as record array needs no new dtype, which costs more than copying the row.
"""
HOT_BYTES: Final = int(_FIELDS.fields["talon"][1])  # type: ignore[index] # a type of records has fields
"""Bytes at the front of a row that every step touches."""

NO_SEAT: Final = -1


def cards_of(words: Any) -> list[int]:
    """Return the cards of a two-word set in rising order."""
    plain, tarocchi = int(words[0]), int(words[1])
    bits = plain | tarocchi << FIRST_TRUMP
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def stream_key(seed: int, game: int = 0) -> np.uint64:
    """Return the key of a game's deals: the same for the same seed and game index everywhere.

    Raises:
        ValueError: ``seed`` is not a whole number of 0 or more.
    """
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed={seed!r} is not allowed: expected a whole number of 0 or more")
    digest = hashlib.blake2b(f"{int(seed)}/{game}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def stream_keys(seed: int, num_games: int) -> NDArray[np.uint64]:
    """Return the keys of games 0..num_games-1 of a seed."""
    return np.array([stream_key(seed, game) for game in range(num_games)], np.uint64)


def copied(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return copies of whole games.  As bytes: field by field, as NumPy would, takes twenty times longer."""
    if len(rows) == 1:
        # A view would take longer than a second copy.
        return np.ndarray(1, GAME, bytearray(rows.tobytes()))
    return np.ndarray(rows.shape, GAME, rows.view(np.ndarray).view(np.uint8).copy())


def new_games(keys: NDArray[np.uint64]) -> np.recarray[Any, Any]:
    """Return one row a key, nothing dealt yet."""
    games = np.zeros(len(keys), GAME).view(np.recarray)
    games.key[:] = keys
    # A constant apart: the bots' stream starts elsewhere than any deal's.
    games.bot_random[:] = keys ^ np.uint64(0x5851F42D4C957F2D)
    games.deal_number[:] = -1
    games.phase[:] = OVER
    return games
