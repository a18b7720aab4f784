"""The table as SVG: one component draws every picture of a view, for pixels, notebooks and pages alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from scarto_env.cards import card_code
from scarto_env.notation import Trick, score_text
from scarto_env.render.cards import HEIGHT, WIDTH, card_back, card_face, card_title
from scarto_env.render.glyphs import Anchor, shortened, text_path
from scarto_env.render.marks import GOLD, INK, PAPER, WHITE, Theme
from scarto_env.render.view import SeatView, TableView

TABLE_WIDTH: Final = 1200
TABLE_HEIGHT: Final = 780
_FELT: Final = "#2f6048"
_DARK: Final = "#1d3d2e"
_PALE: Final = "#dfe9e2"
_EDGE: Final = 20
_SMALL: Final = 80.0
"""Height of a card in another's hand."""
_HAND: Final = 150.0
_HAND_Y: Final = 610.0
_RAISED: Final = 16.0
_ROW: Final = {3: (14, 25.0), 4: (21, 15.0)}
"""Cards in a row of another's hand, and how far each stands from the next; by number of players."""
_CAPITALS: Final = 0.72
"""Height of a capital as a share of a font's size."""

# Middle of each relative seat's plate, of its trick card, and left edge of its hand; by number of players.
_PLATES: Final = {3: [(600, 566), (990, 92), (210, 92)], 4: [(600, 566), (1010, 92), (600, 92), (190, 92)]}
_TRICK: Final = {3: [(600, 448), (712, 340), (488, 340)], 4: [(600, 440), (700, 370), (600, 296), (500, 370)]}
_TRICK_HEIGHT: Final = {3: 165.0, 4: 128.0}
_CAPTION_Y: Final = {3: 238.0, 4: 530.0}
_PLATE_WIDTH: Final = 350.0
_PLATE_HEIGHT: Final = 50.0


class Picture:
    """Collects the parts of a picture and the card faces that it uses.

    Args:
        theme: of the cards.
        fonts: write text as SVG text, which a browser sets and reads aloud; else as strokes, for rasterisers.
    """

    def __init__(self, theme: Theme, fonts: bool) -> None:
        self.theme, self.fonts = theme, fonts
        self.parts: list[str] = []
        self.faces: dict[int, None] = {}
        self.has_backs = False

    def add(self, part: str) -> None:
        """Add a part."""
        self.parts.append(part)

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, radius: float = 8, edge: str = ""
    ) -> None:
        """Add a rounded rectangle, with an edge ``"colour width"`` if given."""
        colour, _, size = edge.partition(" ")
        stroke = f' stroke="{colour}" stroke-width="{size}"' if edge else ""
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" fill="{fill}"{stroke}/>'
        )

    def text(
        self, text: str, x: float, y: float, size: float, anchor: Anchor = "start", colour: str = WHITE,
        bold: bool = False, width: float = 0.0,
    ) -> None:  # fmt: skip
        """Add text whose font would have ``size``, cut to ``width`` if given."""
        capital = size * _CAPITALS
        if width:
            text = shortened(text, capital, width)
        if self.fonts:
            weight = ' font-weight="700"' if bold else ""
            self.add(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"{weight}>'
                     f"{escape(text)}</text>")  # fmt: skip
        else:
            self.add(text_path(text, x, y, capital, anchor, colour, 1.45 if bold else 1.0))

    def card(self, card: int, x: float, y: float, height: float, veiled: bool = False) -> None:
        """Add a card by its upper left corner; one that may not be played lies under a veil."""
        self.faces[card] = None
        width = height * WIDTH / HEIGHT
        self._use(f"card-{card_code(card)}", card_title(card, self.theme), x, y, height)
        if veiled:
            self.add(f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:g}" rx="6" '
                     f'fill="{_FELT}" fill-opacity="0.5"/>')  # fmt: skip

    def back(self, x: float, y: float, height: float) -> None:
        """Add a card face down."""
        self.has_backs = True
        self._use("card-back", "", x, y, height)

    def _use(self, name: str, title: str, x: float, y: float, height: float) -> None:
        inner = f"><title>{title}</title></use>" if title and self.fonts else "/>"
        width = height * WIDTH / HEIGHT
        self.add(f'<use href="#{name}" x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:g}"{inner}')


def render_svg(view: TableView, theme: Theme = "piedmontese", fonts: bool = False) -> str:
    """Return the table as an SVG picture that needs nothing else.

    Args:
        view: what is shown.
        theme: of the cards.
        fonts: write text as SVG text, which needs a font where it is shown; strokes otherwise.
    """
    picture = drawn(view, theme, fonts)
    faces = card_symbols(list(picture.faces), theme, picture.has_backs)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {TABLE_WIDTH} {TABLE_HEIGHT}" '
        f'width="{TABLE_WIDTH}" height="{TABLE_HEIGHT}" role="img" font-family="sans-serif">'
        f"<title>{escape(title_of(view))}</title><defs>{faces}</defs>{''.join(picture.parts)}</svg>"
    )


