"""A finished or broken-off deal told from its first trick to its count."""

from __future__ import annotations

from scarto_env.notation import Record, hand_text, parse_cards
from scarto_env.render.text import Pen, count_lines, exchange_lines, head_lines, trick_line
from scarto_env.render.view import TableView, table_view


def told_deal(record: Record, view: TableView, pen: Pen) -> str:
    """Return a record as text: the hands dealt, as far as the viewer may see them, every trick, the count.

    Args:
        record: the deal.
        view: its last position, as the viewer sees it.
        pen: for the terminal.
    """
    lines = [*head_lines(view, pen), ""]
    for seat in table_view(record, len(record.discard), view.viewer).seats:
        if seat.hand is not None:
            words = [(word if word == "|" else pen.cards(parse_cards(word)), len(word))
                     for word in hand_text(seat.hand).split()]  # fmt: skip
            lines += pen.wrapped(f"{seat.name}: ", words, 4)
    lines += ["", *exchange_lines(view, pen), ""]
    for trick in view.tricks:
        lines += trick_line(view, trick, pen, f"{trick.number:>3}:", trick.winner)
    if view.trick:
        lines += trick_line(view, view.trick, pen, f"{view.trick.number:>3}:", view.winning)
    count = count_lines(view, pen)
    return "\n".join([*lines, *(["", *count] if count else [])]) + "\n"
