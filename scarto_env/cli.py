"""The ``scarto`` command: runs a command and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final

from scarto_env.extras import how_to_install

DONE: Final = 0
BAD_INPUT: Final = 2
_INTERRUPTED: Final = 128 + signal.SIGINT
_PIPE_CLOSED: Final = 128 + 13
"""As a shell reports a command that a signal has ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 a named bar was missed, 2 usage or bad input."""
    return run("scarto_env.commands", "scarto", "scarto", arguments)


def run(module: str, group: str, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run a group of commands, imported here since its libraries may be missing, and return the exit code.

    Args:
        module: where the group is defined.
        group: its name there.
        name: what the user calls it.
        arguments: those of the process by default.
    """
    try:
        return _run(getattr(importlib.import_module(module), group), name, arguments)
    except ModuleNotFoundError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        return _refuse(name, f"this {advice}")
    except BrokenPipeError:
        _flush_or_drop()
        return _PIPE_CLOSED
    except OSError as error:
        _flush_or_drop()
        return _refuse(name, f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write(f"\n{name}: interrupted\n")
        return _INTERRUPTED


def _flush_or_drop() -> None:
    """Write what waits to be written, or drop it: Python tries again at exit, and would print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(group: Any, name: str, arguments: Sequence[str] | None) -> int:
    import click

    try:
        code: Any = group.main(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        return _refuse(context.command_path if context else name, error.format_message())
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as left:
        # click ends the process itself in one case only, with a 1: the reader of its output has gone.
        return _PIPE_CLOSED if left.code == 1 else int(left.code or DONE)
    return code if isinstance(code, int) else DONE


def _refuse(place: str, message: str) -> int:
    sys.stderr.write(f"{place}: {' '.join(message.split())}\n")
    return BAD_INPUT
