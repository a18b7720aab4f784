"""Correct learning, on things small enough to check: losses, targets, rollouts, a game that can be solved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from scarto_env import Batch, make_bot
from scarto_env.arena import duel
from scarto_env.bots import Bot
from scarto_env.bots.heuristic import lowest_pips
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.policy_features import forced_cards, num_features, original_card
from scarto_env.bots.simple import GreedyBot
from scarto_env.bots.style import EXPERT_COLUMN, HEURISTIC, HEURISTIC_COLUMN, numbers_of
from scarto_env.cards import FIRST_TRUMP, NUM_CARDS, NUM_SUITS
from scarto_env.rules import as_rules
from scarto_env.state import OVER, PLAY, SCORE_UNITS
from training.checkpoint import actor_layers
from training.config import Config
from training.endings import PLAUSIBLE
from training.league import League
from training.learner import Judgement, Learner, policy_loss, schedules
from training.network import FrozenPerceptron, Perceptron
from training.playouts import Playouts
from training.returns import NO_DECISION, SCORE_SCALE, advantages
from training.rollout import Decisions, Rollout, draw, opponents_seats
from training.tune import as_vector, points_of, tune, with_vector

SMALL = {"workers": 1, "deals_at_once": 16, "minibatches": 2, "actor": (32, 32), "critic": (32,), "precision": "fp32"}


def small(**settings: Any) -> Config:
    return Config(**{**SMALL, **settings})


def deals(config: Config, seed: int = 3) -> Batch:
    return Batch(config.deals_at_once, config.rules, seed=seed, reward=config.reward, redeal=False)


def played(config: Config) -> tuple[Learner, Decisions]:
    learner = Learner(config)
    rollout = Rollout(learner.rules, config.deals_at_once, learner.encoder)
    return learner, rollout.play(learner.frozen_actor(), None, deals(config), np.random.default_rng(3))


def sharpened(config: Config, factor: float) -> Learner:
    """Return a learner whose policy is away from the uniform start, so that its numbers say something."""
    learner = Learner(config)
    with torch.no_grad():
        learner.actor.weights[-1].mul_(factor)
    return learner


@pytest.mark.parametrize(("precision", "sure", "allowed"), [("fp32", 1, 1e-5), ("fp32", 0.6, 1e-5), ("bf16", 1, 0.05)])
def test_recomputed_log_probabilities_equal_the_stored_ones(precision: Any, sure: float, allowed: float) -> None:
    config = small(precision=precision)
    learner = sharpened(config, 300)
    rollout = Rollout(learner.rules, 16, learner.encoder, sure=sure)
    decisions = rollout.play(learner.frozen_actor(), None, deals(config), np.random.default_rng(3))
    count = decisions.count
    logits = learner.actor(learner.encoder.inputs(torch.from_numpy(decisions.features[:count])))
    mask = torch.from_numpy(decisions.mask[:count]).bool()
    log_policy = torch.log_softmax(logits.masked_fill(~mask, -1e9), 1).detach()
    recomputed = log_policy.gather(1, torch.from_numpy(decisions.place[:count])[:, None])[:, 0].numpy()
    assert decisions.log_prob[:count].min() < -1
    assert np.abs(recomputed - decisions.log_prob[:count]).max() < allowed


@pytest.mark.parametrize("judged", [False, True])
def test_gradients_of_masked_logits_are_exactly_zero(judged: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(64, NUM_CARDS, generator=generator).mul_(5).requires_grad_()
    mask = torch.rand(64, NUM_CARDS, generator=generator) < 0.1
    mask[:, 7] = True
    place = torch.full((64,), 7)
    advantage = torch.randn(64, generator=generator)
    policy = torch.softmax(torch.randn(64, NUM_CARDS, generator=generator).masked_fill(~mask, -1e9), 1)
    values = torch.randn(64, NUM_CARDS, generator=generator) * mask
    judgement = Judgement(torch.arange(64) % 2 == 0, policy, values) if judged else None
    policy_loss(logits, mask, place, torch.full((64,), -1.0), advantage, 0.2, 0.05, judgement).loss.backward()
    assert logits.grad is not None
    assert torch.equal(logits.grad[~mask], torch.zeros(int((~mask).sum())))
    assert logits.grad[mask].abs().max() > 0


def test_entropy_counts_legal_cards_alone() -> None:
    mask = torch.zeros(1, NUM_CARDS, dtype=torch.bool)
    mask[0, [3, 50, 77]] = True
    found = policy_loss(torch.zeros(1, NUM_CARDS), mask, torch.tensor([3]), torch.tensor([0.0]), torch.ones(1), 0.2, 0)
    assert float(found.entropy) == pytest.approx(np.log(3))


def test_policy_loss_by_hand() -> None:
    mask = torch.zeros(2, NUM_CARDS, dtype=torch.bool)
    mask[:, :2] = True
    old = torch.log(torch.tensor([0.5, 0.25]))
    # Ratios 1 and 2; the second is clipped at 1.2 where the advantage is positive.
    found = policy_loss(torch.zeros(2, NUM_CARDS), mask, torch.tensor([0, 1]), old, torch.tensor([-1.0, 3.0]), 0.2, 0)
    assert float(found.loss) == pytest.approx(-(-1.0 + 1.2 * 3.0) / 2)
    assert float(found.clipped) == pytest.approx(0.5)


def test_loss_of_judged_cards_by_hand() -> None:
    mask = torch.zeros(2, NUM_CARDS, dtype=torch.bool)
    mask[:, :2] = True
    logits, old, advantage = (torch.zeros(2, NUM_CARDS) for _ in range(3))
    logits[:, 0] = np.log(4)  # now 0.8 and 0.2
    old[:, :2] = 0.5
    advantage[:, :2] = torch.tensor([1.0, -1.0])
    sampled = torch.tensor([5.0, 3.0])
    judgement = Judgement(torch.tensor([True, False]), old, advantage)
    log_prob = torch.log(torch.tensor([0.5, 0.8]))
    found = policy_loss(logits, mask, torch.zeros(2, dtype=torch.int64), log_prob, sampled, 0.2, 0, judgement)
    # Of the first both cards count, as far as they were allowed to move: to 0.6 and to 0.4; of the second the chosen.
    assert float(found.loss) == pytest.approx(-((0.6 - 0.4) + 3.0) / 2)


def single(game: Any, preset: str) -> Batch:
    """Return a batch of one game that goes on from a row."""
    batch = Batch(1, preset, redeal=False)
    batch.games[:] = game
    batch.refresh()
    return batch


def brought(game: Any, preset: str, card: int, bots: Sequence[Bot]) -> float:
    """Return the points of the seat to act when it plays a card and every seat goes on as its bot."""
    batch, seat = single(game, preset), int(game.seat[0])
    batch.step([card])
    while batch.action_mask.any():
        batch.step(bots[batch.seat[0]].act(batch.observation, batch.action_mask))
    return float(batch.games[0].settled[seat] / (SCORE_UNITS * batch.rules.players))


@pytest.mark.parametrize(
    ("preset", "cards_played"), [("scarto", 0), ("scarto", 20), ("scarto", 55), ("four_player", 31)]
)
def test_playouts_tell_what_each_legal_card_brings(preset: str, cards_played: int) -> None:
    config = small(rules=preset, deals_at_once=4)
    learner, batch = Learner(config), deals(config)
    players = learner.rules.players
    theirs = opponents_seats(4, players, 1.0, "league")
    for _ in range(cards_played):
        batch.step(batch.random_actions())
    free = np.empty(4, np.int64)
    rows = free[: forced_cards(batch.action_mask, np.empty(4, np.int64), free)]
    features, mask = np.empty((len(rows), num_features(players)), np.int8), np.empty((len(rows), NUM_CARDS), np.int8)
    order = learner.encoder.encode(batch, rows, features, mask)
    assert order.shape == (len(rows), NUM_SUITS) and len(rows) > 1
    values = Playouts(learner.rules, theirs).values(batch, rows, HEURISTIC, order, mask)
    assert (values[mask == 0] == 0).all() and (np.ptp(np.where(mask, values, values[:, :1]), axis=1) > 0).any()
    bots = [make_bot("expert", preset), make_bot("heuristic", preset)]
    for index, row in enumerate(rows):
        lowest = lowest_pips(int(batch.games[row].legal[0]))
        for place in np.flatnonzero(mask[index]):
            card = original_card(int(place), order[index])
            if card < FIRST_TRUMP and not lowest >> card & 1:
                assert values[index, place] == values[index, place - 1]
                continue
            seated = [bots[int(their)] for their in theirs[row]]
            assert values[index, place] == pytest.approx(brought(batch.games[row : row + 1], preset, card, seated))


def test_cards_are_judged_where_a_bot_with_thumb_rules_sits() -> None:
    config = small(deals_at_once=24)
    learner = Learner(config)
    theirs = opponents_seats(24, 3, 0.5, "league")
    rollout = Rollout(learner.rules, 24, learner.encoder, theirs, playouts=True)
    decisions = rollout.decisions
    for name, judges in (("greedy", False), ("heuristic", True)):
        decisions.values.fill(np.nan)
        decisions.policy.fill(np.nan)
        rollout.play(learner.frozen_actor(), make_bot(name), deals(config), np.random.default_rng(0))
        judged = decisions.judged[: decisions.count]
        assert judged.any() == judges
        for column in (decisions.values, decisions.policy):
            assert (np.isfinite(column[: decisions.count]).all(1) == judged).all()
    assert 0.25 < judged.mean() < 0.45  # 12 tables with one or two learners, 12 with three
    policy, mask = decisions.policy[: decisions.count][judged], decisions.mask[: decisions.count][judged]
    assert policy.sum(1) == pytest.approx(np.ones(len(policy)), abs=1e-5) and (policy[mask == 0] == 0).all()
    # What was not judged is no number still, and does no harm.
    learner.learn(decisions, 0.0, np.random.default_rng(0))
    assert all(torch.isfinite(weight).all() for weight in learner.actor.parameters())


@pytest.mark.parametrize(
    ("preset", "share", "sure"),
    [("scarto", 0.0, 1.0), ("scarto", 0.5, 1.0), ("scarto", 0.0, 0.9), ("four_player", 0.0, 1.0)],
)
def test_endings_tell_what_each_plausible_card_brings(
    preset: str, share: float, sure: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(rules=preset, deals_at_once=12)
    learner = sharpened(config, 1000)  # sure enough that some cards are not plausible
    bot = PolicyBot.of(actor_layers(learner.actor), preset)
    theirs = opponents_seats(12, learner.rules.players, share, "league")
    rollout = Rollout(learner.rules, 12, learner.encoder, theirs, endings=5, sure=sure)
    positions: list[Any] = []
    note = rollout._note_ending

    def noting(batch: Batch, rows: Any, *rest: Any) -> None:
        positions.extend((batch.games[row : row + 1].copy(), theirs[row].any()) for row in rows)
        note(batch, rows, *rest)

    monkeypatch.setattr(rollout, "_note_ending", noting)
    opponent = make_bot("greedy", preset) if share else None
    decisions = rollout.play(learner.frozen_actor(), opponent, deals(config), np.random.default_rng(5))
    assert len(positions) == decisions.count
    num_tried = num_others = 0
    for number, (game, shared) in enumerate(positions):
        batch = single(game, preset)
        features, mask = np.empty((1, num_features(learner.rules.players)), np.int8), np.empty((1, NUM_CARDS), np.int8)
        order = learner.encoder.encode(batch, np.zeros(1, np.int64), features, mask)[0]
        chances = np.exp(bot.log_policy(batch.observation, batch.action_mask)[0])
        cards = {int(place): original_card(int(place), order) for place in np.flatnonzero(decisions.mask[number])}
        chance = {place: float(chances[card]) for place, card in cards.items()}
        tried = {place for place in cards if chance[place] >= PLAUSIBLE}
        tried |= {max(cards, key=chance.__getitem__), int(decisions.place[number])}
        late = game.phase[0] == PLAY and game.trick[0] >= learner.rules.tricks - 5 and not shared
        assert decisions.judged[number] == (late and len(tried) > 1)
        if decisions.judged[number]:
            points = {place: brought(game, preset, cards[place], [bot] * learner.rules.players) for place in tried}
            mean = sum(chance[place] * points[place] for place in tried) / sum(chance[place] for place in tried)
            for place in cards:
                found = decisions.values[number, place] * SCORE_SCALE
                assert found == pytest.approx(points.get(place, mean), abs=1e-3)
            num_tried, num_others = num_tried + len(tried), num_others + len(cards) - len(tried)
    assert num_tried > 100 and num_others > 5


def test_the_mean_of_advantages_is_taken_off_where_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    config = small(deals_at_once=24, epochs=1, minibatches=1)
    learner = Learner(config)
    rollout = Rollout(learner.rules, 24, learner.encoder, opponents_seats(24, 3, 0.5, "league"), playouts=True)
    decisions = rollout.play(learner.frozen_actor(), make_bot("heuristic"), deals(config), np.random.default_rng(0))
    decisions.reward[: decisions.count][decisions.judged[: decisions.count]] += 1
    means = []

    def spy(*arguments: Any) -> Any:
        advantage, judgement = arguments[4], arguments[7]
        means.extend(advantage[part].mean().item() for part in (~judgement.judged, judgement.judged))
        return policy_loss(*arguments)

    monkeypatch.setattr("training.learner.policy_loss", spy)
    learner.learn(decisions, 0.0, np.random.default_rng(0))
    assert means[0] == pytest.approx(0, abs=1e-5)
    assert means[1] > 0.5


def test_what_is_judged_best_becomes_likelier() -> None:
    config = small(deals_at_once=24, epochs=8, learning_rate=3e-3)
    learner = Learner(config)
    rollout = Rollout(learner.rules, 24, learner.encoder, opponents_seats(24, 3, 1.0, "one"), playouts=True)
    decisions = rollout.play(learner.frozen_actor(), make_bot("heuristic"), deals(config), np.random.default_rng(0))
    count = decisions.count
    assert decisions.judged[:count].all()
    policy, values = decisions.policy[:count], decisions.values[:count]
    learner.learn(decisions, 0.0, np.random.default_rng(0))
    logits = learner.actor(learner.encoder.inputs(torch.from_numpy(decisions.features[:count]))).detach()
    after = torch.softmax(logits.masked_fill(torch.from_numpy(decisions.mask[:count] == 0), -1e9), 1).numpy()
    assert ((after - policy) * values).sum(1).mean() > 0.1 / SCORE_SCALE


def test_advantages_by_hand() -> None:
    reward = np.array([1, 0, 2, 4], np.float32)
    value = np.array([0.5, 1, 2, 3], np.float32)
    following = np.array([2, NO_DECISION, 3, NO_DECISION], np.int64)
    last = 4 - 3
    third = 2 + 3 - 2 + 0.5 * last
    first = 1 + 2 - 0.5 + 0.5 * third
    assert advantages(reward, value, following, 0.5) == pytest.approx([first, 0 - 1, third, last])
    # With lambda 1 advantage and value are the sum of what comes; with 0 one step is looked at.
    assert advantages(reward, value, following, 1.0) + value == pytest.approx([7, 0, 6, 4])
    assert advantages(reward, value, following, 0.0) == pytest.approx([2.5, -1, 3, 1])


# Elsewhere a seat may have no choice before the first trick is paid; that part is not learned from.
@pytest.mark.parametrize(
    ("preset", "reward"), [("scarto", "trick"), ("scarto", "score"), ("four_player", "score"), ("piccolo", "score")]
)
def test_rewards_of_a_seat_add_up_to_its_score(preset: str, reward: Any) -> None:
    config = small(rules=preset, reward=reward)
    _, decisions = played(config)
    batch = Batch(16, preset, seed=3, redeal=False)
    starts = np.ones(decisions.count, bool)
    starts[decisions.following[: decisions.count][decisions.following[: decisions.count] != NO_DECISION]] = False
    totals = []
    for first in np.flatnonzero(starts):
        decision, total = first, 0.0
        while decision != NO_DECISION:
            total += float(decisions.reward[decision])
            decision = decisions.following[decision]
        totals.append(total * SCORE_SCALE)
    assert len(totals) == 16 * batch.rules.players
    assert sum(totals) == pytest.approx(0, abs=1e-3)
    assert max(np.abs(totals)) > 1


def test_forced_cards_are_no_decisions() -> None:
    _, decisions = played(small())
    assert (decisions.mask[: decisions.count].sum(1) > 1).all()
    assert decisions.count < 16 * 78


def test_of_sure_decisions_few_are_kept() -> None:
    config = small(deals_at_once=64)
    learner = sharpened(config, 3000)
    kept = []
    for sure in (1.0, 0.9):
        rollout = Rollout(learner.rules, 64, learner.encoder, sure=sure)
        decisions = rollout.play(learner.frozen_actor(), None, deals(config), np.random.default_rng(3))
        is_sure = decisions.log_prob[: decisions.count] >= np.log(0.9)
        kept.append((is_sure.sum(), (~is_sure).sum()))
        seats = decisions.following[: decisions.count]
        assert (seats[seats != NO_DECISION] > np.flatnonzero(seats != NO_DECISION)).all()
    (all_sure, all_others), (few_sure, others) = kept
    assert all_sure > 500 and 0.06 < few_sure / all_sure < 0.14
    assert 0.9 < others / all_others < 1.1


def test_what_the_opponent_plays_is_not_learned_from() -> None:
    config = small(deals_at_once=12)
    learner = Learner(config)
    theirs = opponents_seats(12, 3, 1.0, "one")
    assert (theirs.sum(1) == 2).all() and set(np.flatnonzero(~theirs) % 3) == {0, 1, 2}
    rollout = Rollout(learner.rules, 12, learner.encoder, theirs=theirs)
    actor = learner.frozen_actor()
    alone = rollout.play(actor, actor, deals(config), np.random.default_rng(0)).count
    together = rollout.play(actor, None, deals(config), np.random.default_rng(0)).count
    assert 0.25 < alone / together < 0.42


def test_coalition_shares_what_it_gets() -> None:
    config = small(deals_at_once=6)
    learner = Learner(config)
    theirs = opponents_seats(6, 3, 1.0, "two")
    assert (theirs.sum(1) == 1).all()
    rollout = Rollout(learner.rules, 6, learner.encoder, theirs=theirs, shared=True)
    reward = np.array([[3, -1, -2]] * 6, np.float32)
    assert rollout._own(reward)[1].tolist() == pytest.approx([0.5, -1, 0.5])


def test_draws_follow_the_policy() -> None:
    logits = np.zeros((20_000, NUM_CARDS), np.float32)
    logits[:, 5] = np.log(3)
    mask = np.zeros((20_000, NUM_CARDS), np.int8)
    mask[:, [5, 9]] = 1
    places, log_probs = np.empty(20_000, np.int64), np.empty(20_000, np.float32)
    draw(logits, mask, np.random.default_rng(0).random(20_000, np.float32), places, log_probs)
    assert set(places) == {5, 9}
    assert np.mean(places == 5) == pytest.approx(0.75, abs=0.015)
    assert log_probs[places == 9] == pytest.approx(np.log(0.25), abs=1e-5)


def test_schedules_begin_and_end_where_they_say() -> None:
    config = small(learning_rate=1e-3, learning_rate_end=0.1, entropy=0.04, entropy_end=0.01)
    assert schedules(config, 0) == pytest.approx((1e-3, 0.04))
    assert schedules(config, 0.5) == pytest.approx((5.5e-4, 0.02))
    assert schedules(config, 1) == pytest.approx((1e-4, 0.01))


def test_critic_without_hidden_cards_sees_what_the_actor_sees() -> None:
    learner, decisions = played(small(critic_sees_all=False))
    assert learner.critic.weights[0].shape[1] == num_features(3)
    assert np.isfinite(learner.learn(decisions, 0.0, np.random.default_rng(0))["value_loss"])


def test_the_critic_may_learn_alone_at_the_start() -> None:
    learner, decisions = played(small(critic_updates=1))
    before = [weight.clone() for weight in learner.actor.parameters()], [w.clone() for w in learner.critic.parameters()]
    for moved in (False, True):
        learner.learn(decisions, 0.0, np.random.default_rng(0))
        now = learner.actor.parameters(), learner.critic.parameters()
        actor, critic = (
            any(not torch.equal(a, b) for a, b in zip(then, weights, strict=True))
            for then, weights in zip(before, now, strict=True)
        )
        assert (actor, critic) == (moved, True)


def test_averaged_policy_begins_as_the_plain_mean() -> None:
    learner, decisions = played(small())
    generator = np.random.default_rng(0)
    seen = []
    for _ in range(3):
        learner.learn(decisions, 0.0, generator)
        seen.append(learner.actor.weights[0].detach().clone())
    torch.testing.assert_close(learner.averaged.weights[0].detach(), torch.stack(seen).mean(0))


def test_identical_policies_earn_exactly_zero() -> None:
    generator = torch.Generator().manual_seed(1)
    layers = actor_layers(Perceptron([num_features(3), 32, NUM_CARDS], 1.0, generator))
    one, other = (PolicyBot.of(layers, "scarto") for _ in range(2))
    found = duel(one, other, deals=6)
    assert found.alone.points.mean == 0 and found.alone.points.deviation == 0


def test_frozen_network_is_a_copy() -> None:
    network = Perceptron([4, 8, 3], 1.0, torch.Generator().manual_seed(0))
    frozen = FrozenPerceptron(network, torch.float32)
    before = frozen(torch.ones(1, 4)).clone()
    with torch.no_grad():
        network.weights[0].zero_()
    assert torch.equal(frozen(torch.ones(1, 4)), before)
    assert not torch.equal(network(torch.ones(1, 4)), before)


TRICKS_LEFT = 3


def end_of_deal(seed: int) -> Batch:
    """Return one piccolo deal, played at random until three tricks are left."""
    batch = Batch(1, "piccolo", seed=seed, reward="score", redeal=False)
    for _ in range(batch.rules.num_decisions - 3 * TRICKS_LEFT):
        batch.step(batch.random_actions())
    return batch


def rational_scores(position: Batch) -> set[tuple[float, ...]]:
    """Return the scores of all plays in which every seat, seeing all hands, does its best; ties leave several."""
    if position.games[0].phase == OVER:
        return {tuple(position.games[0].settled[:3] / 18)}
    seat = int(position.seat[0])
    found = {}
    for card in np.flatnonzero(position.action_mask[0]):
        after = position.clone()
        after.step(np.array([card]))
        found[int(card)] = rational_scores(after)
    surest = max(min(score[seat] for score in scores) for scores in found.values())
    return {score for scores in found.values() for score in scores if score[seat] >= surest}


def repeated(position: Batch, num_games: int) -> Batch:
    """Return many copies of a position."""
    batch = Batch(num_games, position.rules, seed=0, reward="score", redeal=False, threads=1)
    batch.games[:] = position.games[0]
    batch.refresh()
    return batch


def likeliest_scores(learner: Learner, position: Batch) -> tuple[float, ...]:
    """Return what comes of the averaged policy's likeliest cards."""
    bot = PolicyBot.of(actor_layers(learner.averaged), learner.rules)
    batch = position.clone()
    while batch.games[0].phase != OVER:
        batch.step(bot.act(batch.observation, batch.action_mask))
    return tuple(batch.games[0].settled[:3] / 18)


