"""Every worked example of the rules on the engine, one test an article, hands in card codes."""

import itertools
from fractions import Fraction

import pytest
from positions import (
    LAST,
    MIXES,
    begin,
    deal_in_order,
    exact_points,
    exact_scores,
    exact_settled,
    ids,
    legal_codes,
    mix,
    play_codes,
    play_in_order,
    table_position,
    trick_winner_at,
    words_codes,
)
from reference import ALL_CARDS, FOOL, deck

from scarto_env import PRESETS, Batch, Deal, IllegalActionError, Rules
from scarto_env.play import counted, set_value
from scarto_env.rules import card_set, rules_table
from scarto_env.state import DISCARD, OVER, PLAY

SCARTO, TRADITIONAL = PRESETS["scarto"], PRESETS["traditional"]


def exact(text: str) -> Fraction:
    """Return the number of ``"26 1/3"`` or ``"-3 1/3"``."""
    sign = -1 if text.startswith("-") else 1
    return sign * sum((Fraction(part) for part in text.lstrip("-").split()), Fraction(0))


def listed(text: str) -> list[Fraction]:
    """Return the numbers of a list separated by commas."""
    return [exact(part.strip()) for part in text.split(",")]


def pips(suit: str, first: int = 1, last: int = 10) -> list[str]:
    return [suit + ("T" if rank == 10 else str(rank)) for rank in range(first, last + 1)]


def trumps(first: int, last: int) -> list[str]:
    return [f"{number:02}" for number in range(first, last + 1)]


def pile_points(rules: Rules, pile: str | list[str]) -> Fraction:
    """Return the engine's count of a pile."""
    cards = ids(pile)
    table = rules_table(rules)[0]
    return Fraction(counted(set_value(*card_set(cards), table), len(cards), table), 3)


# --- The table and the deal (A5-A10) ------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4])
def test_s12_a5_the_seat_after_the_dealer_leads_and_play_goes_round(players: int) -> None:
    rules, options = mix("scarto" if players == 3 else "four_player")
    for dealer in range(players):
        batch = begin(rules, deal_in_order(options, ALL_CARDS, dealer))
        assert batch.seat[0] == dealer
        for _ in range(rules.talon_size):
            batch.step(batch.random_actions())
        turns = []
        for _ in range(players):
            turns.append(int(batch.seat[0]))
            batch.step(batch.random_actions())
        assert turns == [(dealer + 1 + turn) % players for turn in range(players)]


@pytest.mark.parametrize("preset", PRESETS)
def test_a6_sizes_of_the_deal(preset: str) -> None:
    rules = PRESETS[preset]
    deal = Batch(1, preset, seed=3).deal()
    assert [len(hand) for hand in deal.hands] == [rules.hand_size] * rules.players
    assert len(deal.talon) == rules.talon_size
    deal.check(rules)


@pytest.mark.parametrize("preset", PRESETS)
def test_a8_the_dealer_takes_up_the_talon_and_lays_away_as_many(preset: str) -> None:
    rules, options = MIXES[preset]
    batch = begin(rules, deal_in_order(options, deck(options), 1))
    game = batch.games[0]
    talon = words_codes(game.talon)
    full = words_codes(game.hand[1])
    assert talon < full and len(full) == rules.hand_size + rules.talon_size
    for _ in range(rules.talon_size):
        assert game.phase == DISCARD and batch.seat[0] == 1
        batch.step(batch.random_actions())
    assert game.phase == PLAY
    laid_away = words_codes(game.discarded)
    assert len(laid_away) == rules.talon_size
    assert words_codes(game.hand[1]) == full - laid_away


def dealer_position(rules: Rules, full_hand: str) -> Batch:
    """Return a batch whose dealer, seat 0, holds ``full_hand``; the others share the rest at will."""
    full = full_hand.split()
    rest = [card for card in ALL_CARDS if card not in full]
    return begin(rules, Deal([full[3:], rest[:25], rest[25:]], full[:3], 0))


