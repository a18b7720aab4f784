"""Every number of a run: one frozen record, settable from the command line and from a file."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from scarto_env.rules import as_rules

MOST_SEED = 9999
SURE_SHARE: Final = 0.1
"""Of the decisions that the policy is sure of, that are learned from: what it is sure of it may unlearn."""
_POSITIVE = (
    "deals workers deals_at_once epochs minibatches clip learning_rate learning_rate_end entropy entropy_end "
    "max_gradient league_every evaluate_every evaluate_deals save_every"
).split()
_COMMA = re.compile(r",(?!\w+=)")
"""Between two values; what stands before ``name=`` goes on with a bot's options."""


@dataclasses.dataclass(frozen=True)
class Config:
    """One training run.

    Attributes:
        rules: preset to learn.
        deals: deals to play in all; the schedules run over them.
        start: folder of a run or policy whose weights the run begins with; without, from nothing.
        seed: of weights, deals and choices, 0..9999.
        workers: processes that play and learn, with averaged gradients, a core each; with --ray, rollouts an update.
        deals_at_once: deals each worker plays between updates.
        critic_updates: updates at the start in which the critic alone learns, for a start with a policy but no critic.
        staleness: updates that may pass between the weights that play a deal and those that learn from it, with --ray.
        device: what the networks are trained on, as torch names it.
        precision: what the networks compute in, "bf16" or "fp32"; "auto" is the faster one here. Parameters are fp32.
        actor: widths of the policy's hidden layers.
        critic: widths of the value network's hidden layers.
        critic_sees_all: the value network is shown the hidden cards.
        reward: "trick" pays points as they are taken, "score" all at the end of the deal.
        trace: lambda of the advantages: 0 trusts the values, 1 the rewards.
        epochs: times each decision is learned from.
        minibatches: gradient steps an epoch.
        clip: how far an update may move a probability ratio from 1 before the gradient stops.
        learning_rate: of Adam at the start.
        learning_rate_end: the same at the end, as a share of the start; falls linearly.
        entropy: weight of the entropy bonus at the start, in standard deviations of advantage a nat.
        entropy_end: the same at the end; falls geometrically.
        max_gradient: norm above which a gradient is scaled down, of each network by itself.
        average_decay: share that the averaged weights, which are the final policy, keep at an update.
        league_share: share of the deals in which one or two seats are played by another: a past self or a bot.
        league_every: updates between two past selves.
        league_bots: bots in the league; each plays as many updates as all past selves together.
        playouts: judge every legal card by a playout of the true deal, where a league bot with thumb rules sits.
        endings: last tricks in which plausible cards are judged by playing the true deal out, where it plays alone.
        sure: probability from which on a card played counts as forced: few such decisions are learned from; 1 for all.
        evaluate_every: updates between two evaluations.
        evaluate_deals: deals of an evaluation against each yardstick, each played in every seat.
        yardsticks: bots to be measured against.
        save_every: updates between two saves.
    """

    rules: str = "scarto"
    deals: int = 170_000
    start: str = ""
    seed: int = 0
    workers: int = 2
    deals_at_once: int = 128
    critic_updates: int = 0
    staleness: int = 0
    device: str = "cpu"
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    actor: tuple[int, ...] = (128, 128)
    critic: tuple[int, ...] = (128, 128)
    critic_sees_all: bool = True
    reward: Literal["trick", "score"] = "trick"
    trace: float = 0.8
    epochs: int = 2
    minibatches: int = 16
    clip: float = 0.2
    learning_rate: float = 1e-3
    learning_rate_end: float = 0.02
    entropy: float = 0.03
    entropy_end: float = 0.003
    max_gradient: float = 0.5
    average_decay: float = 0.95
    league_share: float = 0.4
    league_every: int = 1000
    league_bots: tuple[str, ...] = ("heuristic",)
    playouts: bool = True
    endings: int = 0
    sure: float = 1.0
    evaluate_every: int = 80
    evaluate_deals: int = 200
    yardsticks: tuple[str, ...] = ("random", "greedy", "heuristic")
    save_every: int = 40

    def __post_init__(self) -> None:
        tricks = as_rules(self.rules).tricks
        decisions = int(self.deals_at_once * (2 * tricks // 3) * (SURE_SHARE if self.sure < 1 else 1))
        for name in _POSITIVE:
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed: expected more than 0, and finite")
        for name in ("trace", "average_decay", "league_share", "sure"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed: expected 0..1")
        for name in ("critic_updates", "staleness"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed: expected 0 or more")
        if not 0 <= self.endings <= tricks:
            raise ValueError(
                f"endings={self.endings!r} is not allowed: a deal has {tricks} tricks, expected 0..{tricks}"
            )
        # A seat has a choice at two thirds of its tricks and more, but for freaks.
        if self.minibatches > decisions:
            raise ValueError(
                f"minibatches={self.minibatches} is not allowed: deals_at_once={self.deals_at_once} may not bring a "
                f"decision to each; expected {decisions} at most"
            )
        if self.league_share > 0 and not round(self.league_share * self.deals_at_once):
            raise ValueError(
                f"league_share={self.league_share!r} is not allowed: of deals_at_once={self.deals_at_once} that is "
                "no table; expected 0 or a larger share"
            )
        if not 0 <= self.seed <= MOST_SEED:
            raise ValueError(f"seed={self.seed!r} is not allowed: expected 0..{MOST_SEED}")
        for name in ("actor", "critic"):
            if not getattr(self, name) or min(getattr(self, name)) < 1:
                raise ValueError(f"{name}={getattr(self, name)!r} is not allowed: expected widths of 1 or more")

    @property
    def deals_an_update(self) -> int:
        """Deals played between two updates, by all workers."""
        return self.workers * self.deals_at_once

    @property
    def updates(self) -> int:
        """Updates of the whole run."""
        return max(1, round(self.deals / self.deals_an_update))


def descriptions() -> dict[str, str]:
    """Return what each field of ``Config`` means, from its docstring."""
    # Cleaned, since Python 3.13 takes the indentation off docstrings and those before do not.
    text = inspect.cleandoc(Config.__doc__ or "").split("Attributes:")[1]
    return {name: " ".join(meaning.split()) for name, meaning in re.findall(r"^\s{4}(\w+): (.*)$", text, re.MULTILINE)}


def make_config(settings: Mapping[str, Any]) -> Config:
    """Return the config with some fields set, from values or from text.

    Raises:
        ValueError: no field has that name, or the value is not allowed; the message names it.
    """
    known = typing.get_type_hints(Config)
    values = {}
    for name, value in settings.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name!r} is no setting: expected one of {', '.join(known)}{hint}")
        values[name] = _parsed(name, value, known[name])
    return Config(**values)


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a TOML or JSON file.

    Raises:
        ValueError: the file is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        settings = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: expected names and values")
    return settings


def _parsed(name: str, value: Any, kind: Any) -> Any:
    """Return a value as the field's type."""
    origin = typing.get_origin(kind)
    try:
        if origin is Literal:
            if value in typing.get_args(kind):
                return value
        elif origin is tuple:
            parts = (
                [part.strip() for part in _COMMA.split(value) if part.strip()]
                if isinstance(value, str)
                else list(value)
            )
            return tuple(_parsed(name, part, typing.get_args(kind)[0]) for part in parts)
        elif kind is bool:
            named = {"true": True, "false": False}
            if isinstance(value, bool) or (isinstance(value, str) and value.lower() in named):
                return value if isinstance(value, bool) else named[value.lower()]
        elif kind is int:
            number = int(value)
            if not isinstance(value, bool) and number == float(value):
                return number
        elif kind is float and not isinstance(value, bool):
            return float(value)
        elif kind is str and isinstance(value, str):
            return value
    except (TypeError, ValueError, OverflowError):
        pass
    shown = " or ".join(map(repr, typing.get_args(kind))) if origin is Literal else kind_name(kind)
    raise ValueError(f"{name}={value!r} is not allowed: expected {shown}")


def kind_name(kind: Any) -> str:
    """Return a field's type in words."""
    if isinstance(kind, types.GenericAlias) or typing.get_origin(kind) is tuple:
        return f"{kind_name(typing.get_args(kind)[0]).removeprefix('a ')}s with commas between"
    return {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}[kind]
