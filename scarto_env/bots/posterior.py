"""Worlds weighted by how likely a learned policy would have played as seen (``likelihood`` tells what for thumb rules).

A pool of worlds is drawn uniformly.  In each of them every choice of another seat is shown to the policy as that seat
saw it, the cards laid away too, in every order; the worlds of a search are then drawn from the pool by what the
choices come to.  This is importance resampling: its bias vanishes as the pool grows, and a pool far smaller than the
number of worlds that matter draws the same few again and again.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import check_whole
from scarto_env.bots.belief import imagine
from scarto_env.bots.draws import next_bot_share
from scarto_env.bots.history import rewind
from scarto_env.bots.likelihood import LOOSE
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.registry import find_checkpoint
from scarto_env.bots.worlds import MOMENT_ROW, imagine_talon, new_rows
from scarto_env.cards import NUM_CARDS
from scarto_env.jit import kernel
from scarto_env.observation import observation_size, observe, write_mask
from scarto_env.play import act, card_at, set_legal, take_talon
from scarto_env.rules import Rules, rules_table
from scarto_env.state import DISCARD

HEURISTIC: Final = "heuristic"
"""The likelihood that needs no policy: a Metropolis chain by thumb rules (``inference``)."""
POOL: Final = 256
_MOST_POOL: Final = 65_536
"""A pool of so many worlds takes a hundred megabytes."""
_GOLDEN_SHARE: Final = (math.sqrt(5) - 1) / 2


@kernel
def imagine_pool(rows: Any, table: Any, belief: Any, pool: Any) -> None:
    """Fill ``pool`` with uniformly drawn worlds of the recalled position, the dealer's talon drawn too."""
    for index in range(len(pool)):
        pool[index] = rows[0]
        imagine(rows[0], table[0], belief[0], pool[index])
        imagine_talon(rows[0], table[0], pool[index])


@kernel
def observe_choice(rows: Any, table: Any, choice: int, pool: Any, observation: Any, mask: Any) -> int:
    """Write what the seat of a choice saw in each world; return that seat."""
    moment = rows[MOMENT_ROW + choice]
    seat = int(moment.seat)
    for index in range(len(pool)):
        world = pool[index]
        for word in range(2):
            held = world.hand[seat, word] | world.played[seat, word]
            moment.hand[seat, word] = held & ~moment.played[seat, word]
            moment.discarded[word] = world.discarded[word]
            moment.talon[word] = world.talon[word]
        set_legal(moment, table[0])
        observe(moment, table[0], seat, observation[index])
        write_mask(moment, mask[index])
    return seat


@kernel
def observe_discard(rows: Any, table: Any, pool: Any, laid: int, observation: Any, mask: Any, cards: Any) -> None:
    """Write what the dealer saw in each world with part of the discard laid away; ``cards`` gets the discard.

    Bit n of ``laid`` stands for the card at place n of the discard.
    """
    rules, row = table[0], rows[3]
    for index in range(len(pool)):
        world = pool[index]
        rewind(world, rules, row)
        for word in range(2):
            row.hand[row.dealer, word] |= world.discarded[word]
            row.discarded[word] = 0
        row.num_discarded = 0
        row.phase = DISCARD
        row.seat = row.dealer
        take_talon(row, rules)
        for place in range(rules.talon_size):
            cards[index, place] = card_at(world.discarded[0], world.discarded[1], place)
            if laid >> place & 1:
                act(row, rules, cards[index, place])
        observe(row, rules, row.seat, observation[index])
        write_mask(row, mask[index])


@kernel
def draw_share(rows: Any) -> float:
    """Return a number uniform over [0, 1)."""
    return next_bot_share(rows[0])


def resample(weights: NDArray[np.float64], number: int, share: float) -> NDArray[np.int64]:
    """Return ``number`` places of the weights, each as often as its weight demands.

    Any first part of them is spread evenly, so that a search may stop at any time: multiples of the golden ratio,
    begun at a random ``share``.
    """
    cumulative = weights.cumsum()
    shares = (share + _GOLDEN_SHARE * np.arange(number)) % 1.0
    places: NDArray[np.int64] = np.searchsorted(cumulative, shares * cumulative[-1], "right")
    return places.clip(max=len(weights) - 1)


