"""Runs: settings, folders, resuming number for number, and what happens when something goes wrong."""

from __future__ import annotations

import csv
import dataclasses
import importlib.metadata
import inspect
import json
import multiprocessing
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from scarto_env import Batch, make_bot
from scarto_env.bots.policy import CheckpointError, PolicyBot
from scarto_env.bots.registry import find_checkpoint
from scarto_env.rules import as_rules
from training import checkpoint, commands, network
from training.card import SCORES_FILE, Facts, measure, write_card
from training.checkpoint import (
    STATE_FILE,
    RunError,
    begin_from,
    checkpoint_folder,
    read_facts,
    resumed_config,
    save_policy,
    save_state,
)
from training.config import Config, descriptions, make_config, read_settings
from training.crew import stops_held_back
from training.distill import distill, distillation_config
from training.exploit import exploit, exploiter_config
from training.learner import Learner
from training.report import EVALUATIONS_FILE, METRICS_FILE, Reporter
from training.train import new_deals, train

TINY: dict[str, Any] = {
    "workers": 1, "deals": 48, "deals_at_once": 8, "minibatches": 2, "actor": (16,), "critic": (8,),
    "evaluate_every": 3, "evaluate_deals": 2, "yardsticks": ("random",), "save_every": 1,
}  # fmt: skip
TIMES = ("seconds", "deals_a_second", "decisions_a_second")


@pytest.fixture(autouse=True)
def _sigint_is_heard() -> Iterator[None]:
    """Have Ctrl-C heard: what a script starts in the background ignores it, and so do all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def tiny(**settings: Any) -> Config:
    return Config(**{**TINY, **settings})


def options(folder: Path, **settings: Any) -> list[str]:
    words = ["--out", str(folder), "--final-deals", "2"]
    for name, value in {**TINY, **settings}.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return words


def numbers(folder: Path) -> tuple[dict[str, torch.Tensor], list[dict[str, str]]]:
    """Return all tensors of a run's state, and its metrics without the times."""
    with (folder / METRICS_FILE).open(newline="") as file:
        rows = [{name: text for name, text in row.items() if name not in TIMES} for row in csv.DictReader(file)]
    return load_file(folder / STATE_FILE), rows


def assert_equal_runs(one: Path, other: Path) -> None:
    (first, first_rows), (second, second_rows) = numbers(one), numbers(other)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name
    assert first_rows == second_rows


def test_every_setting_is_described() -> None:
    assert set(descriptions()) == {field.name for field in dataclasses.fields(Config)}
    assert all(len(meaning) > 10 for meaning in descriptions().values())


def test_descriptions_do_not_depend_on_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    # Python 3.13 takes the indentation off docstrings.
    before = descriptions()
    monkeypatch.setattr(Config, "__doc__", inspect.cleandoc(Config.__doc__))
    assert descriptions() == before


