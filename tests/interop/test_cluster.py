"""Training and the arena on a real cluster of several nodes, with real kills.

Every test starts its own cluster, on the loopback alone, and stops it; nothing of it is left running.
"""
# ruff: noqa: E402 - the library is looked for first

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

os.environ |= {  # read when Ray is imported
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the loopback alone
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # its 15 would leave the players what other jobs leave
}
ray = pytest.importorskip("ray", reason="ray is not installed: scarto[ray]")
pytest.importorskip("safetensors", reason="safetensors is not installed: scarto[train]")

import torch
from players import train_here
from ray.cluster_utils import Cluster
from safetensors.torch import load_file

from scarto_env.adapters.cluster import ClusterError, ClusterExecutor, code_version, connected
from scarto_env.arena import evaluate
from training.checkpoint import STATE_FILE, read_facts
from training.cluster import train_on_cluster
from training.config import Config
from training.report import EVALUATIONS_FILE, METRICS_FILE, _kept
from training.train import train

pytestmark = pytest.mark.filterwarnings("default")  # Ray's own: deprecations inside, unclosed sockets of its workers

TIMES = {"seconds", "deals_a_second", "decisions_a_second", "staleness", "staleness_most", "lost"}
HASTE = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 4}


def tiny(**settings: Any) -> Config:
    base: dict[str, Any] = {
        "workers": 2, "deals": 768, "deals_at_once": 32, "minibatches": 2, "actor": (16,), "critic": (8,),
        "evaluate_every": 4, "evaluate_deals": 2, "yardsticks": ("random",), "save_every": 1,
        "league_share": 0.5, "league_every": 2,
    }  # fmt: skip
    return Config(**{**base, **settings})


def processes(mark: str, title: str = "") -> list[int]:
    """Return the processes that began with a text in their environment and have another in their title."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            marked = mark.encode() in (folder / "environ").read_bytes()
            if marked and title.encode() in (folder / "cmdline").read_bytes() and int(folder.name) != os.getpid():
                found.append(int(folder.name))
        except (OSError, ValueError):  # no process, or one that has just ended
            continue
    return found


def await_that(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until something is true and return it."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come true")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of Ray's own, short as its sockets need; all that was started there has ended afterwards."""
    folder = tempfile.mkdtemp(prefix="scarto", dir="/tmp")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    try:
        yield folder
    finally:
        ray.shutdown()
        last = time.monotonic() + 90  # Ray's agents look every minute whether their node still lives
        while processes(folder) and time.monotonic() < last:
            time.sleep(0.1)
        left = processes(folder)
        for number in left:
            os.kill(number, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        assert not left


@contextmanager
def nodes(*cores: int, **settings: Any) -> Iterator[Cluster]:
    """Start a cluster whose first node has no cores to give and the others some each."""
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": HASTE},
    )
    try:
        for number in cores:
            cluster.add_node(num_cpus=number, **settings)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def numbers(folder: Path) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]], list[dict[str, Any]]]:
    metrics, evaluations = (
        [{name: value for name, value in row.items() if name not in TIMES} for row in _kept(folder / name, 1 << 30)]
        for name in (METRICS_FILE, EVALUATIONS_FILE)
    )
    return load_file(folder / STATE_FILE), metrics, evaluations


def assert_equal_runs(one: Path, other: Path) -> None:
    first, second = numbers(one), numbers(other)
    assert first[0].keys() == second[0].keys()
    for name, tensor in first[0].items():
        assert torch.equal(tensor, second[0][name]), name
    assert first[1:] == second[1:]


def column(folder: Path, name: str) -> list[float]:
    return [float(row[name]) for row in _kept(folder / METRICS_FILE, 1 << 30)]


def test_a_run_on_two_nodes_equals_one_on_this_machine_and_names_its_staleness(place: str, tmp_path: Path) -> None:
    alone = tiny(workers=1, deals=384)
    (tmp_path / "machine").mkdir()
    assert train(alone, tmp_path / "machine")
    train_here(alone, tmp_path / "here")
    assert_equal_runs(tmp_path / "machine", tmp_path / "here")
    ahead = tiny(staleness=1, deals=384)
    train_here(ahead, tmp_path / "ahead here")
    with nodes(1, 1) as cluster:
        for name, config, players in (("alone", alone, 1), ("ahead", ahead, 2)):
            (tmp_path / name).mkdir()
            assert train_on_cluster(config, tmp_path / name, cluster.address, players)
    assert_equal_runs(tmp_path / "machine", tmp_path / "alone")
    assert column(tmp_path / "alone", "staleness_most") == [0] * 12
    assert_equal_runs(tmp_path / "ahead here", tmp_path / "ahead")
    assert column(tmp_path / "ahead", "staleness") == [0, 1, 1, 1, 1, 1]


