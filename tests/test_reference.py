"""The worked examples of the rules against the reference, one test per example, and random deals."""

import random
from fractions import Fraction

import pytest
from reference import (
    ALL_CARDS,
    CARDS_OF,
    FOOL,
    PRESETS,
    Game,
    Match,
    Options,
    count_points,
    deck,
    discardable,
    legal_cards,
    proved_lacks,
    scores_of,
    settle,
    trick_winner,
    ultimo_bonus,
)

SCARTO = PRESETS["scarto"]
TRADITIONAL = PRESETS["traditional"]


def third(text: str) -> Fraction:
    """Return the number of ``"26 1/3"`` or ``"-3 1/3"``."""
    sign = -1 if text.startswith("-") else 1
    return sign * sum((Fraction(part) for part in text.lstrip("-").split()), Fraction(0))


def thirds(text: str) -> list[Fraction]:
    """Return the numbers of a list separated by commas."""
    return [third(part.strip()) for part in text.split(",")]


def pips(suit: str, first: int = 1, last: int = 10) -> list[str]:
    """Return the pips of a suit from ``first`` to ``last``."""
    return [suit + ("T" if rank == 10 else str(rank)) for rank in range(first, last + 1)]


def trumps(first: int, last: int) -> list[str]:
    """Return the trumps from ``first`` to ``last``."""
    return [f"{number:02}" for number in range(first, last + 1)]


def play_in_order(game: Game, discard: list[str], orders: list[list[str]]) -> Game:
    """Play a whole deal: each seat plays the first legal card of its own order."""
    for card in discard:
        game.play(card)
    while game.phase == "play":
        assert game.to_act is not None
        legal = game.legal()
        game.play(next(card for card in orders[game.to_act] if card in legal))
    return game


def random_options(rng: random.Random) -> Options:
    """Return any mix of the fields that can be played."""
    players, deck_name = rng.choice([(3, "full"), (4, "full"), (3, "piccolo")])
    flags = "overtrump cheapest_overtrump fool_lost_in_last_trick bagatto_fool_blocks fool_discardable".split()
    return Options(
        players=players,
        deck=deck_name,
        honours=rng.choice([(1, 20, 21), (1, 20), (1, 21)]),
        fool_value=rng.choice([3, 4, 5]),
        trump_top=rng.choice([20, 21]),
        leftovers=rng.choice(["exact", "whole"]),
        discard_ban=rng.choice([(20, 21), (20,), (21,), ()]),
        ultimo=rng.choice(["off", "bagatto", "bagatto_or_fool"]),
        settlement=rng.choice(["net", "lowest_pays"]),
        **{flag: rng.random() < 0.5 for flag in flags},
    )


def random_game(options: Options, rng: random.Random) -> Game:
    """Return a random deal."""
    cards = deck(options)
    rng.shuffle(cards)
    size = options.hand_size
    hands = [cards[seat * size : (seat + 1) * size] for seat in range(options.players)]
    return Game(options, hands, cards[options.players * size :], rng.randrange(options.players))


# --- Cards --------------------------------------------------------------------------------------------


def test_a1_deck_sizes() -> None:
    """The full deck has 78 cards, the piccolo deck 42."""
    assert len(ALL_CARDS) == len(set(ALL_CARDS)) == 78
    assert deck(SCARTO) == ALL_CARDS
    piccolo = deck(PRESETS["piccolo"])
    assert len(piccolo) == 42
    plain = {card for card in piccolo if card[0] in "CDBS"}
    assert {card for card in plain if card[1] not in "KQCJ"} == {"BT", "ST", "C1", "D1"}
    assert set(piccolo) >= CARDS_OF["trump"] | {FOOL}


