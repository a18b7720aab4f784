"""Determinised search: try every card in worlds that agree with what is known, and play each out.

``method="flat"``: the same worlds for all candidate cards, and the mean score of each card.  A lead is tried twice,
going on by the heuristic's rules and going on with its suit, and counts by the better mean: many a lead only pays off
as a plan, which the heuristic, left alone, would give up at the next trick.
``method="tree"``: information-set tree search (``tree``).

The worlds are uniform over all consistent ones, or weighted by how likely the others would have played as seen, taken
with some doubt for heuristic players (``inference``) or for a learned policy (``posterior``).
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import LEAST_SHARE, Cards, as_bytes, check_number, check_whole
from scarto_env.bots.endgame import MOST_TRICKS
from scarto_env.bots.inference import BURN_IN, DOUBT
from scarto_env.bots.likelihood import STRAY, TEMPERATURE, suit_of_set
from scarto_env.bots.posterior import HEURISTIC, MOVES, POOL, draw_worlds, find_posterior
from scarto_env.bots.tree import DEEPEST, chosen_card, grow, new_nodes
from scarto_env.bots.worlds import (
    EXPERT_PLAYOUT,
    HEURISTIC_PLAYOUT,
    PLAN,
    RANDOM_PLAYOUT,
    Work,
    new_work,
    next_world,
    open_search,
    play_out,
)
from scarto_env.cards import FIRST_TRUMP, NO_SUIT, NUM_CARDS, SUIT
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.play import act
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import PLAY, SCORE_UNITS, stream_key

Method = Literal["flat", "tree"]
Playout = Literal["expert", "heuristic", "random"]
Tree = tuple[Any, Any] | None
_METHODS: Final[tuple[Method, ...]] = ("flat", "tree")
_PLAYOUTS: Final[dict[Playout, int]] = {
    "expert": EXPERT_PLAYOUT,
    "heuristic": HEURISTIC_PLAYOUT,
    "random": RANDOM_PLAYOUT,
}
FAVOUR: Final = 3.0
"""Points; 0 and 2 were measured weaker against greedy players, 5 weaker against heuristic ones."""
_BLOCK: Final = 16
"""Worlds between two looks at the clock, and at what is decided."""
_FIRST_LOOK: Final = 64
"""Worlds before a candidate may be dropped."""
SURE: Final = 3.0
"""Deviations: of 300 choices with 160 worlds none was another than with all candidates to the end; with 2 one was."""
_MOST_NODES: Final = 100_000
"""Of a tree: seven megabytes."""


@kernel
def has_another(game: Any, card: int) -> bool:
    """Return whether the searching seat holds another card of a card's suit, to lead on with."""
    suit = int(SUIT[card])
    return suit != NO_SUIT and popcount(suit_of_set(game.hand[0], suit)) > 1


@kernel
def try_cards(rows: Any, rules: Any, minds: Any, plan: Any, stack: Any) -> None:
    """Add the score of every candidate in the world of ``rows[1]``.

    A lead may begin a plan: it is tried a second time with its suit led on.
    """
    unit = SCORE_UNITS * int(rules.players)
    plan.worlds += 1
    leads = plan.plans and rows[0].phase == PLAY and rows[0].turn == 0
    for word in range(2):
        rest = rows[0].legal[word]
        while rest:
            card = lowest_bit(rest) + FIRST_TRUMP * word
            rest &= rest - 1
            if plan.tried[card]:
                rows[2] = rows[1]
                act(rows[2], rules, card)
                play_out(rows, rules, minds, plan, stack, -1)
                score = rows[2].settled[0] / unit
                plan.score[card, 0] = score
                plan.score[card, 1] = score
                plan.total[card] += score
                if leads and has_another(rows[0], card):
                    rows[2] = rows[1]
                    act(rows[2], rules, card)
                    play_out(rows, rules, minds, plan, stack, int(SUIT[card]))
                    plan.score[card, 1] = rows[2].settled[0] / unit
                    plan.held[card] += plan.score[card, 1]
                else:
                    plan.held[card] = plan.total[card]
    usual = plan.score[plan.favourite, 0]
    for card in range(NUM_CARDS):
        if plan.tried[card]:
            plan.spread[card] += max((plan.score[card, 0] - usual) ** 2, (plan.score[card, 1] - usual) ** 2)


@kernel
def promise(plan: Any, card: int) -> float:
    """Return the total of a candidate by the better way to go on.

    The favourite has a bonus that shrinks, in the mean, as fast as the noise: what few worlds cannot tell apart is
    left to the rules, which suit more opponents than the ones that the search reckons with.
    """
    better: float = max(plan.total[card], plan.held[card])
    return better + plan.favour * math.sqrt(plan.worlds) if card == plan.favourite else better