NO_TRUMPS = " ".join([*pips("C"), *pips("D"), "B1 B2 B3 B4 CJ"])
"""25 plain cards, to which three more make a dealer's full hand."""


def test_a9_e7_lone_bagatto() -> None:
    alone = f"01 CK CQ {NO_TRUMPS}"
    assert "01" in legal_codes(dealer_position(SCARTO, alone))
    assert "01" in legal_codes(dealer_position(TRADITIONAL, alone))
    with_fool = f"01 MT CQ {NO_TRUMPS}"
    assert "01" in legal_codes(dealer_position(SCARTO, with_fool))
    assert "01" not in legal_codes(dealer_position(TRADITIONAL, with_fool))
    assert "MT" not in legal_codes(dealer_position(SCARTO, with_fool))
    assert "MT" in legal_codes(dealer_position(PRESETS["free_fool"], with_fool))


def test_a9_e7_bagatto_is_judged_once_on_the_full_hand() -> None:
    batch = dealer_position(SCARTO, f"01 02 CQ {NO_TRUMPS}")
    assert "02" in legal_codes(batch) and "01" not in legal_codes(batch)
    play_codes(batch, "02")
    assert "01" not in legal_codes(batch)
    with pytest.raises(IllegalActionError, match=r"seat 0 may not play 01: .*A9"):
        play_codes(batch, "01")
    play_codes(batch, "CQ C5")
    assert batch.games[0].phase == PLAY


def test_a9_e7_banned_cards() -> None:
    hand = f"20 21 CK {NO_TRUMPS}"
    assert legal_codes(dealer_position(SCARTO, hand)) == set(NO_TRUMPS.split())
    assert legal_codes(dealer_position(TRADITIONAL, hand)) == {*NO_TRUMPS.split(), "21"}
    queens = f"CQ DQ 19 {NO_TRUMPS}"
    assert legal_codes(dealer_position(SCARTO, queens)) == set(queens.split())


def test_s25_a8_the_order_of_laying_away_does_not_matter() -> None:
    rows = []
    for order in itertools.permutations(["CQ", "19", "C5"]):
        batch = dealer_position(SCARTO, f"CQ CK 19 {NO_TRUMPS}")
        for place, card in enumerate(order):
            assert card in legal_codes(batch) and batch.seat[0] == 0
            play_codes(batch, card)
            assert not legal_codes(batch) & set(order[: place + 1])
        rows.append(batch.games.tobytes() + batch.observation.tobytes())
    assert len(set(rows)) == 1


def test_a9_the_bagatto_may_be_laid_away_last_as_well() -> None:
    batch = dealer_position(SCARTO, f"01 CK CQ {NO_TRUMPS}")
    play_codes(batch, "CQ C2")
    assert "01" in legal_codes(batch)
    play_codes(batch, "01")
    assert words_codes(batch.games[0].discarded) == {"CQ", "C2", "01"}


# --- Legal cards (A11-A15) ----------------------------------------------------------------------------

E8 = [
    ("S5 S9 08 MT C2", "", "all", "all"),
    ("S5 08 MT C2", "ST", "S5 MT", "S5 MT"),
    ("03 09 C5", "SK 07", "09", "03 09"),
    ("03 09 C5 MT", "SK 07", "09 MT", "03 09 MT"),
    ("03 09 C5", "SK 12", "03 09", "03 09"),
    ("S2 15 C5", "SK 07", "S2", "S2"),
    ("03 09 20 C5", "08", "09 20", "03 09 20"),
    ("C5 D3 MT", "08", "all", "all"),
    ("S5 08 C2", "MT", "all", "all"),
    ("S5 08 C2 CT", "MT CK", "C2 CT", "C2 CT"),
    ("06 13 S2", "MT 11", "13", "06 13"),
    ("21 02 C3", "S4 20", "21", "21 02"),
]


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize(("hand", "trick", "overtrump", "free"), E8)
def test_a13_e8_legal_cards(hand: str, trick: str, overtrump: str, free: str, seat: int) -> None:
    for rules, expected in ((SCARTO, overtrump), (mix(overtrump=False).rules, free)):
        batch = table_position(rules, hand, trick, seat)
        assert batch.seat[0] == seat
        assert legal_codes(batch) == set((hand if expected == "all" else expected).split())


