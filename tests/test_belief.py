"""Belief: worlds counted exactly, drawn uniformly, never in contradiction with what a seat knows."""

import itertools
from collections import Counter

import numpy as np
import pytest
from positions import ids, mix

from scarto_env import PRESETS, Batch, Deal, make_bot
from scarto_env.bots.belief import believe, imagine, new_belief
from scarto_env.bots.history import MOST_PLAYS, list_plays, recall_piles
from scarto_env.bots.inference import log_likelihood, swap_some, wander
from scarto_env.bots.knowledge import new_mind
from scarto_env.bots.recall import recall
from scarto_env.jit import kernel
from scarto_env.rules import deck_cards, rules_table
from scarto_env.state import GAME, PLAY, cards_of

BAGATTO, FOOL = 56, 77
RULES = {**PRESETS, "cheapest": mix(cheapest_overtrump=True).rules}


@kernel
def count(observation, mask, table, rows, belief):
    recall(observation[0], mask[0], table[0], rows[0])
    return believe(rows[0], table[0], belief[0])


@kernel
def draw(table, rows, belief, worlds):
    for index in range(len(worlds)):
        worlds[index] = rows[0]
        imagine(rows[0], table[0], belief[0], worlds[index])


@kernel
def walk(table, rows, mind, plays, steps, temperature, stray, worlds):
    """Fill ``worlds`` from the chain that starts at ``rows[1]``."""
    list_plays(rows[0], table[0], plays)
    likelihood = log_likelihood(rows[1], table[0], plays, rows[3], mind[0], temperature, stray, -np.inf)
    for index in range(len(worlds)):
        likelihood = wander(rows, table[0], plays, mind[0], steps, likelihood, temperature, stray)
        worlds[index] = rows[1]


@kernel
def exchange(table, rows, steps, worlds):
    """Fill ``worlds`` from the chain of exchanges, all of them accepted, that starts at ``rows[1]``."""
    for index in range(len(worlds)):
        for _ in range(steps):
            swap_some(rows[0], table[0], rows[1])
        worlds[index] = rows[1]


@kernel
def likelihoods(table, rows, mind, plays, worlds, temperature, stray, out):
    for index in range(len(worlds)):
        out[index] = log_likelihood(worlds[index], table[0], plays, rows[3], mind[0], temperature, stray, -np.inf)


def empty_rows(number: int):
    return np.zeros(number, GAME).view(np.recarray)


class View:
    """What the seat to act in a batch of one game believes."""

    def __init__(self, batch: Batch, game: int = 0) -> None:
        self.rules, self.table = batch.rules, rules_table(batch.rules)
        self.rows, self.belief = empty_rows(5), new_belief()
        one = slice(game, game + 1)
        self.number = count(batch.observation[one], batch.action_mask[one], self.table, self.rows, self.belief)
        self.rows[0].bot_random = 12345

    def draw(self, number: int):
        worlds = empty_rows(number)
        draw(self.table, self.rows, self.belief, worlds)
        return worlds

    def key(self, world) -> tuple[tuple[int, ...], ...]:
        hands = [tuple(cards_of(world.hand[seat])) for seat in range(1, self.rules.players)]
        return (*hands, tuple(cards_of(world.discarded)))

    def enumerate(self) -> set[tuple[tuple[int, ...], ...]]:
        """Return all worlds by trying every way to deal the hidden cards: the oracle, straight from the articles."""
        row, rules = self.rows[0], self.rules
        players, dealer = rules.players, int(row.dealer)
        seen = {card for seat in range(players) for card in cards_of(row.played[seat])}
        seen |= {*cards_of(row.hand[0]), *cards_of(row.discarded)}
        hidden = [card for card in deck_cards(rules) if card not in seen]
        sizes = [rules.hand_size - len(cards_of(row.played[seat])) for seat in range(1, players)]
        lacks = [set(cards_of(row.lacks[seat])) for seat in range(1, players)]
        found = set()

        def fill(place: int, left: list[int], hands: list[tuple[int, ...]]) -> None:
            if place == players - 1:
                if dealer == 0 or self.may_be_laid_away(left, hands[dealer - 1], cards_of(row.played[dealer])):
                    found.add((*hands, tuple(left) if dealer else tuple(cards_of(row.discarded))))
                return
            able = [card for card in left if card not in lacks[place]]
            for hand in itertools.combinations(able, sizes[place]):
                fill(place + 1, [card for card in left if card not in hand], [*hands, hand])

        fill(0, hidden, [])
        return found

    def may_be_laid_away(self, laid, held, played) -> bool:
        """A9, on the dealer's 28 cards."""
        rules = self.rules
        full = {*laid, *held, *played}
        trumps = [card for card in full if BAGATTO < card < FOOL]
        if rules.bagatto_fool_blocks and FOOL in full:
            trumps.append(FOOL)
        for card in laid:
            king = card < BAGATTO and card % 14 == 13
            banned = BAGATTO <= card < FOOL and card - BAGATTO + 1 in rules.discard_ban
            fool = card == FOOL and not rules.fool_discardable
            if king or banned or fool or (card == BAGATTO and trumps):
                return False
        return True


