"""What the policy sees, against a plain reading of the observation."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from scarto_env import Batch
from scarto_env.bots.policy_features import (
    LANE,
    Reading,
    encode_rows,
    feature_scale,
    num_features,
    num_globals,
    num_planes,
    put_cards,
    sort_cards,
)
from scarto_env.cards import FIRST_TRUMP, FOOL, NUM_CARDS, SUIT, TRUMPS
from scarto_env.observation import view
from scarto_env.rules import PRESETS, Rules, as_rules, deck_cards, rules_table

SUITS = range(4)


def encoded(observation: Any, mask: Any, rules: Rules) -> tuple[Any, Any, Any]:
    count = len(observation)
    features = np.full((count, num_features(rules.players)), 77, np.int8)
    sorted_mask = np.full((count, NUM_CARDS), 77, np.int8)
    order = np.empty((count, 4), np.int8)
    rows = np.arange(count)
    encode_rows(observation, mask, rows, Reading.of(rules), rules_table(rules), features, sorted_mask, order)
    return features, sorted_mask, order


def positions(rules: Rules, num_games: int = 3, every: int = 1, seed: int = 4) -> Any:
    """Yield batches after every some random cards of one deal."""
    batch = Batch(num_games, rules, seed=seed, redeal=False)
    for number in range(rules.num_decisions):
        if number % every == 0:
            yield batch
        batch.step(batch.random_actions())


def place_of_card(order: Any) -> Any:
    """Return the canonical place of each card."""
    places = np.arange(NUM_CARDS)
    for place, suit in enumerate(order):
        places[suit * 14 : suit * 14 + 14] = np.arange(place * 14, place * 14 + 14)
    return places


def plainly(observation: Any, mask: Any, rules: Rules) -> tuple[Any, list[int]]:
    """Return the planes, [K, 78], and the suit order, written from their definitions."""
    seen = view(observation)
    table = rules_table(rules)[0]
    dealt = np.maximum.reduce([seen["hand"], seen["discard"], seen["played"][0]])
    strengths = {suit: [s for s in range(14) if dealt[14 * suit + s]] for suit in SUITS}
    order = sorted(SUITS, key=lambda suit: (-len(strengths[suit]), -sum(1 << s for s in strengths[suit]), suit))
    unseen = np.zeros(NUM_CARDS, int)
    unseen[list(deck_cards(rules))] = 1
    unseen[(dealt + seen["played"].sum(0)) > 0] = 0
    led = np.flatnonzero(seen["led_suit"])
    on_table = seen["played"] * seen["table"]
    winning = np.flatnonzero(on_table[int(seen["winning"].argmax())] * seen["winning"].any())

    def beats(card: int, other: int) -> bool:
        if SUIT[card] == SUIT[other]:
            return bool(table.power[card] > table.power[other])
        return bool(SUIT[card] == TRUMPS)

    takes, master, higher = (np.zeros(NUM_CARDS, int) for _ in range(3))
    for card in np.flatnonzero(seen["hand"]):
        if card == FOOL:
            continue
        higher[card] = sum(1 for other in np.flatnonzero(unseen) if SUIT[other] == SUIT[card] and beats(other, card))
        master[card] = higher[card] == 0
        follows = len(led) > 0 and (SUIT[card] == led[0] or SUIT[card] == TRUMPS)
        takes[card] = mask[card] and follows and all(beats(card, other) for other in winning)
    may_hold = []
    for other in range(rules.players - 1):
        lacked = np.zeros(NUM_CARDS, int)
        for suit in SUITS:
            lacked[14 * suit : 14 * suit + 14] = seen["void"][other][suit]
        lacked[FIRST_TRUMP:FOOL] = seen["trumps_lacked"][other]
        may_hold.append(unseen * (1 - lacked))
    away = np.maximum(seen["discard"], seen["played"][0])
    planes = [seen["hand"], away, *seen["played"][1:], *on_table[1:], takes, master, higher, *may_hold]
    return np.array(planes), order


@pytest.mark.parametrize("preset", PRESETS)
def test_planes_are_what_they_say(preset: str) -> None:
    rules = as_rules(preset)
    for batch in positions(rules, every=3):
        features, sorted_mask, orders = encoded(batch.observation, batch.action_mask, rules)
        for game in range(len(batch)):
            planes, order = plainly(batch.observation[game], batch.action_mask[game], rules)
            assert list(orders[game]) == order
            found = features[game, : planes.size].reshape(planes.shape)[:, place_of_card(order)]
            assert np.array_equal(found, planes)
            assert np.array_equal(sorted_mask[game][place_of_card(order)], batch.action_mask[game])


@pytest.mark.parametrize("preset", ["scarto", "four_player", "piccolo"])
def test_every_feature_is_written(preset: str) -> None:
    rules = as_rules(preset)
    used = num_planes(rules.players) * NUM_CARDS + num_globals(rules.players)
    size = num_features(rules.players)
    assert size % LANE == 0 and 0 <= size - used < LANE
    assert feature_scale(rules.players).shape == (size,)
    for batch in positions(rules, num_games=2, every=5):
        features, _, _ = encoded(batch.observation, batch.action_mask, rules)
        assert features.max() < 77 and features.min() >= 0
        assert not features[:, used:].any()


@pytest.mark.parametrize("permutation", list(itertools.permutations(SUITS)))
def test_canonical_order_undoes_every_exchange_of_suits(permutation: tuple[int, ...]) -> None:
    rules = as_rules("scarto")
    cards = np.arange(NUM_CARDS)  # card c of the deal becomes moved[c]
    moved = cards.copy()
    for suit, new in enumerate(permutation):
        moved[14 * suit : 14 * suit + 14] = np.arange(14 * new, 14 * new + 14)
    first = Batch(8, rules, seed=11, redeal=False)
    second = first.clone()
    for game in range(8):
        deal = first.deal(game)
        hands = tuple(tuple(int(moved[card]) for card in hand) for hand in deal.hands)
        second.set_deal(game, type(deal)(hands, tuple(int(moved[card]) for card in deal.talon), deal.dealer))
    for _ in range(rules.num_decisions):
        one = encoded(first.observation, first.action_mask, rules)
        other = encoded(second.observation, second.action_mask, rules)
        # Two suits of which the same ranks were dealt to me may change places: the picture is then of equal hands
        # but not of equal tables, so such rows say nothing.
        for game in range(8):
            if has_equal_suits(first.observation[game]):
                continue
            assert np.array_equal(one[0][game], other[0][game])
            assert np.array_equal(one[1][game], other[1][game])
        chosen = first.random_actions().copy()
        first.step(chosen)
        second.step(moved[chosen])


def has_equal_suits(observation: Any) -> bool:
    seen = view(observation)
    dealt = np.maximum.reduce([seen["hand"], seen["discard"], seen["played"][0]])[:FIRST_TRUMP].reshape(4, 14)
    return len({row.tobytes() for row in dealt}) < 4


def test_cards_come_back_from_canonical_order() -> None:
    orders = np.array(list(itertools.permutations(SUITS)), np.int8)
    cards = np.tile(np.arange(NUM_CARDS, dtype=np.int8), (len(orders), 1, 1))
    rows = np.arange(len(orders))
    places = np.empty_like(cards)
    sort_cards(cards, rows, orders, places)  # the card at each place
    back = np.empty(len(orders), np.int64)
    for place in range(NUM_CARDS):
        put_cards(np.full(len(orders), place), orders, rows, back)
        assert np.array_equal(back, places[:, 0, place])
    assert all(sorted(row) == list(range(NUM_CARDS)) for row in places[:, 0])


def test_order_of_suits_stays_for_the_whole_deal() -> None:
    rules = as_rules("scarto")
    orders: dict[tuple[int, int], tuple[int, ...]] = {}
    for batch in positions(rules, num_games=4):
        _, _, order = encoded(batch.observation, batch.action_mask, rules)
        for game in range(4):
            kept = orders.setdefault((game, int(batch.seat[game])), tuple(order[game]))
            assert kept == tuple(order[game])


def test_hidden_cards_exchanged_leave_the_features_unchanged() -> None:
    rules = as_rules("scarto")
    batch = Batch(6, rules, seed=5, redeal=False)
    other = batch.clone()
    for game in range(6):
        deal = batch.deal(game)
        hands = list(deal.hands)
        dealer = deal.dealer
        # The dealer sees neither of the two other hands.
        one, two = (dealer + 1) % 3, (dealer + 2) % 3
        hands[one], hands[two] = hands[two], hands[one]
        other.set_deal(game, type(deal)(tuple(hands), deal.talon, dealer))
    assert not np.array_equal(batch.games.hand, other.games.hand)
    one_features, _, _ = encoded(batch.observation, batch.action_mask, rules)
    other_features, _, _ = encoded(other.observation, other.action_mask, rules)
    assert np.array_equal(one_features, other_features)


def test_leads_are_counted() -> None:
    rules = as_rules("scarto")
    start = num_planes(3) * NUM_CARDS + 2 * 5 + 5 + 4 * 3 + 3 + 25
    for batch in positions(rules, num_games=3):
        features, _, orders = encoded(batch.observation, batch.action_mask, rules)
        for game in range(3):
            row = batch.games[game]
            viewer = int(row.seat)
            expected = np.zeros((3, 5), int)
            for trick in range(1, int(row.trick) + 2):
                cards = np.flatnonzero(np.asarray(row.trick_of) == trick)
                if not len(cards):
                    continue
                led = lead_of[game, trick]
                if led[1] != FOOL:
                    suit = SUIT[led[1]]
                    place = list(orders[game]).index(suit) if suit < TRUMPS else TRUMPS
                    expected[(led[0] - viewer) % 3, place] += 1
            assert np.array_equal(features[game, start : start + 15].reshape(3, 5), expected)


lead_of: dict[tuple[int, int], tuple[int, int]] = {}


@pytest.fixture(autouse=True)
def note_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write down who leads what, as the engine is stepped."""
    lead_of.clear()
    step = Batch.step

    def noting(self: Batch, actions: Any) -> Any:
        for game, row in enumerate(self.games):
            if row.phase == 1 and row.turn == 0:
                lead_of[game, int(row.trick) + 1] = int(row.seat), int(actions[game])
        return step(self, actions)

    monkeypatch.setattr(Batch, "step", noting)
