"""The benchmarks count what they say and put the figures together rightly; no speed is tested."""

import json
import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test

from benchmarks import peers, report
from benchmarks.__main__ import alternate, main
from benchmarks.accounting import account, spread
from benchmarks.empty import EPISODE, EmptyEnv, wrapped
from scarto_env import PRESETS, Batch, bench
from scarto_env.bench import Speed, Task

SMALL = [
    bench.ENGINE,
    bench.batch_name(64),
    bench.vector_name(64),
    bench.SINGLE,
    bench.ONE_GAME,
    bench.AEC_ONE_GAME,
    bench.AEC_FIRST,
    bench.AEC_SAMPLE,
]


def clock_of(seconds):
    """Return a clock that goes on by a fixed time whenever it is looked at."""
    ticks = iter(range(10**6))
    return lambda: next(ticks) * seconds


@pytest.fixture(scope="module")
def tasks():
    return {task.name: task for task in bench.tasks("piccolo")}


@pytest.mark.parametrize("name", SMALL)
def test_a_task_counts_its_cards(tasks, name):
    rules, work = PRESETS["piccolo"], tasks[name].make()
    counts = [work() for _ in range(3)]
    whole_deal = rules.num_decisions
    expected = {
        bench.ENGINE: bench.ENGINE_SIZE * whole_deal,
        bench.batch_name(64): 64 * bench._STEPS,
        bench.SINGLE: whole_deal,
        bench.AEC_FIRST: whole_deal + rules.players,
        bench.AEC_SAMPLE: whole_deal + rules.players,
        bench.ONE_GAME: len(bench.draws()),
        bench.AEC_ONE_GAME: len(bench.draws()),
    }
    if name in expected:
        assert counts == [expected[name]] * 3
    else:
        # The learner's own cards and about two others for each of them; a step in 13 to 19 deals instead.
        assert all(2 * 64 * bench._VECTOR_STEPS < count < 3 * 64 * bench._VECTOR_STEPS for count in counts)


def test_cards_are_counted_over_deals():
    batch = Batch(3, "four_player", seed=1, threads=1)
    before = bench.cards_played(batch)
    assert before == 0
    for step in range(1, 200):
        batch.step(batch.random_actions())
        assert bench.cards_played(batch) == 3 * step


def test_every_ratio_is_of_tasks_that_exist():
    names = {task.name for task in bench.tasks()} | {
        value for name, value in vars(peers).items() if name.isupper() and isinstance(value, str)
    }
    for ratio in report.wanted():
        assert {ratio.over, ratio.under} <= names


def test_speed_is_work_over_the_time_it_took():
    assert bench.speed(lambda: 10, seconds=1.0, clock=clock_of(0.25)) == 40
    assert Speed("a task", "cards", [3.0, 1.0, 2.0]).median == 2.0


def test_a_stopwatch_goes_only_while_it_is_told_to(monkeypatch):
    monkeypatch.setattr("scarto_env.bench.time.perf_counter", clock_of(1.0))
    watch = bench.Stopwatch()
    assert watch() == 0
    for seconds in (1, 2):
        with watch:
            pass
        assert watch() == watch() == seconds


def test_where_step_alone_is_timed_all_its_cards_are_counted(tasks):
    for threads in (1, 2):
        task = tasks[bench.threads_step_name(threads)]
        before = task.clock()
        assert task.make()() == bench._STEPS * bench.THREADED_SIZE
        assert task.clock() > before


def test_tasks_alternate_there_and_back(capsys):
    order = []

    def noted(name):
        return Task(name, "cards", lambda: lambda: order.append(name) or 1, clock_of(1.0))

    speeds = alternate([noted("a"), noted("b")], seconds=1.0, repeats=3)
    # Once to compile; then at every turn once that is not counted and once that is.
    assert order == ["a", "b", *"aabbbbaaaabb"]
    assert speeds["a"].speeds == [1.0] * 3
    assert "repeat 3 of 3" in capsys.readouterr().err