def test_a2_order_of_cards() -> None:
    """Round suits run from the ten up to the ace, long suits from the ace up to the ten; courts are above."""
    assert ALL_CARDS[:14] == "CT C9 C8 C7 C6 C5 C4 C3 C2 C1 CJ CC CQ CK".split()
    assert ALL_CARDS[14] == "DT" and ALL_CARDS[27] == "DK"
    assert ALL_CARDS[28:42] == "B1 B2 B3 B4 B5 B6 B7 B8 B9 BT BJ BC BQ BK".split()
    assert ALL_CARDS[42] == "S1" and ALL_CARDS[55] == "SK"
    assert ALL_CARDS[56:] == [*trumps(1, 21), "MT"]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"players": 4, "deck": "piccolo"}, "players"),
        ({"players": 2}, "players"),
        ({"deck": "half"}, "deck"),
        ({"trump_top": 19}, "trump_top"),
        ({"leftovers": "none"}, "leftovers"),
        ({"ultimo": "fool"}, "ultimo"),
        ({"settlement": "all"}, "settlement"),
    ],
)
def test_options_refused_by_name(fields: dict, name: str) -> None:
    """What cannot be played is refused with an error that names the field."""
    with pytest.raises(ValueError, match=f"^{name}:"):
        Options(**fields)


# --- Count --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        ("SK BC C5", "7"),
        ("C2 D9 05", "1"),
        ("01 20 21", "13"),
        ("SK 02 D8", "5"),
        ("MT", "10/3"),
        ("D4", "1/3"),
        ("", "0"),
    ],
)
def test_a19_piles(pile: str, points: str) -> None:
    """The single-line examples of the exact count."""
    assert count_points(pile.split(), SCARTO) == third(points)


def test_a19_whole_leftovers() -> None:
    """One card left over takes nothing, two take 1."""
    whole = Options(leftovers="whole")
    assert [count_points(["MT", "SK", "D4"][:size], whole) for size in range(4)] == [0, 4, 8, 8]


E1_PILES = [
    [*"SK BK SQ CQ SC SJ 21".split(), *pips("S"), *pips("B"), *trumps(2, 4)],
    [*"MT CK BQ CC CJ BJ 01".split(), *pips("C"), *trumps(5, 12)],
    [*"DK DQ DC BC DJ 20".split(), *pips("D"), *trumps(13, 19)],
]


def test_a21_e1_partition() -> None:
    """E1: points and scores of one partition of the deck, in two presets."""
    assert [len(pile) for pile in E1_PILES] == [30, 25, 23]
    assert sorted(card for pile in E1_PILES for card in pile) == sorted(ALL_CARDS)
    points = [count_points(pile, SCARTO) for pile in E1_PILES]
    assert points == thirds("31, 26 1/3, 23 2/3")
    assert scores_of(points) == thirds("4, -2/3, -3 1/3")
    points = [count_points(pile, TRADITIONAL) for pile in E1_PILES]
    assert points == [27, 27, 24]
    assert scores_of(points) == [1, 1, -2]


def test_a20_e4_ultimo() -> None:
    """E4: the Bagatto in the last trick adds 5 to B's pile of E1, and the par follows."""
    points = [count_points(pile, PRESETS["ultimo"]) for pile in E1_PILES]
    points[1] += ultimo_bonus(["C5", "01", "C7"], PRESETS["ultimo"])
    assert points == thirds("31, 31 1/3, 23 2/3")
    assert scores_of(points) == thirds("2 1/3, 2 2/3, -5")


@pytest.mark.parametrize(
    ("ultimo", "bonuses"),
    [("off", [0, 0, 0, 0]), ("bagatto", [5, 0, 0, 5]), ("bagatto_or_fool", [5, 5, 0, 5])],
)
def test_a20_bonus(ultimo: str, bonuses: list[int]) -> None:
    """The bonus is given for the Bagatto, or for it or the Fool, and once at most."""
    tricks = ["SK 01 C2", "SK 02 MT", "SK 02 C2", "SK 01 MT"]
    assert [ultimo_bonus(trick.split(), Options(ultimo=ultimo)) for trick in tricks] == bonuses


