"""What a run leaves on disk: its state to go on from, past selves, and the policy to play with.

Every file is written beside its place and moved there, so that a run killed at any moment leaves the last one
whole.  Numbers are safetensors, the rest is JSON; nothing is unpickled.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from scarto_env.bots.policy import CONFIG_FILE, FORMAT, WEIGHTS_FILE, Layers, read_checkpoint, read_config
from scarto_env.bots.policy_features import FEATURES_VERSION
from scarto_env.bots.registry import find_checkpoint
from scarto_env.observation import OBSERVATION_VERSION
from scarto_env.rules import as_rules, rules_name
from training.config import Config, make_config
from training.learner import Learner
from training.network import Perceptron

STATE_FILE: Final = "state.safetensors"
STATE_FORMAT: Final = "scarto training 1"
MAY_CHANGE: Final = frozenset({"deals", "staleness", "evaluate_every", "evaluate_deals", "yardsticks", "save_every"})
"""Settings that a resumed run may change."""


class RunError(RuntimeError):
    """A run that cannot begin or go on; the message says why in one line."""


def write_atomically(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``: all of it or nothing.

    Raises:
        RunError: it could not be written; what stood there is untouched.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunError(f"{path} could not be written: {error.strerror or error}; the one before is intact") from None


def as_json(value: Any) -> bytes:
    """Return a value as indented JSON."""
    return (json.dumps(value, indent=2) + "\n").encode()


def save_state(folder: Path, learner: Learner, progress: dict[str, Any]) -> None:
    """Write everything that a resumed run needs.

    Raises:
        RunError: it could not be written.
    """
    facts = {
        "format": STATE_FORMAT,
        "observation_version": OBSERVATION_VERSION,
        "features_version": FEATURES_VERSION,
        "config": dataclasses.asdict(learner.config),
        "updates": learner.updates,
        "progress": progress,
    }
    write_atomically(folder / STATE_FILE, save(learner.tensors(), {"state": json.dumps(facts)}))


def read_facts(path: Path) -> dict[str, Any]:
    """Return what a state says beside its numbers.

    Raises:
        RunError: it is missing, damaged or made for another version.
    """
    if not path.exists():
        raise RunError(f"{path} does not exist: there is nothing to resume")
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads((file.metadata() or {}).get("state", "null"))
    except (SafetensorError, OSError, ValueError) as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != STATE_FORMAT:
        raise RunError(f"{path} is no state of a training run of this kind")
    for name, ours in (("observation_version", OBSERVATION_VERSION), ("features_version", FEATURES_VERSION)):
        if facts.get(name) != ours:
            raise RunError(f"{path} was made for {name} {facts.get(name)!r}, this is {ours}")
    return facts


def resumed_config(folder: Path, settings: dict[str, Any]) -> Config:
    """Return the config of a run to be resumed, with some settings changed.

    Raises:
        RunError: the state cannot be read, or a setting may not change within a run.
    """
    stored = read_facts(folder / STATE_FILE)["config"]
    config = make_config({**stored, **settings})
    before = make_config(stored)
    for field in dataclasses.fields(Config):
        old, new = getattr(before, field.name), getattr(config, field.name)
        if old != new and field.name not in MAY_CHANGE:
            raise RunError(f"{field.name}={new!r}: the run in {folder} has {old!r}, which may not change within a run")
    return config


def restore_state(folder: Path, learner: Learner) -> dict[str, Any]:
    """Put a learner where the state in ``folder`` was written and return the progress noted with it.

    Raises:
        RunError: the state cannot be read or does not fit.
    """
    path = folder / STATE_FILE
    facts = read_facts(path)
    try:
        learner.restore(load_file(path), facts["updates"])
    except (KeyError, RuntimeError, SafetensorError) as error:
        raise RunError(f"{path} does not fit its config: {str(error).splitlines()[0]}") from None
    progress: dict[str, Any] = facts["progress"]
    return progress


def actor_layers(actor: Perceptron) -> Layers:
    """Return an actor's layers as the bot that plays it takes them."""
    return [
        (weight.detach().float().cpu().numpy().T.copy(), bias.detach().float().cpu().numpy().copy())
        for weight, bias in zip(actor.weights, actor.biases, strict=True)
    ]