def test_ratios_are_paired_by_repeat_and_judged_by_their_median():
    speeds = {
        name: Speed(name, "cards", values)
        for name, values in {
            bench.ENGINE: [30.0, 40.0, 10.0],
            peers.SPADES_ROLLOUTS: [10.0, 10.0, 10.0],
            bench.threads_step_name(1): [1.0, 2.0, 1.0],
            bench.threads_step_name(2): [1.8, 3.6, 1.9],
            peers.LOOP: [1.0, 1.0, 1.0],
        }.items()
    }
    rows = {row["name"]: row for row in report.results(speeds)}
    assert list(rows) == ["engine over spades in C++", "two threads over one, step alone"]
    engine, threads = rows.values()
    assert (engine["median"], engine["low"], engine["high"], engine["met"]) == (3.0, 1.0, 4.0, True)
    assert (threads["median"], threads["target"], threads["met"]) == (1.8, 1.85, False)
    table = report.ratio_table(list(rows.values()))
    assert "3.00  met" in table and "1.85  MISSED" in table
    assert "40" in report.speed_table(speeds)


def test_the_empty_environment_keeps_the_interface(capsys):
    for env in (EmptyEnv(), wrapped()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it draws nothing and observes a dict
            api_test(env, num_cycles=100)
    assert capsys.readouterr().out.count("Passed API test") == 2


def test_plain_peers_count_their_steps():
    counts = {task.name: task.make()() for task in peers.tasks() if task.unit in ("steps", "turns")}
    assert counts.pop(peers.LOOP) == 100_000
    assert set(counts) == {peers.EMPTY_FIRST, peers.EMPTY_SAMPLE, peers.WRAPPED_FIRST, peers.WRAPPED_SAMPLE}
    assert set(counts.values()) == {EPISODE + 3}


@pytest.mark.parametrize(("name", "decisions"), [(peers.TAROK, 48 + 3), (peers.SPADES, 52 + 4)])
def test_open_spiel_plays_whole_deals(name, decisions):
    pytest.importorskip("pyspiel")
    work = next(task for task in peers.tasks() if task.name == name).make()
    assert {work() for _ in range(20)} == {decisions}


def test_games_are_spread_over_the_deal():
    batch = spread(PRESETS["piccolo"], 90)
    games = batch.games.view(np.ndarray)
    assert set(games["turn"].tolist()) == {0, 1, 2}
    assert len(set(games["trick"].tolist())) == 12


def test_the_account_of_a_step():
    parts = account(PRESETS["scarto"], repeats=1)
    assert parts["bytes"]["observation"] == Batch(1).observation.shape[1]
    assert parts["bytes"]["mask"] == 78
    assert 10 < parts["bytes"]["row, changed"] < parts["bytes"]["row, size"]
    assert parts["memory of 65,536 games, MB"] < 200
    shares = dict(parts["nanoseconds"])
    whole, _ = shares.pop("whole step"), shares.pop("legal cards, within play")
    assert sum(shares.values()) == pytest.approx(whole)
    assert "encode the observation" in report.account_table(parts)


def test_the_command_prints_tables_and_writes_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.account", lambda rules: account(rules, repeats=1))
    output = tmp_path / "figures.json"
    code = main(["--only", "of 64", "--seconds", "0.001", "--repeats", "1", "--output", str(output)])
    written = json.loads(output.read_text())
    names = [row["name"] for row in written["speeds"]]
    assert names == [task.name for task in bench.tasks() if "of 64" in task.name]
    assert [row["name"] for row in written["ratios"]] == ["vector environment over bare Batch, 64"]
    assert code == int(any(row["met"] is False for row in written["ratios"]))
    assert written["environment"]["versions"]["scarto"]
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)


def test_usage_errors(capsys):
    for arguments, message in (
        (["--only", "no such task"], "no task has 'no such task'"),
        (["--repeats", "0"], "--repeats at least 1"),
        (["--seconds", "nan"], "--seconds must be positive"),
        (["--seconds", "inf"], "--seconds must be positive"),
        (["--rules", "whist"], "whist"),
        (["--output", "no-such-folder/figures.json"], "there is no folder no-such-folder"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert message in capsys.readouterr().err
