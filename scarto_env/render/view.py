"""What one viewer may see of a recorded deal after some of its cards: the one source of every picture.

A view is plain data.  A card that the viewer may not see is in none of its fields, so a view can be sent to a
person's browser as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, NamedTuple

from scarto_env.batch import Batch
from scarto_env.cards import FIRST_TRUMP, FOOL, NO_CARD, NUM_TRUMPS, ROMAN
from scarto_env.notation import Record, Trick, follow, in_order, rules_text, score_text
from scarto_env.rules import GROUP_SIZE, THIRDS, Rules, card_value
from scarto_env.state import DISCARD, OVER, PLAY, SCORE_UNITS, cards_of

PHASES: Final = {DISCARD: "discard", PLAY: "play", OVER: "over"}
_ROLES: Final = {3: ("dealer", "forehand", "third"), 4: ("dealer", "forehand", "second", "third")}


@dataclasses.dataclass(frozen=True)
class Count:
    """How a finished deal's pile was counted (A19-A22).

    Attributes:
        cards: cards in the pile, the dealer's discard included.
        threes: whole groups of three.
        left: cards left over.
        values: sum of the cards' values.
        deduction: what is taken off for the threes and the cards left over.
        ultimo: bonus for the last trick.
        points: what remains.
        par: a seat's fair share.
        score: points less the mean of all.
        settled: what is paid.
    """

    cards: int
    threes: int
    left: int
    values: int
    deduction: Fraction
    ultimo: int
    points: Fraction
    par: Fraction
    score: Fraction
    settled: Fraction


@dataclasses.dataclass(frozen=True)
class SeatView:
    """One seat.

    Attributes:
        seat: number 0...
        name: who plays it.
        role: dealer, forehand, third (or second and third of four).
        hand: the cards it holds, as a player holds them; None if the viewer may not see them.
        hand_size: how many these are.
        num_tricks: tricks won.
        pile_size: cards won, as far as public.
        points: points of the pile, as far as public (A19).
        total: settled scores of the match's earlier deals.
        count: how the pile was counted, once the deal is over.
    """

    seat: int
    name: str
    role: str
    hand: tuple[int, ...] | None
    hand_size: int
    num_tricks: int
    pile_size: int
    points: Fraction
    total: Fraction
    count: Count | None


@dataclasses.dataclass(frozen=True)
class TableView:
    """The table as one viewer sees it.

    Attributes:
        rules: name of the preset and of the options that differ.
        facts: what a player checks first: the higher of XX and XXI, what each is worth, the total and the par.
        ply: cards laid away and played so far.
        phase: ``"discard"``, ``"play"`` or ``"over"``.
        viewer: the seat that looks, or None for one who sees all cards.
        to_act: the seat to act; None once the deal is over.
        legal: what it may play, if the viewer may know; else None.
        seats: by number.
        trick: the trick on the table, or None between tricks.
        winning: who is winning it.
        tricks: the finished tricks.
        talon: the talon, if the viewer may see it; else None.
        discard: the cards laid away, if the viewer may see them; else None.
        num_discarded: how many these are.
        number: number of the deal in its match, 0 first.
    """

    rules: str
    facts: str
    ply: int
    phase: str
    viewer: int | None
    to_act: int | None
    legal: tuple[int, ...] | None
    seats: tuple[SeatView, ...]
    trick: Trick | None
    winning: int | None
    tricks: tuple[Trick, ...]
    talon: tuple[int, ...] | None
    discard: tuple[int, ...] | None
    num_discarded: int
    number: int

    @property
    def players(self) -> int:
        """Seats at the table."""
        return len(self.seats)

    @property
    def last_trick(self) -> Trick | None:
        """The trick finished last."""
        return self.tricks[-1] if self.tricks else None

    @property
    def shown_trick(self) -> Trick | None:
        """The trick on the table, or between tricks the one finished last."""
        return self.trick or self.last_trick

    def _repr_svg_(self) -> str:
        """Return the picture that notebooks show."""
        from scarto_env.render.table import render_svg

        return render_svg(self)


class _Seen(NamedTuple):
    record: Record
    viewer: int | None
    batch: Batch
    ply: int
    tricks: tuple[Trick, ...]


def table_view(record: Record, ply: int | None = None, viewer: int | None = None) -> TableView:
    """Return what a viewer may see after ``ply`` actions of a record.

    Args:
        record: the deal.
        ply: 0 for the deal before the exchange; the record's last position by default.
        viewer: seat that looks; None sees all cards.

    Raises:
        ValueError: the record has no such ply or seat, or contradicts the rules.
    """
    last = record.num_plies if ply is None else ply
    if not 0 <= last <= record.num_plies:
        raise ValueError(f"ply={ply!r} is not in the record: expected 0..{record.num_plies}")
    for seen in _seen(record, viewer):
        if seen.ply == last:
            return _view(seen)
    raise AssertionError("a record yields every ply")


def table_views(record: Record, viewer: int | None = None) -> Iterator[TableView]:
    """Yield the views after 0, 1, ... actions."""
    return map(_view, _seen(record, viewer))


def _seen(record: Record, viewer: int | None) -> Iterator[_Seen]:
    players, laid = record.rules.players, len(record.discard)
    if viewer is not None and not 0 <= viewer < players:
        raise ValueError(f"viewer={viewer!r} is no seat: expected 0..{players - 1}, or None to see all cards")
    tricks: tuple[Trick, ...] = ()
    leader = (record.deal.dealer + 1) % players
    for ply, batch in follow(record):
        number = max(0, ply - laid) // players
        if number > len(tricks):
            cards = record.plays[(number - 1) * players : number * players]
            winner = int(batch.games[0].leader)
            tricks = (*tricks, Trick(number, leader, cards, winner))
            leader = winner
        yield _Seen(record, viewer, batch, ply, tricks)


def _view(seen: _Seen) -> TableView:
    record, viewer, row = seen.record, seen.viewer, seen.batch.games[0]
    rules, players = record.rules, record.rules.players
    phase = int(row.phase)
    over = phase == OVER
    to_act = None if over else int(row.seat)
    own = viewer is None or viewer == to_act
    is_dealer = viewer in (None, record.deal.dealer)
    preset, options = rules_text(rules)
    best = int(row.best_seat)
    return TableView(
        rules="; ".join(filter(None, (preset, options))),
        facts=facts(rules),
        ply=seen.ply,
        phase=PHASES[phase],
        viewer=viewer,
        to_act=to_act,
        legal=in_order(cards_of(row.legal)) if own and not over else None,
        seats=tuple(_seat_view(seen, row, seat) for seat in range(players)),
        trick=_trick_on_table(seen, row),
        winning=best if best >= 0 else None,
        tricks=seen.tricks,
        talon=in_order(record.deal.talon) if is_dealer else None,
        # At the count the discard is turned up (A10); the talon is only part of what the dealer then shows.
        discard=in_order(cards_of(row.discarded)) if is_dealer or over else None,
        num_discarded=int(row.num_discarded),
        number=record.number,
    )


def _seat_view(seen: _Seen, row: Any, seat: int) -> SeatView:
    record, rules = seen.record, seen.record.rules
    cards = in_order(cards_of(row.hand[seat]))
    role = (seat - record.deal.dealer) % rules.players
    return SeatView(
        seat=seat,
        name=record.seats[seat] or f"seat {seat}",
        role=_ROLES[rules.players][role],
        hand=cards if seen.viewer in (None, seat) else None,
        hand_size=len(cards),
        num_tricks=sum(trick.winner == seat for trick in seen.tricks),
        pile_size=int(row.pile_size[seat]),
        points=Fraction(int(row.points[seat]), THIRDS),
        total=record.totals[seat],
        count=_count(row, rules, seat) if row.phase == OVER else None,
    )


def _trick_on_table(seen: _Seen, row: Any) -> Trick | None:
    players = seen.record.rules.players
    leader = int(row.leader)
    order = [(leader + turn) % players for turn in range(int(row.turn))]
    cards = tuple(int(row.table[seat]) for seat in order)
    if not cards or NO_CARD in cards:
        return None
    return Trick(len(seen.tricks) + 1, leader, cards, None)


def _count(row: Any, rules: Rules, seat: int) -> Count:
    pile = cards_of(row.pile[seat])
    values = sum(card_value(rules, card) for card in pile)
    points = Fraction(int(row.points[seat]), THIRDS)
    threes, left = divmod(len(pile), GROUP_SIZE)
    # By A19; what remains beside is the ultimo.
    deduction = Fraction(2 * len(pile), GROUP_SIZE)
    if rules.leftovers == "whole":
        deduction = Fraction(2 * threes + (left == GROUP_SIZE - 1))
    return Count(
        cards=len(pile),
        threes=threes,
        left=left,
        values=values,
        deduction=deduction,
        ultimo=int(points - values + deduction),
        points=points,
        par=rules.par,
        score=Fraction(int(row.score[seat]), THIRDS * rules.players),
        settled=Fraction(int(row.settled[seat]), SCORE_UNITS * rules.players),
    )


def facts(rules: Rules) -> str:
    """Return what a player checks first: the order and worth of XX and XXI, the total and the par.

    >>> facts(Rules())
    'XXI beats XX; XX 5, XXI 5, Matto 4; 81 points, par 27'
    """
    top = rules.trump_top
    below = 2 * NUM_TRUMPS - 1 - top
    values = ", ".join(
        f"{ROMAN[number - 1]} {card_value(rules, FIRST_TRUMP + number - 1)}" for number in sorted((top, below))
    )
    par = score_text(rules.par, signed=False)
    order = f"{ROMAN[top - 1]} beats {ROMAN[below - 1]}"
    return f"{order}; {values}, Matto {card_value(rules, FOOL)}; {rules.total_points} points, par {par}"
