"""A sitting: a match of people and bots at one table, shown on a terminal."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol, TextIO

import numpy as np

from scarto_env.batch import Batch
from scarto_env.bots import Bot
from scarto_env.match import Match
from scarto_env.notation import Record, in_order, record_of
from scarto_env.render.text import Pen, count_lines, hand_lines, totals_line, trick_line
from scarto_env.render.view import TableView, table_view
from scarto_env.rules import Rules
from scarto_env.state import DISCARD, OVER
from scarto_env.terminal.screen import screen_pen


class Quit(Exception):  # noqa: N818
    """The person leaves the table."""


class Player(Protocol):
    """Who chooses a card at a seat of this table: a person or a bot."""

    def choose(self, sitting: Sitting) -> int:
        """Return a legal card for the seat to act."""
        ...


@dataclasses.dataclass
class BotPlayer:
    """A bot at the table; it sees its observation only."""

    bot: Bot
    delay: float = 0.0

    def choose(self, sitting: Sitting) -> int:
        """Return the bot's card, after a pause for people to follow."""
        if self.delay:
            time.sleep(self.delay)
        return sitting.asked(self.bot)


class Sitting:
    """One match on a terminal.

    Args:
        rules: what is played.
        players: who plays each seat.
        names: what they are called.
        seed: of the deals.
        deals: how many.
        viewer: the seat whose view is shown; None shows all.
        out: where it is written.
        open_hands: show at the start the hands that the viewer may see.
        after_trick: called after every trick, to wait.

    Attributes:
        records: the deals so far, the last one perhaps broken off.
    """

    def __init__(
        self,
        rules: Rules,
        players: Sequence[Player],
        names: Sequence[str],
        *,
        seed: int,
        deals: int,
        viewer: int | None,
        out: TextIO,
        open_hands: bool = False,
        after_trick: Callable[[], None] | None = None,
    ) -> None:
        self.rules, self.players, self.names = rules, players, tuple(names)
        self.seed, self.viewer, self.out = seed, viewer, out
        self.open_hands, self.after_trick = open_hands, after_trick
        self.batch = Batch(1, rules, seed=seed, threads=1, redeal=False)
        self.match = Match(rules, deals)
        self.records: list[Record] = []
        self._laid_away: list[int] = []

    @property
    def game(self) -> Any:
        """The row of the deal in progress."""
        return self.batch.games[0]

    def record(self) -> Record:
        """Return the deal in progress, or just finished, as a record."""
        record = record_of(self.game, self.rules, seats=self.names, seed=self.seed)
        # The row keeps no order of what was laid away; the table has seen it.
        return dataclasses.replace(record, discard=tuple(self._laid_away))

    def view(self) -> TableView:
        """Return the table as the viewer sees it now."""
        return table_view(self.record(), viewer=self.viewer)

    def pen(self) -> Pen:
        """Return a pen for the terminal as it is now."""
        return screen_pen(self.out)

    def write(self, lines: Sequence[str]) -> None:
        """Write lines at once, so that they are seen before a pause."""
        self.out.write("".join(f"{line}\n" for line in lines))
        self.out.flush()

    def asked(self, bot: Bot) -> int:
        """Return the card a bot chooses for the seat to act."""
        return int(np.asarray(bot.act(self.batch.observation, self.batch.action_mask))[0])

    def play(self) -> None:
        """Play the match to its end.

        Raises:
            Quit: a person leaves; the deals so far are in ``records``.
        """
        while not self.match.over:
            try:
                self._play_deal()
            finally:
                self.records.append(self.record())
            self._end_deal()

    def _play_deal(self) -> None:
        self._laid_away = []
        self._announce()
        while self.game.phase != OVER:
            seat = int(self.game.seat)
            card = self.players[seat].choose(self)
            laying_away, trick = self.game.phase == DISCARD, int(self.game.trick)
            self.batch.step_one(card)
            if laying_away:
                self._laid_away.append(card)
                self._tell_exchange(seat)
            elif self.game.trick != trick:
                self._tell_trick()

    def _announce(self) -> None:
        view, pen = self.view(), self.pen()
        dealer = self.names[int(self.game.dealer)]
        of = f" of {self.match.most_deals}" if self.match.most_deals > 1 else ""
        lines = pen.sentence(f"Deal {view.number + 1}{of}: {dealer} deals.")
        self.write(["", *map(pen.strong, lines), *pen.sentence(view.rules), *pen.sentence(view.facts)])
        if self.open_hands:
            self.write(["", *hand_lines(view, pen), ""])

    def _tell_exchange(self, dealer: int) -> None:
        if len(self._laid_away) < self.rules.talon_size:
            return
        pen = self.pen()
        cards = f": {pen.cards(in_order(self._laid_away))}" if self.viewer in (None, dealer) else ""
        self.write([f"{self.names[dealer]} has laid {len(self._laid_away)} cards away{cards}."])

    def _tell_trick(self) -> None:
        view = self.view()
        trick = view.last_trick
        assert trick is not None
        self.write(trick_line(view, trick, self.pen(), f"Trick {trick.number:>2}:", trick.winner))
        if self.after_trick is not None:
            self.after_trick()

    def _end_deal(self) -> None:
        view, pen = self.view(), self.pen()
        self.match.add(self.game.settled[: self.rules.players])
        lines = ["", *count_lines(view, pen)]
        if view.discard:
            lines.append(f"Laid away: {pen.cards(view.discard)}")
        if self.match.most_deals > 1:
            totals = [Fraction(total, self.match.unit) for total in self.match.totals]
            lines.append(f"Totals after {self.match.num_deals}: {totals_line(self.names, totals)}")
        self.write(lines)
        if not self.match.over:
            dealer = (int(self.game.dealer) + 1) % self.rules.players
            self.batch.reset(dealer=dealer)
            self.game.total[: self.rules.players] = self.match.totals
            self.game.match_deal = self.match.num_deals
            self.batch.refresh()
