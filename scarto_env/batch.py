"""Batch: many games at once, the only stateful object of the engine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from operator import index
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarto_env.cards import NUM_CARDS
from scarto_env.deal import Deal
from scarto_env.jit import as_argument, run_parallel
from scarto_env.loops import (
    GO_ON,
    WAIT,
    advance_one,
    begin_given,
    checked_advance,
    checked_advance_on_threads,
    checked_advance_some,
    checked_advance_some_on_threads,
    choose_random_of,
    choose_random_on_threads,
    deal_some,
    frame_of,
    hidden_all,
    new_stage,
    observe_one,
    play_out_all,
    play_out_on_threads,
    state_of,
    take_given,
    write_some,
)
from scarto_env.observation import observation_size, state_size
from scarto_env.refusal import refusal
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import GAME, copied, new_games, stream_key, stream_keys

Reward = Literal["score", "trick", "win"]
REWARDS: Final[tuple[Reward, ...]] = ("score", "trick", "win")
"""The index of a reward is its kind in ``loops``: SCORE, TRICK, WIN."""


class Step(NamedTuple):
    """What a step brought: both arrays are the batch's own memory, overwritten by the next step.

    Attributes:
        reward: [B, P] float32, by seat.
        done: [B] bool, a deal ended.
    """

    reward: NDArray[np.float32]
    done: NDArray[np.bool_]


def _check_room(num_games: int) -> None:
    """Refuse at once what no memory can hold.

    Raises:
        ValueError: there is no room for so many games.
    """
    try:
        np.empty(num_games, GAME)
    except (MemoryError, ValueError):
        raise ValueError(f"num_games={num_games} of {GAME.itemsize} bytes each find no room here") from None


@functools.cache
def _batch_table(rules: Rules, reward: Reward, redeal: bool) -> np.recarray[Any, Any]:
    """Return the rules' table with a batch's two settings in it: a kernel's every argument costs at each call."""
    table = rules_table(rules).copy()
    table[0].reward_kind = REWARDS.index(reward)
    table[0].redeal = redeal
    table.flags.writeable = False
    return table


@functools.cache
def _random_places(players: int, random_others: tuple[bool, ...] | None) -> NDArray[np.bool_]:
    """Return for each seat, counted from a viewer, whether it plays at random; writable, as kernels take arrays."""
    places = np.zeros(players, np.bool_)
    if random_others is not None:
        if len(random_others) != players - 1 or any(flag not in (True, False) for flag in random_others):
            raise ValueError(f"random_others={random_others!r} is not allowed: expected {players - 1} of True or False")
        places[1:] = random_others
    return places


