"""A deal as one HTML page that stands alone: it asks for nothing from outside and runs under a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from scarto_env.cards import card_code
from scarto_env.notation import Record, cards_text, score_text
from scarto_env.render.cards import card_title
from scarto_env.render.marks import Theme
from scarto_env.render.table import TABLE_HEIGHT, TABLE_WIDTH, card_symbols, drawn, title_of
from scarto_env.render.view import TableView, facts, table_views

_SAID: Final = MappingProxyType({"probabilities": "probability", "values": "points expected"})
_FOLDER: Final = Path(__file__).parent


class Advice(NamedTuple):
    """What a bot makes of a position: the card it would play, and what it says of each legal card, if it says so.

    Attributes:
        choice: the card it would play.
        probabilities: card -> probability that it plays the card.
        values: card -> points it expects from the card.
    """

    choice: int
    probabilities: dict[int, float]
    values: dict[int, float]


def render_page(
    record: Record,
    viewer: int | None = None,
    theme: Theme = "piedmontese",
    advice: Sequence[Advice | None] = (),
    adviser: str = "",
) -> str:
    """Return a page to step through a record.

    Args:
        record: the deal.
        viewer: seat whose view is shown; nothing that it may not see is in the page.  None shows all cards.
        theme: of the cards.
        advice: for every ply, what a bot makes of the position; shown only where the viewer sees the hand.
        adviser: name of the bot.
    """
    views = list(table_views(record, viewer))
    plies, seen, has_backs = [], dict[int, None](), False
    cards = (*record.discard, *record.plays)
    for view in views:
        picture = drawn(view, theme)
        seen |= picture.faces
        has_backs |= picture.has_backs
        played = cards[view.ply] if view.ply < len(cards) else None
        given = advice[view.ply] if view.ply < len(advice) else None
        plies.append({
            "table": "".join(picture.parts),
            "label": title_of(view).partition(": ")[2],
            "exchange": _exchange(view),
            "advice": _advice(view, given, played, theme),
        })  # fmt: skip
    symbols = card_symbols(list(seen), theme, has_backs)
    says = [name for name in ("probabilities", "values") if any(given and getattr(given, name) for given in advice)]
    body = _body(record, views, symbols, _advice_section(adviser, says) if advice else "")
    return _document(f"Scarto: {', '.join(seat.name for seat in views[-1].seats)}", body, {"plies": plies})


def _advice(view: TableView, advice: Advice | None, played: int | None, theme: Theme) -> dict[str, Any] | None:
    if advice is None or view.legal is None:
        return None
    likely = sorted(view.legal, key=lambda card: -advice.probabilities.get(card, advice.values.get(card, 0.0)))
    return {
        "cards": [
            {
                "code": card_code(card),
                "name": card_title(card, theme),
                "choice": card == advice.choice,
                "played": card == played,
                "probability": advice.probabilities.get(card),
                "value": advice.values.get(card),
            }
            for card in likely
        ]
    }


def _body(record: Record, views: list[TableView], symbols: str, advice: str) -> str:
    last = views[-1]
    looks = "all cards" if last.viewer is None else f"what {escape(last.seats[last.viewer].name)} sees"
    box = f'viewBox="0 0 {TABLE_WIDTH} {TABLE_HEIGHT}"'
    return (
        f"<header><h1>{escape(last.rules)}</h1><p>{escape(facts(record.rules))}. "
        f"Deal {last.number + 1}, {looks}.</p></header>"
        f'<svg width="0" height="0" aria-hidden="true"><defs>{symbols}</defs></svg>'
        f'<main><div><svg id="table" {box} role="img" font-family="system-ui, sans-serif"></svg>'
        '<div class="bar"><button id="first">First</button><button id="back">Back</button>'
        '<input id="ply" type="range" min="0" value="0" aria-label="Cards laid away and played">'
        '<button id="next">Next</button><button id="end">Last</button><button id="run">Play</button></div>'
        '<p id="label" role="status"></p>'
        "<p>Keys: left and right a card, up and down a trick, Home, End, space to run.</p>"
        "<noscript><p>Stepping through the deal needs scripts; the tricks and the count stand beside.</p></noscript>"
        f"</div><div>{_count(last)}{advice}{_tricks(record, last)}"
        '<section><h2>Exchange</h2><p id="exchange"></p></section></div></main>'
    )


def _count(view: TableView) -> str:
    counts = [(seat, seat.count) for seat in view.seats if seat.count is not None]
    if not counts:
        return '<section id="count"><h2>The deal breaks off here</h2></section>'
    par = score_text(counts[0][1].par, signed=False)
    rows = ""
    for seat, count in counts:
        left = f" and {count.left}" if count.left else ""
        ultimo = f" + {count.ultimo}" if count.ultimo else ""
        taken = score_text(count.deduction, signed=False)
        paid = ""
        if count.settled != count.score:
            paid = f", {'pays' if count.settled < 0 else 'gets'} {score_text(abs(count.settled), signed=False)}"
        rows += (
            f"<tr><td>{escape(seat.name)}<br>{count.threes} threes{left}: {count.values} - {taken}{ultimo}</td>"
            f'<td class="number">{score_text(count.points, signed=False)}</td>'
            f'<td class="number"><b>{score_text(count.score)}</b>{paid}</td></tr>'
        )
    return (
        f'<section id="count"><h2>Count by threes, par {par}</h2><div class="wide"><table><thead><tr>'
        '<th>seat</th><th class="number">points</th><th class="number">score</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _advice_section(adviser: str, says: list[str]) -> str:
    heads = "".join(f"<th>{name}</th>" for name in ("card", *(_SAID[name] for name in says)))
    return (
        f'<section id="advice"><h2>{escape(adviser)}</h2><p id="advice-none">Nothing to choose, or not to be seen.</p>'
        f"<table><thead><tr>{heads}</tr></thead>"
        "<tbody></tbody></table><p>* its choice; marked: the card played.</p></section>"
    )


def _tricks(record: Record, view: TableView) -> str:
    start, players = len(record.discard), view.players
    rows = ""
    for trick in (*view.tricks, *((view.trick,) if view.trick else ())):
        first = start + (trick.number - 1) * players
        cards = " ".join(
            f'<span class="won">{card_code(card)}</span>'
            if (trick.leader + turn) % players == trick.winner
            else card_code(card)
            for turn, card in enumerate(trick.cards)
        )
        winner = escape(view.seats[trick.winner].name) if trick.winner is not None else ""
        rows += (
            f'<tr data-from="{first}" data-to="{first + len(trick.cards)}"><td class="number">'
            f"<button>{trick.number}</button></td><td>{escape(view.seats[trick.leader].name)}</td>"
            f"<td>{cards}</td><td>{winner}</td></tr>"
        )
    return (
        '<section><h2>Tricks</h2><div id="tricks"><table><thead><tr><th class="number">#</th><th>led by</th>'
        f"<th>cards</th><th>taken by</th></tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _exchange(view: TableView) -> str:
    """Return talon and discard in words, as far as the viewer may see them."""
    parts = [
        f"{title} {cards_text(cards)}." for title, cards in (("Talon", view.talon), ("Discard", view.discard)) if cards
    ]
    if view.discard is None and view.num_discarded:
        parts.append(f"{view.num_discarded} laid away, face down.")
    return " ".join(parts)


def _document(title: str, body: str, data: dict[str, Any]) -> str:
    style, script = ((_FOLDER / name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # "<" is escaped so that no name can end the element.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>{body}"
        f'<script type="application/json" id="data">{text}</script><script>{script}</script></body></html>\n'
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
