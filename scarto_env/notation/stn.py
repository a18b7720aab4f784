"""The ``.stn`` form: records as text that people can read, edit and check.

Tags in brackets come first, then a line a trick: its number, the leader's seat, the cards as played and the
seat that won.  Remarks stand in braces anywhere between.  A record begins with its ``STN`` tag, so a file may
hold a whole match.
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Final, NamedTuple

from scarto_env.cards import card_code
from scarto_env.deal import Deal
from scarto_env.notation.record import Comment, Record, RecordError, tricks_of
from scarto_env.notation.text import (
    cards_text,
    in_order,
    parse_cards,
    parse_rules,
    parse_score,
    rules_text,
    scores_text,
)
from scarto_env.notation.verify import Claims, TrickClaim, verified
from scarto_env.rules import Rules, as_rules

VERSION: Final = "1.0"
_UNFINISHED: Final = "*"
_UNKNOWN: Final = "?"
_INNER_END: Final = "\x1f"
"""White space that stands for a line's end within a remark, so that a remark never ends a trick's line."""
_LONG: Final = 60
"""Characters of a line that a refusal repeats."""

_TAG = re.compile(r'\[([A-Za-z][A-Za-z0-9_]*) "((?:[^"\\\r\n]|\\["\\])*)"\]')
_REMARK = re.compile(r'"(?:[^"\\\n]|\\.)*"|\{([^{}]*)\}')
_START = re.compile(r"^[ \t]*\[STN\b", re.MULTILINE)
_TRICK = re.compile(r"(\d{1,3})\.\s+(\d):((?:\s+[A-Za-z0-9]{2})*)(?:\s+=(\d))?")
_SEAT = re.compile(r"Seat[0-9]")
_REQUIRED: Final = ("STN", "Rules", "Dealer", "Deal", "Talon", "Discard", "Result")
_KNOWN: Final = (*_REQUIRED, "Options", "Seed", "Number", "Total")


def write_record(record: Record) -> str:
    """Return a record as ``.stn`` text: the very text it was read from, if it was and has not been changed.

    Raises:
        ValueError: a card is against the rules, or a name or remark cannot be written.
    """
    if record.text is not None:
        return record.text
    tags = [f'[{name} "{_escaped(value)}"]' for name, value in _tags(record)]
    return "\n".join([*tags, "", *_trick_lines(record)]) + "\n"


def write_records(records: Iterable[Record]) -> str:
    """Return several records, such as the deals of a match, as one text with an empty line between."""
    parts: list[str] = []
    before: Record | None = None
    for record in records:
        # A text that was read ends as it did before the next record; one that was made gets an empty line.
        if before is not None and (before.text is None or not before.text.endswith("\n")):
            parts.append("\n")
        parts.append(write_record(record))
        before = record
    return "".join(parts)


def _tags(record: Record) -> list[tuple[str, str]]:
    preset, options = rules_text(record.rules)
    tags = [("STN", VERSION), ("Rules", preset), ("Options", options)]
    tags.append(("Seed", _UNKNOWN if record.seed is None else str(record.seed)))
    tags += [(f"Seat{seat}", name) for seat, name in enumerate(record.seats)]
    if record.number or any(record.totals):
        tags += [("Number", str(record.number)), ("Total", scores_text(record.totals))]
    return [
        *tags,
        ("Dealer", str(record.deal.dealer)),
        ("Deal", "; ".join(cards_text(in_order(hand)) for hand in record.deal.hands)),
        ("Talon", cards_text(in_order(record.deal.talon))),
        ("Discard", cards_text(record.discard)),
        ("Result", _UNFINISHED if record.result is None else scores_text(record.result)),
        *record.tags,
    ]


def _escaped(value: str) -> str:
    if any(character in value for character in "\r\n"):
        raise ValueError(f"{value!r} cannot be written to a record: it has more than one line")
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _trick_lines(record: Record) -> list[str]:
    remarks: dict[int, list[str]] = {}
    for comment in record.comments:
        if "{" in comment.text or "}" in comment.text:
            raise ValueError(f"{comment.text!r} cannot be written to a record: a remark has no braces within")
        remarks.setdefault(comment.played, []).append(f"{{{comment.text}}}")
    lines = remarks.pop(0, [])
    played = 0
    for trick in tricks_of(record):
        words = [f"{trick.number}.", f"{trick.leader}:"]
        for turn, card in enumerate(trick.cards, 1):
            played += 1
            words.append(card_code(card))
            if turn == record.rules.players:
                words.append(f"={trick.winner}")
            words += remarks.pop(played, [])
        lines.append(" ".join(words))
    return lines


class _Tag(NamedTuple):
    value: str
    line: int


class _Text(NamedTuple):
    """A record's text taken apart, nothing checked against the rules."""

    tags: dict[str, _Tag]
    tricks: list[TrickClaim]
    plays: list[int]
    comments: list[Comment]


