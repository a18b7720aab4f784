"""Worlds weighted by how likely the others would have played as seen, if they played by the heuristic's rules.

Every choice of another seat is replayed in the world and compared with what the heuristic would have done with
that hand: the nearer the card's worth to the best one's, the likelier.  A part of all choices is taken to be made
by other lights, so that one surprising card does not rule a world out.

The weighted worlds are a Metropolis chain: from a uniformly drawn world, a few pairs of hidden cards change places
and the new world is kept with the ratio of the likelihoods.  Without likelihood the chain keeps the
uniform distribution; with it the chain approaches the weighted one, the better the more steps lie between worlds.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from scarto_env.bots.draws import next_bot_share
from scarto_env.bots.heuristic import card_worth
from scarto_env.bots.history import rewind
from scarto_env.bots.knowledge import note_position
from scarto_env.cards import ALL_TRUMPS, BAGATTO_BIT, FIRST_TRUMP, FOOL_BIT
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.play import act, card_at, next_bot_number, play, take_talon
from scarto_env.state import DISCARD, PLAY

BURN_IN: Final = 160
"""Steps before the first world, so that the chain forgets its uniform start."""
TEMPERATURE: Final = 1.0
"""Points of worth by which a choice falls short that is e times less likely; 0.5 and 2 measured no better.

