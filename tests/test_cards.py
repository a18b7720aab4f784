"""The deck: ids, order, codes and names (A1, A2)."""

import itertools

import numpy as np
import pytest
from positions import ID, ids, trick_winner_at

from scarto_env.cards import CODES, STRENGTH, SUIT, card_code, card_name, parse_card, suit_name
from scarto_env.rules import PRESETS, deck_cards

WEAKEST_FIRST = {
    "C": "CT C9 C8 C7 C6 C5 C4 C3 C2 C1 CJ CC CQ CK",
    "D": "DT D9 D8 D7 D6 D5 D4 D3 D2 D1 DJ DC DQ DK",
    "B": "B1 B2 B3 B4 B5 B6 B7 B8 B9 BT BJ BC BQ BK",
    "S": "S1 S2 S3 S4 S5 S6 S7 S8 S9 ST SJ SC SQ SK",
}
TRUMPS_AND_FOOL = "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 MT"


def test_a1_ids_follow_the_suits_by_rising_strength() -> None:
    assert list(CODES) == " ".join([*WEAKEST_FIRST.values(), TRUMPS_AND_FOOL]).split()
    assert len(set(CODES)) == 78


def test_a1_suits() -> None:
    assert [int(SUIT[ID[code]]) for code in "C5 DK B1 SQ 01 21 MT".split()] == [0, 1, 2, 3, 4, 4, 5]
    assert not SUIT.flags.writeable and not STRENGTH.flags.writeable


def test_a1_piccolo_deck() -> None:
    deck = {CODES[card] for card in deck_cards(PRESETS["piccolo"])}
    courts = {suit + rank for suit in "CDBS" for rank in "KQCJ"}
    assert deck == courts | {"BT", "ST", "C1", "D1"} | set(TRUMPS_AND_FOOL.split())
    assert deck_cards(PRESETS["scarto"]) == tuple(range(78))


@pytest.mark.parametrize("suit", "CDBS")
def test_s05_a2_every_pair_of_a_suit(suit: str) -> None:
    """All 91 pairs against the hand-written order, each card led and each card following."""
    order = WEAKEST_FIRST[suit].split()
    for weak, strong in itertools.combinations(order, 2):
        assert trick_winner_at("scarto", f"{weak} {strong} MT", leader=0) == 1, (weak, strong)
        assert trick_winner_at("scarto", f"{strong} {weak} MT", leader=0) == 0, (strong, weak)


@pytest.mark.parametrize(
    ("cards", "best"),
    [("C1 C9 CT", "C1"), ("S1 S9 ST", "ST"), ("DJ D1 D2", "DJ"), ("B2 BJ BT", "BJ"), ("DT D9 D1", "D1")],
)
def test_s05_a2_round_and_long_suits(cards: str, best: str) -> None:
    for order in itertools.permutations(cards.split()):
        assert trick_winner_at("scarto", " ".join(order), leader=0) == order.index(best)


def test_codes_and_ids_both_ways() -> None:
    for card, code in enumerate(CODES):
        assert card_code(card) == code
        assert parse_card(code) == parse_card(code.lower()) == parse_card(f" {code} ") == card
        assert card_code(np.int8(card)) == code
    assert parse_card("7") == parse_card("07") == ids("07")[0]


@pytest.mark.parametrize("text", ["", "S", "SX", "22", "00", "0", "MT MT", "S10", "KS", "É1", "¹", "٣"])
def test_what_is_no_code_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no card code"):
        parse_card(text)


@pytest.mark.parametrize("text", [None, 5, b"SK", ["SK"], 1.5])
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is no card code: expected text"):
        parse_card(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("card", [-1, 78, 1.0, True, None, "SK", np.float64(3), np.True_])
def test_what_is_no_card_is_refused(card: object) -> None:
    for function in (card_code, card_name):
        with pytest.raises(ValueError, match="is no card: expected a whole number"):
            function(card)  # type: ignore[operator]


def test_names() -> None:
    names = {language: [card_name(card, language) for card in range(78)] for language in ("it", "en", "es", "fr")}  # type: ignore[arg-type]
    for listed in names.values():
        assert len(set(listed)) == 78
    assert names["it"][ID["SK"]] == "Re di spade"
    assert names["it"][ID["C1"]] == "Asso di coppe"
    assert names["it"][ID["01"]] == "I Bagatto" and names["it"][ID["20"]] == "XX Angelo"
    assert names["it"][ID["MT"]] == "Il Matto"
    assert names["es"][ID["BJ"]] == "Sota de bastos"
    assert names["en"][ID["D7"]] == "Seven of coins"
    assert [names["fr"][ID[code]] for code in "S5 B5 C5 D5".split()] == [
        "Five of spades", "Five of clubs", "Five of hearts", "Five of diamonds",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="language 'de' is unknown"):
        card_name(0, "de")  # type: ignore[arg-type]
    assert suit_name(4, "it") == "trionfi" and suit_name(3, "en") == "swords"
