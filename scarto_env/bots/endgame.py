"""The last tricks of a world solved exactly by max-n: every seat plays for its own points and sees all hands.

The solution concept: each seat takes the card that brings itself most, given that the later ones do the same;
between equals it takes the card that leaves the present winner of the trick least, then the lowest.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scarto_env.cards import FIRST_TRUMP
from scarto_env.jit import kernel, lowest_bit
from scarto_env.play import act
from scarto_env.state import GAME, MAX_PLAYERS, OVER

MOST_TRICKS: Final = 5
"""Deepest ending that ``solve`` has room for; the work grows about tenfold with each trick."""
_MOST_CARDS: Final = MOST_TRICKS * MAX_PLAYERS

STACK: Final = np.dtype(
    [
        ("rest", np.int64, (2,)),  # cards not tried yet
        ("card", np.int64),  # the one being tried
        ("best", np.int64),  # the best so far, -1 before any
        ("rival", np.int64),  # who wins the trick on the table, or -1
        ("value", np.int64, (MAX_PLAYERS,)),  # settled scores after the best card
    ],
    align=True,
)


def new_stack() -> tuple[np.recarray[Any, Any], np.recarray[Any, Any]]:
    """Return scratch for ``solve``: the rows of a line of play, and what has been tried at each."""
    rows = np.zeros(_MOST_CARDS + 1, GAME).view(np.recarray)
    return rows, np.zeros(_MOST_CARDS + 1, STACK).view(np.recarray)


@kernel
def open_node(rows: Any, stack: Any, depth: int) -> None:
    """Begin to try the cards of a row."""
    stack[depth].best = -1
    stack[depth].rest[0] = rows[depth].legal[0]
    stack[depth].rest[1] = rows[depth].legal[1]
    stack[depth].rival = rows[depth].best_seat


@kernel
def next_card(stack: Any, depth: int) -> int:
    """Return the next card to try and take it off the list, -1 if there is none."""
    for word in range(2):
        rest = stack[depth].rest[word]
        if rest:
            stack[depth].rest[word] = rest & (rest - 1)
            return lowest_bit(rest) + FIRST_TRUMP * word
    return -1


@kernel
def is_better(value: Any, node: Any, seat: int) -> bool:
    """Return whether scores ``value`` suit ``seat`` better than the node's best."""
    if node.best < 0 or value[seat] != node.value[seat]:
        return bool(node.best < 0 or value[seat] > node.value[seat])
    return bool(node.rival >= 0 and node.rival != seat and value[node.rival] < node.value[node.rival])


@kernel
def offer(rows: Any, stack: Any, depth: int, value: Any) -> None:
    """Tell the node at ``depth`` what the card it is trying leads to."""
    node = stack[depth]
    if is_better(value, node, int(rows[depth].seat)):
        node.best = node.card
        for seat in range(MAX_PLAYERS):
            node.value[seat] = value[seat]


@kernel
def solve(rows: Any, rules: Any, stack: Any) -> int:
    """Return the max-n card of the seat to act in ``rows[0]``; ``stack[0].value`` gets the settled scores.

    Args:
        rows: a full row in ``rows[0]`` with at most ``MOST_TRICKS`` tricks left, then scratch.
        rules: record of ``rules_table``.
        stack: scratch.
    """
    depth = 0
    open_node(rows, stack, 0)
    while True:
        card = next_card(stack, depth)
        if card < 0:
            if depth == 0:
                return int(stack[0].best)
            depth -= 1
            offer(rows, stack, depth, stack[depth + 1].value)
            continue
        stack[depth].card = card
        rows[depth + 1] = rows[depth]
        act(rows[depth + 1], rules, card)
        if rows[depth + 1].phase == OVER:
            offer(rows, stack, depth, rows[depth + 1].settled)
        else:
            depth += 1
            open_node(rows, stack, depth)
