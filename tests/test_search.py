"""Search: deterministic, bounded, blind, right where the right card is known, and the better for more worlds."""

import time

import numpy as np
import pytest
from positions import codes_of, ids

from scarto_env import PRESETS, Batch, make_bot
from scarto_env.arena import duel
from scarto_env.bots import net_search
from scarto_env.bots.endgame import new_stack, solve
from scarto_env.bots.search import SearchBot
from scarto_env.jit import kernel
from scarto_env.play import act
from scarto_env.rules import rules_table
from scarto_env.state import OVER


def positions(num_steps: int, num_games: int = 6, rules: str = "scarto", seed: int = 0) -> Batch:
    batch = Batch(num_games, rules, seed=seed, threads=1, redeal=False)
    bot = make_bot("heuristic", rules)
    for _ in range(num_steps):
        batch.step(bot.act(batch.observation, batch.action_mask))
    return batch


def chosen(batch: Batch, **options) -> list[int]:
    return make_bot("search", batch.rules, **options).act(batch.observation, batch.action_mask).tolist()


@pytest.mark.parametrize("options", [{"worlds": 8}, {"worlds": 8, "inference": 0}, {"worlds": 60, "method": "tree"}])
@pytest.mark.parametrize("num_steps", [0, 20, 60])
def test_a_seed_and_a_number_of_worlds_fix_the_choice(options, num_steps) -> None:
    batch = positions(num_steps)
    first = chosen(batch, **options)
    assert chosen(batch, **options) == first
    assert all(batch.action_mask[game, card] for game, card in enumerate(first))


def test_another_seed_imagines_other_worlds() -> None:
    batch = positions(10, num_games=30)
    assert any(chosen(batch, worlds=2, seed=0) != chosen(batch, worlds=2, seed=seed) for seed in range(1, 4))


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("options", [{"worlds": 2, "exact": 2}, {"worlds": 20, "method": "tree", "playout": "random"}])
def test_every_method_plays_every_preset(rules, options) -> None:
    batch = positions(0, 1, rules)
    bot = make_bot("search", rules, **options)
    for _ in range(batch.rules.num_decisions):
        batch.step(bot.act(batch.observation, batch.action_mask))
    assert batch.games.phase[0] == OVER


def test_time_ends_the_search() -> None:
    batch = positions(4, num_games=1)
    bot = SearchBot(worlds=10**9, milliseconds=20)
    bot.act(batch.observation, batch.action_mask)
    started = time.perf_counter()
    bot.act(batch.observation, batch.action_mask)
    # Generous: a busy machine may stop a process for long, but not for a billion worlds.
    assert time.perf_counter() - started < 20
    with pytest.raises(ValueError, match="milliseconds=0"):
        SearchBot(milliseconds=0)


def test_a_few_worlds_in_no_time_are_the_worlds_alone() -> None:
    batch = positions(30)
    few = {"worlds": 3, "method": "tree"}
    assert chosen(batch, **few, milliseconds=1e6) == chosen(batch, **few)


def test_a_search_ends_when_its_choice_is_decided() -> None:
    options = {"worlds": 192, "inference": 0}
    for num_steps in (1, 30, 60):
        batch = positions(num_steps, num_games=12)
        everything = chosen(batch, sure=0, **options)
        assert chosen(batch, **options) == everything
        assert chosen(batch, sure=1e6, **options) == everything


def test_a_decided_choice_waits_neither_for_worlds_nor_for_the_clock() -> None:
    batch = positions(30, num_games=1)
    soon = {"inference": 0, "favour": 0, "sure": 1e-9}
    bot = SearchBot(worlds=10**9, milliseconds=1e9, **soon)
    assert bot.act(batch.observation, batch.action_mask).tolist() == chosen(batch, worlds=64, **soon)


