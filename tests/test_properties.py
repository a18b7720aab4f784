"""What is always true, whatever the rules, the deal and the play."""

import copy
import functools
import operator
import pickle
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from positions import (
    MIXES,
    Mix,
    begin,
    exact_points,
    exact_scores,
    exact_settled,
    ids,
    random_deal,
    random_mix,
    reference_game,
)
from reference import Game, deck, discardable
from steering import STEERED, at_random
from twins import bits, joined

from scarto_env import Batch, Deal
from scarto_env.state import GAME, OVER

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    """Any preset or any mix of options."""
    if draw(st.booleans()):
        return MIXES[draw(st.sampled_from(sorted(MIXES)))]
    return random_mix(random.Random(draw(SEEDS)))


def played_at_random(chosen: Mix, rng: random.Random) -> tuple[Batch, Game, list[str]]:
    """Return a batch and the reference before a random deal, and the cards of a whole play of it."""
    deal = random_deal(chosen.options, rng)
    game = reference_game(chosen.options, deal)
    choose = rng.choice([at_random, *STEERED])
    cards = []
    while game.phase != "over":
        card = choose(game, sorted(game.legal()), rng)
        game.play(card)
        cards.append(card)
    return begin(chosen.rules, deal), game, cards


@given(mixes(), SEEDS)
def test_s07_cards_are_conserved(chosen: Mix, seed: int) -> None:
    """At every step hands, discard, table and piles are the deck, each card once."""
    batch, _, cards = played_at_random(chosen, random.Random(seed))
    rules, game = chosen.rules, batch.games[0]
    whole_deck = bits(deck(chosen.options))
    for number, card in enumerate(cards, start=1):
        batch.step(ids([card]))
        hands, piles = ([joined(words) for words in game[name][: rules.players].tolist()] for name in ("hand", "pile"))
        places = [*hands, *piles, joined(game.trick_cards.tolist())]
        if game.phase != OVER:  # Then it lies in the dealer's pile.
            places.append(joined(game.discarded.tolist()))
        assert functools.reduce(operator.or_, places) == whole_deck
        assert sum(place.bit_count() for place in places) == rules.deck_size
        if number == rules.talon_size:
            assert [hand.bit_count() for hand in hands] == [rules.hand_size] * rules.players


@given(mixes(), SEEDS)
def test_scores_sum_to_zero(chosen: Mix, seed: int) -> None:
    batch, game, cards = played_at_random(chosen, random.Random(seed))
    for card in cards:
        batch.step(ids([card]))
    points, scores = exact_points(batch), exact_scores(batch)
    assert sum(scores) == sum(exact_settled(batch)) == 0
    assert scores == [seat_points - sum(points) / len(points) for seat_points in points]
    assert [seat for seat, score in enumerate(scores) if score > 0] == game.winners()
    if chosen.rules.settlement == "net":
        assert exact_settled(batch) == scores


@pytest.mark.parametrize("preset", MIXES)
@given(SEEDS)
def test_the_total_is_the_constant_of_the_preset(preset: str, seed: int) -> None:
    batch, game, cards = played_at_random(MIXES[preset], random.Random(seed))
    for card in cards:
        batch.step(ids([card]))
    bonus = 5 if preset == "ultimo" and "01" in {card for _, card in game.tricks[-1][1]} else 0
    assert sum(exact_points(batch)) == batch.rules.total_points + bonus
    assert batch.rules.par * batch.rules.players == batch.rules.total_points
    if preset == "traditional":
        assert all(score.denominator == 1 for score in exact_scores(batch))