def test_a13_e8_cheapest_overtrump() -> None:
    rules = mix(cheapest_overtrump=True).rules
    assert legal_codes(table_position(rules, "03 09 20 C5", "08")) == {"09"}
    assert legal_codes(table_position(rules, "03 09 20 C5 MT", "SK 08")) == {"09", "MT"}
    assert legal_codes(table_position(rules, "03 09 20 C5", "SK")) == {"03"}  # No trump lies there yet.
    assert legal_codes(table_position(rules, "03 09 20 C5", "21")) == {"03", "09", "20"}
    free = mix(cheapest_overtrump=True, overtrump=False).rules
    assert legal_codes(table_position(free, "03 09 20 C5", "08")) == {"03", "09"}


def test_a13_cheapest_overtrump_with_the_angel_on_top() -> None:
    rules = mix(cheapest_overtrump=True, trump_top=20).rules
    assert legal_codes(table_position(rules, "20 21 C5", "19")) == {"21"}
    assert legal_codes(table_position(rules, "20 21 C5", "SK")) == {"21"}
    assert legal_codes(table_position(rules, "02 20 21", "21")) == {"20"}


def test_a3_e8_trump_top() -> None:
    assert legal_codes(table_position(SCARTO, "21 02 C3", "S4 20")) == {"21"}
    assert legal_codes(table_position(mix(trump_top=20).rules, "21 02 C3", "S4 20")) == {"21", "02"}


def test_s11_a13_the_duty_is_measured_against_the_best_trump() -> None:
    off = mix(overtrump=False).rules
    assert legal_codes(table_position(SCARTO, "16 12 04", "15 08")) == {"16"}
    assert legal_codes(table_position(SCARTO, "12 04", "15 08")) == {"12", "04"}
    assert legal_codes(table_position(off, "16 12 04", "15 08")) == {"16", "12", "04"}
    assert legal_codes(table_position(off, "12 04", "15 08")) == {"12", "04"}


def test_s02_a11_a_led_fool_fixes_no_suit() -> None:
    batch = table_position(SCARTO, "S5 C3 07", "MT", seat=1)
    assert legal_codes(batch) == {"S5", "C3", "07"}
    batch = table_position(SCARTO, "C9 S2 05", "MT C3", seat=2)
    assert legal_codes(batch) == {"C9"}


def test_a12_following_is_enough_even_when_the_trick_was_trumped() -> None:
    assert legal_codes(table_position(SCARTO, "S2 SQ 15 C5", "SK 07")) == {"S2", "SQ"}


def test_a14_anything_goes_without_suit_and_trumps() -> None:
    for trick in ("SK", "SK 07", "08", "MT SK"):
        assert legal_codes(table_position(SCARTO, "C5 D3", trick)) == {"C5", "D3"}


def test_a15_the_fool_is_always_allowed_and_forced_only_alone() -> None:
    for trick in ("", "SK", "SK 07", "08", "08 12"):
        for hand in ("S2 S4 MT", "05 19 MT", "C2 MT", "MT"):
            legal = legal_codes(table_position(SCARTO, hand, trick))
            assert FOOL in legal
            assert (legal == {FOOL}) == (hand == FOOL)


# --- Winners (A16, A17) -------------------------------------------------------------------------------


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
    for leader in range(3):
        assert trick_winner_at(SCARTO, trick, leader) == (leader + trick.split().index(winner)) % 3


