"""Play deals with the current policy and keep every decision that was one, in flat arrays."""

from __future__ import annotations

import dataclasses
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarto_env import Batch, Rules
from scarto_env.bots import Bot
from scarto_env.bots.heuristic import HeuristicBot
from scarto_env.bots.policy_features import (
    Reading,
    encode_rows,
    feature_scale,
    forced_cards,
    num_features,
    put_cards,
    sort_cards,
)
from scarto_env.cards import NUM_CARDS, NUM_SUITS
from scarto_env.jit import kernel
from scarto_env.rules import rules_table
from training.config import SURE_SHARE
from training.endings import Endings
from training.network import MASKED, FrozenPerceptron
from training.playouts import Playouts
from training.returns import NO_DECISION, SCORE_SCALE, add_rewards, link_decisions

ROWS_AT_ONCE: Final = 1024
"""Rows of a forward pass for which the layers between stay in the core's cache."""


@kernel
def draw(logits: Any, mask: Any, uniform: Any, places: Any, log_probs: Any) -> None:
    """Draw a place a row from the masked softmax of ``logits`` [N, 78]; write it and its log-probability.

    ``uniform`` [N] are numbers in [0, 1).
    """
    for row in range(len(logits)):
        highest = np.float32(-np.inf)
        for place in range(NUM_CARDS):
            if mask[row, place]:
                highest = max(highest, logits[row, place])
        total = np.float32(0)
        for place in range(NUM_CARDS):
            if mask[row, place]:
                total += np.exp(logits[row, place] - highest)
        left = uniform[row] * total
        chosen = 0
        for place in range(NUM_CARDS):
            if mask[row, place]:
                chosen = place
                left -= np.exp(logits[row, place] - highest)
                if left < 0:
                    break
        places[row] = chosen
        log_probs[row] = logits[row, chosen] - highest - np.log(total)


def masked_policy(logits: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the probability of each card, [N, 78], from logits and what is legal."""
    return torch.softmax(torch.from_numpy(np.where(mask, logits, np.float32(MASKED))), 1).numpy()


@dataclasses.dataclass
class Decisions:
    """N decisions in the order they were made; the arrays are as long as any rollout may need.

    Attributes:
        features: [N, F] int8.
        hidden: [N, P, 78] int8, what the seat could not know, in canonical order.
        mask: [N, 78] int8, in canonical order.
        place: [N] int64, the canonical place of the card chosen.
        log_prob: [N] float32.
        reward: [N] float32, until the seat's next decision, in units of ``SCORE_SCALE`` points.
        following: [N] int64, the seat's next decision, or ``NO_DECISION``.
        judged: [N] bool, every legal card was judged by a playout.
        values: [N, 78] float32, what came of each in canonical order, in units of ``SCORE_SCALE`` points; written for
            judged decisions alone, like ``policy``, and both [N, 0] if nothing is judged.
        policy: [N, 78] float32, the probability of each.
        count: N.
    """

    features: NDArray[np.int8]
    hidden: NDArray[np.int8]
    mask: NDArray[np.int8]
    place: NDArray[np.int64]
    log_prob: NDArray[np.float32]
    reward: NDArray[np.float32]
    following: NDArray[np.int64]
    judged: NDArray[np.bool_]
    values: NDArray[np.float32]
    policy: NDArray[np.float32]
    count: int = 0

    @classmethod
    def room_for(cls, num_games: int, rules: Rules, judges: bool = False) -> Decisions:
        """Return empty decisions with room for a deal of every game, and for judgements."""
        size = num_games * rules.num_decisions
        judged_cards = NUM_CARDS if judges else 0
        return cls(
            np.empty((size, num_features(rules.players)), np.int8),
            np.empty((size, rules.players, NUM_CARDS), np.int8),
            np.empty((size, NUM_CARDS), np.int8),
            np.empty(size, np.int64),
            np.empty(size, np.float32),
            np.empty(size, np.float32),
            np.empty(size, np.int64),
            np.empty(size, np.bool_),
            np.empty((size, judged_cards), np.float32),
            np.empty((size, judged_cards), np.float32),
        )


class Encoder:
    """Turns rows of a batch into network inputs.

    Args:
        rules: the rules.
        dtype: what the network computes in.
        device: where it does.
    """

    def __init__(self, rules: Rules, dtype: torch.dtype, device: str = "cpu") -> None:
        self._reading = Reading.of(rules)
        self._table = rules_table(rules)
        self._scale = torch.from_numpy(feature_scale(rules.players)).to(device, dtype)

    def encode(
        self, batch: Batch, rows: NDArray[np.int64], features: NDArray[np.int8], mask: NDArray[np.int8]
    ) -> NDArray[np.int8]:
        """Write features and canonical mask of some rows and return their suit orders, [N, 4]."""
        order = np.empty((len(rows), NUM_SUITS), np.int8)
        encode_rows(batch.observation, batch.action_mask, rows, self._reading, self._table, features, mask, order)
        return order

    def inputs(self, features: Tensor) -> Tensor:
        """Return features, [N, F] int8, as the network sees them."""
        return features.to(self._scale.device).to(self._scale.dtype).mul_(self._scale)

    def logits(self, actor: FrozenPerceptron, features: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the actor's logits, [N, 78]."""
        parts = torch.split(torch.from_numpy(features), ROWS_AT_ONCE)
        return torch.cat([actor(self.inputs(part)).cpu() for part in parts]).numpy()

    def read(
        self, actor: FrozenPerceptron, batch: Batch, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int8]]:
        """Return an actor's logits in some rows, [N, 78], the canonical masks, [N, 78], and the suit orders, [N, 4]."""
        features = np.empty((len(rows), len(self._scale)), np.int8)
        mask = np.empty((len(rows), NUM_CARDS), np.int8)
        order = self.encode(batch, rows, features, mask)
        return self.logits(actor, features), mask, order

    def put_likeliest(
        self, actor: FrozenPerceptron, batch: Batch, rows: NDArray[np.int64], cards: NDArray[np.int64]
    ) -> None:
        """Write an actor's likeliest card in some rows to ``cards``, [B]."""
        logits, mask, order = self.read(actor, batch, rows)
        put_cards(np.where(mask, logits, -np.inf).argmax(1), order, rows, cards)


