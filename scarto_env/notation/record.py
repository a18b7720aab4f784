"""A record: one deal as it was played, and the position after any of its cards."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from scarto_env.batch import Batch
from scarto_env.deal import Deal
from scarto_env.notation.text import in_order
from scarto_env.observation import MAX_DEALS
from scarto_env.refusal import IllegalActionError
from scarto_env.rules import Rules, as_rules
from scarto_env.state import DISCARD, OVER, SCORE_UNITS, cards_of, stream_key

MAX_TOTAL: Final = 30_000
"""The most that a match of MAX_DEALS deals can bring a seat fits, and the observation holds it."""


class RecordError(ValueError):
    """A record that cannot be read or that the rules contradict.

    Attributes:
        line: number of the line at fault, 1 first; None when the record was not read from text.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        """Make the error; the line is named in the message."""
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason, self.line = reason, line

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the constructor's arguments."""
        return RecordError, (self.reason, self.line)


class Comment(NamedTuple):
    """A remark: how many cards had been played to tricks before it, and its text without the braces."""

    played: int
    text: str


@dataclasses.dataclass(frozen=True)
class Record:
    """One deal, finished or not.

    Attributes:
        rules: the rules in force; a preset's name is taken too.
        deal: the cards before the exchange.
        discard: cards laid away by the dealer, in order.
        plays: cards played to tricks, in order; who played them follows from the rules.
        seats: a name for each seat; none gives empty names.
        seed: seed that the deal came from, if known.
        result: settled score of each seat (A22), or None while the deal is unfinished.
        number: number of the deal in its match, 0 first.
        totals: settled scores of the match's earlier deals; none gives zeros.
        comments: remarks, by how many cards had been played.
        tags: tags that this version does not know, kept as they came: (name, value).
        text: what the record was read from; None for one that was made or changed.

    Raises:
        ValueError: the deal does not fit the rules, or a list has not one entry a seat.
    """

    rules: Rules
    deal: Deal
    discard: tuple[int, ...] = ()
    plays: tuple[int, ...] = ()
    seats: tuple[str, ...] = ()
    seed: int | None = None
    result: tuple[Fraction, ...] | None = None
    number: int = 0
    totals: tuple[Fraction, ...] = ()
    comments: tuple[Comment, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    # Not of the constructor, so that `dataclasses.replace` drops the text that no longer tells the record.
    text: str | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", as_rules(self.rules))
        self.deal.check(self.rules)
        players = self.rules.players
        for name in ("discard", "plays", "comments", "tags"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "seats", tuple(self.seats) or ("",) * players)
        object.__setattr__(self, "totals", tuple(self.totals) or (Fraction(0),) * players)
        for comment in self.comments:
            if not 0 <= comment.played <= len(self.plays):
                raise ValueError(f"a comment stands after {comment.played} cards of {len(self.plays)}")
        if self.result is not None:
            object.__setattr__(self, "result", tuple(self.result))
        for name in ("seats", "totals", "result"):
            value = getattr(self, name)
            if value is not None and len(value) != players:
                raise ValueError(f"{name} has {len(value)} entries, the rules have {players} players")
        if self.seed is not None:
            stream_key(self.seed)  # refuses what is no seed
        if not 0 <= self.number < MAX_DEALS:
            raise ValueError(f"number={self.number!r} is no deal of a match: expected 0..{MAX_DEALS - 1}")
        unit = SCORE_UNITS * players
        for total in self.totals:
            if abs(total) > MAX_TOTAL or (total * unit).denominator != 1:
                raise ValueError(f"totals: {total} is no sum of scores: expected {unit}ths up to {MAX_TOTAL}")

    @property
    def num_plies(self) -> int:
        """Actions recorded: cards laid away and cards played."""
        return len(self.discard) + len(self.plays)

    def __str__(self) -> str:
        """Return the record as ``.stn`` text."""
        from scarto_env.notation.stn import write_record

        return write_record(self)


class Trick(NamedTuple):
    """A trick of a record: number 1.., leader, cards in playing order, winner (None while unfinished)."""

    number: int
    leader: int
    cards: tuple[int, ...]
    winner: int | None


def opened(record: Record) -> Batch:
    """Return a batch of one game at the record's deal, before anything is laid away; it is not dealt again."""
    batch = Batch(1, rules=record.rules, seed=record.seed or 0, threads=1, redeal=False)
    row = batch.games[0]
    unit = SCORE_UNITS * record.rules.players
    for seat, total in enumerate(record.totals):
        row.total[seat] = int(total * unit)
    row.match_deal = record.number
    batch.set_deal(0, record.deal)
    return batch


def follow(record: Record) -> Iterator[tuple[int, Batch]]:
    """Play the record and yield (ply, the batch after it), ply 0 first; the batch is the same each time.

    Raises:
        IllegalActionError: the next card is against the rules.
        RecordError: cards are played before all are laid away, or too many are laid away.
    """
    batch = opened(record)
    yield 0, batch
    for ply, card in enumerate((*record.discard, *record.plays)):
        laid_away = ply < len(record.discard)
        row = batch.games[0]
        if row.phase == OVER:
            raise IllegalActionError(card, int(row.seat), "A18", "the deal is over")
        if laid_away != (row.phase == DISCARD):
            missing = record.rules.talon_size - len(record.discard)
            what = f"{missing} more" if missing > 0 else f"{-missing} fewer"
            raise RecordError(f"seat {record.deal.dealer} must lay away {what} before the first trick (A8)")
        batch.step_one(card)
        yield ply + 1, batch


def position(record: Record, ply: int | None = None) -> Batch:
    """Return the game after ``ply`` actions as a batch of one that is not dealt again at the end.

    Args:
        record: the deal.
        ply: 0 before anything is laid away, ``record.num_plies`` for the last position, the default.

    Raises:
        ValueError: the record has no such ply, or contradicts the rules before it.
    """
    last = record.num_plies if ply is None else ply
    if not 0 <= last <= record.num_plies:
        raise ValueError(f"ply={ply!r} is not in the record: expected 0..{record.num_plies}")
    for reached, batch in follow(record):
        if reached == last:
            return batch
    raise AssertionError("a record yields every ply")


def settled_scores(row: Any, rules: Rules) -> tuple[Fraction, ...]:
    """Return the settled scores of a finished deal (A22)."""
    return tuple(Fraction(int(row.settled[seat]), SCORE_UNITS * rules.players) for seat in range(rules.players))


def tricks_of(record: Record) -> list[Trick]:
    """Return the tricks played, the unfinished one last.

    Raises:
        ValueError: the record contradicts the rules.
    """
    players, start = record.rules.players, len(record.discard)
    leaders = [
        int(batch.games[0].leader) for ply, batch in follow(record) if ply >= start and (ply - start) % players == 0
    ]
    tricks = []
    for trick in range(-(-len(record.plays) // players)):
        cards = record.plays[trick * players : (trick + 1) * players]
        winner = leaders[trick + 1] if len(cards) == players else None
        tricks.append(Trick(trick + 1, leaders[trick], cards, winner))
    return tricks


def record_of(
    row: Any,
    rules: str | Rules,
    *,
    seats: Sequence[str] = (),
    seed: int | None = None,
    comments: Sequence[Comment] = (),
    tags: Sequence[tuple[str, str]] = (),
) -> Record:
    """Return the record of a game's row, finished or in progress.

    The row keeps no order of the cards laid away: they come as a player holds them.

    Args:
        row: a row of ``Batch.games``.
        rules: preset or rules it is played by.
        seats: a name for each seat.
        seed: seed that the deal came from.
        comments: remarks.
        tags: further tags.
    """
    rules = as_rules(rules)
    players = rules.players
    # Which card a seat gave to which trick; who led follows by playing it through.
    given = {(int(row.trick_of[card]), seat): card for seat in range(players) for card in cards_of(row.played[seat])}
    totals = tuple(Fraction(int(row.total[seat]), SCORE_UNITS * players) for seat in range(players))
    record = Record(
        rules=rules,
        deal=Deal.from_game(row, players),
        discard=in_order(cards_of(row.discarded)),
        seats=tuple(seats),
        seed=seed,
        number=int(row.match_deal),
        totals=totals,
        tags=tuple(tags),
    )
    batch = position(record)
    game = batch.games[0]
    plays = []
    for _ in range(len(given)):
        plays.append(given[int(game.trick) + 1, int(game.seat)])
        batch.step_one(plays[-1])
    result = settled_scores(game, rules) if game.phase == OVER else None
    return dataclasses.replace(record, plays=tuple(plays), result=result, comments=tuple(comments))
