"""Card faces as SVG: 100 wide and 180 high, each with a title for screen readers."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Final

from scarto_env.cards import (
    FIRST_TRUMP,
    FOOL,
    ROMAN,
    SUIT,
    SUIT_SIZE,
    card_code,
    card_name,
)
from scarto_env.render.courts import court_figure
from scarto_env.render.glyphs import text_path, text_width
from scarto_env.render.marks import COLOURS, INK, PAPER, Theme, placed, suit_sign
from scarto_env.render.trumps import pictogram

WIDTH: Final = 100
HEIGHT: Final = 180
_CORNER: Final = 7
_COURTS: Final = "KQCJ"

# Places of a pip card's signs: x from the middle, y from the middle; those below it stand upside down.
_COLUMN: Final = 14.5
_PIPS: Final = MappingProxyType(
    {
        1: [(0, 0)],
        2: [(0, -48), (0, 48)],
        3: [(0, -48), (0, 0), (0, 48)],
        4: [(-1, -48), (1, -48), (-1, 48), (1, 48)],
        5: [(-1, -48), (1, -48), (0, 0), (-1, 48), (1, 48)],
        6: [(-1, -48), (1, -48), (-1, 0), (1, 0), (-1, 48), (1, 48)],
        7: [(-1, -48), (1, -48), (0, -24), (-1, 0), (1, 0), (-1, 48), (1, 48)],
        8: [(-1, -51), (1, -51), (-1, -17), (1, -17), (-1, 17), (1, 17), (-1, 51), (1, 51)],
        9: [(-1, -51), (1, -51), (-1, -17), (1, -17), (0, 0), (-1, 17), (1, 17), (-1, 51), (1, 51)],
        10: [(-1, -51), (1, -51), (0, -34), (-1, -17), (1, -17), (-1, 17), (1, 17), (0, 34), (-1, 51), (1, 51)],
    }
)  # fmt: skip
_ACE_SIZE: Final = 52.0
_PIP_SIZES: Final = (28.0, 20.0)
"""Up to three signs, and more."""
_FEW: Final = 3
_NAME_WIDTH: Final = 82.0


@functools.cache
def card_face(card: int, theme: Theme = "piedmontese") -> str:
    """Return a card's face as an SVG group with its title.

    Args:
        card: card 0..77.
        theme: ``"piedmontese"`` or ``"french"``: suit signs and names.
    """
    colour = COLOURS[theme][int(SUIT[card])]
    drawing = _trump(card, colour, theme) if card >= FIRST_TRUMP else _plain(card, colour, theme)
    name = card_title(card, theme)
    return f'<g role="img" aria-label="{name}"><title>{name}</title>{_blank(PAPER, INK)}{drawing}</g>'


def card_title(card: int, theme: Theme = "piedmontese") -> str:
    """Return a card's name in the language of the theme."""
    return card_name(card, "fr" if theme == "french" else "it")


@functools.cache
def card_back() -> str:
    """Return the back of all cards as an SVG group with its title."""
    lattice = "".join(f"M10 {y}L90 {y + 80}M90 {y}L10 {y + 80}" for y in range(-70, 170, 16))
    clip = '<clipPath id="back"><rect x="9" y="9" width="82" height="162" rx="4"/></clipPath>'
    return (
        '<g role="img" aria-label="a card face down"><title>a card face down</title>'
        f"{_blank(PAPER, INK)}{clip}"
        '<rect x="9" y="9" width="82" height="162" rx="4" fill="#8c2f39"/>'
        f'<path d="{lattice}" clip-path="url(#back)" fill="none" stroke="#f0d9b5" stroke-width="1.3"/>'
        '<circle cx="50" cy="90" r="15" fill="#8c2f39" stroke="#f0d9b5" stroke-width="2"/>'
        f"{text_path('S', 50, 99, 18, 'middle', '#f0d9b5', 1.4)}</g>"
    )


def _blank(fill: str, stroke: str) -> str:
    return (
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="{_CORNER}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'
    )


def _twice(drawing: str) -> str:
    """Return a drawing and, turned by half, its twin, so that the card reads from both ends."""
    return f'{drawing}<g transform="rotate(180 {WIDTH // 2} {HEIGHT // 2})">{drawing}</g>'


def _plain(card: int, colour: str, theme: Theme) -> str:
    suit = card // SUIT_SIZE
    rank = card_code(card)[1]
    label = "10" if rank == "T" else rank
    sign = suit_sign(suit, theme)
    corner = _index(label, colour) + placed(sign, 13, 45, 16)
    if rank in _COURTS:
        return _court(rank, colour, suit, theme) + _twice(corner)
    number = int(label)
    size = _ACE_SIZE if number == 1 else _PIP_SIZES[number > _FEW]
    signs = "".join(
        placed(sign, WIDTH / 2 + column * _COLUMN, HEIGHT / 2 + y, size, turned=y > 0) for column, y in _PIPS[number]
    )
    return signs + _twice(corner)


def _index(label: str, colour: str) -> str:
    """Return the rank in the corner; two digits are narrower."""
    size = 24 if len(label) == 1 else 20
    return text_path(label, 16, 31, size, "middle", colour, 1.75)


def _court(rank: str, colour: str, suit: int, theme: Theme) -> str:
    panel = f'<rect x="27" y="9" width="46" height="162" rx="3" fill="#ffffff" stroke="{colour}" stroke-width="1.2"/>'
    figure = f'<g transform="translate(50 14) scale(.82 1)">{court_figure(rank, colour)}</g>'
    chest = placed(suit_sign(suit, theme, "#ffffff"), 50, 81, 15)
    return panel + _twice(figure + chest)


def _trump(card: int, colour: str, theme: Theme) -> str:
    panel = f'<rect x="8" y="44" width="84" height="104" rx="4" fill="#ffffff" stroke="{colour}" stroke-width="1.4"/>'
    picture = f'<g transform="translate(50 96) scale(1.22)">{pictogram(card)}</g>'
    if card == FOOL:
        words = card_title(card, theme)
        top = text_path("MT", 13, 33, 24, "start", colour, 1.75) + _stars(colour)
    else:
        number = card - FIRST_TRUMP + 1
        words = card_title(card, theme).split(" ", 1)[1]
        top = text_path(str(number), 10, 33, 24, "start", colour, 1.75)
        top += text_path(ROMAN[number - 1], 91, 29, 15, "end", INK, 1.3)
    size = min(13.0, 13.0 * _NAME_WIDTH / text_width(words, 13.0))
    return panel + picture + top + text_path(words, 50, 168, size, "middle", INK, 1.25)


def _stars(colour: str) -> str:
    return text_path("*", 88, 34, 22, "end", colour, 1.5)
