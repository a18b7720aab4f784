"""Search with a trained policy: it plays out every world for all seats, and its own liking weighs in.

For every decision that the policy is not sure of, its likelier cards are tried in imagined worlds and played out
by the policy, which acts on each seat's own information alone, so that nobody profits from seeing all hands.  The
card with the highest mean score plus ``weight`` times its log probability is played: a few worlds cannot tell
sensible cards apart, and the policy's opinion keeps their noise from deciding.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import LEAST_SHARE, Cards, as_bytes, check_number, check_whole
from scarto_env.bots.inference import BURN_IN, DOUBT
from scarto_env.bots.likelihood import STRAY, TEMPERATURE
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.posterior import HEURISTIC, MOVES, POOL, draw_worlds, find_posterior
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
from scarto_env.jit import kernel
from scarto_env.observation import observation_size, observe, write_mask
from scarto_env.play import act
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import OVER, SCORE_UNITS, stream_key

DEFAULT_POLICY: Final = "scarto-base"
_MOST_GAMES: Final = 4096
"""Games played out side by side: three megabytes of observations."""


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
        inference: steps of the chain between two worlds weighted by the heuristic's likelihood; 0 for uniform ones.
        likelihood: whom the others are taken for when worlds are weighted: ``"heuristic"``, or a checkpoint's name or
            folder, which has chains of its own (``posterior``).
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
        worlds: int = 32,
        weight: float = 0.5,
        sure: float = 0.95,
        least: float = 0.01,
        inference: int = 32,
        likelihood: str | Path = HEURISTIC,
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
        self.policy = PolicyBot(folder, self.rules)
        self.weight, self.sure, self.least = weight, sure, least
        self._key = stream_key(seed)
        self._plan = plan = np.zeros(1, PLAN).view(np.recarray)
        plan.playout, plan.steps, plan.burn_in = HEURISTIC_PLAYOUT, inference, BURN_IN
        plan.temperature, plan.stray, plan.doubt = TEMPERATURE, STRAY, DOUBT
        posterior = find_posterior(likelihood, self.rules, pool, moves)
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
        for place, index in enumerate(open_rows):
            cards = np.flatnonzero(liking[place] >= np.log(self.least))
            if len(cards) > 1 and liking[place].max() < np.log(self.sure):
                scores = self._tried(observation[index], action_mask[index], cards)
                if scores is not None:
                    chosen[index] = cards[(scores + self.weight * liking[place][cards]).argmax()]
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
            scores = self._tried(observation[index], mask, legal, every=True) if len(legal) else None
            if scores is not None:
                points[index, legal] = scores
        return points

    def _tried(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], cards: NDArray[np.int64], every: bool = False
    ) -> NDArray[np.float64] | None:
        """Return the mean score of each candidate card, [cards], or None where no world agrees with the position."""
        table = rules_table(self.rules)
        worlds = max(1, min(self.worlds, _MOST_GAMES // len(cards)))
        rows, belief, mind, past, _ = new_work()
        plan = self._plan.copy()
        plan.every = every
        if not open_search(observation, mask, table, rows, belief, mind, past, plan, self._key):
            return None
        trials, start = new_rows(worlds * len(cards)), 0
        for drawn, number in draw_worlds(self._posterior, rows, belief, past, worlds, worlds):
            begin_trials(table, rows, belief, mind, past, drawn, plan, cards, number, trials[start:])
            start += number * len(cards)
        seen = np.empty((len(trials), observation_size(self.rules.players)), np.int8)
        masks = np.empty((len(trials), mask.shape[0]), np.int8)
        running = np.empty(len(trials), np.int64)
        while num_running := observe_running(trials, table, running, seen, masks):
            act_running(trials, table, running, self.policy.act(seen[:num_running], masks[:num_running]))
        points = trials.settled[:, 0].reshape(worlds, len(cards)) / (SCORE_UNITS * self.rules.players)
        mean: NDArray[np.float64] = points.mean(axis=0)
        return mean
