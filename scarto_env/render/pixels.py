"""SVG as pixels, by libraries of the extra ``render``."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarto_env.render.marks import Theme
from scarto_env.render.table import TABLE_WIDTH, render_svg
from scarto_env.render.view import TableView


def svg_to_png(svg: str, width: int | None = None) -> bytes:
    """Return an SVG picture as PNG, at its own size or ``width`` pixels wide."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True))


def svg_to_rgb(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """Return an SVG picture as pixels, [height, width, 3] uint8."""
    from PIL import Image

    with Image.open(io.BytesIO(svg_to_png(svg, width))) as image:
        pixels: NDArray[Any] = np.asarray(image.convert("RGB"))
    return pixels.copy()


def render_rgb(view: TableView, theme: Theme = "piedmontese", width: int = TABLE_WIDTH) -> NDArray[np.uint8]:
    """Return the table as pixels, [height, width, 3] uint8.

    Args:
        view: what is shown.
        theme: of the cards.
        width: pixels; the height follows.

    Raises:
        ModuleNotFoundError: without the libraries of the extra ``render``.
    """
    return svg_to_rgb(render_svg(view, theme), width)
