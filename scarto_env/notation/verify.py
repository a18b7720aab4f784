"""Does a record keep to the rules?  Every card, leader, winner and the result are worked out anew."""

from __future__ import annotations

import dataclasses
from typing import Any, Final, NamedTuple

from scarto_env.batch import Batch
from scarto_env.cards import card_code
from scarto_env.notation.record import Record, RecordError, follow, settled_scores
from scarto_env.notation.text import cards_text, in_order, scores_text
from scarto_env.refusal import IllegalActionError
from scarto_env.state import OVER, cards_of

_MANY: Final = 6
"""Legal cards named in a refusal; of more, the first few."""


class TrickClaim(NamedTuple):
    """What a text says of a trick: its line, number, leader, how many cards and the winner, if named."""

    line: int
    number: int
    leader: int
    num_cards: int
    winner: int | None


class Claims(NamedTuple):
    """Where a record's parts stand in its text, and what it says beside the cards."""

    discard_line: int | None = None
    result_line: int | None = None
    tricks: tuple[TrickClaim, ...] = ()


def verified(record: Record, claims: Claims | None = None) -> Record:
    """Return the record, its result filled in, once the rules have confirmed it.

    Args:
        record: the deal.
        claims: what the text it was read from says of each trick.

    Raises:
        RecordError: the first card, leader, winner or result that disagrees, and what the rules say.
    """
    if claims is not None:
        _check_shape(claims, record.rules.players)
    row = _followed(record, claims or Claims(), claims is not None)
    line = claims.result_line if claims else None
    if row.phase != OVER:
        if record.result is not None:
            played = f"{len(record.plays)} cards of {record.rules.players * record.rules.tricks}"
            raise RecordError(f"there can be no result: the record breaks off after {played} (A18)", line)
        return record
    result = settled_scores(row, record.rules)
    if (claims is not None and record.result != result) or record.result not in (None, result):
        given = scores_text(record.result) if record.result else "missing"
        article = "A21" if record.rules.settlement == "net" else "A22"
        raise RecordError(f"the result is {scores_text(result)}, not {given} ({article})", line)
    return dataclasses.replace(record, result=result)


def check_seed(record: Record) -> None:
    """Refuse a record that names a seed which does not deal its cards.

    The seed's first game is meant, and of its deals the one that ``number`` says.  The dealer is taken from the
    record: in a match it goes round, and a table may appoint one.  A record without a seed is not refused.

    Raises:
        RecordError: the seed deals other cards.
    """
    if record.seed is None:
        return
    batch = Batch(1, record.rules, seed=record.seed, threads=1, redeal=False)
    batch.games.deal_number[0] = record.number - 1
    batch.reset(dealer=record.deal.dealer)
    if batch.deal() != record.deal:
        of_match = f" as deal {record.number} of a match" if record.number else ""
        raise RecordError(f"seed {record.seed} deals other cards{of_match} (A6)")


def _check_shape(claims: Claims, players: int) -> None:
    """Refuse tricks out of order, too long, or broken off before the last."""
    for index, trick in enumerate(claims.tricks, 1):
        if trick.number != index:
            raise RecordError(f"trick {index} is expected here, not trick {trick.number}", trick.line)
        if not 0 < trick.num_cards <= players or (trick.num_cards < players and index < len(claims.tricks)):
            raise RecordError(f"trick {index} has {_cards(trick.num_cards)} for {players} players (A11)", trick.line)


def _cards(number: int) -> str:
    return f"{number} card" if number == 1 else f"{number} cards"


def _followed(record: Record, claims: Claims, complete: bool) -> Any:
    """Return the row after the record's last card; refuse the first card, leader or winner that disagrees."""
    players, laid = record.rules.players, len(record.discard)
    ply, row = 0, None
    try:
        for ply, batch in follow(record):
            row = batch.games[0]
            if not complete or ply < laid:
                continue
            trick, turn = divmod(ply - laid, players)
            if turn == 0 and trick:
                _check_winner(claims.tricks[trick - 1], int(row.leader), record)
            if turn == 0 and trick < len(claims.tricks):
                _check_leader(claims.tricks[trick], int(row.leader))
    except IllegalActionError as error:
        trick = (ply - laid) // players
        place = f"trick {trick + 1}" if ply >= laid else "discard"
        line = _line_of(claims, trick) if ply >= laid else claims.discard_line
        legal = "" if row is None or row.phase == OVER else f"; legal: {_legal(row)}"
        raise RecordError(f"{place}: {error}{legal}", line) from None
    except RecordError as error:
        raise RecordError(error.reason, error.line or claims.discard_line) from None
    _check_unfinished(claims, players)
    return row


def _line_of(claims: Claims, trick: int) -> int | None:
    return claims.tricks[trick].line if trick < len(claims.tricks) else None


def _legal(row: Any) -> str:
    cards = in_order(cards_of(row.legal))
    return cards_text(cards[:_MANY]) + (" ..." if len(cards) > _MANY else "")


def _check_leader(trick: TrickClaim, leader: int) -> None:
    if trick.leader != leader:
        why = "forehand (A5)" if trick.number == 1 else f"the winner of trick {trick.number - 1} (A16)"
        raise RecordError(
            f"trick {trick.number} is led by seat {leader}, {why}, not by seat {trick.leader}", trick.line
        )


def _check_winner(trick: TrickClaim, winner: int, record: Record) -> None:
    if trick.winner == winner:
        return
    players = record.rules.players
    card = record.plays[(trick.number - 1) * players + (winner - trick.leader) % players]
    given = "no winner is named" if trick.winner is None else f"not by seat {trick.winner}"
    raise RecordError(f"trick {trick.number} is won by seat {winner} with {card_code(card)}, {given} (A16)", trick.line)


def _check_unfinished(claims: Claims, players: int) -> None:
    last = claims.tricks[-1] if claims.tricks else None
    if last is not None and last.num_cards < players and last.winner is not None:
        raise RecordError(
            f"trick {last.number} has {_cards(last.num_cards)} of {players}, so nobody has won it (A16)", last.line
        )