@kernel
def best_card(plan: Any) -> int:
    """Return the candidate with the highest total, the first among equals."""
    best = -1
    for card in range(NUM_CARDS):
        if plan.tried[card] and (best < 0 or promise(plan, card) > promise(plan, best)):
            best = card
    return best


@kernel
def is_decided(plan: Any) -> bool:
    """Drop the candidates that the best has beaten for good, bonus or not; return whether it has beaten all others.

    The favourite, with which all are compared, is tried as long as there is anything to try.  The deviation of what
    one card gains on another is at most the sum of what each has of its gains on the favourite.
    """
    best = best_card(plan)
    total = max(plan.total[best], plan.held[best])
    decided = True
    for card in range(NUM_CARDS):
        if plan.tried[card] and card != best:
            lead = total - max(plan.total[card], plan.held[card])
            if lead < plan.sure * (math.sqrt(plan.spread[best]) + math.sqrt(plan.spread[card])):
                decided = False
            elif card != plan.favourite:
                plan.tried[card] = False
    return decided


@kernel
def search_flat(
    table: Any, rows: Any, belief: Any, mind: Any, past: Any, drawn: Any, stack: Any, plan: Any, num_worlds: int
) -> int:  # fmt: skip
    """Search on in ``num_worlds`` worlds, or fewer if it is decided before; return the best card up to now."""
    rules = table[0]
    for _ in range(num_worlds):
        next_world(rows, rules, belief[0], mind[0], past[0], drawn, plan[0])
        try_cards(rows, rules, mind, plan[0], stack)
        looks = plan[0].sure > 0 and plan[0].worlds >= _FIRST_LOOK and plan[0].worlds % _BLOCK == 0
        if looks and is_decided(plan[0]):
            plan[0].open = 0
            break
    return best_card(plan[0])


@kernel
def search_tree(
    table: Any, rows: Any, belief: Any, mind: Any, past: Any, drawn: Any, stack: Any, plan: Any, num_worlds: int,
    nodes: Any, path: Any,
) -> int:  # fmt: skip
    """Let the tree grow from ``num_worlds`` worlds more; return the card that it chooses up to now."""
    rules = table[0]
    for _ in range(num_worlds):
        next_world(rows, rules, belief[0], mind[0], past[0], drawn, plan[0])
        grow(rows, rules, mind, plan[0], stack, nodes, path)
    return chosen_card(nodes, plan[0])


