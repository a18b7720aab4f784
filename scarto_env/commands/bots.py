"""``scarto bots``: who can be played against."""

from __future__ import annotations

import inspect

import click

from scarto_env.bots import bot_names, make_bot
from scarto_env.commands.options import json_option, print_json
from scarto_env.extras import how_to_install


@click.command()
@json_option
def bots(as_json: bool) -> None:
    """List the bots and checkpoints that every command takes by name.

    \b
    Examples:
      scarto bots
      scarto eval search:worlds=40 heuristic      options follow a name
    """  # noqa: D301
    described = {name: _described(name) for name in bot_names()}
    if as_json:
        print_json(described)
        return
    width = max(map(len, described))
    for name, sentence in described.items():
        click.echo(f"{name:<{width}}  {sentence}")


def _described(name: str) -> str:
    try:
        sentence = (inspect.getdoc(type(make_bot(name))) or "").split("\n", maxsplit=1)[0]
    except ModuleNotFoundError as error:
        sentence = how_to_install(error) or str(error)
    return sentence
