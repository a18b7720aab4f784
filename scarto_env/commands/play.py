"""``scarto play`` and ``scarto watch``: a match on the terminal."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from scarto_env.bots import Bot, make_bot
from scarto_env.commands.options import finite, refused, rules_option
from scarto_env.notation import save_records
from scarto_env.observation import MAX_DEALS
from scarto_env.rules import Rules
from scarto_env.terminal import BotPlayer, Person, Player, Quit, Sitting

_ADVISER: Final = "search"
_OPPONENT: Final = "heuristic"
_YOU: Final = "you"
_PAUSE_SECONDS: Final = 0.3
_SEED_BITS: Final = 32

Command = TypeVar("Command", bound=Callable[..., Any])


def match_options(command: Command) -> Command:
    """Add what both commands take."""
    for option in (
        click.option("--deals", type=click.IntRange(1, MAX_DEALS), default=1, show_default=True, help="Deals to play."),
        click.option("--seed", type=click.IntRange(min=0), help="Deals of this seed; drawn by default."),
        click.option("--save", type=click.Path(dir_okay=False, writable=True), help="Write the records to this file."),
        click.option(
            "--delay",
            type=click.FloatRange(min=0),
            callback=finite,
            help="Seconds a bot's card takes [0.3 on a terminal].",
        ),
        rules_option,
    ):
        command = option(command)
    return command


@click.command()
@click.argument("opponents", nargs=-1, metavar="[BOT]...")
@click.option("--seat", type=click.IntRange(min=0), default=0, show_default=True, help="Your seat.")
@match_options
def play(
    opponents: Sequence[str],
    seat: int,
    rules: Rules,
    deals: int,
    seed: int | None,
    save: str | None,
    delay: float | None,
) -> None:
    """Play against bots in the terminal.

    Legal cards stand in brackets; a card that is refused is explained by its article.
    Type ? at the prompt for hints, the last trick, points and rules.

    \b
    Examples:
      scarto play
      scarto play search heuristic --rules traditional --deals 3
      scarto play greedy --seed 7 --save deal.stn
    """  # noqa: D301
    _check_seat(seat, rules)
    names = _for_seats(opponents, rules.players - 1)
    players = _bot_players(names, rules, delay)
    players.insert(seat, Person(_read, lambda: _hint_bot(rules)))
    names.insert(seat, _YOU)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # gives input() editing and recall, where the system has it
    seed = _seed(seed)
    sitting = Sitting(rules, players, names, seed=seed, deals=deals, viewer=seat, out=sys.stdout)
    _play(sitting, save)


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT]...")
@click.option("--seat", type=click.IntRange(min=0), help="Show what this seat sees; all cards by default.")
@click.option("--step", is_flag=True, help="Wait for Enter after every trick.")
@match_options
def watch(
    bots: Sequence[str],
    seat: int | None,
    step: bool,
    rules: Rules,
    deals: int,
    seed: int | None,
    save: str | None,
    delay: float | None,
) -> None:
    """Watch bots play a match, trick by trick.

    \b
    Examples:
      scarto watch
      scarto watch search heuristic greedy --seed 7
      scarto watch --step --rules piccolo
    """  # noqa: D301
    _check_seat(seat, rules)
    names = _for_seats(bots, rules.players)
    players = _bot_players(names, rules, delay)
    sitting = Sitting(
        rules,
        players,
        names,
        seed=_seed(seed),
        deals=deals,
        viewer=seat,
        out=sys.stdout,
        open_hands=True,
        after_trick=_wait if step else None,
    )
    _play(sitting, save)


def _check_seat(seat: int | None, rules: Rules) -> None:
    if seat is not None and seat >= rules.players:
        raise click.UsageError(f"--seat {seat} is no seat of {rules.players} players", click.get_current_context())


def _for_seats(bots: Sequence[str], seats: int) -> list[str]:
    """Return a bot's name for each seat: one for all, or one each."""
    names = list(bots) or [_OPPONENT]
    if len(names) == 1:
        return names * seats
    if len(names) != seats:
        raise click.UsageError(
            f"{len(names)} bots for {seats} seats: name one, or {seats}", click.get_current_context()
        )
    return names


def _bot_players(names: list[str], rules: Rules, delay: float | None) -> list[Player]:
    """Return the bots; of the same bot in two seats, each gets a name and a seed of its own."""
    pause = delay if delay is not None else _PAUSE_SECONDS if sys.stdout.isatty() else 0.0
    with refused(ValueError, TypeError):
        bots = [make_bot(name, rules=rules, seed=seat) for seat, name in enumerate(names)]
    for name in set(names):
        places = [seat for seat, other in enumerate(names) if other == name]
        if len(places) > 1:
            for number, seat in enumerate(places, 1):
                names[seat] = f"{name} {number}"
    return [BotPlayer(bot, pause) for bot in bots]


def _hint_bot(rules: Rules) -> tuple[str, Bot]:
    return _ADVISER, make_bot(_ADVISER, rules=rules)


def _seed(seed: int | None) -> int:
    return secrets.randbits(_SEED_BITS) if seed is None else seed


def _read(prompt: str) -> str:
    if sys.stdin is None:  # closed by the caller
        raise EOFError
    return input(prompt)


def _wait() -> None:
    try:
        _read("Enter goes on: ")
    except EOFError:
        raise Quit from None


def _play(sitting: Sitting, save: str | None) -> None:
    if save:
        # Before the match, not after it.
        with refused(OSError), open(save, "ab"):
            pass
    try:
        sitting.play()
    except Quit:
        sitting.write(["", f"You leave the table. The deals were those of --seed {sitting.seed}."])
    finally:
        if save and sitting.records:
            save_records(save, sitting.records)
            sitting.write([f"Written to {save}."])
