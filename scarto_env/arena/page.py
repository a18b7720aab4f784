"""An evaluation as one HTML page: tables, plots as inline SVG, sample records; nothing is loaded from elsewhere."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from typing import Final

from scarto_env.arena.estimate import Estimate
from scarto_env.arena.evaluation import Evaluation
from scarto_env.arena.tables import Rows, heading, sections

_WIDTH: Final = 760
_LABEL: Final = 290
_ROW: Final = 22
_PAD: Final = 18
_MOST_TICKS: Final = 10

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; --up: #1b7f4b; --down: #b3362b;
  --even: #777; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #181a1b; --line: #444; --up: #54c98a; --down: #f08a7f; --even: #999; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .7rem .25rem 0; text-align: left;
  font-variant-numeric: tabular-nums; }
pre { overflow-x: auto; border: 1px solid var(--line); padding: .6rem; font-size: 13px; }
svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; }
.grid { stroke: var(--line); } .zero { stroke: var(--ink); }
.ahead { stroke: var(--up); fill: var(--up); } .behind { stroke: var(--down); fill: var(--down); }
.doubt { stroke: var(--even); fill: var(--even); }
.scroll { overflow-x: auto; }
"""


def to_html(evaluation: Evaluation) -> str:
    """Return the page."""
    body = ["<h1>Arena</h1>", "<ul>", *(f"<li>{html.escape(line)}</li>" for line in heading(evaluation)), "</ul>"]
    pairs = [(f"{bot} against {other}", result.points) for (bot, other), result in evaluation.pairs.items()]
    body += ["<h2>Points a deal</h2>", "<p>Mean and 95 % interval; grey where the interval cannot tell.</p>"]
    body.append(interval_plot(pairs, "Points a deal of one bot against copies of another"))
    if evaluation.mixed:
        mixed = [(bot, result.points) for bot, result in evaluation.mixed.items()]
        body += ["<h2>Points at mixed tables</h2>", interval_plot(mixed, "Points a deal at mixed tables")]
    for title, note, rows in sections(evaluation):
        body += [f"<h2>{html.escape(title)}</h2>", f"<p>{html.escape(note)}</p>", _table(rows)]
    if evaluation.samples:
        body += ["<h2>Sample deals</h2>", *(f"<pre>{html.escape(record)}</pre>" for record in evaluation.samples)]
    # A slash after "<" is escaped so that no text in the data can end the element.
    data = json.dumps(evaluation.to_dict()).replace("</", "<\\/")
    body.append(f'<script type="application/json" id="evaluation">{data}</script>')
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Arena</title><style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _table(rows: Rows) -> str:
    head, *rest = rows
    lines = [
        '<div class="scroll"><table>',
        "<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>",
    ]
    lines += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rest]
    return "\n".join([*lines, "</table></div>"])


def interval_plot(estimates: Sequence[tuple[str, Estimate]], title: str) -> str:
    """Return an SVG with a row an estimate: a dot for the mean, a bar for the interval, a line at 0."""
    ends = [bound for _, estimate in estimates for bound in _bounds(estimate)] + [0.0]
    low, high = min(ends), max(ends)
    step = _step(high - low)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    high = high if high > low else low + step
    height = _ROW * len(estimates) + 2 * _PAD

    def across(points: float) -> float:
        return _LABEL + (points - low) / (high - low) * (_WIDTH - _LABEL - _PAD)

    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img"><title>{html.escape(title)}</title>']
    for tick in range(round((high - low) / step) + 1):
        points = low + tick * step
        kind = "zero" if abs(points) < step / 2 else "grid"
        x = across(points)
        parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - _PAD}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 4}" text-anchor="middle">{points:g}</text>')
    for row, (label, estimate) in enumerate(estimates):
        y = _PAD + row * _ROW
        kind = {"ahead": "ahead", "behind": "behind"}.get(estimate.verdict, "doubt")
        left, right = (across(bound) for bound in _bounds(estimate))
        parts.append(f'<text x="0" y="{y + 4}">{html.escape(label)}</text>')
        parts.append(f'<line class="{kind}" stroke-width="3" x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<circle class="{kind}" cx="{across(estimate.mean):.1f}" cy="{y}" r="4">'
            f"<title>{html.escape(label)}: {estimate}</title></circle>"
        )
    return "\n".join([*parts, "</svg>"])


def _bounds(estimate: Estimate) -> tuple[float, float]:
    """Return the interval, or the mean twice where a single deal gives none."""
    return estimate.interval if estimate.num_deals > 1 else (estimate.mean, estimate.mean)


def _step(width: float) -> float:
    """Return a round distance of ticks: 1, 2 or 5 times a power of ten."""
    rough = max(width, 1e-6) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
