"""Bots: made by name, legal everywhere, blind to what is hidden, the same in every batch."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from positions import codes_of, ids, mix, table_position

from scarto_env import PRESETS, Batch, Deal, bot_names, make_bot
from scarto_env.bots import Bot
from scarto_env.bots.heuristic import HeuristicBot, card_worth, heuristic_card
from scarto_env.bots.knowledge import new_mind, note_position
from scarto_env.bots.recall import recall
from scarto_env.bots.search import SearchBot
from scarto_env.bots.style import EXPERT, HEURISTIC
from scarto_env.jit import kernel
from scarto_env.play import is_legal
from scarto_env.rules import rules_table
from scarto_env.state import GAME, PLAY, cards_of

FAST = ("random", "greedy", "club", "heuristic", "expert")
BOTS = (*FAST, "search:worlds=3")
BY_POLICY = (
    "scarto-small",
    "net+search:worlds=3,policy=scarto-small",
    "net+search:worlds=3,policy=scarto-small,likelihood=scarto-small,pool=12",
    "search:worlds=3,likelihood=scarto-small,pool=12",
)
"""For three players."""
ODD_RULES = {
    "cheapest": mix(cheapest_overtrump=True).rules,
    "twenty on top": mix(trump_top=20, discard_ban=(20,)).rules,
    "fool kept": mix(fool_lost_in_last_trick=False).rules,
}
ALL_RULES = {**PRESETS, **ODD_RULES}


def play_deals(name: str, rules, num_games: int, seed: int, num_steps: int | None = None) -> Batch:
    """Return a batch after some steps, every seat played by one bot; a step with an illegal card raises."""
    batch = Batch(num_games, rules, seed=seed, threads=1, redeal=False)
    bot = make_bot(name, rules)
    for _ in range(batch.rules.num_decisions if num_steps is None else num_steps):
        batch.step(bot.act(batch.observation, batch.action_mask))
    return batch


@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
@pytest.mark.parametrize("name", BOTS)
def test_every_bot_plays_every_preset_to_the_end(name, rules) -> None:
    batch = play_deals(name, rules, 2 if "search" in name else 40, seed=5)
    assert not batch.action_mask.any()
    assert (batch.games.score.sum(axis=1) == 0).all()


@pytest.mark.parametrize("name", FAST)
def test_nothing_to_play_gives_0(name) -> None:
    batch = play_deals("random", "scarto", 3, seed=1)
    assert make_bot(name).act(batch.observation, batch.action_mask).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", [*BOTS, *BY_POLICY])
@pytest.mark.parametrize("num_steps", [1, 14, 51])
def test_a_choice_does_not_depend_on_the_batch(name, num_steps) -> None:
    batch = play_deals("random", "scarto", 12, seed=2, num_steps=num_steps)
    bot = make_bot(name, seed=7)
    together = bot.act(batch.observation, batch.action_mask)
    order = np.random.default_rng(0).permutation(12)
    again = make_bot(name, seed=7)
    assert again.act(batch.observation[order], batch.action_mask[order]).tolist() == together[order].tolist()
    alone = [int(again.act(batch.observation[[k]], batch.action_mask[[k]])[0]) for k in range(12)]
    assert alone == together.tolist()
    as_floats = bot.act(batch.observation.astype(np.float32), batch.action_mask.astype(bool))
    assert as_floats.tolist() == together.tolist()


@pytest.mark.parametrize("name", [*BOTS, *BY_POLICY, "search:worlds=30,method=tree,inference=0"])
def test_threads_may_share_a_bot(name) -> None:
    # Calls long enough to meet.
    num_games = 8 if "search" in name else 1000
    batches = [play_deals("random", "scarto", num_games, seed=4, num_steps=steps) for steps in (1, 20, 41, 62)]
    bot = make_bot(name)
    alone = [bot.act(batch.observation, batch.action_mask).tolist() for batch in batches]
    with ThreadPoolExecutor(len(batches)) as threads:
        for _ in range(10 if name in FAST else 3):
            futures = [threads.submit(bot.act, batch.observation, batch.action_mask) for batch in batches]
            assert [future.result().tolist() for future in futures] == alone


def test_the_random_bot_draws_uniformly_and_by_its_seed() -> None:
    batch = play_deals("random", "scarto", 1, seed=3, num_steps=10)
    legal = np.flatnonzero(batch.action_mask[0])
    cards = [int(make_bot("random", seed=seed).act(batch.observation, batch.action_mask)[0]) for seed in range(4000)]
    counts = np.array([cards.count(card) for card in legal])
    assert counts.sum() == 4000
    expected = 4000 / len(legal)
    assert ((counts - expected) ** 2 / expected).sum() < 3 * len(legal)


def exchange_hidden(batch: Batch, game: int, rng: np.random.Generator) -> int:
    """Exchange cards hidden from the seat to act among the other hands and the discard; return how many moved.

    Only where no rule and nothing seen stands against it: the exchange must be a deal that could be.
    """
    row = batch.games[game]
    viewer, players = int(row.seat), batch.rules.players
    table = rules_table(batch.rules)[0]
    places = [("hand", seat) for seat in range(players) if seat != viewer]
    if row.phase == PLAY and row.dealer != viewer:
        places.append(("discarded", -1))

    def words(place):
        return row[place[0]][place[1]] if place[0] == "hand" else row["discarded"]

    def allowed(card, place):
        word, bit = (0, 1 << card) if card < 56 else (1, 1 << (card - 56))
        if place[0] == "hand":
            return not int(row.lacks[place[1]][word]) & bit
        return not int(table.never_discard[word]) & bit and card != 56

    moved = 0
    for _ in range(60):
        one, other = (places[k] for k in rng.choice(len(places), 2, replace=False))
        first, second = cards_of(words(one)), cards_of(words(other))
        if not first or not second or 56 in cards_of(row.discarded):
            continue
        a, b = int(rng.choice(first)), int(rng.choice(second))
        if allowed(a, other) and allowed(b, one):
            for card, source, target in ((a, one, other), (b, other, one)):
                word, bit = (0, 1 << card) if card < 56 else (1, 1 << (card - 56))
                words(source)[word] &= ~bit
                words(target)[word] |= bit
            moved += 1
    return moved


@pytest.mark.parametrize("rules", ["scarto", "four_player", "piccolo", "traditional"])
def test_hidden_cards_exchanged_never_change_a_choice(rules) -> None:
    rng = np.random.default_rng(4)
    bots = [make_bot(name, rules) for name in (BOTS if rules == "four_player" else (*BOTS, *BY_POLICY))]
    total = 0
    for num_steps in range(3, PRESETS[rules].num_decisions - 6, 7):
        batch = play_deals("heuristic", rules, 4, seed=num_steps, num_steps=num_steps)
        before = [bot.act(batch.observation, batch.action_mask) for bot in bots]
        total += sum(exchange_hidden(batch, game, rng) for game in range(4))
        batch.refresh()
        for bot, cards in zip(bots, before, strict=True):
            assert bot.act(batch.observation, batch.action_mask).tolist() == cards.tolist()
    assert total > 100


@kernel
def recall_all(observation, mask, table, rows):
    for index in range(len(rows)):
        recall(observation[index], mask[index], table[0], rows[index])


@kernel
def heuristic_of_rows(games, table, mind, cards):
    for index in range(len(games)):
        cards[index] = heuristic_card(games[index], table[0], mind[0])


@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
def test_what_is_recalled_is_what_the_seat_knows_and_the_heuristic_reads_no_more(rules) -> None:
    batch = Batch(16, rules, seed=9, threads=1, redeal=False)
    players = batch.rules.players
    table, bot = rules_table(batch.rules), make_bot("heuristic", rules)
    rows = np.zeros(16, GAME).view(np.recarray)
    cards, mind = np.zeros(16, np.int64), new_mind()
    for step in range(batch.rules.num_decisions):
        recall_all(batch.observation, batch.action_mask, table, rows)
        for row, game in zip(rows, batch.games, strict=True):
            me = int(game.seat)
            turned = [(me + seat) % players for seat in range(players)]
            assert (row.hand[0] == game.hand[me]).all() and not row.hand[1:].any()
            for field in ("played", "points", "table"):
                assert (row[field][:players] == game[field][turned]).all(), field
            assert (row.lacks[1:players] == game.lacks[turned[1:]]).all()
            for field in ("legal", "trick_cards", "trick_of", "phase", "trick", "turn", "led_suit", "best_power",
                          "trick_value"):  # fmt: skip
                assert (row[field] == game[field]).all(), field
            assert (row.dealer, row.leader) == tuple(turned.index(seat) for seat in (game.dealer, game.leader))
            for field in ("best_seat", "fool_seat"):
                assert row[field] == (turned.index(game[field]) if game[field] >= 0 else -1), field
            if me == game.dealer:
                for field in ("discarded", "discardable", "talon", "num_discarded"):
                    assert (row[field] == game[field]).all(), field
        heuristic_of_rows(batch.games, table, mind, cards)
        assert cards.tolist() == bot.act(batch.observation, batch.action_mask).tolist()
        batch.step(cards if step % 3 else batch.random_actions())


@kernel
def judge_all(game, table, mind, worths):
    note_position(game, table[0], mind[0])
    for card in range(len(worths)):
        if is_legal(game, card):
            worths[card] = card_worth(game, table[0], card, mind[0])


@pytest.mark.parametrize("style", [HEURISTIC, EXPERT], ids=["heuristic", "expert"])
@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
def test_cards_passed_over_unjudged_are_worth_no_more_than_the_chosen_one(rules, style) -> None:
    batch = Batch(24, rules, seed=6, threads=1, redeal=False)
    table, mind, cards = rules_table(batch.rules), new_mind(style), np.zeros(24, np.int64)
    rng = np.random.default_rng(6)
    for _ in range(batch.rules.num_decisions):
        heuristic_of_rows(batch.games, table, mind, cards)
        for game, mask, card in zip(batch.games, batch.action_mask, cards, strict=True):
            if mask.sum() > 1:
                worths = np.full(78, -np.inf)
                judge_all(game, table, mind, worths)
                assert worths.argmax() == card
        batch.step(np.where(rng.random(24) < 0.2, batch.random_actions(), cards))


def choice(hand: str, trick: str = "", bot: str = "heuristic", **where) -> str:
    """Return the code of the bot's card in a position written in codes."""
    batch = table_position("scarto", hand, trick, **where)
    return codes_of(make_bot(bot).act(batch.observation, batch.action_mask))[0]