@given(mixes(), SEEDS)
def test_s13_relabelling_the_seats_rotates_everything(chosen: Mix, seed: int) -> None:
    """The same deal one seat further: the same observations, masks and rewards, one seat further."""
    rng = random.Random(seed)
    batch, _, cards = played_at_random(chosen, rng)
    players = chosen.rules.players
    turn = rng.randrange(1, players)
    deal = batch.deal()
    hands = [deal.hands[(seat - turn) % players] for seat in range(players)]
    turned = begin(chosen.rules, Deal(hands, deal.talon, (deal.dealer + turn) % players), reward="trick")
    batch = begin(chosen.rules, deal, reward="trick")
    for card in cards:
        assert turned.seat[0] == (batch.seat[0] + turn) % players
        assert np.array_equal(turned.observation, batch.observation)
        assert np.array_equal(turned.action_mask, batch.action_mask)
        for seat in range(players):
            assert np.array_equal(turned.observe(0, (seat + turn) % players), batch.observe(0, seat))
        step, turned_step = batch.step(ids([card])), turned.step(ids([card]))
        assert np.array_equal(turned_step.reward[0], np.roll(step.reward[0], turn))
    for name in ("points", "score", "settled"):
        expected = np.roll(batch.games[name][0][:players], turn)
        assert np.array_equal(turned.games[name][0][:players], expected)


def other_world(game: Game, viewer: int, rng: random.Random) -> tuple[Deal, list[str]]:
    """Return a deal, and cards to lay away, that look to the viewer as this game has looked so far.

    The cards that the viewer cannot see are exchanged at random: between the other hands, the discard
    and the talon, as far as what the seats have shown to lack and the rules of the discard allow.
    """
    options, dealer = game.options, game.dealer
    players = range(options.players)
    played: list[set[str]] = [set() for _ in players]
    for plays in [*(plays for _, plays, _ in game.tricks), game.table]:
        for seat, card in plays:
            played[seat].add(card)
    discard = options.players  # A place like a hand, after those of the seats.
    places = [*(set(hand) for hand in game.hands), set(game.discarded)]
    lacks = [*(game.shown_lacks(seat) for seat in players), set[str]()]
    hidden = {*players, discard} - ({viewer, discard} if viewer == dealer else {viewer})
    for _ in range(60):
        first, second = rng.sample(sorted(hidden), 2)
        if not places[first] or not places[second]:
            continue
        here, there = rng.choice(sorted(places[first])), rng.choice(sorted(places[second]))
        if there in lacks[first] or here in lacks[second]:
            continue
        moved = list(places)
        moved[first] = places[first] - {here} | {there}
        moved[second] = places[second] - {there} | {here}
        if moved[discard] <= discardable(moved[dealer] | moved[discard] | played[dealer], options):
            places = moved
    hands = [places[seat] | played[seat] for seat in players]
    full = hands[dealer] | places[discard]
    talon = set(game.talon) if viewer == dealer else set(rng.sample(sorted(full), options.talon_size))
    hands[dealer] = full - talon
    laid_away = game.discarded if viewer == dealer else sorted(places[discard])
    return Deal(hands, talon, dealer), laid_away


@settings(max_examples=300)
@given(mixes(), SEEDS)
def test_hidden_cards_exchanged_leave_observation_and_mask_unchanged(chosen: Mix, seed: int) -> None:
    """Another world, the same sight: all of its history, replayed, shows the viewer the same.

    That every card of the history is legal in the other world as well proves that what a seat is said
    to have shown is enough: nothing that can be concluded is missing from the observation.
    """
    rng = random.Random(seed)
    batch, game, cards = played_at_random(chosen, rng)
    options = chosen.options
    length = rng.randrange(len(cards))
    game = reference_game(options, batch.deal())
    for card in cards[:length]:
        game.play(card)
    viewer = game.to_act if rng.random() < 0.7 else rng.randrange(options.players)
    assert viewer is not None
    deal, laid_away = other_world(game, viewer, rng)
    assume(deal != batch.deal())
    other = begin(chosen.rules, deal)
    for card, other_card in zip(cards[:length], [*laid_away, *cards[options.talon_size :]], strict=False):
        batch.step(ids([card]))
        other.step(ids([other_card]))
        assert np.array_equal(other.observe(0, viewer), batch.observe(0, viewer))
    assert other.seat[0] == batch.seat[0]
    if viewer == batch.seat[0]:
        assert np.array_equal(other.action_mask, batch.action_mask)


# --- Streams, copies, threads -------------------------------------------------------------------------


