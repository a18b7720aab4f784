"""An evaluation as aligned text and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scarto_env.arena.duels import Side
from scarto_env.arena.estimate import Estimate
from scarto_env.arena.evaluation import Evaluation
from scarto_env.rules import rules_name

Rows = list[tuple[str, ...]]

CROSS_NOTE = "Points a deal of the row's bot alone against copies of the column's, with the 95 % interval."


def cross_rows(evaluation: Evaluation) -> Rows:
    """Return the cross table: a head, then a row a bot."""
    rows: Rows = [("", *evaluation.bots)]
    for bot in evaluation.bots:
        cells = (_cell(evaluation.pairs.get((bot, other))) for other in evaluation.bots)
        rows.append((bot, *cells))
    return rows


def _cell(result: Side | None) -> str:
    return "" if result is None else _told(result.points)


def _told(estimate: Estimate) -> str:
    """Return mean and interval, and a word where the interval cannot tell."""
    doubt = " (cannot tell)" if estimate.verdict == "cannot tell" else ""
    return f"{estimate}{doubt}"


def pair_rows(evaluation: Evaluation) -> Rows:
    """Return every pair with verdict, roles and share of hands won."""
    roles = next(iter(evaluation.pairs.values())).by_role
    rows: Rows = [("bot", "against", "points a deal", "verdict", *roles, "hands won")]
    for (bot, other), result in evaluation.pairs.items():
        by_role = (str(estimate) for estimate in result.by_role.values())
        rows.append((bot, other, str(result.points), result.points.verdict, *by_role, f"{result.won:.1%}"))
    return rows


def mixed_rows(evaluation: Evaluation) -> Rows:
    """Return the bots by their points at mixed tables; equal rank where the intervals cannot tell."""
    rows: Rows = [("bot", "points a deal", "rating")]
    for bot, result in sorted(evaluation.mixed.items(), key=lambda item: -item[1].points.mean):
        rating = (
            f"{result.rating.mu:.1f} ± {2 * result.rating.sigma:.1f}" if result.rating else "openskill is not installed"
        )
        rows.append((bot, _told(result.points), rating))
    return rows


def usage_rows(evaluation: Evaluation) -> Rows:
    """Return what each bot did."""
    rows: Rows = [("bot", "decisions", "decisions a second", "illegal")]
    for bot, usage in evaluation.usage.items():
        rows.append((bot, f"{usage.decisions:,}", f"{usage.decisions_a_second:,.0f}", str(usage.illegal)))
    return rows


def sections(evaluation: Evaluation) -> list[tuple[str, str, Rows]]:
    """Return title, explanation and rows of every table."""
    tables = [
        ("All pairs", CROSS_NOTE, cross_rows(evaluation)),
        ("By role", "The same by who deals: every bot sits in every seat of every deal.", pair_rows(evaluation)),
    ]
    if evaluation.mixed:
        note = (
            f"Tables of different bots, {evaluation.mixed_deals} deals in every order of seats. "
            "The rating (openskill, Plackett-Luce over the ranks of hands) stands beside the points, not for them."
        )
        tables.append(("Mixed tables", note, mixed_rows(evaluation)))
    tables.append(("Bots", "Timed around the bots' own work, on one thread.", usage_rows(evaluation)))
    return tables


def heading(evaluation: Evaluation) -> list[str]:
    """Return the lines that say what was played and how to play it again."""
    deals = evaluation.deals
    return [
        f"Rules: {rules_name(deals.rules)}",
        f"Deals: {deals.name} ({deals.num_deals} deals, seed {deals.seed}, hash {evaluation.digest})",
        f"Made by: {evaluation.command}",
        "With: " + ", ".join(f"{name} {version}" for name, version in evaluation.versions.items()),
    ]


def to_text(evaluation: Evaluation) -> str:
    """Return the evaluation for a terminal."""
    parts = ["\n".join(heading(evaluation))]
    for title, note, rows in sections(evaluation):
        parts.append(f"{title}\n{note}\n\n{aligned(rows)}")
    return "\n\n".join(parts) + "\n"


def to_markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as Markdown, with the sample records at the end."""
    parts = ["# Arena", "\n".join(f"- {line}" for line in heading(evaluation))]
    for title, note, rows in sections(evaluation):
        parts.append(f"## {title}\n\n{note}\n\n{_markdown(rows)}")
    if evaluation.samples:
        parts.append(
            "## Sample deals\n\n" + "\n\n".join(f"```\n{record.strip()}\n```" for record in evaluation.samples)
        )
    return "\n\n".join(parts) + "\n"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as columns of equal width, the head underlined."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths, str.ljust) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int], pad: Callable[[str, int], str]) -> str:
    return "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)
