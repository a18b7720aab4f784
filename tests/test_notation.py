"""Records: text both ways, byte for byte; every lie in one is named with its line and article."""

from __future__ import annotations

import dataclasses
import pickle
import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from deals import SHORT, random_records
from hypothesis import given
from hypothesis import strategies as st

from scarto_env import PRESETS, Batch, Deal, Rules
from scarto_env.cards import NUM_CARDS
from scarto_env.notation import (
    Comment,
    Record,
    RecordError,
    cards_text,
    deal_text,
    hand_text,
    load_records,
    parse_cards,
    parse_deal,
    parse_rules,
    parse_score,
    position,
    read_json,
    read_record,
    read_records,
    record_of,
    rules_text,
    save_records,
    score_text,
    tricks_of,
    verified,
    write_json,
    write_record,
    write_records,
)


def rewritten(record: Record) -> str:
    """The text of a record without the one it was read from."""
    return write_record(dataclasses.replace(record))


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith(start))


# --- words ----------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, NUM_CARDS - 1), unique=True))
def test_cards_go_to_text_and_back(cards: list[int]) -> None:
    assert parse_cards(cards_text(cards)) == tuple(cards)
    assert sorted(parse_cards(hand_text(cards))) == sorted(cards)


def test_a_hand_is_shown_by_suit_in_rank_the_trumps_together_the_fool_apart() -> None:
    assert hand_text(parse_cards("MT 01 ST S1 CT C1 SK 21")) == "C1 CT | SK ST S1 | 21 01 | MT"


@pytest.mark.parametrize("preset", PRESETS)
def test_deals_go_to_text_and_back(preset: str) -> None:
    deal = Deal.random(preset, np.random.default_rng(3))
    assert parse_deal(deal_text(deal)) == deal


@given(st.fractions(max_denominator=24))
def test_scores_go_to_text_and_back(score: Fraction) -> None:
    assert parse_score(score_text(score)) == score
    assert parse_score(score_text(abs(score), signed=False)) == abs(score)


@pytest.mark.parametrize("text", ["", "x", "1/0", "3 1/0", "--3", "1 2", "+ 4"])
def test_no_score(text: str) -> None:
    with pytest.raises(ValueError, match="is no score"):
        parse_score(text)


@given(
    st.sampled_from(sorted(PRESETS)),
    st.fixed_dictionaries({
        "honours": st.sets(st.integers(1, 21), max_size=3).map(tuple),
        "fool_value": st.integers(1, 9),
        "trump_top": st.sampled_from([20, 21]),
        "cheapest_overtrump": st.booleans(),
        "ultimo": st.sampled_from(["off", "bagatto", "bagatto_or_fool"]),
        "settlement": st.sampled_from(["net", "lowest_pays"]),
    }),
)  # fmt: skip
def test_rules_go_to_text_and_back(preset: str, fields: dict[str, object]) -> None:
    rules = dataclasses.replace(PRESETS[preset], **fields)
    assert parse_rules(*rules_text(rules)) == rules


@pytest.mark.parametrize(
    ("options", "names"),
    [("overtrmp=no", "overtrmp"), ("overtrump=maybe", "overtrump"), ("honours=x", "honours"), ("players=5", "players")],
)
def test_a_wrong_option_is_named(options: str, names: str) -> None:
    with pytest.raises(ValueError, match=names):
        parse_rules("scarto", options)


# --- a record that can be read ------------------------------------------------------------------------------


def test_a_record_says_who_played_what_and_who_won() -> None:
    record = read_record(SHORT)
    assert record.rules == PRESETS["piccolo"] and record.deal.dealer == 0 and record.seed == 12
    assert record.seats == ("Anna", "Bruno", "Carla")
    assert record.result == (Fraction(91, 3), Fraction(-31, 3), Fraction(-20))
    tricks = tricks_of(record)
    assert [trick.winner for trick in tricks] == [0, 1, 1, 0, 1, 0, 0, 2, 0, 1, 0, 0]
    assert cards_text(tricks[2].cards) == "15 11 MT" and tricks[2].leader == 1
    assert rewritten(record) == SHORT == str(record)


# 500 deals a preset.
@pytest.mark.parametrize("preset", PRESETS)
def test_random_deals_come_back_byte_for_byte(preset: str) -> None:
    for record in random_records(preset, 500):
        text = write_record(record)
        read = read_record(text)
        assert read == record
        assert write_record(read) == text == rewritten(read)