def read_record(text: str) -> Record:
    """Return the one record of a text, once the rules have confirmed it.

    Raises:
        RecordError: names the first line that cannot be read or disagrees, and what the rules say.
    """
    records = read_records(text)
    if len(records) > 1:
        line = text.count("\n", 0, len(str(records[0].text))) + 1
        raise RecordError(f"a second record of {len(records)} begins here where one is expected", line)
    return records[0]


def read_records(text: str) -> list[Record]:
    """Return the records of a text in their order; deals of one match must follow on each other.

    Raises:
        RecordError: names the first line that cannot be read or disagrees, and what the rules say.
    """
    masked, remarks = _without_remarks(text)
    starts = [found.start() for found in _START.finditer(masked)]
    if not starts:
        raise RecordError(f'no record begins here: expected the tag [STN "{VERSION}"]', 1)
    edges = [0, *starts[1:], len(text)]
    records: list[Record] = []
    for start, stop in itertools.pairwise(edges):
        line = text.count("\n", 0, start) + 1
        own = [(place - start, remark) for place, remark in remarks if start <= place < stop]
        parts = _taken_apart(masked[start:stop], own, line)
        record = _built(parts, line)
        if records:
            _check_match(records[-1], record, parts)
        object.__setattr__(record, "text", text[start:stop])
        records.append(record)
    return records


def _without_remarks(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the text with remarks blanked out, line by line the same, and the remarks with their places."""
    text = text.replace(_INNER_END, " ")
    pieces, remarks, end = [], [], 0
    for found in [*_REMARK.finditer(text), None]:
        outside = text[end : found.start() if found else None]
        brace = re.search(r"[{}]", outside)
        if brace:
            line = text.count("\n", 0, end + brace.start()) + 1
            raise RecordError(f"the brace {brace[0]!r} has no partner", line)
        pieces.append(outside)
        if found is not None:
            is_remark = found[1] is not None
            pieces.append(re.sub(r"[^\n]", " ", found[0]).replace("\n", _INNER_END) if is_remark else found[0])
            if is_remark:
                remarks.append((found.start(), found[1]))
            end = found.end()
    return "".join(pieces).replace("\ufeff", " "), remarks


def _taken_apart(text: str, remarks: list[tuple[int, str]], first_line: int) -> _Text:
    parts = _Text({}, [], [], [])
    places: list[int] = []
    start, line = 0, first_line
    for row in text.split("\n"):
        words = row.strip()
        if words.startswith("["):
            _take_tag(parts, words, line)
        elif words:
            _take_trick(parts, words, line)
            first = start + row.index(":")
            places += [
                first + found.start() for found in re.finditer(r"(?<=\s)[A-Za-z0-9]{2}\b", row[row.index(":") :])
            ]
        start += len(row) + 1
        line += 1 + row.count(_INNER_END)
    parts.comments.extend(Comment(bisect.bisect(places, place), remark) for place, remark in remarks)
    return parts


def _take_tag(parts: _Text, words: str, line: int) -> None:
    found = _TAG.fullmatch(words)
    if found is None:
        raise RecordError(f'{_short(words)} is no tag: expected such as [Dealer "0"]', line)
    if parts.tricks:
        raise RecordError(f"the tag {found[1]} comes after the first trick", line)
    if found[1] in parts.tags:
        raise RecordError(f"the tag {found[1]} is given twice", line)
    parts.tags[found[1]] = _Tag(re.sub(r"\\(.)", r"\1", found[2]), line)


def _take_trick(parts: _Text, words: str, line: int) -> None:
    found = _TRICK.fullmatch(words)
    if found is None:
        raise RecordError(f"{_short(words)} is neither a tag nor a trick such as '3. 1: SK S1 S2 =1'", line)
    with _on(line):
        cards = parse_cards(found[3])
    parts.plays.extend(cards)
    winner = None if found[4] is None else int(found[4])
    parts.tricks.append(TrickClaim(line, int(found[1]), int(found[2]), len(cards), winner))


def _short(words: str) -> str:
    return repr(words if len(words) <= _LONG else words[: _LONG - 3] + "...")


@contextlib.contextmanager
def _on(line: int) -> Iterator[None]:
    """Name the line in whatever value is refused inside."""
    try:
        yield
    except ValueError as error:
        raise RecordError(str(error), line) from None


def _built(parts: _Text, first_line: int) -> Record:
    """Return the record of a text taken apart, confirmed by the rules."""
    tags = parts.tags
    for name in _REQUIRED:
        if name not in tags:
            raise RecordError(f"the tag {name} is missing from the record that begins here", first_line)
    if not re.fullmatch(r"1\.\d+", tags["STN"].value):
        raise RecordError(f"version {tags['STN'].value!r} is unknown: this reads {VERSION}", tags["STN"].line)
    with _on(tags["Rules"].line):
        as_rules(tags["Rules"].value)
    options = tags.get("Options", _Tag("", first_line))
    with _on(options.line):
        rules = parse_rules(tags["Rules"].value, options.value)
    seats = _seats(tags, rules)
    record = Record(
        rules=rules,
        deal=_deal(tags, rules),
        discard=_value(tags, "Discard", parse_cards),
        plays=tuple(parts.plays),
        seats=seats,
        seed=_value(tags, "Seed", lambda text: None if text == _UNKNOWN else _whole(text)),
        result=_value(tags, "Result", lambda text: None if text == _UNFINISHED else _scores(text, rules)),
        comments=tuple(parts.comments),
        tags=tuple((name, tag.value) for name, tag in tags.items() if name not in _KNOWN and not _SEAT.fullmatch(name)),
    )
    if "Number" in tags:
        with _on(tags["Number"].line):
            record = dataclasses.replace(record, number=_whole(tags["Number"].value))
    if "Total" in tags:
        with _on(tags["Total"].line):
            record = dataclasses.replace(record, totals=_scores(tags["Total"].value, rules))
    return verified(record, Claims(tags["Discard"].line, tags["Result"].line, tuple(parts.tricks)))


def _value(tags: dict[str, _Tag], name: str, parse: Callable[[str], Any]) -> Any:
    """Return a tag's value, None without the tag; what cannot be parsed is refused with its line."""
    if name not in tags:
        return None
    with _on(tags[name].line):
        return parse(tags[name].value)


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,40}", text):
        raise ValueError(f"{text!r} is not allowed: expected a whole number of 0 or more")
    return int(text)