def discards(hand: str, bot: str = "heuristic") -> set[str]:
    """Return what the bot lays away from 28 cards."""
    batch = Batch(1, seed=0, redeal=False)
    cards = ids(hand)
    others = [card for card in range(78) if card not in cards]
    batch.set_deal(0, Deal((cards[:25], others[:25], others[25:]), cards[25:], 0))
    laid = []
    for _ in range(3):
        card = make_bot(bot).act(batch.observation, batch.action_mask)
        laid += codes_of(card)
        batch.step(card)
    return set(laid)


STRONG_HAND = "SK SQ S9 S8 S7 S6 S5 BK BQ B9 B8 B7 C2 C5 C9 DK D2 D4 01 05 09 12 13 15 17 18 20 MT"


def test_the_discard_builds_a_void_in_a_short_suit_without_its_king() -> None:
    assert discards(STRONG_HAND) == {"C2", "C5", "C9"}


def test_the_discard_leaves_a_king_its_suit_and_keeps_trumps() -> None:
    laid = discards("SK S2 BC B2 B3 C1 C2 C3 C4 C5 C6 D1 D2 D3 D4 D5 D6 D7 02 03 04 05 06 07 08 09 10 11")
    assert laid == {"BC", "B2", "B3"}


def test_last_hand_takes_a_rich_trick_as_cheaply_as_it_can() -> None:
    assert choice("05 12 19 C2", "SK SC", seat=2) == "05"
    assert choice("SQ S3 05", "SC S2", seat=2) == "SQ"


