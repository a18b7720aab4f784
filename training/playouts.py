"""What every legal card would bring: the true deal played to its end from each of them, by thumb rules.

One deal tells little about one position, but the truth about the hands, and the same truth for all of its cards: over
many deals a policy learns what a search finds that imagines many worlds for one position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarto_env import Batch, Rules
from scarto_env.bots.heuristic import heuristic_card, lowest_pips
from scarto_env.bots.knowledge import new_mind
from scarto_env.bots.policy_features import original_card
from scarto_env.bots.style import EXPERT
from scarto_env.cards import FIRST_TRUMP, NUM_CARDS
from scarto_env.jit import as_argument, kernel
from scarto_env.play import act
from scarto_env.rules import rules_table
from scarto_env.state import GAME, OVER, SCORE_UNITS


@kernel
def play_by_rules(row: Any, rules: Any, minds: Any, second: Any) -> None:
    """Play a deal to its end by thumb rules: the seats in ``second`` [P] by ``minds[1]``, others by ``minds[0]``."""
    while row.phase != OVER:
        act(row, rules, heuristic_card(row, rules, minds[int(second[int(row.seat)])]))


@kernel
def play_cards_out(
    games: Any, rows: Any, table: Any, theirs: Any, minds: Any, order: Any, mask: Any, trial: Any, values: Any
) -> None:  # fmt: skip
    """Write to ``values`` [N, 78] the points of the seat to act after each legal card, 0 elsewhere.

    Args:
        games: [B] rows of games.
        rows: [N] int64, which of the B.
        table: ``rules_table``.
        theirs: [B, P] bool, the seats that go on by ``minds[1]``; the others go on by ``minds[0]``.
        minds: two players' notes.
        order: [N, 4], the suit at each canonical place.
        mask: [N, 78], legal cards in canonical order, as ``values`` are.
        trial: one row to play in.
        values: written.
    """
    rules = table[0]
    unit = SCORE_UNITS * int(rules.players)
    for index in range(len(rows)):
        game = games[rows[index]]
        lowest = lowest_pips(game.legal[0])
        for place in range(NUM_CARDS):
            if not mask[index, place]:
                values[index, place] = 0
                continue
            card = original_card(place, order[index])
            if card < FIRST_TRUMP and not (lowest >> card) & 1:
                values[index, place] = values[index, place - 1]  # the next pip does the same
                continue
            trial[0] = game
            act(trial[0], rules, card)
            play_by_rules(trial[0], rules, minds, theirs[rows[index]])
            values[index, place] = trial[0].settled[game.seat] / unit


class Playouts:
    """Plays deals out, the learner's seats by the expert's rules.

    Args:
        rules: the rules.
        theirs: [B, P] bool, the seats that another plays.
    """

    def __init__(self, rules: Rules, theirs: NDArray[np.bool_]) -> None:
        self._table, self._theirs = rules_table(rules), theirs
        self._trial = np.zeros(1, GAME).view(np.recarray)

    def values(
        self, batch: Batch, rows: NDArray[np.int64], style: NDArray[Any], order: NDArray[np.int8],
        mask: NDArray[np.int8],
    ) -> NDArray[np.float32]:  # fmt: skip
        """Return the points after each legal card of some rows, [N, 78] in canonical order, 0 elsewhere.

        Args:
            batch: B games.
            rows: [N], which of them.
            style: numbers that the others play by.
            order: [N, 4], the suit at each canonical place.
            mask: [N, 78], legal cards in canonical order.
        """
        values = np.empty((len(rows), NUM_CARDS), np.float32)
        games, minds = as_argument(batch.games), new_mind(EXPERT, style)
        play_cards_out(games, rows, self._table, self._theirs, minds, order, mask, self._trial, values)
        return values