def test_a_killed_actor_is_replaced_and_its_deals_are_dealt_again(place: str, tmp_path: Path) -> None:
    config = tiny()
    train_here(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    folder.mkdir()
    killed: list[int] = []

    def kill() -> None:
        await_that((folder / STATE_FILE).exists, 200)
        victim = await_that(lambda: processes(place, "ray::RemotePlayer.play"), 100)[0]
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    with nodes(1) as cluster:
        killer = threading.Thread(target=kill)
        killer.start()
        assert train_on_cluster(config, folder, cluster.address, 1)
        killer.join()
    assert killed
    assert column(folder, "lost")[-1] >= 1
    assert_equal_runs(tmp_path / "whole", folder)


def test_a_lost_node_costs_its_part_only(place: str, tmp_path: Path) -> None:
    config = tiny(deals=64 * 40)
    train_here(config, tmp_path / "whole")
    folder = tmp_path / "lost"
    folder.mkdir()
    gone: list[float] = []

    def kill(cluster: Cluster) -> None:
        await_that((folder / STATE_FILE).exists, 200)
        cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
        gone.append(read_facts(folder / STATE_FILE)["updates"])

    with nodes(1, 1) as cluster:
        killer = threading.Thread(target=kill, args=(cluster,))
        killer.start()
        assert train_on_cluster(config, folder, cluster.address, 2)
        killer.join()
    assert gone
    assert gone[0] < config.updates
    assert column(folder, "lost")[-1] >= 1
    assert_equal_runs(tmp_path / "whole", folder)


def start(config: Config, folder: Path) -> subprocess.Popen[bytes]:
    """Begin or resume a run on a local cluster in a process of its own."""
    words = [sys.executable, "-m", "training", "train", "--out", str(folder), "--final-deals", "2", "--ray", "local"]
    if folder.exists():
        return subprocess.Popen([*words, "--resume"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for name, value in dataclasses.asdict(config).items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def test_a_killed_driver_leaves_nothing_running_and_resumes_number_for_number(place: str, tmp_path: Path) -> None:
    config = tiny(deals=64 * 30, league_bots=())
    train_here(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    driver = start(config, folder)
    await_that(lambda: (folder / STATE_FILE).exists() or driver.poll() is not None, 120)
    driver.kill()
    driver.wait()
    assert 0 < read_facts(folder / STATE_FILE)["updates"] < config.updates
    await_that(lambda: not processes(place, "ray::RemotePlayer"), 30)
    assert start(config, folder).wait(200) == 0
    assert_equal_runs(tmp_path / "whole", folder)
    assert (folder / "policy" / "README.md").exists()


def test_a_worker_with_another_version_is_refused(place: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    for package in ("scarto_env", "training"):
        shutil.copytree(root / package, tmp_path / "other" / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "other" / "scarto-0.0.9.dist-info").mkdir()
    (tmp_path / "other" / "scarto-0.0.9.dist-info" / "METADATA").write_text("Name: scarto\nVersion: 0.0.9\n")
    (tmp_path / "run").mkdir()
    with nodes(1) as cluster:
        cluster.add_node(num_cpus=1, env_vars={"PYTHONPATH": str(tmp_path / "other")})
        with pytest.raises(ClusterError) as refused:
            train_on_cluster(tiny(), tmp_path / "run", cluster.address, 2)
        with connected(cluster.address, 0), pytest.raises(ClusterError) as refused_too:
            evaluate(["greedy", "random"], deals=600, executor=ClusterExecutor())
    for error in (refused, refused_too):
        assert "runs scarto 0.0.9 (" in str(error.value)
        assert f"the driver {code_version()}" in str(error.value)
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize("cores", [(1,), (1, 2)], ids=["one worker", "three workers"])
def test_the_arena_says_the_same_number_for_number(place: str, cores: tuple[int, ...]) -> None:
    def table(executor: ClusterExecutor | None) -> dict[str, Any]:
        bots = ["scarto-small:sample=true", "heuristic", "random"]
        found = evaluate(bots, deals=300, mixed_deals=150, command="a test", executor=executor).to_dict()
        for usage in found["usage"].values():
            del usage["decisions_a_second"]
        return found

    expected = table(None)
    with nodes(*cores) as cluster, connected(cluster.address, 0):
        assert table(ClusterExecutor()) == expected


def test_no_cluster_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"no cluster at '127\.0\.0\.1:9': .*refused"):
        train_on_cluster(tiny(), tmp_path, "127.0.0.1:9", 1)
