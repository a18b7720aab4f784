"""The four courts as half-length figures, told apart by what they wear: in a box of 56 x 76, feet at the bottom."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from scarto_env.render.marks import GOLD, GREY, INK, RED, SKIN, WHITE, disc, line, shape

_HAIR: Final = "#6b4423"
_MANE: Final = "#4a3a2c"


def court_figure(rank: str, colour: str) -> str:
    """Return the figure of ``"K"``, ``"Q"``, ``"C"`` or ``"J"`` dressed in a colour, its middle at x = 0."""
    return _FIGURES[rank](colour)


def _face(y: float = 34, red_lips: bool = False) -> str:
    lips = RED if red_lips else INK
    eyes = disc(-4, y - 1, 1.1, INK, INK, 0.2) + disc(4, y - 1, 1.1, INK, INK, 0.2)
    nose = line(f"M0 {y}V{y + 3.5}", INK, 0.9)
    mouth = line(f"M-2.6 {y + 6.6}C-1 {y + 7.8} 1 {y + 7.8} 2.6 {y + 6.6}", lips, 1.3)
    head = f'<ellipse cx="0" cy="{y}" rx="9.5" ry="12" fill="{SKIN}" stroke="{INK}" stroke-width="1.1"/>'
    return head + eyes + nose + mouth


def _king(colour: str) -> str:
    robe = shape("M-28 76C-28 60-18 52-8 50H8C18 52 28 60 28 76Z", colour)
    ermine = shape("M-14 51C-8 60 8 60 14 51L17 56C9 67-9 67-17 56Z", WHITE)
    spots = "".join(line(f"M{x} {y}V{y + 1.6}", INK, 1.2) for x, y in ((-10, 57), (-4, 60), (4, 60), (10, 57)))
    beard = shape("M-9.6 35C-10 47-5 55 0 57C5 55 10 47 9.6 35C7 42 4 41.5 0 41.5C-4 41.5-7 42-9.6 35Z", GREY)
    crown = shape("M-12 24L-15 7L-7.5 14L0 3L7.5 14L15 7L12 24Z", GOLD)
    pearls = "".join(disc(x, y, 2, RED) for x, y in ((-15, 6), (0, 2), (15, 6)))
    band = shape("M-12 21H12V25.5H-12Z", RED)
    mouth = line("M-2.6 44.5C-1 45.5 1 45.5 2.6 44.5", INK, 1.2)
    return robe + ermine + spots + _face() + beard + mouth + crown + pearls + band


def _queen(colour: str) -> str:
    hair = shape("M-9 25C-19 36-16 52-19 64H19C16 52 19 36 9 25Z", _HAIR)
    robe = shape("M-26 76C-26 63-17 56-9 53C-5 60 5 60 9 53C17 56 26 63 26 76Z", colour)
    neck = shape("M-4.5 44H4.5L9 53C5 60-5 60-9 53Z", SKIN)
    fringe = shape("M-9.6 31C-9 22-4 20.5 0 20.5C4 20.5 9 22 9.6 31C6 28 3 25.5 0 25.5C-3 25.5-6 28-9.6 31Z", _HAIR)
    tiara = shape("M-9 21C-9 12-4 13 0 8C4 13 9 12 9 21C4 18-4 18-9 21Z", GOLD)
    pearls = "".join(disc(x, y, 1.7, WHITE) for x, y in ((-7, 14), (0, 7), (7, 14)))
    necklace = line("M-7 54C-3 59.5 3 59.5 7 54", GOLD, 2)
    return hair + neck + robe + _face(red_lips=True) + fringe + tiara + pearls + necklace


def _knight(colour: str) -> str:
    neck = shape(
        "M-16 76C-15 62-6 56-5 45C-11 48-18 51-22 49C-25 47-25 43-22 41C-14 35-12 25-5 18L-5.5 8L1 15"
        "C14 17 25 32 26 56L28 76Z",
        WHITE,
    )
    mane = shape("M1 15C14 17 25 32 26 56L28 76H20C20 56 14 38 2 25Z", _MANE)
    bridle = line("M-21 41L-11 47M-13 34L3 44M3 44L-5 18M3 44C6 54 5 62-4 70", colour, 2.6)
    eye = disc(-5.5, 29, 1.7, INK, INK, 0.2)
    nostril = disc(-20.5, 45, 1.1, INK, INK, 0.2)
    cloth = shape("M-16 76C-15.6 71-13 67-10.5 63L27 63L28 76Z", colour)
    return neck + mane + bridle + eye + nostril + cloth


def _jack(colour: str) -> str:
    hair = shape("M-10 26C-14 34-13 42-11 47H11C13 42 14 34 10 26Z", GOLD)
    tunic = shape("M-22 76L-17 57C-12 53-8 52-6 51H6C8 52 12 53 17 57L22 76Z", colour)
    stripes = line("M-8 54L-10 75M8 54L10 75M0 56V75", WHITE, 1.6)
    ruff = shape("M-12 52L-9 46L-6 51L-3 46L0 51L3 46L6 51L9 46L12 52L8 57H-8Z", WHITE)
    cap = shape("M-13 26C-17 17-4 11 6 13C15 14 16 22 12 26C5 22-5 22-13 26Z", colour)
    feather = shape("M7 14C8 5 16 3 23-1C24 9 18 17 10 19Z", WHITE) + line("M9 17C13 11 17 6 22 1", INK, 0.9)
    return hair + tunic + stripes + _face() + ruff + cap + feather


_FIGURES: Final = MappingProxyType({"K": _king, "Q": _queen, "C": _knight, "J": _jack})