def test_s04_a3_e9_trump_top() -> None:
    for top, winner in ((20, "20"), (21, "21")):
        rules = mix(trump_top=top).rules
        for order in itertools.permutations("21 20 19".split()):
            assert trick_winner_at(rules, " ".join(order), 0) == order.index(winner)
        assert trick_winner_at(rules, "20 21 01", 0) == "20 21 01".split().index(winner)
        assert trick_winner_at(rules, "19 21 18", 0) == 1  # XXI beats XIX either way.


@pytest.mark.parametrize("leader", [0, 1, 2])
@pytest.mark.parametrize(("trick", "place"), [("MT S5 SK", 2), ("MT SK S5", 1), ("MT 05 SK", 1), ("MT S5 03", 2)])
def test_s01_a16_a_led_fool_does_not_shift_the_winner(trick: str, place: int, leader: int) -> None:
    assert trick_winner_at(SCARTO, trick, leader) == (leader + place) % 3


@pytest.mark.parametrize("preset", ["scarto", "traditional"])
@pytest.mark.parametrize(("place", "winner"), list(itertools.permutations(range(3), 2)))
def test_s03_a17_the_fool_goes_to_the_pile_of_its_player(preset: str, place: int, winner: int) -> None:
    """Trick 10, led by seat 0: the Fool at every place, every other card winning."""
    trick = ["C2"] * 3
    trick[place], trick[winner] = "MT", "CK"
    batch = table_position(preset, trick[2], " ".join(trick[:2]), seat=2)
    play_codes(batch, trick[2])
    piles = [words_codes(batch.games.pile[0][seat]) for seat in range(3)]
    assert piles[winner] == {"CK", "C2"} and piles[place] == {"MT"}
    assert batch.games.leader[0] == batch.seat[0] == winner


def fool_in_last_trick(rules: Rules, trumped_with: str) -> Batch:
    """Play a deal whose last trick is SK led by seat 1, the given trump (01 or 02) by seat 2, MT by seat 0.

    Seat 2 wins with CK, leads its trumps and denari, and gives trick 24 to seat 1's C1 by leading CT.
    """
    other = "01" if trumped_with == "02" else "02"
    dealer_hand = [*pips("D"), "DJ", *pips("C", 3, 9), "B9", "BT", "BJ", "BC", "BQ", "BK", "MT"]
    forehand = ["C2", other, *pips("S"), "SJ", "SC", "SQ", *pips("B", 1, 8), "C1", "SK"]
    third_hand = ["CK", *reversed(trumps(3, 21)), "DK", "DQ", "DC", "CT", trumped_with]
    discard = ["CJ", "CC", "CQ"]
    orders = [dealer_hand, forehand, third_hand]
    batch = begin(rules, Deal(orders, discard, 0))
    play_in_order(batch, discard, orders)
    return batch


def test_a17_e3_fool_in_the_last_trick() -> None:
    for rules, owner, total in ((SCARTO, 2, 81), (TRADITIONAL, 0, 78)):
        batch = fool_in_last_trick(rules, "02")
        game = batch.games[0]
        assert [int(game.trick_of[card]) for card in ids("SK 02 MT")] == [25, 25, 25]
        assert game.leader == 2
        assert {"SK", "02"} <= words_codes(game.pile[2])
        assert FOOL in words_codes(game.pile[owner])
        assert sum(exact_points(batch)) == total
        assert sum(exact_scores(batch)) == 0


@pytest.mark.parametrize("lost", [True, False])
def test_a17_both_values_in_the_last_trick(lost: bool) -> None:
    rules = mix(fool_lost_in_last_trick=lost).rules
    batch = table_position(rules, "MT", "SK 02", seat=2, trick_number=LAST)
    play_codes(batch, "MT")
    gained = words_codes(batch.games.pile[0][1])
    assert gained >= {"SK", "02"} and (FOOL in gained) == lost
    assert (FOOL in words_codes(batch.games.pile[0][2])) != lost


