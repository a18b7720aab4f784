"""``scarto replay`` and ``scarto verify``: records as text and as pages, checked against the rules."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from scarto_env.batch import Batch
from scarto_env.bots import Bot
from scarto_env.commands.options import check_output, json_option, made_bots, print_json, refused
from scarto_env.notation import Record, RecordError, check_seed, follow, load_records, write_json
from scarto_env.render import Advice, render_ansi, render_page, table_view
from scarto_env.terminal import screen_pen, told_deal

FILE: Final = click.Path(exists=True, dir_okay=False, allow_dash=False)


def read_file(path: str) -> list[Record]:
    """Return the records of a file or refuse it in one line."""
    try:
        return load_records(path)
    except RecordError as error:
        raise click.UsageError(f"{path}: {error}", click.get_current_context(silent=True)) from error


def seeded_as_said(path: str) -> list[Record]:
    """Return the records of a file, or refuse the first whose seed deals other cards."""
    records = read_file(path)
    for number, record in enumerate(records, 1):
        try:
            check_seed(record)
        except RecordError as error:
            raise click.UsageError(f"{path}: deal {number}: {error}", click.get_current_context(silent=True)) from error
    return records


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@json_option
def verify(files: Sequence[str], as_json: bool) -> None:
    """Check records against the rules: every card, leader, winner and result, and the seed, where one is named.

    Names the first line that disagrees and what the rules say instead.

    \b
    Examples:
      scarto verify deal.stn
      scarto verify match.stn deals.jsonl
    """  # noqa: D301
    counts = {path: len(seeded_as_said(path)) for path in files}
    if as_json:
        print_json(counts)
        return
    for path, count in counts.items():
        click.echo(f"{path}: {count} {'deal agrees' if count == 1 else 'deals agree'} with the rules")


@click.command()
@click.argument("file", type=FILE)
@click.option("--deal", type=click.IntRange(min=1), default=1, show_default=True, help="Which deal of a match.")
@click.option("--ply", type=click.IntRange(min=0), help="Show the table after this many cards laid away and played.")
@click.option("--viewer", type=click.IntRange(min=0), help="Show what this seat saw; all cards by default.")
@click.option("--html", is_flag=True, help="Write a page that stands alone.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Where to write the page [FILE.html].")
@click.option("--bot", metavar="BOT", help="Show what this bot would have played at every card.")
@json_option
def replay(
    file: str,
    deal: int,
    ply: int | None,
    viewer: int | None,
    html: bool,
    output: str | None,
    bot: str | None,
    as_json: bool,
) -> None:
    """Show a record: its tricks and count, the table after any card, or as a page to step through.

    \b
    Examples:
      scarto replay deal.stn
      scarto replay deal.stn --ply 40 --viewer 1
      scarto replay match.stn --deal 2 --html -o deal.html
      scarto replay deal.stn --html --bot heuristic
    """  # noqa: D301
    if (output or bot) and not html:
        raise click.UsageError("--output and --bot say how a page is written: --html writes it")
    page = Path(output or Path(file).with_suffix(".html"))
    if html:
        check_output(page)
        if page.exists() and page.samefile(file):
            raise click.UsageError(f"{file} is the record itself: --output names another file for the page")
    records = read_file(file)
    if deal > len(records):
        raise click.UsageError(f"{file} has {len(records)} deals: there is no deal {deal}")
    record = records[deal - 1]
    if html:
        _write_page(record, page, viewer, bot)
    elif as_json:
        print_json(json.loads(write_json(record)))
    else:
        pen = screen_pen(sys.stdout)
        with refused(ValueError):
            view = table_view(record, ply, viewer)
        text = told_deal(record, view, pen) if ply is None else render_ansi(view, pen.colour, pen.width)
        click.echo(text, nl=False)


def _write_page(record: Record, path: Path, viewer: int | None, bot: str | None) -> None:
    advice = list(_advised(record, bot)) if bot else []
    with refused(ValueError):
        page = render_page(record, viewer, advice=advice, adviser=bot or "")
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(str(error), click.get_current_context()) from error
    click.echo(path)


def _advised(record: Record, name: str) -> Iterator[Advice | None]:
    """Yield what a bot makes of every position of a record, from what the seat to act sees."""
    (bot,) = made_bots([name], record.rules)
    for _, batch in follow(record):
        mask = batch.action_mask
        if not mask.any():
            yield None
            continue
        choice = int(bot.act(batch.observation, mask)[0])
        yield Advice(choice, _said(bot, "log_policy", batch, np.exp), _said(bot, "values", batch, np.asarray))


def _said(bot: Bot, name: str, batch: Batch, read: Callable[[Any], Any]) -> dict[int, float]:
    """Return what a bot says of each legal card, if it has a method of that name: observation, mask -> [B, 78]."""
    ask = getattr(bot, name, None)
    if ask is None:
        return {}
    row = read(ask(batch.observation, batch.action_mask)[0])
    return {int(card): float(row[card]) for card in np.flatnonzero(batch.action_mask[0])}
