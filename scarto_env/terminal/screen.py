"""The terminal that a game is shown on: how wide it is and whether it has colour."""

from __future__ import annotations

import os
import shutil
from typing import TextIO

from scarto_env.render.text import DEFAULT_WIDTH, Pen


def screen_pen(stream: TextIO) -> Pen:
    """Return a pen for a stream as it is now: a terminal may be resized between two pictures.

    No colour where there is no terminal, where ``NO_COLOR`` is set, or for a dumb terminal.
    """
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if is_terminal else DEFAULT_WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")
    return Pen(colour, width)