def deals_of(batch: Batch, game: int, number: int, rng: random.Random) -> list[Deal]:
    """Return the next deals of a game, its neighbours left where they are or moved at random."""
    deals = [batch.deal(game)]
    while len(deals) < number:
        chosen = np.array([other == game or rng.random() < 0.5 for other in range(len(batch))])
        if rng.random() < 0.5:
            batch.step(batch.random_actions())
        batch.reset(games=chosen)
        deals.append(batch.deal(game))
    return deals


@given(st.sampled_from(sorted(MIXES)), SEEDS, st.integers(0, 4), st.integers(5, 9))
def test_a_game_s_deals_do_not_depend_on_batch_size_or_neighbours(
    preset: str, seed: int, game: int, num_games: int
) -> None:
    rng = random.Random(seed)
    small = deals_of(Batch(game + 1, preset, seed=seed), game, 4, rng)
    assert deals_of(Batch(num_games, preset, seed=seed, reward="trick"), game, 4, rng) == small
    played = Batch(num_games, preset, seed=seed)
    deals = [played.deal(game)]
    for _ in range(2 * played.rules.num_decisions):
        if played.step(played.random_actions()).done[game]:
            deals.append(played.deal(game))
    assert deals == small[:3]


def test_games_of_a_batch_and_seeds_have_deals_of_their_own() -> None:
    deals = {batch.deal(game) for batch in (Batch(50, seed=seed) for seed in range(20)) for game in range(50)}
    assert len(deals) == 1000


def everything(batch: Batch) -> list[bytes]:
    """Return all that a batch shows and holds; a row's padding is no part of it."""
    fields = [batch.games[name].tobytes() for name in GAME.names or ()]
    return [*fields, batch.observation.tobytes(), batch.action_mask.tobytes(), batch.seat.tobytes()]


COPIES = {
    "clone": Batch.clone,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda batch: pickle.loads(pickle.dumps(batch)),
}


@pytest.mark.parametrize("how", COPIES)
@given(st.sampled_from(sorted(MIXES)), SEEDS, st.integers(0, 90))
def test_s18_a_copy_is_the_game_in_progress(how: str, preset: str, seed: int, num_steps: int) -> None:
    batch = Batch(2, preset, seed=seed, reward="trick", redeal=bool(seed % 2))
    for _ in range(num_steps):
        batch.step(batch.random_actions())
    before = everything(batch)
    other = COPIES[how](batch)
    assert (other.rules, other.reward, other.redeal, other.seed) == (batch.rules, "trick", batch.redeal, seed)
    assert everything(other) == before
    for _ in range(10):
        other.step(other.random_actions())
    assert everything(batch) == before
    for _ in range(10):
        batch.step(batch.random_actions())
    assert everything(other) == everything(batch)
    batch.reset()
    other.reset()
    assert everything(other) == everything(batch)


def test_rows_are_games_of_their_own() -> None:
    batch = Batch(3, seed=4)
    before = everything(batch)
    rows = np.zeros_like(batch.games)
    batch.clone_into(rows)
    batch.play_out()
    assert everything(batch) != before
    batch.games[:] = rows
    batch.refresh()
    assert everything(batch) == before


@pytest.mark.parametrize("preset", ["scarto", "four_player"])
@pytest.mark.parametrize("redeal", [True, False])
def test_threads_do_not_change_anything(preset: str, redeal: bool) -> None:
    alone = Batch(33, preset, seed=2, reward="trick", threads=1, redeal=redeal)
    shared = Batch(33, preset, seed=2, reward="trick", threads=2, redeal=redeal)
    for _ in range(90):
        actions = alone.random_actions().copy()
        assert np.array_equal(shared.random_actions(), actions)
        step, shared_step = alone.step(actions), shared.step(actions)
        assert np.array_equal(step.reward, shared_step.reward)
        assert np.array_equal(step.done, shared_step.done)
        assert everything(alone) == everything(shared)
    assert alone.play_out() == shared.play_out()
    assert everything(alone) == everything(shared)
