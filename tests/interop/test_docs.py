"""Every block of the documentation that needs a library runs as written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = {
    "sb3": "sb3_contrib",
    "rllib": "ray",
    "torchrl": "torchrl",
    "rlcard": "rlcard",
    "openspiel": "pyspiel",
}
"""Name of the extra, written after ``python`` at the head of a block -> module."""

BLOCKS = [
    pytest.param(extra, block, id=f"{page.stem}-{extra}-{number}")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for number, (extra, block) in enumerate(
        re.findall(r"^```python (\w+)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
]


def test_every_library_has_a_block():
    assert {parameter.values[0] for parameter in BLOCKS} == set(LIBRARIES)


@pytest.mark.parametrize(("extra", "block"), BLOCKS)
def test_block_runs_as_written(extra, block, tmp_path):
    pytest.importorskip(LIBRARIES[extra], reason=f"{LIBRARIES[extra]} is not installed: scarto[{extra}]")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
