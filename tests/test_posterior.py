"""Worlds by a learned policy's likelihood: what it is shown is what was seen, and draws follow the posterior."""

import itertools
from collections import Counter

import numpy as np
import pytest
from test_belief import RULES, View, ending

from scarto_env import Batch, Deal, make_bot
from scarto_env.bots.likelihood import LOOSE
from scarto_env.bots.policy import CheckpointError, PolicyBot
from scarto_env.bots.policy_features import num_features
from scarto_env.bots.posterior import Posterior, imagine_pool, observe_choices, observe_discards, resample
from scarto_env.bots.registry import find_checkpoint
from scarto_env.bots.worlds import MOMENT_ROW, PLAN, new_rows, new_work, open_search
from scarto_env.observation import observation_size
from scarto_env.rules import rules_table
from scarto_env.state import cards_of, stream_key

STRAY, DOUBT = 0.05, 0.2


def decided_policy(rules, seed: int = 0) -> PolicyBot:
    """Return a small random network whose choices are far from uniform."""
    rng = np.random.default_rng(seed)
    sizes = (num_features(rules.players), 24, 78)
    layers = [
        (rng.normal(0, scale, shape).astype(np.float32), np.zeros(shape[1], np.float32))
        for scale, shape in zip((0.4, 1.0), itertools.pairwise(sizes), strict=True)
    ]
    return PolicyBot.of(layers, rules)


def opened(batch: Batch):
    """Return what a search works with, for the seat to act in a batch of one game."""
    rows, belief, minds, past, _ = new_work()
    plan = np.zeros(1, PLAN).view(np.recarray)
    plan.steps = 1
    table = rules_table(batch.rules)
    assert open_search(
        batch.observation[0], batch.action_mask[0], table, rows, belief, minds, past, plan, stream_key(3)
    )
    return rows, belief, past


def course(batch: Batch, game: int = 0):
    """Return the cards laid away and those played, in order, of a game in play."""
    row, players = batch.games[game], batch.rules.players
    tricks = {}
    for seat in range(players):
        for card in cards_of(row.played[seat]):
            tricks.setdefault(int(row.trick_of[card]), {})[seat] = card
    return tuple(cards_of(row.discarded)), tricks


def replay(batch: Batch, world, viewer: int, discard: tuple[int, ...]):
    """Play the game of ``batch`` again in a world that ``viewer`` imagines, its seats counted from ``viewer``.

    Returns the observation, mask and card of every decision of the other seats, each with its seat.
    """
    rules, row = batch.rules, batch.games[0]
    players, dealer = rules.players, int(row.dealer)
    hands = []
    for seat in range(players):
        place = (seat - viewer) % players
        cards = {*cards_of(world.hand[place]), *cards_of(world.played[place])}
        if seat == dealer:
            cards = (cards | set(discard)) - set(cards_of(world.talon))
        hands.append(sorted(cards))
    again = Batch(1, rules, seed=0, threads=1, redeal=False)
    again.set_deal(0, Deal(tuple(map(tuple, hands)), tuple(cards_of(world.talon)), dealer))
    _, tricks = course(batch)
    seen = []

    def step(card: int) -> None:
        if again.seat[0] != viewer:
            seen.append((int(again.seat[0]), again.observation[0].copy(), again.action_mask[0].copy(), card))
        again.step([card])

    for card in discard:
        step(card)
    for trick in sorted(tricks):
        while (seat := int(again.seat[0])) in tricks[trick]:
            step(tricks[trick].pop(seat))
    assert int(again.seat[0]) == viewer
    return seen


def plain_weight(batch: Batch, world, viewer: int, policy: PolicyBot) -> float:
    """Return a world's likelihood by replaying it, once for each order of laying away: the oracle."""
    players, dealer = batch.rules.players, int(batch.games.dealer[0])
    discard = tuple(cards_of(world.discarded))
    orders = [discard] if dealer == viewer else list(itertools.permutations(discard))
    kinds, dealt = np.ones((players, 2)), np.zeros(2)
    for number, order in enumerate(orders):
        laying = np.ones(2)
        for place, (seat, observation, mask, card) in enumerate(replay(batch, world, viewer, order)):
            liking = policy.log_policy(observation[None], mask[None])[0]
            parts = [(1 - part) * np.exp(liking[card]) + part / mask.sum() for part in (STRAY, LOOSE)]
            if dealer != viewer and place < len(order):
                laying *= parts
            elif number == 0:
                kinds[seat] *= parts
        dealt += laying
    if dealer != viewer:
        kinds[dealer] *= dealt
    others = [seat for seat in range(players) if seat != viewer]
    return float(np.prod(kinds[others] @ [1 - DOUBT, DOUBT]))


