"""Information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012): one tree over many worlds.

A node is what was played in public since the root, seen by the searching seat.  Each iteration takes a world,
goes down by the cards that are legal in it (UCB, counting how often a card was there to choose), adds one node and
plays out.  Every seat maximises its own score.  Nodes are kept in one array of fixed size: once it is full the tree
grows no more, but learns on.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from scarto_env.bots.heuristic import card_worth
from scarto_env.bots.knowledge import note_position
from scarto_env.bots.worlds import play_out
from scarto_env.cards import FIRST_TRUMP
from scarto_env.jit import kernel, lowest_bit
from scarto_env.play import act, is_legal
from scarto_env.state import MAX_PLAYERS, OVER, SCORE_UNITS

EXPLORE: Final = 6.0
"""Points of the exploration term of UCB: about two thirds of the deviation of a hand."""
DEEPEST: Final = 96
"""Length of a path at most."""
_NONE: Final = 0
"""No node: the root is nobody's child."""

NODE: Final = np.dtype(
    [
        ("card", np.int64),
        ("child", np.int64),  # first of the cards tried after it
        ("sibling", np.int64),
        ("visits", np.int64),
        ("available", np.int64),  # iterations in which it could have been chosen
        ("value", np.float64, (MAX_PLAYERS,)),  # sum of each seat's settled scores, in points
    ],
    align=True,
)


def new_nodes(number: int) -> np.recarray[Any, Any]:
    """Return room for a tree of ``number`` nodes."""
    return np.zeros(number, NODE).view(np.recarray)


@kernel
def clear_node(nodes: Any, index: int, card: int) -> None:
    """Begin a node."""
    node = nodes[index]
    node.card = card
    node.child = _NONE
    node.visits = 0
    node.available = 0
    for seat in range(MAX_PLAYERS):
        node.value[seat] = 0


@kernel
def untried_card(nodes: Any, parent: int, row: Any, rules: Any, mind: Any) -> int:
    """Return the legal card that the heuristic likes best among those without a node, -1 if all have one."""
    plain, tarocchi = row.legal[0], row.legal[1]
    index = nodes[parent].child
    while index != _NONE:
        card = nodes[index].card
        if card < FIRST_TRUMP:
            plain &= ~(1 << card)
        else:
            tarocchi &= ~(1 << (card - FIRST_TRUMP))
        index = nodes[index].sibling
    best = -1
    if plain or tarocchi:
        note_position(row, rules, mind)
        best_worth = -np.inf
        for word in range(2):
            rest = tarocchi if word else plain
            while rest:
                card = lowest_bit(rest) + FIRST_TRUMP * word
                rest &= rest - 1
                worth = card_worth(row, rules, card, mind)
                if worth > best_worth:
                    best, best_worth = card, worth
    return best


@kernel
def promising_child(nodes: Any, parent: int, row: Any) -> int:
    """Return the legal child with the highest upper bound for the seat to act, counting all legal ones as available."""
    best = _NONE
    best_bound = -np.inf
    index = nodes[parent].child
    while index != _NONE:
        node = nodes[index]
        if is_legal(row, node.card):
            node.available += 1
            bound = node.value[row.seat] / node.visits + EXPLORE * math.sqrt(math.log(node.available) / node.visits)
            if bound > best_bound:
                best, best_bound = index, bound
        index = node.sibling
    return best


@kernel
def add_child(nodes: Any, parent: int, index: int, card: int) -> None:
    """Make node ``index`` a child of ``parent``."""
    clear_node(nodes, index, card)
    nodes[index].available = 1
    nodes[index].sibling = nodes[parent].child
    nodes[parent].child = index


@kernel
def note_available(nodes: Any, parent: int, row: Any) -> None:
    """Count the legal children of ``parent`` as available."""
    index = nodes[parent].child
    while index != _NONE:
        if is_legal(row, nodes[index].card):
            nodes[index].available += 1
        index = nodes[index].sibling


@kernel
def descend(nodes: Any, row: Any, rules: Any, mind: Any, path: Any, num_nodes: int) -> int:
    """Go down the tree in a world, adding a node if there is room; return the length of ``path``."""
    path[0] = 0
    depth = 1
    parent = 0
    while row.phase != OVER and depth < DEEPEST:
        card = untried_card(nodes, parent, row, rules, mind) if num_nodes < len(nodes) else -1
        if card >= 0:
            note_available(nodes, parent, row)
            add_child(nodes, parent, num_nodes, card)
            path[depth] = num_nodes
            act(row, rules, card)
            return depth + 1
        parent = promising_child(nodes, parent, row)
        if parent == _NONE:
            return depth
        path[depth] = parent
        depth += 1
        act(row, rules, int(nodes[parent].card))
    return depth


@kernel
def grow(rows: Any, rules: Any, minds: Any, plan: Any, stack: Any, nodes: Any, path: Any) -> None:
    """Let the tree learn from the world in ``rows[1]``; the first world of a search begins a new tree."""
    unit = SCORE_UNITS * int(rules.players)
    if plan.worlds == 0:
        clear_node(nodes, 0, -1)
        plan.num_nodes = 1
    plan.worlds += 1
    rows[2] = rows[1]
    length = descend(nodes, rows[2], rules, minds[0], path, plan.num_nodes)
    plan.num_nodes = max(plan.num_nodes, path[length - 1] + 1)
    play_out(rows, rules, minds, plan, stack, -1)
    for place in range(length):
        node = nodes[path[place]]
        node.visits += 1
        for seat in range(rules.players):
            node.value[seat] += rows[2].settled[seat] / unit


@kernel
def chosen_card(nodes: Any, plan: Any) -> int:
    """Return the root's card visited most, the better of equals; the favourite before any visit."""
    best = _NONE
    index = nodes[0].child
    while index != _NONE:
        node = nodes[index]
        if best == _NONE or (node.visits, node.value[0]) > (nodes[best].visits, nodes[best].value[0]):
            best = index
        index = node.sibling
    return int(plan.favourite) if best == _NONE else int(nodes[best].card)