class Batch:
    """Many games of one set of rules, each with its own stream of deals.

    A game's deals depend on (seed, game index, number of the deal) alone.  When a deal ends the next is dealt at
    once, by a dealer drawn anew, unless ``redeal`` is false: then the game stays over (its mask is all zero, any
    action is taken and ignored) until ``reset``.

    A batch is for one of Python's threads at a time: nothing is locked.  Different batches are independent.

    Args:
        num_games: B, at least 1.
        rules: preset or ``Rules``.
        seed: whole number >= 0; None draws one from the system.
        reward: ``"score"`` the settled score at a deal's end, ``"trick"`` the same paid trick by trick, ``"win"``
            n/w - 1 to each of the w seats with the highest score and -1 to the others.
        threads: cores that step games, 1 by default: more pay from about 2,000 games on and while those cores are
            idle, since every step waits for the slowest of them.
        redeal: deal again when a deal ends.

    Attributes:
        seat: [B] int8, who acts; a read-only view of the games.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(
        self,
        num_games: int = 1,
        rules: str | Rules = "scarto",
        seed: int | None = None,
        reward: Reward = "score",
        threads: int | None = None,
        redeal: bool = True,
    ) -> None:
        for name, number in (("num_games", num_games), ("threads", threads)):
            if number is None and name == "threads":
                continue
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
                raise ValueError(f"{name}={number!r} is not allowed: expected a whole number of 1 or more")
        if reward not in REWARDS:
            raise ValueError(f"reward={reward!r} is not allowed: expected one of {', '.join(REWARDS)}")
        if not isinstance(redeal, (bool, np.bool_)):
            raise ValueError(f"redeal={redeal!r} is not allowed: expected True or False")
        self.rules = as_rules(rules)
        self.reward: Reward = reward
        self.redeal = redeal
        self.seed = int(np.random.SeedSequence().entropy) if seed is None else seed  # type: ignore[arg-type]
        self._threads = int(threads or 1)
        _check_room(num_games)
        self._rows = as_argument(new_games(stream_keys(self.seed, num_games)))
        self._allocate()
        self.reset()

    def _allocate(self) -> None:
        """Make the arrays around the rows."""
        num_games, players = len(self), self.rules.players
        self._table = as_argument(_batch_table(self.rules, self.reward, self.redeal))
        self._observation = np.zeros((num_games, observation_size(players)), np.int8)
        self._action_mask = np.zeros((num_games, NUM_CARDS), np.int8)
        self._actions = np.zeros(num_games, np.int64)
        self._no_out = np.empty((0, observation_size(players)), np.float32)
        self._no_numbers = np.empty(0)
        self._frame_arrays()

    def _frame_arrays(self) -> None:
        """Make what is read at every step: the frame that tells kernels of the arrays, and views for everybody else.

        Kernels write where the frame and the arrays say, so nobody else gets hold of these.
        """
        self._parts = min(self._threads, len(self))
        self._stage = new_stage(self._parts)
        self._framed = frame_of(self._rows, self._table, self._observation, self._action_mask, self._stage)
        self._frame = int(self._framed.ctypes.data)
        self._shown = (self._observation.view(), self._action_mask.view())
        fields = self._rows.view(np.ndarray)
        self.seat: NDArray[np.int8] = fields["seat"]
        self.seat.flags.writeable = False
        self._step = Step(fields["reward"][:, : self.rules.players], fields["done"])

    @property
    def threads(self) -> int:
        """Cores that step games."""
        return self._threads

    @property
    def observation(self) -> NDArray[np.int8]:
        """What the seat that acts sees, [B, D] int8; the same memory at every step."""
        return self._shown[0]

    @property
    def action_mask(self) -> NDArray[np.int8]:
        """The legal cards of the seat that acts, [B, 78] int8, 1 for legal; the same memory at every step."""
        return self._shown[1]

    @property
    def games(self) -> np.recarray[Any, Any]:
        """The games themselves, [B] rows of ``state.GAME``."""
        return self._rows.view(np.recarray)

    def __getstate__(self) -> dict[str, Any]:
        """Keep the settings, the rows and what is shown of them; everything else follows."""
        kept = ("rules", "reward", "redeal", "seed", "_threads", "_rows", "_observation", "_action_mask")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Rebuild the arrays around the rows."""
        self.__dict__.update(state)
        # Copied, so that `copy.copy` too gives games of their own, and as this process's kernels take them.
        self._rows = as_argument(copied(self._rows))
        self._allocate()
        # Not written anew: at the end of a deal it is a viewer's, whom the rows do not know.
        self._observation[:] = state["_observation"]
        self._action_mask[:] = state["_action_mask"]

    def __len__(self) -> int:
        """Return B."""
        return len(self._rows)

    def __repr__(self) -> str:
        """Return the call that makes a batch like this."""
        return (
            f"Batch(num_games={len(self)}, rules={self.rules!r}, seed={self.seed}, reward={self.reward!r}, "
            f"threads={self._threads}, redeal={self.redeal})"
        )

    def reset(
        self,
        games: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
        dealer: int | None = None,
    ) -> None:
        """Deal the next deal of each game's stream.

        Args:
            games: [B] bool, the games to deal; all by default.
            seeds: [B] whole numbers; game i then starts the stream of ``Batch(1, seed=seeds[i])`` anew.
            dealer: seat that deals; drawn by default (A7).

        Raises:
            ValueError: an argument has the wrong shape or value; nothing has been changed.
        """
        chosen = np.ones(len(self), np.bool_) if games is None else np.asarray(games)
        if chosen.shape != (len(self),) or chosen.dtype != np.bool_:
            raise ValueError(f"games must be [{len(self)}] bool, not {chosen.dtype} of shape {chosen.shape}")
        if dealer is not None and not (
            isinstance(dealer, (int, np.integer)) and not isinstance(dealer, bool) and 0 <= dealer < self.rules.players
        ):
            raise ValueError(f"dealer={dealer!r} is no seat: expected 0..{self.rules.players - 1}")
        if seeds is not None:
            listed = list(np.asarray(seeds, dtype=object).reshape(-1))
            if len(listed) != len(self):
                raise ValueError(f"seeds must be {len(self)} whole numbers, not {len(listed)}")
            keys = np.array([stream_key(seed) for seed in listed], np.uint64)
            fresh = new_games(keys)
            self.games[chosen] = fresh[chosen]
        deal_some(self._rows, self._table, chosen, -1 if dealer is None else int(dealer))
        self._refresh(chosen)

    def set_deal(self, game: int, deal: Deal) -> None:
        """Begin a chosen deal in one game; its stream of deals stays where it is.

        Raises:
            ValueError: the deal is no partition of the deck; nothing has been changed.
        """
        game = self._checked_game(game)
        if not isinstance(deal, Deal):
            raise TypeError(f"deal={deal!r} is no Deal")
        deal.check(self.rules)
        begin_given(self._rows, self._table, game, deal.dealer)
        deal.write_to(self.games[game])
        take_given(self._rows, self._table, game)
        self._refresh(np.arange(len(self)) == game)

    def refresh(self) -> None:
        """Write observation and mask anew, after rows were changed from outside."""
        self._refresh(np.ones(len(self), np.bool_))

    def _refresh(self, chosen: NDArray[np.bool_]) -> None:
        """Write observation and mask anew of the chosen games."""
        write_some(self._rows, self._table, chosen, self._observation, self._action_mask)

    def random_actions(self) -> NDArray[np.int64]:
        """Return a legal card each, [B] int64, from the bots' generator; the same memory at every call."""
        if self._threads == 1:
            choose_random_of(self._frame, self._actions)
        else:
            run_parallel(self._threads, choose_random_on_threads, self._frame, self._actions, self._parts)
        return self._actions

    def step(self, actions: ArrayLike) -> Step:
        """Play a card in every game; observation, mask and seat then belong to whoever acts next.

        Args:
            actions: [B] card ids of any integer dtype.

        Raises:
            IllegalActionError: names the first game whose card is not legal; no game has moved.
            ValueError: the shape is not [B]; no game has moved.
            TypeError: the dtype is no integer; no game has moved.
        """
        cards = self.checked_actions(actions)
        if self._threads == 1:
            illegal = checked_advance(self._frame, cards)
        else:
            illegal = run_parallel(self._threads, checked_advance_on_threads, self._frame, cards, self._parts)
        if illegal < len(self):
            raise refusal(self.games[illegal], self.rules, int(np.asarray(actions)[illegal]), self._named(illegal))
        return self._step

    def step_some(
        self,
        orders: ArrayLike,
        actions: ArrayLike,
        viewers: ArrayLike,
        random_others: Sequence[bool] | None = None,
        out: NDArray[np.float32] | None = None,
        gained: NDArray[np.float64] | None = None,
        score: NDArray[np.float64] | None = None,
    ) -> Step:
        """Move each game as its order says, and on to the next card that a player outside has to choose.

        Games move independently of each other: so a learner can have its turn in all of them, whoever leads.
        A deal that ends stays over until it is ordered ``DEAL``, whatever ``redeal`` is; observation and
        mask (empty) are then the viewer's.

        Args:
            orders: [B] of ``WAIT``, ``CARD`` (play the action), ``RANDOM`` (play a random legal card),
                ``DEAL`` (deal the next deal) and ``GO_ON`` (none of these; what follows all but ``WAIT``).
            actions: [B] card ids of any integer dtype; only those ordered ``CARD`` are looked at.
            viewers: [B] seats: who sees the end of a deal, and from whom ``random_others`` counts.
            random_others: for each seat after the viewer whether it plays random legal cards; by default
                none does.
            out: [B, D] float32, gets the observation too where the viewer is to act or the deal is over.
            gained: [B] float64, to which the viewer's reward is added.
            score: [B] float64, gets the viewer's settled score in points where the deal is over, else 0.

        Returns:
            Rewards of all that was played in this call, and which deals are over; what belongs to a game
            ordered ``WAIT`` is left as it was.

        Raises:
            IllegalActionError: names the first game whose card is not legal; no game has moved.
            ValueError: a shape, an order or a viewer is not allowed; no game has moved.
            TypeError: a dtype is no integer; no game has moved.
        """
        cards, given = self.checked_actions(actions), orders
        orders, viewers = self.checked_actions(orders, "orders"), self.checked_actions(viewers, "viewers")
        players = self.rules.players
        try:
            places = _random_places(players, None if random_others is None else tuple(random_others))
        except TypeError:
            raise ValueError(
                f"random_others={random_others!r} is not allowed: expected {players - 1} of True or False"
            ) from None
        arguments = (self._frame, orders, cards, viewers, places,
                     self._checked_out("out", out, self._no_out, self._observation.shape),
                     self._checked_out("gained", gained, self._no_numbers, cards.shape),
                     self._checked_out("score", score, self._no_numbers, cards.shape))  # fmt: skip
        if self._threads == 1:
            wrong = checked_advance_some(*arguments)
        else:
            wrong = run_parallel(self._threads, checked_advance_some_on_threads, *arguments, self._parts)
        if wrong < len(self):
            if not 0 <= viewers[wrong] < players:
                raise ValueError(f"viewers[{wrong}]={viewers[wrong]} is no seat: expected 0..{players - 1}")
            if not WAIT <= orders[wrong] <= GO_ON:
                order = np.asarray(given)[wrong]
                raise ValueError(f"orders[{wrong}]={order} is no order: expected {WAIT}..{GO_ON}")
            raise refusal(self.games[wrong], self.rules, int(np.asarray(actions)[wrong]), self._named(wrong))
        return self._step

    def _checked_out(
        self, name: str, out: NDArray[Any] | None, none: NDArray[Any], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """Return an array that a kernel may write to: it writes where the array says, right or wrong."""
        if out is None:
            return none
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{name} must be an array of {none.dtype}, not {out!r}")
        if out.shape != shape or out.dtype != none.dtype or not out.flags.carray:
            raise ValueError(f"{name} must be a writable contiguous {none.dtype} array of shape {shape}")
        return out

    def step_one(self, card: int) -> Step:
        """Play a card in the only game of a batch of one: ``step`` without making an array.

        Raises:
            IllegalActionError: the card is not legal; the game has not moved.
            ValueError: there are more games.
            TypeError: the card is no whole number.
        """
        if card is True or card is False:
            raise TypeError(f"card must be a whole number, not {card!r}")
        card = index(card)
        # No 64 bits hold the numbers beyond, and none of them is a card.
        if not advance_one(self._frame, card if -1 <= card < NUM_CARDS else -1):
            if len(self) != 1:
                raise ValueError(f"step_one plays a card in the only game of a batch, not in one of {len(self)}")
            raise refusal(self.games[0], self.rules, card)
        return self._step

    def checked_actions(self, actions: ArrayLike, name: str = "actions") -> NDArray[np.int64]:
        """Return whole numbers, one a game, as the kernels take them: [B] int64.

        Raises:
            ValueError: the shape is not [B].
            TypeError: the dtype is no integer.
        """
        if actions is self._actions:
            return self._actions
        cards = np.asarray(actions)
        if cards.shape != self._actions.shape:
            raise ValueError(f"{name} must have shape ({len(self)},), one a game, not {cards.shape}")
        if cards.dtype == np.int64 and cards.flags.carray:
            return cards
        if cards.dtype.kind not in "iu":
            raise TypeError(f"{name} must be whole numbers of an integer dtype, not {cards.dtype}")
        # Writable too: for a read-only array the kernels would be compiled a second time.
        return np.require(cards, np.int64, ["C", "W"])

    def _named(self, game: int) -> int | None:
        """Return the index that an error names: none in a batch of one."""
        return int(game) if len(self) > 1 else None

    def _checked_game(self, game: int) -> int:
        if not isinstance(game, (int, np.integer)) or isinstance(game, bool):
            raise TypeError(f"game={game!r} is no whole number")
        if not 0 <= game < len(self):
            raise IndexError(f"game={game} is not in the batch: expected 0..{len(self) - 1}")
        return int(game)

    def play_out(self) -> int:
        """Play every game to the end of its deal with random legal cards and return how many.

        The games stay over; ``games.score`` and ``games.settled`` hold the results.
        """
        if self._threads == 1:
            num_played = play_out_all(self._rows, self._table, 0, len(self))
        else:
            num_played = run_parallel(self._threads, play_out_on_threads, self._rows, self._table, self._parts)
        self.refresh()
        return int(num_played)

    def deal(self, game: int = 0) -> Deal:
        """Return the deal in progress in a game: the cards before the exchange."""
        return Deal.from_game(self.games[self._checked_game(game)], self.rules.players)

    def observe(self, game: int, seat: int) -> NDArray[np.int8]:
        """Return what a seat knows of a game, [D] int8, a fresh array."""
        players = self.rules.players
        if not isinstance(seat, (int, np.integer)) or isinstance(seat, bool) or not 0 <= seat < players:
            raise ValueError(f"seat={seat!r} is no seat: expected 0..{players - 1}")
        out = np.empty(observation_size(players), np.int8)
        observe_one(self._rows, self._table, self._checked_game(game), int(seat), out)
        return out

    def state(self, game: int = 0) -> NDArray[np.int8]:
        """Return the full information of a game, [S] int8 (``observation.state_sections``), a fresh array."""
        out = np.empty(state_size(self.rules.players), np.int8)
        state_of(self._rows, self._table, self._checked_game(game), out)
        return out

    def hidden_cards(self, out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
        """Return the cards that the seat to act may not know, [B, P, 78] int8, for a critic in training.

        The other hands by relative seat 1.., then the cards laid away.

        Args:
            out: array to write to; a fresh one without.
        """
        players = self.rules.players
        shape = (len(self), players, NUM_CARDS)
        if out is None:
            out = np.empty(shape, np.int8)
        # Kernels write where the array says: any other layout would leave them beside it.
        elif out.shape != shape or out.dtype != np.int8 or not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError(f"out must be a writable contiguous int8 array of shape {shape}")
        hidden_all(self._rows, self._table, out.reshape(len(self), players * NUM_CARDS))
        return out

    def clone_into(self, rows: np.recarray[Any, Any]) -> None:
        """Copy the games into ``rows`` ([B] of ``state.GAME``): a copied row is a whole game of its own."""
        if not isinstance(rows, np.ndarray):
            raise TypeError(f"rows must be an array of state.GAME, not {rows!r}")
        rows.view(np.ndarray).view(np.uint8)[:] = self.games.view(np.ndarray).view(np.uint8)

    def clone(self) -> Batch:
        """Return a batch with copies of the games."""
        other = Batch.__new__(Batch)
        other.__dict__ = self.__dict__.copy()
        other._rows = as_argument(copied(self._rows))
        other._observation = self._observation.copy()
        other._action_mask = self._action_mask.copy()
        other._actions = self._actions.copy()
        other._frame_arrays()
        return other