def save_policy(folder: Path, actor: Perceptron, rules: str) -> None:
    """Write a policy that ``make_bot`` can play: weights and config, without a model card.

    Raises:
        RunError: it could not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state: dict[str, Tensor] = {
        name: tensor.detach().float().cpu().contiguous() for name, tensor in actor.state_dict().items()
    }
    content = save(state)
    layers = [actor.weights[0].shape[1], *(weight.shape[0] for weight in actor.weights)]
    chosen = as_rules(rules)
    config = {
        "format": FORMAT,
        "observation_version": OBSERVATION_VERSION,
        "features_version": FEATURES_VERSION,
        "rules_name": rules_name(chosen),
        "rules": dataclasses.asdict(chosen),
        "layers": layers,
        "parameters": sum(tensor.numel() for tensor in state.values()),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    write_atomically(folder / WEIGHTS_FILE, content)
    write_atomically(folder / CONFIG_FILE, as_json(config))


def begin_from(start: str, learner: Learner) -> None:
    """Give a fresh learner the weights of a run, critic included, or of a policy, also one given by name.

    Raises:
        CheckpointError: the policy cannot be read.
        RunError: there is none, or its layers have other sizes.
    """
    path = Path(start) / STATE_FILE
    if not path.exists():
        load_actor(checkpoint_folder(start), learner.actor)
    else:
        read_facts(path)
        tensors = load_file(path)
        for name, network in (("actor", learner.actor), ("critic", learner.critic)):
            prefix = f"{name}."
            stored = {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}
            try:
                found, sizes = layer_sizes(stored), layer_sizes(network.state_dict())
                if found != sizes:
                    raise RunError(f"{path}: its {name} has layers of sizes {found}, this run's {sizes}")
                network.load_state_dict(stored)
            except (KeyError, RuntimeError) as error:
                if isinstance(error, RunError):
                    raise
                raise RunError(f"{path} is no state of a run: {str(error).splitlines()[0]}") from None
    learner.averaged.load_state_dict(learner.actor.state_dict())


def layer_sizes(tensors: Mapping[str, Tensor]) -> list[int]:
    """Return inputs, hidden widths and outputs of a perceptron with these weights; of none at all nothing."""
    layers = sum(name.startswith("weights.") for name in tensors)
    weights = [tensors[f"weights.{layer}"] for layer in range(layers)]
    return [weight.shape[1] for weight in weights[:1]] + [weight.shape[0] for weight in weights]


def checkpoint_folder(checkpoint: str) -> Path:
    """Return the folder of a checkpoint given by name or path.

    Raises:
        RunError: there is none.
    """
    found = find_checkpoint(checkpoint)
    if found is None:
        raise RunError(f"{checkpoint!r} is no checkpoint")
    return found if found.is_dir() else found.parent


def load_actor(folder: Path, actor: Perceptron) -> None:
    """Give an actor the weights of a policy's folder.

    Raises:
        CheckpointError: the policy cannot be read.
        RunError: its layers have other sizes.
    """
    read_checkpoint(folder)
    sizes = layer_sizes(actor.state_dict())
    stored = read_config(folder)["layers"]
    if stored != sizes:
        raise RunError(f"{folder} has layers of sizes {stored}, this run {sizes}")
    actor.load_state_dict(load_file(folder / WEIGHTS_FILE))


def average_policies(folders: Sequence[Path], out: Path) -> None:
    """Write the policy whose weights are the mean of some policies' that came from one (Wortsman et al. 2022).

    Each has moved on by what it learned, and by noise that the mean lessens.

    Raises:
        CheckpointError: one cannot be read.
        RunError: they have layers of other sizes, or were trained for other rules.
    """
    stored = [read_config(folder) for folder in folders]
    for folder, config in zip(folders[1:], stored[1:], strict=True):
        for name in ("layers", "rules_name"):
            if config[name] != stored[0][name]:
                raise RunError(f"{folder} has {name} {config[name]}, {folders[0]} has {stored[0][name]}")
    mean = Perceptron(stored[0]["layers"], 1.0, torch.Generator())
    part = copy.deepcopy(mean)
    with torch.no_grad():
        for total in mean.parameters():
            total.zero_()
        for folder in folders:
            load_actor(folder, part)
            for total, weight in zip(mean.parameters(), part.parameters(), strict=True):
                total.add_(weight / len(folders))
    save_policy(out, mean, stored[0]["rules_name"])
