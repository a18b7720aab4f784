"""Worlds: ways to deal the hidden cards that agree with everything a seat knows.

Hidden cards are grouped by the places that may hold them (other hands, the discard).  There are few groups, so
the number of worlds is counted exactly by dynamic programming over them and a world is drawn exactly uniformly
(up to the rounding of floating point), without rejection.  What is respected: the sizes of hands, voids and
bounds on trumps shown in play (A12, A13), what may not be laid away (A9), the cards laid away by oneself.

The Bagatto may lie in the discard only if the dealer's full hand held no other trump (A9), which ties all
trumps together: these worlds are counted apart, as a second case.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scarto_env.bots.draws import next_bot_share
from scarto_env.bots.knowledge import deck_words
from scarto_env.cards import ALL_TRUMPS, BAGATTO_BIT, FOOL_BIT
from scarto_env.jit import kernel, popcount
from scarto_env.play import next_bot_number
from scarto_env.state import MAX_PLAYERS, PLAY

_DISCARD_PLACE = MAX_PLAYERS - 1
_LAST_HAND = MAX_PLAYERS - 2
"""Places: the next seat's hand 0, the previous seat's 2, with four players the one between 1; the discard 3."""
_DISCARD_BIT = 1 << _DISCARD_PLACE
_ALL_PLACES = (1 << MAX_PLAYERS) - 1
NUM_CASES = 2
_MOST_STATES = 1200
"""20 x 20 x 3 for four players; three need 26 x 7."""
_MOST_CARDS = 79

BELIEF: Final = np.dtype(
    [
        ("group", np.int64, (NUM_CASES, _ALL_PLACES + 1, 2)),  # hidden cards by the set of places allowed
        ("ways", np.float64, (NUM_CASES, _ALL_PLACES + 2, _MOST_STATES)),
        ("room", np.int64, (MAX_PLAYERS,)),  # cards each place holds
        ("left", np.int64, (MAX_PLAYERS,)),  # scratch: room not yet filled
        ("taken", np.int64, (MAX_PLAYERS,)),  # scratch: cards of a group for each place
        ("worlds", np.float64, (NUM_CASES,)),  # number of worlds: the Bagatto elsewhere, the Bagatto laid away
        ("factorial", np.float64, (_MOST_CARDS,)),
    ],
    align=True,
)
"""What has been counted for one position."""


def new_belief() -> np.recarray[Any, Any]:
    """Return one record to count in."""
    belief = np.zeros(1, BELIEF).view(np.recarray)
    belief.factorial[0, 0] = 1
    for number in range(1, _MOST_CARDS):
        belief.factorial[0, number] = belief.factorial[0, number - 1] * number
    return belief


@kernel
def place_of(seat: int, players: int) -> int:
    """Return the place that stands for a seat's hand."""
    return _LAST_HAND if seat == players - 1 else seat - 1


@kernel
def believe(game: Any, rules: Any, belief: Any) -> float:
    """Count the worlds of a recalled row and return how many there are: 0 for an impossible row."""
    note_room(game, rules, belief)
    total = 0.0
    for case in range(NUM_CASES):
        belief.worlds[case] = 0
        if case == 0 or bagatto_may_lie(game, rules, belief):
            group_cards(game, rules, belief, case)
            belief.worlds[case] = count_worlds(belief, case)
        total += belief.worlds[case]
    return total


@kernel
def note_room(game: Any, rules: Any, belief: Any) -> None:
    """Note how many hidden cards each place holds; the viewer is seat 0."""
    for place in range(MAX_PLAYERS):
        belief.room[place] = 0
    for seat in range(1, rules.players):
        num_played = popcount(game.played[seat, 0]) + popcount(game.played[seat, 1])
        belief.room[place_of(seat, rules.players)] = rules.hand_size - num_played
    if game.dealer != 0:
        place = _DISCARD_PLACE if game.phase == PLAY else place_of(game.dealer, rules.players)
        belief.room[place] += rules.talon_size


