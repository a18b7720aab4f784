"""The render modes of the environments."""

from __future__ import annotations

import sys
from typing import Any

from scarto_env.notation import Record
from scarto_env.render.text import render_ansi
from scarto_env.render.view import table_view


def render_mode(mode: str, record: Record, viewer: int | None = None) -> Any:
    """Return the record's last position as an environment's render mode shows it.

    Args:
        mode: ``"ansi"`` returns text with ANSI colours, ``"rgb_array"`` pixels, [height, width, 3] uint8;
            ``"human"`` prints the text and returns None.
        record: the deal so far.
        viewer: seat whose view is shown; all hands open without.

    Raises:
        ModuleNotFoundError: ``"rgb_array"`` without the libraries of the extra ``render``.
    """
    view = table_view(record, viewer=viewer)
    if mode == "rgb_array":
        from scarto_env.render.pixels import render_rgb

        return render_rgb(view)
    if mode == "human":
        sys.stdout.write(render_ansi(view, colour=sys.stdout.isatty()) + "\n")
        sys.stdout.flush()
        return None
    return render_ansi(view)
