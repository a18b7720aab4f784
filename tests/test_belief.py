"""Belief: worlds counted exactly, drawn uniformly, never in contradiction with what a seat knows."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from positions import ids, mix

from scarto_env import PRESETS, Batch, Deal, make_bot
from scarto_env.bots.belief import believe, imagine, new_belief
from scarto_env.bots.heuristic import card_worth
from scarto_env.bots.history import MOST_PLAYS, list_plays, recall_piles, rewind
from scarto_env.bots.inference import keep, swap_some, wander
from scarto_env.bots.knowledge import new_mind, note_position
from scarto_env.bots.likelihood import LOOSE, likelihood, list_choices, new_past
from scarto_env.bots.recall import recall
from scarto_env.bots.worlds import MOMENT_ROW
from scarto_env.jit import kernel
from scarto_env.play import act, is_legal, take_talon
from scarto_env.rules import deck_cards, rules_table
from scarto_env.state import DISCARD, GAME, PLAY, cards_of

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
def begin(table, rows, plays, past):
    list_plays(rows[0], table[0], plays)
    list_choices(rows[0], table[0], plays, rows[3], rows[MOMENT_ROW:], past[0])


@kernel
def judge(world, known, table, rows, mind, past, habits):
    """Return the likelihood of a world; ``habits`` are temperature, stray and doubt."""
    moments = rows[MOMENT_ROW:]
    return likelihood(world, known, table[0], rows[3], moments, mind[0], past[0], habits[0], habits[1], habits[2], 0.0)


@kernel
def walk(table, rows, mind, past, steps, habits, worlds):
    """Fill ``worlds`` from the chain that starts at ``rows[1]``."""
    reached = judge(rows[1], rows[0], table, rows, mind, past, habits)
    keep(past[0], table[0])
    moments = rows[MOMENT_ROW:]
    for index in range(len(worlds)):
        reached = wander(rows, table[0], moments, mind[0], past[0], steps, reached, habits[0], habits[1], habits[2])
        worlds[index] = rows[1]


@kernel
def exchange(table, rows, steps, worlds):
    """Fill ``worlds`` from the chain of exchanges, all of them accepted, that starts at ``rows[1]``."""
    for index in range(len(worlds)):
        for _ in range(steps):
            swap_some(rows[0], table[0], rows[1])
        worlds[index] = rows[1]


@kernel
def likelihoods(table, rows, mind, past, worlds, habits, out):
    """Judge one world after another, each beside the last: what was worked out for one is used for the next."""
    known = rows[0]
    for index in range(len(worlds)):
        out[index] = judge(worlds[index], known, table, rows, mind, past, habits)
        keep(past[0], table[0])
        known = worlds[index]


@kernel
def shares_of(row, table, mind, laid, temperature):
    """Return the chance that the heuristic, softened, takes its favourite of the cards in ``laid``; that favourite."""
    note_position(row, table[0], mind[0])
    best, best_worth, total = -1, -np.inf, 0.0
    for card in range(78):
        if is_legal(row, card):
            worth = card_worth(row, table[0], card, mind[0])
            total += math.exp(worth / temperature)
            if laid[card] and worth > best_worth:
                best, best_worth = card, worth
    return math.exp(best_worth / temperature) / total, best


def plain_likelihood(view, world, plays, temperature, stray, doubt) -> float:
    """Return the likelihood of a world by replaying it and judging every card: the oracle."""
    rows, mind, rules = empty_rows(1), new_mind(), view.rules
    players, dealer = rules.players, int(world.dealer)
    kinds = np.ones((players, 2))

    def weigh(laid) -> int:
        row, chosen = rows[0], np.zeros(78, np.int64)
        chosen[list(laid)] = 1
        legal = len(cards_of(row.legal))
        share, card = shares_of(row, view.table, mind, chosen, temperature)
        if row.seat != 0 and legal > 1:
            kinds[row.seat] *= [(1 - part) * share + part / legal for part in (stray, LOOSE)]
        return card

    back(np.array([world], GAME).view(np.recarray), view.table, rows)
    if dealer:
        take_up(rows, view.table)
        while laid := set(cards_of(world.discarded)) - set(cards_of(rows[0].discarded)):
            forward(rows, view.table, weigh(laid))
        back(np.array([world], GAME).view(np.recarray), view.table, rows)
    while (card := plays[rows[0].trick * players + rows[0].seat]) >= 0:
        weigh([card])
        forward(rows, view.table, card)
    return float(np.prod(kinds[1:] @ [1 - doubt, doubt]))


@kernel
def back(world, table, rows):
    rewind(world[0], table[0], rows[0])


@kernel
def take_up(rows, table):
    row = rows[0]
    for word in range(2):
        row.talon[word] = row.discarded[word]
        row.discarded[word] = 0
    row.num_discarded = 0
    row.phase = DISCARD
    row.seat = row.dealer
    take_talon(row, table[0])


@kernel
def forward(rows, table, card):
    act(rows[0], table[0], card)


def empty_rows(number: int):
    return np.zeros(number, GAME).view(np.recarray)


class View:
    """What the seat to act in a batch of one game believes."""

    def __init__(self, batch: Batch, game: int = 0) -> None:
        self.rules, self.table = batch.rules, rules_table(batch.rules)
        self.rows, self.belief = empty_rows(MOMENT_ROW + MOST_PLAYS), new_belief()
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


def chain(view: View, number: int, steps: int, habits):
    worlds, past = empty_rows(number), new_past()
    view.rows[1] = view.draw(1)[0]
    begin(view.table, view.rows, np.zeros(MOST_PLAYS, np.int64), past)
    walk(view.table, view.rows, new_mind(), past, steps, np.array(habits), worlds)
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
    view, habits = small_view(), (2.0, 0.2, 0.2)
    worlds = chain(view, 60_000, 4, habits)
    counts = Counter(view.key(world) for world in worlds)
    examples = {view.key(world): world for world in view.draw(200 * int(view.number))}
    keys = sorted(examples)
    assert set(keys) == view.enumerate()
    listed = empty_rows(len(keys))
    for index, key in enumerate(keys):
        listed[index] = examples[key]
    plays = np.zeros(MOST_PLAYS, np.int64)
    begin(view.table, view.rows, plays, new_past())
    expected = np.array([plain_likelihood(view, world, plays, *habits) for world in listed])
    expected /= expected.sum()
    seen = np.array([counts[key] for key in keys]) / 60_000
    assert expected.max() > 1.6 * expected.min()
    # Half the summed distance of the two distributions.
    assert abs(seen - expected).sum() / 2 < 0.06


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_likelihood_is_that_of_a_plain_replay(rules) -> None:
    """Whatever has been worked out for other worlds before, and kept."""
    for seed in range(6):
        for habits in ((1.0, 0.1, 0.1), (0.2, 0.01, 0.0)):
            batch = ending(rules, 2 + 3 * seed, seed, seed % rules.players, ("heuristic", "greedy", "random")[seed % 3])
            view, past, plays = View(batch), new_past(), np.zeros(MOST_PLAYS, np.int64)
            begin(view.table, view.rows, plays, past)
            worlds = empty_rows(40)
            worlds[:20] = view.draw(20)
            view.rows[1] = worlds[0]
            walk(view.table, view.rows, new_mind(), past, 3, np.array(habits), worlds[20:])
            out, again = np.zeros(40), np.zeros(40)
            expected = [plain_likelihood(view, world, plays, *habits) for world in worlds]
            begin(view.table, view.rows, plays, past)
            likelihoods(view.table, view.rows, new_mind(), past, worlds, np.array(habits), out)
            likelihoods(view.table, view.rows, new_mind(), past, worlds[::-1].copy(), np.array(habits), again)
            assert out.tolist() == pytest.approx(expected, rel=1e-9, abs=0)
            assert again[::-1].tolist() == pytest.approx(expected, rel=1e-9, abs=0)
