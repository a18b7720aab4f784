"""Write the tables of the documentation from the code: ``python docs/generate.py`` (``--check`` only compares).

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->`` in a Markdown file.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import operator
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from scarto_env import PRESETS, Rules
from scarto_env.bots import bot_names
from scarto_env.cards import FIRST_TRUMP, FOOL, NUM_SUITS, SUIT_SIZE, Language, card_code, card_name, suit_name
from scarto_env.observation import observation_size, offsets, sections

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "scarto_env" / "RULES.md", *sorted((ROOT / "docs").glob("*.md"))]


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def observation() -> str:
    """Return the observation's sections for three players, with their place and bounds."""
    start = offsets(3)
    four = {section.name: section for section in sections(4)}
    rows = (
        (
            f"`{section.name}`",
            f"{start[section.name]}..{start[section.name] + section.size - 1}",
            " x ".join(map(str, section.shape)),
            " x ".join(map(str, four[section.name].shape)),
            f"{section.low}..{section.high}",
            section.meaning,
        )
        for section in sections(3)
    )
    heads = ("section", "entries", "shape", "shape, 4 players", "values", "meaning")
    sizes = f"D = {observation_size(3)} for three players, {observation_size(4)} for four."
    return f"{table(heads, rows)}\n\n{sizes}"


def actions() -> str:
    """Return what each action means."""
    rows = [
        (
            f"{suit * SUIT_SIZE}..{suit * SUIT_SIZE + SUIT_SIZE - 1}",
            f"{suit_name(suit, 'it')} ({suit_name(suit, 'en')})",
            " ".join(card_code(suit * SUIT_SIZE + strength) for strength in range(SUIT_SIZE)),
        )
        for suit in range(NUM_SUITS)
    ]
    rows.append((f"{FIRST_TRUMP}..{FOOL - 1}", "trumps I..XXI", f"{card_code(FIRST_TRUMP)} .. {card_code(FOOL - 1)}"))
    rows.append((str(FOOL), "the Fool", card_code(FOOL)))
    return table(("action", "card", "codes, weakest first"), rows)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def presets() -> str:
    """Return the presets, one column each."""
    derived = ("hand_size", "talon_size", "tricks", "total_points", "par")
    names = [field.name for field in dataclasses.fields(Rules)] + list(derived)
    rows = (
        (f"`{name}`", *(_shown(float(value) if name == "par" else value) for value in values))
        for name in names
        for values in [[getattr(rules, name) for rules in PRESETS.values()]]
    )
    return table(("field", *PRESETS), rows)


def trumps() -> str:
    """Return the names of the trumps and the Fool in three languages."""
    languages: tuple[Language, ...] = ("it", "en", "es")
    cards = range(FIRST_TRUMP, FOOL + 1)
    rows = ((f"`{card_code(card)}`", *(card_name(card, language) for language in languages)) for card in cards)
    return table(("code", "Italian", "English", "Spanish"), rows)


def bots() -> str:
    """Return the names of the bots in a line."""
    return ", ".join(f"`{name}`" for name in bot_names())


class Growth(NamedTuple):
    """What ``python -m scarto_env.arena.growth`` printed for a number of worlds, the deals of all seeds together."""

    worlds: int
    deals: int
    points: float
    points_margin: float
    gain: float
    gain_margin: float
    seconds: float


def growth_rows() -> list[Growth]:
    """Return the rows of ``growth.csv``, those of a number of worlds as one: means and their errors by deals."""
    with (ROOT / "docs" / "growth.csv").open(newline="", encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    rows = []
    for worlds in dict.fromkeys(row["worlds"] for row in printed):
        of_seeds = [row for row in printed if row["worlds"] == worlds]
        deals = [int(row["deals"]) for row in of_seeds]
        found = [int(worlds), sum(deals)]
        for name in ("points", "gain"):
            means = [float(row[name] or "nan") for row in of_seeds]
            margins = [float(row[f"{name}_margin"] or "nan") for row in of_seeds]
            found.append(sum(map(operator.mul, deals, means)) / sum(deals))
            found.append(math.hypot(*map(operator.mul, deals, margins)) / sum(deals))
        rows.append(Growth(*found, sum(float(row["seconds"]) for row in of_seeds) / len(of_seeds)))
    return rows


def growth() -> str:
    """Return what more worlds bring the search."""
    rows = (
        (
            f"{row.worlds:,}",
            f"{row.deals:,}",
            f"{row.points:+.2f} ± {row.points_margin:.2f}",
            "" if math.isnan(row.gain) else f"{row.gain:+.2f} ± {row.gain_margin:.2f}",
            f"{row.seconds:.3f}",
        )
        for row in growth_rows()
    )
    return table(("worlds", "deals", "points a deal", "gain on the row before", "CPU seconds a hand"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "observation": observation,
    "actions": actions,
    "presets": presets,
    "trumps": trumps,
    "bots": bots,
    "growth": growth,
}


def generated(text: str) -> str:
    """Return a page with every table written anew."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n\n{TABLES[match[1]]()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->.*?<!-- end -->", fill, text, flags=re.DOTALL)


def main() -> int:
    """Write or compare all pages; return 1 if one differs from what is generated."""
    check = "--check" in sys.argv[1:]
    stale = [page for page in PAGES if generated(page.read_text("utf-8")) != page.read_text("utf-8")]
    for page in stale:
        if not check:
            page.write_text(generated(page.read_text("utf-8")), "utf-8")
        print(f"{page.relative_to(ROOT)}: {'differs from the code' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
