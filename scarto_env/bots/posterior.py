"""Worlds weighted by how likely a learned policy would have played as seen (``likelihood`` tells what for thumb rules).

In every world each choice of another seat is shown to the policy as that seat saw it, the cards laid away too, in
whatever order.  A pool of worlds is drawn uniformly; from those of them that the choices make likely, a few Metropolis
chains go on side by side, as in ``inference``.  What comes out nears the posterior the more the chains move: a pool
alone, far smaller than the number of worlds, would give the same few again and again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import check_whole
from scarto_env.bots.belief import imagine
from scarto_env.bots.draws import next_bot_share
from scarto_env.bots.history import rewind_to_discard
from scarto_env.bots.inference import DOUBT, swap_some
from scarto_env.bots.likelihood import LOOSE, STRAY, fill_moment
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.registry import find_checkpoint
from scarto_env.bots.worlds import MOMENT_ROW, imagine_talon, new_rows
from scarto_env.cards import NUM_CARDS
from scarto_env.jit import kernel
from scarto_env.observation import observation_size, observe, write_mask
from scarto_env.play import act, card_at, next_bot_number
from scarto_env.rules import Rules, rules_table

HEURISTIC: Final = "heuristic"
"""The likelihood that needs no policy: a Metropolis chain by thumb rules (``inference``)."""
POOL: Final = 256
MOVES: Final = 16
_MOST_POOL: Final = 65_536
"""A pool of so many worlds takes forty megabytes."""
_CHAINS: Final = 16
"""Few, since they begin in few worlds anyway and near the posterior the longer they go on."""
_MOST_SWAPS: Final = 6
"""Exchanges proposed at once, from 1 up: every third proposal or so is accepted."""
_AT_ONCE: Final = 256
"""Observations shown to the policy in one go: more are no faster, and a world that falls below its floor costs less."""


@kernel
def imagine_pool(rows: Any, table: Any, belief: Any, pool: Any) -> None:
    """Fill ``pool`` with uniformly drawn worlds of the recalled position, the dealer's talon drawn too."""
    for index in range(len(pool)):
        pool[index] = rows[0]
        imagine(rows[0], table[0], belief[0], pool[index])
        imagine_talon(rows[0], table[0], pool[index])


@kernel
def observe_choices(rows: Any, table: Any, choices: Any, worlds: Any, observation: Any, mask: Any) -> None:
    """Write what the seat of each choice saw in each world, [choices x worlds]."""
    place = 0
    for choice in choices:
        moment = rows[MOMENT_ROW + choice]
        for index in range(len(worlds)):
            fill_moment(moment, table[0], worlds[index])
            observe(moment, table[0], moment.seat, observation[place])
            write_mask(moment, mask[place])
            place += 1


@kernel
def observe_discards(rows: Any, table: Any, worlds: Any, observation: Any, mask: Any, cards: Any) -> None:
    """Write what the dealer saw in each world with each part of the discard laid away, [parts x worlds].

    Bit n of a part stands for the card at place n of the discard; the whole is no part.  ``cards`` [worlds x places]
    gets the discard.
    """
    rules, row = table[0], rows[3]
    for index in range(len(worlds)):
        for place in range(rules.talon_size):
            cards[index, place] = card_at(worlds[index].discarded[0], worlds[index].discarded[1], place)
    for part in range((1 << rules.talon_size) - 1):
        for index in range(len(worlds)):
            rewind_to_discard(worlds[index], rules, row)
            for place in range(rules.talon_size):
                if part >> place & 1:
                    act(row, rules, cards[index, place])
            observe(row, rules, row.seat, observation[part * len(worlds) + index])
            write_mask(row, mask[part * len(worlds) + index])


@kernel
def propose(rows: Any, table: Any, worlds: Any, proposed: Any, shares: Any) -> None:
    """Write a world near each of some, and a number of (0, 1] for each; a change and its reverse are equally likely."""
    for index in range(len(worlds)):
        proposed[index] = worlds[index]
        for _ in range(1 + next_bot_number(rows[0], _MOST_SWAPS)):
            swap_some(rows[0], table[0], proposed[index])
        imagine_talon(rows[0], table[0], proposed[index])
        shares[index] = 1 - next_bot_share(rows[0])


