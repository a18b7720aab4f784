"""Records one a line as JSON, for large sets."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, Final

from scarto_env.deal import Deal
from scarto_env.notation.record import Comment, Record, RecordError
from scarto_env.notation.text import (
    cards_text,
    in_order,
    parse_cards,
    parse_rules,
    parse_score,
    rules_text,
    score_text,
)
from scarto_env.notation.verify import verified

JSON_VERSION: Final = "1.0"
_REQUIRED: Final = ("stn", "rules", "dealer", "deal", "talon", "discard", "plays", "result")


def write_json(record: Record) -> str:
    """Return a record as one line of JSON, without the line's end."""
    preset, options = rules_text(record.rules)
    fields: dict[str, Any] = {
        "stn": JSON_VERSION,
        "rules": preset,
        "options": options,
        "seed": record.seed,
        "seats": list(record.seats),
        "dealer": record.deal.dealer,
        "deal": [cards_text(in_order(hand)) for hand in record.deal.hands],
        "talon": cards_text(in_order(record.deal.talon)),
        "discard": cards_text(record.discard),
        "plays": cards_text(record.plays),
        "result": None if record.result is None else [score_text(score) for score in record.result],
    }
    if record.number or any(record.totals):
        fields |= {"number": record.number, "total": [score_text(total) for total in record.totals]}
    if record.comments:
        fields["comments"] = [list(comment) for comment in record.comments]
    if record.tags:
        fields["tags"] = [list(tag) for tag in record.tags]
    return json.dumps(fields, ensure_ascii=False)


def read_json(line: str) -> Record:
    """Return the record of one line of JSON, once the rules have confirmed it.

    Raises:
        RecordError: the line is no record, or disagrees with the rules.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"no JSON: {error}") from None
    missing = [name for name in _REQUIRED if not isinstance(fields, dict) or name not in fields]
    if missing:
        raise RecordError(f"no record: {missing[0]!r} is missing")
    if not str(fields["stn"]).startswith("1."):
        raise RecordError(f"version {fields['stn']!r} is unknown: this reads {JSON_VERSION}")
    try:
        record = _built(fields)
    except RecordError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise RecordError(f"no record: {error}") from None
    return verified(record)


def _built(fields: dict[str, Any]) -> Record:
    result = fields["result"]
    return Record(
        rules=parse_rules(fields["rules"], fields.get("options", "")),
        deal=Deal(tuple(map(parse_cards, fields["deal"])), parse_cards(fields["talon"]), fields["dealer"]),
        discard=parse_cards(fields["discard"]),
        plays=parse_cards(fields["plays"]),
        seats=tuple(map(str, fields.get("seats", ()))),
        seed=fields.get("seed"),
        result=None if result is None else _scores(result),
        number=fields.get("number", 0),
        totals=_scores(fields.get("total", ())),
        comments=tuple(Comment(int(played), str(text)) for played, text in fields.get("comments", ())),
        tags=tuple((str(name), str(value)) for name, value in fields.get("tags", ())),
    )


def _scores(texts: list[str]) -> tuple[Fraction, ...]:
    return tuple(parse_score(text) for text in texts)
