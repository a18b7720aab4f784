"""``scarto rules``: the rules in force, from the rules themselves."""

from __future__ import annotations

import dataclasses

import click

from scarto_env.commands.options import DEFAULT_RULES, RULES, json_option, print_json
from scarto_env.notation import rules_text, score_text, value_text
from scarto_env.rulebook import articles
from scarto_env.rules import PRESETS, Rules


@click.command()
@click.argument("rules", type=RULES, default=DEFAULT_RULES, metavar="[PRESET]")
@click.option("--all", "compare", is_flag=True, help="Compare all presets in one table.")
@json_option
def rules(rules: Rules, compare: bool, as_json: bool) -> None:
    """Print the rules in force.

    \b
    Examples:
      scarto rules                      the default preset
      scarto rules traditional
      scarto rules scarto:overtrump=no,trump_top=20
      scarto rules --all                all presets side by side
    """  # noqa: D301
    if as_json:
        print_json({name: _fields(preset) for name, preset in PRESETS.items()} if compare else _fields(rules))
    elif compare:
        click.echo(_table())
    else:
        click.echo(_page(rules))


def _fields(rules: Rules) -> dict[str, object]:
    derived = {name: getattr(rules, name) for name in ("hand_size", "talon_size", "tricks", "total_points")}
    return {**dataclasses.asdict(rules), **derived, "par": str(rules.par)}


def _page(rules: Rules) -> str:
    preset, options = rules_text(rules)
    lines = [f"Rules: {preset}{f', but {options}' if options else ''}", ""]
    for article, sentence in articles(rules):
        lines += click.wrap_text(sentence, 79, f"{article:<5}", " " * 5).split("\n")
    lines += ["", "The whole book is RULES.md; `scarto rules --all` compares the presets."]
    return "\n".join(lines)


def _table() -> str:
    names = [field.name for field in dataclasses.fields(Rules)]
    rows = [["", *PRESETS]]
    rows += [[name, *(value_text(getattr(preset, name)) for preset in PRESETS.values())] for name in names]
    sizes = [f"{preset.hand_size} / {preset.talon_size}" for preset in PRESETS.values()]
    totals = [f"{preset.total_points} / {score_text(preset.par, signed=False)}" for preset in PRESETS.values()]
    rows += [["hand / talon", *sizes], ["total / par", *totals]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
