"""A view of the table as text for a terminal of any width, with or without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final

from scarto_env.cards import NO_SUIT, SUIT, TRUMPS, card_code, suit_name
from scarto_env.notation import Trick, score_text
from scarto_env.render.view import Count, TableView

DEFAULT_WIDTH: Final = 80
_RESET: Final = "\x1b[0m"
_PAINTS: Final = {
    0: "31",  # cups
    1: "33",  # coins
    2: "32",  # batons
    3: "36",  # swords
    TRUMPS: "35",
    NO_SUIT: "1",
}
_STRONG: Final = "1"
_FAINT: Final = "2"
_LABEL: Final = 10
"""Columns of a suit's name before its cards."""
_TABLE: Final = "On the table:"
_LAST: Final = "Last trick:"
_COUNT_COLUMNS: Final = (28, 11, 9, 14, 0)
_WIDE: Final = 76
"""Columns from which a seat's count stands on one line."""


class Pen:
    """Writes cards and words, in colour or without.

    Args:
        colour: use ANSI colours; without them nothing that the text says is lost.
        width: columns of the terminal.
    """

    def __init__(self, colour: bool = True, width: int = DEFAULT_WIDTH) -> None:
        self.colour, self.width = colour, max(width, 20)

    def paint(self, text: str, code: str) -> str:
        """Return text in a colour."""
        return f"\x1b[{code}m{text}{_RESET}" if self.colour else text

    def strong(self, text: str) -> str:
        """Return text set off."""
        return self.paint(text, _STRONG)

    def faint(self, text: str) -> str:
        """Return text that may be overlooked."""
        return self.paint(text, _FAINT)

    def card(self, card: int, marked: bool = False) -> str:
        """Return a card's code in the colour of its suit; in brackets if marked."""
        code = card_code(card)
        paint = _PAINTS[int(SUIT[card])]
        return self.paint(f"[{code}]", f"{_STRONG};{paint}") if marked else self.paint(code, paint)

    def cards(self, cards: Iterable[int]) -> str:
        """Return cards between spaces."""
        return " ".join(map(self.card, cards))

    def wrapped(self, label: str, words: Sequence[tuple[str, int]], indent: int = _LABEL) -> list[str]:
        """Return a label and words, given with the columns each takes, in lines that fit the width."""
        lines, columns = [f"{label:<{indent}}"], max(indent, len(label))
        for word, size in words:
            if columns + size + 1 > self.width and columns > indent:
                lines.append(" " * indent)
                columns = indent
            lines[-1] += f"{word} "
            columns += size + 1
        return [line.rstrip() for line in lines]

    def sentence(self, text: str) -> list[str]:
        """Return words in lines that fit the width."""
        return self.wrapped("", [(word, len(word)) for word in text.split()], 0)


def render_ansi(view: TableView, colour: bool = True, width: int = DEFAULT_WIDTH) -> str:
    """Return the table as text that ends with a line's end.

    Args:
        view: what is shown.
        colour: use ANSI colours.
        width: columns to fit, from 20 on.
    """
    pen = Pen(colour, width)
    parts = [head_lines, seat_lines, trick_lines, hand_lines, exchange_lines, count_lines]
    blocks = ["\n".join(part(view, pen)) for part in parts]
    return "\n\n".join(filter(None, blocks)) + "\n"


def head_lines(view: TableView, pen: Pen) -> list[str]:
    """Return the preset, what it says of the top trumps and the count, and where the deal stands."""
    lines = pen.wrapped("", [(pen.strong(view.rules), len(view.rules))], 0)
    lines += pen.wrapped("", [(f"{part};", len(part) + 1) for part in view.facts.split("; ")], 0)
    lines[-1] = lines[-1].removesuffix(";")
    return [*lines, *pen.sentence(f"Deal {view.number + 1}: {_stage(view)}")]


def _stage(view: TableView) -> str:
    if view.to_act is None:
        return "over"
    name = view.seats[view.to_act].name
    if view.phase == "discard":
        return f"{name} lays away, {view.num_discarded} so far"
    return f"trick {len(view.tricks) + 1}, {name} plays"


