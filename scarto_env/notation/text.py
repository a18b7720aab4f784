"""Cards, hands, deals, scores and rules as text, both ways."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from scarto_env.cards import FIRST_TRUMP, FOOL, SUIT_SIZE, card_code, parse_card
from scarto_env.deal import Deal
from scarto_env.rules import PRESETS, Rules, as_rules

_WORDS = {True: "yes", False: "no"}
_SCORE = re.compile(r"([+-]?)(?:(\d+)(?: (\d+)/(\d+))?|(\d+)/(\d+))")


def in_order(cards: Iterable[int]) -> tuple[int, ...]:
    """Return cards as a player holds them: suit by suit from the king down, then the trumps from XXI, the Fool.

    >>> in_order([77, 0, 56, 13])
    (13, 0, 56, 77)
    """
    return tuple(sorted(cards, key=lambda card: (_group(card), -card)))


def _group(card: int) -> int:
    return card // SUIT_SIZE if card < FIRST_TRUMP else FIRST_TRUMP + (card == FOOL)


def cards_text(cards: Iterable[int]) -> str:
    """Return codes in the order given.

    >>> cards_text([55, 62, 77])
    'SK 07 MT'
    """
    return " ".join(card_code(card) for card in cards)


def parse_cards(text: str) -> tuple[int, ...]:
    """Return the cards of codes between spaces, commas or bars, in their order.

    Raises:
        ValueError: a word is no card code.

    >>> parse_cards("SK, 07 | mt")
    (55, 62, 77)
    """
    return tuple(parse_card(word) for word in re.split(r"[\s,|]+", text) if word)


def hand_text(cards: Iterable[int]) -> str:
    """Return a hand for people: suits, trumps and the Fool set apart; ``parse_cards`` reads it.

    >>> hand_text([77, 0, 56, 13])
    'CK CT | 01 | MT'
    """
    groups: dict[int, list[int]] = {}
    for card in in_order(cards):
        groups.setdefault(_group(card), []).append(card)
    return " | ".join(cards_text(group) for group in groups.values())


def deal_text(deal: Deal) -> str:
    """Return a deal on one line: dealer, hands by seat, talon."""
    hands = "; ".join(cards_text(in_order(hand)) for hand in deal.hands)
    return f"dealer {deal.dealer}; {hands}; talon {cards_text(in_order(deal.talon))}"


def parse_deal(text: str) -> Deal:
    """Return the deal that ``deal_text`` wrote.

    Raises:
        ValueError: the text is no deal; the message says what was expected.
    """
    first, *hands, last = re.split(r"\s*;\s*", text.strip()) if text.count(";") > 1 else (text, "")
    dealer = re.fullmatch(r"dealer\s+(\d)", first)
    if dealer is None or not last.startswith("talon"):
        raise ValueError(f"{text[:60]!r} is no deal: expected 'dealer N; hand 0; hand 1; ...; talon ...'")
    talon = last.removeprefix("talon")
    return Deal(tuple(parse_cards(hand) for hand in hands), parse_cards(talon), int(dealer[1]))


def score_text(score: Fraction, signed: bool = True) -> str:
    """Return a score with its thirds as people write it.

    >>> score_text(Fraction(-10, 3)), score_text(Fraction(4)), score_text(Fraction(79, 3), signed=False)
    ('-3 1/3', '+4', '26 1/3')
    """
    whole, part = divmod(abs(score.numerator), score.denominator)
    sign = "-" if score < 0 else "+" if signed and score else ""
    if not part:
        return f"{sign}{whole}"
    return f"{sign}{f'{whole} ' if whole else ''}{part}/{score.denominator}"


def parse_score(text: str) -> Fraction:
    """Return the number that ``score_text`` wrote.

    Raises:
        ValueError: the text is no such number.

    >>> parse_score("-3 1/3")
    Fraction(-10, 3)
    """
    found = _SCORE.fullmatch(text.strip())
    if found is None or "0" in (found[4], found[6]):
        raise ValueError(f"{text!r} is no score: expected such as '+4', '-2/3' or '-3 1/3'")
    sign, whole, part, of, only_part, only_of = found.groups()
    size = Fraction(int(whole or 0)) + Fraction(int(part or only_part or 0), int(of or only_of or 1))
    return -size if sign == "-" else size


def scores_text(scores: Iterable[Fraction]) -> str:
    """Return the scores of all seats, set apart by semicolons."""
    return "; ".join(map(score_text, scores))


@functools.cache
def rules_text(rules: Rules) -> tuple[str, str]:
    """Return the nearest preset's name and the options that differ from it.

    >>> rules_text(Rules(overtrump=False))
    ('scarto', 'overtrump=no')
    """
    names = [field.name for field in dataclasses.fields(Rules)]
    differing = {
        preset: [name for name in names if getattr(like, name) != getattr(rules, name)]
        for preset, like in PRESETS.items()
    }
    nearest = min(differing, key=lambda preset: len(differing[preset]))
    return nearest, "; ".join(f"{name}={value_text(getattr(rules, name))}" for name in differing[nearest])


def value_text(value: Any) -> str:
    """Return the value of a rule as text.

    >>> value_text(True), value_text((1, 20)), value_text("net")
    ('yes', '1 20', 'net')
    """
    if isinstance(value, bool):
        return _WORDS[value]
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@functools.cache
def parse_rules(preset: str, options: str = "") -> Rules:
    """Return a preset's rules with options changed, as ``rules_text`` gives them.

    Raises:
        ValueError: names the preset, the option or the value that is not allowed.

    >>> parse_rules("scarto", "overtrump=no; honours=1 20").honours
    (1, 20)
    """
    rules = as_rules(preset)
    known = {field.name: getattr(rules, field.name) for field in dataclasses.fields(Rules)}
    changed = {}
    for option in filter(None, (part.strip() for part in options.split(";"))):
        name, equals, value = (part.strip() for part in option.partition("="))
        if not equals or name not in known:
            raise ValueError(f"option {option!r} is unknown: expected NAME=VALUE with one of {', '.join(known)}")
        changed[name] = _parse_value(name, value, known[name])
    return dataclasses.replace(rules, **changed)


def _parse_value(name: str, text: str, like: Any) -> Any:
    if isinstance(like, bool):
        for value, word in _WORDS.items():
            if text.lower() in (word, str(value).lower()):
                return value
        raise ValueError(f"{name}={text!r} is not allowed: expected yes or no")
    try:
        if isinstance(like, tuple):
            return tuple(int(number) for number in text.split())
        return type(like)(text)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not allowed: expected whole numbers") from None
