"""A stroke font of our own: text as SVG paths, the same in every viewer, with no font file.

A rasteriser without fonts leaves SVG text out.  Glyphs are drawn on a grid: top of capitals 0, top of small
letters 5, baseline 14, descenders to 18.
"""

from __future__ import annotations

import re
import unicodedata
from types import MappingProxyType
from typing import Final, Literal

CAPITAL: Final = 14.0
"""Height of a capital on the grid."""
_SPACE: Final = 5.0
_GAP: Final = 2.6
_UNKNOWN: Final = (7.0, "M0 0H7V14H0Z")
_WEIGHT: Final = 1.9

Anchor = Literal["start", "middle", "end"]

_BOWL: Final = "M6.5 8C6 6 4.8 5 3.3 5C1.3 5 0 6.8 0 9.5C0 12.2 1.3 14 3.3 14C4.8 14 6 13 6.5 11"
_BACK_BOWL: Final = "M0 8C.5 6 1.7 5 3.2 5C5.2 5 6.5 6.8 6.5 9.5C6.5 12.2 5.2 14 3.2 14C1.7 14 .5 13 0 11"
_HOOP: Final = "M5 0C2 0 0 2.8 0 7C0 11.2 2 14 5 14C8 14 10 11.2 10 7C10 2.8 8 0 5 0Z"
_LOOP: Final = "M0 14V0H4.2C6.6 0 8 1.6 8 3.9C8 6.2 6.6 7.8 4.2 7.8H0"
_ARCH: Final = "M0 8.2C.6 6 1.8 5 3.3 5C5 5 6 6.1 6 8.3V14"

