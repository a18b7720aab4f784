"""Several learners that torchrun starts: equal to the workers of one machine, stopped and refused in order."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from training.checkpoint import STATE_FILE, RunError, read_facts
from training.config import Config
from training.crew import Crew
from training.train import train, train_together

TINY: dict[str, Any] = {
    "deals": 64, "deals_at_once": 8, "minibatches": 2, "actor": (16,), "critic": (8,), "evaluate_every": 2,
    "evaluate_deals": 2, "yardsticks": ("random",), "save_every": 1, "league_share": 0.5, "league_every": 1,
}  # fmt: skip


def torchrun(folder: Path, processes: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Train with torchrun, on the loopback alone."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(processes),
             "--master-addr", "127.0.0.1", "--master-port", str(port),
             "-m", "training", "train", "--out", str(folder), "--final-deals", "2", *more]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=240, check=False)


def options(**settings: Any) -> Sequence[str]:
    words = []
    for name, value in {**TINY, **settings}.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return words


def test_two_processes_learn_as_two_workers_do_and_resume(tmp_path: Path) -> None:
    config = Config(**{**TINY, "workers": 2})
    (tmp_path / "workers").mkdir()
    assert train(config, tmp_path / "workers")
    whole = tmp_path / "torchrun"
    done = torchrun(whole, 2, *options())
    assert done.returncode == 0, done.stderr
    assert read_facts(whole / STATE_FILE)["config"]["workers"] == 2
    expected, found = load_file(tmp_path / "workers" / STATE_FILE), load_file(whole / STATE_FILE)
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():  # sums over processes may be rounded otherwise
        assert found[name].numpy() == pytest.approx(tensor.numpy(), rel=1e-4, abs=1e-6), name
    assert (whole / "policy" / "README.md").exists()
    done = torchrun(whole, 2, "--resume", "--deals", "80")
    assert done.returncode == 0, done.stderr
    assert read_facts(whole / STATE_FILE)["updates"] == 5


def test_a_folder_that_is_not_empty_is_refused_once(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    done = torchrun(tmp_path, 2, *options())
    assert done.returncode != 0
    assert done.stderr.count("is not empty: --resume goes on") == 1


def test_processes_and_workers_must_be_as_many(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="workers=2: 1 processes were started"):
        train_together(Config(workers=2), tmp_path, Crew())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of threads here")
def test_no_thread_of_the_group_outlives_it() -> None:
    """Else the process is aborted at its end, now and then."""
    code = """
import os, torch
from training.ddp import together
def threads():
    return [open(f"/proc/self/task/{thread}/comm").read().strip() for thread in os.listdir("/proc/self/task")]
with together():
    torch.optim.Adam([torch.nn.Parameter(torch.ones(1))])
    assert any("gloo" in name for name in threads())
assert not [name for name in threads() if "gloo" in name], threads()
"""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    place = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment = os.environ | place | {"GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