def truth(batch: Batch, rows):
    """Return the true world as the seat to act counts the seats."""
    row, players, viewer = batch.games[0], batch.rules.players, int(batch.seat[0])
    pool = new_rows(1)
    pool[0] = rows[0]
    for place in range(players):
        pool[0].hand[place] = row.hand[(viewer + place) % players]
    pool[0].discarded[:], pool[0].talon[:] = row.discarded, row.talon
    return pool


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_in_the_true_world_the_policy_is_shown_what_the_others_saw(rules) -> None:
    table, size = rules_table(rules), observation_size(rules.players)
    for seed in range(8):
        batch = ending(rules, 1 + 2 * seed, seed, seed % rules.players, ("heuristic", "random")[seed % 2])
        if batch.action_mask.sum() < 2:
            continue
        viewer, players = int(batch.seat[0]), rules.players
        rows, _, past = opened(batch)
        pool, (discard, _) = truth(batch, rows), course(batch)
        observation, mask = np.empty((1, size), np.int8), np.empty((1, 78), np.int8)
        seen = replay(batch, pool[0], viewer, discard)
        if batch.games.dealer[0] != viewer:
            cards = np.empty((1, rules.talon_size), np.int64)
            parts = (1 << rules.talon_size) - 1
            laying, laying_mask = np.empty((parts, size), np.int8), np.empty((parts, 78), np.int8)
            observe_discards(rows, table, pool, laying, laying_mask, cards)
            for number in range(rules.talon_size):
                part = (1 << number) - 1
                _, expected, expected_mask, card = seen.pop(0)
                assert (laying[part] == expected).all() and (laying_mask[part] == expected_mask).all()
                assert cards[0, number] == card
        assert past[0].number == len(seen)
        for choice, (seat, expected, expected_mask, card) in enumerate(seen):
            observe_choices(rows, table, np.array([choice]), pool, observation, mask)
            place = rows[MOMENT_ROW + choice].seat
            assert (viewer + place) % players == seat and past[0].card[choice] == card
            assert (observation[0] == expected).all() and (mask[0] == expected_mask).all()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_weight_of_a_world_is_that_of_a_plain_replay(rules) -> None:
    policy = decided_policy(rules)
    posterior = Posterior(policy, rules, stray=STRAY, doubt=DOUBT)
    compared = 0
    for seed in range(6):
        batch = ending(rules, 2 + 3 * seed, seed, seed % rules.players, "heuristic")
        if batch.action_mask.sum() < 2:
            continue
        rows, belief, past = opened(batch)
        pool = new_rows(5)
        imagine_pool(rows, rules_table(rules), belief, pool)
        expected = np.array([plain_weight(batch, world, int(batch.seat[0]), policy) for world in pool])
        assert posterior.weights(rows, past, pool) == pytest.approx(expected, rel=1e-4, abs=0)
        floors = np.full(5, np.median(expected) * 1.01)
        floored = posterior.weights(rows, past, pool, floors)
        assert ((floored < floors) == (expected < floors)).all()
        assert floored[expected >= floors] == pytest.approx(expected[expected >= floors], rel=1e-4, abs=0)
        compared += len(set(expected.tolist()))
    assert compared > 10


@pytest.mark.parametrize(
    ("pool", "moves", "chains", "left_out", "kept"), [(20_000, 0, 20_000, 0, 1), (1, 1, 400, 20, 50)]
)
def test_draws_follow_the_posterior(pool, moves, chains, left_out, kept) -> None:
    """A large pool alone, and chains that all begin in one world.

    The dealer looks at an ending: nothing is hidden but two hands, so that all worlds can be weighed.
    """
    batches = [ending(RULES["scarto"], 4, seed, extra) for seed in range(40) for extra in range(3)]
    batches = [batch for batch in batches if batch.seat[0] == batch.games.dealer[0] and batch.action_mask.sum() > 1]
    batch = min(batches, key=lambda batch: abs(View(batch).number - 60))
    policy = decided_policy(batch.rules)
    rows, belief, past = opened(batch)
    view = View(batch)
    uniform = new_rows(4000)
    imagine_pool(rows, view.table, belief, uniform)
    examples = {view.key(world): world for world in uniform}
    assert set(examples) == view.enumerate() and len(examples) > 20
    expected = np.array([plain_weight(batch, world, int(batch.seat[0]), policy) for world in examples.values()])
    expected /= expected.sum()
    draws = Posterior(policy, batch.rules, pool, moves, STRAY, DOUBT).draw(rows, belief, past, chains)
    counts = Counter(
        view.key(world)
        for number, worlds in enumerate(itertools.islice(draws, left_out + kept))
        if number >= left_out
        for world in worlds
    )
    drawn = np.array([counts[key] for key in examples]) / (chains * kept)
    assert sum(counts.values()) == chains * kept and set(counts) <= set(examples)
    # Half the summed distance of the two distributions; of the uniform one it is much more.
    assert abs(drawn - expected).sum() / 2 < 0.04
    assert abs(expected - 1 / len(examples)).sum() / 2 > 0.15