GLYPHS: Final = MappingProxyType(
    {
        "0": (8.0, "M4 0C1.5 0 0 3 0 7C0 11 1.5 14 4 14C6.5 14 8 11 8 7C8 3 6.5 0 4 0Z"),
        "1": (5.0, "M.5 3.2L4 0V14"),
        "2": (8.0, "M.3 3.2C.8 1 2.2 0 4 0C6.2 0 7.7 1.5 7.7 3.7C7.7 6.5 4 9 .2 14H8"),
        "3": (8.0, "M.4 2.4C1 .8 2.3 0 4 0C6.2 0 7.5 1.4 7.5 3.3C7.5 5.3 6 6.5 3.2 6.5C6.2 6.5 8 7.9 8 10.1"
                   "C8 12.4 6.3 14 3.9 14C2 14 .5 13.1 0 11.4"),
        "4": (8.0, "M6.2 14V0L0 9.7H8"),
        "5": (8.0, "M7.3 0H1.2L.7 6.3C1.6 5.5 2.7 5.2 3.9 5.2C6.3 5.2 8 7 8 9.5C8 12.2 6.3 14 3.8 14"
                   "C2 14 .6 13.1 0 11.6"),
        "6": (8.0, "M7.2 2C6.6 .7 5.5 0 4.2 0C1.6 0 0 2.8 0 7.6C0 11.8 1.5 14 4.1 14C6.4 14 8 12.2 8 9.7"
                   "C8 7.2 6.5 5.5 4.2 5.5C2.2 5.5 .5 6.8 0 9"),
        "7": (8.0, "M0 0H8L2.8 14"),
        "8": (8.0, "M4 6.4C2 6.4 .6 5.1 .6 3.2C.6 1.3 2 0 4 0C6 0 7.4 1.3 7.4 3.2C7.4 5.1 6 6.4 4 6.4"
                   "C1.6 6.4 0 7.9 0 10.2C0 12.5 1.6 14 4 14C6.4 14 8 12.5 8 10.2C8 7.9 6.4 6.4 4 6.4Z"),
        "9": (8.0, "M.8 12C1.4 13.3 2.5 14 3.8 14C6.4 14 8 11.2 8 6.4C8 2.2 6.5 0 3.9 0C1.6 0 0 1.8 0 4.3"
                   "C0 6.8 1.5 8.5 3.8 8.5C5.8 8.5 7.5 7.2 8 5"),
        "A": (9.0, "M0 14L4.5 0L9 14M1.5 9.3H7.5"),
        "B": (8.0, "M0 6.6H4C6.2 6.6 7.4 5.2 7.4 3.3C7.4 1.4 6.2 0 4 0H0V14H4C6.6 14 8 12.5 8 10.3"
                   "C8 8.1 6.6 6.6 4 6.6"),
        "C": (9.0, "M9 2.6C8 .9 6.6 0 5 0C2 0 0 2.8 0 7C0 11.2 2 14 5 14C6.6 14 8 13.1 9 11.4"),
        "D": (9.0, "M0 0V14H3.5C7 14 9 11.3 9 7C9 2.7 7 0 3.5 0Z"),
        "E": (7.0, "M7 0H0V14H7M0 6.8H5.8"),
        "F": (7.0, "M7 0H0V14M0 6.8H5.8"),
        "G": (9.3, "M9 2.6C8 .9 6.6 0 5 0C2 0 0 2.8 0 7C0 11.2 2 14 5 14C7.6 14 9.3 12 9.3 8.6V7.6H5.5"),
        "H": (8.5, "M0 0V14M8.5 0V14M0 6.8H8.5"),
        "I": (1.0, "M.5 0V14"),
        "J": (6.0, "M6 0V10C6 12.6 4.9 14 3 14C1.3 14 .2 13 0 11.2"),
        "K": (8.5, "M0 0V14M8 0L0 8.4M3 5.3L8.5 14"),
        "L": (7.0, "M0 0V14H7"),
        "M": (10.5, "M0 14V0L5.25 9L10.5 0V14"),
        "N": (9.0, "M0 14V0L9 14V0"),
        "O": (10.0, _HOOP),
        "P": (8.0, _LOOP),
        "Q": (10.0, _HOOP + "M6.2 10.5L10 15"),
        "R": (8.5, _LOOP + "M4.4 7.8L8.5 14"),
        "S": (8.0, "M7.6 2.4C6.9 .8 5.6 0 4 0C1.8 0 .4 1.4 .4 3.4C.4 8.2 8 5.6 8 10.3C8 12.5 6.4 14 4 14"
                   "C2 14 .5 13 0 11.2"),
        "T": (9.0, "M0 0H9M4.5 0V14"),
        "U": (9.0, "M0 0V9C0 12.2 1.7 14 4.5 14C7.3 14 9 12.2 9 9V0"),
        "V": (9.0, "M0 0L4.5 14L9 0"),
        "W": (13.0, "M0 0L3.3 14L6.5 1.5L9.7 14L13 0"),
        "X": (9.0, "M0 0L9 14M9 0L0 14"),
        "Y": (9.0, "M0 0L4.5 7.2L9 0M4.5 7.2V14"),
        "Z": (8.0, "M0 0H8L0 14H8"),
        "a": (6.5, "M6.5 5V14" + _BOWL),
        "b": (6.5, "M0 0V14" + _BACK_BOWL),
        "c": (6.0, "M6 6.8C5.4 5.6 4.5 5 3.3 5C1.3 5 0 6.8 0 9.5C0 12.2 1.3 14 3.3 14C4.5 14 5.4 13.4 6 12.2"),
        "d": (6.5, "M6.5 0V14" + _BOWL),
        "e": (6.5, "M0 9.3H6.5C6.5 6.7 5.3 5 3.3 5C1.3 5 0 6.8 0 9.5C0 12.2 1.3 14 3.5 14C4.8 14 5.8 13.5 6.4 12.4"),
        "f": (4.5, "M4.5 .3C2.6 -.4 1.5 .6 1.5 2.8V14M0 5H4.2"),
        "g": (6.5, "M6.5 5V14.5C6.5 17 5.3 18.3 3.2 18.3C1.9 18.3 .9 17.9 .3 17" + _BOWL),
        "h": (6.0, "M0 0V14" + _ARCH),
        "i": (1.0, "M.5 5V14M.5 1.4V1.5"),
        "j": (2.5, "M2 5V15.5C2 17.4 1.2 18.3 -.3 18.2M2 1.4V1.5"),
        "k": (6.0, "M0 0V14M5.7 5L0 10.5M2 8.6L6 14"),
        "l": (1.0, "M.5 0V14"),
        "m": (10.0, "M0 5V14M0 8.2C.5 6 1.4 5 2.7 5C4.2 5 5 6.1 5 8.3V14M5 8.2C5.5 6 6.4 5 7.7 5C9.2 5 10 6.1"
                    " 10 8.3V14"),
        "n": (6.0, "M0 5V14" + _ARCH),
        "o": (7.0, "M3.5 5C1.4 5 0 6.8 0 9.5C0 12.2 1.4 14 3.5 14C5.6 14 7 12.2 7 9.5C7 6.8 5.6 5 3.5 5Z"),
        "p": (6.5, "M0 5V18" + _BACK_BOWL),
        "q": (6.5, "M6.5 5V18" + _BOWL),
        "r": (4.0, "M0 5V14M0 8.5C.5 6.2 1.8 4.8 4 5.1"),
        "s": (5.5, "M5.2 6.5C4.7 5.5 3.9 5 2.8 5C1.3 5 .3 5.9 .3 7.2C.3 10.3 5.5 8.7 5.5 11.6C5.5 13.1 4.4 14 2.8 14"
                   "C1.4 14 .4 13.4 0 12.3"),
        "t": (4.5, "M1.5 1.5V11.5C1.5 13.5 2.6 14.4 4.5 13.7M0 5H4.3"),
        "u": (6.0, "M0 5V10.8C0 13 1 14 2.7 14C4.2 14 5.4 13 6 10.8M6 5V14"),
        "v": (6.0, "M0 5L3 14L6 5"),
        "w": (9.0, "M0 5L2.4 14L4.5 6L6.6 14L9 5"),
        "x": (6.0, "M0 5L6 14M6 5L0 14"),
        "y": (6.0, "M0 5L3.2 13.5M6 5L3.2 13.5C2.4 16.5 1.4 18.2 -.3 18"),
        "z": (5.5, "M0 5H5.5L0 14H5.5"),
        ".": (1.0, "M.5 13.8V14"),
        ",": (1.5, "M1 13.4L.2 16.2"),
        ":": (1.0, "M.5 7V7.2M.5 13.8V14"),
        ";": (1.5, "M1 7V7.2M1 13.4L.2 16.2"),
        "+": (7.0, "M3.5 4.5V11.5M0 8H7"),
        "-": (4.5, "M0 8.5H4.5"),
        "/": (5.0, "M5 -1L0 15"),
        "(": (3.0, "M3 -1C.2 3 .2 12 3 16"),
        ")": (3.0, "M0 -1C2.8 3 2.8 12 0 16"),
        "[": (3.0, "M3 -1H0V16H3"),
        "]": (3.0, "M0 -1H3V16H0"),
        "=": (7.0, "M0 6.3H7M0 10.3H7"),
        "_": (6.5, "M0 16H6.5"),
        "'": (1.0, "M.5 0V3.5"),
        '"': (3.5, "M.5 0V3.5M3 0V3.5"),
        "!": (1.0, "M.5 0V9.5M.5 13.8V14"),
        "?": (6.5, "M0 2.6C.6 .9 1.8 0 3.3 0C5.2 0 6.5 1.3 6.5 3.2C6.5 6 3.2 6.4 3.2 9.6M3.2 13.8V14"),
        ">": (6.0, "M0 4L6 8.5L0 13"),
        "<": (6.0, "M6 4L0 8.5L6 13"),
        "*": (6.0, "M3 2V9M0 3.8L6 7.2M6 3.8L0 7.2"),
        "#": (8.0, "M2.6 1L1.2 13M6.8 1L5.4 13M.3 4.8H8M0 9.2H7.7"),
        "%": (9.0, "M8 0L1 14M2 5C.8 5 0 4 0 2.5C0 1 .8 0 2 0C3.2 0 4 1 4 2.5C4 4 3.2 5 2 5ZM7 14C5.8 14 5 13 5 11.5"
                   "C5 10 5.8 9 7 9C8.2 9 9 10 9 11.5C9 13 8.2 14 7 14Z"),
        "&": (9.0, "M9 14L2 4C.8 2 2 0 3.8 0C5.4 0 6.4 1 6.4 2.6C6.4 5.6 0 6.2 0 10.2C0 12.4 1.6 14 3.8 14"
                   "C6.6 14 8.4 11.5 8.6 8"),
    }
)  # fmt: skip
"""Character -> width and path."""


