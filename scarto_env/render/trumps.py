"""A small pictogram for every trump and the Fool: in a box of -30..30 by -36..36 around its middle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from scarto_env.cards import FIRST_TRUMP, FOOL
from scarto_env.render.marks import GOLD, GREY, INK, RED, SKIN, WHITE, disc, line, shape

_GREEN: Final = "#2c7a3f"
_BLUE: Final = "#3a74b8"
_BROWN: Final = "#8a5a2b"


def pictogram(card: int) -> str:
    """Return the drawing of a trump or of the Fool."""
    return _fool() if card == FOOL else _PICTURES[card - FIRST_TRUMP]()


def _star(x: float, y: float, radius: float, points: int = 8, fill: str = GOLD) -> str:
    places = []
    for step in range(2 * points):
        reach = radius if step % 2 == 0 else radius * 0.42
        angle = math.pi * step / points - math.pi / 2
        places.append(f"{x + reach * math.cos(angle):.1f} {y + reach * math.sin(angle):.1f}")
    return shape("M" + "L".join(places) + "Z", fill)


def _wheel(x: float, y: float, radius: float, spokes: int = 8) -> str:
    lines = ""
    for spoke in range(spokes):
        angle = 2 * math.pi * spoke / spokes
        lines += f"M{x} {y}L{x + radius * math.cos(angle):.1f} {y + radius * math.sin(angle):.1f}"
    ring = f'<circle cx="{x}" cy="{y}" r="{radius}" fill="none" stroke="{_BROWN}" stroke-width="4"/>'
    return line(lines, _BROWN, 2.2) + ring + disc(x, y, radius / 5, GOLD)


def _magician() -> str:
    table = shape("M-28 6H28V12H-28Z", _BROWN) + line("M-22 12V34M22 12V34", _BROWN, 4)
    cup = shape("M-22-12H-8L-11 6H-19Z", RED)
    balls = disc(0, 2, 4, GOLD) + disc(9, 2, 4, _BLUE)
    hat = shape("M-4-20C-4-36 12-36 12-20C22-20 24-14 18-12H-10C-16-14-14-20-4-20Z", _GREEN)
    wand = line("M16 4L28-16", INK, 3) + disc(28, -17, 2.5, GOLD)
    return table + cup + balls + hat + wand


def _popess() -> str:
    tiara = shape("M-15-2C-17-18-8-34 0-34C8-34 17-18 15-2Z", GOLD)
    bands = line("M-15-4H15M-15-13H15M-11.5-22H11.5", RED, 3) + disc(0, -35, 3, RED)
    book = shape("M0 12C-8 6-20 6-28 9V33C-20 30-8 30 0 35C8 30 20 30 28 33V9C20 6 8 6 0 12Z", WHITE)
    text = line(
        "M0 12V35M-23 15C-16 13-10 14-5 17M-23 22C-16 20-10 21-5 24M23 15C16 13 10 14 5 17M23 22C16 20 10 21 5 24"
    )
    return tiara + bands + book + text


def _empress() -> str:
    shield = shape("M-22-4H22C24 16 12 30 0 36C-12 30-24 16-22-4Z", GOLD)
    eagle = shape("M0 2L4 6L18 3C18 12 14 18 6 19L8 26L0 31L-8 26L-6 19C-14 18-18 12-18 3L-4 6Z", INK)
    crown = shape("M-14-10L-18-28L-8-21L0-33L8-21L18-28L14-10Z", RED) + disc(0, -33, 2.4, GOLD)
    return shield + eagle + crown


def _emperor() -> str:
    orb = disc(0, 14, 18, _BLUE) + line("M-18 14H18M0-4V14", GOLD, 3.5)
    cross = line("M0-6V-20M-6-14H6", GOLD, 4)
    sceptre = line("M-25 34L-25-24", _BROWN, 3.5) + shape("M-25-36L-20-28L-25-20L-30-28Z", GOLD)
    sword = line("M25 34V-26", GREY, 4) + line("M19 20H31", _BROWN, 3.5)
    return orb + cross + sceptre + sword


def _pope() -> str:
    staff = line("M0 36V-34M-9-26H9M-14-15H14M-19-4H19", INK, 6.5)
    gold = line("M0 36V-34M-9-26H9M-14-15H14M-19-4H19", GOLD, 3.8)
    keys = (
        line("M-22 34L-8 12M22 34L8 12", GREY, 3.2)
        + disc(-22, 32, 5, "none", GREY, 3)
        + disc(22, 32, 5, "none", GREY, 3)
    )
    return staff + gold + keys


def _heart(x: float, y: float, size: float) -> str:
    path = (f"M{x} {y + size}C{x - 2 * size} {y - size * 0.2} {x - size} {y - size * 1.4} {x} {y - size * 0.4}"
            f"C{x + size} {y - size * 1.4} {x + 2 * size} {y - size * 0.2} {x} {y + size}Z")  # fmt: skip
    return shape(path, RED)


def _lovers() -> str:
    bow = line("M-22-30C-4-36 4-36 22-30", _BROWN, 3.4) + line("M-22-30L0-22L22-30", INK, 1.2)
    arrow = line("M0-34V-6", INK, 2.4) + shape("M0 0L-5-9H5Z", GOLD)
    return _heart(-11, 14, 15) + _heart(12, 20, 13) + bow + arrow


def _chariot() -> str:
    box = shape("M-24-2H24L18 18H-18Z", RED) + line("M-18 6H18", GOLD, 2.4)
    canopy = shape("M-24-24C-10-36 10-36 24-24V-18H-24Z", _BLUE) + line("M-20-18V-2M20-18V-2", _BROWN, 3)
    return canopy + box + _wheel(-14, 22, 11, 6) + _wheel(14, 22, 11, 6)


def _justice() -> str:
    beam = line("M0-32V30M-24-22L24-22M-12 33H12", INK, 3)
    pans = "".join(
        line(f"M{x} -22L{x - 9} 2M{x} -22L{x + 9} 2", INK, 1.2)
        + shape(f"M{x - 10} 2H{x + 10}C{x + 8} 10 {x - 8} 10 {x - 10} 2Z", GOLD)
        for x in (-20, 20)
    )
    return beam + pans + disc(0, -32, 3.5, GOLD)


def _hermit() -> str:
    handle = line("M-10-22C-10-36 10-36 10-22", INK, 2.6)
    roof = shape("M-15-14L0-26L15-14Z", _BROWN)
    glass = shape("M-13-14H13L10 20H-10Z", "#fff3c0") + line("M-4.5-14L-3.5 20M4.5-14L3.5 20", INK, 1.1)
    flame = shape("M0-8C7 0 6 10 0 14C-6 10-7 0 0-8Z", "#f08a24")
    return handle + roof + glass + flame + shape("M-13 20H13V28H-13Z", _BROWN) + line("M26-30V34", _BROWN, 3.4)


def _fortune() -> str:
    return _wheel(0, -6, 24, 8) + shape("M-6 18L-16 36H16L6 18Z", _BROWN) + shape("M-8-36H8L5-28H-5Z", GOLD)


def _strength() -> str:
    mane = _star(0, 0, 32, 14, "#c98a2b")
    face = disc(0, 1, 18, GOLD) + disc(-7, -4, 2.2, INK) + disc(7, -4, 2.2, INK)
    muzzle = shape("M-5 3H5L0 8Z", INK) + line("M0 8V12M-8 13C-5 17-1 16 0 12C1 16 5 17 8 13", INK, 1.6)
    return mane + face + muzzle


def _hanged() -> str:
    frame = line("M-24 34V-32H24V34", _BROWN, 4.5) + line("M0-32V-18", INK, 2)
    legs = line("M0-18V4M0 4L-9-4L0-9", _BLUE, 4.4)
    body = shape("M-7 2H7L9 18H-9Z", RED) + line("M-8 16L-13 8L-5 5M8 16L13 8L5 5", RED, 3)
    return frame + legs + body + disc(0, 24, 6.5, SKIN) + line("M-5 29C-3 33 3 33 5 29", GOLD, 3)


def _death() -> str:
    scythe = line("M22 34L4-28", _BROWN, 3.6) + shape("M6-30C-10-36-24-28-29-14C-18-22-6-24 5-22Z", GREY)
    skull = shape("M-18 6C-18-8 8-8 8 6C8 13 5 15 4 17V23H-14V17C-15 15-18 13-18 6Z", WHITE)
    holes = disc(-10.5, 7, 3.4, INK) + disc(0.5, 7, 3.4, INK) + line("M-9 18V23M-5 18V23M-1 18V23", INK, 1.3)
    return scythe + skull + holes


def _temperance() -> str:
    high = shape("M-26-30L-8-20C-6-12-12-4-18-4C-26-6-30-14-30-20Z", RED)
    low = shape("M4 10H26L22 34H8Z", _BLUE) + line("M4 10H26", GOLD, 3)
    water = line("M-8-19C4-14 12-4 14 9M-10-16C1-11 9-2 11 9", "#6fb3e0", 3)
    return high + water + low


def _devil() -> str:
    horns = shape("M-14-12C-26-18-26-30-20-36C-20-26-12-22-6-20Z", INK) + shape(
        "M14-12C26-18 26-30 20-36C20-26 12-22 6-20Z", INK
    )
    face = shape("M-18-10C-16-24 16-24 18-10C18 8 8 18 0 24C-8 18-18 8-18-10Z", RED)
    eyes = shape("M-13-7L-3-3L-11 0Z", WHITE) + shape("M13-7L3-3L11 0Z", WHITE)
    mouth = line("M-9 8C-4 13 4 13 9 8", INK, 1.8) + shape("M0 22L-5 36H5Z", INK)
    return horns + face + eyes + mouth


def _tower() -> str:
    tower = shape("M-16 34L-13-14H13L16 34Z", GREY) + shape("M-17-14V-24H-11V-19H-4V-24H4V-19H11V-24H17V-14Z", GREY)
    windows = shape("M-4-4H4V6H-4Z", INK) + shape("M-5 34V22C-5 17 5 17 5 22V34Z", INK)
    flash = shape("M26-36L6-22L14-20L2-6L24-20L15-22L30-32Z", "#f5c400")
    return tower + windows + flash


def _stars() -> str:
    small = "".join(_star(x, y, 7, 6) for x, y in ((-20, -18), (20, -18), (-22, 12), (22, 12), (0, 28), (0, -30)))
    return small + _star(0, -2, 17, 8)


def _moon() -> str:
    moon = shape("M8-32C-16-30-28-12-22 8C-16 26 4 32 20 22C4 22-8 12-9-4C-9-16-3-27 8-32Z", "#f0dc8c")
    face = disc(-14, -6, 1.8, INK, INK, 0.2) + line("M-10 4L-14 8M-13 14C-10 16-8 15-6 14", INK, 1.5)
    return moon + face + _star(16, -16, 7, 5, WHITE) + _star(22, 4, 5, 5, WHITE)


def _sun() -> str:
    rays = _star(0, 0, 34, 16, "#f29b1d")
    face = disc(0, 0, 17, "#ffd54a") + disc(-6, -3, 1.9, INK, INK, 0.2) + disc(6, -3, 1.9, INK, INK, 0.2)
    return rays + face + line("M-7 6C-3 10 3 10 7 6M0-2V3", INK, 1.5)


def _angel() -> str:
    wings = shape("M-4-2C-16-18-30-16-30-30C-16-30-4-22 0-8Z", WHITE) + shape(
        "M4-2C16-18 30-16 30-30C16-30 4-22 0-8Z", WHITE
    )
    robe = shape("M0-8C8-6 12 16 16 34H-16C-12 16-8-6 0-8Z", _BLUE)
    head = disc(0, -15, 8, SKIN)
    halo = f'<ellipse cx="0" cy="-28" rx="9" ry="3" fill="none" stroke="{GOLD}" stroke-width="2.4"/>'
    trumpet = shape("M2-10L26 8L30 2L31 16L18 14L24 11L0-7Z", GOLD)
    return wings + robe + head + halo + trumpet


def _world() -> str:
    leaves = ""
    for turn in range(0, 360, 18):
        leaves += (
            f'<ellipse cx="0" cy="-29" rx="3.2" ry="6.4" fill="{_GREEN}" stroke="{INK}" stroke-width="0.7" '
            f'transform="rotate({turn}) rotate(28 0 -29)"/>'
        )
    globe = disc(0, 0, 20, "#7fb8e6")
    land = shape("M-14-10C-8-18 0-16 2-10C0-6-6-6-5 0C-9 4-15 0-17-4Z", _GREEN, INK, 0.8) + shape(
        "M4 0C10-6 18-2 17 4C14 12 8 16 4 14C6 8 0 6 4 0Z", _GREEN, INK, 0.8
    )
    return leaves + globe + land


def _fool() -> str:
    collar = shape("M-24 36L-18 18L-10 27L0 16L10 27L18 18L24 36Z", GOLD)
    face = f'<ellipse cx="0" cy="4" rx="12" ry="14" fill="{SKIN}" stroke="{INK}" stroke-width="1.1"/>'
    eyes = disc(-5, 3, 1.6, INK, INK, 0.2) + disc(5, 3, 1.6, INK, INK, 0.2)
    smile = line("M-6 10C-3 15 3 15 6 10", RED, 1.9)
    left = shape("M0-10C-14-26-26-22-29-2C-22-10-16-6-12 0C-10-4-5-6 0-6Z", RED)
    right = shape("M0-10C14-26 26-22 29-2C22-10 16-6 12 0C10-4 5-6 0-6Z", _GREEN)
    middle = shape("M-9-8C-6-24-2-32 0-34C2-32 6-24 9-8C4-5-4-5-9-8Z", GOLD)
    bells = disc(-29, 1, 3.4, GOLD) + disc(29, 1, 3.4, GOLD) + disc(0, -34, 3.4, GOLD)
    return collar + face + eyes + smile + left + right + middle + bells


_PICTURES: Final[tuple[Callable[[], str], ...]] = (
    _magician, _popess, _empress, _emperor, _pope, _lovers, _chariot, _justice, _hermit, _fortune, _strength,
    _hanged, _death, _temperance, _devil, _tower, _stars, _moon, _sun, _angel, _world,
)  # fmt: skip