@kernel
def bagatto_may_lie(game: Any, rules: Any, belief: Any) -> bool:
    """Return whether the Bagatto may be in a discard that the viewer has not seen (A9)."""
    if belief.room[_DISCARD_PLACE] == 0 or rules.never_discard[1] & BAGATTO_BIT:
        return False
    seen = game.hand[0, 1]
    for seat in range(rules.players):
        seen |= game.played[seat, 1]
    trumps = ALL_TRUMPS | FOOL_BIT if rules.bagatto_fool_blocks else ALL_TRUMPS
    return not (seen & BAGATTO_BIT or game.played[game.dealer, 1] & trumps)


@kernel
def group_cards(game: Any, rules: Any, belief: Any, case: int) -> None:
    """Sort the hidden cards by the set of places that may hold them."""
    players = int(rules.players)
    plain, tarocchi = deck_words(rules)
    for seat in range(players):
        plain &= ~game.played[seat, 0]
        tarocchi &= ~game.played[seat, 1]
    plain &= ~(game.hand[0, 0] | game.discarded[0])
    tarocchi &= ~(game.hand[0, 1] | game.discarded[1])
    for places in range(_ALL_PLACES + 1):
        belief.group[case, places, 0] = 0
        belief.group[case, places, 1] = 0
    kept = ALL_TRUMPS & ~BAGATTO_BIT
    if rules.bagatto_fool_blocks:
        kept |= FOOL_BIT
    for word in range(2):
        rest = tarocchi if word else plain
        while rest:
            bit = rest & -rest
            rest &= rest - 1
            places = 0
            for seat in range(1, players):
                place = place_of(seat, players)
                if belief.room[place] and not game.lacks[seat, word] & bit:
                    places |= 1 << place
            if belief.room[_DISCARD_PLACE] and not rules.never_discard[word] & bit:
                places |= _DISCARD_BIT
            if word:
                if bit == BAGATTO_BIT:
                    places = _DISCARD_BIT if case else places & ~_DISCARD_BIT
                elif case and bit & kept:
                    places &= ~(_DISCARD_BIT | 1 << place_of(game.dealer, players))
            belief.group[case, places, word] |= bit


@kernel
def state_of(belief: Any, first: int, second: int, laid: int) -> int:
    """Return the number of a state: room left in the places, where the last hand has what the total leaves."""
    return int((first * (belief.room[1] + 1) + second) * (belief.room[_DISCARD_PLACE] + 1) + laid)


@kernel
def size_of_group(belief: Any, case: int, places: int) -> int:
    """Return how many hidden cards have exactly these places."""
    return popcount(belief.group[case, places, 0]) + popcount(belief.group[case, places, 1])


@kernel
def count_worlds(belief: Any, case: int) -> float:
    """Return the number of worlds of a case, leaving in ``ways`` how the later groups can fill what is left.

    The groups are gone through from the last to the first; ``ways[case, p]`` counts, for every room that the
    groups from ``p`` on may find, the ways to place their cards.
    """
    if size_of_group(belief, case, 0):
        return 0.0
    for state in range(_MOST_STATES):
        belief.ways[case, _ALL_PLACES + 1, state] = 0
    belief.ways[case, _ALL_PLACES + 1, 0] = 1
    total = 0
    for turn in range(_ALL_PLACES):
        places = _ALL_PLACES - turn
        total += size_of_group(belief, case, places)
        count_group(belief, case, places, total)
    room = belief.room
    if total != room[0] + room[1] + room[_LAST_HAND] + room[_DISCARD_PLACE]:
        return 0.0
    return float(belief.ways[case, 1, state_of(belief, room[0], room[1], room[_DISCARD_PLACE])])