def text_width(text: str, size: float) -> float:
    """Return the width of text whose capitals are ``size`` high."""
    if not text:
        return 0.0
    return (sum(_advance(character) for character in _drawable(text)) - _GAP) * size / CAPITAL


def text_path(
    text: str, x: float, y: float, size: float, anchor: Anchor = "start", colour: str = "#000", weight: float = 1.0
) -> str:
    """Return text as one SVG path.

    Args:
        text: what is written; accents are dropped, other unknown characters become a box.
        x: where the anchor stands.
        y: the baseline.
        size: height of capitals.
        anchor: which part of the text stands at ``x``.
        colour: of the strokes.
        weight: of the strokes, 1 for regular.
    """
    scale = size / CAPITAL
    left = x - text_width(text, size) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    path = ""
    for character in _drawable(text):
        if character != " ":
            path += _moved(GLYPHS.get(character, _UNKNOWN)[1], left, y - size, scale)
        left += _advance(character) * scale
    stroke = round(_WEIGHT * weight * scale, 2)
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{stroke}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def shortened(text: str, size: float, width: float) -> str:
    """Return text cut, with two points, to a width."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "..", size) > width:
        text = text[:-1]
    return text.rstrip() + ".."


def _drawable(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    return "".join(character for character in plain if not unicodedata.combining(character))


def _advance(character: str) -> float:
    return _SPACE if character == " " else GLYPHS.get(character, _UNKNOWN)[0] + _GAP


def _moved(path: str, x: float, y: float, scale: float) -> str:
    """Return a path of absolute commands, scaled and moved."""
    moved = ""
    for command, numbers in re.findall(r"([MLHVCZ])([^MLHVCZ]*)", path):
        values = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        places = []
        for index, value in enumerate(values):
            across = command == "H" or (command != "V" and index % 2 == 0)
            places.append(f"{round(value * scale + (x if across else y), 2):g}")
        moved += command + " ".join(places)
    return moved
