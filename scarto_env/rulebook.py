"""The rules in force as sentences, made from ``Rules``; RULES.md is the whole book."""

from __future__ import annotations

from fractions import Fraction

from scarto_env.cards import ROMAN
from scarto_env.notation import score_text
from scarto_env.rules import COURT_VALUES, EMPTY_VALUE, HONOUR_VALUE, ULTIMO_POINTS, Rules


def articles(rules: Rules) -> list[tuple[str, str]]:
    """Return (article, sentence) for everything that is played with these rules, in the book's order."""
    return [*_cards(rules), *_deal(rules), *_play(rules), *_count(rules)]


def _trumps(numbers: tuple[int, ...]) -> str:
    return f"trump{'s' if len(numbers) > 1 else ''} {_listed([ROMAN[number - 1] for number in numbers])}"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _cards(rules: Rules) -> list[tuple[str, str]]:
    deck = {
        "full": "78 cards: four suits of 14, trumps I to XXI, and the Fool (Il Matto)",
        "piccolo": "42 cards: trumps I to XXI, the Fool (Il Matto), the 16 courts and the best pip of each suit",
    }[rules.deck]
    top = "The highest trump is XXI" if rules.trump_top == len(ROMAN) else "XX beats XXI, which beats XIX"
    jack, knight, queen, king = COURT_VALUES
    worth = f"{_trumps(rules.honours)} {HONOUR_VALUE}, " if rules.honours else ""
    return [
        ("A1", f"{deck}."),
        ("A2", "Bastoni and Spade rank K Q C J 10 ... 1; Coppe and Denari K Q C J 1 ... 10."),
        ("A3", f"{top}."),
        (
            "A4",
            f"King {king}, queen {queen}, cavallo {knight}, fante {jack}, {worth}the Fool {rules.fool_value}; "
            f"every other card {EMPTY_VALUE} inside the count.",
        ),
    ]


def _deal(rules: Rules) -> list[tuple[str, str]]:
    never = ["kings"]
    if rules.discard_ban:
        never.append(_trumps(rules.discard_ban))
    if not rules.fool_discardable:
        never.append("the Fool")
    blocks = "no other trump and no Fool" if rules.bagatto_fool_blocks else "no other trump"
    fool = " The Fool may be laid away." if rules.fool_discardable else ""
    return [
        ("A5", f"{rules.players} seats, each for itself; the seat after the dealer leads the first trick."),
        ("A6", f"{rules.hand_size} cards each, {rules.talon_size} to the talon."),
        ("A8", f"The dealer takes up the talon and lays {rules.talon_size} cards away, known to the dealer alone."),
        (
            "A9",
            f"Never laid away: {_listed(never)}; the Bagatto (I) only from a full hand with {blocks}.{fool}",
        ),
    ]


def _play(rules: Rules) -> list[tuple[str, str]]:
    trump = "Without the led suit a trump must be played"
    if rules.overtrump:
        trump += ", one that beats the best trump there if possible"
    if rules.cheapest_overtrump:
        trump += "; a trump that beats must be the lowest that does"
    fool = "The Fool goes to the pile of the seat that played it"
    if rules.fool_lost_in_last_trick:
        fool += ", but to the winner of the trick if it falls in the last one"
    return [
        ("A12", "The led suit must be followed; there is no duty to win."),
        ("A13", f"{trump}."),
        ("A14", "With neither, any card."),
        ("A15", "The Fool may always be played, and is never forced unless it is the only card."),
        ("A16", "The highest trump wins the trick, else the highest card of the led suit; the Fool never wins."),
        ("A17", f"{fool}."),
        ("A18", f"The deal ends after {rules.tricks} tricks."),
    ]


def _par_with_bonus(rules: Rules) -> str:
    return score_text(Fraction(rules.total_points + ULTIMO_POINTS, rules.players), signed=False)


def _count(rules: Rules) -> list[tuple[str, str]]:
    leftover = {
        "exact": "cards left over cost 2/3 each",
        "whole": "one card left over costs nothing, two cost 1",
    }[rules.leftovers]
    par = score_text(rules.par, signed=False)
    pay = {
        "net": "The scores are what is paid.",
        "lowest_pays": "The lowest alone pay, in equal parts, what the positive scores receive.",
    }[rules.settlement]
    lines = [("A19", f"A pile counts its values less 2 for every three cards; {leftover}.")]
    if rules.ultimo != "off":
        card = {"bagatto": "the Bagatto", "bagatto_or_fool": "the Bagatto or the Fool"}[rules.ultimo]
        lines.append(("A20", f"{ULTIMO_POINTS} points more for winning a last trick with {card} in it."))
        par += f" ({_par_with_bonus(rules)} with the bonus)"
    lines.append(
        (
            "A21",
            f"{rules.total_points} points in all; the par is {par}. A score is points less the mean of all; "
            "scores sum to 0.",
        )
    )
    return [*lines, ("A22", pay), ("A23", "A seat wins the hand when its score is positive.")]
