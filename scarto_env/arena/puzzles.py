"""Positions with a known best card, on which every bot can be scored.

Each is the ending of a deal in which one card, or several alike, is best in every world that agrees with what the
seat knows, when all seats play on by max-n (each for its own points, all hands seen), and any other is worse by a
point or so on average over those worlds.
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from scarto_env.bots import make_bot
from scarto_env.cards import parse_card
from scarto_env.notation import Record, load_records, position

PUZZLES_FILE: Final = Path(__file__).with_name("puzzles.stn")
_BEST: Final = "Best"
_WHY: Final = "Why"


@dataclasses.dataclass(frozen=True)
class Puzzle:
    """One position.

    Attributes:
        record: an unfinished deal; its last position is the puzzle.
        best: the cards that solve it.
        why: what the analysis found.
    """

    record: Record
    best: frozenset[int]
    why: str


@functools.cache
def load_puzzles(path: Path = PUZZLES_FILE) -> tuple[Puzzle, ...]:
    """Return the puzzles of a file of records with the tags ``Best`` and ``Why``."""
    puzzles = []
    for record in load_records(path):
        tags = dict(record.tags)
        puzzles.append(Puzzle(record, frozenset(map(parse_card, tags[_BEST].split())), tags[_WHY]))
    return tuple(puzzles)


@dataclasses.dataclass(frozen=True)
class PuzzleScore:
    """Which puzzles a bot has solved.

    Attributes:
        cards: its card in each.
        solved: whether that is a best one.
    """

    cards: tuple[int, ...]
    solved: tuple[bool, ...]

    def __str__(self) -> str:
        """Return how many of how many."""
        return f"{sum(self.solved)} of {len(self.solved)}"


def solve_puzzles(bot: Any, seed: int = 0) -> PuzzleScore:
    """Return how a bot, or what ``make_bot`` takes, does on the puzzles."""
    puzzles = load_puzzles()
    cards = []
    for puzzle in puzzles:
        batch = position(puzzle.record)
        player = make_bot(bot, puzzle.record.rules, seed)
        cards.append(int(np.asarray(player.act(batch.observation, batch.action_mask))[0]))
    return PuzzleScore(tuple(cards), tuple(card in puzzle.best for card, puzzle in zip(cards, puzzles, strict=True)))
