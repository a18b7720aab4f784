"""Make a bot from a name, a checkpoint or a function."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from scarto_env.bots.base import ActFunction, Bot, FunctionBot
from scarto_env.rules import Rules, as_rules

_BOTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "random": ("scarto_env.bots.simple", "RandomBot"),
        "greedy": ("scarto_env.bots.simple", "GreedyBot"),
        "club": ("scarto_env.bots.club", "ClubBot"),
        "heuristic": ("scarto_env.bots.heuristic", "HeuristicBot"),
        "expert": ("scarto_env.bots.heuristic", "ExpertBot"),
        "search": ("scarto_env.bots.search", "SearchBot"),
        "net+search": ("scarto_env.bots.net_search", "NetSearchBot"),
    }
)
"""Name -> module and class: imported when asked for."""
_POLICY: Final = ("scarto_env.bots.policy", "PolicyBot")
_LIBRARIES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "sb3": ("scarto_env.adapters.sb3", "SB3Bot"),
        "torchrl": ("scarto_env.adapters.torchrl", "TorchRLBot"),
        "rllib": ("scarto_env.adapters.rllib", "RLlibBot"),
    }
)
"""Library -> module and class of its policies: ``"sb3:PATH"``."""

_PACKAGE: Final = Path(__file__).parent.parent
_CHECKPOINTS: Final = "checkpoints"
_WEIGHTS: Final = "*.safetensors"
POLICY_FOLDER: Final = "policy"
"""Where a training run's folder keeps its policy."""


def make_bot(bot: str | Path | Bot | ActFunction, rules: str | Rules = "scarto", seed: int = 0, **options: Any) -> Bot:
    """Return the bot that a name, a checkpoint or a function stands for.

    Args:
        bot: a name of ``bot_names()``; a checkpoint's name (``"scarto-base"``) or folder, or a training
            run's; a policy that another library saved, ``"sb3:PATH"``, ``"torchrl:PATH"`` or ``"rllib:PATH"``; a
            function that takes observation and mask and returns cards; or a bot, returned as it is.  Options may
            follow a name: ``"search:worlds=160,playout=random"``.
        rules: preset or ``Rules`` that will be played.
        seed: whole number >= 0 for bots that draw.
        **options: what the bot's class takes besides.

    Raises:
        ValueError: no bot or checkpoint has that name, or no option; the message names the nearest.
        TypeError: ``bot`` is nothing of these, or options were given for an object that is made already.

    >>> make_bot("greedy")
    GreedyBot(Rules())
    """
    rules = as_rules(rules)
    if not isinstance(bot, (str, Path)):
        if options:
            raise TypeError(f"options {', '.join(options)} need a name: {bot!r} is made already")
        if isinstance(bot, Bot) and not isinstance(bot, type):
            return bot
        if callable(bot) and not isinstance(bot, type):
            return FunctionBot(bot)
        raise TypeError(f"bot={bot!r} is no bot: expected a name, a checkpoint, a function or an object with act()")
    library, _, path = str(bot).partition(":")
    if library in _LIBRARIES:
        return _made(_LIBRARIES[library], str(bot), {"policy": path, "rules": rules, "seed": seed, **options})
    name, written = _split(str(bot))
    options = {**written, **options}
    if name in _BOTS:
        return _made(_BOTS[name], name, {"rules": rules, "seed": seed, **options})
    folder = find_checkpoint(name)
    if folder is None:
        known = bot_names()
        near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ValueError(f"{name!r} is no bot and no checkpoint: expected one of {', '.join(known)}{hint}")
    return _made(_POLICY, name, {"path": folder, "rules": rules, "seed": seed, **options})


def bot_names() -> list[str]:
    """Return the names that ``make_bot`` knows: the built-in bots, then the checkpoints that come along."""
    checkpoints = {
        folder.name
        for place in (_PACKAGE.parent / _CHECKPOINTS, _PACKAGE / _CHECKPOINTS)
        if place.is_dir()
        for folder in place.iterdir()
        if any(folder.glob(_WEIGHTS))
    }
    return [*_BOTS, *sorted(checkpoints)]


def find_checkpoint(name: str) -> Path | None:
    """Return the folder or file of a checkpoint given by path or by the name of one that comes along.

    A run's folder stands for its policy.
    """
    if not name:
        return None  # as a path it would be the current folder
    given = Path(name)
    short = given.relative_to(_CHECKPOINTS) if given.parts[:1] == (_CHECKPOINTS,) else given
    places = [given, _PACKAGE.parent / _CHECKPOINTS / short, _PACKAGE / _CHECKPOINTS / short]
    for place in places:
        # Unlike a path's own questions, these do not mind names that no file can have.
        if os.path.isfile(place):
            return place
        for folder in (place / POLICY_FOLDER, place):
            if os.path.isdir(folder) and any(folder.glob(_WEIGHTS)):
                return folder
    return None


def _made(source: tuple[str, str], name: str, arguments: dict[str, Any]) -> Bot:
    module, bot_class = source
    make = getattr(importlib.import_module(module), bot_class)
    parameters = inspect.signature(make).parameters
    allowed = list(parameters)
    for word, value in arguments.items():
        if word not in allowed:
            near = difflib.get_close_matches(word, allowed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name!r} has no option {word!r}: it takes {', '.join(allowed)}{hint}")
        if isinstance(parameters[word].default, bool) and not isinstance(value, bool):
            raise ValueError(f"{name!r}: {word}={value!r} is not allowed: expected true or false")
    made: Bot = make(**arguments)
    return made


def _split(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of ``"name:option=value,option=value"``."""
    name, colon, written = text.partition(":")
    if not colon or "=" not in written:
        return text, {}
    options: dict[str, Any] = {}
    for part in written.split(","):
        word, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"bot={text!r}: expected option=value, not {part!r}")
        if word.strip() in options:
            raise ValueError(f"bot={text!r}: the option {word.strip()!r} is given twice")
        options[word.strip()] = _value(value.strip())
    return name, options


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)