class Posterior:
    """Draws worlds in which a policy would have played as the other seats did.

    Args:
        policy: whom the others are taken for.
        rules: what is played.
        pool: worlds drawn uniformly at first.
        stray: share of choices that a player by the policy makes by other lights.
        doubt: chance that a seat is a player of another kind, who mostly goes by other lights.
    """

    def __init__(self, policy: PolicyBot, rules: Rules, pool: int, stray: float, doubt: float) -> None:
        self.policy, self.rules, self.pool, self.stray, self.doubt = policy, rules, pool, stray, doubt

    def draw(self, rows: Any, belief: Any, past: Any, number: int) -> NDArray[Any]:
        """Return ``number`` worlds of the position that ``open_search`` left in ``rows``, ``belief`` and ``past``."""
        pool = new_rows(self.pool)
        imagine_pool(rows, rules_table(self.rules), belief, pool)
        return pool[resample(self.weights(rows, past, pool), number, draw_share(rows))]

    def weights(self, rows: Any, past: Any, pool: NDArray[Any]) -> NDArray[np.float64]:
        """Return the likelihood of all that the other seats did, in each world of a pool, [pool]."""
        table, players = rules_table(self.rules), self.rules.players
        observation = np.empty((len(pool), observation_size(players)), np.int8)
        mask = np.empty((len(pool), NUM_CARDS), np.int8)
        kinds = np.ones((players, 2, len(pool)))
        for choice in range(past[0].number):
            seat = observe_choice(rows, table, choice, pool, observation, mask)
            cards = np.full((len(pool), 1), past[0].card[choice])
            kinds[seat] *= self._shares(observation, mask, cards)[:, :, 0]
        dealer = int(rows[0].dealer)
        if dealer != 0:
            kinds[dealer] *= self._discard_shares(rows, pool, observation, mask)
        seats = (1 - self.doubt) * kinds[1:, 0] + self.doubt * kinds[1:, 1]
        weights: NDArray[np.float64] = seats.prod(axis=0)
        return weights

    def _shares(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], cards: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how likely some cards are to be chosen by either kind of player, [2, pool, cards]."""
        num_legal = mask.sum(axis=1, keepdims=True, dtype=np.int64)
        shares = np.ones(cards.shape)
        free = np.flatnonzero(num_legal[:, 0] > 1)
        if len(free):
            liking = self.policy.log_policy(observation[free], mask[free])
            shares[free] = np.exp(np.take_along_axis(liking, cards[free], axis=1).astype(np.float64))
        return np.stack([(1 - part) * shares + part / num_legal for part in (self.stray, LOOSE)])

    def _discard_shares(
        self, rows: Any, pool: NDArray[Any], observation: NDArray[np.int8], mask: NDArray[np.int8]
    ) -> NDArray[np.float64]:
        """Return how likely the discard of each world is for either kind of dealer, in whatever order, [2, pool]."""
        table, size = rules_table(self.rules), self.rules.talon_size
        cards = np.empty((len(pool), size), np.int64)
        # By the set of cards laid away, as bits.
        reached: NDArray[np.float64] = np.zeros((1 << size, 2, len(pool)))
        reached[0] = 1
        for laid in range((1 << size) - 1):
            observe_discard(rows, table, pool, laid, observation, mask, cards)
            shares = self._shares(observation, mask, cards)
            for place in range(size):
                if not laid >> place & 1:
                    reached[laid | 1 << place] += reached[laid] * shares[:, :, place]
        everything: NDArray[np.float64] = reached[-1]
        return everything


def draw_worlds(posterior: Posterior | None, rows: Any, belief: Any, past: Any, number: int) -> NDArray[Any]:
    """Return ``number`` worlds for ``next_world``, as many as the pool has at most; none without a posterior."""
    return new_rows(0) if posterior is None else posterior.draw(rows, belief, past, min(number, posterior.pool))


def find_posterior(likelihood: str | Path, rules: Rules, pool: int, stray: float, doubt: float) -> Posterior | None:
    """Return what draws worlds by a checkpoint's likelihood, or None for the heuristic's.

    Raises:
        ValueError: ``likelihood`` is neither, the policy has another number of players, or ``pool`` is not allowed.
    """
    check_whole("pool", pool, 1, _MOST_POOL)
    if likelihood == HEURISTIC:
        return None
    folder = find_checkpoint(str(likelihood))
    if folder is None:
        raise ValueError(f"likelihood={str(likelihood)!r} is not allowed: expected {HEURISTIC!r} or a checkpoint")
    return Posterior(PolicyBot(folder, rules), rules, pool, stray, doubt)
