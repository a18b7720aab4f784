"""The arena: equal bots score zero, deals depend on seed and number alone, and intervals say what they can tell."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

from scarto_env import PRESETS, Batch, make_bot
from scarto_env.arena import (
    NAMED_SETS,
    DealSet,
    Estimate,
    deal_set,
    duel,
    evaluate,
    growth,
    to_html,
    to_markdown,
    to_text,
)
from scarto_env.arena.duels import role_names
from scarto_env.arena.estimate import student_quantile
from scarto_env.arena.table import all_orders, play_tables, rotations
from scarto_env.notation import read_record

FIRST_CARDS = {"scarto": "3918e72bcc5be5ca"}
"""Hash of ``test-1000``: published numbers name it, so the deals may never change."""


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(["random", "greedy", "heuristic"], deals=30, samples=2, command="scarto eval <all>")


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])
def test_identical_bots_score_exactly_zero(rules, name) -> None:
    result = duel(name, name, rules=rules, deals=40, both_ways=True)
    for side in (result.alone, result.opposed):
        assert (side.points.mean, side.points.deviation, side.points.verdict) == (0, 0, "equal")
    assert result.mean == 0 and result.interval == (0, 0)


def test_identical_searches_score_exactly_zero() -> None:
    assert duel("search:worlds=3", "search:worlds=3", deals=2).interval == (0, 0)


def test_a_hand_is_what_the_engine_scores() -> None:
    deals = DealSet(PRESETS["scarto"], 5, 4)
    hands = play_tables([make_bot("greedy"), make_bot("heuristic")], [(0, 1, 1), (1, 1, 0)], deals)
    for deal in range(4):
        batch = Batch(1, seed=deals.batch_seed(deal), redeal=False)
        assert batch.deal() == deals.deal(deal) and batch.deal().dealer == hands.dealers[deal]
        bots = [make_bot(name) for name in ("heuristic", "heuristic", "greedy")]
        for _ in range(78):
            batch.step(bots[int(batch.seat[0])].act(batch.observation, batch.action_mask))
        scores = [float(Fraction(int(score), 18)) for score in batch.games.settled[0][:3]]
        assert hands.points[deal, 1].tolist() == pytest.approx(scores)


def test_every_bot_sits_in_every_role_of_every_deal() -> None:
    deals = DealSet(PRESETS["four_player"], 0, 6)
    hands = play_tables([make_bot("heuristic", "four_player"), make_bot("random", "four_player")],
                        rotations([0, 1, 1, 1]), deals)  # fmt: skip
    by_role = np.array([hands.of_role(0, slice(None), role) for role in range(4)])
    assert by_role.mean(axis=0) == pytest.approx(hands.of_bot(0, slice(None)))
    for deal in range(6):
        for role in range(4):
            seat = (hands.dealers[deal] + role) % 4
            seating = next(k for k, seats in enumerate(hands.seatings) if seats[seat] == 0)
            assert by_role[role, deal] == pytest.approx(hands.points[deal, seating, seat])
    assert role_names(4) == ("dealer", "forehand", "second", "third")


def test_scores_of_a_hand_sum_to_zero() -> None:
    hands = play_tables(
        [make_bot("greedy"), make_bot("random")], rotations([0, 1, 1]), DealSet(PRESETS["scarto"], 1, 50)
    )
    assert abs(hands.points.sum(axis=2)).max() < 1e-9


def test_a_deal_depends_on_seed_and_number_alone() -> None:
    few, many = DealSet(PRESETS["scarto"], 3, 5), DealSet(PRESETS["scarto"], 3, 2000)
    assert few.deal(4) == many.deal(4) != DealSet(PRESETS["scarto"], 4, 5).deal(4)
    few_hands = play_tables([make_bot("greedy"), make_bot("heuristic")], rotations([0, 1, 1]), few)
    many_hands = play_tables([make_bot("greedy"), make_bot("heuristic")], rotations([0, 1, 1]), many)
    assert (many_hands.points[:5] == few_hands.points).all()


def test_another_bot_changes_nothing_of_the_rest(evaluation) -> None:
    pair = duel("heuristic", "random", deals=30, both_ways=True)
    assert evaluation.pairs["heuristic", "random"] == pair.alone
    assert evaluation.pairs["random", "heuristic"] == pair.opposed


def test_named_sets_are_fixed_and_apart_from_training() -> None:
    for preset, digest in FIRST_CARDS.items():
        assert deal_set("test-1000", preset).digest() == digest
    assert deal_set("smoke-100").digest() != deal_set("smoke-100", "piccolo").digest()
    assert all(deal_set(name).batch_seed(0) >= 2**40 for name in NAMED_SETS)
    assert deal_set("test-1000").name == "test-1000" and DealSet(PRESETS["scarto"], 9, 10).name == "seed 9, 10 deals"
    with pytest.raises(ValueError, match="did you mean 'test-1000'"):
        deal_set("test-100")
    for wrong in (0, -3, True, 2.5):
        with pytest.raises(ValueError, match="deals="):
            deal_set(wrong)
    with pytest.raises(ValueError, match="seed=-1"):
        deal_set(10, seed=-1)


def test_the_interval_is_over_deals() -> None:
    estimate = Estimate.of(np.array([1.0, 3.0, 2.0, 6.0]))
    assert estimate.mean == 3 and estimate.deviation == pytest.approx(2.160247, abs=1e-5)
    # Student's quantile for three degrees of freedom is 3.1824.
    assert estimate.margin == pytest.approx(3.1824 * 2.160247 / 2, rel=0.01)
    for freedom, quantile in ((5, 2.5706), (30, 2.0423), (999, 1.9623)):
        assert student_quantile(freedom) == pytest.approx(quantile, rel=2e-3)


@pytest.mark.parametrize(
    ("points", "verdict"),
    [([1, 2, 1.5, 1], "ahead"), ([-1, -2, -1.5, -1], "behind"), ([1, -2, 3, -1], "cannot tell"), ([0, 0], "equal"),
     ([5], "cannot tell")],
)  # fmt: skip
def test_the_verdict_is_what_the_interval_says(points, verdict) -> None:
    assert Estimate.of(np.array(points, float)).verdict == verdict


def test_illegal_proposals_are_counted_and_replaced() -> None:
    result = duel(lambda observation, mask: np.full(len(mask), 99), "random", deals=2)
    assert result.usage[0].illegal == result.usage[0].decisions > 0
    assert duel("heuristic", "random", deals=20).usage[0].illegal == 0


def test_a_bot_that_returns_the_wrong_number_of_cards_is_named() -> None:
    class Short:
        def act(self, observation, action_mask):
            return np.zeros(1, np.int64)

    with pytest.raises(ValueError, match="returned cards of shape"):
        duel(Short(), "random", deals=2)


def test_orders_of_different_bots_are_all_there_are() -> None:
    assert len(all_orders([0, 1, 2])) == 6 and len(all_orders([0, 1, 1])) == 3


def test_mixed_tables_share_out_nothing_but_zero(evaluation) -> None:
    assert sum(result.points.mean for result in evaluation.mixed.values()) == pytest.approx(0, abs=1e-6)
    ranking = sorted(evaluation.mixed, key=lambda bot: -evaluation.mixed[bot].points.mean)
    assert ranking == ["heuristic", "greedy", "random"]


def test_the_rating_ranks_as_the_points_do(evaluation) -> None:
    pytest.importorskip("openskill")
    ratings = {bot: result.rating.mu for bot, result in evaluation.mixed.items()}
    assert ratings["heuristic"] > ratings["greedy"] > ratings["random"]


def test_too_few_or_equal_bots_are_refused() -> None:
    for bots in (["random"], ["random", "random"]):
        with pytest.raises(ValueError, match="expected two or more different ones"):
            evaluate(bots, deals=2)


def test_every_form_holds_the_numbers_the_deals_and_the_command(evaluation) -> None:
    cell = str(evaluation.pairs["heuristic", "greedy"].points)
    for text in (to_text(evaluation), to_markdown(evaluation), to_html(evaluation)):
        assert cell in text and evaluation.digest in text and "30 deals" in text
        assert "scarto eval <all>" in text or "scarto eval &lt;all&gt;" in text
    fields = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert fields["deals"]["hash"] == evaluation.digest and len(fields["pairs"]) == 6
    assert all(usage["illegal"] == 0 for usage in fields["usage"].values())


def test_doubt_is_told() -> None:
    text = to_text(evaluate(["random", lambda observation, mask: mask.argmax(1)], deals=1, samples=0))
    assert "cannot tell" in text


def test_the_page_stands_alone_and_holds_its_data(evaluation) -> None:
    page = to_html(evaluation)
    assert not re.search(r"(?:src|href|url)\s*[=(]", page) and page.count("<svg") == 2
    data = re.search(r'<script type="application/json" id="evaluation">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data.group(1)) == evaluation.to_dict()


def test_sample_deals_are_records_that_verify(evaluation) -> None:
    for number, text in enumerate(evaluation.samples):
        record = read_record(text)
        assert record.deal == evaluation.deals.deal(number) and record.result is not None
        assert set(record.seats) == {"random", "greedy", "heuristic"}


def test_growth_is_measured_deal_by_deal() -> None:
    first, second = growth.growth(["random"], {1: 6, 3: 4}, bot="search:worlds={worlds},inference=0", seed=3)
    before = duel("search:worlds=1,inference=0", "random", deals=4, seed=3).alone.points
    assert first.gain is None and second.gain is not None
    assert second.gain.num_deals == 4 and second.gain.mean == pytest.approx(second.points.mean - before.mean)
    (_, same) = growth.growth(["random"], {1: 6, 2: 4}, bot="greedy", seed=3)
    assert same.gain is not None and same.gain.mean == same.gain.deviation == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--deals 4", "'4' is not allowed: expected WORLDS:DEALS"),
        ("--deals a:b", "'a:b' is not allowed"),
        ("--deals 4:2:3", "'4:2:3' is not allowed"),
        ("--deals 4:0", "deals=0 is not allowed"),
        ("--deals 0:2", "worlds=0 is not allowed"),
        ("--deals 4:3 4:5", "named twice"),
        ("--against random random", "named twice"),
        ("--against nope", "'nope' is no bot"),
        ("--seed -1", "seed=-1 is not allowed"),
        ("--bot search:worlds={w}", "expected nothing in braces but {worlds}"),
        ("--bot search:worlds={worlds.x}", "expected nothing in braces but {worlds}"),
        ("--bot greedy --deals 1:2 2:2", "rows repeat each other"),
        ("--svg /nowhere/growth.svg", "there is no folder"),
    ],
)
def test_growth_names_what_is_wrong_before_it_measures(capsys, arguments, message) -> None:
    with pytest.raises(SystemExit, match="2"):
        growth.main(arguments.split())
    shown = capsys.readouterr()
    assert message in shown.err and not shown.out


def test_growth_is_a_duel_a_step_and_prints_what_it_measured(capsys, tmp_path) -> None:
    (step,) = growth.growth(["random"], {5: 6}, bot="greedy", seed=3)
    assert step.points == duel("greedy", "random", deals=6, seed=3).alone.points
    assert (step.worlds, step.opponent, step.points.num_deals) == (5, "random", 6) and step.seconds > 0
    svg = tmp_path / "growth.svg"
    growth.main(["--deals", "5:6", "--against", "random", "--bot", "greedy", "--seed", "3", "--svg", str(svg)])
    row = capsys.readouterr().out.splitlines()[2]
    assert row.startswith(f"| 5 | random | {step.points} | 6 | ")
    assert "5 worlds against random" in svg.read_text("utf-8")
