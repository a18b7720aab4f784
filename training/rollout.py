"""Play deals with the current policy and keep every decision that was one, in flat arrays."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarto_env import Batch
from scarto_env.bots.policy_features import (
    Reading,
    encode_rows,
    feature_scale,
    num_features,
    original_card,
    sort_cards,
)
from scarto_env.cards import NUM_CARDS
from scarto_env.jit import kernel
from scarto_env.rules import Rules, rules_table
from training.network import FrozenPerceptron
from training.returns import NO_DECISION, add_rewards, link_decisions

SCORE_SCALE: Final = 30.0
"""The learner's unit of reward in points: scores then have a deviation of about 0.3."""


@kernel
def forced_cards(mask: Any, cards: Any, free: Any) -> int:
    """Write the first legal card of each row [B] and list the rows with a choice; return how many those are."""
    num_free = 0
    for row in range(len(mask)):
        count = 0
        for card in range(NUM_CARDS - 1, -1, -1):
            if mask[row, card]:
                count += 1
                cards[row] = card
        if count > 1:
            free[num_free] = row
            num_free += 1
    return num_free


@kernel
def draw(logits: Any, mask: Any, uniform: Any, places: Any, log_probs: Any) -> None:
    """Draw a place a row from the masked softmax of ``logits`` [N, 78]; write it and its log-probability."""
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
        for place in range(NUM_CARDS):
            if mask[row, place]:
                chosen = place
                left -= np.exp(logits[row, place] - highest)
                if left < 0:
                    break
        places[row] = chosen
        log_probs[row] = logits[row, chosen] - highest - np.log(total)


@kernel
def best(logits: Any, mask: Any, places: Any) -> None:
    """Write the legal place with the greatest logit of each row."""
    for row in range(len(logits)):
        highest = np.float32(-np.inf)
        for place in range(NUM_CARDS):
            if mask[row, place] and logits[row, place] > highest:
                highest = logits[row, place]
                places[row] = place


@kernel
def put_cards(places: Any, order: Any, rows: Any, cards: Any) -> None:
    """Write the cards at canonical places [N] to the rows [N] of ``cards`` [B]."""
    for index in range(len(rows)):
        cards[rows[index]] = original_card(int(places[index]), order[index])


@dataclasses.dataclass
class Decisions:
    """N decisions in the order they were made; arrays are as long as any rollout may need.

    Attributes:
        features: [N, F] int8.
        hidden: [N, P, 78] int8, what the seat could not know, for the critic.
        mask: [N, 78] int8, in canonical order.
        place: [N] int64, the canonical place of the card chosen.
        log_prob: [N] float32.
        reward: [N] float32, until the seat's next decision, in units of ``SCORE_SCALE`` points.
        following: [N] int64, the seat's next decision.
        count: N.
    """

    features: NDArray[np.int8]
    hidden: NDArray[np.int8]
    mask: NDArray[np.int8]
    place: NDArray[np.int64]
    log_prob: NDArray[np.float32]
    reward: NDArray[np.float32]
    following: NDArray[np.int64]
    count: int = 0

    @classmethod
    def room_for(cls, num_games: int, rules: Rules) -> Decisions:
        """Return empty decisions with room for a deal of every game."""
        size = num_games * rules.num_decisions
        return cls(
            np.empty((size, num_features(rules.players)), np.int8),
            np.empty((size, rules.players, NUM_CARDS), np.int8),
            np.empty((size, NUM_CARDS), np.int8),
            np.empty(size, np.int64),
            np.empty(size, np.float32),
            np.empty(size, np.float32),
            np.empty(size, np.int64),
        )


class Encoder:
    """Turns rows of a batch into network inputs, in memory that is reused."""

    def __init__(self, rules: Rules, dtype: torch.dtype, num_rows: int) -> None:
        self.reading = Reading.of(rules)
        self.table = rules_table(rules)
        self.scale = torch.from_numpy(feature_scale(rules.players)).to(dtype)
        self.order = np.empty((num_rows, 4), np.int8)

    def inputs(self, features: NDArray[np.int8]) -> Tensor:
        """Return [N, F] features as the network sees them."""
        return torch.from_numpy(features).to(self.scale.dtype).mul_(self.scale)


class Rollout:
    """Plays one deal of every game of a batch with a policy.

    Args:
        rules: the rules.
        num_games: B.
        dtype: what the network computes in.
    """

    def __init__(self, rules: Rules, num_games: int, dtype: torch.dtype) -> None:
        self.rules, self.num_games = rules, num_games
        self.encoder = Encoder(rules, dtype, num_games)
        self.decisions = Decisions.room_for(num_games, rules)
        self._hidden = np.empty((num_games, rules.players, NUM_CARDS), np.int8)
        self._cards = np.empty(num_games, np.int64)
        self._free = np.empty(num_games, np.int64)
        self._latest = np.empty((num_games, rules.players), np.int64)

    def play(self, actor: FrozenPerceptron, seed: int, generator: np.random.Generator) -> Decisions:
        """Return the decisions of one deal a game; the same memory at every call.

        Args:
            actor: the policy of every seat.
            seed: of the deals.
            generator: draws the cards.
        """
        batch = Batch(self.num_games, self.rules, seed=seed, reward="trick", threads=1, redeal=False)
        decisions = self.decisions
        decisions.count = 0
        self._latest.fill(NO_DECISION)
        for _ in range(self.rules.num_decisions):
            self._decide(batch, actor, generator)
            reward, _ = batch.step(self._cards)
            add_rewards(reward, self._latest, decisions.reward)
        decisions.reward[: decisions.count] /= SCORE_SCALE
        return decisions

    def _decide(self, batch: Batch, actor: FrozenPerceptron, generator: np.random.Generator) -> None:
        """Choose a card in every game and note the decisions."""
        num_free = forced_cards(batch.action_mask, self._cards, self._free)
        if num_free == 0:
            return
        rows = self._free[:num_free]
        decisions, first = self.decisions, self.decisions.count
        new = slice(first, first + num_free)
        order = self.encoder.order[:num_free]
        encode_rows(
            batch.observation, batch.action_mask, rows, self.encoder.reading, self.encoder.table,
            decisions.features[new], decisions.mask[new], order,
        )  # fmt: skip
        batch.hidden_cards(self._hidden)
        sort_cards(self._hidden, rows, order, decisions.hidden[new])
        logits = actor(self.encoder.inputs(decisions.features[new])).numpy()
        uniform = generator.random(num_free, np.float32)
        draw(logits, decisions.mask[new], uniform, decisions.place[new], decisions.log_prob[new])
        put_cards(decisions.place[new], order, rows, self._cards)
        decisions.reward[new] = 0
        decisions.following[new] = NO_DECISION
        link_decisions(rows, batch.seat, first, self._latest, decisions.following)
        decisions.count += num_free
