"""The commands of training: ``scarto train``, ``scarto exploit``, and those of ``python -m training``."""

from __future__ import annotations

import dataclasses
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import click
import torch

from scarto_env.adapters.cluster import need_ray
from scarto_env.arena import deal_set
from scarto_env.bots import make_bot
from scarto_env.bots.policy import CheckpointError
from scarto_env.bots.registry import POLICY_FOLDER
from scarto_env.bots.style import Numbers
from scarto_env.commands.options import number_or_name
from scarto_env.rules import as_rules
from training.card import forget_card, measure, rewrite_card, table
from training.checkpoint import (
    STATE_FILE,
    RunError,
    as_json,
    average_policies,
    begin_from,
    checkpoint_folder,
    resumed_config,
    write_atomically,
)
from training.config import MOST_SEED, Config, descriptions, make_config, read_settings
from training.crew import Crew
from training.distill import distill as teach
from training.distill import distillation_config
from training.exploit import exploit as train_exploiter
from training.exploit import exploiter_config
from training.finish import CURVE_FILE, FINAL_DEALS, RUN_FILE, SAMPLES_FILE, finish, read_circumstances
from training.league import LEAGUE_FOLDER
from training.learner import Learner
from training.network import fastest_precision
from training.report import BOARD_FOLDER, EVALUATIONS_FILE, METRICS_FILE
from training.train import MOST_PROCESSES, MOST_WORKERS, check_workers, train_together
from training.train import train as train_run

CONFIG_FILE: Final = "config.json"
INTERRUPTED: Final = 130
LIBRARIES: Final = ("scarto", "numpy", "numba", "torch", "safetensors", "gymnasium", "pettingzoo")
_PARTS: Final = (CONFIG_FILE, RUN_FILE, STATE_FILE, METRICS_FILE, EVALUATIONS_FILE, CURVE_FILE, SAMPLES_FILE,
                 POLICY_FOLDER, LEAGUE_FOLDER, BOARD_FOLDER)  # fmt: skip
RUN_PART: Final = re.compile("|".join(rf"{re.escape(name)}(\.\d+\.part)?" for name in _PARTS))
"""What a run leaves in its folder, files that were being written when it was killed included."""


def as_text(value: Any) -> str:
    """Return a setting's value as the command line takes it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for every field of ``Config``."""
    meanings, defaults = descriptions(), Config()
    for field in reversed(dataclasses.fields(Config)):
        shown = as_text(getattr(defaults, field.name))
        flag = f"--{field.name.replace('_', '-')}"
        command = click.option(flag, field.name, metavar="VALUE", help=f"{meanings[field.name]} [{shown}]")(command)
    return command


@click.command()
@click.option("--out", "folder", type=click.Path(path_type=Path), default=Path("runs/train"), show_default=True,
              help="Folder of the run.")  # fmt: skip
@click.option("--config", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="TOML or JSON file of settings; options win.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run in the folder.")
@click.option("--overwrite", is_flag=True, help="Throw away the run in the folder.")
@click.option("--final-deals", default=FINAL_DEALS, show_default=True,
              help="Deals of the last measurement: a number, or the name of a set.")  # fmt: skip
@click.option("--ray", "where", metavar="WHERE", help="Play on a Ray cluster: local, auto or an address.")
@click.option("--actors", type=click.IntRange(min=1), help="Actors that play on the cluster [workers].")
@settings_options
def train(
    folder: Path,
    file: Path | None,
    resume: bool,
    overwrite: bool,
    final_deals: str,
    where: str | None,
    actors: int | None,
    **options: Any,
) -> int:
    """Train a policy by self-play.

    Ctrl-C saves and leaves; --resume goes on.

    \b
    Examples:
      scarto train                                      the default run, into runs/train
      scarto train --resume
      scarto train --out runs/mine --rules traditional --deals 1000000 --actor 256,256
      scarto train --config mine.toml                   any setting below, by name
    """  # noqa: D301
    settings = {name: value for name, value in options.items() if value is not None}
    with one_line(), torchrun_crew() as crew:
        measured = number_or_name(final_deals)
        deal_set(measured)
        if actors and not where:
            raise RunError(f"actors={actors} play on a cluster: --ray says on which")
        if where:
            need_ray()  # before anything is written
        settings = (read_settings(file) if file else {}) | settings
        wanted = (actors or 1) * crew.size
        if "workers" not in settings and not resume and wanted > 1:
            settings["workers"] = wanted
        most = MOST_WORKERS if where else MOST_PROCESSES
        config = crew.led(lambda: prepare(folder, settings, resume, overwrite, most))
        if not train_wherever(config, folder, where, actors, crew):
            if crew.leads:
                click.echo(f"stopped and saved; go on with: scarto train --resume --out {folder}", err=True)
            return INTERRUPTED
        if crew.leads:
            finish(config, folder, measured)
    return 0