def _scores(text: str, rules: Rules) -> tuple[Fraction, ...]:
    scores = tuple(parse_score(part) for part in text.split(";"))
    if len(scores) != rules.players:
        raise ValueError(f"{len(scores)} scores for {rules.players} players: expected one a seat, set apart by ';'")
    return scores


def _seats(tags: dict[str, _Tag], rules: Rules) -> tuple[str, ...]:
    for name, tag in tags.items():
        if _SEAT.fullmatch(name) and int(name.removeprefix("Seat")) >= rules.players:
            raise RecordError(f"{name} is no seat of {rules.players} players", tag.line)
    return tuple(tags[f"Seat{seat}"].value if f"Seat{seat}" in tags else "" for seat in range(rules.players))


def _deal(tags: dict[str, _Tag], rules: Rules) -> Deal:
    hands = _value(tags, "Deal", lambda text: tuple(parse_cards(hand) for hand in text.split(";")))
    talon = _value(tags, "Talon", parse_cards)
    dealer = _value(tags, "Dealer", _whole)
    if dealer >= rules.players:
        raise RecordError(f"dealer {dealer} is no seat: expected 0..{rules.players - 1}", tags["Dealer"].line)
    deal = Deal(hands, talon, dealer)
    try:
        deal.check(rules)
    except ValueError as error:
        place = "Talon" if str(error).startswith("the talon") else "Deal"
        raise RecordError(f"{error} (A6)", tags[place].line) from None
    return deal


def _check_match(before: Record, record: Record, parts: _Text) -> None:
    """Refuse a deal that claims to follow the one before it in a match with other totals (A24)."""
    follows = record.number == before.number + 1 and record.rules == before.rules
    if not follows or before.result is None:
        return
    totals = tuple(total + score for total, score in zip(before.totals, before.result, strict=True))
    if record.totals != totals:
        line = parts.tags["Total" if "Total" in parts.tags else "Number"].line
        raise RecordError(f"the totals before this deal are {scores_text(totals)} (A24)", line)
