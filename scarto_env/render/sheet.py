"""One SVG sheet with all 78 cards."""

from __future__ import annotations

from typing import Final

from scarto_env.cards import FIRST_TRUMP, NUM_CARDS, NUM_SUITS, SUIT_SIZE
from scarto_env.notation import in_order
from scarto_env.render.cards import HEIGHT, WIDTH, card_face
from scarto_env.render.marks import Theme

_GAP: Final = 10
_COLUMNS: Final = 14


def render_sheet(theme: Theme = "piedmontese", card_height: float = HEIGHT) -> str:
    """Return an SVG picture of the whole deck: a row a suit from the king down, then the trumps and the Fool.

    Args:
        theme: ``"piedmontese"`` or ``"french"``.
        card_height: pixels of a card's height.
    """
    suits = [in_order(range(suit * SUIT_SIZE, (suit + 1) * SUIT_SIZE)) for suit in range(NUM_SUITS)]
    tarocchi = list(range(FIRST_TRUMP, NUM_CARDS))
    rows = [*suits, tarocchi[:_COLUMNS], tarocchi[_COLUMNS:]]
    width, height = _COLUMNS * (WIDTH + _GAP) + _GAP, len(rows) * (HEIGHT + _GAP) + _GAP
    scale = card_height / HEIGHT
    faces = "".join(
        f'<g transform="translate({_GAP + column * (WIDTH + _GAP)} {_GAP + row * (HEIGHT + _GAP)})">'
        f"{card_face(card, theme)}</g>"
        for row, cards in enumerate(rows)
        for column, card in enumerate(cards)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:g}" height="{height * scale:g}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="The 78 cards of Scarto">'
        f"<title>The 78 cards of Scarto</title>"
        f'<rect width="{width}" height="{height}" fill="#3d6b4f"/>{faces}</svg>'
    )
