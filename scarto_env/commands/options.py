"""What several commands take, turned into the package's own values or refused in one line."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from scarto_env.bots import Bot, make_bot
from scarto_env.notation import parse_rules
from scarto_env.rules import PRESETS, Rules

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_RULES: Final = "scarto"
BAR_MISSED: Final = 1
"""Exit code when a bar that was named has been missed."""


class RulesType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.5 on
    """A preset's name, with options changed: ``scarto:overtrump=no,honours=1 20``."""

    name = "rules"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Rules:
        """Return the rules."""
        if isinstance(value, Rules):
            return value
        preset, _, options = str(value).partition(":")
        try:
            return parse_rules(preset.strip(), options.replace(",", ";"))
        except ValueError as error:
            self.fail(str(error), param, ctx)


RULES: Final = RulesType()


def rules_option(command: Command) -> Command:
    """Add ``--rules``."""
    text = f"Preset ({', '.join(PRESETS)}), options changed: scarto:overtrump=no,fool_value=3."
    return click.option("--rules", type=RULES, default=DEFAULT_RULES, show_default=True, metavar="RULES", help=text)(
        command
    )


def seed_option(default: int | None, text: str) -> Callable[[Command], Command]:
    """Add ``--seed``."""
    return click.option("--seed", type=click.IntRange(min=0), default=default, show_default=True, help=text)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(command)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def number_or_name(text: str) -> int | str:
    """Return a number of deals as a number; what is none may be the name of a set."""
    return int(text) if text.isdecimal() else text


def finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse what is no number: it compares with nothing."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not allowed: expected a number", context, parameter)
    return value


def check_output(*paths: str | Path | None) -> None:
    """Refuse files that could not be written, or are the same, before the work is done that they are to hold.

    Raises:
        click.UsageError: names the file.
    """
    named = [Path(path) for path in paths if path is not None]
    for path in named:
        if not path.parent.is_dir():
            raise click.UsageError(f"{path}: there is no folder {path.parent}", click.get_current_context(silent=True))
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise click.UsageError(f"{path} cannot be written", click.get_current_context(silent=True))
    if len({path.resolve() for path in named}) < len(named):
        raise click.UsageError(f"{named[0]} is named twice", click.get_current_context(silent=True))


@contextlib.contextmanager
def refused(*kinds: type[Exception]) -> Iterator[None]:
    """Turn refusals of these kinds into a line for the user."""
    try:
        yield
    except kinds as error:
        raise click.UsageError(str(error), click.get_current_context(silent=True)) from error


def made_bots(names: Sequence[str], rules: Rules, seed: int = 0) -> list[Bot]:
    """Return the bots of some names, or refuse a name in one line."""
    with refused(ValueError, TypeError):
        return [make_bot(name, rules=rules, seed=seed) for name in names]