def test_worlds_are_drawn_as_often_as_they_weigh() -> None:
    weights = np.random.default_rng(1).exponential(1e-30, 12)
    for number in (1, 8, 40, 500):
        counts = np.bincount(resample(weights, number, 0.7), minlength=12)
        assert abs(counts - number * weights / weights.sum()).max() < 1
    assert resample(np.array([0.0, 1.0, 0.0]), 50, 0.0).tolist() == [1] * 50


def test_a_seat_that_has_seen_no_choice_draws_uniformly() -> None:
    batch = Batch(1, seed=2, redeal=False)
    rows, _, past = opened(batch)
    assert past[0].number == 0 and rows[0].dealer == 0
    posterior = Posterior(decided_policy(batch.rules), batch.rules)
    assert posterior.weights(rows, past, new_rows(8)).tolist() == [1] * 8


@pytest.mark.parametrize(
    "bot", ["search:worlds=12,", "search:worlds=60,method=tree,", "net+search:worlds=2,weight=0,sure=1,least=1e-4,"]
)
def test_another_likelihood_leads_to_other_choices(bot) -> None:
    options = "likelihood=scarto-small,pool=24"
    batch = Batch(24, seed=7, threads=1, redeal=False)
    player = make_bot("scarto-small")
    for _ in range(35):
        batch.step(player.act(batch.observation, batch.action_mask))
    chosen = {
        name: make_bot(bot + name).act(batch.observation, batch.action_mask).tolist()
        for name in (options, "likelihood=heuristic", options + ",inference=0", "inference=0")
    }
    assert chosen[options] == make_bot(bot + options).act(batch.observation, batch.action_mask).tolist()
    assert chosen[options] != chosen["likelihood=heuristic"]
    assert chosen[options + ",inference=0"] == chosen["inference=0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("likelihood=nobody", "likelihood='nobody' is not allowed: expected 'heuristic' or a checkpoint"),
        ("likelihood=scarto-small,pool=0", "pool=0 is not allowed: expected a whole number from 1 to 65536"),
        ("pool=70000", "pool=70000 is not allowed"),
        ("moves=-1", "moves=-1 is not allowed"),
    ],
)
@pytest.mark.parametrize("bot", ["search", "net+search"])
def test_a_likelihood_that_cannot_be_is_refused(bot, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        make_bot(f"{bot}:{options}")


def test_a_likelihood_of_another_number_of_players_is_refused() -> None:
    with pytest.raises(ValueError, match=r"likelihood='scarto-small' is not allowed: .* has learned with 3 players"):
        make_bot("search:likelihood=scarto-small", "four_player")


@pytest.mark.parametrize("bot", ["", "search:likelihood=", "net+search:policy="])
def test_a_file_beside_a_checkpoint_is_no_checkpoint(bot) -> None:
    beside = find_checkpoint("scarto-small") / "config.json"
    with pytest.raises(CheckpointError, match=r"config\.json is no checkpoint: expected a folder with weights"):
        make_bot(f"{bot}{beside}")


@pytest.mark.parametrize("bot", ["search:likelihood=", "net+search:policy="])
def test_nothing_is_no_checkpoint_wherever_one_is(bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(find_checkpoint("scarto-small"))
    with pytest.raises(ValueError, match="='' is"):
        make_bot(bot)


def test_a_policy_of_another_number_of_players_is_refused_by_its_option() -> None:
    with pytest.raises(ValueError, match=r"policy='scarto-small' is not allowed: .* has learned with 3 players"):
        make_bot("net+search:policy=scarto-small", "four_player")


def test_net_search_that_is_always_sure_plays_its_policy() -> None:
    batch = Batch(8, seed=4)
    bot = make_bot("net+search:policy=scarto-small,sure=0,worlds=2")
    policy = make_bot("scarto-small")
    assert np.array_equal(
        bot.act(batch.observation, batch.action_mask), policy.act(batch.observation, batch.action_mask)
    )
