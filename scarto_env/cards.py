"""The deck: 78 cards, their suits, strengths, codes and names (A1, A2).

A card is a number 0..77, the same in every preset.  Suits of 14 come first, each by
rising strength, then the trumps by number, then the Fool.  A suit's index 0 is its weakest
card: the ace of a long suit, the ten of a round one; index 13 is the king.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Language = Literal["it", "en", "es", "fr"]

NUM_CARDS: Final = 78
NUM_SUITS: Final = 4
SUIT_SIZE: Final = 14
NUM_TRUMPS: Final = 21

COPPE: Final = 0
DENARI: Final = 1
BASTONI: Final = 2
SPADE: Final = 3
TRUMPS: Final = 4
NO_SUIT: Final = 5
ROUND_SUITS: Final = (COPPE, DENARI)

NO_CARD: Final = -1
FIRST_TRUMP: Final = NUM_SUITS * SUIT_SIZE
BAGATTO: Final = FIRST_TRUMP
FOOL: Final = FIRST_TRUMP + NUM_TRUMPS

SUIT_BITS: Final = (1 << SUIT_SIZE) - 1
"""A whole suit, as a set of cards, before it is shifted to its place."""
ALL_TRUMPS: Final = (1 << NUM_TRUMPS) - 1
BAGATTO_BIT: Final = 1
FOOL_BIT: Final = 1 << NUM_TRUMPS
"""Among the tarocchi, which are the trumps and the Fool: bit = card - FIRST_TRUMP."""

JACK_STRENGTH: Final = 10
KING_STRENGTH: Final = 13


def _read_only(values: list[int], dtype: type[np.generic] = np.int64) -> NDArray[np.int64]:
    table = np.array(values, dtype=dtype)
    table.flags.writeable = False
    return table


SUIT: Final = _read_only(
    [suit for suit in range(NUM_SUITS) for _ in range(SUIT_SIZE)] + [TRUMPS] * NUM_TRUMPS + [NO_SUIT]
)
"""Suit of each card: 0..3, ``TRUMPS`` or, for the Fool, ``NO_SUIT``."""

STRENGTH: Final = _read_only(
    [strength for _ in range(NUM_SUITS) for strength in range(SUIT_SIZE)] + list(range(1, NUM_TRUMPS + 1)) + [0]
)
"""Order within the suit (A2); for trumps the printed number (A3 may swap XX and XXI)."""

_SUIT_LETTERS: Final = "CDBS"
_COURTS: Final = "JCQK"
_PIPS: Final = "123456789T"


def _rank_letters(suit: int) -> str:
    """Return the 14 rank letters of ``suit`` by rising strength (A2)."""
    pips = _PIPS[::-1] if suit in ROUND_SUITS else _PIPS
    return pips + _COURTS


CODES: Final[tuple[str, ...]] = (
    *(letter + rank for suit, letter in enumerate(_SUIT_LETTERS) for rank in _rank_letters(suit)),
    *(f"{number:02d}" for number in range(1, NUM_TRUMPS + 1)),
    "MT",
)
"""Code of each card: ``"SK"``, ``"07"``, ``"MT"``."""

_CARD_OF_CODE: Final = {code: card for card, code in enumerate(CODES)}

_SUIT_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "it": ("coppe", "denari", "bastoni", "spade"),
    "en": ("cups", "coins", "batons", "swords"),
    "es": ("copas", "oros", "bastos", "espadas"),
    "fr": ("hearts", "diamonds", "clubs", "spades"),
}
_RANK_NAMES: Final[dict[str, dict[str, str]]] = {
    "it": {
        "K": "Re", "Q": "Regina", "C": "Cavallo", "J": "Fante", "T": "Dieci", "9": "Nove", "8": "Otto",
        "7": "Sette", "6": "Sei", "5": "Cinque", "4": "Quattro", "3": "Tre", "2": "Due", "1": "Asso",
    },
    "en": {
        "K": "King", "Q": "Queen", "C": "Knight", "J": "Jack", "T": "Ten", "9": "Nine", "8": "Eight",
        "7": "Seven", "6": "Six", "5": "Five", "4": "Four", "3": "Three", "2": "Two", "1": "Ace",
    },
    "es": {
        "K": "Rey", "Q": "Reina", "C": "Caballo", "J": "Sota", "T": "Diez", "9": "Nueve", "8": "Ocho",
        "7": "Siete", "6": "Seis", "5": "Cinco", "4": "Cuatro", "3": "Tres", "2": "Dos", "1": "As",
    },
}  # fmt: skip
_RANK_NAMES["fr"] = _RANK_NAMES["en"]
_TRUMP_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "it": (
        "Bagatto", "Papessa", "Imperatrice", "Imperatore", "Papa", "Amanti", "Carro", "Giustizia", "Eremita",
        "Ruota", "Forza", "Appeso", "Morte", "Temperanza", "Diavolo", "Torre", "Stelle", "Luna", "Sole",
        "Angelo", "Mondo",
    ),
    "en": (
        "Magician", "Popess", "Empress", "Emperor", "Pope", "Lovers", "Chariot", "Justice", "Hermit", "Wheel",
        "Strength", "Hanged Man", "Death", "Temperance", "Devil", "Tower", "Stars", "Moon", "Sun", "Angel",
        "World",
    ),
    "es": (
        "Mago", "Papisa", "Emperatriz", "Emperador", "Papa", "Enamorados", "Carro", "Justicia", "Ermitaño",
        "Rueda", "Fuerza", "Colgado", "Muerte", "Templanza", "Diablo", "Torre", "Estrellas", "Luna", "Sol",
        "Ángel", "Mundo",
    ),
}  # fmt: skip
_TRUMP_NAMES["fr"] = _TRUMP_NAMES["en"]
_FOOL_NAMES: Final = {"it": "Il Matto", "en": "The Fool", "es": "El Loco", "fr": "The Fool"}
_OF: Final = {"it": "di", "en": "of", "es": "de", "fr": "of"}
ROMAN: Final = (
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI",
    "XVII", "XVIII", "XIX", "XX", "XXI",
)  # fmt: skip
"""Roman numerals of the trumps I..XXI."""


def card_code(card: int) -> str:
    """Return the two-character code of a card.

    Raises:
        ValueError: ``card`` is not a whole number 0..77.

    >>> card_code(55), card_code(62), card_code(77)
    ('SK', '07', 'MT')
    """
    return CODES[_checked(card)]


def parse_card(text: str) -> int:
    """Return the card named by a code, in either case and with a trump's zero left out or not.

    Raises:
        ValueError: the text names no card.

    >>> parse_card("SK"), parse_card("07"), parse_card("mt")
    (55, 62, 77)
    """
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no card code: expected text such as 'SK', '07' or 'MT'")
    code = text.strip().upper() if text.isascii() else text
    if re.fullmatch(r"[0-9]", code):
        code = "0" + code
    card = _CARD_OF_CODE.get(code)
    if card is None:
        raise ValueError(
            f"{text!r} is no card code: expected a suit C, D, B or S with a rank K Q C J T 9..1, "
            "a trump 01..21, or MT for the Fool"
        )
    return card


def card_name(card: int, language: Language = "it") -> str:
    """Return the name a player would say, with a trump's numeral.

    Args:
        card: card 0..77.
        language: ``"it"``, ``"en"``, ``"es"``, or ``"fr"`` for the French-suited deck named in English.

    Raises:
        ValueError: no such card or language.

    >>> card_name(55), card_name(76, "en"), card_name(77, "es")
    ('Re di spade', 'XXI World', 'El Loco')
    """
    card = _checked(card)
    if language not in _SUIT_NAMES:
        raise ValueError(f"language {language!r} is unknown: expected one of {', '.join(_SUIT_NAMES)}")
    if card == FOOL:
        return _FOOL_NAMES[language]
    if card >= FIRST_TRUMP:
        number = card - FIRST_TRUMP
        return f"{ROMAN[number]} {_TRUMP_NAMES[language][number]}"
    suit = card // SUIT_SIZE
    rank = _RANK_NAMES[language][CODES[card][1]]
    return f"{rank} {_OF[language]} {_SUIT_NAMES[language][suit]}"


def suit_name(suit: int, language: Language = "it") -> str:
    """Return the name of suit 0..3, or of the trumps for ``TRUMPS``."""
    if suit == TRUMPS:
        return {"it": "trionfi", "en": "trumps", "es": "triunfos", "fr": "trumps"}[language]
    return _SUIT_NAMES[language][suit]


def _checked(card: int) -> int:
    if isinstance(card, (int, np.integer)) and not isinstance(card, bool) and 0 <= card < NUM_CARDS:
        return int(card)
    raise ValueError(f"{card!r} is no card: expected a whole number 0..{NUM_CARDS - 1}")
