"""A search in preparation: the recalled position, its worlds one after another, and how a deal is played out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scarto_env.bots.belief import believe, imagine, new_belief
from scarto_env.bots.draws import keyed
from scarto_env.bots.endgame import new_stack, solve
from scarto_env.bots.heuristic import heuristic_card, only_card
from scarto_env.bots.history import MOST_PLAYS, recall_piles
from scarto_env.bots.inference import keep, wander
from scarto_env.bots.knowledge import new_mind
from scarto_env.bots.likelihood import likelihood, list_choices, new_past
from scarto_env.bots.recall import recall
from scarto_env.bots.style import EXPERT, HEURISTIC
from scarto_env.cards import (
    ALL_TRUMPS,
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    NUM_CARDS,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, popcount
from scarto_env.play import act, card_at, is_legal, next_bot_number, random_card
from scarto_env.state import GAME, OVER, PLAY

RANDOM_PLAYOUT: Final = 0
HEURISTIC_PLAYOUT: Final = 1
EXPERT_PLAYOUT: Final = 2
"""Ways to play out: the last lets the searching seat go on as the expert among heuristic players."""
MOMENT_ROW: Final = 5
SOLVER_ROW: Final = MOMENT_ROW + MOST_PLAYS
"""Rows: the recalled position, the world, the trial, scratch, a proposed world, the others' choices, the solver's."""
_FIRST_TOP: Final = FOOL - 2
"""XX and XXI, whose order is a matter of the rules (A3)."""

PLAN: Final = np.dtype(
    [
        ("total", np.float64, (NUM_CARDS,)),  # sum of scores of each candidate
        ("held", np.float64, (NUM_CARDS,)),  # the same if a lead's suit is led on: the better of both counts
        ("score", np.float64, (NUM_CARDS, 2)),  # of each candidate in the latest world, both ways
        ("spread", np.float64, (NUM_CARDS,)),  # sum of squares of what it gains on the favourite, the larger of both
        ("tried", np.int8, (NUM_CARDS,)),  # candidates: legal, and not the twin of another
        ("every", np.bool_),  # every legal card is tried in every world, an only one and twins too
        ("plays", np.int64, (MOST_PLAYS,)),  # what ``list_plays`` wrote
        ("likelihood", np.float64),  # of the chain's world
        ("open", np.int64),  # 1 while there is anything to search
        ("worlds", np.int64),  # tried so far
        ("favourite", np.int64),  # the card that the seat's own rules would play
        ("favour", np.float64),  # its bonus in points, times the square root of the number of worlds
        ("sure", np.float64),  # deviations by which a candidate is beaten for good; 0: none is
        ("plans", np.bool_),  # leads are tried with their suit led on, too
        ("playout", np.int64),
        ("exact", np.int64),  # last tricks of a playout that are solved
        ("num_nodes", np.int64),  # of the tree
        ("steps", np.int64),  # of the chain between worlds; 0: worlds are drawn uniformly
        ("burn_in", np.int64),  # steps before the first world, so that the chain forgets its start
        ("temperature", np.float64),
        ("stray", np.float64),
        ("doubt", np.float64),  # chance that a seat plays by other lights
    ],
    align=True,
)
"""A search in progress and its settings."""

Work = tuple[Any, Any, Any, Any, Any]
"""What kernels work with: rows, counts of worlds, two players' notes, others' choices, what the solver has tried."""


def new_rows(number: int) -> np.recarray[Any, Any]:
    """Return empty rows of games."""
    return np.zeros(number, GAME).view(np.recarray)


def new_work() -> Work:
    """Return working memory for one call."""
    solver_rows, stack = new_stack()
    rows = new_rows(SOLVER_ROW + len(solver_rows))
    return rows, new_belief(), new_mind(HEURISTIC, EXPERT), new_past(), stack


@kernel
def keep_to_suit(game: Any, suit: int) -> None:
    """Leave of the legal cards those of a suit, or of the trumps, if there are any; ``act`` sets them anew."""
    plain = 0 if suit == TRUMPS else game.legal[0] & SUIT_BITS << (SUIT_SIZE * suit)
    tarocchi = game.legal[1] & ALL_TRUMPS if suit == TRUMPS else 0
    if plain or tarocchi:
        game.legal[0] = plain
        game.legal[1] = tarocchi


@kernel
def play_out(rows: Any, rules: Any, minds: Any, plan: Any, stack: Any, suit: int) -> None:
    """Play the deal in ``rows[2]`` to its end, the last ``plan.exact`` tricks by max-n.

    With a ``suit`` of 0 or more the searching seat, 0, leads that suit as long as it has any.
    """
    while rows[2].phase != OVER:
        if rows[2].turn == 0 and rules.tricks - rows[2].trick <= plan.exact:
            rows[SOLVER_ROW] = rows[2]
            solve(rows[SOLVER_ROW:], rules, stack)
            for seat in range(rules.players):
                rows[2].settled[seat] = stack[0].value[seat]
            return
        if suit >= 0 and rows[2].seat == 0 and rows[2].turn == 0 and rows[2].phase == PLAY:
            keep_to_suit(rows[2], suit)
        if plan.playout == RANDOM_PLAYOUT:
            act(rows[2], rules, random_card(rows[2]))
        else:
            expert = plan.playout == EXPERT_PLAYOUT and rows[2].seat == 0
            act(rows[2], rules, heuristic_card(rows[2], rules, minds[int(expert)]))


@kernel
def prepare(
    observation: Any, mask: Any, rules: Any, rows: Any, belief: Any, minds: Any, past: Any, plan: Any, seed: Any
) -> None:  # fmt: skip
    """Recall the position and count its worlds; ``plan.open`` tells whether there is anything to search."""
    base = rows[0]
    mind = minds[int(plan.playout == EXPERT_PLAYOUT)]
    recall(observation, mask, rules, base)
    plan.favourite = heuristic_card(base, rules, mind)
    plan.open = 0
    past.number = 0
    if only_card(base) >= 0 and not plan.every:
        return
    base.bot_random = keyed(base, rules, seed)
    for seat in range(rules.players):
        base.pile_value[seat] = 0
        base.pile_size[seat] = 0
    if base.phase == PLAY:
        recall_piles(base, rules, plan.plays, rows[3])
        if plan.steps > 0:
            list_choices(base, rules, plan.plays, rows[3], rows[MOMENT_ROW:], past)
    plan.worlds = 0
    for card in range(NUM_CARDS):
        plan.total[card] = 0
        plan.held[card] = 0
        plan.spread[card] = 0
        plan.tried[card] = is_legal(base, card)
    if not plan.every:
        drop_twins(base, rules, mind, plan)
    plan.open = believe(base, rules, belief) > 0


@kernel
def open_search(
    observation: Any, mask: Any, table: Any, rows: Any, belief: Any, minds: Any, past: Any, plan: Any, seed: Any
) -> bool:  # fmt: skip
    """Prepare the search of one seat; return whether there is anything to search."""
    prepare(observation, mask, table[0], rows, belief[0], minds, past[0], plan[0], seed)
    return bool(plan[0].open)


@kernel
def drop_twins(game: Any, rules: Any, mind: Any, plan: Any) -> None:
    """Leave one of cards that do the same: of one suit and value, with no card between that could part them.

    ``mind`` holds the notes on the position.  The favourite stays.  The Bagatto, XX and XXI have no twins.
    """
    last = -1
    for card in range(FOOL):
        suit = min(card // SUIT_SIZE, TRUMPS)
        place = card - suit * SUIT_SIZE
        on_table = game.trick_cards[1] >> place if suit == TRUMPS else game.trick_cards[0] >> card
        if place == 0 or card >= _FIRST_TOP or (mind.out[suit] >> place | on_table) & 1:
            last = -1
        if not plan.tried[card]:
            continue
        if last < 0 or rules.value[card] != rules.value[last]:
            last = -1 if card == BAGATTO else card
        elif card == plan.favourite:
            plan.tried[last] = 0
            last = card
        else:
            plan.tried[card] = 0


@kernel
def next_world(rows: Any, rules: Any, belief: Any, mind: Any, past: Any, drawn: Any, plan: Any) -> None:
    """Put the next world into ``rows[1]``: of those drawn beforehand, drawn uniformly, or the chain's next."""
    if len(drawn):
        rows[1] = drawn[plan.worlds % len(drawn)]
        return
    weighted = plan.steps > 0 and rows[0].phase == PLAY
    moments = rows[MOMENT_ROW:]
    steps = plan.steps
    if not weighted or plan.worlds == 0:
        rows[1] = rows[0]
        imagine(rows[0], rules, belief, rows[1])
        if weighted:
            steps = plan.burn_in
            plan.likelihood = likelihood(
                rows[1], rows[0], rules, rows[3], moments, mind, past, plan.temperature, plan.stray, plan.doubt, 0.0
            )
            keep(past, rules)
    if weighted:
        plan.likelihood = wander(
            rows, rules, moments, mind, past, steps, plan.likelihood, plan.temperature, plan.stray, plan.doubt
        )


@kernel
def imagine_talon(game: Any, rules: Any, world: Any) -> None:
    """Draw the talon of another seat's deal from the dealer's full hand in a world; moves ``game``'s bot generator."""
    dealer = int(world.dealer)
    if dealer == 0:
        return
    plain = world.hand[dealer, 0] | world.played[dealer, 0] | world.discarded[0]
    tarocchi = world.hand[dealer, 1] | world.played[dealer, 1] | world.discarded[1]
    size = popcount(plain) + popcount(tarocchi)
    world.talon[0] = 0
    world.talon[1] = 0
    for _ in range(rules.talon_size):
        card = card_at(plain, tarocchi, next_bot_number(game, size))
        size -= 1
        if card < FIRST_TRUMP:
            plain &= ~(1 << card)
            world.talon[0] |= 1 << card
        else:
            tarocchi &= ~(1 << (card - FIRST_TRUMP))
            world.talon[1] |= 1 << (card - FIRST_TRUMP)
