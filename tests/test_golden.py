"""Whole deals as text in golden/, three a preset: a change of the rules shows as a difference of text.

``python -m pytest tests/test_golden.py --regenerate-golden`` writes them anew; read the difference
before it is committed.
"""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from positions import (
    MIXES,
    begin,
    codes_of,
    exact_points,
    exact_scores,
    exact_settled,
    ids,
    reference_game,
    words_codes,
)
from reference import ALL_CARDS
from steering import Choice, at_random, bagatto_to_the_end, fool_led, fool_to_the_end, tarocchi_away

from scarto_env import Batch
from scarto_env.state import OVER

GOLDEN = Path(__file__).parent / "golden"
LAST_CHOICE: dict[str, Choice] = {"ultimo": bagatto_to_the_end, "free_fool": tarocchi_away}
PLAYS = [
    (preset, choose) for preset in MIXES for choose in (at_random, fool_led, LAST_CHOICE.get(preset, fool_to_the_end))
]


def mixed(number: Fraction) -> str:
    """Return ``26 1/3`` or ``-3 1/3``."""
    whole, part = divmod(abs(number), 1)
    shown = " ".join(str(piece) for piece in (whole, part) if piece) or "0"
    return f"-{shown}" if number < 0 else shown


def mixed_list(numbers: list[Fraction]) -> str:
    return ", ".join(mixed(number) for number in numbers)


def transcript(preset: str, choose: Choice) -> str:
    """Return a deal of the engine's own stream, played by a way to choose, as text."""
    rules, options = MIXES[preset]
    number = PLAYS.index((preset, choose))
    rng = random.Random(number)
    deal = Batch(1, rules, seed=number).deal()
    batch, chooser = begin(rules, deal), reference_game(options, deal)
    row = batch.games[0]
    lines = [f"{preset}, {choose.__name__.replace('_', ' ')}", f"Dealer {deal.dealer}"]
    lines += [f"Hand {seat}: {' '.join(codes_of(hand))}" for seat, hand in enumerate(deal.hands)]
    lines.append(f"Talon: {' '.join(codes_of(deal.talon))}")
    trick: list[str] = []
    leader = -1
    while row.phase != OVER:
        legal = codes_of(batch.action_mask[0].nonzero()[0])
        card = choose(chooser, legal, rng)
        if row.num_discarded == rules.talon_size and not trick:
            leader = int(batch.seat[0])
        chooser.play(card)
        batch.step(ids([card]))
        trick.append(card)
        if row.trick == 0 and row.num_discarded == len(trick) == rules.talon_size and leader < 0:
            lines.append(f"Discard: {' '.join(trick)}")
            trick = []
        elif leader >= 0 and len(trick) == rules.players:
            points = mixed_list(exact_points(batch))
            lines.append(f"{int(row.trick):2}. {leader}: {' '.join(trick)} ={int(row.leader)} | {points}")
            trick = []
    for seat in range(rules.players):
        pile = sorted(words_codes(row.pile[seat]), key=ALL_CARDS.index)
        lines.append(f"Pile {seat}: {' '.join(pile)}")
    lines += [
        f"Points: {mixed_list(exact_points(batch))}",
        f"Scores: {mixed_list(exact_scores(batch))}",
        f"Settled: {mixed_list(exact_settled(batch))}",
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("preset", "choose"), PLAYS, ids=[f"{preset}-{choose.__name__}" for preset, choose in PLAYS])
def test_transcripts(preset: str, choose: Choice, request: pytest.FixtureRequest) -> None:
    file = GOLDEN / f"{preset}-{choose.__name__}.txt"
    text = transcript(preset, choose)
    if request.config.getoption("--regenerate-golden"):
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")


def test_no_transcript_is_left_over() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == {f"{preset}-{choose.__name__}" for preset, choose in PLAYS}
