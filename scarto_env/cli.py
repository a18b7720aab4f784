"""The ``scarto`` command: runs a command and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

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
    try:
        return _run(arguments)
    except ModuleNotFoundError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        return _refuse(f"this {advice}")
    except BrokenPipeError:
        _flush_or_drop()
        return _PIPE_CLOSED
    except OSError as error:
        _flush_or_drop()
        return _refuse(f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("\nscarto: interrupted\n")
        return _INTERRUPTED


def _flush_or_drop() -> None:
    """Write what waits to be written, or drop it: Python tries again at exit, and would print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from scarto_env.commands import scarto

    try:
        code: Any = scarto.main(arguments, prog_name="scarto", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        return _refuse(error.format_message(), context.command_path if context else "scarto")
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit:
        # click ends the process itself in one case only: the reader of its output has gone.
        return _PIPE_CLOSED
    return code if isinstance(code, int) else DONE


def _refuse(message: str, place: str = "scarto") -> int:
    sys.stderr.write(f"{place}: {' '.join(message.split())}\n")
    return BAD_INPUT