@pytest.mark.parametrize("num_steps", [1, 36])
def test_a_card_that_net_search_drops_would_not_have_been_chosen(num_steps, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = positions(num_steps, num_games=6)
    bot = make_bot("net+search:policy=scarto-small,worlds=256,weight=0.5,sure=1,least=0.001")
    played_out, games = bot._played_out, []
    monkeypatch.setattr(bot, "_played_out", lambda trials: games.append(len(trials)) or played_out(trials))
    chosen_early, num_games = bot.act(batch.observation, batch.action_mask).tolist(), sum(games)
    monkeypatch.setattr(net_search, "_BEATEN", 1e9)
    assert bot.act(batch.observation, batch.action_mask).tolist() == chosen_early
    assert sum(games) - num_games > num_games


def test_it_lays_away_by_search_too() -> None:
    batch = positions(0, num_games=40)
    heuristic = make_bot("heuristic").act(batch.observation, batch.action_mask)
    assert (np.array(chosen(batch, worlds=12)) != heuristic).any()


def worth_of_cards(batch: Batch, name: str) -> np.ndarray:
    values = make_bot(name, batch.rules).values(batch.observation, batch.action_mask)
    assert values.shape == (len(batch), 78) and not values[batch.action_mask == 0].any()
    return values


def test_every_legal_card_has_a_value_and_the_choice_has_the_highest() -> None:
    batch = positions(70, num_games=20)
    # Nearly all worlds of an ending, and twins are worth the same.
    values = worth_of_cards(batch, "search:worlds=400,inference=0")
    for game, card in enumerate(chosen(batch, worlds=400, inference=0)):
        legal = values[game][batch.action_mask[game] > 0]
        assert (len(set(legal)) == 1) == (len(legal) == 1 or np.ptp(legal) == 0)
        assert values[game, card] > legal.max() - 0.3


def test_a_lead_counts_by_the_better_of_two_ways_to_go_on() -> None:
    """The worlds are the same without plans, so no card can lose by them; to a card that follows they do nothing."""
    for num_steps, leading in ((3, True), (30, True), (31, False)):
        batch = positions(num_steps)
        assert (batch.games.turn == 0).all() == leading
        with_plans, without = (worth_of_cards(batch, f"search:worlds=6,plans={plans}") for plans in ("true", "false"))
        assert (with_plans >= without).all() and (with_plans > without).any() == leading


def test_the_value_of_the_last_card_is_the_score() -> None:
    batch = positions(77, num_games=10)
    values = worth_of_cards(batch, "search:worlds=2")[np.arange(10), batch.action_mask.argmax(1)]
    seats = batch.seat.astype(int)
    batch.step(batch.action_mask.argmax(1))
    assert values.tolist() == pytest.approx((batch.games.settled[np.arange(10), seats] / 18).tolist())


@kernel
def solved(games, table, rows, stack):
    rows[0] = games[0]
    return solve(rows, table[0], stack)


@kernel
def forward(games, table, card):
    act(games[0], table[0], card)


def max_n(games, table) -> tuple[list[int], int]:
    """Return settled scores and card by plain recursion: the oracle of the solver."""
    row = games[0]
    if row.phase == OVER:
        return row.settled.tolist(), -1
    seat, rival = int(row.seat), int(row.best_seat)
    best, best_card = None, -1
    legal = int(row.legal[0]) | int(row.legal[1]) << 56
    for card in (card for card in range(78) if legal >> card & 1):
        after = games.copy()
        forward(after, table, card)
        value = max_n(after, table)[0]
        better = best is None or value[seat] > best[seat]
        tie = best is not None and value[seat] == best[seat] and rival not in (-1, seat)
        if better or (tie and value[rival] < best[rival]):
            best, best_card = value, card
    assert best is not None
    return best, best_card


@pytest.mark.parametrize("rules", PRESETS)
def test_the_last_tricks_are_solved_as_by_plain_recursion(rules) -> None:
    players = PRESETS[rules].players
    table = rules_table(PRESETS[rules])
    for seed in range(3):
        batch = positions(PRESETS[rules].num_decisions - 3 * players, 1, rules, seed)
        rows, stack = new_stack()
        card = solved(batch.games, table, rows, stack)
        value, expected = max_n(batch.games.copy(), table)
        assert (card, stack.value[0].tolist()) == (expected, value), codes_of([card, expected])


@pytest.mark.slow
def test_search_beats_what_it_plays_out_with_and_grows_with_worlds() -> None:
    few, many = (duel(f"search:worlds={worlds}", "heuristic", deals=40) for worlds in (4, 40))
    assert many.interval[0] > 0 and many.mean > few.mean


@pytest.mark.slow
def test_weighing_worlds_tells_more_than_drawing_them_uniformly() -> None:
    result = duel("search:worlds=20,inference=32", "search:worlds=20,inference=0", deals=60)
    assert result.mean > 0


def test_search_saves_the_fool_from_the_last_trick() -> None:
    """Two cards left, one of them the Fool: in the last trick it would be lost (A17)."""
    fool = ids("MT")[0]
    batch = Batch(400, seed=3, redeal=False)
    for _ in range(78 - 6):
        cards = batch.random_actions().copy()
        others = batch.action_mask.copy()
        others[:, fool] = 0
        keeps = (cards == fool) & others.any(axis=1)
        cards[keeps] = others[keeps].argmax(axis=1)
        batch.step(cards)
    held = np.flatnonzero(batch.action_mask[:, fool] & (batch.action_mask.sum(axis=1) > 1))
    assert len(held) > 50
    played = make_bot("search:worlds=30").act(batch.observation[held], batch.action_mask[held])
    assert (played == fool).mean() > 0.9
