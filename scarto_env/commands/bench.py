"""``scarto bench``: how fast the engine is here."""

from __future__ import annotations

import math

import click

from scarto_env.bench import measure
from scarto_env.commands.options import json_option, print_json, rules_option
from scarto_env.rules import Rules, rules_name


@click.command()
@rules_option
@click.option("--seconds", type=click.FloatRange(min=0.05), default=0.5, show_default=True, help="Time a repeat.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Repeats; medians count.")
@json_option
def bench(rules: Rules, seconds: float, repeats: int, as_json: bool) -> None:
    """Measure the speed of the engine here: cards a second, medians of several repeats.

    Compilation is done before the first repeat and not counted.

    \b
    Examples:
      scarto bench
      scarto bench --rules piccolo --repeats 9 --json
    """  # noqa: D301
    if not math.isfinite(seconds):
        raise click.BadParameter(f"{seconds} is no time", param_hint="'--seconds'")
    results = []
    for result in measure(rules, seconds, repeats):
        results.append(result)
        if not as_json:
            spread = f"{min(result.speeds):,.0f} to {max(result.speeds):,.0f}"
            click.echo(f"{result.name:<46} {result.median:>14,.0f} {result.unit} a second ({spread})")
    if as_json:
        rows = [{**result._asdict(), "median": result.median} for result in results]
        print_json({"rules": rules_name(rules), "seconds": seconds, "repeats": repeats, "results": rows})