def test_settings_are_read_from_text() -> None:
    config = make_config({"actor": "64,32", "deals": "100", "critic_sees_all": "false", "clip": "0.1"})
    assert config == Config(actor=(64, 32), deals=100, critic_sees_all=False, clip=0.1)
    bots = make_config({"league_bots": "greedy, search:worlds=4,sure=2,heuristic,"}).league_bots
    assert bots == ("greedy", "search:worlds=4,sure=2", "heuristic")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rat": 1}, "'learning_rat' is no setting: .*did you mean 'learning_rate'"),
        ({"deals": "many"}, "deals='many' is not allowed: expected a whole number"),
        ({"deals": float("inf")}, "deals=inf is not allowed: expected a whole number"),
        ({"deals": 0}, "deals=0 is not allowed: expected more than 0"),
        ({"trace": 1.5}, "trace=1.5 is not allowed"),
        ({"precision": "fp8"}, "precision='fp8' is not allowed: expected 'auto' or 'bf16' or 'fp32'"),
        ({"actor": "512,wide"}, "actor='512,wide' is not allowed: expected whole numbers with commas"),
        ({"critic_sees_all": "perhaps"}, "critic_sees_all='perhaps' is not allowed: expected true or false"),
        ({"rules": "scorto"}, "did you mean 'scarto'"),
        ({"seed": 10_000}, "seed=10000 is not allowed"),
        ({"minibatches": 129, "deals_at_once": 8}, "minibatches=129 is not allowed: .* expected 128 at most"),
        (
            {"minibatches": 13, "deals_at_once": 8, "sure": 0.99},
            "minibatches=13 is not allowed: .* expected 12 at most",
        ),
        ({"sure": 1.5}, "sure=1.5 is not allowed: expected 0..1"),
        ({"endings": 26}, "endings=26 is not allowed: a deal has 25 tricks, expected 0..25"),
        ({"endings": -1}, "endings=-1 is not allowed"),
        ({"league_share": 0.003}, "league_share=0.003 is not allowed: of deals_at_once=128 that is no table"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_config(settings)


@pytest.mark.parametrize(("name", "text"), [("run.toml", "deals = 7\nactor = [8, 8]"), ("run.json", '{"deals": 7}')])
def test_settings_are_read_from_a_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert make_config(read_settings(tmp_path / name)).deals == 7
    (tmp_path / name).write_text("deals = = 7")
    with pytest.raises(ValueError, match=name):
        read_settings(tmp_path / name)


def test_deals_of_training_are_never_the_arenas() -> None:
    worst = new_deals(tiny(seed=9999, deals_at_once=2), (1 << 20) - 1, 63)
    assert worst.seed < 1 << 40
    seen = {new_deals(tiny(seed=seed, deals_at_once=2), update, rank).seed
            for seed in (0, 1) for update in (0, 1, 77) for rank in (0, 1, 63)}  # fmt: skip
    assert len(seen) == 18


def test_a_run_leaves_everything_behind(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result = CliRunner().invoke(commands.train, options(folder), standalone_mode=False)
    assert result.exception is None, result.output
    assert "| random |" in result.output
    left = {path.name for path in folder.iterdir()}
    assert left >= {
        "config.json",
        "run.json",
        STATE_FILE,
        METRICS_FILE,
        EVALUATIONS_FILE,
        "policy",
        "curve.png",
        "deals.stn",
    }
    run = json.loads((folder / "run.json").read_text())
    assert run["versions"]["torch"] == importlib.metadata.version("torch")
    assert "--deals 48" in run["command"]
    assert (folder / "curve.png").read_bytes()[:4] == b"\x89PNG"
    card = (folder / "policy" / "README.md").read_text()
    for part in ("scarto train", "48 deals in 6 updates", "| random |", "SHA-256", "python -m training card"):
        assert part in card
    again = CliRunner().invoke(commands.train, options(folder), standalone_mode=False)
    assert "is not empty: --resume goes on" in str(again.exception)
    assert load_file(folder / STATE_FILE)


def test_overwrite_throws_away_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(RunError, match=r"holds 'letters.txt', which is no part of a run: it is not overwritten"):
        commands.prepare(tmp_path, {}, False, True)
    assert (tmp_path / "letters.txt").read_text() == "dear"
    folder = tmp_path / "run"
    commands.prepare(folder, TINY, False, False)
    (folder / METRICS_FILE).write_text("")
    (folder / f"{STATE_FILE}.77.part").write_text("")
    commands.prepare(folder, TINY, False, True)
    assert {path.name for path in folder.iterdir()} == {"config.json", "run.json"}
    (folder / "notes.txt").write_text("dear")
    with pytest.raises(RunError, match=r"holds 'notes.txt', which is no part of a run: it is not overwritten"):
        commands.prepare(folder, TINY, False, True)
    assert (folder / "notes.txt").read_text() == "dear"


def test_overwrite_spares_checkpoints_and_what_the_run_starts_from(tmp_path: Path) -> None:
    learner = Learner(Config(**TINY))
    policy = tmp_path / "policy"
    save_policy(policy, learner.averaged, "scarto")
    with pytest.raises(RunError, match="it is not overwritten"):
        commands.prepare(policy, TINY, False, True)
    run = tmp_path / "run"
    commands.prepare(run, TINY, False, False)
    shutil.copytree(policy, run / "policy")
    with pytest.raises(RunError, match="which the run is to start from: it is not overwritten"):
        commands.prepare(run, TINY | {"start": str(run / "policy")}, False, True)
    assert (policy / "config.json").exists() and PolicyBot(run / "policy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "65"], "workers=65 are too many"),
        (["--start", "nowhere"], "'nowhere' is no checkpoint"),
        (["--actors", "2"], "actors=2 play on a cluster"),
        (["--clip", "inf"], "clip=inf is not allowed"),
        (["--staleness", "2"], "staleness=2: without --ray"),
        (["--final-deals", "0"], "deals=0 is not allowed"),
        (["--final-deals", "twelve"], "'twelve' is no set of deals"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(tmp_path: Path, options: list[str], message: str) -> None:
    result = CliRunner().invoke(commands.train, ["--out", str(tmp_path / "run"), *options], standalone_mode=False)
    assert message in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_a_yardstick_may_come_later(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert CliRunner().invoke(commands.train, options(folder), standalone_mode=False).exception is None
    more = ["--out", str(folder), "--resume", "--deals", "96", "--yardsticks", "random,greedy", "--final-deals", "2"]
    for _ in range(2):
        assert CliRunner().invoke(commands.train, more, standalone_mode=False).exception is None
    rows = list(csv.DictReader((folder / EVALUATIONS_FILE).read_text().splitlines()))
    assert rows[0]["greedy"] == "" and float(rows[-1]["greedy"])


def test_a_command_is_written_as_a_shell_reads_it() -> None:
    command = commands.circumstances(Config(league_bots=()))["command"]
    assert shlex.split(command) == ["scarto", "train", "--league-bots", ""]


def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run to resume"):
        commands.prepare(tmp_path, {}, True, False)


@pytest.mark.parametrize("content", ["{}", "[", "[1]", '{"command": "scarto train"}'])
def test_a_run_whose_facts_are_damaged_is_not_resumed(tmp_path: Path, content: str) -> None:
    commands.prepare(tmp_path, TINY, False, False)
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        commands.prepare(tmp_path, {}, True, False)
    (tmp_path / "run.json").unlink()
    commands.prepare(tmp_path, {}, True, False)
    assert json.loads((tmp_path / "run.json").read_text())["command"].startswith("scarto train")


def test_the_module_tells_what_goes_wrong_as_the_command_does() -> None:
    words = [sys.executable, "-m", "training"]
    refused = subprocess.run([*words, "card", "nowhere"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr == "python -m training: 'nowhere' is no checkpoint\n"
    reader, writer = os.pipe()
    os.close(reader)
    unheard = subprocess.run([*words, "--help"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert unheard.stderr == "" and unheard.returncode == 141


def test_a_device_that_is_not_here_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="device='cpi' cannot be used"):
        commands.prepare(tmp_path / "run", {"device": "cpi"}, False, False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("has", "slowest", "fastest"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, torch.bfloat16, "bf16"),
        ({"avx512_bf16": True}, torch.float32, "bf16"),
        ({"avx512_bf16": True}, torch.bfloat16, "fp32"),
        ({"avx2": True}, torch.float32, "fp32"),
    ],
)
def test_a_run_keeps_the_precision_it_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: dict[str, bool], slowest: torch.dtype, fastest: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    monkeypatch.setattr(
        network, "multiplication_seconds", lambda *dtypes: {dtype: 1.0 + (dtype == slowest) for dtype in dtypes}
    )
    config = commands.prepare(tmp_path, TINY | {"precision": "auto"}, False, False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    assert config.precision == fastest == commands.prepare(tmp_path, {}, True, False).precision
    assert f"--precision {fastest}" in json.loads((tmp_path / "run.json").read_text())["command"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"device": "meta"}, "device='meta' cannot be used"),
        ({"yardsticks": ("random", "nosuch")}, "'nosuch' is no bot"),
        ({"league_bots": ("nosuch",)}, "'nosuch' is no bot"),
    ],
)
def test_what_a_run_would_stumble_over_is_refused_before_anything_is_written(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((RunError, ValueError), match=message):
        commands.prepare(tmp_path / "run", TINY | settings, False, False)
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_resumed_with_a_bot_that_nobody_knows(tmp_path: Path) -> None:
    commands.prepare(tmp_path, TINY, False, False)
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(ValueError, match="'nosuch' is no bot"):
        commands.prepare(tmp_path, {"yardsticks": "nosuch"}, True, False)
    assert (tmp_path / "config.json").read_bytes() == before


@pytest.mark.parametrize("place", ["file", "file/run"])
def test_a_file_in_the_place_of_the_folder_is_said_in_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("dear")
    result = CliRunner().invoke(commands.train, options(tmp_path / place))
    assert result.exit_code == 1
    assert "Not a directory" in result.output
    assert (tmp_path / "file").read_text() == "dear"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the system for a process's children")
def test_a_stop_while_the_workers_begin_is_one_line(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "scarto_env", "train", *options(tmp_path / "run", workers=2, deals=160_000)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def has_worker() -> bool:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return any("spawn_main" in Path(f"/proc/{child}/cmdline").read_text() for child in children)

    while not has_worker():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_stops_are_held_back_whatever_thread_they_reach() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    seen = []

    def stopped_meanwhile() -> None:
        with stops_held_back():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            seen.append("went on")

    try:
        with pytest.raises(KeyboardInterrupt):
            stopped_meanwhile()
    finally:
        done.set()
        other.join()
    assert seen == ["went on"]


class StopError(Exception):
    """Stands for whatever may end a run after a save."""


@pytest.mark.parametrize("workers", [1, 2])
def test_resumed_run_equals_an_uninterrupted_one(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    config = tiny(workers=workers, deals=32 * workers, league_share=0.5, league_every=1, endings=5, sure=0.9)
    for folder in (whole, parts):
        folder.mkdir()
    assert train(config, whole)
    save = Reporter.save

    def save_and_stop(self: Reporter, learner: Learner) -> None:
        save(self, learner)
        if learner.updates == 2:
            raise StopError

    monkeypatch.setattr(Reporter, "save", save_and_stop)
    with pytest.raises(StopError):
        train(config, parts)
    monkeypatch.undo()
    assert read_facts(parts / STATE_FILE)["updates"] == 2
    assert train(resumed_config(parts, {}), parts)
    assert_equal_runs(whole, parts)


def start(config: Config, folder: Path) -> subprocess.Popen[bytes]:
    """Begin or resume a run in a process of its own."""
    script = folder.parent / "start.py"
    script.write_text(
        "import json, sys\n"
        "from pathlib import Path\n"
        "from training.config import make_config\n"
        "from training.train import train\n"
        "if __name__ == '__main__':\n"
        "    train(make_config(json.loads(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    words = [sys.executable, str(script), json.dumps(dataclasses.asdict(config)), str(folder)]
    return subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)


def wait_for_save(process: subprocess.Popen[bytes], folder: Path, after: float) -> None:
    """Wait until the run has saved later than ``after``, or has ended."""
    while process.poll() is None:
        if (folder / STATE_FILE).exists() and (folder / STATE_FILE).stat().st_mtime > after:
            return
        time.sleep(0.01)


def kill_and_resume(tmp_path: Path, kills: int, config: Config) -> None:
    """Compare a run that was killed again and again, at random times, with one that was not."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    assert start(config, whole).wait() == 0
    random_time = random.Random(0)
    for _ in range(kills):
        process = start(config, parts)
        wait_for_save(process, parts, time.time())
        time.sleep(random_time.uniform(0, 0.3))
        assert process.poll() is None, "the run ended before it could be killed"
        process.kill()
        process.wait()
    assert start(config, parts).wait() == 0
    assert_equal_runs(whole, parts)


def test_a_killed_run_goes_on_number_for_number(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, 2, tiny(deals=8 * 60, evaluate_every=1000))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_kills_change_no_number(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, 20, tiny(deals=8 * 500, evaluate_every=1000, league_share=0.25, league_every=20))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_of_the_whole_group_saves_and_leaves(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    process = start(tiny(deals=16 * 10_000, workers=2, save_every=1, evaluate_every=100_000), folder)
    wait_for_save(process, folder, 0)
    os.killpg(process.pid, number)
    assert process.wait(60) == 0
    facts = read_facts(folder / STATE_FILE)
    assert 0 < facts["updates"] < 10_000
    assert len(numbers(folder)[1]) == facts["updates"]


def test_a_worker_that_is_killed_is_missed_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    config = tiny(deals=16 * 10_000, workers=2, save_every=1, evaluate_every=100_000)
    killed: list[int] = []

    def kill_a_worker() -> None:
        while not (folder / STATE_FILE).exists():
            time.sleep(0.01)
        for process in multiprocessing.active_children():
            os.kill(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
            killed.append(process.pid)  # type: ignore[arg-type]

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    with pytest.raises(RunError, match="worker 1 was ended by signal 9; the last save is whole"):
        train(config, folder)
    killer.join()
    assert len(killed) == 1
    assert 0 < read_facts(folder / STATE_FILE)["updates"] < 10_000


@pytest.mark.parametrize(("field", "value"), [("seed", 1), ("actor", (8,)), ("learning_rate", 2e-3)])
def test_resuming_with_other_settings_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    save_state(tmp_path, Learner(tiny()), {"seconds": 0.0})
    with pytest.raises(RunError, match=f"{field}=.* may not change within a run"):
        resumed_config(tmp_path, {field: value})
    assert resumed_config(tmp_path, {"deals": 999}).deals == 999


def test_a_full_disk_leaves_the_last_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(tiny())
    save_state(tmp_path, learner, {"seconds": 1.0})
    before = (tmp_path / STATE_FILE).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match="could not be written: No space left on device; the one before is intact"):
        save_state(tmp_path, learner, {"seconds": 2.0})
    assert (tmp_path / STATE_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]


def test_not_a_number_ends_the_run_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert train(tiny(deals=16), folder)
    before = (folder / STATE_FILE).read_bytes()
    learn = Learner.learn

    def poisoned(self: Learner, decisions: Any, *arguments: Any) -> Any:
        decisions.reward[0] = np.nan
        return learn(self, decisions, *arguments)

    monkeypatch.setattr(Learner, "learn", poisoned)
    with pytest.raises(RunError, match="a loss is no number"):
        train(resumed_config(folder, {"deals": 48}), folder)
    assert (folder / STATE_FILE).read_bytes() == before


def test_a_worker_that_fails_ends_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    config = tiny(workers=2, league_share=1.0, league_every=1)
    (folder / "league").write_text("in the way")  # the leader cannot keep its past selves
    with pytest.raises(RunError, match="league"):
        train(config, folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[: len(content) // 2], "is damaged"),
        (lambda content: b"\x80\x04 a pickle", "is damaged"),
        (lambda content: b"", "is damaged"),
    ],
)
def test_damaged_states_are_refused(tmp_path: Path, damage: Any, message: str) -> None:
    save_state(tmp_path, Learner(tiny()), {"seconds": 0.0})
    path = tmp_path / STATE_FILE
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RunError, match=message):
        resumed_config(tmp_path, {})


def test_foreign_states_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_file({"weights": torch.zeros(3)}, tmp_path / STATE_FILE)
    with pytest.raises(RunError, match="is no state of a training run"):
        resumed_config(tmp_path, {})
    save_state(tmp_path, Learner(tiny()), {"seconds": 0.0})
    monkeypatch.setattr(checkpoint, "FEATURES_VERSION", 99)
    with pytest.raises(RunError, match="was made for features_version 1, this is 99"):
        resumed_config(tmp_path, {})


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy's folder."""
    folder = tmp_path / "policy"
    save_policy(folder, Learner(tiny()).actor, "scarto")
    return folder


def test_a_policy_plays_as_the_network_it_was_saved_from(policy: Path) -> None:
    bot = make_bot(policy)
    assert isinstance(bot, PolicyBot)
    learner = Learner(tiny(precision="fp32"))
    batch = Batch(32, "scarto", seed=1, redeal=False)
    for _ in range(10):
        batch.step(batch.random_actions())
    found = bot.log_policy(batch.observation, batch.action_mask)
    assert np.isneginf(found[batch.action_mask == 0]).all()
    features = np.empty((32, 960), np.int8)
    mask = np.empty((32, 78), np.int8)
    order = learner.encoder.encode(batch, np.arange(32), features, mask)
    logits = learner.encoder.logits(learner.frozen_actor(), features)
    for game in range(32):
        legal = np.flatnonzero(mask[game])
        cards = [place if place >= 56 else place % 14 + 14 * order[game][place // 14] for place in legal]
        expected = logits[game][legal] - np.log(np.exp(logits[game][legal]).sum())
        assert found[game][cards] == pytest.approx(expected, abs=1e-5)
    cards = bot.act(batch.observation, batch.action_mask)
    assert np.array_equal(cards, found.argmax(1))


def test_sampled_choices_depend_on_seed_and_sight_alone(policy: Path) -> None:
    batch = Batch(300, "scarto", seed=1)
    bot = PolicyBot(policy, seed=5, sample=True)
    cards = bot.act(batch.observation, batch.action_mask)
    assert np.array_equal(cards, PolicyBot(policy, seed=5, sample=True).act(batch.observation, batch.action_mask))
    assert not np.array_equal(cards, PolicyBot(policy, seed=6, sample=True).act(batch.observation, batch.action_mask))
    backwards = bot.act(batch.observation[::-1], batch.action_mask[::-1])
    assert np.array_equal(backwards[::-1], cards)
    assert np.take_along_axis(batch.action_mask, cards[:, None], 1).all()


def test_empty_masks_get_card_0(policy: Path) -> None:
    batch = Batch(4, "scarto", seed=1)
    mask = batch.action_mask.copy()
    mask[2] = 0
    assert PolicyBot(policy).act(batch.observation, mask)[2] == 0


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("weights.safetensors", lambda content: content[:-4], "is damaged: it is not the file"),
        ("weights.safetensors", lambda content: content[:-1] + bytes([content[-1] ^ 1]), "is damaged"),
        ("config.json", lambda content: content[:20], "is damaged"),
        ("config.json", lambda content: b"{}", "does not describe a 'scarto policy 1'"),
        ("config.json", lambda content: content.replace(b'"features_version": 1', b'"features_version": 2'),
         "made for features_version 2, this is 1"),
        ("config.json", lambda content: content.replace(b'"observation_version": 1', b'"observation_version": 0'),
         "made for observation_version 0"),
        ("config.json", lambda content: content.replace(b'"fool_value"', b'"fool_worth"'), "is no policy of this game"),
    ],
)  # fmt: skip
def test_damaged_policies_are_refused(policy: Path, name: str, damage: Any, message: str) -> None:
    path = policy / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CheckpointError, match=message):
        PolicyBot(policy)


def test_other_numbers_of_players_are_refused(policy: Path) -> None:
    with pytest.raises(ValueError, match="has learned with 3 players: it cannot play with 4"):
        make_bot(policy, "four_player")
    assert make_bot(policy, "traditional")


def test_a_run_begins_with_the_weights_of_another(tmp_path: Path, policy: Path) -> None:
    one = Learner(tiny(seed=3))
    save_state(tmp_path, one, {"seconds": 0.0})
    other = Learner(tiny(seed=4))
    begin_from(str(tmp_path), other)
    assert torch.equal(other.critic.weights[0], one.critic.weights[0])
    begin_from(str(policy), other)
    assert torch.equal(other.averaged.weights[0], Learner(tiny()).actor.weights[0])
    with pytest.raises(RunError, match="has layers of sizes"):
        begin_from(str(policy), Learner(tiny(actor=(24,))))
    with pytest.raises(RunError, match=r"its actor has layers of sizes \[960, 16, 78\], this run's \[960, 24, 78\]"):
        begin_from(str(tmp_path), Learner(tiny(actor=(24,))))
    with pytest.raises(RunError, match=r"its critic has layers of sizes \[\d+, 8, 1\], this run's \[\d+, 24, 1\]"):
        begin_from(str(tmp_path), Learner(tiny(critic=(24,))))


def test_a_run_begins_with_a_policy_given_by_name() -> None:
    learner = Learner(tiny(actor=(256, 256, 256)))
    begin_from("scarto-base", learner)
    shipped = load_file(find_checkpoint("scarto-base") / "weights.safetensors")
    assert torch.equal(learner.actor.weights[1], shipped["weights.1"])


def test_a_run_stands_for_its_policy(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    learner = Learner(tiny())
    save_state(run, learner, {"seconds": 0.0})
    save_policy(run / "policy", learner.averaged, "scarto")
    assert find_checkpoint(str(run)) == checkpoint_folder(str(run)) == run / "policy"
    layers = make_bot(run).layers
    assert np.array_equal(layers[0][1], learner.averaged.biases[0].detach().numpy())
    out = tmp_path / "mean"
    result = CliRunner().invoke(commands.mean, [str(run), str(run / "policy"), "--out", str(out)])
    assert result.exit_code == 0 and PolicyBot(out)


@pytest.mark.parametrize("command", ["mean", "distill", "exploit"])
def test_no_folder_is_written_over_unasked(tmp_path: Path, policy: Path, command: str) -> None:
    out = tmp_path / "out"
    save_policy(out, Learner(tiny(seed=5)).actor, "scarto")
    (out / "README.md").write_text("Of the policy that was here.")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    arguments = [str(policy), "--out", str(out)]
    result = CliRunner().invoke(getattr(commands, command), arguments)
    assert result.exit_code == 1 and f"{out} is not empty: --overwrite writes over what it holds" in result.output
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    if command == "mean":
        result = CliRunner().invoke(commands.mean, [*arguments, "--overwrite"])
        assert result.exit_code == 0
        assert not (out / "README.md").exists(), "it tells of another policy"
        assert (out / "weights.safetensors").read_bytes() == (policy / "weights.safetensors").read_bytes()


def test_card_is_written_from_what_was_measured(policy: Path) -> None:
    results = measure(policy, ["random"], 3)
    assert json.loads((policy / SCORES_FILE).read_text()) == results
    facts = Facts("scarto train", "abc", 0, 1000, 10, 0.5, ("It was made for a test.",))
    write_card(policy, facts, ["It is a test."])
    card = (policy / "README.md").read_text()
    alone = results["greedy"]["random"]["alone"]["all"]
    assert f"**{alone[0]:+.2f} ± {alone[1]:.2f}**" in card
    assert "It was made for a test." in card and "- It is a test." in card


def test_a_card_is_written_where_nothing_is_kept_of_the_making(policy: Path) -> None:
    result = CliRunner().invoke(commands.card, [str(policy), "--deals", "3", "--yardsticks", "random"])
    assert result.exit_code == 0, result.output
    card = (policy / "README.md").read_text()
    assert "- nothing is kept of how it was made" in card and "It plays for points alone" in card
    assert not (policy / "training.json").exists()


@pytest.mark.parametrize("side", ["one", "two"])
def test_exploiters_are_trained_and_measured(policy: Path, tmp_path: Path, side: Any) -> None:
    config = exploiter_config(policy, {"deals": 16, "deals_at_once": 8, "minibatches": 2, "critic": (8,)})
    found = exploit(policy, side, config, measured_deals=20, out=tmp_path / side)
    assert found.deals == 16 and found.gain.num_deals == 20
    assert PolicyBot(tmp_path / side).trained_for == as_rules("scarto")


def test_exploit_of_nothing_is_refused() -> None:
    result = CliRunner().invoke(commands.exploit, ["nobody"], standalone_mode=False)
    assert "'nobody' is no checkpoint" in str(result.exception)


def test_a_pupil_comes_nearer_to_its_teacher(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "pupil"
    with torch.no_grad():
        teacher = Learner(tiny()).actor
        teacher.weights[-1].mul_(200)
    save_policy(policy, teacher, "scarto")
    before = distill(policy, distillation_config(policy, {"deals": 32, "deals_at_once": 32, "actor": (24,)}), out)
    after = distill(policy, distillation_config(policy, {"deals": 960, "deals_at_once": 32, "actor": (24,)}), out)
    assert after < 0.7 * before
    assert PolicyBot(out).layers[0][0].shape[1] == 24


def test_the_mean_of_policies_has_the_mean_of_their_weights(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "wide")]
    for folder, settings in zip(folders, ({"seed": 1}, {"seed": 2}, {"actor": (24,)}), strict=True):
        save_policy(folder, Learner(tiny(**settings)).actor, "scarto")
    one, two = (load_file(folder / "weights.safetensors") for folder in folders[:2])
    out = tmp_path / "mean"
    result = CliRunner().invoke(commands.mean, [*map(str, folders[:2]), "--out", str(out)])
    assert result.exit_code == 0, result.output
    found = load_file(out / "weights.safetensors")
    assert found.keys() == one.keys()
    for name, weight in found.items():
        assert torch.equal(weight, (one[name] + two[name]) / 2)
    assert PolicyBot(out).rules == as_rules("scarto")
    result = CliRunner().invoke(commands.mean, [*map(str, folders), "--out", str(tmp_path / "none")])
    assert result.exit_code == 1 and "wide has layers [960, 24, 78]" in result.output
    assert not (tmp_path / "none").exists()


def test_the_command_of_a_run_is_as_it_was_given() -> None:
    config = Config(start="runs/Mine", league_bots=("search:worlds=4",), playouts=False)
    command = commands.circumstances(config)["command"]
    assert command == "scarto train --start runs/Mine --league-bots search:worlds=4 --playouts false"
