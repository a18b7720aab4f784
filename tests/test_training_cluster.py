"""What of a run on a cluster needs no cluster: orders, staleness, refusals.  The rest is in interop/test_cluster.py."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from players import train_here
from safetensors.torch import load_file

from scarto_env import cli
from scarto_env.adapters.cluster import ClusterError, code_version, refuse_other_code
from training import commands, players
from training.checkpoint import STATE_FILE, RunError, resumed_config, save_state
from training.cluster import joined, train_on_cluster
from training.config import Config, make_config
from training.learner import Learner
from training.orders import Played
from training.report import METRICS_FILE, _kept
from training.returns import NO_DECISION
from training.rollout import Decisions
from training.train import MOST_UPDATES, new_deals, train

TINY: dict[str, Any] = {
    "workers": 2, "deals": 96, "deals_at_once": 8, "minibatches": 2, "actor": (16,), "critic": (8,),
    "evaluate_every": 3, "evaluate_deals": 2, "yardsticks": ("random",), "save_every": 1,
    "league_share": 0.5, "league_every": 1,
}  # fmt: skip


def tiny(**settings: Any) -> Config:
    return Config(**{**TINY, **settings})


def test_one_rollout_an_update_is_one_machines_run_number_for_number(tmp_path: Path) -> None:
    config = tiny(workers=1)
    (tmp_path / "machine").mkdir()
    assert train(config, tmp_path / "machine")
    train_here(config, tmp_path / "cluster")
    expected, found = (load_file(tmp_path / name / STATE_FILE) for name in ("machine", "cluster"))
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name


@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_staleness_is_measured_and_never_above_its_bound(tmp_path: Path, staleness: int) -> None:
    train_here(tiny(staleness=staleness), tmp_path / "run")
    rows = _kept(tmp_path / "run" / METRICS_FILE, 1 << 30)
    assert [row["staleness"] for row in rows] == [min(update, staleness) for update in range(6)]
    assert [row["staleness_most"] for row in rows] == [row["staleness"] for row in rows]


def test_staleness_may_change_within_a_run(tmp_path: Path) -> None:
    save_state(tmp_path, Learner(tiny(staleness=2)), {"seconds": 0.0})
    assert resumed_config(tmp_path, {"staleness": 0}).staleness == 0
    for name in ("staleness", "critic_updates"):
        with pytest.raises(ValueError, match=f"{name}=-1 is not allowed"):
            make_config({name: -1})


def test_joined_rollouts_keep_their_own_next_decisions() -> None:
    def played(*following: int) -> Played:
        columns = {
            field.name: np.zeros(len(following)) for field in dataclasses.fields(Decisions) if field.name != "count"
        }
        return Played(columns | {"following": np.array(following)}, len(following), np.random.default_rng(0), 0.0)

    found = joined([played(1, NO_DECISION), played(2, NO_DECISION, NO_DECISION)])
    assert found.following.tolist() == [1, NO_DECISION, 4, NO_DECISION, NO_DECISION]
    assert found.count == len(found.reward) == 5


def test_hundreds_of_rollouts_an_update_have_deals_of_their_own() -> None:
    config = tiny(seed=9999, workers=512, deals_at_once=2)
    places = [(update, rank) for update in (0, 1, MOST_UPDATES - 1) for rank in (0, 1, 63, 64, 65, 127, 128, 511)]
    seeds = {new_deals(config, update, rank).seed for update, rank in places}
    assert len(seeds) == len(places)
    assert max(seeds) < 1 << 40


@pytest.mark.parametrize(
    ("settings", "where", "message"),
    [
        ({"staleness": 1}, None, "staleness=1: without --ray"),
        ({"workers": 65}, None, "workers=65 are too many: at most 64"),
        ({"workers": 513}, "local", "workers=513 are too many: at most 512"),
        ({"workers": 65, "deals": 65 * 8 * (MOST_UPDATES + 1)}, "local", "workers=65 allow 131072 updates at most"),
        ({}, "local", "actors=3 cannot all be busy with workers=2 rollouts an update and staleness=0"),
    ],
)
def test_what_cannot_be_played_is_refused(
    tmp_path: Path, settings: dict[str, Any], where: str | None, message: str
) -> None:
    with pytest.raises((RunError, ClusterError), match=message):
        commands.train_wherever(tiny(**settings), tmp_path, where, 3 if where else None, commands.Crew())
    assert not list(tmp_path.iterdir())


def test_other_code_is_refused_by_both_versions() -> None:
    refuse_other_code(code_version(), code_version(), "here")
    with pytest.raises(ClusterError, match=r"on there runs scarto 9 .*, the driver scarto 0\.1"):
        refuse_other_code("scarto 9 (0)", "scarto 0.1 (1)", "there")


class Ray:
    """What ``Players`` needs of Ray: references are what they stand for, and come in the order of their asking."""

    exceptions = SimpleNamespace(RayError=OSError, RayTaskError=TimeoutError)

    def __init__(self) -> None:
        self.killed: list[Any] = []
        self.kill = self.killed.append

    def wait(self, references: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        here = [reference for reference in references if reference[0] != "absent"]
        return here[:num_returns], []

    def get(self, reference: Any) -> Any:
        return reference


class Greeter:
    def __init__(self, node: str, code: str) -> None:
        self.answer = (node, code)
        self.hello = SimpleNamespace(options=lambda max_task_retries: SimpleNamespace(remote=lambda: self.answer))


def test_a_late_player_that_runs_other_code_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Ray()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr(players, "BEGIN_SECONDS", 0.1)
    late = Greeter("absent", "scarto 9 (0)")
    found = players.Players(2, iter([Greeter("here", code_version()), late]).__next__)
    assert "1 players begin; 1 have no place yet" in capsys.readouterr().err
    late.answer = ("there", "scarto 9 (0)")
    found._coming = {late.answer: late}
    assert found.finished() == []
    assert fake.killed == [late]
    assert "the worker on there runs scarto 9 (0), the driver scarto" in capsys.readouterr().err
    assert len(found._load) == 1


@pytest.mark.parametrize("words", [["eval", "greedy", "random"], ["train", "--out", "run"]])
def test_without_ray_its_extra_is_named_in_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert cli.main([*words, "--ray", "local"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "scarto: this needs ray: python -m pip install 'scarto[ray]'"


def test_actors_need_a_cluster(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands.train, ["--out", str(tmp_path / "run"), "--actors", "2"])
    assert "actors=2 play on a cluster: --ray says on which" in result.output
    with pytest.raises(RunError, match="too many"):
        train_on_cluster(tiny(workers=600), tmp_path, "local", 1)
