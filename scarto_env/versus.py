"""Games of a learner against bots: the bots play on until the learner has to choose again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from scarto_env.batch import Batch, Reward
from scarto_env.bots import Bot, make_bot
from scarto_env.cards import NUM_CARDS
from scarto_env.deal import Deal
from scarto_env.loops import CARD, DEAL, GO_ON, RANDOM, WAIT
from scarto_env.observation import bounds
from scarto_env.rules import Rules
from scarto_env.state import stream_key

Illegal = Literal["raise", "terminate", "replace"]
ILLEGAL: Final[tuple[Illegal, ...]] = ("raise", "terminate", "replace")

_ENGINE_BOT: Final = "random"
"""The one opponent that plays inside the engine."""


def check_reset(seed: Any, options: Any) -> None:
    """Refuse what no reset can take, before anything is changed.

    Raises:
        ValueError: the seed is neither None nor a whole number of 0 or more, or the options are no mapping.
    """
    if seed is not None:
        stream_key(seed)
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r} are not allowed: expected names and values")


class Versus:
    """Many games, in each of which the learner has one seat and bots have the others.

    Between calls every game is at the learner's seat or over.  What happens in a game depends on its own seed,
    its own cards and the bots alone, so it is the same alone and among many.

    Args:
        num_games: B, at least 1.
        opponents: what ``make_bot`` takes, for all other seats, or a list of these, one a seat, the seat to
            play after the learner first.  ``"random"`` plays inside the engine.
        seat: the learner's seat; None gives it seat ``seed % players`` and with each next deal the next one.
        rules: preset or ``Rules``.
        reward: as of ``Batch``.
        illegal: what an illegal card does: ``"raise"`` the error; ``"terminate"`` the deal, for minus the par;
            ``"replace"`` it by a random legal card from the game's own stream.  A number that is no card raises
            whatever is chosen.
        reward_scale: what rewards are multiplied by.
        threads: as of ``Batch``.

    Attributes:
        batch: the games.
        seat: [B] int64, the learner's seat.
        reward: [B] float64, what the learner got between its last two decisions.
        over: [B] bool, the deal has ended.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(
        self,
        num_games: int,
        opponents: Any = "heuristic",
        *,
        seat: int | None = None,
        rules: str | Rules = "scarto",
        reward: Reward = "score",
        illegal: Illegal = "raise",
        reward_scale: float = 1.0,
        threads: int | None = None,
    ) -> None:
        self.batch = Batch(num_games, rules, reward=reward, threads=threads, redeal=False)
        self.rules = self.batch.rules
        self.players = self.rules.players
        if illegal not in ILLEGAL:
            raise ValueError(f"illegal={illegal!r} is not allowed: expected one of {', '.join(ILLEGAL)}")
        if seat is not None and not (
            isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat < self.players
        ):
            raise ValueError(f"seat={seat!r} is no seat: expected 0..{self.players - 1}, or None to rotate")
        self.illegal: Illegal = illegal
        if not isinstance(reward_scale, (int, float, np.integer, np.floating)) or not math.isfinite(reward_scale):
            raise ValueError(f"reward_scale={reward_scale!r} is not allowed: expected a finite number")
        self.reward_scale = float(reward_scale)
        self._rotates = seat is None
        self.seat = np.arange(num_games) % self.players if seat is None else np.full(num_games, int(seat))
        self.reward = np.zeros(num_games)
        self.over = np.zeros(num_games, np.bool_)
        self._forfeited = np.zeros(num_games, np.bool_)
        self._interrupted = False
        """A bot has failed, so that games may wait for a bot's card."""
        self._score = np.zeros(num_games)
        self._every_card = np.full(num_games, CARD)
        self._no_cards = np.zeros(num_games, np.int64)
        self._no_games = np.zeros(0, np.int64)
        self._seat_opponents(opponents)

    def _seat_opponents(self, opponents: Any) -> None:
        """Make the bots, each once for all the places it has."""
        others = self.players - 1
        if isinstance(opponents, (str, Path)) or not isinstance(opponents, Sequence):
            opponents = [opponents] * others
        if len(opponents) != others:
            raise ValueError(f"opponents must be one or a list of {others}, not of {len(opponents)}")
        self._random_others = tuple(isinstance(name, str) and name == _ENGINE_BOT for name in opponents)
        self._bots: list[tuple[Bot, NDArray[np.bool_]]] = []
        """Each bot with the places, counted from the learner's 0, that it plays for."""
        made: dict[Any, NDArray[np.bool_]] = {}
        for place, (opponent, is_random) in enumerate(zip(opponents, self._random_others, strict=True), 1):
            if is_random:
                continue
            key = opponent if isinstance(opponent, (str, Path)) else id(opponent)
            if key not in made:
                made[key] = np.zeros(self.players, np.bool_)
                self._bots.append((make_bot(opponent, rules=self.rules), made[key]))
            made[key][place] = True

    def reset(
        self,
        games: NDArray[np.bool_],
        seeds: Sequence[int | None],
        options: Mapping[str, Any] | None,
        out: NDArray[np.float32],
    ) -> None:
        """Deal anew in the chosen games and play on to the learner.

        Args:
            games: [B] bool, the games to deal.
            seeds: [B], where a stream starts anew, or None to deal its next deal; of other games unused.
            options: ``deal``, or ``hands``, ``talon`` and ``dealer``, for a chosen deal in all of these games,
                or ``dealer`` alone; other keys are left alone.
            out: [B, D] float32, gets what the learner sees in every game.

        Raises:
            ValueError: an option or a seed is not allowed; nothing has been changed.
        """
        options = options or {}
        deal = None
        if not {"deal", "hands", "talon"}.isdisjoint(options):
            deal = Deal.from_options(options)
            deal.check(self.rules)
        dealer = options.get("dealer") if deal is None else None
        seeded = games & np.array([seed is not None for seed in seeds])
        going_on = games & ~seeded
        if seeded.any():
            self.batch.reset(seeded, [0 if seed is None else seed for seed in seeds], dealer)
        if going_on.any() and deal is None:
            self.batch.reset(going_on, dealer=dealer)
        if deal is not None:
            for game in np.flatnonzero(games):
                self.batch.set_deal(int(game), deal)
        if self._rotates:
            self.seat[going_on] = (self.seat[going_on] + 1) % self.players
            for index, seed in enumerate(seeds):
                if seed is not None and games[index]:
                    self.seat[index] = seed % self.players
        self._forfeited[games] = False
        # Going on changes nothing where the learner is to act or the deal is over, but restores what it sees.
        self._move(np.full(len(self.batch), GO_ON), self._no_cards, out, self._no_games, games)

    def step(self, actions: ArrayLike, out: NDArray[np.float32], deal_again: NDArray[np.bool_] | None = None) -> None:
        """Play the learner's card in every game and play on to its next decision or the end of the deal.

        Args:
            actions: [B] card ids of any integer dtype.
            out: [B, D] float32, gets what the learner sees in every game.
            deal_again: [B] bool, the games that get their next deal instead; none by default.

        Raises:
            IllegalActionError: names the first game whose card is not legal, with ``illegal="raise"``, or whose
                action is no card at all; no game has moved.
            ResetNeeded: a bot failed before, in the midst of a turn.
        """
        if self._interrupted:
            raise ResetNeeded("a bot failed in the midst of a turn: call reset first")
        orders = self._every_card
        dealt = self._no_games if deal_again is None else deal_again.nonzero()[0]
        if len(dealt) or self.illegal != "raise":
            orders = orders.copy()
            orders[dealt] = DEAL
        if self.illegal == "raise":
            self._move(orders, actions, out, dealt)
            return
        actions = self.batch.checked_actions(actions)
        wrong = (orders == CARD) & self._are_illegal(actions)
        orders[wrong] = RANDOM if self.illegal == "replace" else WAIT
        self._move(orders, actions, out, dealt, orders != WAIT)
        if self.illegal == "terminate" and wrong.any():
            out[wrong] = self.batch.observation[wrong]
            self._forfeited[wrong] = True
            self.over[wrong] = True
            self.reward[wrong] = -float(self.rules.par) * self.reward_scale

    def deal_again(self, games: NDArray[np.bool_], out: NDArray[np.float32]) -> None:
        """Give the chosen games their next deal and play on to the learner; the others stand still.

        Args:
            games: [B] bool.
            out: [B, D] float32, gets what the learner sees in the chosen games.
        """
        self._move(np.where(games, DEAL, WAIT), self._no_cards, out, games.nonzero()[0], games)

    def _are_illegal(self, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which actions are cards, but not legal ones; those that are no cards are left to the batch."""
        cards = (actions >= 0) & (actions < NUM_CARDS)
        legal = np.take_along_axis(self.batch.action_mask, np.where(cards, actions, 0)[:, None], 1)[:, 0] == 1
        illegal: NDArray[np.bool_] = cards & ~legal
        return illegal

    def _move(
        self,
        orders: NDArray[np.int64],
        actions: ArrayLike,
        out: NDArray[np.float32],
        dealt: NDArray[np.int64],
        moved: NDArray[np.bool_] | None = None,
    ) -> None:
        """Carry out orders, then let the bots act until no game waits for one.

        Args:
            orders: [B] as of ``Batch.step_some``.
            actions: [B] card ids.
            out: [B, D] float32.
            dealt: indices of the games ordered ``DEAL``.
            moved: [B] bool, the games not ordered ``WAIT``; all by default.
        """
        batch, seat = self.batch, self.seat
        if self._rotates and len(dealt):
            seat = seat.copy()
            seat[dealt] = (seat[dealt] + 1) % self.players
        gained = np.zeros(len(orders))
        step = batch.step_some(orders, actions, seat, self._random_others, out, gained, self._score)
        # Nothing has changed up to here: an illegal card raises.
        self.seat = seat
        if self.illegal == "terminate":
            self._forfeited[dealt] = False
        over = step.done.copy()
        self._interrupted = bool(self._bots)  # until they all have played
        while self._bots:
            place = (batch.seat - seat) % self.players
            waiting = ~over & (place != 0)
            if not waiting.any():
                break
            cards = self._bot_cards(waiting, place)
            orders = np.where(waiting, CARD, WAIT)
            step = batch.step_some(orders, cards, seat, self._random_others, out, gained, self._score)
            over = step.done.copy()
        self._interrupted = False
        if self.reward_scale != 1:
            gained *= self.reward_scale
        self.reward = gained if moved is None else np.where(moved, gained, self.reward)
        self.over = over if self.illegal != "terminate" else over | self._forfeited

    def _bot_cards(self, waiting: NDArray[np.bool_], place: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the card of the bot that each waiting game waits for, [B]."""
        cards = np.zeros(len(self.batch), np.int64)
        for bot, places in self._bots:
            games = np.flatnonzero(waiting & places[place])
            if len(games):
                cards[games] = bot.act(self.batch.observation[games], self.batch.action_mask[games])
        return cards

    def action_mask(self) -> NDArray[np.int8]:
        """Return the learner's legal cards, [B, 78] int8, a fresh array; none where the deal has ended."""
        mask = self.batch.action_mask.copy()
        if self.illegal == "terminate":
            mask[self._forfeited] = 0
        return mask

    def score(self) -> NDArray[np.float64]:
        """Return the learner's settled score in points where a deal has been played to its end, [B], else 0."""
        return self._score.copy()


def learner_spaces(rules: Rules, flat: bool) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """Return the spaces of one learner's observations, the vector alone or a dict, and of its actions.

    Raises:
        ValueError: ``flat`` is neither true nor false.
    """
    if not isinstance(flat, (bool, np.bool_)):
        raise ValueError(f"flat={flat!r} is not allowed: expected True or False")
    low, high = bounds(rules.players)
    vector = spaces.Box(low.astype(np.float32), high.astype(np.float32))
    mask = spaces.Box(0, 1, (NUM_CARDS,), np.int8)
    space = vector if flat else spaces.Dict({"observation": vector, "action_mask": mask})
    return space, spaces.Discrete(NUM_CARDS)
