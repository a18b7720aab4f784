"""Worlds weighted by how likely the others would have played as seen (``likelihood``).

The weighted worlds are a Metropolis chain: from a uniformly drawn world, a few pairs of hidden cards change places
and the new world is kept with the ratio of the likelihoods.  Without likelihood the chain keeps the
uniform distribution; with it the chain approaches the weighted one, the better the more steps lie between worlds.
"""

from __future__ import annotations

from typing import Any, Final

from scarto_env.bots.draws import next_bot_share
from scarto_env.bots.likelihood import NUM_KINDS, likelihood
from scarto_env.cards import ALL_TRUMPS, BAGATTO_BIT, FIRST_TRUMP, FOOL_BIT
from scarto_env.jit import kernel, popcount
from scarto_env.play import card_at, next_bot_number
from scarto_env.state import PLAY

BURN_IN: Final = 160
"""Steps before the first world, so that the chain forgets its uniform start."""
DOUBT: Final = 0.1
"""Chance that a seat plays by other lights altogether."""
MOST_SWAPS: Final = 3
"""Exchanges proposed at once, from 1 up: what a lead tells of lengths is often kept by two, and broken by one."""


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
    rows: Any, rules: Any, moments: Any, mind: Any, past: Any, steps: int, reached: float,
    temperature: float, stray: float, doubt: float,
) -> float:  # fmt: skip
    """Go ``steps`` of the chain from the world in ``rows[1]`` and return its likelihood at the end.

    Args:
        rows: 0 the recalled row, whose bot generator moves; 1 the world; 3 and 4 scratch.
        rules: record of ``rules_table``.
        moments: what ``list_choices`` wrote.
        mind: scratch notes.
        past: what ``list_choices`` wrote; ``past.share`` holds the likelihoods of the world at the start.
        steps: changes to propose.
        reached: likelihood of the world at the start.
        temperature: as of ``likelihood``.
        stray: the same.
        doubt: the same.
    """
    for _ in range(steps):
        rows[4] = rows[1]
        changed = False
        for _ in range(1 + next_bot_number(rows[0], MOST_SWAPS)):
            changed |= swap_some(rows[0], rules, rows[4])
        if changed:
            # The ratio of likelihoods is compared with a number of (0, 1]: drawn first, it ends most judgements early.
            floor = reached * (1 - next_bot_share(rows[0]))
            other = likelihood(rows[4], rows[1], rules, rows[3], moments, mind, past, temperature, stray, doubt, floor)
            if other >= floor:
                rows[1] = rows[4]
                keep(past, rules)
                reached = other
    return reached


@kernel
def keep(past: Any, rules: Any) -> None:
    """Let the world judged last be the chain's."""
    for seat in range(1, rules.players):
        for kind in range(NUM_KINDS):
            past.share[seat, kind] = past.trial[seat, kind]