class SearchBot:
    """Searches every decision, the discard too.

    A choice that is decided before all worlds are through ends there (``sure``).

    With ``worlds`` alone the choice depends on the seed and the observation only; with ``milliseconds`` also on
    the speed of the machine.  Memory is a few rows and, for a tree, seven megabytes at most.

    Args:
        rules: preset or ``Rules``.
        seed: whole number >= 0.
        worlds: how many worlds a decision, at least 1.
        milliseconds: time for a decision; the search stops at ``worlds`` or at the time, whichever comes first.  The
            first worlds by a checkpoint's likelihood, some tenths of a second, are waited for.
        method: ``"flat"`` Monte Carlo or an information-set ``"tree"``, which wants a thousand worlds or more.
        playout: how deals are played out: ``"heuristic"`` for all seats, ``"random"``, or by the heuristic for the
            others and the stronger ``"expert"`` for its own seat.
        inference: steps of the chain between two worlds weighted by likelihood; 0 draws them uniformly.
        burn_in: steps of the chain before the first world.
        likelihood: whom the others are taken for when worlds are weighted: ``"heuristic"``, or a checkpoint's name or
            folder, which has chains of its own (``posterior``).  Playouts do not change with it.
        pool: worlds drawn uniformly, of which a checkpoint's likelihood chooses where chains begin, 1..65536.
        moves: steps of such a chain between two worlds.
        temperature: of the heuristic in the likelihood, in points.
        stray: share of choices that the likelihood takes a player of the given kind to make by other lights.
        doubt: chance that a seat is no such player and nearly always goes by other lights.
        exact: last tricks of a playout to solve by max-n instead, 0..5.
        plans: try leads a second time with their suit led on; of no matter to a tree.
        favour: bonus in points, over the square root of the number of worlds, of the expert's card, or the
            heuristic's with other playouts; of no matter to a tree.
        sure: standard deviations by which a candidate must be behind after 64 worlds or more to be dropped; the search
            ends when none is left; 0 drops none.  Of no matter to a tree.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(
        self,
        rules: str | Rules = "scarto",
        seed: int = 0,
        worlds: int = 40,
        milliseconds: float | None = None,
        method: Method = "flat",
        playout: Playout = "expert",
        inference: int = 32,
        burn_in: int = BURN_IN,
        likelihood: str | Path = HEURISTIC,
        pool: int = POOL,
        moves: int = MOVES,
        temperature: float = TEMPERATURE,
        stray: float = STRAY,
        doubt: float = DOUBT,
        exact: int = 0,
        plans: bool = True,
        favour: float = FAVOUR,
        sure: float = SURE,
    ) -> None:
        check_whole("worlds", worlds, 1)
        check_whole("inference", inference, 0)
        check_whole("burn_in", burn_in, 0)
        check_whole("exact", exact, 0, MOST_TRICKS)
        if milliseconds is not None:
            check_number("milliseconds", milliseconds, LEAST_SHARE)
        check_number("temperature", temperature, LEAST_SHARE)
        check_number("stray", stray, LEAST_SHARE, 1 - LEAST_SHARE)
        check_number("doubt", doubt, 0, 1)
        check_number("favour", favour, 0)
        check_number("sure", sure, 0)
        for name, value, known in (("method", method, _METHODS), ("playout", playout, tuple(_PLAYOUTS))):
            if value not in known:
                raise ValueError(f"{name}={value!r} is not allowed: expected one of {', '.join(known)}")
        if not isinstance(plans, bool):
            raise ValueError(f"plans={plans!r} is not allowed: expected true or false")
        self.rules = as_rules(rules)
        self.seed, self.worlds, self.milliseconds = seed, worlds, milliseconds
        self._key = stream_key(seed)
        self.method, self.playout, self.inference = method, playout, inference
        self._plan = plan = np.zeros(1, PLAN).view(np.recarray)
        plan.playout, plan.exact, plan.plans = _PLAYOUTS[playout], exact, plans
        plan.steps, plan.burn_in, plan.temperature, plan.stray = inference, burn_in, temperature, stray
        plan.doubt, plan.favour, plan.sure = doubt, favour, sure
        posterior = find_posterior(likelihood, self.rules, pool, moves, stray, doubt)
        self._posterior = posterior if inference else None

    def __repr__(self) -> str:
        """Return the call that makes a bot like this, its main options named."""
        limit = "" if self.milliseconds is None else f", milliseconds={self.milliseconds}"
        return (
            f"SearchBot({self.rules!r}, seed={self.seed}, worlds={self.worlds}{limit}, method={self.method!r}, "
            f"playout={self.playout!r}, inference={self.inference})"
        )

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the best card found each, [B] int64."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards = np.zeros(len(observation), np.int64)
        work, plan, tree = new_work(), self._plan.copy(), self._new_tree()
        for index in range(len(cards)):
            cards[index] = self._search(observation[index], action_mask[index], work, plan, tree)
        return cards

    def values(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean points of every legal card over all worlds, [B, 78]; 0 where a card is not legal.

        All cards are tried in all worlds that ``milliseconds`` leaves time for, whatever the method: this takes longer
        than to choose one.
        """
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        points = np.zeros((len(observation), NUM_CARDS))
        work, plan = new_work(), self._plan.copy()
        plan.every, plan.sure = True, 0
        for index in range(len(points)):
            self._search(observation[index], action_mask[index], work, plan, None)
            if plan[0].open:
                points[index] = np.maximum(plan[0].total, plan[0].held) / plan[0].worlds
        return points

    def _new_tree(self) -> Tree:
        """Return room for the tree of one call."""
        if self.method == "flat":
            return None
        return new_nodes(min(self.worlds + 1, _MOST_NODES)), np.zeros(DEEPEST + 1, np.int64)

    def _search(self, observation: NDArray[np.int8], mask: NDArray[np.int8], work: Work, plan: Any, tree: Tree) -> int:
        """Return the card of one seat, and leave in ``plan`` what was found."""
        until = math.inf if self.milliseconds is None else time.perf_counter() + self.milliseconds / 1000
        block = self.worlds if self.milliseconds is None else _BLOCK
        table = rules_table(self.rules)
        rows, belief, minds, past, stack = work
        is_open = open_search(observation, mask, table, rows, belief, minds, past, plan, self._key)
        card = int(plan[0].favourite)
        if not is_open:
            return card
        for drawn, number in draw_worlds(self._posterior, rows, belief, past, self.worlds, block):
            memory = (table, rows, belief, minds, past, drawn, stack, plan, number)
            card = search_flat(*memory) if tree is None else search_tree(*memory, *tree)
            if not plan[0].open or time.perf_counter() >= until:
                break
        return card