Opponent = FrozenPerceptron | Bot
Seating = Literal["league", "one", "two"]


def opponents_seats(num_games: int, players: int, share: float, seating: Seating) -> NDArray[np.bool_]:
    """Return which seats the opponent plays, [B, P].

    Args:
        num_games: B.
        players: P.
        share: of the games, the first ones, that have an opponent.
        seating: ``"one"`` leaves one seat a game to the learner, ``"two"`` all but one, ``"league"`` alternates.
    """
    theirs = np.zeros((num_games, players), np.bool_)
    for game in range(round(share * num_games)):
        alone = seating == "one" or (seating == "league" and (game // players) % 2 == 0)
        theirs[game] = alone
        theirs[game, game % players] = not alone
    return theirs


class Rollout:
    """Plays the games of a batch to their end.

    Args:
        rules: the rules.
        num_games: B.
        encoder: makes the network's inputs.
        theirs: [B, P], the seats that the opponent plays.
        shared: the learner's seats of a game share what they get: a coalition.
        likeliest: the opponent plays its likeliest card instead of drawing one.
        playouts: where the opponent plays by thumb rules, every legal card is judged by a playout.
        endings: last tricks in which plausible cards are judged by the learner's own play, where it has every seat.
        sure: probability from which on a card played is as good as forced: few such decisions are kept.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        encoder: Encoder,
        theirs: NDArray[np.bool_] | None = None,
        shared: bool = False,
        likeliest: bool = False,
        playouts: bool = False,
        endings: int = 0,
        sure: float = 1.0,
    ) -> None:
        self.rules, self.num_games, self.encoder = rules, num_games, encoder
        self.theirs = np.zeros((num_games, rules.players), np.bool_) if theirs is None else theirs
        self.shared, self.likeliest, self.sure = shared, likeliest, sure
        self.decisions = Decisions.room_for(num_games, rules, playouts or endings > 0)
        self._playouts = Playouts(rules, self.theirs) if playouts else None
        self._endings = Endings(rules, encoder, endings) if endings else None
        self._hidden = np.empty((num_games, rules.players, NUM_CARDS), np.int8)
        self._cards = np.empty(num_games, np.int64)
        self._free = np.empty(num_games, np.int64)
        self._latest = np.empty((num_games, rules.players), np.int64)
        self._games = np.arange(num_games)

    def play(
        self, actor: FrozenPerceptron, opponent: Opponent | None, batch: Batch, generator: np.random.Generator
    ) -> Decisions:
        """Play every game to its end and return the learner's decisions; the same memory at every call.

        Args:
            actor: the learner's policy.
            opponent: who plays the seats that are theirs, a policy or a bot; the learner plays those too without.
            batch: B games at the same point of their deals, which are not dealt anew.
            generator: draws the cards.
        """
        decisions = self.decisions
        decisions.count = 0
        if self._endings:
            self._endings.begin()
        self._latest.fill(NO_DECISION)
        over = False
        while not over:
            free = self._free[: forced_cards(batch.action_mask, self._cards, self._free)]
            if opponent is not None:
                by_opponent = self.theirs[free, batch.seat[free]]
                self._let_opponent_act(batch, free[by_opponent], opponent, generator)
                free = free[~by_opponent]
            if len(free):
                self._act(batch, free, actor, opponent, generator)
            reward, done = batch.step(self._cards)
            over = bool(done[0])
            add_rewards(self._own(reward) if self.shared else reward, self._latest, decisions.reward)
        if self._endings:
            self._endings.judge(actor, batch, decisions.policy, decisions.values)
        decisions.reward[: decisions.count] /= SCORE_SCALE
        return decisions

    def _act(
        self, batch: Batch, rows: NDArray[np.int64], actor: FrozenPerceptron, opponent: Opponent | None,
        generator: np.random.Generator,
    ) -> None:  # fmt: skip
        """Choose cards for the learner and note the decisions."""
        decisions, first = self.decisions, self.decisions.count
        new = slice(first, first + len(rows))
        order = self.encoder.encode(batch, rows, decisions.features[new], decisions.mask[new])
        logits = self.encoder.logits(actor, decisions.features[new])
        uniform = generator.random(len(rows), np.float32)
        draw(logits, decisions.mask[new], uniform, decisions.place[new], decisions.log_prob[new])
        put_cards(decisions.place[new], order, rows, self._cards)
        if self.sure < 1:
            kept = self._worth_learning(decisions.log_prob[new], generator)
            new = slice(first, first + len(kept))
            for column in (decisions.features, decisions.mask, decisions.place, decisions.log_prob):
                column[new] = column[first + kept]
            rows, order, logits = rows[kept], order[kept], logits[kept]
        batch.hidden_cards(self._hidden)
        sort_cards(self._hidden, rows, order, decisions.hidden[new])
        decisions.reward[new] = 0
        decisions.following[new] = NO_DECISION
        link_decisions(rows, batch.seat, first, self._latest, decisions.following)
        decisions.judged[new] = False
        if self._playouts and isinstance(opponent, HeuristicBot):
            self._judge(batch, rows, opponent.style, order, logits, self._playouts)
        if self._endings:
            alone = np.ones(len(rows), np.bool_) if opponent is None else ~self.theirs[rows].any(1)
            self._note_ending(batch, rows, np.flatnonzero(alone), order, logits, self._endings)
        decisions.count += len(rows)

    def _worth_learning(self, log_prob: NDArray[np.float32], generator: np.random.Generator) -> NDArray[np.int64]:
        """Return which of some decisions to note: of those that were sure a share alone."""
        return np.flatnonzero((log_prob < np.log(self.sure)) | (generator.random(len(log_prob)) < SURE_SHARE))

    def _judge(
        self, batch: Batch, rows: NDArray[np.int64], style: NDArray[Any], order: NDArray[np.int8],
        logits: NDArray[np.float32], playouts: Playouts,
    ) -> None:  # fmt: skip
        """Note what every legal card would bring in those rows where the opponent sits at the table."""
        which = np.flatnonzero(self.theirs[rows].any(1))
        if not len(which):
            return
        decisions, judged = self.decisions, self.decisions.count + which
        mask = decisions.mask[judged]
        decisions.values[judged] = playouts.values(batch, rows[which], style, order[which], mask) / SCORE_SCALE
        decisions.policy[judged] = masked_policy(logits[which], mask)
        decisions.judged[judged] = True

    def _note_ending(
        self, batch: Batch, rows: NDArray[np.int64], which: NDArray[np.int64], order: NDArray[np.int8],
        logits: NDArray[np.float32], endings: Endings,
    ) -> None:  # fmt: skip
        """Note those rows in which the learner has every seat, to be judged when the games are over."""
        if not endings.begun(batch):
            return
        decisions, noted = self.decisions, self.decisions.count + which
        policy = masked_policy(logits[which], decisions.mask[noted])
        judged = endings.note(batch, rows[which], noted, order[which], policy, decisions.place[noted])
        decisions.policy[noted[judged]] = policy[judged]
        decisions.judged[noted[judged]] = True

    def _let_opponent_act(
        self, batch: Batch, rows: NDArray[np.int64], opponent: Opponent, generator: np.random.Generator
    ) -> None:
        """Choose cards for the opponent; nothing is noted."""
        if not len(rows):
            return
        if not isinstance(opponent, FrozenPerceptron):
            self._cards[rows] = opponent.act(batch.observation[rows], batch.action_mask[rows])
            return
        if self.likeliest:
            self.encoder.put_likeliest(opponent, batch, rows, self._cards)
            return
        logits, mask, order = self.encoder.read(opponent, batch, rows)
        places, log_probs = np.empty(len(rows), np.int64), np.empty(len(rows), np.float32)
        draw(logits, mask, generator.random(len(rows), np.float32), places, log_probs)
        put_cards(places, order, rows, self._cards)

    def _own(self, reward: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rewards, [B, P], with those of the learner's seats replaced by their mean."""
        own = ~self.theirs
        mean = (reward * own).sum(1) / own.sum(1)
        return np.where(own, mean[:, None], reward)