@contextmanager
def torchrun_crew() -> Iterator[Crew]:
    """Give the processes that torchrun started, or this one alone."""
    from training.ddp import launched, together

    if not launched():
        yield Crew()
        return
    with together() as crew:
        yield crew


def train_wherever(config: Config, folder: Path, where: str | None, actors: int | None, crew: Crew) -> bool:
    """Train on this machine, with torchrun's processes, or with players on a cluster; return whether all was played.

    Raises:
        RunError: the run cannot go on; its last save is whole.
        ValueError: there is no such cluster, or a worker of it runs other code.
    """
    if where:
        from training.cluster import train_on_cluster

        players = actors or len(crew.share(config.workers))
        return train_on_cluster(config, folder, where, players, crew)
    return train_run(config, folder) if crew.size == 1 else train_together(config, folder, crew)


def prepare(
    folder: Path, settings: dict[str, Any], resume: bool, overwrite: bool, most_workers: int = MOST_PROCESSES
) -> Config:
    """Return the config of a run once its folder is ready for it.

    Raises:
        RunError: the folder holds a run already, or none to resume.
        CheckpointError: there is no policy to start from.
        ValueError: a setting is unknown or not allowed.
    """
    if resume and (folder / STATE_FILE).exists():
        config = resumed_config(folder, settings)
    elif resume and (folder / CONFIG_FILE).exists():  # killed before its first save
        config = make_config(read_settings(folder / CONFIG_FILE) | settings)
    elif resume:
        raise RunError(f"{folder} holds no run to resume")
    else:
        config = make_config(settings)
    config = fitted(config)
    check_bots(config)
    check_workers(config, most_workers)
    if config.start and not resume:
        begin_from(config.start, Learner(config))
    if not resume and folder.exists() and any(folder.iterdir()):
        if not overwrite:
            raise RunError(f"{folder} is not empty: --resume goes on with its run, --overwrite throws it away")
        if foreign := sorted(path.name for path in folder.iterdir() if not RUN_PART.fullmatch(path.name)):
            raise RunError(f"{folder} holds {foreign[0]!r}, which is no part of a run: it is not overwritten")
        if not (folder / RUN_FILE).exists():
            raise RunError(f"{folder} holds no run: it is not overwritten")
        if config.start and Path(config.start).resolve().is_relative_to(folder.resolve()):
            raise RunError(f"{folder} holds {config.start}, which the run is to start from: it is not overwritten")
        shutil.rmtree(folder)
    begun = resume and (folder / RUN_FILE).exists()
    if begun:
        read_circumstances(folder)  # refused now, not once all is played
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / CONFIG_FILE, as_json(dataclasses.asdict(config)))
    if not begun:
        write_atomically(folder / RUN_FILE, as_json(circumstances(config)))
    return config


def check_bots(config: Config) -> None:
    """Make the bots of a config once.

    Raises:
        ValueError: there is no such bot; the message names it.
    """
    for name in dict.fromkeys((*config.yardsticks, *config.league_bots)):
        make_bot(name, config.rules)


def fitted(config: Config) -> Config:
    """Return the config of a run with its precision settled: resumed, it goes on as it began, wherever that is.

    Raises:
        RunError: there is no such device here.
    """
    try:
        torch.ones(1, device=config.device).cpu()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]
        raise RunError(f"device={config.device!r} cannot be used: {reason}") from None
    if config.precision != "auto":
        return config
    return dataclasses.replace(config, precision=fastest_precision(config.device))