def test_a_deal_of_25_tricks_takes_about_a_kilobyte() -> None:
    assert max(len(write_record(record).encode()) for record in random_records("scarto", 20)) < 1024


@pytest.mark.parametrize("preset", PRESETS)
def test_a_row_in_the_middle_of_its_deal_has_a_record(preset: str) -> None:
    batch = Batch(1, preset, seed=5, redeal=False)
    for _ in range(batch.rules.num_decisions):
        record = record_of(batch.games[0], preset)
        assert record.result is None and read_record(rewritten(record)) == record
        assert position(record).observation.tolist() == batch.observation.tolist()
        batch.step(batch.random_actions())


@pytest.mark.parametrize("preset", PRESETS)
def test_any_position_of_a_record_opens_a_game_there(preset: str) -> None:
    batch = Batch(1, preset, seed=8, redeal=False)
    # Where the deals come from and what was paid or scored before is no part of a deal.
    apart = {"key", "deal_random", "bot_random", "deal_number", "paid", "score", "settled"}
    fields = [name for name in batch.games.dtype.names or () if name not in apart]
    rows, cards = [batch.games[0].copy()], []
    for _ in range(batch.rules.num_decisions):
        cards.append(int(batch.random_actions()[0]))
        batch.step(cards[-1:])
        rows.append(batch.games[0].copy())
    record = record_of(rows[-1], preset)
    # The row keeps no order of the discard: give the record that of play.
    record = dataclasses.replace(record, discard=tuple(cards[: batch.rules.talon_size]))
    for ply in range(0, len(rows), 7):
        opened = position(record, ply)
        for name in fields:
            assert np.array_equal(opened.games[0][name], rows[ply][name]), (name, ply)
        assert opened.seat[0] == rows[ply].seat and not opened.redeal


def test_a_position_outside_the_record_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ply=43 is not in the record: expected 0\.\.42"):
        position(read_record(SHORT), 43)


def test_comments_and_unknown_tags_stay() -> None:
    text = SHORT.replace('[Result', '[Table "by the \\"stove\\" {1}"]\n[Result').replace(
        "\n1. 1: SC SJ 06 =0", '\n{before all}\n{twice [x] "y"}\n1. 1: SC {in\nthe middle} SJ 06 =0 {after}'
    )  # fmt: skip
    record = read_record(text)
    assert record.tags == (("Table", 'by the "stove" {1}'),)
    assert record.comments == (
        Comment(0, "before all"), Comment(0, 'twice [x] "y"'), Comment(1, "in\nthe middle"), Comment(3, "after"),
    )  # fmt: skip
    assert write_record(record) == text
    again = read_record(rewritten(record))
    assert (again.tags, again.comments, again.plays) == (record.tags, record.comments, record.plays)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace(" ", "  ").replace('"+30  1/3', '"+30 1/3').replace("-10  1", "-10 1"),
        lambda text: text.replace("SC SJ", "sc sj").replace("[Talon \"CC DJ", "[Talon \"DJ cc"),
        lambda text: "{a file of mine}\n\n" + text + "\n\n{the end}\n",
        lambda text: text.replace("\n1. 1:", "\n\n\n   1. 1:"),
    ],
    ids=["crlf", "mark", "no end", "spaces", "case", "around", "indent"],
)  # fmt: skip
def test_other_layouts_are_read_and_kept(change: Callable[[str], str]) -> None:
    text = change(SHORT).replace("[STN  ", "[STN ")
    text = re.sub(r"^\[(\w+)  ", r"[\1 ", text, flags=re.MULTILINE)
    record = read_record(text)
    assert write_record(record) == text
    assert dataclasses.replace(record, comments=()) == dataclasses.replace(read_record(SHORT))


def test_a_changed_record_is_written_anew() -> None:
    record = read_record(SHORT.replace("\n", "\r\n"))
    assert write_record(dataclasses.replace(record, seats=("A", "B", "C"))) == SHORT.replace("Anna", "A").replace(
        "Bruno", "B"
    ).replace("Carla", "C")


def test_what_cannot_be_written_is_refused() -> None:
    record = read_record(SHORT)
    with pytest.raises(ValueError, match="more than one line"):
        write_record(dataclasses.replace(record, seats=("A\nB", "", "")))
    with pytest.raises(ValueError, match="no braces"):
        write_record(dataclasses.replace(record, comments=(Comment(0, "}"),)))
    with pytest.raises(ValueError, match="43 cards of 36"):
        dataclasses.replace(record, comments=(Comment(43, "late"),))


