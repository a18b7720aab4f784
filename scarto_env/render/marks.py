"""Colours and suit signs of the two themes, each sign drawn in a box of -12..12 around its middle."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

from scarto_env.cards import BASTONI, COPPE, DENARI, NO_SUIT, SPADE, TRUMPS

Theme = Literal["piedmontese", "french"]
THEMES: Final[tuple[Theme, ...]] = ("piedmontese", "french")

INK: Final = "#2b2420"
PAPER: Final = "#fdf8ec"
GOLD: Final = "#e3b23c"
SKIN: Final = "#f4dcc0"
WHITE: Final = "#ffffff"
GREY: Final = "#b9b2a8"
RED: Final = "#b4222e"

COLOURS: Final = MappingProxyType(
    {
        "piedmontese": {
            COPPE: "#b4222e", DENARI: "#a86b00", BASTONI: "#2c7a3f", SPADE: "#1f5591",
            TRUMPS: "#5a2d82", NO_SUIT: "#b8501a",
        },
        "french": {
            COPPE: "#c4122e", DENARI: "#c96a00", BASTONI: "#1d7340", SPADE: "#1d2030",
            TRUMPS: "#5a2d82", NO_SUIT: "#b8501a",
        },
    }
)  # fmt: skip
"""Theme -> colour of each suit, of the trumps and of the Fool."""


def shape(path: str, fill: str, stroke: str = INK, width: float = 1.1) -> str:
    """Return a closed, outlined SVG path."""
    return f'<path d="{path}" fill="{fill}" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round"/>'


def line(path: str, colour: str = INK, width: float = 1.4) -> str:
    """Return an open SVG path."""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def disc(x: float, y: float, radius: float, fill: str, stroke: str = INK, width: float = 1.1) -> str:
    """Return an outlined SVG circle."""
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'


def placed(drawing: str, x: float, y: float, size: float, turned: bool = False) -> str:
    """Return a sign moved to a place, ``size`` high, upside down if turned."""
    scale = round(size / 24, 3)
    turn = " rotate(180)" if turned else ""
    return f'<g transform="translate({x:g} {y:g}) scale({scale:g}){turn}">{drawing}</g>'


def suit_sign(suit: int, theme: Theme = "piedmontese", colour: str | None = None) -> str:
    """Return the drawing of a suit's sign, in the suit's colour or another."""
    fill = colour or COLOURS[theme][suit]
    return (_FRENCH if theme == "french" else _PIEDMONTESE)[suit](fill)


def _cup(fill: str) -> str:
    return (
        shape("M-9-11H9C9.5-2 5 3 1.8 4.2V7.5H6.5V11.5H-6.5V7.5H-1.8V4.2C-5 3-9.5-2-9-11Z", fill)
        + line("M-7.6-7.4H7.6", WHITE, 1.5)
        + line("M-5.5-3.5C-4.5-.8-3 .8-1.5 1.5", WHITE, 1.3)
    )


def _coin(fill: str) -> str:
    petals = "".join(f'<ellipse cx="0" cy="-4" rx="1.9" ry="3.2" fill="{fill}" transform="rotate({turn})"/>'
                     for turn in range(0, 360, 60))  # fmt: skip
    return disc(0, 0, 11, fill) + disc(0, 0, 8, WHITE, fill, 0.8) + petals + disc(0, 0, 1.8, fill, WHITE, 0.8)


def _baton(fill: str) -> str:
    knots = shape("M-3-2.6L-9-6.6L-7-9.6L-2-6.6Z", fill) + shape("M2.6 4.6L8.6.6L6.8-2.4L2 1Z", fill)
    wood = shape("M-3 10.6L-4.2-10.4C-4-12.2 4-12.2 4.2-10.4L3 10.6C2.6 12-2.6 12-3 10.6Z", fill)
    cut = f'<ellipse cx="0" cy="-10.6" rx="4.1" ry="1.5" fill="{WHITE}" stroke="{INK}" stroke-width="0.9"/>'
    return knots + wood + cut + line("M-1.2-6.5L-.8 8", WHITE, 1.1)


def _sword(fill: str) -> str:
    return (
        shape("M0-12L3.2-8V3.6H-3.2V-8Z", fill)
        + line("M0-8V2.6", WHITE, 0.9)
        + shape("M-8 3.2H8V5.8H-8Z", fill)
        + shape("M-1.8 5.8H1.8V9.4H-1.8Z", fill)
        + disc(0, 10.2, 2.1, fill)
    )


def _heart(fill: str) -> str:
    return shape("M0 11C-5 6-11 1.5-11-4.2C-11-8-8.3-10.5-5.2-10.5C-2.6-10.5-.8-8.9 0-6.8"
                 "C.8-8.9 2.6-10.5 5.2-10.5C8.3-10.5 11-8 11-4.2C11 1.5 5 6 0 11Z", fill)  # fmt: skip


def _diamond(fill: str) -> str:
    return shape("M0-12C2.2-7 5-3.2 8.5 0C5 3.2 2.2 7 0 12C-2.2 7-5 3.2-8.5 0C-5-3.2-2.2-7 0-12Z", fill)


def _club(fill: str) -> str:
    leaves = "".join(disc(x, y, 4.9, fill, fill, 0.5) for x, y in ((0, -5.8), (-5.6, 1.6), (5.6, 1.6)))
    return leaves + shape("M-1.6-2H1.6C1.4 4 2.6 8.5 5 11H-5C-2.6 8.5-1.4 4-1.6-2Z", fill, fill, 0.5)


def _spade(fill: str) -> str:
    leaf = ("M0-12C2.5-7.5 10.5-3 10.5 2.6C10.5 5.6 8.4 7.4 6 7.4C3.6 7.4 1.6 6 .9 4C1.1 7 2.6 9.5 4.6 11.4"
            "H-4.6C-2.6 9.5-1.1 7-.9 4C-1.6 6-3.6 7.4-6 7.4C-8.4 7.4-10.5 5.6-10.5 2.6"
            "C-10.5-3-2.5-7.5 0-12Z")  # fmt: skip
    return shape(leaf, fill, fill, 0.5)


_PIEDMONTESE: Final = MappingProxyType({COPPE: _cup, DENARI: _coin, BASTONI: _baton, SPADE: _sword})
_FRENCH: Final = MappingProxyType({COPPE: _heart, DENARI: _diamond, BASTONI: _club, SPADE: _spade})