def test_last_hand_gives_as_little_as_it_can() -> None:
    assert choice("SQ S3 SJ 05", "SK S2", seat=2) == "S3"


def test_second_hand_keeps_a_queen_under_a_king_still_out() -> None:
    assert choice("SQ S3 S4 S5 05 BK", "S2", seat=1) in ("S3", "S4", "S5")


def test_the_bagatto_is_saved_when_another_trump_will_do() -> None:
    assert choice("01 03 08 C2", "SK 12", seat=2) in ("03", "08")


def test_the_bagatto_takes_a_trick_that_nobody_can_take_back() -> None:
    assert choice("01 C2 C5", "S3 S4", seat=2) == "01"


def test_the_fool_saves_a_court_that_would_fall() -> None:
    assert choice("SQ MT BK", "SK S2", seat=2) == "MT"


def test_the_fool_leaves_before_the_last_trick_would_take_it() -> None:
    assert choice("S3 MT", "SK S2", seat=2, trick_number=24) == "MT"


def test_the_fool_is_led_when_it_could_not_leave_later() -> None:
    assert choice("S3 MT", seat=1, trick_number=24) == "MT"


def test_trumps_are_drawn_by_who_holds_more_than_all_others() -> None:
    hand = "21 20 19 18 17 16 15 14 13 12 11 10 S2 S3"
    assert choice(hand, seat=1, trick_number=12) in hand.split()[:12]


def test_the_long_suit_is_led() -> None:
    assert choice("S2 S3 S4 S5 S6 S7 C3 D3 05 09", seat=1, trick_number=5).startswith("S")


def test_the_expert_draws_trumps_that_could_take_its_courts() -> None:
    hand = "SK SQ BK BQ C2 C3 C4 02 05 09 12"
    assert choice(hand, seat=1, trick_number=14).startswith("C")
    assert choice(hand, seat=1, trick_number=14, bot="expert") in ("02", "05", "09", "12")


def test_the_club_player_cashes_masters_and_keeps_the_bagatto() -> None:
    assert choice("SK S2 C3 C4 05", seat=1, trick_number=5, bot="club") == "SK"
    assert choice("01 03 08 C2", "SK 12", seat=2, bot="club") == "03"
    assert discards(STRONG_HAND, bot="club") == {"C2", "C5", "C9"}