def circumstances(config: Config) -> dict[str, Any]:
    """Return the command that makes a run like this, the code's commit and the versions of what it runs on."""
    defaults = dataclasses.asdict(Config())
    options = []
    for name, value in dataclasses.asdict(config).items():
        if value != defaults[name]:
            options.append(f"--{name.replace('_', '-')} {shlex.quote(as_text(value))}")
    versions = {name: _version(name) for name in LIBRARIES}
    return {
        "command": " ".join(["scarto train", *options]),
        "commit": commit(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions,
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def commit() -> str:
    """Return the commit of the code, with a mark if it was changed since; "unknown" outside a repository."""
    here = Path(__file__).parent
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return asked.stdout.strip()


@click.command()
@click.argument("checkpoint")
@click.option("--deals", default=100_000, show_default=True, help="Budget of each exploiter.")
@click.option("--side", type=click.Choice(["one", "two", "both"]), default="both", show_default=True,
              help="One exploiter against two copies, two as one against one copy, or both in turn.")  # fmt: skip
@click.option("--sampled", is_flag=True, help="The policy draws its cards instead of playing the likeliest.")
@click.option("--measured-deals", default=2000, show_default=True, help="Fresh deals on which the gain is measured.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Folder to keep the exploiters in.")
@click.option("--overwrite", is_flag=True, help="Write over what that folder holds.")
def exploit(
    checkpoint: str, deals: int, side: str, sampled: bool, measured_deals: int, seed: int, out: Path | None,
    overwrite: bool,
) -> int:  # fmt: skip
    """Train best responses to a frozen CHECKPOINT and report what they gain.

    \b
    Examples:
      scarto exploit scarto-small --deals 20000
      scarto exploit runs/train/policy --side one --out exploiters
    """  # noqa: D301
    with one_line():
        folder = checkpoint_folder(checkpoint)
        config = exploiter_config(folder, {"deals": deals, "seed": seed})
        deal_set(measured_deals)
        check_free(out, overwrite)
        if out:
            out.mkdir(parents=True, exist_ok=True)
        results = []
        for chosen in ("one", "two") if side == "both" else (side,):
            kept = out / chosen if out else None
            result = train_exploiter(folder, chosen, config, sampled, measured_deals, kept)
            results.append(dataclasses.asdict(result))
            what = "one exploiter gains" if chosen == "one" else "two exploiters take from one copy"
            click.echo(f"{what} {result.gain} points a deal after {result.deals:,} deals ({result.seconds:.0f} s)")
        if out:
            write_atomically(out / "exploit.json", as_json(results))
    return 0


@click.command()
@click.argument("checkpoint")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the new policy.")
@click.option("--deals", default=200_000, show_default=True, help="Deals that the teacher plays.")
@click.option("--actor", default="128,128", show_default=True, help="Widths of the new policy's hidden layers.")
@click.option("--seed", default=0, show_default=True)
@click.option("--overwrite", is_flag=True, help="Write over what that folder holds.")
def distill(checkpoint: str, out: Path, deals: int, actor: str, seed: int, overwrite: bool) -> int:
    """Teach a smaller network to play like CHECKPOINT."""
    with one_line():
        check_free(out, overwrite)
        folder = checkpoint_folder(checkpoint)
        widths = make_config({"actor": actor}).actor
        config = distillation_config(folder, {"deals": deals, "actor": widths, "seed": seed})
        divergence = teach(folder, config, out)
        forget_card(out)
        click.echo(f"{out}: {divergence:.4f} nats a decision from its teacher")
    return 0


@click.command()
@click.argument("checkpoints", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the new policy.")
@click.option("--overwrite", is_flag=True, help="Write over what that folder holds.")
def mean(checkpoints: Sequence[str], out: Path, overwrite: bool) -> int:
    """Average the weights of CHECKPOINTS: a policy and what it became by learning on."""
    with one_line():
        check_free(out, overwrite)
        average_policies([checkpoint_folder(checkpoint) for checkpoint in checkpoints], out)
        forget_card(out)
        click.echo(f"{out}: the mean of {len(checkpoints)}")
    return 0


def check_free(out: Path | None, overwrite: bool) -> None:
    """Refuse to write into a folder that holds something, before any work is done.

    Raises:
        RunError: it does.
    """
    if out and out.is_dir() and any(out.iterdir()) and not overwrite:
        raise RunError(f"{out} is not empty: --overwrite writes over what it holds")


@click.command()
@click.option("--rules", default="scarto", show_default=True, help="Preset.")
@click.option("--generations", type=click.IntRange(min=1), default=160, show_default=True)
@click.option("--population", type=click.IntRange(min=4), default=16, show_default=True)
@click.option("--deals", type=click.IntRange(min=1), default=1500, show_default=True, help="Deals of a try.")
@click.option("--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True)
def tune(rules: str, generations: int, population: int, deals: int, seed: int) -> int:
    """Tune the thumb rules' numbers as an answer to the heuristic, as the expert's were."""
    from training.tune import tune as tuned  # here, since nothing else needs its library

    with one_line():
        numbers: Numbers = {}
        for generation, numbers, points in tuned(as_rules(rules), generations, deals, population, seed):  # noqa: B007
            click.echo(f"generation {generation}: {points} points a deal against two heuristic bots", err=True)
        click.echo(as_json(numbers))
    return 0


@click.command()
@click.argument("checkpoint")
@click.option("--deals", default=FINAL_DEALS, show_default=True, help="Number of deals, or the name of a set.")
@click.option("--yardsticks", default=",".join(Config().yardsticks), show_default=True, help="Bots to play against.")
def card(checkpoint: str, deals: str, yardsticks: str) -> int:
    """Measure CHECKPOINT anew and write its model card."""
    with one_line():
        folder = checkpoint_folder(checkpoint)
        results = measure(folder, yardsticks.split(","), number_or_name(deals))
        click.echo("\n".join(table(results)))
        rewrite_card(folder)
    return 0


class one_line:  # noqa: N801
    """Turns what a user can set right into one line and exit code 2."""

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Raise the error as click tells it."""
        if isinstance(error, OSError) and error.filename:
            raise click.ClickException(f"{error.filename}: {error.strerror}") from None
        if isinstance(error, (RunError, CheckpointError, ValueError, FileNotFoundError)):
            raise click.ClickException(str(error)) from None


@click.group()
def training() -> None:
    """Learn to play Scarto."""


for _command in (train, exploit, distill, mean, card, tune):
    training.add_command(_command)