@pytest.mark.parametrize("seed", [0, 21])
def test_training_reaches_the_known_value_of_a_small_game(seed: int) -> None:
    position = end_of_deal(seed)
    (known,) = rational_scores(position)
    config = small(
        rules="piccolo", deals_at_once=64, actor=(64, 64), critic=(64, 64), learning_rate=3e-3, entropy=0.05,
        entropy_end=0.001, average_decay=0.8, epochs=4, seed=seed,
    )  # fmt: skip
    learner = Learner(config)
    rollout = Rollout(learner.rules, 64, learner.encoder)
    for update in range(60):
        generator = np.random.default_rng(update)
        decisions = rollout.play(learner.frozen_actor(), None, repeated(position, 64), generator)
        learner.learn(decisions, update / 60, generator)
    assert likeliest_scores(learner, position) == pytest.approx(known)


def test_bots_may_sit_in_the_league(tmp_path: Path) -> None:
    config = small(deals_at_once=12, league_share=0.5, league_bots=("greedy",), league_every=1)
    learner = Learner(config)
    league = League(config, tmp_path, learner.dtype)
    assert isinstance(league.opponent(learner, np.random.default_rng(0)), GreedyBot)
    learner.updates = 1
    league.admit(learner)
    drawn = [league.opponent(learner, np.random.default_rng(seed)) for seed in range(20)]
    assert {type(one) for one in drawn} == {GreedyBot, FrozenPerceptron}
    theirs = opponents_seats(12, 3, 0.5, "league")
    assert theirs.any(1).sum() == 6 and set(theirs[:6].sum(1)) == {1, 2}
    rollout = Rollout(learner.rules, 12, learner.encoder, theirs)
    everyone = rollout.play(learner.frozen_actor(), None, deals(config), np.random.default_rng(0)).count
    learners = rollout.play(learner.frozen_actor(), drawn[0], deals(config), np.random.default_rng(0)).count
    assert learners < 0.85 * everyone


