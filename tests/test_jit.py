"""Compiled kernels: never stale, cached where it is possible, and the same as plain Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scarto_env
from scarto_env import jit

PACKAGE = Path(scarto_env.__file__).parent

PLAY_A_LITTLE = """
import hashlib
import sys
import warnings
warnings.simplefilter("error")
from scarto_env import PRESETS, Batch
from scarto_env.state import GAME
digest = hashlib.sha256()
def add(batch):
    for name in GAME.names:
        digest.update(batch.games[name].tobytes())
    digest.update(batch.observation.tobytes() + batch.action_mask.tobytes())
for number, preset in enumerate(PRESETS):
    batch = Batch(2, preset, seed=17, reward=("trick", "win")[number % 2], threads=1)
    for _ in range(batch.rules.num_decisions + 9):
        step = batch.step(batch.random_actions())
        digest.update(step.reward.tobytes() + step.done.tobytes() + batch.state(1).tobytes())
        digest.update(batch.hidden_cards().tobytes() + batch.observe(0, 2).tobytes())
        add(batch)
    batch.play_out()
    batch.set_deal(0, batch.deal(1))
    batch.reset([True, False])
    add(batch)
print(digest.hexdigest())
"""
CHOSEN_CARDS = """
from dataclasses import replace
from scarto_env import Rules
mixes = [
    Rules(cheapest_overtrump=True, trump_top=20, ultimo="bagatto_or_fool", settlement="lowest_pays"),
    Rules(cheapest_overtrump=True, overtrump=False, leftovers="whole", fool_discardable=True),
    Rules(players=4, settlement="lowest_pays", leftovers="whole", honours=(2, 5), discard_ban=()),
]
for rules in mixes:
    batch = Batch(3, rules, seed=3, threads=1)
    for _ in range(rules.num_decisions + 3):
        batch.step(batch.random_actions())
        add(batch)
print(digest.hexdigest())
"""


def run(script: str, folder: Path = PACKAGE.parent, **environment: str) -> str:
    """Run a script in a process of its own with the package of a folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def test_plain_python_gives_the_same_without_a_warning() -> None:
    compiled = run(PLAY_A_LITTLE + CHOSEN_CARDS)
    plain = run(PLAY_A_LITTLE + CHOSEN_CARDS, NUMBA_DISABLE_JIT="1")
    assert len(compiled.split()) == 2
    assert compiled == plain


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package's sources, without compiled kernels."""
    shutil.copytree(PACKAGE, tmp_path / "scarto_env", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_editing_what_a_kernel_calls_gives_a_new_cache(package: Path) -> None:
    script = """
from pathlib import Path
from scarto_env import jit
folder = Path(jit.__file__).parent
print(jit._cache_folder(folder / "play.py"))
for file in jit._ENGINE:
    source = folder / file
    source.write_text(source.read_text(encoding="utf-8") + "# Edited.\\n", encoding="utf-8")
    jit._cache_folder.cache_clear()
    print(jit._cache_folder(folder / "play.py"))
"""
    folders = [Path(line) for line in run(script, package).splitlines()]
    assert len(set(folders)) == 1 + len(jit._ENGINE)
    assert {folder.parent for folder in folders} == {package / "scarto_env" / "__pycache__"}


def test_the_digest_covers_every_file_that_a_kernel_depends_on() -> None:
    """The engine's files are those with kernels and all of the package that they import."""
    names = {Path(name).stem for name in jit._ENGINE}
    for file in PACKAGE.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert file.stem in names or not re.search(r"^@\w*kernel$", text, re.MULTILINE), file.name
        if file.stem in names:
            assert set(re.findall(r"^from scarto_env\.(\w+) import", text, re.MULTILINE)) <= names, file.name


def test_an_edited_rule_is_the_one_that_is_played(package: Path) -> None:
    """The fault of a cache that looks at one file: the caller would go on with the old rule."""
    script = (
        "from scarto_env.play import counted\nfrom scarto_env.rules import PRESETS, rules_table\n"
        "from scarto_env.jit import kernel\nprint(counted(5, 3, rules_table(PRESETS['scarto'])[0]))"
    )
    assert run(script, package) == "9"
    source = package / "scarto_env" / "rules.py"
    text = source.read_text(encoding="utf-8")
    assert text.count("THIRDS: Final = 3") == 1
    source.write_text(text.replace("THIRDS: Final = 3", "THIRDS: Final = 30"), encoding="utf-8")
    assert run(script, package) == str(30 * 5 - 2 * 3)


def test_a_file_beside_the_engine_depends_on_its_own_folder_too(package: Path) -> None:
    """Kernels of the bots call the engine's and each other's: an edit of either is seen."""
    script = """
from pathlib import Path
from scarto_env import jit
engine = Path(jit.__file__).with_name("play.py")
beside = engine.parent / "beside"
beside.mkdir()
for file in ("mine.py", "other.py"):
    (beside / file).write_text("")
    jit._cache_folder.cache_clear()
    print(jit._cache_folder(engine), jit._cache_folder(beside / "mine.py"))
"""
    (engine, first), (engine_again, second) = (line.split() for line in run(script, package).splitlines())
    assert engine == engine_again
    assert len({engine, first, second}) == 3


def test_where_the_package_cannot_be_written_the_user_s_cache_is_used(package: Path, tmp_path: Path) -> None:
    """A file in the way stands for a folder without permission, which root would not notice."""
    (package / "scarto_env" / "__pycache__").write_text("in the way", encoding="utf-8")
    user = tmp_path / "user"
    script = "from scarto_env import jit; print(jit._cache_folder(jit._PACKAGE / 'play.py'))"
    assert Path(run(script, package, XDG_CACHE_HOME=str(user))).parent == user / "scarto"


def test_without_any_cache_a_private_temporary_folder_is_used(package: Path, tmp_path: Path) -> None:
    (package / "scarto_env" / "__pycache__").write_text("in the way", encoding="utf-8")
    blocked = tmp_path / "blocked"
    blocked.write_text("in the way", encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script = "from scarto_env import jit\nfrom pathlib import Path\n" + 2 * (
        "jit._cache_folder.cache_clear()\nprint(jit._cache_folder(Path('play.py')))\n"
    )
    printed = run(script, package, XDG_CACHE_HOME=str(blocked), TMPDIR=str(temporary))
    folders = [Path(line) for line in printed.splitlines()]
    assert all(folder.parent == temporary for folder in folders)
    assert folders[0] != folders[1]
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)


def test_numba_s_own_setting_is_left_alone() -> None:
    import numba

    import scarto_env.play

    assert scarto_env.play.play is not None
    assert str(PACKAGE / "__pycache__") not in str(numba.config.CACHE_DIR)


FORK = """
import os
import warnings
from scarto_env import Batch
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside threads
one, two = (Batch(40, seed=3, threads=threads) for threads in (1, 2))
for _ in range(5):
    one.step(one.random_actions())
    two.step(two.random_actions())
child = os.fork()
for _ in range(80):
    one.step(one.random_actions())
    two.step(two.random_actions())
same = (one.observation == two.observation).all() and two.play_out() == one.play_out()
if not child:
    os._exit(0 if same else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), bool(same))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_process_forked_after_a_launch_plays_on() -> None:
    assert run(FORK).split() == ["0", "True"]