def card_symbols(cards: Sequence[int], theme: Theme, back: bool = True) -> str:
    """Return the SVG symbols ``card-SK`` ... and ``card-back`` that a picture of the table refers to."""
    # Nothing is drawn outside a card, so that clipping it would only cost time.
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" overflow="visible"'
    symbols = [f'<symbol id="card-{card_code(card)}" {box}>{card_face(card, theme)}</symbol>' for card in cards]
    if back:
        symbols.append(f'<symbol id="card-back" {box}>{card_back()}</symbol>')
    return "".join(symbols)


def drawn(view: TableView, theme: Theme = "piedmontese", fonts: bool = True) -> Picture:
    """Return the parts of the picture of a view, without the card symbols they refer to."""
    picture = Picture(theme, fonts)
    picture.rect(0, 0, TABLE_WIDTH, TABLE_HEIGHT, _FELT, 0)
    _head(picture, view)
    bottom = view.viewer or 0
    for place in range(view.players):
        _seat(picture, view, view.seats[(bottom + place) % view.players], place)
    _last_trick(picture, view)
    _exchange(picture, view)
    if view.phase == "over":
        _count(picture, view)
    else:
        _trick(picture, view, bottom)
    return picture


def title_of(view: TableView) -> str:
    """Return what the picture shows in one sentence."""
    if view.to_act is None:
        return f"Scarto, deal {view.number + 1}: over"
    act = "lays away" if view.phase == "discard" else f"plays to trick {len(view.tricks) + 1}"
    return f"Scarto, deal {view.number + 1}: {view.seats[view.to_act].name} {act}"


def _head(picture: Picture, view: TableView) -> None:
    picture.rect(0, 0, TABLE_WIDTH, 44, _DARK, 0)
    picture.text(view.rules, _EDGE, 29, 19, bold=True, width=340)
    picture.text(view.facts, TABLE_WIDTH / 2, 28, 15, "middle", _PALE)
    picture.text(title_of(view).partition(": ")[2], TABLE_WIDTH - _EDGE, 28, 16, "end", width=300)


def _seat(picture: Picture, view: TableView, seat: SeatView, place: int) -> None:
    x, y = _PLATES[view.players][place]
    acts = seat.seat == view.to_act
    left = x - _PLATE_WIDTH / 2
    picture.rect(left, y - _PLATE_HEIGHT / 2, _PLATE_WIDTH, _PLATE_HEIGHT, _DARK, 8, f"{GOLD} 3" if acts else "")
    if acts:
        picture.add(
            f'<path d="M{left + 12:g} {y - 16:g}L{left + 24:g} {y - 9:g}L{left + 12:g} {y - 2:g}Z" fill="{GOLD}"/>'
        )
    you = ", you" if seat.seat == view.viewer else ""
    picture.text(seat.name, left + (32 if acts else 14), y - 3, 19, bold=True, width=190)
    picture.text(f"{seat.role}{you}", left + _PLATE_WIDTH - 14, y - 4, 15, "end", _PALE)
    points = score_text(seat.points, signed=False)
    words = ", ".join([_number(seat.hand_size, "card"), _number(seat.num_tricks, "trick"), f"{points} points"])
    if any(other.total for other in view.seats):
        words += f", total {score_text(seat.total)}"
    picture.text(words, left + 14, y + 17, 14, colour=_PALE)
    if place == 0:
        _own_hand(picture, view, seat)
    else:
        _other_hand(picture, seat, _ROW[view.players], x, y + _PLATE_HEIGHT / 2 + 8)


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _own_hand(picture: Picture, view: TableView, seat: SeatView) -> None:
    """Draw the hand at the bottom, legal cards raised."""
    if not seat.hand_size:
        return
    width = _HAND * WIDTH / HEIGHT
    step = min(width + 4, (TABLE_WIDTH - 2 * _EDGE - width) / max(1, seat.hand_size - 1))
    left = (TABLE_WIDTH - width - step * (seat.hand_size - 1)) / 2
    legal = view.legal if seat.seat == view.to_act else None
    for index in range(seat.hand_size):
        x = left + index * step
        if seat.hand is None:
            picture.back(x, _HAND_Y, _HAND)
            continue
        card = seat.hand[index]
        barred = legal is not None and card not in legal
        raised = _RAISED if legal is not None and not barred else 0
        # A barred card keeps its place and its face, lower than the legal ones and paler.
        picture.card(card, x, _HAND_Y + 8 - raised, _HAND, barred)


