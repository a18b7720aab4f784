"""What is written is run: code blocks, tables, links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "scarto_env" / "RULES.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("block", BLOCKS)
def test_code_block_runs_as_written(block: str, tmp_path: Path) -> None:
    done = run("-W", "error", "-c", block, folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_tables_are_what_the_code_generates() -> None:
    done = run(str(ROOT / "docs" / "generate.py"), "--check", folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_readme_names_the_very_test_command_of_ci() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "```bash\npython -m pytest\n```" in readme
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith("python -m pytest")
