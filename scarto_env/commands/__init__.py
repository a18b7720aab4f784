"""The commands of ``scarto``: each is imported when it is called, so that the list of them is quick."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import click


class Place(NamedTuple):
    """Where a command is defined, and what it does in a few words."""

    module: str
    name: str
    summary: str


COMMANDS: Final[Mapping[str, Place]] = MappingProxyType(
    {
        "play": Place("scarto_env.commands.play", "play", "Play against bots in the terminal."),
        "watch": Place("scarto_env.commands.play", "watch", "Watch bots play, card by card."),
        "eval": Place("scarto_env.commands.eval", "evaluate_command", "Measure bots on duplicate deals."),
        "bots": Place("scarto_env.commands.bots", "bots", "List the bots and checkpoints."),
        "rules": Place("scarto_env.commands.rules", "rules", "Print the rules in force."),
        "replay": Place("scarto_env.commands.replay", "replay", "Show a record as text or as a page."),
        "verify": Place("scarto_env.commands.replay", "verify", "Check records against the rules."),
        "train": Place("training.commands", "train", "Train a policy."),
        "exploit": Place("training.commands", "exploit", "Train against a fixed policy to find its weakness."),
        "bench": Place("scarto_env.commands.bench", "bench", "Measure the speed of the engine."),
    }
)


class LazyGroup(click.Group):
    """A group that knows its commands' names and summaries, and imports a command to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name.

        Raises:
            click.UsageError: there is none; names the nearest.
        """
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f": expected one of {', '.join(COMMANDS)}"
            raise click.UsageError(f"{cmd_name!r} is no command{hint}", ctx)
        place = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(place.module), place.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summaries without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in COMMANDS.items()])


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="scarto", prog_name="scarto")
@click.pass_context
def scarto(context: click.Context) -> None:
    """Scarto, the Piedmontese tarot game: play it, watch it, measure bots, train policies.

    \b
    Examples:
      scarto play                       a deal against bots
      scarto eval heuristic greedy random
      scarto rules traditional
      scarto replay deal.stn --html
      scarto COMMAND --help             what a command takes
    """  # noqa: D301
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