def test_a_record_survives_pickling() -> None:
    record = read_record(SHORT)
    assert pickle.loads(pickle.dumps(record)) == record
    assert str(pickle.loads(pickle.dumps(RecordError("why", 3)))) == "line 3: why"


# --- several records -----------------------------------------------------------------------------------------


def match_of_three() -> list[Record]:
    batch = Batch(1, "piccolo", seed=2, redeal=False)
    records = []
    totals = np.zeros(3, int)
    for number in range(3):
        batch.games.total[0, :3] = totals
        batch.games.match_deal[0] = number
        batch.refresh()
        batch.play_out()
        records.append(record_of(batch.games[0], "piccolo"))
        totals += batch.games.settled[0, :3]
        batch.reset(dealer=(records[-1].deal.dealer + 1) % 3)
    return records


def test_a_match_is_several_records() -> None:
    records = match_of_three()
    text = write_records(records)
    assert read_records(text) == records and write_records(read_records(text)) == text
    assert [record.number for record in records] == [0, 1, 2]
    assert records[2].totals == tuple(a + b for a, b in zip(records[1].totals, records[1].result or (), strict=True))
    assert position(records[2], 5).games[0].match_deal == 2
    with pytest.raises(
        RecordError, match=f"line {text.split('[STN')[0:2][1].count(chr(10)) + 1}: a second record of 3"
    ):
        read_record(text)


def test_a_match_with_a_wrong_total_is_refused() -> None:
    text = write_records(match_of_three())
    wrong = re.sub(r'\[Total "[^;"]*', '[Total "+1', text, count=1)
    with pytest.raises(RecordError, match=rf"line {line_of(wrong, '[Total')}: the totals before this deal .*A24"):
        read_records(wrong)


@pytest.mark.parametrize("suffix", [".stn", ".jsonl"])
def test_files_of_records(suffix: str, tmp_path: Path) -> None:
    records = [*random_records("scarto", 3), *random_records("four_player", 2)]
    path = tmp_path / f"deals{suffix}"
    save_records(path, records)
    assert load_records(path) == records
    content = path.read_bytes()
    save_records(path, load_records(path))
    assert path.read_bytes() == content


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deal.stn"
    path.write_bytes(SHORT.encode() + b"\xff\xfe")
    with pytest.raises(RecordError, match=f"line {SHORT.count(chr(10)) + 1}: not UTF-8"):
        load_records(path)


def test_json_one_deal_a_line() -> None:
    record = dataclasses.replace(read_record(SHORT), comments=(Comment(3, "well"),), tags=(("Table", "1"),))
    line = write_json(record)
    assert "\n" not in line and read_json(line) == record and write_json(read_json(line)) == line


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line[:-20], "no JSON"),
        (lambda line: "[]", "'stn' is missing"),
        (lambda line: line.replace('"talon"', '"talo"'), "'talon' is missing"),
        (lambda line: line.replace('"stn": "1.0"', '"stn": "2.0"'), "version '2.0' is unknown"),
        (lambda line: line.replace('"dealer": 0', '"dealer": "0"'), "dealer='0' is no seat"),
        (lambda line: line.replace("SC SJ 06", "SC 06 SJ"), r"trick 1: seat 2 may not play 06.*A11"),
        (lambda line: line.replace("+30 1/3", "+30"), r"the result is \+30 1/3"),
        (lambda line: line.replace('"seed": 12', '"seed": -1'), "seed=-1 is not allowed"),
        (lambda line: line.replace('"deal": [', '"deal": [7, '), "no record"),
    ],
)
def test_wrong_json_is_refused(change: Callable[[str], str], reason: str) -> None:
    wrong = change(write_json(read_record(SHORT)))
    with pytest.raises(RecordError, match=reason) as refusal:
        read_json(wrong)
    assert "\n" not in str(refusal.value)


# --- records that lie --------------------------------------------------------------------------------------------