With 0.1 and a stray share of 0.01 a search takes a quarter less time and scores the same against heuristics, whom
it then knows better, but it is misled by who plays otherwise.
"""
STRAY: Final = 0.1
"""Share of choices taken to be made by other lights."""
MOST_SWAPS: Final = 3
"""Exchanges proposed at once, from 1 up: what a lead tells of lengths is often kept by two, and broken by one."""
_FAR: Final = 30.0
"""Differences in worth, in temperatures, that need no exponential."""


@kernel
def choice_likelihood(game: Any, rules: Any, card: int, mind: Any, temperature: float, stray: float) -> float:
    """Return how likely the seat to act chooses ``card``: softmax of worth over temperature, mixed with chance."""
    num_legal = popcount(game.legal[0]) + popcount(game.legal[1])
    if num_legal <= 1:
        return 1.0
    note_position(game, rules, mind)
    chosen = card_worth(game, rules, card, mind)
    total = 0.0
    for word in range(2):
        rest = game.legal[word]
        while rest:
            other = lowest_bit(rest) + FIRST_TRUMP * word
            rest &= rest - 1
            difference = (card_worth(game, rules, other, mind) - chosen) / temperature
            if difference > _FAR:
                return stray / num_legal
            if difference > -_FAR:
                total += math.exp(difference)
    return (1 - stray) / total + stray / num_legal


@kernel
def discard_likelihood(world: Any, rules: Any, past: Any, mind: Any, temperature: float, stray: float) -> float:
    """Return the log likelihood of the world's discard, laid away in the order that the heuristic would take.

    ``past`` is the row before the first trick, whose dealer takes the discard up again.
    """
    for word in range(2):
        past.talon[word] = world.discarded[word]
        past.discarded[word] = 0
    past.num_discarded = 0
    past.phase = DISCARD
    past.seat = past.dealer
    take_talon(past, rules)
    total = 0.0
    for _ in range(rules.talon_size):
        note_position(past, rules, mind)
        best = -1
        best_worth = -np.inf
        for word in range(2):
            rest = world.discarded[word] & ~past.discarded[word]
            while rest:
                card = lowest_bit(rest) + FIRST_TRUMP * word
                rest &= rest - 1
                worth = card_worth(past, rules, card, mind)
                if worth > best_worth:
                    best, best_worth = card, worth
        total += math.log(choice_likelihood(past, rules, best, mind, temperature, stray))
        act(past, rules, best)
    return total


@kernel
def log_likelihood(
    world: Any, rules: Any, plays: Any, past: Any, mind: Any, temperature: float, stray: float, floor: float
) -> float:  # fmt: skip
    """Return the log likelihood of all that the other seats did, in an imagined world; 0 before the first trick.

    Every choice can only lower it: once it is below ``floor`` what it would come to is not worked out.

    Args:
        world: full row, the viewer being seat 0.
        rules: record of ``rules_table``.
        plays: what ``list_plays`` wrote.
        past: scratch row.
        mind: scratch notes.
        temperature: points of worth by which a choice e times less likely falls short.
        stray: share of choices made at random.
        floor: below this any number does.
    """
    if world.phase != PLAY:
        return 0.0
    players = int(rules.players)
    total = 0.0
    rewind(world, rules, past)
    if world.dealer != 0:
        total += discard_likelihood(world, rules, past, mind, temperature, stray)
        rewind(world, rules, past)
    card = plays[past.seat]
    while card >= 0 and total >= floor:
        if past.seat != 0:
            total += math.log(choice_likelihood(past, rules, card, mind, temperature, stray))
        play(past, rules, card)
        card = plays[past.trick * players + past.seat]
    return total


@kernel
def take_hidden(world: Any, rules: Any, number: int) -> tuple[int, int]:
    """Return the place and the card at ``number`` among the hidden ones: place 1.. a seat, 0 the discard."""
    for seat in range(1, rules.players):
        size = popcount(world.hand[seat, 0]) + popcount(world.hand[seat, 1])
        if number < size:
            return seat, card_at(world.hand[seat, 0], world.hand[seat, 1], number)
        number -= size
    return 0, card_at(world.discarded[0], world.discarded[1], number)


@kernel
def may_move(world: Any, rules: Any, card: int, place: int) -> bool:
    """Return whether a hidden card may lie in another place (A9, A12, A13)."""
    if card < FIRST_TRUMP:
        word, bit = 0, 1 << card
    else:
        word, bit = 1, 1 << (card - FIRST_TRUMP)
    if place > 0 and world.lacks[place, word] & bit:
        return False
    if place == 0 and rules.never_discard[word] & bit:
        return False
    if word == 0:
        return True
    if world.discarded[1] & BAGATTO_BIT or (place == 0 and bit == BAGATTO_BIT):
        # With the Bagatto laid away the dealer never had another trump; such worlds only change otherwise.
        trumps = ALL_TRUMPS | FOOL_BIT if rules.bagatto_fool_blocks else ALL_TRUMPS
        return not (bit & trumps and (place == 0 or place == world.dealer or bit == BAGATTO_BIT))
    return True


@kernel
def move(world: Any, card: int, source: int, target: int) -> None:
    """Move a hidden card from one place to another."""
    if card < FIRST_TRUMP:
        word, bit = 0, 1 << card
    else:
        word, bit = 1, 1 << (card - FIRST_TRUMP)
    if source > 0:
        world.hand[source, word] &= ~bit
    else:
        world.discarded[word] &= ~bit
    if target > 0:
        world.hand[target, word] |= bit
    else:
        world.discarded[word] |= bit


@kernel
def swap_some(game: Any, rules: Any, world: Any) -> bool:
    """Let two hidden cards of a world change places if they may, and return whether they did.

    Both are drawn uniformly, so a change and its reverse are equally likely.  Moves ``game``'s bot generator.
    """
    num_hidden = 0
    for seat in range(1, rules.players):
        num_hidden += popcount(world.hand[seat, 0]) + popcount(world.hand[seat, 1])
    if world.dealer != 0 and world.phase == PLAY:
        num_hidden += int(rules.talon_size)
    if num_hidden == 0:
        return False
    source, card = take_hidden(world, rules, next_bot_number(game, num_hidden))
    target, other = take_hidden(world, rules, next_bot_number(game, num_hidden))
    if source == target or not (may_move(world, rules, card, target) and may_move(world, rules, other, source)):
        return False
    move(world, card, source, target)
    move(world, other, target, source)
    return True


@kernel
def wander(
    rows: Any, rules: Any, plays: Any, mind: Any, steps: int, likelihood: float, temperature: float, stray: float
) -> float:  # fmt: skip
    """Go ``steps`` of the chain from the world in ``rows[1]`` and return its log likelihood at the end.

    Args:
        rows: 0 the recalled row, whose bot generator moves; 1 the world; 3 and 4 scratch.
        rules: record of ``rules_table``.
        plays: what ``list_plays`` wrote.
        mind: scratch notes.
        steps: changes to propose.
        likelihood: of the world at the start.
        temperature: as of ``log_likelihood``.
        stray: the same.
    """
    for _ in range(steps):
        rows[4] = rows[1]
        changed = False
        for _ in range(1 + next_bot_number(rows[0], MOST_SWAPS)):
            changed |= swap_some(rows[0], rules, rows[4])
        if changed:
            # The ratio of likelihoods is compared with a number of (0, 1]: drawn first, it ends most replays early.
            floor = likelihood + math.log(1 - next_bot_share(rows[0]))
            other = log_likelihood(rows[4], rules, plays, rows[3], mind, temperature, stray, floor)
            if other >= floor:
                rows[1] = rows[4]
                likelihood = other
    return likelihood