def test_greedy_takes_the_most_points_and_throws_the_cheapest() -> None:
    assert choice("SK SC S2", "SJ S3", bot="greedy") == "SK"
    assert choice("SC S2 S5", "SK S3", bot="greedy") == "S2"
    assert discards(STRONG_HAND, bot="greedy") == {"SQ", "BQ", "C9"}


def test_names_lead_to_bots_and_a_mistyped_one_to_the_nearest() -> None:
    assert {*FAST, "search", "net+search"} <= set(bot_names())
    assert repr(make_bot("expert")).startswith("ExpertBot(Rules(")
    assert isinstance(make_bot("heuristic"), HeuristicBot) and isinstance(make_bot("heuristic"), Bot)
    with pytest.raises(ValueError, match="did you mean 'heuristic'"):
        make_bot("hueristic")
    with pytest.raises(ValueError, match="'checkpoints/nowhere' is no bot and no checkpoint"):
        make_bot("checkpoints/nowhere")
    with pytest.raises(ValueError, match="did you mean 'worlds'"):
        make_bot("search:world=3")
    with pytest.raises(ValueError, match="worlds=0 is not allowed"):
        make_bot("search", worlds=0)
    with pytest.raises(ValueError, match="favour=-1 is not allowed"):
        make_bot("search", favour=-1)
    with pytest.raises(ValueError, match="playout='clever' is not allowed"):
        make_bot("search:playout=clever")


def test_search_leaves_to_its_rules_what_it_favours_enough() -> None:
    batch = play_deals("random", "scarto", 6, seed=8, num_steps=20)
    for playout, rules in (("expert", "expert"), ("heuristic", "heuristic")):
        search = make_bot("search", worlds=2, favour=1000, playout=playout)
        cards = search.act(batch.observation, batch.action_mask)
        assert cards.tolist() == make_bot(rules).act(batch.observation, batch.action_mask).tolist()


@pytest.mark.parametrize(
    "options", [{"favour": [1]}, {"favour": "3"}, {"favour": 10**400}, {"doubt": True}, {"playout": []}, {"plans": 1}]
)
def test_options_of_the_wrong_kind_are_named(options) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))}=.* is not allowed: expected"):
        SearchBot(**options)


def test_options_in_the_name_are_options() -> None:
    assert repr(make_bot("search:worlds=5,playout=random,inference=0")) == repr(
        make_bot("search", worlds=5, playout="random", inference=0)
    )


def test_functions_and_bots_are_taken_as_they_are() -> None:
    batch = Batch(3, seed=0)
    first = make_bot(lambda observation, mask: mask.argmax(1))
    assert first.act(batch.observation, batch.action_mask).tolist() == batch.action_mask.argmax(1).tolist()
    bot = make_bot("greedy")
    assert make_bot(bot) is bot
    with pytest.raises(TypeError, match="is made already"):
        make_bot(bot, worlds=3)
    with pytest.raises(TypeError, match="is no bot"):
        make_bot(17)
    with pytest.raises(ValueError, match="returned float64"):
        make_bot(lambda observation, mask: np.zeros(len(mask))).act(batch.observation, batch.action_mask)


def test_shapes_that_do_not_fit_the_rules_are_refused() -> None:
    batch = Batch(2, "four_player", seed=0)
    with pytest.raises(ValueError, match="observation has shape"):
        make_bot("heuristic").act(batch.observation, batch.action_mask)
    with pytest.raises(ValueError, match="action_mask has shape"):
        make_bot("heuristic", "four_player").act(batch.observation, batch.action_mask[:1])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scarto-small:sample=maybe", "sample='maybe' is not allowed: expected true or false"),
        ("search:plans=1", "plans=1 is not allowed: expected true or false"),
        ("net+search:weight=heavy", "weight='heavy' is not allowed: expected a number"),
        ("search:milliseconds=abc", "milliseconds='abc' is not allowed: expected a number from 1e-09 to 1e[+]09"),
        ("search:milliseconds=true", "milliseconds=True is not allowed"),
        ("search:favour=inf", "favour=inf is not allowed: expected a number from 0 to 1e[+]09"),
        (f"search:inference={10**30}", "expected a whole number from 0 to 1000000000"),
        ("search:exact=9", "exact=9 is not allowed: expected a whole number from 0 to 5"),
        ("search:stray=nan", "stray=nan is not allowed"),
        ("net+search:sure=2", "sure=2 is not allowed: expected a number from 0 to 1"),
        ("search:worlds=1,worlds=2", "the option 'worlds' is given twice"),
        ("a" * 5000, "is no bot and no checkpoint"),
        ("a\0b", "is no bot and no checkpoint"),
    ],
)
def test_bots_that_nobody_can_mean_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_bot(name)