def _other_hand(picture: Picture, seat: SeatView, row: tuple[int, float], x: float, y: float) -> None:
    width = _SMALL * WIDTH / HEIGHT
    most, step = row
    left = x - (width + step * (min(most, seat.hand_size) - 1)) / 2
    for start in range(0, seat.hand_size, most):
        for index in range(min(most, seat.hand_size - start)):
            place = (left + index * step, y + start / most * _SMALL * 0.62, _SMALL)
            if seat.hand is None:
                picture.back(*place)
            else:
                picture.card(seat.hand[start + index], *place)


def _trick(picture: Picture, view: TableView, bottom: int) -> None:
    """Draw the trick on the table, or between tricks the one just taken; each card before its player."""
    trick = view.shown_trick
    if trick is None:
        picture.text(
            "The dealer lays away" if view.phase == "discard" else "Forehand leads", 600, 400, 20, "middle", _PALE
        )
        return
    winning = view.winning if view.trick else trick.winner
    height = _TRICK_HEIGHT[view.players]
    width = height * WIDTH / HEIGHT
    for turn, card in enumerate(trick.cards):
        seat = (trick.leader + turn) % view.players
        x, y = _TRICK[view.players][(seat - bottom) % view.players]
        if seat == winning:
            picture.rect(x - width / 2 - 6, y - height / 2 - 6, width + 12, height + 12, GOLD, 10)
        picture.card(card, x - width / 2, y - height / 2, height)
    picture.text(_trick_words(view, trick, winning), 600, _CAPTION_Y[view.players], 16, "middle")


def _trick_words(view: TableView, trick: Trick, winning: int | None) -> str:
    leader = f"Trick {trick.number}: {view.seats[trick.leader].name} led"
    if winning is None:
        return leader
    return f"{leader}, {view.seats[winning].name} {'takes it' if trick.winner is not None else 'is best'}"


def _box(picture: Picture, x: float, y: float, title: str) -> None:
    picture.text(title, x, y, 15, colour=_PALE, bold=True)


def _last_trick(picture: Picture, view: TableView) -> None:
    """Draw the trick before the one shown in the middle."""
    earlier = view.tricks if view.trick or view.phase == "over" else view.tricks[:-1]
    if not earlier:
        return
    trick = earlier[-1]
    assert trick.winner is not None
    _box(picture, _EDGE, 305, f"Trick {trick.number}, taken by {view.seats[trick.winner].name}")
    for turn, card in enumerate(trick.cards):
        seat = (trick.leader + turn) % view.players
        x = _EDGE + 4 + turn * 62
        if seat == trick.winner:
            picture.rect(x - 4, 316, _SMALL * WIDTH / HEIGHT + 8, _SMALL + 8, GOLD, 7)
        picture.card(card, x, 320, _SMALL)
        picture.text(view.seats[seat].name, x, 424, 12, colour=_PALE, width=58)


def _exchange(picture: Picture, view: TableView) -> None:
    """Draw talon and discard, face down as far as the viewer may not see them."""
    left = 880
    y = 305
    for title, cards, number in (
        ("Talon", view.talon, 0),
        ("Discard", view.discard, view.num_discarded),
    ):
        size = len(cards) if cards is not None else number
        if not size:
            continue
        _box(picture, left, y, f"{title}, {_number(size, 'card')}")
        for index in range(size):
            place = (left + index * 50, y + 11, _SMALL)
            if cards is None:
                picture.back(*place)
            else:
                picture.card(cards[index], *place)
        y += 120


def _count(picture: Picture, view: TableView) -> None:
    """Draw the count by threes, the par and the scores."""
    counts = [(seat, seat.count) for seat in view.seats if seat.count is not None]
    top = 245 if view.players == 4 else 225  # noqa: PLR2004
    picture.rect(345, top, 510, 70 + 56 * len(counts), PAPER, 10)
    par = score_text(counts[0][1].par, signed=False)
    picture.text("Count by threes", 365, top + 32, 20, colour=INK, bold=True)
    picture.text(f"par {par}", 835, top + 32, 18, "end", INK)
    for row, (seat, count) in enumerate(counts):
        y = top + 70 + 56 * row
        left = f" and {count.left}" if count.left else ""
        ultimo = f" + {count.ultimo}" if count.ultimo else ""
        taken = score_text(count.deduction, signed=False)
        points = score_text(count.points, signed=False)
        picture.text(seat.name, 365, y, 18, colour=INK, bold=True, width=300)
        picture.text(score_text(count.score), 835, y, 20, "end", INK, bold=True)
        words = (
            f"{count.cards} cards, {_number(count.threes, 'three')}{left}: {count.values} - {taken}{ultimo} = {points}"
        )
        if count.settled != count.score:
            words += f", {'pays' if count.settled < 0 else 'gets'} {score_text(abs(count.settled), signed=False)}"
        picture.text(words, 365, y + 23, 15, colour="#5c5248")