def ending(rules, tricks_left: int, seed: int, extra: int = 0, bot: str = "heuristic") -> Batch:
    """Return a batch of one game near its end, ``extra`` cards into the trick."""
    batch = Batch(1, rules, seed=seed, threads=1, redeal=False)
    players = batch.rules.players
    player = make_bot(bot, rules)
    for _ in range(batch.rules.num_decisions - tricks_left * players + extra):
        batch.step(player.act(batch.observation, batch.action_mask))
    return batch


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_worlds_are_counted_as_by_full_enumeration(rules) -> None:
    sizes = []
    for seed in range(12):
        for extra in range(rules.players):
            batch = ending(rules, 2 + (rules.players == 3), seed, extra, ("heuristic", "random")[seed % 2])
            view = View(batch)
            worlds = view.enumerate()
            assert view.number == len(worlds), (seed, extra)
            sizes.append(len(worlds))
    assert max(sizes) > 50


@pytest.mark.parametrize("rules", ["scarto", "four_player", "traditional"])
def test_worlds_are_drawn_uniformly(rules) -> None:
    views = [View(ending(rules, 3, seed)) for seed in range(8)]
    view = min((view for view in views if view.number > 30), key=lambda view: view.number)
    worlds = view.enumerate()
    draws = 200 * len(worlds)
    counts = Counter(view.key(world) for world in view.draw(draws))
    assert set(counts) == worlds
    chi_square = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi_square < len(worlds) + 5 * (2 * len(worlds)) ** 0.5


def bagatto_laid_away() -> Batch:
    """Return the second trick of a deal in which the dealer, seat 2, had no trump but the Bagatto and laid it away."""
    trumps = ids(" ".join(f"{number:02d}" for number in range(2, 22)))
    plain = list(range(56))
    dealer = [BAGATTO, *plain[:27]]
    rest = [*plain[27:], *trumps, FOOL]
    forehand, second = rest[:25], rest[25:]
    batch = Batch(1, seed=0, redeal=False)
    batch.set_deal(0, Deal((forehand, second, dealer[:25]), dealer[25:], 2))
    batch.step([BAGATTO])
    for _ in range(5):
        batch.step([int(np.flatnonzero(batch.action_mask[0])[0])])
    return batch


def test_the_bagatto_lies_in_the_discard_only_if_the_dealer_had_no_other_trump() -> None:
    batch = bagatto_laid_away()
    assert batch.seat[0] != 2
    view = View(batch)
    assert view.belief.worlds[0][1] > 0
    # Every world of the second case must be drawn now and then: make the first as rare.
    view.belief.worlds[0, 0] = view.belief.worlds[0, 1]
    worlds = view.draw(400)
    laid = [world for world in worlds if int(world.discarded[1]) & 1]
    assert 120 < len(laid) < 280
    for world in laid:
        held = {*cards_of(world.hand[int(world.dealer)]), *cards_of(world.discarded)}
        assert not [card for card in held if BAGATTO < card < FOOL]