LIES = [
    ("2. 0: 19 20 17 =1", "2. 0: 19 17 20 =1", "2.", "seat 1 may not play 17: the seat does not hold it (A11)"),
    ("1. 1: SC SJ 06 =0", "1. 1: SC SJ 06 =1", "1.", "trick 1 is won by seat 0 with 06, not by seat 1 (A16)"),
    ("1. 1: SC SJ 06 =0", "1. 1: SC SJ 06", "1.", "won by seat 0 with 06, no winner is named (A16)"),
    ("2. 0: 19 20 17 =1", "2. 2: 19 20 17 =1", "2.", "led by seat 0, the winner of trick 1 (A16), not by seat 2"),
    ("1. 1: SC", "1. 0: SC", "1.", "trick 1 is led by seat 1, forehand (A5), not by seat 0"),
    ("1. 1: SC SJ 06", "1. 1: SC SJ MT", "1.", "won by seat 1 with SC, not by seat 0 (A16)"),
    ("1. 1: SC SJ 06", "1. 1: SC CQ 06", "1.", "seat 2 may not play CQ: swords must be followed (A12); legal: SK SJ"),
    ("1. 1: SC SJ 06", "1. 1: SC SJ CK", "1.", "seat 0 may not play CK: a trump must be played (A13)"),
    ("2. 0: 19 20 17", "2. 0: 19 10 17", "2.", "a trump that beats the 19 on the table must be played (A13)"),
    ("3. 1: 15 11 MT =1", "3. 1: 15 11 =1", "3.", "trick 3 has 2 cards for 3 players (A11)"),
    ("3. 1: 15 11 MT =1", "4. 1: 15 11 MT =1", "4.", "trick 3 is expected here, not trick 4"),
    ("3. 1: 15 11 MT =1", "3. 1: 15 11 MT 01 =1", "3.", "trick 3 has 4 cards for 3 players (A11)"),
    ("3. 1: 15 11 MT =1", "3. 1 15 11 MT =1", "3.", "is neither a tag nor a trick"),
    ("3. 1: 15 11 MT =1", "3. 1: 15 11 M =1", "3.", "is neither a tag nor a trick"),
    ("3. 1: 15 11 MT =1", "3. 1: 15 11 XX =1", "3.", "'XX' is no card code"),
    ("3. 1: 15 11 MT =1", "3. 1: 15 11 MT =1 {", "3.", "the brace '{' has no partner"),
    ("+30 1/3; -10", "+30; -10", "[Result", "the result is +30 1/3; -10 1/3; -20, not +30; -10 1/3; -20 (A21)"),
    ("+30 1/3; -10", "+30 1/x; -10", "[Result", "is no score"),
    ("+30 1/3; -10 1/3; -20", "+30 1/3; -30 1/3", "[Result", "2 scores for 3 players"),
    ("+30 1/3; -10 1/3; -20", "*", "[Result", "the result is +30 1/3; -10 1/3; -20, not missing (A21)"),
    ("12. 0: DQ BJ CJ =0\n", "", "[Result", "there can be no result: the record breaks off after 33 cards of 36 (A18)"),
    ("12. 0: DQ BJ CJ =0", "12. 0: DQ BJ CJ =0\n13. 0: DQ BJ CJ =0", "13.", "the deal is over (A18)"),
    ("[Discard \"CC BQ", "[Discard \"CK BQ", "[Discard", "may not play CK: a king is never laid away (A9)"),
    ("[Discard \"CC BQ", "[Discard \"SQ BQ", "[Discard", "may not play SQ: the seat does not hold it (A8)"),
    ("[Discard \"CC BQ", "[Discard \"BQ", "[Discard", "seat 0 must lay away 1 more before the first trick (A8)"),
    ("[Discard \"CC BQ", "[Discard \"DJ CC BQ", "[Discard", "seat 0 must lay away 1 fewer before the first trick (A8)"),
    ("; C1 BC", "; CK BC", "[Deal \"", "CK is dealt 2 times (A6)"),
    ("; C1 BC", "; C2 BC", "[Deal \"", "C2 is not in the piccolo deck (A6)"),
    ("; C1 BC", "; C1 BC 19", "[Deal \"", "19 is dealt 2 times (A6)"),
    ("; C1 BC", "; BC", "[Deal \"", "hand 1 has 11 cards instead of 12 (A6)"),
    ("[Talon \"CC DJ", "[Talon \"CC", "[Talon", "the talon has 5 cards instead of 6 (A6)"),
    ("[Dealer \"0\"", "[Dealer \"3\"", "[Dealer", "dealer 3 is no seat: expected 0..2"),
    ("[Dealer \"0\"", "[Dealer \"x\"", "[Dealer", "'x' is not allowed"),
    ("[Dealer \"0\"", "[Number \"300\"]\n[Dealer \"0\"", "[Number", "300 is no deal of a match: expected 0..299"),
    ("[Dealer \"0\"", "[Number \"300\"]\n[Total \"0; 0; 0\"]\n[Dealer \"0\"", "[Number", "number=300 is no deal"),
    ("[Seed \"12\"", "[Seed \"-1\"", "[Seed", "'-1' is not allowed"),
    ("[Rules \"piccolo\"", "[Rules \"picolo\"", "[Rules", "did you mean 'piccolo'?"),
    ("[Rules \"piccolo\"", "[Rules \"scarto\"", "[Deal \"", "hand 0 has 12 cards instead of 25 (A6)"),
    ("[Options \"\"", "[Options \"overtrump\"", "[Options", "option 'overtrump' is unknown"),
    ("[STN \"1.0\"", "[STN \"2.0\"", "[STN", "version '2.0' is unknown: this reads 1.0"),
    ("[Seat0 \"Anna\"]", "[Seat0 Anna]", "[Seat0", "is no tag"),
    ("[Seat0 \"Anna\"]", "[Seat3 \"Anna\"]", "[Seat3", "Seat3 is no seat of 3 players"),
    ("[Seat0 \"Anna\"]\n", "[Seat0 \"Anna\"]\n[Seed \"3\"]\n", "[Seed \"3", "the tag Seed is given twice"),
    ("2. 0:", "[Late \"1\"]\n2. 0:", "[Late", "the tag Late comes after the first trick"),
    ("[Talon \"CC DJ 19 12 04 02\"]\n", "", "[STN", "the tag Talon is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "start", "reason"), LIES)
def test_the_first_line_that_disagrees_is_named_with_the_rule(old: str, new: str, start: str, reason: str) -> None:
    assert old in SHORT
    wrong = SHORT.replace(old, new, 1)
    with pytest.raises(RecordError) as refusal:
        read_record(wrong)
    message = str(refusal.value)
    assert message.startswith(f"line {line_of(wrong, start)}: ") and reason in message
    assert "\n" not in message and refusal.value.line == line_of(wrong, start)


@pytest.mark.parametrize("text", ["", "\n\n", "hello", '[Rules "scarto"]\n'])
def test_what_is_no_record_at_all(text: str) -> None:
    with pytest.raises(RecordError, match="line 1: no record begins here"):
        read_record(text)


def test_a_changed_record_is_checked_too() -> None:
    record = read_record(SHORT)
    assert verified(record) == record
    with pytest.raises(RecordError, match=r"trick 1: seat 1 may not play SJ.*A11"):
        verified(dataclasses.replace(record, plays=(record.plays[1], record.plays[0], *record.plays[2:])))


# --- 200 malformed records -----------------------------------------------------------------------------------------


def _swap_cards(lines: list[str], rng: random.Random) -> None:
    """Two cards of a trick change places: hands are disjoint, so neither seat holds what it plays."""
    index = rng.choice([index for index, line in enumerate(lines) if re.match(r"\d+\. ", line)])
    words = lines[index].split()
    first, second = rng.sample(range(2, len(words) - 1), 2)
    words[first], words[second] = words[second], words[first]
    lines[index] = " ".join(words)


def _replace_card(lines: list[str], rng: random.Random) -> None:
    """A card is played twice, so once by a seat that does not hold it."""
    tricks = [index for index, line in enumerate(lines) if re.match(r"\d+\. ", line)]
    first, second = rng.sample(tricks, 2)
    words = lines[first].split()
    words[rng.randrange(2, len(words) - 1)] = lines[second].split()[2]
    lines[first] = " ".join(words)


def _drop_line(lines: list[str], rng: random.Random) -> None:
    kept = ("[Options", "[Seed", "[Seat", "[Number", "[Total")
    del lines[rng.choice([index for index, line in enumerate(lines) if line and not line.startswith(kept)])]


def _repeat_line(lines: list[str], rng: random.Random) -> None:
    index = rng.choice([index for index, line in enumerate(lines) if line and not line.startswith("[STN")])
    lines.insert(index, lines[index])


def _drop_word(lines: list[str], rng: random.Random) -> None:
    index = rng.choice([index for index, line in enumerate(lines) if re.match(r"\d+\. ", line)])
    words = lines[index].split()
    del words[rng.randrange(len(words))]
    lines[index] = " ".join(words)


def _another_winner(lines: list[str], rng: random.Random) -> None:
    index = rng.choice([index for index, line in enumerate(lines) if re.match(r"\d+\. ", line)])
    lines[index] = lines[index][:-1] + str((int(lines[index][-1]) + rng.randint(1, 2)) % 3)


def _another_result(lines: list[str], rng: random.Random) -> None:
    index = next(index for index, line in enumerate(lines) if line.startswith("[Result"))
    lines[index] = f'[Result "{rng.randint(1, 9)}; +{rng.randint(1, 9)}; {rng.randint(1, 9)}"]'


def _exchange_dealt_cards(lines: list[str], rng: random.Random) -> None:
    """Two hands exchange a card: each is played by the wrong seat."""
    index = next(index for index, line in enumerate(lines) if line.startswith("[Deal "))
    hands = [hand.split() for hand in lines[index][7:-2].split(";")]
    dealer = int(next(line for line in lines if line.startswith("[Dealer"))[9])
    one, other = [seat for seat in range(3) if seat != dealer]
    first, second = rng.randrange(len(hands[one])), rng.randrange(len(hands[other]))
    hands[one][first], hands[other][second] = hands[other][second], hands[one][first]
    lines[index] = f'[Deal "{"; ".join(" ".join(hand) for hand in hands)}"]'


def _cut_short(lines: list[str], rng: random.Random) -> None:
    text = "\n".join(lines)
    cut = text[: rng.randrange(1, len(text) - 2)]
    lines[:] = cut.split("\n")


def _garbage(lines: list[str], rng: random.Random) -> None:
    lines.insert(rng.randrange(1, len(lines)), "".join(rng.choice('aZ9[]{}"=.:;\\ é') for _ in range(9)) + "x")


EDITS = [
    _swap_cards, _replace_card, _drop_line, _repeat_line, _drop_word, _another_winner, _another_result,
    _exchange_dealt_cards, _cut_short, _garbage,
]  # fmt: skip


def test_200_malformed_records_give_one_clear_line_each() -> None:
    rng = random.Random(7)
    texts = [write_record(record) for preset in ("scarto", "traditional", "piccolo", "ultimo")
             for record in random_records(preset, 5, seed=9)]  # fmt: skip
    for number in range(200):
        edit = EDITS[number % len(EDITS)]
        lines = rng.choice(texts).rstrip("\n").split("\n")
        edit(lines, rng)
        wrong = "\n".join(lines) + "\n"
        with pytest.raises(RecordError) as refusal:
            pytest.fail(f"{edit.__name__} went unnoticed:\n{read_record(wrong)}")
        message = str(refusal.value)
        assert "\n" not in message and len(message) < 250, message
        assert refusal.value.line is not None and 1 <= refusal.value.line <= len(lines) + 1
        assert refusal.value.reason and not refusal.value.reason.startswith("line")


def test_whatever_is_typed_over_a_record_is_read_and_kept_or_refused_in_one_line() -> None:
    rng = random.Random(11)
    texts = [SHORT, write_record(random_records("four_player", 1)[0]), write_records(match_of_three())]
    keys = 'abcKQ019 []{}"\\=.:;\n\r\t*?-+/é\x1f'
    num_read, refusals = 0, []
    for _ in range(600):
        letters = list(rng.choice(texts))
        place = rng.randrange(len(letters))
        letters[place : place + rng.randint(0, 2)] = [rng.choice(keys) for _ in range(rng.randint(0, 2))]
        text = "".join(letters)
        try:
            records = read_records(text)
        except RecordError as error:
            refusals.append((error, text.count("\n") + 1))
            continue
        num_read += 1
        assert write_records(records) == text
        assert [read_record(rewritten(record)) for record in records]
    assert num_read > 20
    assert all("\n" not in str(error) and error.line and error.line <= lines for error, lines in refusals)


def test_options_of_a_record_decide_what_is_legal() -> None:
    record = random_records("scarto", 1)[0]
    text = write_record(record).replace('[Options ""]', '[Options "fool_value=3"]')
    with pytest.raises(RecordError, match=r"line 12: the result is"):
        read_record(text)
    other = Rules(fool_value=3)
    assert rules_text(other) == ("scarto", "fool_value=3")
