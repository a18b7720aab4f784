"""What a card would have brought late in a deal: the true deal played on from it by the policy, in every seat.

The last tricks alone are worth it.  There the critic, which guesses what can be counted out, is three to six times as
far off as the hidden cards make a card's worth differ, and counting it out takes few forward passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarto_env import Batch, Rules
from scarto_env.bots.policy_features import forced_cards, put_cards
from scarto_env.jit import kernel
from scarto_env.state import PLAY, SCORE_UNITS
from training.network import FrozenPerceptron
from training.returns import SCORE_SCALE

if TYPE_CHECKING:
    from training.rollout import Encoder

PLAUSIBLE: Final = 0.01
"""Probability from which on a card is tried."""


class Noted(NamedTuple):
    """K decisions, in the order they were made.

    Attributes:
        decision: [K] int64, their numbers.
        game: [K] int64, whose cards they are.
        seat: [K] int64.
        place: [K] int64, canonical, of the card that was played.
        deviated: [K] bool, it was not the likeliest, which is the first of the decision's forks then.
        num_forks: [K] int64, how many cards are tried beside it.
    """

    decision: NDArray[np.int64]
    game: NDArray[np.int64]
    seat: NDArray[np.int64]
    place: NDArray[np.int64]
    deviated: NDArray[np.bool_]
    num_forks: NDArray[np.int64]


class Forks(NamedTuple):
    """F cards that were not played, by decision.

    Attributes:
        games: [F] rows of games in which they can be.
        cards: [F] int64.
        place: [F] int64, canonical.
    """

    games: NDArray[Any]
    cards: NDArray[np.int64]
    place: NDArray[np.int64]


@kernel
def collect(noted: Any, fork_place: Any, fork_points: Any, outcome: Any, policy: Any, values: Any) -> None:
    """Write what every card brings at the decisions with forks to ``values`` [N, 78].

    From each card on all play their likeliest cards.  A card that was played has thus brought what came of it up to the
    next card that was not the likeliest, and from there on what that decision's likeliest brings: games are read from
    their ends, and what was played needs no fork.  What was not tried brings what the policy does.

    Args:
        noted: K decisions.
        fork_place: [F].
        fork_points: [F, P], what each fork brings to every seat.
        outcome: [B, P], what the games brought; overwritten.
        policy: [N, 78], probabilities.
        values: written.
    """
    stop = len(fork_place)
    for index in range(len(noted.decision) - 1, -1, -1):
        start = stop - noted.num_forks[index]
        game, seat, played = outcome[noted.game[index]], noted.seat[index], noted.place[index]
        if start < stop:
            row, chance = values[noted.decision[index]], policy[noted.decision[index]]
            total, weight = chance[played] * game[seat], chance[played]
            for fork in range(start, stop):
                total += chance[fork_place[fork]] * fork_points[fork, seat]
                weight += chance[fork_place[fork]]
            for place in range(len(row)):
                row[place] = total / weight
            row[played] = game[seat]
            for fork in range(start, stop):
                row[fork_place[fork]] = fork_points[fork, seat]
        if noted.deviated[index]:
            for other in range(len(game)):
                game[other] = fork_points[start, other]
        stop = start


class Endings:
    """Notes the decisions of a deal's last tricks and tells, when it is over, what each plausible card brings.

    Args:
        rules: the rules.
        encoder: makes the network's inputs.
        tricks: how many are the last.
    """

    def __init__(self, rules: Rules, encoder: Encoder, tricks: int) -> None:
        self.rules, self.encoder, self.first_trick = rules, encoder, rules.tricks - tricks
        self.begin()

    def begin(self) -> None:
        """Forget what was noted."""
        self._noted: list[Noted] = []
        self._forks: list[Forks] = []

    def begun(self, batch: Batch) -> bool:
        """Return whether games at the same point of their deals have come to the last tricks."""
        return bool(batch.games.phase[0] == PLAY and batch.games.trick[0] >= self.first_trick)

    def note(
        self, batch: Batch, rows: NDArray[np.int64], decisions: NDArray[np.int64], order: NDArray[np.int8],
        policy: NDArray[np.float32], place: NDArray[np.int64],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Note decisions of the last tricks before their cards are played; return those worth judging.

        Args:
            batch: games at the same point of their deals.
            rows: [N], which of them.
            decisions: [N], their numbers.
            order: [N, 4], the suit at each canonical place.
            policy: [N, 78], probabilities in canonical order.
            place: [N], of the card that is played.

        Returns:
            [N] bool: more than one card is plausible.
        """
        likeliest = policy.argmax(1)
        tried = policy >= PLAUSIBLE  # the likeliest is: no hand has a hundred cards
        tried[np.arange(len(rows)), place] = False
        which, places = np.nonzero(tried)
        likeliest_first = np.lexsort((places != likeliest[which], which))
        which, places = which[likeliest_first], places[likeliest_first]
        cards = np.empty(len(which), np.int64)
        put_cards(places, order[which], np.arange(len(which)), cards)
        seats = batch.seat[rows].astype(np.int64)
        num_forks = np.bincount(which, minlength=len(rows))
        self._noted.append(Noted(decisions, rows, seats, place.copy(), place != likeliest, num_forks))
        self._forks.append(Forks(np.array(batch.games[rows[which]]), cards, places))
        return num_forks > 0

    def judge(
        self, actor: FrozenPerceptron, batch: Batch, policy: NDArray[np.float32], values: NDArray[np.float32]
    ) -> None:
        """Write what every card brings at the decisions worth judging.

        Args:
            actor: the policy.
            batch: the games, which are over.
            policy: [N, 78], probabilities at those decisions.
            values: [N, 78], in units of ``SCORE_SCALE`` points; written.
        """
        if not self._noted:
            return
        noted = Noted(*(np.concatenate(columns) for columns in zip(*self._noted, strict=True)))
        forks = Forks(*(np.concatenate(columns) for columns in zip(*self._forks, strict=True)))
        collect(noted, forks.place, self._played_out(actor, forks), self._scores(batch), policy, values)

    def _scores(self, batch: Batch) -> NDArray[np.float32]:
        """Return the settled scores of games that are over, [B, P], in units of ``SCORE_SCALE`` points."""
        players = self.rules.players
        settled: NDArray[np.int32] = batch.games.settled[:, :players]
        return (settled / (SCORE_UNITS * players * SCORE_SCALE)).astype(np.float32)

    def _played_out(self, actor: FrozenPerceptron, forks: Forks) -> NDArray[np.float32]:
        """Return what each fork brings to every seat, [F, P]."""
        number = len(forks.cards)
        if not number:
            return np.empty((0, self.rules.players), np.float32)
        batch = Batch(number, self.rules, seed=0, redeal=False)
        batch.games[:] = forks.games
        batch.refresh()
        batch.step(forks.cards)
        cards, room = np.zeros(number, np.int64), np.empty(number, np.int64)
        while batch.action_mask.any():
            rows = room[: forced_cards(batch.action_mask, cards, room)]
            if len(rows):
                self.encoder.put_likeliest(actor, batch, rows, cards)
            batch.step(cards)
        return self._scores(batch)
