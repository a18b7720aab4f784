"""The numbers that thumb rules weigh by, in points, for two players.

The heuristic's were tuned one at a time by duels on duplicate deals, against random, greedy and a former version at
once.  The expert's are an answer to the heuristic: tuned together on the points of one expert against two heuristic
players (in the way of ``python -m training tune``), those that made no difference left as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

HEURISTIC_COLUMN: Final = 0
EXPERT_COLUMN: Final = 1

_NUMBERS: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        # Laying away.
        "short_suit": (4.2, 4.2),  # for each card that the suit is shorter
        "banked_point": (0.39, 0.39),  # for each point brought home
        "under_king": (6.7, 1.86),  # against a suit whose king I hold
        "last_resort": (37.0, 37.0),  # against trumps
        # Leading.
        "long_suit": (6.9, 2.21),  # for each card of the suit that I hold
        "out_of_suit": (0.17, 0.45),  # against each that is still out
        "initiative": (3.3, 0.35),  # for winning with a lead
        "void_behind": (0.0, 3.53),  # for each other seat void of the suit
        "ruffer_behind": (0.0, 2.02),  # for each of them that may ruff
        "court_lead": (0.0, 0.12),  # for each point of a court led while trumps are out
        "draw_trumps": (64.0, 64.0),  # for leading trumps with more than all others together
        "trump_lead": (-2.1, -1.73),  # for leading them with fewer
        "trump_lead_length": (0.0, 1.39),  # more for each trump that I hold
        "trump_lead_courts": (0.0, 1.53),  # more for each court that a ruff could take from me
        "trump_lead_masters": (0.0, 1.38),  # more for each suit whose highest card I hold
        "trump_lead_early": (0.0, -0.37),  # more for each trick to come
        # Following.
        "next_lead": (1.3, 0.41),  # for leading to the next trick
        # What a card would still bring if kept.
        "ruffed": (0.18, 0.26),  # part of a court's points lost when everyone else is void
        "ending": (0.15, 0.15),  # part of them lost in the last trick, half of that in the last but one, and so on
        "guard": (0.076, 0.013),  # part of them won by each pip beside the court, three at most
        "pip_rank": (0.028, 0.023),  # for each step of a pip's strength
        "pip_length": (0.1, 0.033),  # for each card of its suit
        "trump": (0.66, 0.66),
        "trump_height": (3.0, 1.6),  # more for the highest
        "trump_late": (0.42, 0.42),  # more in the last trick, half of that in the last but one, and so on
        "trump_surplus": (0.036, 0.036),  # less for each trump that I hold
        "honour": (4.7, 4.7),  # more for a trump that counts
        "saved_bagatto": (5.7, 3.9),
        "saved_fool": (0.96, 0.39),
        "saved_fool_early": (0.044, 0.044),  # more for each trick to come
        "late_fool": (-3.5, -3.5),  # once it may fall in the last trick and be lost
        "last_call": (60.0, 60.0),  # for leading it when it could not leave later
        "stranded": (0.38, 0.38),  # against baring a court that is not the highest
    }
)
_KEPT_COURT: Final = ((0.82, 0.75, 0.67, 0.46), (1.03, 0.96, 0.98, 0.46))
"""Share of a court's points that it would bring if kept, by the higher cards out: 0, 1, 2, more."""
_SHARES: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "not_beaten": (0.26, 0.26),  # chance that one higher card out there is not played now
        "misses": (0.28, 0.28),  # that a given card of a suit is not with a given seat, when asking whether it is void
        "ruffed_later": (0.72, 0.72),  # how the part lost to ruffs falls with each card of the suit out
        "trump_step": (0.95, 0.85),  # how a trump's height falls with each higher trump out
    }
)
"""What is raised to the power of a number of cards."""
_MOST_CARDS: Final = 28

Numbers = dict[str, float | tuple[float, ...]]

STYLE: Final = np.dtype(
    [(name, np.float64) for name in _NUMBERS]
    + [("kept_court", np.float64, (len(_KEPT_COURT[0]),))]
    + [(name, np.float64, (_MOST_CARDS + 1,)) for name in _SHARES],
    align=True,
)
"""One player's numbers; of the shares their powers: looked up they take a fraction of the time."""


def numbers_of(column: int) -> Numbers:
    """Return a player's numbers by name: of 0 the heuristic, of 1 the expert."""
    numbers: Numbers = {name: pair[column] for name, pair in {**_NUMBERS, **_SHARES}.items()}
    return {**numbers, "kept_court": _KEPT_COURT[column]}


def new_style(numbers: Numbers) -> np.ndarray[Any, Any]:
    """Return the record of a player's numbers, read-only."""
    style = np.zeros((), STYLE)
    for name, number in numbers.items():
        style[name] = np.multiply.accumulate([1.0] + [number] * _MOST_CARDS) if name in _SHARES else number
    style.flags.writeable = False
    return style


HEURISTIC: Final = new_style(numbers_of(HEURISTIC_COLUMN))
EXPERT: Final = new_style(numbers_of(EXPERT_COLUMN))
