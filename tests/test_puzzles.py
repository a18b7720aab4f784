"""Puzzles: their best cards are proved anew, and bots are scored on them."""

import numpy as np
import pytest
from test_belief import View, empty_rows

from scarto_env.arena.puzzles import PUZZLES_FILE, load_puzzles, solve_puzzles
from scarto_env.bots.endgame import new_stack, solve
from scarto_env.bots.history import MOST_PLAYS, recall_piles
from scarto_env.jit import kernel
from scarto_env.notation import load_records, position, write_record
from scarto_env.play import act
from scarto_env.rules import card_set
from scarto_env.state import OVER, SCORE_UNITS

QUICK = 12
"""Worlds up to which a puzzle is proved in the quick tests."""


@kernel
def play_on(worlds, table, rows, stack, cards, out):
    """Write what seat 0 scores by max-n after each card, [worlds, cards]."""
    for world in range(len(worlds)):
        for place in range(len(cards)):
            rows[0] = worlds[world]
            act(rows[0], table[0], cards[place])
            if rows[0].phase == OVER:
                out[world, place] = rows[0].settled[0]
            else:
                solve(rows, table[0], stack)
                out[world, place] = stack[0].value[0]


def analysed(puzzle):
    """Return the legal cards and what they score in every world, in points: [cards], [worlds, cards]."""
    batch = position(puzzle.record)
    view = View(batch)
    recall_piles(view.rows[0], view.table[0], np.zeros(MOST_PLAYS, np.int64), view.rows[3])
    found = sorted(view.enumerate())
    worlds = empty_rows(len(found))
    for index, (*hands, discard) in enumerate(found):
        worlds[index] = view.rows[0]
        for seat, hand in enumerate(hands, 1):
            worlds[index].hand[seat] = card_set(hand)
        worlds[index].discarded[:] = card_set(discard)
    cards = np.flatnonzero(batch.action_mask[0])
    out = np.zeros((len(worlds), len(cards)), np.int64)
    play_on(worlds, view.table, *new_stack(), cards, out)
    return cards, out / (SCORE_UNITS * batch.rules.players)


def prove(puzzle) -> None:
    cards, scores = analysed(puzzle)
    best = np.isin(cards, list(puzzle.best))
    assert best.any() and not best.all()
    assert (scores[:, best].min(axis=1) >= scores.max(axis=1)).all()
    means = scores.mean(axis=0)
    assert means[best].min() - means[~best].max() > 0.85
    assert f"each of {len(scores)} worlds" in puzzle.why


def worlds_of(puzzle) -> int:
    return int(puzzle.why.split("each of ")[1].split()[0])


def test_there_are_twenty_puzzles_at_least_and_small_ones_are_proved() -> None:
    puzzles = load_puzzles()
    assert len(puzzles) >= 20
    quick = [puzzle for puzzle in puzzles if worlds_of(puzzle) <= QUICK]
    assert len(quick) >= 10
    for puzzle in quick:
        prove(puzzle)


@pytest.mark.slow
def test_every_puzzle_is_proved() -> None:
    for puzzle in load_puzzles():
        prove(puzzle)


def test_puzzles_are_records_that_write_as_they_read() -> None:
    text = PUZZLES_FILE.read_text(encoding="utf-8")
    assert all(write_record(record).strip() in text for record in load_records(PUZZLES_FILE))


def test_better_bots_solve_more() -> None:
    scores = {bot: sum(solve_puzzles(bot).solved) for bot in ("random", "greedy", "heuristic", "search:worlds=60")}
    assert scores["search:worlds=60"] >= scores["heuristic"] > scores["random"]
    assert scores["search:worlds=60"] > 0.8 * len(load_puzzles())
