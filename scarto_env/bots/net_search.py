"""Search with a trained policy: it tells which worlds are likely, plays them out, and its own liking weighs in.

For every decision that the policy is not sure of, its likelier cards are tried in imagined worlds and played out
by the policy, which acts on each seat's own information alone, so that nobody profits from seeing all hands.  The
card with the highest mean score plus ``weight`` times its log probability is played: a few worlds cannot tell
sensible cards apart, and the policy's opinion keeps their noise from deciding.  A card that is behind for good is
dropped on the way.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import LEAST_SHARE, Cards, as_bytes, check_number, check_whole
from scarto_env.bots.inference import BURN_IN, DOUBT
from scarto_env.bots.likelihood import STRAY, TEMPERATURE
from scarto_env.bots.posterior import MOVES, POOL, draw_worlds, find_posterior, named_policy
from scarto_env.bots.registry import find_checkpoint
from scarto_env.bots.worlds import (
    HEURISTIC_PLAYOUT,
    PLAN,
    imagine_talon,
    new_rows,
    new_work,
    next_world,
    open_search,
)
from scarto_env.cards import NUM_CARDS
from scarto_env.jit import kernel
from scarto_env.observation import observation_size, observe, write_mask
from scarto_env.play import act
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import OVER, SCORE_UNITS, stream_key

DEFAULT_POLICY: Final = "scarto-base"
_BLOCK: Final = 64
"""Worlds between two looks at what is decided."""
_BEATEN: Final = 3.0
"""Standard deviations of what the best card gains on another by which that is behind for good."""


@kernel
def begin_trials(
    table: Any, rows: Any, belief: Any, mind: Any, past: Any, drawn: Any, plan: Any, cards: Any, num_worlds: int,
    trials: Any,
) -> None:  # fmt: skip
    """Fill ``trials`` [worlds x cards] with the worlds of one decision, each candidate card played in each."""
    rules = table[0]
    place = 0
    for _ in range(num_worlds):
        next_world(rows, rules, belief[0], mind[0], past[0], drawn, plan[0])
        plan[0].worlds += 1
        rows[2] = rows[1]
        if not len(drawn):
            imagine_talon(rows[0], rules, rows[2])
        for card in cards:
            trials[place] = rows[2]
            act(trials[place], rules, card)
            place += 1


@kernel
def observe_running(trials: Any, table: Any, running: Any, observation: Any, mask: Any) -> int:
    """Write what the acting seats of the games in progress see; ``running`` gets their numbers; return how many."""
    num_running = 0
    for index in range(len(trials)):
        if trials[index].phase != OVER:
            running[num_running] = index
            observe(trials[index], table[0], trials[index].seat, observation[num_running])
            write_mask(trials[index], mask[num_running])
            num_running += 1
    return num_running


@kernel
def act_running(trials: Any, table: Any, running: Any, cards: Any) -> None:
    """Play a card in each of the games in progress."""
    for place in range(len(cards)):
        act(trials[running[place]], table[0], cards[place])


class NetSearchBot:
    """Searches with a policy, deterministic for a seed.

    Args:
        rules: preset or ``Rules``.
        seed: whole number >= 0.
        policy: checkpoint's name or folder.
        worlds: how many a decision.
        weight: points for each unit of the policy's log probability.
        sure: probability from which the policy's card is played without a search.
        least: probability below which a card is not tried.
        inference: steps of the chain between two worlds weighted by the heuristic's likelihood; 0 for uniform ones,
            whatever the likelihood.
        likelihood: whom the others are taken for when worlds are weighted: a checkpoint's name or folder, by default
            the policy's own (``posterior``), or ``"heuristic"``.
        pool: worlds drawn uniformly, of which a checkpoint's likelihood chooses where chains begin, 1..65536.
        moves: steps of such a chain between two worlds.

    Raises:
        ValueError: no such checkpoint, or an argument is not allowed.
    """

    def __init__(
        self,
        rules: str | Rules = "scarto",
        seed: int = 0,
        policy: str | Path = DEFAULT_POLICY,
        worlds: int = 128,
        weight: float = 0.1,
        sure: float = 0.99,
        least: float = 0.003,
        inference: int = 32,
        likelihood: str | Path | None = None,
        pool: int = POOL,
        moves: int = MOVES,
    ) -> None:
        check_whole("worlds", worlds, 1)
        check_whole("inference", inference, 0)
        check_number("weight", weight, 0)
        check_number("sure", sure, 0, 1)
        check_number("least", least, LEAST_SHARE, 1)
        folder = find_checkpoint(str(policy))
        if folder is None:
            raise ValueError(f"policy={str(policy)!r} is no checkpoint")
        self.rules, self.seed, self.worlds, self.inference = as_rules(rules), seed, worlds, inference
        self.policy = named_policy("policy", policy, folder, self.rules)
        self.weight, self.sure, self.least = weight, sure, least
        self._key = stream_key(seed)
        self._plan = plan = np.zeros(1, PLAN).view(np.recarray)
        plan.playout, plan.steps, plan.burn_in = HEURISTIC_PLAYOUT, inference, BURN_IN
        plan.temperature, plan.stray, plan.doubt = TEMPERATURE, STRAY, DOUBT
        posterior = find_posterior(folder if likelihood is None else likelihood, self.rules, pool, moves)
        self._posterior = posterior if inference else None

    def __repr__(self) -> str:
        """Return the call that makes a bot like this."""
        return f"NetSearchBot({self.rules!r}, seed={self.seed}, policy={self.policy.name!r}, worlds={self.worlds})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the best card found each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        chosen = self.policy.act(observation, action_mask)
        open_rows = np.flatnonzero(action_mask.sum(axis=1) > 1)
        if not len(open_rows):
            return chosen
        liking = self.policy.log_policy(observation[open_rows], action_mask[open_rows])
        for index, likes in zip(open_rows, liking, strict=True):
            cards = np.flatnonzero(likes >= np.log(self.least))
            if len(cards) > 1 and math.exp(likes.max()) < self.sure:
                scores = self._scores(observation[index], action_mask[index], cards, self.weight * likes[cards])
                if scores is not None:
                    chosen[index] = cards[scores.argmax()]
        return chosen

    def log_policy(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> NDArray[np.float32]:
        """Return the log probability that the policy alone gives every card, [B, 78]; minus infinity if not legal."""
        return self.policy.log_policy(observation, action_mask)

    def values(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean points of every legal card over the worlds, [B, 78]; 0 where a card is not legal.

        Unlike the choice, cards that the policy does not like are tried too, and nothing of its liking is added.
        """
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        points = np.zeros(action_mask.shape)
        for index, mask in enumerate(action_mask):
            legal = np.flatnonzero(mask)
            scores = self._scores(observation[index], mask, legal) if len(legal) else None
            if scores is not None:
                points[index, legal] = scores
        return points

    def _scores(
        self,
        observation: NDArray[np.int8],
        mask: NDArray[np.int8],
        cards: NDArray[np.int64],
        bonus: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float64] | None:
        """Return each candidate card's mean points, [cards], or None where no world agrees with the position.

        With a ``bonus`` for each, which is added, a card that is behind for good is dropped: minus infinity.
        """
        table, number_tried = rules_table(self.rules), 0
        rows, belief, mind, past, _ = new_work()
        plan = self._plan.copy()
        plan.every = bonus is None
        if not open_search(observation, mask, table, rows, belief, mind, past, plan, self._key):
            return None
        left = np.arange(len(cards))
        scores = np.full(len(cards), -np.inf)
        total, products = np.zeros(len(cards)), np.zeros((len(cards), len(cards)))
        for drawn, number in draw_worlds(self._posterior, rows, belief, past, self.worlds, _BLOCK):
            trials = new_rows(number * len(left))
            begin_trials(table, rows, belief, mind, past, drawn, plan, cards[left], number, trials)
            points = self._played_out(trials).reshape(number, len(left))
            number_tried += number
            total[left] += points.sum(axis=0)
            products[np.ix_(left, left)] += points.T @ points
            scores[left] = total[left] / number_tried
            if bonus is not None:
                scores[left] += bonus[left]
                beaten = self._beaten(left, scores, total / number_tried, products / number_tried, number_tried)
                scores[left[beaten]] = -np.inf
                left = left[~beaten]
                if len(left) == 1:
                    break
        return scores

    @staticmethod
    def _beaten(
        left: NDArray[np.int64], scores: NDArray[np.float64], mean: NDArray[np.float64], products: NDArray[np.float64],
        number: int,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Return which of the cards left are behind for good, by the deviation of what the best gains on each."""
        best = left[scores[left].argmax()]
        squares = products[best, best] - 2 * products[best, left] + products[left, left]
        deviation = np.sqrt((squares - (mean[best] - mean[left]) ** 2).clip(min=0) / number)
        beaten: NDArray[np.bool_] = scores[best] - scores[left] > _BEATEN * deviation
        return beaten

    def _played_out(self, trials: NDArray[Any]) -> NDArray[np.float64]:
        """Let the policy play games to their end for all seats; return what the searching seat has, in points."""
        table, players = rules_table(self.rules), self.rules.players
        seen = np.empty((len(trials), observation_size(players)), np.int8)
        masks = np.empty((len(trials), NUM_CARDS), np.int8)
        running = np.empty(len(trials), np.int64)
        while number := observe_running(trials, table, running, seen, masks):
            act_running(trials, table, running, self.policy.act(seen[:number], masks[:number]))
        points: NDArray[np.float64] = trials["settled"][:, 0] / (SCORE_UNITS * players)
        return points