def test_a18_the_deal_ends_after_the_last_trick() -> None:
    for preset, tricks in (("scarto", 25), ("four_player", 19), ("piccolo", 12)):
        batch = Batch(1, preset, seed=1, redeal=False)
        assert batch.play_out() == batch.rules.num_decisions
        assert batch.games[0].trick == tricks and batch.games[0].phase == OVER
        assert not batch.action_mask.any()


# --- The count (A19-A23) ------------------------------------------------------------------------------

E1_PILES = [
    ["SK", "BK", "SQ", "CQ", "SC", "SJ", "21", *pips("S"), *pips("B"), "02", "03", "04"],
    ["MT", "CK", "BQ", "CC", "CJ", "BJ", "01", *pips("C"), *trumps(5, 12)],
    ["DK", "DQ", "DC", "BC", "DJ", "20", *pips("D"), *trumps(13, 19)],
]


@pytest.mark.parametrize(
    ("pile", "points"),
    [("SK BC C5", "7"), ("C5 C6 D7", "1"), ("01 20 21", "13"), ("SK 02 D8", "5"), ("MT", "10/3"), ("C5", "1/3")],
)
def test_a19_piles_counted_exactly(pile: str, points: str) -> None:
    assert pile_points(SCARTO, pile) == exact(points)


def test_a19_whole_leftovers() -> None:
    assert pile_points(TRADITIONAL, "MT") == 4
    assert pile_points(TRADITIONAL, "SK C5") == 5
    assert pile_points(TRADITIONAL, "SK C5 C6") == 5
    assert pile_points(TRADITIONAL, "20 21 01") == 9


def count_e1(rules: Rules, leader: int, last_trick: str, discard: str = "D1 D2 D3") -> Batch:
    """Return a finished deal of E1's piles, C dealing, whose last trick is taken from its leader's pile."""
    table = rules_table(rules)[0]
    last = set(last_trick.split())
    piles = [set(pile) - last - set(discard.split()) for pile in E1_PILES]
    cards = [ids(pile) for pile in piles]
    first, second, third = last_trick.split()
    fields = {
        "pile": [*map(card_set, cards), (0, 0)],
        "pile_size": [*map(len, cards), 0],
        "pile_value": [*(set_value(*card_set(pile), table) for pile in cards), 0],
        "points": [*(counted(set_value(*card_set(p), table), len(p), table) for p in cards), 0],
        "discarded": card_set(ids(discard)),
    }
    seat = (leader + 2) % 3
    batch = table_position(rules, third, f"{first} {second}", seat, trick_number=LAST, dealer=2, **fields)
    play_codes(batch, third)
    assert [words_codes(batch.games[0].pile[seat]) for seat in range(3)] == [set(pile) for pile in E1_PILES]
    return batch


@pytest.mark.parametrize(("leader", "last_trick"), [(0, "21 S1 S2"), (1, "12 C1 C2"), (2, "19 D9 13")])
def test_a21_e1_partition_of_the_deck(leader: int, last_trick: str) -> None:
    batch = count_e1(SCARTO, leader, last_trick)
    assert exact_points(batch) == listed("31, 26 1/3, 23 2/3")
    assert exact_scores(batch) == exact_settled(batch) == listed("4, -2/3, -3 1/3")
    batch = count_e1(TRADITIONAL, leader, last_trick)
    assert exact_points(batch) == [27, 27, 24]
    assert exact_scores(batch) == [1, 1, -2]


def test_a20_e4_ultimo() -> None:
    for ultimo in ("bagatto", "bagatto_or_fool"):
        batch = count_e1(mix(ultimo=ultimo).rules, 1, "01 C1 C2")
        assert exact_points(batch) == listed("31, 31 1/3, 23 2/3")
        assert exact_scores(batch) == listed("2 1/3, 2 2/3, -5")
    assert exact_scores(count_e1(SCARTO, 1, "01 C1 C2")) == listed("4, -2/3, -3 1/3")


