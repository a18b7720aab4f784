"""A person at the table: asked for a card, told why one is refused, helped on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scarto_env.bots import Bot
from scarto_env.cards import card_code, card_name, parse_card
from scarto_env.refusal import refusal
from scarto_env.render.text import hand_lines, seat_lines, trick_line, trick_lines
from scarto_env.rulebook import articles
from scarto_env.state import DISCARD
from scarto_env.terminal.sitting import Quit, Sitting

HELP: Final = (
    "a card's code (SK, 07, MT)  play it, or lay it away",
    "h, hint     what the strongest bot would do",
    "l, last     the last trick again; t, tricks all of them",
    "p, points   points and cards so far",
    "r, rules    the rules in force",
    "q, quit     leave the table",
)


class Person:
    """Reads cards from a stream of lines.

    Args:
        read: returns the next line, given the prompt; raises ``EOFError`` at the end.
        hint: makes the bot that gives hints, when it is first asked for.
    """

    def __init__(self, read: Callable[[str], str], hint: Callable[[], tuple[str, Bot]]) -> None:
        self.read = read
        self._make_hint = hint
        self._hint: tuple[str, Bot] | None = None

    def choose(self, sitting: Sitting) -> int:
        """Return a legal card once the person has named one.

        Raises:
            Quit: the person leaves, or the input has ended.
        """
        self._show(sitting)
        while True:
            try:
                word = self.read(self._prompt(sitting)).strip().lower()
            except EOFError:
                raise Quit from None
            card = self._answer(sitting, word)
            if card is not None:
                return card

    def _prompt(self, sitting: Sitting) -> str:
        if sitting.game.phase == DISCARD:
            left = sitting.rules.talon_size - int(sitting.game.num_discarded)
            return f"Lay away ({left} more; ? for help): "
        return "Play (? for help): "

    def _show(self, sitting: Sitting) -> None:
        view, pen = sitting.view(), sitting.pen()
        table = trick_line(view, view.trick, pen, "On the table:", view.winning) if view.trick else []
        lead = [] if view.trick or view.phase == "discard" else ["You lead."]
        sitting.write(["", *table, *lead, *hand_lines(view, pen)])

    def _answer(self, sitting: Sitting, word: str) -> int | None:
        """Return the card that a word names, if it may be played; else answer the person."""
        view, pen = sitting.view(), sitting.pen()
        match word:
            case "":
                self._show(sitting)
            case "?" | "help":
                sitting.write(HELP)
            case "h" | "hint":
                sitting.write([self._hinted(sitting)])
            case "l" | "last":
                sitting.write(trick_lines(view, pen) or ["No trick has been played yet."])
            case "t" | "tricks":
                lines = [line for trick in view.tricks for line in
                         trick_line(view, trick, pen, f"{trick.number:>3}:", trick.winner)]  # fmt: skip
                sitting.write(lines or ["No trick has been played yet."])
            case "p" | "points":
                sitting.write(seat_lines(view, pen))
            case "r" | "rules":
                sitting.write([line for rule in articles(sitting.rules) for line in pen.sentence(" ".join(rule))])
            case "q" | "quit" | "exit":
                raise Quit
            case _:
                return self._card(sitting, word)
        return None

    def _card(self, sitting: Sitting, word: str) -> int | None:
        try:
            card = parse_card(word)
        except ValueError as error:
            sitting.write(sitting.pen().sentence(f"{error}; ? for help."))
            return None
        if sitting.batch.action_mask[0, card]:
            return card
        refused = refusal(sitting.game, sitting.rules, card)
        sitting.write(
            sitting.pen().sentence(f"{card_code(card)} is not allowed: {refused.reason} ({refused.article}).")
        )
        return None

    def _hinted(self, sitting: Sitting) -> str:
        if self._hint is None:
            self._hint = self._make_hint()
        name, bot = self._hint
        card = sitting.asked(bot)
        verb = "lay away" if sitting.game.phase == DISCARD else "play"
        return f"{name} would {verb} {card_code(card)}, {card_name(card)}."