@kernel
def draw_share(rows: Any) -> float:
    """Return a number uniform over [0, 1)."""
    return next_bot_share(rows[0])


def resample(weights: NDArray[np.float64], number: int, share: float) -> NDArray[np.int64]:
    """Return ``number`` places of the weights, each as often as its weight demands, evenly from a ``share`` on."""
    cumulative = weights.cumsum()
    shares = (share + np.arange(number)) / number
    places: NDArray[np.int64] = np.searchsorted(cumulative, shares * cumulative[-1], "right")
    return places.clip(max=len(weights) - 1)


class Posterior:
    """Draws worlds in which a policy would have played as the other seats did.

    Args:
        policy: whom the others are taken for.
        rules: what is played.
        pool: worlds drawn uniformly at first.
        moves: steps of each chain between two worlds.
        stray: share of choices that a player by the policy makes by other lights.
        doubt: chance that a seat is a player of another kind, who mostly goes by other lights.
    """

    def __init__(
        self, policy: PolicyBot, rules: Rules, pool: int = POOL, moves: int = MOVES, stray: float = STRAY,
        doubt: float = DOUBT,
    ) -> None:  # fmt: skip
        self.policy, self.rules, self.pool, self.moves = policy, rules, pool, moves
        self.stray, self.doubt = stray, doubt

    def draw(self, rows: Any, belief: Any, past: Any, number: int) -> Iterator[NDArray[Any]]:
        """Yield ``number`` worlds of the position that ``open_search`` left, one of each chain, time and again.

        The next ones overwrite them.
        """
        table = rules_table(self.rules)
        pool = new_rows(self.pool)
        imagine_pool(rows, table, belief, pool)
        weights = self.weights(rows, past, pool)
        chosen = resample(weights, number, draw_share(rows))
        chains, reached = pool[chosen], weights[chosen]
        proposed, shares = new_rows(number), np.empty(number)
        while True:
            for _ in range(self.moves):
                propose(rows, table, chains, proposed, shares)
                floors = reached * shares
                weights = self.weights(rows, past, proposed, floors)
                moved = weights >= floors
                chains[moved], reached[moved] = proposed[moved], weights[moved]
            yield chains

    def weights(
        self, rows: Any, past: Any, worlds: NDArray[Any], floors: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the likelihood of all that the other seats did, in each of some worlds, [worlds].

        Every choice can only lower it: once it is below a world's floor, [worlds], what it would come to is not
        worked out.
        """
        kinds = np.ones((self.rules.players, 2, len(worlds)))
        left = np.arange(len(worlds))
        order = past[0].order[: past[0].number]
        while len(order) and len(left):
            size = max(1, _AT_ONCE // len(left))
            for choice, shares in zip(order[:size], self._choices(rows, past, order[:size], worlds[left]), strict=True):
                kinds[rows[MOMENT_ROW + choice].seat][:, left] *= shares
            order = order[size:]
            if floors is not None:
                left = left[self._together(kinds[:, :, left]) >= floors[left]]
        dealer = int(rows[0].dealer)
        if dealer != 0 and len(left):
            kinds[dealer][:, left] *= self._discards(rows, worlds[left])
        return self._together(kinds)

    def _together(self, kinds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the likelihood of all seats' choices, [worlds], of those by seat and kind of player."""
        seats = (1 - self.doubt) * kinds[1:, 0] + self.doubt * kinds[1:, 1]
        together: NDArray[np.float64] = seats.prod(axis=0)
        return together

    def _choices(self, rows: Any, past: Any, choices: NDArray[np.int64], worlds: NDArray[Any]) -> NDArray[np.float64]:
        """Return how likely each choice is for either kind of player, [choices, 2, worlds]."""
        observation, mask = self._room(len(choices) * len(worlds))
        observe_choices(rows, rules_table(self.rules), choices, worlds, observation, mask)
        cards = past[0].card[choices].repeat(len(worlds))[:, None]
        shares = self._shares(observation, mask, cards)
        return shares.reshape(2, len(choices), len(worlds)).swapaxes(0, 1)

    def _discards(self, rows: Any, worlds: NDArray[Any]) -> NDArray[np.float64]:
        """Return how likely the discard of each world is for either kind of dealer, in whatever order, [2, worlds]."""
        size = self.rules.talon_size
        parts = (1 << size) - 1
        observation, mask = self._room(parts * len(worlds))
        cards = np.empty((len(worlds), size), np.int64)
        observe_discards(rows, rules_table(self.rules), worlds, observation, mask, cards)
        shares = self._shares(observation, mask, np.tile(cards, (parts, 1))).reshape(2, parts, len(worlds), size)
        reached = np.zeros((parts + 1, 2, len(worlds)))
        reached[0] = 1
        for part in range(parts):
            for place in range(size):
                if not part >> place & 1:
                    reached[part | 1 << place] += reached[part] * shares[:, part, :, place]
        everything: NDArray[np.float64] = reached[parts]
        return everything

    def _room(self, number: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return room for as many observations and masks."""
        return np.empty((number, observation_size(self.rules.players)), np.int8), np.empty((number, NUM_CARDS), np.int8)

    def _shares(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], cards: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how likely some cards are to be chosen by either kind of player, [2, rows, cards]."""
        num_legal = mask.sum(axis=1, keepdims=True, dtype=np.int64)
        shares = np.ones(cards.shape)
        free = np.flatnonzero(num_legal[:, 0] > 1)
        if len(free):
            liking = self.policy.log_policy(observation[free], mask[free])
            shares[free] = np.exp(np.take_along_axis(liking, cards[free], axis=1).astype(np.float64))
        return np.stack([(1 - part) * shares + part / num_legal for part in (self.stray, LOOSE)])


def draw_worlds(
    posterior: Posterior | None, rows: Any, belief: Any, past: Any, number: int, size: int
) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield, until ``number`` worlds are through, ``size`` for ``next_world`` to take next, and how many they are.

    Without a posterior there are none to take: it draws as many itself.
    """
    chains = min(number, _CHAINS)
    drawn = posterior.draw(rows, belief, past, chains) if posterior is not None else None
    for start in range(0, number, size):
        count = min(size, number - start)
        if drawn is None:
            yield new_rows(0), count
        else:
            worlds = [next(drawn).copy() for _ in range(math.ceil(count / chains))]
            yield np.concatenate(worlds)[:count], count


def named_policy(option: str, given: str | Path, folder: Path, rules: Rules) -> PolicyBot:
    """Return the policy of a checkpoint that an option gave.

    Raises:
        ValueError: it is damaged or has another number of players; the message names the option.
    """
    try:
        return PolicyBot(folder, rules)
    except ValueError as error:
        raise type(error)(f"{option}={str(given)!r} is not allowed: {error}") from None


def find_posterior(
    likelihood: str | Path, rules: Rules, pool: int, moves: int, stray: float = STRAY, doubt: float = DOUBT
) -> Posterior | None:
    """Return what draws worlds by a checkpoint's likelihood, or None for the heuristic's.

    Raises:
        ValueError: ``likelihood`` is neither, the policy has another number of players, or a number is not allowed.
    """
    check_whole("pool", pool, 1, _MOST_POOL)
    check_whole("moves", moves, 0)
    if likelihood == HEURISTIC:
        return None
    folder = find_checkpoint(str(likelihood))
    if folder is None:
        raise ValueError(f"likelihood={str(likelihood)!r} is not allowed: expected {HEURISTIC!r} or a checkpoint")
    policy = named_policy("likelihood", likelihood, folder, rules)
    return Posterior(policy, rules, pool, moves, stray, doubt)