@pytest.mark.parametrize(
    ("ultimo", "trumped_with", "bonus"),
    [
        ("off", "01", 0),
        ("bagatto", "01", 5),
        ("bagatto", "02", 0),
        ("bagatto_or_fool", "02", 5),
        ("bagatto_or_fool", "01", 5),
    ],
)
def test_a20_the_bonus_is_given_once_to_the_winner_of_the_last_trick(
    ultimo: str, trumped_with: str, bonus: int
) -> None:
    plain = exact_points(fool_in_last_trick(SCARTO, trumped_with))
    batch = fool_in_last_trick(mix(ultimo=ultimo).rules, trumped_with)
    assert exact_points(batch) == [plain[0], plain[1], plain[2] + bonus]
    assert sum(exact_scores(batch)) == 0


@pytest.mark.parametrize("ultimo", ["bagatto", "bagatto_or_fool"])
def test_a20_the_dealer_too_gets_bonus_and_discard(ultimo: str) -> None:
    """The dealer's pile is counted anew with the discard; the bonus must survive that."""
    rules = mix(ultimo=ultimo).rules
    batch = table_position(
        rules, "C2", "01 C1", seat=1, trick_number=LAST, dealer=2, discarded=card_set(ids("CQ DQ BQ"))
    )
    play_codes(batch, "C2")
    assert batch.games.leader[0] == 2
    assert exact_points(batch)[2] == pile_points(rules, "01 C1 C2 CQ DQ BQ") + 5


def sweep(rules: Rules, dealer: int, discard: str, fool: str = "last") -> Batch:
    """Play a deal in which seat 0 takes every trick with all the trumps and the kings.

    Seat ``dealer`` takes up ``discard`` and lays it away again; seat 2 plays the Fool as its first or
    its last card, as ``fool`` says.
    """
    strong = ["CK", "DK", "BK", "SK", *trumps(1, 21)]
    rest = [card for card in ALL_CARDS if card not in {*strong, *discard.split(), FOOL}]
    hands = [strong, rest[:25], [*rest[25:], FOOL]]
    orders = [list(reversed(strong)), hands[1], hands[2] if fool == "last" else [FOOL, *hands[2]]]
    batch = begin(rules, Deal(hands, discard.split(), dealer))
    play_in_order(batch, discard.split(), orders)
    return batch


def test_a21_e2_a_seat_without_a_trick() -> None:
    batch = sweep(SCARTO, 0, "C2 D2 B2", fool="first")
    assert words_codes(batch.games[0].pile[2]) == {FOOL}
    assert exact_scores(batch)[1:] == listed("-27, -23 2/3")
    assert exact_scores(sweep(TRADITIONAL, 0, "C2 D2 B2", fool="first"))[1:] == [-26, -22]


def test_a21_e5_a_seat_takes_all() -> None:
    assert exact_scores(sweep(SCARTO, 0, "C2 D2 B2")) == [54, -27, -27]
    assert exact_scores(sweep(SCARTO, 1, "C2 D2 B2")) == [53, -26, -27]
    assert exact_scores(sweep(SCARTO, 1, "CQ DQ BQ")) == [44, -17, -27]


@pytest.mark.parametrize("fool", ["first", "last"])
def test_s06_a10_the_discard_is_counted_for_the_dealer(fool: str) -> None:
    batch = sweep(TRADITIONAL, 1, "CQ DQ BQ", fool)
    assert words_codes(batch.games[0].pile[1]) == {"CQ", "DQ", "BQ"}
    assert exact_points(batch)[1] == 10
    assert sum(exact_points(batch)) == 78
    batch = sweep(TRADITIONAL, 2, "CQ DQ BQ", fool)
    assert exact_points(batch)[2] == 14  # With the Fool, which is counted whole.