def test_no_contradiction_in_100_000_worlds() -> None:
    total = 0
    rules_of = list(RULES.values())
    for turn in range(40):
        rules = rules_of[turn % len(rules_of)]
        batch = Batch(1, rules, seed=turn, threads=1, redeal=False)
        bot = make_bot(("heuristic", "random")[turn % 2], rules)
        for _ in range((turn * 13) % (rules.num_decisions - rules.talon_size - 4) + rules.talon_size):
            batch.step(bot.act(batch.observation, batch.action_mask))
        view = View(batch)
        game, row = batch.games[0], view.rows[0]
        me, players = int(game.seat), rules.players
        worlds = view.draw(2500)
        total += len(worlds)
        hands = worlds.hand[:, 1:players]
        assert not (hands & row.lacks[1:players]).any()
        table = view.table[0]
        if row.dealer != 0:
            assert not (worlds.discarded & table.never_discard).any()
        # Every card of the deck lies in exactly one place.
        places = np.concatenate([hands, worlds.played[:, :players], worlds.discarded[:, None],
                                 np.broadcast_to(row.hand[0], (len(worlds), 1, 2))], axis=1)  # fmt: skip
        assert (np.bitwise_or.reduce(places, axis=1) == places.sum(axis=1)).all()
        deck = np.bitwise_or.reduce(places[0], axis=0)
        assert len(cards_of(deck)) == rules.deck_size and (places.sum(axis=1) == deck).all()
        for seat in range(1, players):
            sizes = np.bitwise_count(worlds.hand[:, seat]).sum(axis=1)
            assert (sizes == len(cards_of(game.hand[(me + seat) % players]))).all()
        if row.dealer != 0 and game.phase == PLAY:
            assert (np.bitwise_count(worlds.discarded).sum(axis=1) == rules.talon_size).all()
    assert total == 100_000


def test_piles_are_recalled_with_what_was_played() -> None:
    for rules in RULES.values():
        batch = ending(rules, 4, seed=3, extra=1)
        view = View(batch)
        recall_piles(view.rows[0], view.table[0], np.zeros(MOST_PLAYS, np.int64), view.rows[3])
        me, players = int(batch.seat[0]), rules.players
        turned = [(me + seat) % players for seat in range(players)]
        for field in ("pile", "pile_value", "pile_size"):
            assert (view.rows[0][field][:players] == batch.games[0][field][turned]).all()


def chain(view: View, number: int, steps: int, temperature: float, stray: float):
    worlds = empty_rows(number)
    view.rows[1] = view.draw(1)[0]
    walk(view.table, view.rows, new_mind(), np.zeros(MOST_PLAYS, np.int64), steps, temperature, stray, worlds)
    return worlds


def small_view(rules: str = "scarto") -> View:
    views = [View(ending(rules, 3, seed, extra=1)) for seed in range(10)]
    return min((view for view in views if 25 < view.number < 400), key=lambda view: view.number)


def test_exchanges_alone_keep_the_worlds_uniform() -> None:
    view = small_view()
    view.rows[1] = view.draw(1)[0]
    worlds = empty_rows(60_000)
    exchange(view.table, view.rows, 4, worlds)
    counts = Counter(view.key(world) for world in worlds)
    shares = np.array([counts[key] for key in view.enumerate()]) / 60_000
    assert abs(shares * view.number - 1).max() < 0.35


def test_the_chain_reaches_the_posterior_of_the_heuristic() -> None:
    view = small_view()
    worlds = chain(view, 60_000, 4, temperature=2.0, stray=0.2)
    counts = Counter(view.key(world) for world in worlds)
    examples = {view.key(world): world for world in view.draw(200 * int(view.number))}
    keys = sorted(examples)
    assert set(keys) == view.enumerate()
    listed = empty_rows(len(keys))
    for index, key in enumerate(keys):
        listed[index] = examples[key]
    plays, logs = np.zeros(MOST_PLAYS, np.int64), np.zeros(len(keys))
    list_plays(view.rows[0], view.table[0], plays)
    likelihoods(view.table, view.rows, new_mind(), plays, listed, 2.0, 0.2, logs)
    expected = np.exp(logs - logs.max())
    expected /= expected.sum()
    seen = np.array([counts[key] for key in keys]) / 60_000
    assert np.ptp(logs) > 0.5
    # Half the summed distance of the two distributions.
    assert abs(seen - expected).sum() / 2 < 0.06