def seat_lines(view: TableView, pen: Pen) -> list[str]:
    """Return a line a seat: who acts, name, role, cards held, tricks and points so far."""
    names = min(max(len(seat.name) for seat in view.seats), pen.width // 3)
    lines = []
    for seat in view.seats:
        mark = ">" if seat.seat == view.to_act else " "
        you = " (you)" if seat.seat == view.viewer else ""
        points = score_text(seat.points, signed=False)
        words = [
            f"{seat.role}{you}",
            f"{seat.hand_size} cards",
            _number(seat.num_tricks, "trick"),
            f"{points} points",
        ]
        if any(other.total for other in view.seats):
            words.append(f"total {score_text(seat.total)}")
        label = f"{mark} {seat.name[:names]:<{names}}  "
        text = [f"{word}," for word in words[:-1]] + words[-1:]
        lines += pen.wrapped(label, [(word, len(word)) for word in text], len(label))
    return lines


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def trick_lines(view: TableView, pen: Pen) -> list[str]:
    """Return the trick on the table and the one before it."""
    lines = []
    if view.trick:
        lines += trick_line(view, view.trick, pen, _TABLE, view.winning)
    if view.last_trick:
        lines += trick_line(view, view.last_trick, pen, f"{_LAST:<{len(_TABLE)}}", view.last_trick.winner)
    return lines


def trick_line(view: TableView, trick: Trick, pen: Pen, label: str, winning: int | None) -> list[str]:
    """Return who played what, the best card marked."""
    words = []
    for turn, card in enumerate(trick.cards):
        seat = (trick.leader + turn) % view.players
        best = seat == winning
        name = view.seats[seat].name
        words.append((f"{name} {pen.card(card, best)} ", len(name) + 4 + 2 * best))
    if trick.winner is not None:
        taken = f"taken by {view.seats[trick.winner].name}"
        words.append((taken, len(taken)))
    return pen.wrapped(f"{label} ", words, len(label) + 1)


def hand_lines(view: TableView, pen: Pen) -> list[str]:
    """Return the hands that may be seen: the viewer's by suit with the legal cards in brackets, others in a row."""
    lines: list[str] = []
    for seat in view.seats:
        if not seat.hand:
            continue
        acts = seat.seat == view.to_act and view.legal is not None
        legal = set(view.legal or ()) if acts else set()
        whose = "Your hand" if seat.seat == view.viewer else f"Hand of {seat.name}"
        lines += [""] if lines else []
        lines += pen.sentence(f"{whose}, legal cards in brackets:" if acts else f"{whose}:")
        lines += suit_lines(seat.hand, legal, pen)
    return lines


def suit_lines(cards: Sequence[int], legal: set[int], pen: Pen) -> list[str]:
    """Return a hand with a line a suit."""
    lines = []
    for suit, group in groupby(cards, key=lambda card: int(SUIT[card])):
        label = "  Matto" if suit == NO_SUIT else f"  {suit_name(suit).capitalize()}"
        words = [(pen.card(card, card in legal), 4 if card in legal else 2) for card in group]
        lines += pen.wrapped(label, words, _LABEL + 2)
    return lines


def exchange_lines(view: TableView, pen: Pen) -> list[str]:
    """Return talon and discard, as far as they may be seen."""
    lines = []
    for label, cards in (("Talon", view.talon), ("Discard", view.discard)):
        if cards:
            lines += pen.wrapped(f"{label}: ", [(pen.card(card), 2) for card in cards])
    return lines


def count_lines(view: TableView, pen: Pen) -> list[str]:
    """Return the count by threes, the par and the scores with their thirds."""
    counts = [(seat, seat.count) for seat in view.seats if seat.count is not None]
    if not counts:
        return []
    par = score_text(counts[0][1].par, signed=False)
    lines = pen.sentence(f"Count by threes: values less 2 for every three cards; par {par}")
    names = min(max(len(seat.name) for seat, _ in counts), pen.width // 3)
    for seat, count in counts:
        label = f"  {seat.name[:names]:<{names}}  "
        words = _count_words(count)
        if pen.width >= _WIDE:
            words = [f"{word:<{size}}" for word, size in zip(words, _COUNT_COLUMNS, strict=False)]
        else:
            words = " ".join(words).split()
        lines += pen.wrapped(label, [(word, len(word)) for word in words], len(label))
    return lines


def _count_words(count: Count) -> list[str]:
    left = f" and {count.left}" if count.left else ""
    ultimo = f" + {count.ultimo}" if count.ultimo else ""
    words = [
        f"{count.cards} cards, {_number(count.threes, 'three')}{left}:",
        f"{count.values} - {score_text(count.deduction, signed=False)}{ultimo}",
        f"= {score_text(count.points, signed=False)},",
        f"score {score_text(count.score)}",
    ]
    if count.settled != count.score:
        words.append(f"pays {score_text(-count.settled)}" if count.settled < 0 else f"gets {score_text(count.settled)}")
    return words


def totals_line(names: Sequence[str], totals: Sequence[Fraction]) -> str:
    """Return the totals of a match on one line."""
    return ", ".join(f"{name} {score_text(total)}" for name, total in zip(names, totals, strict=True))