def finished(rules: Rules, points: list[Fraction]) -> Batch:
    """Return a deal that ends with these points, seat 0 dealing and the last seat taking four or three empties."""
    trick = ["S1", "S2", "S3", "S4"][: rules.players]
    discard = ["C5", "C6", "C7"][: rules.talon_size]
    gains = [len(discard), *[0] * (rules.players - 2), len(trick)]  # Empties: as many points as cards.
    sizes, values = [0] * 4, [0] * 4
    for seat, total in enumerate(points):
        size = next(size for size in range(4, 7) if (3 * total + 2 * size) % 3 == 0)
        sizes[seat] = size - gains[seat]
        values[seat] = int(total + Fraction(2 * size, 3)) - gains[seat]
    fields = {"pile_size": sizes, "pile_value": values, "discarded": card_set(ids(discard))}
    batch = table_position(
        rules, trick[-1], " ".join(trick[:-1]), rules.players - 1, trick_number=LAST, **fields,
        points=[counted(value, size, rules_table(rules)[0]) for value, size in zip(values, sizes, strict=True)],
    )  # fmt: skip
    play_codes(batch, trick[-1])
    assert exact_points(batch) == points
    return batch


@pytest.mark.parametrize(
    ("scores", "settled"),
    [([10, -3, -7], [10, 0, -10]), ([6, 1, -7], [6, 1, -7]), ([10, -5, -5], [10, -5, -5]), ([0, 0, 0], [0, 0, 0])],
)
def test_a22_e6_settlement(scores: list[int], settled: list[int]) -> None:
    points = [27 + score for score in scores]
    for order in itertools.permutations(range(3)):
        turned = [Fraction(points[place]) for place in order]
        batch = finished(mix(settlement="lowest_pays").rules, turned)
        assert exact_scores(batch) == [scores[place] for place in order]
        assert exact_settled(batch) == [settled[place] for place in order]
        assert exact_settled(finished(SCARTO, turned)) == [scores[place] for place in order]


@pytest.mark.parametrize(
    ("points", "settled"),
    [
        ("30, 17, 17, 17", "9 3/4, -3 1/4, -3 1/4, -3 1/4"),
        ("25, 24, 20, 12", "4 3/4, 3 3/4, 0, -8 1/2"),
        ("40, 21, 10, 10", "19 3/4, 3/4, -10 1/4, -10 1/4"),
    ],
)
def test_a22_lowest_pays_with_four_players(points: str, settled: str) -> None:
    rules = mix("four_player", settlement="lowest_pays").rules
    batch = finished(rules, listed(points))
    assert exact_settled(batch) == listed(settled)
    assert sum(exact_settled(batch)) == 0


def test_a21_e10_four_players() -> None:
    batch = finished(PRESETS["four_player"], listed("27, 20 1/3, 18 2/3, 15"))
    assert exact_scores(batch) == listed("6 3/4, 1/12, -1 7/12, -5 1/4")


@pytest.mark.parametrize("preset", PRESETS)
def test_a23_the_seats_with_a_positive_score_win(preset: str) -> None:
    """More than one seat may win a deal, and the points of every seat come from its own pile alone."""
    rules, options = MIXES[preset]
    batch = Batch(200, preset, seed=5, redeal=False)
    batch.play_out()
    table = rules_table(rules)[0]
    num_winners = set()
    for game in range(len(batch)):
        row = batch.games[game]
        bonus = 0
        for seat in range(rules.players):
            pile = words_codes(row.pile[seat])
            extra = exact_points(batch, game)[seat] - pile_points(rules, pile)
            assert extra in {0, 5} and (extra == 0 or seat == row.leader)
            bonus += extra
        assert bonus == 0 or options.ultimo != "off"
        num_winners.add(sum(score > 0 for score in exact_scores(batch, game)))
        assert sum(row.pile_size.tolist()) == table.deck_size
    assert {1, 2} <= num_winners