def test_numbers_of_the_thumb_rules_are_tuned_as_an_answer_to_the_heuristic() -> None:
    rules = as_rules("scarto")
    fresh = Batch(60, rules, seed=4, redeal=False)
    assert (points_of(numbers_of(HEURISTIC_COLUMN), fresh) == 0).all()
    expert = numbers_of(EXPERT_COLUMN)
    assert points_of(expert, fresh).mean() == pytest.approx(duel_of_rows(fresh), abs=1e-9)
    vector = as_vector(expert)
    assert with_vector(numbers_of(HEURISTIC_COLUMN), vector) == expert
    last = list(tune(rules, generations=3, deals=20, population=4, seed=1, every=2))
    assert [progress.generation for progress in last] == [2, 3]
    again = list(tune(rules, generations=3, deals=20, population=4, seed=1, every=2))
    assert last == again and last[0].numbers != last[1].numbers


def duel_of_rows(deals: Batch) -> float:
    """Return what the expert gets alone against heuristic bots, each deal in every seat, card by card."""
    total = 0.0
    bots = [make_bot("heuristic"), make_bot("expert")]
    for seat in range(3):
        batch = Batch(len(deals), deals.rules, redeal=False)
        batch.games[:] = deals.games
        batch.refresh()
        while batch.action_mask.any():
            choices = [bot.act(batch.observation, batch.action_mask) for bot in bots]
            batch.step(np.where(batch.seat == seat, choices[1], choices[0]))
        total += float(batch.games.settled[:, seat].mean()) / (SCORE_UNITS * 3)
    return total / 3
