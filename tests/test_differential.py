"""The engine against the reference, state by state, over all presets and random mixes of options."""

import random
from collections import Counter

import pytest
from positions import MIXES, Mix, random_mix
from reference import BAGATTO, FOOL, Game
from twins import Twins, play_twins

LOCKSTEP = 50
"""Games of a batch; a multiple of ten, so that the steered half meets every way to choose equally often."""
FEWEST_DECISIONS = 200_000
FEWEST_DECISIONS_SLOW = 10_000_000


def num_decisions(games: list[Game]) -> int:
    return sum(len(game.discarded) + sum(len(plays) for _, plays, _ in game.tricks) for game in games)


def rare_cases(game: Game) -> list[str]:
    """Return which of the cases that random play seldom meets happened in a finished deal."""
    last_trick = {card for _, card in game.tricks[-1][1]}
    first_cards = {plays[0][1] for _, plays, _ in game.tricks}
    cases = {
        "Fool in the last trick": FOOL in last_trick,
        "Fool led": FOOL in first_cards,
        "Bagatto in the last trick": BAGATTO in last_trick,
        "Bagatto laid away": BAGATTO in game.discarded,
        "nothing left to choose from in the discard": len(game._discardable) == game.options.talon_size,
        "a seat without a trick": len({winner for _, _, winner in game.tricks}) < game.options.players,
    }
    return [name for name, happened in cases.items() if happened]


@pytest.mark.parametrize("preset", MIXES)
def test_presets(preset: str) -> None:
    rng = random.Random(f"differential {preset}")
    decisions, cases = 0, Counter[str]()
    while decisions < FEWEST_DECISIONS // 2 / len(MIXES):
        games = play_twins(MIXES[preset], LOCKSTEP, rng)
        decisions += num_decisions(games)
        cases.update(case for game in games for case in rare_cases(game))
    # The steered deals have to reach what they are steered to.
    assert cases["Fool in the last trick"] > 5
    assert cases["Fool led"] > 20
    assert cases["Bagatto in the last trick"] > 5
    assert cases["Bagatto laid away"] > 0


def test_random_mixes() -> None:
    rng = random.Random("differential of mixes")
    decisions, cases, mixes = 0, Counter[str](), set()
    while decisions < FEWEST_DECISIONS // 2:
        mix = random_mix(rng)
        games = play_twins(mix, LOCKSTEP // 5, rng)
        mixes.add(mix)
        decisions += num_decisions(games)
        cases.update(case for game in games for case in rare_cases(game))
    assert len(mixes) > 100
    assert min(cases.values()) > 10 and len(cases) == 6, cases


@pytest.mark.parametrize(
    "fields",
    [
        {"overtrump": False},
        {"cheapest_overtrump": True},
        {"trump_top": 20},
        {"fool_lost_in_last_trick": False},
        {"leftovers": "whole"},
        {"fool_discardable": True},
        {"bagatto_fool_blocks": True},
        {"ultimo": "bagatto_or_fool"},
        {"settlement": "lowest_pays"},
        {"discard_ban": (21,)},
        {"honours": (1, 20)},
        {"fool_value": 5},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_every_option_would_be_noticed(fields: dict) -> None:
    """An engine that played another rule than the reference is caught: the comparison has teeth."""
    other = Mix(MIXES["scarto"].rules, MIXES["scarto"].options.__class__(**fields))
    with pytest.raises(AssertionError, match=r"engine .*, reference .*"):
        play_twins(other, 200, random.Random("teeth"))


def test_failure_shows_the_deal() -> None:
    """A difference is reported with the deal and the cards played, ready for a test of its own."""
    twins = Twins(MIXES["scarto"], [None])
    twins.play([min(twins.games[0].legal())])
    twins.batch.games.phase[0] = 1
    with pytest.raises(AssertionError, match=r"(?s)phase: engine 1.*seat 2: .*talon: .*played: \w\w$"):
        twins.compare()


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_million_decisions() -> None:
    rng = random.Random("ten million")
    decisions = 0
    while decisions < FEWEST_DECISIONS_SLOW:
        for mix in (*MIXES.values(), *(random_mix(rng) for _ in MIXES)):
            decisions += num_decisions(play_twins(mix, 4 * LOCKSTEP, rng))
