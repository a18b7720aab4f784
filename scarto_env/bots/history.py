"""The course of a deal, recovered from what a seat remembers: who played what, in which trick."""

from __future__ import annotations

from typing import Any, Final

from scarto_env.cards import FIRST_TRUMP, NUM_CARDS
from scarto_env.jit import kernel
from scarto_env.play import play, set_legal, start_deal, take_talon
from scarto_env.state import DISCARD, PLAY

MOST_PLAYS: Final = 80
"""Entries of ``plays``: (25 + 1) x 3 or (19 + 1) x 4."""


@kernel
def played_by(game: Any, players: int, card: int) -> int:
    """Return the seat that has played ``card``, or -1."""
    word, bit = 0, card
    if card >= FIRST_TRUMP:
        word, bit = 1, card - FIRST_TRUMP
    for seat in range(players):
        if game.played[seat, word] >> bit & 1:
            return seat
    return -1


@kernel
def list_plays(game: Any, rules: Any, plays: Any) -> int:
    """Write each trick's cards by seat to ``plays`` and return how many cards there are.

    ``plays[trick * P + seat]`` is -1 where nothing was played yet; a trick more than the deal has is -1 too.
    """
    players = int(rules.players)
    for place in range((rules.tricks + 1) * players):
        plays[place] = -1
    num_plays = 0
    for card in range(NUM_CARDS):
        trick = int(game.trick_of[card])
        if trick > 0:
            plays[(trick - 1) * players + played_by(game, players, card)] = card
            num_plays += 1
    return num_plays


@kernel
def rewind(game: Any, rules: Any, start: Any) -> None:
    """Write to ``start`` the row before the first trick, every hand as full as ``game`` knows it."""
    start_deal(start, rules, game.dealer)
    for seat in range(rules.players):
        for word in range(2):
            start.hand[seat, word] = game.hand[seat, word] | game.played[seat, word]
    for word in range(2):
        start.discarded[word] = game.discarded[word]
        start.talon[word] = game.talon[word]
    start.num_discarded = rules.talon_size
    start.phase = PLAY
    start.seat = start.leader
    set_legal(start, rules)


@kernel
def rewind_to_discard(game: Any, rules: Any, start: Any) -> None:
    """Write to ``start`` the row before the dealer lays away, the discard of a full row ``game`` back in hand."""
    rewind(game, rules, start)
    for word in range(2):
        start.hand[start.dealer, word] |= game.discarded[word]
        start.discarded[word] = 0
    start.num_discarded = 0
    start.phase = DISCARD
    start.seat = start.dealer
    take_talon(start, rules)


@kernel
def recall_piles(game: Any, rules: Any, plays: Any, past: Any) -> None:
    """Complete a recalled row by the piles, replaying in ``past`` the cards that ``list_plays`` wrote to ``plays``."""
    num_plays = list_plays(game, rules, plays)
    rewind(game, rules, past)
    players = int(rules.players)
    for _ in range(num_plays):
        play(past, rules, plays[past.trick * players + past.seat])
    for seat in range(players):
        game.pile[seat, 0] = past.pile[seat, 0]
        game.pile[seat, 1] = past.pile[seat, 1]
        game.pile_value[seat] = past.pile_value[seat]
        game.pile_size[seat] = past.pile_size[seat]