@pytest.mark.parametrize(
    ("scores", "settled"),
    [
        ([10, -3, -7], [10, 0, -10]),
        ([6, 1, -7], [6, 1, -7]),
        ([10, -5, -5], [10, -5, -5]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_a22_e6_settlement(scores: list[int], settled: list[int]) -> None:
    """E6: the lowest pays; with net settlement the scores are the payments."""
    assert settle(scores, Options(settlement="lowest_pays")) == settled
    assert settle(scores, SCARTO) == scores


def test_a21_e10_four_players() -> None:
    """E10: the par of four players is a quarter of the total."""
    assert scores_of(thirds("27, 20 1/3, 18 2/3, 15")) == thirds("6 3/4, 1/12, -1 7/12, -5 1/4")


# --- Whole deals in directed positions ----------------------------------------------------------------


def sweep(options: Options, dealer: int, discard: list[str], fool: str) -> Game:
    """Play a deal in which seat 0 takes every trick with all the trumps and the kings.

    Seat ``dealer`` takes up ``discard`` and lays it away again; seat 2 plays the Fool as its first or
    its last card, as ``fool`` says.
    """
    strong = ["CK", "DK", "BK", "SK", *trumps(1, 21)]
    rest = [card for card in ALL_CARDS if card not in strong and card not in discard and card != FOOL]
    hands = [strong, rest[:25], [*rest[25:], FOOL]]
    order = list(reversed(strong))
    fool_order = hands[2] if fool == "last" else [FOOL, *hands[2][:-1]]
    return play_in_order(Game(options, hands, discard, dealer), discard, [order, hands[1], fool_order])


def test_a21_e5_dealer_takes_all() -> None:
    """E5: the dealer takes the 25 tricks, and the Fool in the last of them."""
    game = sweep(SCARTO, dealer=0, discard=["C2", "D2", "B2"], fool="last")
    assert FOOL in game.piles[0] and len(game.piles[0]) == 78
    assert game.scores() == [54, -27, -27]
    assert game.winners() == [0]
    assert game.settled() == [54, -27, -27]


def test_a21_e5_other_takes_all() -> None:
    """E5: another seat takes all, the dealer's discard being three empties, or three queens."""
    assert sweep(SCARTO, dealer=1, discard=["C2", "D2", "B2"], fool="last").scores() == [53, -26, -27]
    assert sweep(SCARTO, dealer=1, discard=["CQ", "DQ", "BQ"], fool="last").scores() == [44, -17, -27]


def test_a10_discard_counts_at_the_end() -> None:
    """The discard lies in the dealer's pile when the deal is over, and not in the public points."""
    game = sweep(SCARTO, dealer=1, discard=["CQ", "DQ", "BQ"], fool="last")
    assert game.piles[1] == {"CQ", "DQ", "BQ"}
    assert game.public_points() == [71, 0, 0]
    assert game.points() == [71, 10, 0]


def test_a17_e2_nothing_taken() -> None:
    """E2: a seat without a trick has minus the par, and keeps the Fool it played before the last trick."""
    early = sweep(SCARTO, dealer=0, discard=["C2", "D2", "B2"], fool="first")
    assert early.piles[2] == {FOOL}
    assert early.scores()[1] == -27
    assert early.scores()[2] == third("-23 2/3")
    early = sweep(TRADITIONAL, dealer=0, discard=["C2", "D2", "B2"], fool="first")
    assert early.scores()[1:] == [-26, -22]


def fool_in_last_trick(options: Options, trumped_with: str) -> Game:
    """Play a deal whose last trick is SK led by seat 1, the given trump (01 or 02) by seat 2, MT by seat 0.

    Seat 2 wins with CK, leads its trumps and denari, and gives trick 24 to seat 1's C1 by leading CT.
    """
    other = "01" if trumped_with == "02" else "02"
    dealer_hand = [*pips("D"), "DJ", *pips("C", 3, 9), "B9", "BT", "BJ", "BC", "BQ", "BK", "MT"]
    forehand = ["C2", other, *pips("S"), "SJ", "SC", "SQ", *pips("B", 1, 8), "C1", "SK"]
    third_hand = ["CK", *reversed(trumps(3, 21)), "DK", "DQ", "DC", "CT", trumped_with]
    discard = ["CJ", "CC", "CQ"]
    orders = [dealer_hand, forehand, third_hand]
    return play_in_order(Game(options, orders, discard, dealer=0), discard, orders)


def test_a17_e3_fool_in_last_trick() -> None:
    """E3: the winner of the last trick gains the Fool; in the traditional game its player keeps it."""
    for options, owner in ((SCARTO, 2), (TRADITIONAL, 0)):
        game = fool_in_last_trick(options, "02")
        assert game.tricks[-1] == (1, [(1, "SK"), (2, "02"), (0, "MT")], 2)
        assert {"SK", "02"} <= game.piles[2]
        assert FOOL in game.piles[owner]
        assert sum(game.points()) == (81 if options is SCARTO else 78)


@pytest.mark.parametrize(
    ("ultimo", "trump", "bonus"),
    [("bagatto", "01", 5), ("bagatto", "02", 0), ("bagatto_or_fool", "02", 5), ("bagatto_or_fool", "01", 5)],
)
def test_a20_bonus_in_a_deal(ultimo: str, trump: str, bonus: int) -> None:
    """The winner of the last trick has the bonus in its points, not in its public points."""
    game = fool_in_last_trick(Options(ultimo=ultimo), trump)
    assert sum(game.points()) == 81 + bonus
    assert game.points()[2] - game.public_points()[2] == bonus
    assert sum(game.scores()) == 0


# --- Discard ------------------------------------------------------------------------------------------


def test_a9_e7_bagatto_alone() -> None:
    """E7: the Bagatto may go when it is the only trump of the 28; the Fool blocks it in traditional."""
    alone = ["01", *pips("C"), *pips("D"), *pips("S", 1, 7)]
    assert len(alone) == 28
    assert "01" in discardable(alone, SCARTO)
    assert "01" in discardable(alone, TRADITIONAL)
    with_fool = ["MT" if card == "S7" else card for card in alone]
    assert "01" in discardable(with_fool, SCARTO)
    assert "01" not in discardable(with_fool, TRADITIONAL)


def test_a9_e7_bagatto_judged_once() -> None:
    """E7: a hand with 01 and 02 may not lay 01 away, not even after 02 went."""
    dealer_hand = ["01", "02", *pips("C"), *pips("D"), *pips("S", 1, 6)]
    others = [card for card in ALL_CARDS if card not in dealer_hand]
    game = Game(SCARTO, [dealer_hand[:25], others[:25], others[25:]], dealer_hand[25:], dealer=0)
    assert "01" not in game.legal()
    game.play("02")
    assert "01" not in game.legal()
    with pytest.raises(ValueError, match=r"01.*A9"):
        game.play("01")
    assert game.discarded == ["02"] and len(game.hands[0]) == 27


def test_a9_e7_banned_cards() -> None:
    """E7: 21 may go in traditional, not by default; kings never, the Fool only in free_fool."""
    hand = ["SK", "20", "21", "MT", "CQ", "07", *pips("C"), *pips("D"), "S1", "S2"]
    assert discardable(hand, SCARTO) == set(hand) - {"SK", "20", "21", "MT"}
    assert discardable(hand, TRADITIONAL) == set(hand) - {"SK", "20", "MT"}
    assert discardable(hand, PRESETS["free_fool"]) == set(hand) - {"SK", "20", "21"}


# --- Play ---------------------------------------------------------------------------------------------

LEGAL_EXAMPLES = [
    ("S5 S9 08 MT C2", "", "S5 S9 08 MT C2", "S5 S9 08 MT C2"),
    ("S5 08 MT C2", "ST", "S5 MT", "S5 MT"),
    ("03 09 C5", "SK 07", "09", "03 09"),
    ("03 09 C5 MT", "SK 07", "09 MT", "03 09 MT"),
    ("03 09 C5", "SK 12", "03 09", "03 09"),
    ("S2 15 C5", "SK 07", "S2", "S2"),
    ("03 09 20 C5", "08", "09 20", "03 09 20"),
    ("C5 D3 MT", "08", "C5 D3 MT", "C5 D3 MT"),
    ("S5 08 C2", "MT", "S5 08 C2", "S5 08 C2"),
    ("S5 08 C2 CT", "MT CK", "C2 CT", "C2 CT"),
    ("06 13 S2", "MT 11", "13", "06 13"),
    ("21 02 C3", "S4 20", "21", "21 02"),
]


@pytest.mark.parametrize(("hand", "trick", "default", "free"), LEGAL_EXAMPLES)
def test_a13_e8_legal_cards(hand: str, trick: str, default: str, free: str) -> None:
    """E8: the legal cards of twelve positions, with the overtrump duty and without."""
    assert legal_cards(hand.split(), trick.split(), SCARTO) == set(default.split())
    assert legal_cards(hand.split(), trick.split(), Options(overtrump=False)) == set(free.split())


def test_a13_e8_cheapest_overtrump() -> None:
    """E8: the cheapest trump that suffices; the lowest of all when no trump lies there."""
    cheapest = Options(cheapest_overtrump=True)
    assert legal_cards(["03", "09", "20", "C5"], ["08"], cheapest) == {"09"}
    assert legal_cards(["03", "09", "20", "C5"], ["SK"], cheapest) == {"03"}
    assert legal_cards(["03", "09", "20", "C5"], ["21"], cheapest) == {"03", "09", "20"}
    freely = Options(cheapest_overtrump=True, overtrump=False)
    assert legal_cards(["03", "09", "20", "C5"], ["08"], freely) == {"03", "09"}


def test_a13_e8_trump_top() -> None:
    """E8: XXI does not beat XX where XX is the highest."""
    assert legal_cards(["21", "02", "C3"], ["S4", "20"], Options(trump_top=20)) == {"21", "02"}


@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        ("C1 C2 CJ", "CJ"),
        ("CT C2 C9", "C2"),
        ("S1 ST S2", "ST"),
        ("MT C3 C2", "C2"),
        ("SK 02 MT", "02"),
        ("D7 SK C1", "D7"),
        ("20 21 01", "21"),
    ],
)
def test_a16_e9_winners(trick: str, winner: str) -> None:
    """E9: the winning cards of seven tricks."""
    cards = trick.split()
    assert cards[trick_winner(cards, SCARTO)] == winner


def test_a3_e9_trump_top() -> None:
    """E9 and A3: where XX is the highest, it beats XXI, and XXI beats XIX."""
    top = Options(trump_top=20)
    assert trick_winner(["20", "21", "01"], top) == 0
    assert trick_winner(["19", "21", "01"], top) == 1


def test_a11_errors_name_card_and_article() -> None:
    """An illegal card is refused with its name and its article, and nothing changes."""
    forehand = ["S5", "08", "C2", *pips("C", 3, 10), *pips("D"), "DQ", "DJ", "CJ", "CC"]
    dealer_hand = ["S6", "ST", *pips("B"), *"03 21 SK 01 07 04".split(), *pips("S", 1, 4), *pips("S", 7, 9)]
    rest = [card for card in ALL_CARDS if card not in forehand and card not in dealer_hand]
    game = Game(SCARTO, [dealer_hand, forehand, rest[:25]], rest[25:], dealer=0)
    for card, article in (("XX", "A1"), ("S5", "A8"), ("SK", "A9"), ("01", "A9")):
        with pytest.raises(ValueError, match=f"{card}.*({article})"):
            game.play(card)
    for card in ("B1", "B2", "B3"):
        game.play(card)
    with pytest.raises(ValueError, match=r"B4.*A11"):
        game.play("B4")
    game.play("S5")
    before = ([set(hand) for hand in game.hands], list(game.table), game.to_act)
    illegal = min(card for card in game.hands[2] if card not in game.legal())
    with pytest.raises(ValueError, match=f"{illegal}.*A12"):
        game.play(illegal)
    assert before == (game.hands, game.table, game.to_act)
    with pytest.raises(ValueError, match="A18"):
        game.points()


# --- What the play has shown --------------------------------------------------------------------------


def shown_after(options: Options, led: str, reply: str) -> set[str]:
    """Return what one reply to a led card has shown of the seat that replied.

    The game is cut down to the cards that matter: forehand holds the led card, the next seat the reply.
    """
    game = random_game(options, random.Random(0))
    forehand = (game.dealer + 1) % 3
    replier = (game.dealer + 2) % 3
    game.phase, game.to_act = "play", forehand
    game.hands[forehand], game.hands[replier] = {led}, {reply}
    game.play(led)
    game.play(reply)
    assert game.shown_lacks(forehand) == set()
    return game.shown_lacks(replier)


def test_a12_shown_lacks() -> None:
    """Voids, missing trumps and missing higher trumps are shown; the Fool and a led card show nothing."""
    high = set(trumps(9, 21))
    assert shown_after(SCARTO, "S5", "S2") == set()
    assert shown_after(SCARTO, "S5", "MT") == set()
    assert shown_after(SCARTO, "MT", "S2") == set()
    assert shown_after(SCARTO, "S5", "04") == CARDS_OF["S"]
    assert shown_after(SCARTO, "S5", "C4") == CARDS_OF["S"] | CARDS_OF["trump"]
    assert shown_after(SCARTO, "08", "C4") == CARDS_OF["trump"]
    assert shown_after(SCARTO, "08", "04") == high
    assert shown_after(SCARTO, "08", "12") == set()
    assert shown_after(Options(overtrump=False), "08", "04") == set()
    cheapest = Options(cheapest_overtrump=True)
    assert shown_after(cheapest, "08", "12") == set(trumps(9, 11))
    assert shown_after(cheapest, "08", "04") == high
    assert shown_after(cheapest, "S5", "04") == CARDS_OF["S"] | set(trumps(1, 3))
    assert shown_after(Options(trump_top=20), "21", "04") == {"20"}


def test_a13_lacks_are_what_would_forbid_the_card() -> None:
    """A card is shown to be missing exactly when holding it would have made the played card illegal."""
    rng = random.Random("lacks")
    for _ in range(400):
        options = random_options(rng)
        *trick, played = rng.sample(deck(options), rng.randint(2, options.players))
        lacks = proved_lacks(played, trick, options)
        for card in deck(options):
            assert (card in lacks) == (played not in legal_cards({card, played}, trick, options))


# --- Match --------------------------------------------------------------------------------------------


def test_a24_match_of_deals() -> None:
    """A match of three deals passes the deal on, and a tie shares the win."""
    match = Match(SCARTO, deals=3, first_dealer=2)
    for dealer, settled in ((2, [3, -3, 0]), (0, [0, 3, -3]), (1, [-1, 2, -1])):
        assert not match.over and match.winners == [] and match.dealer == dealer
        match.add(settled)
    assert match.over and match.totals == [2, 2, -4] and match.winners == [0, 1]
    with pytest.raises(ValueError, match="A24"):
        match.add([0, 0, 0])


def test_a24_match_to_a_target() -> None:
    """A tie for the lead at the target plays on until one leads alone; the cap shares the win."""
    match = Match(SCARTO, target=100)
    match.add([99, 0, -99])
    assert not match.over
    match.add([6, 105, -111])
    assert match.totals == [105, 105, -210] and not match.over
    match.add([1, 0, -1])
    assert match.over and match.winners == [0]
    capped = Match(SCARTO, target=100, max_deals=2)
    capped.add([50, 50, -100])
    capped.add([50, 50, -100])
    assert capped.over and capped.winners == [0, 1]


# --- Always true --------------------------------------------------------------------------------------

TOTALS = {"scarto": 81, "traditional": 78, "four_player": 81, "piccolo": 69, "free_fool": 81, "ultimo": 81}


def play_at_random(options: Options, rng: random.Random) -> Game:
    """Play a random deal and check all that is always true, whatever the options."""
    game = random_game(options, rng)
    fool_seat = None
    while game.phase != "over":
        legal = game.legal()
        assert game.to_act is not None
        assert legal and legal <= game.hands[game.to_act]
        card = rng.choice(sorted(legal))
        if card == FOOL:
            fool_seat = game.to_act
        game.play(card)
        for seat, hand in enumerate(game.hands):
            assert not game.shown_lacks(seat) & hand
    assert sorted(card for pile in game.piles for card in pile) == sorted(deck(options))
    assert len(game.tricks) == options.hand_size and not any(game.hands)
    assert sum(game.scores()) == sum(game.settled()) == 0
    if any(card == FOOL for _, card in game.tricks[-1][1]) and options.fool_lost_in_last_trick:
        fool_seat = game.tricks[-1][2]
    assert fool_seat is not None and FOOL in game.piles[fool_seat]
    return game


@pytest.mark.parametrize("preset", PRESETS)
def test_always_true(preset: str) -> None:
    """Random deals of every preset keep the list of what is always true."""
    options = PRESETS[preset]
    rng = random.Random(f"always true {preset}")
    for _ in range(60):
        game = play_at_random(options, rng)
        last_trick = [card for _, card in game.tricks[-1][1]]
        assert sum(game.points()) == TOTALS[preset] + ultimo_bonus(last_trick, options)
        if preset == "traditional":
            assert all(score.denominator == 1 for score in game.scores())


def test_always_true_for_any_mix() -> None:
    """Random deals of random options keep it too."""
    rng = random.Random("any mix")
    for _ in range(200):
        play_at_random(random_options(rng), rng)