@kernel
def count_group(belief: Any, case: int, places: int, total: int) -> None:
    """Write ``ways[case, places]`` for every state with room for exactly ``total`` cards."""
    size = size_of_group(belief, case, places)
    room = belief.room
    for first in range(room[0] + 1):
        for second in range(room[1] + 1):
            for laid in range(room[_DISCARD_PLACE] + 1):
                state = state_of(belief, first, second, laid)
                third = total - first - second - laid
                belief.ways[case, places, state] = 0
                if 0 <= third <= room[_LAST_HAND]:
                    if size == 0:
                        belief.ways[case, places, state] = belief.ways[case, places + 1, state]
                    else:
                        belief.left[0] = first
                        belief.left[1] = second
                        belief.left[_LAST_HAND] = third
                        belief.left[_DISCARD_PLACE] = laid
                        belief.ways[case, places, state] = split_group(belief, case, places, size, -1.0)


@kernel
def most_of(belief: Any, places: int, place: int, size: int) -> int:
    """Return how many of ``size`` cards a place may get."""
    return min(size, belief.left[place]) if places >> place & 1 else 0


@kernel
def split_group(belief: Any, case: int, places: int, size: int, target: float) -> float:
    """Go through the ways to split a group over the places with room ``left``; return their number.

    With a ``target`` of 0 or more, stop at the split at which the running number passes it: ``take`` then
    holds it.
    """
    total: float = 0.0
    for laid in range(most_of(belief, places, _DISCARD_PLACE, size) + 1):
        for first in range(most_of(belief, places, 0, size - laid) + 1):
            for second in range(most_of(belief, places, 1, size - laid - first) + 1):
                third = size - laid - first - second
                if third > most_of(belief, places, _LAST_HAND, size):
                    continue
                state = state_of(
                    belief, belief.left[0] - first, belief.left[1] - second, belief.left[_DISCARD_PLACE] - laid
                )
                later = belief.ways[case, places + 1, state]
                if later == 0:
                    continue
                factorial = belief.factorial
                orders = factorial[first] * factorial[second] * factorial[third] * factorial[laid]
                total += float(factorial[size] / orders * later)
                if target >= 0:
                    belief.taken[0] = first
                    belief.taken[1] = second
                    belief.taken[_LAST_HAND] = third
                    belief.taken[_DISCARD_PLACE] = laid
                    if total > target:
                        return total
    return total


@kernel
def imagine(game: Any, rules: Any, belief: Any, world: Any) -> None:
    """Write the hidden cards of a uniformly drawn world into ``world``, a copy of the recalled row ``game``.

    ``believe`` must have counted the worlds of ``game`` and found some.  Moves ``game``'s bot generator.
    """
    for seat in range(1, rules.players):
        world.hand[seat, 0] = 0
        world.hand[seat, 1] = 0
    if game.dealer != 0:
        world.discarded[0] = 0
        world.discarded[1] = 0
    drawn = next_bot_share(game) * (belief.worlds[0] + belief.worlds[1])
    case = 1 if drawn >= belief.worlds[0] and belief.worlds[1] > 0 else 0
    for place in range(MAX_PLAYERS):
        belief.left[place] = belief.room[place]
    for places in range(1, _ALL_PLACES + 1):
        size = size_of_group(belief, case, places)
        if size:
            first, second, laid = belief.left[0], belief.left[1], belief.left[_DISCARD_PLACE]
            ways = belief.ways[case, places, state_of(belief, first, second, laid)]
            split_group(belief, case, places, size, next_bot_share(game) * ways)
            for place in range(MAX_PLAYERS):
                belief.left[place] -= belief.taken[place]
            hand_out(game, rules, belief, case, places, size, world)


@kernel
def hand_out(game: Any, rules: Any, belief: Any, case: int, places: int, size: int, world: Any) -> None:
    """Give a group's cards, in random order, to the places by how many are ``taken`` for each."""
    taken = belief.taken
    for word in range(2):
        rest = belief.group[case, places, word]
        while rest:
            bit = rest & -rest
            rest &= rest - 1
            drawn = next_bot_number(game, size)
            size -= 1
            place = 0
            while drawn >= taken[place]:
                drawn -= taken[place]
                place += 1
            taken[place] -= 1
            if place == _DISCARD_PLACE:
                world.discarded[word] |= bit
            else:
                seat = rules.players - 1 if place == _LAST_HAND else place + 1
                world.hand[seat, word] |= bit
