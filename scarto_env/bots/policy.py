"""A trained policy as a bot: loads a checkpoint and plays it with NumPy alone.

A checkpoint is a folder with ``weights.safetensors`` (the layers, fp32), ``config.json`` and a model card.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scarto_env.bots.base import Cards, as_bytes
from scarto_env.bots.policy_features import (
    FEATURES_VERSION,
    Reading,
    encode_rows,
    feature_scale,
    forced_cards,
    num_features,
    put_cards,
)
from scarto_env.cards import NUM_CARDS, NUM_SUITS
from scarto_env.jit import allocating_kernel, kernel
from scarto_env.observation import OBSERVATION_VERSION
from scarto_env.play import mixed
from scarto_env.rules import Rules, as_rules, rules_table
from scarto_env.state import stream_key

FORMAT: Final = "scarto policy 1"
WEIGHTS_FILE: Final = "weights.safetensors"
CONFIG_FILE: Final = "config.json"
Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Weight, [inputs, outputs], and bias of each layer."""

_AT_ONCE: Final = 256
"""Rows whose features and layers stay in a core's cache."""
_TOGETHER: Final = 4
"""Features whose weights are added at a time."""
_FRACTION = np.float64(2.0**-53)
_S11 = np.uint64(11)


class CheckpointError(ValueError):
    """A checkpoint that is damaged, incomplete or made for another version; the message says which."""


@kernel
def drawn_numbers(observation: Any, rows: Any, key: Any, out: Any) -> None:
    """Write a number in [0, 1) for some rows, which depends on the key and on what the seat sees alone."""
    for index in range(len(rows)):
        word = key
        for entry in observation[rows[index]]:
            word = mixed(word ^ np.uint64(np.int64(entry) & 0xFF))
        out[index] = np.float64(mixed(word) >> _S11) * _FRACTION


@allocating_kernel
def first_layer(features: Any, weight: Any, bias: Any, out: Any) -> None:
    """Write what the first layer makes of some rows of features, [rows, F] int8, before any bend: [rows, H] float32.

    One feature in seven is not 0: adding up the weights of those, four at a time, takes half of the time of a product
    of matrices and, for a single row, a sixth.
    """
    num_features = features.shape[1]
    places = np.empty(num_features + _TOGETHER, np.int64)
    values = np.empty(num_features + _TOGETHER, np.float32)
    for index in range(len(features)):
        row, total = features[index], out[index]
        number = 0
        for place in range(num_features):
            places[number] = place
            values[number] = row[place]
            number += row[place] != 0
        for spare in range(number, number + _TOGETHER):
            places[spare] = 0
            values[spare] = 0
        for unit in range(len(bias)):
            total[unit] = bias[unit]
        for start in range(0, number, _TOGETHER):
            first, second = weight[places[start]], weight[places[start + 1]]
            third, fourth = weight[places[start + 2]], weight[places[start + 3]]
            one, two, three, four = values[start], values[start + 1], values[start + 2], values[start + 3]
            for unit in range(len(bias)):
                total[unit] += (one * first[unit] + two * second[unit]) + (three * third[unit] + four * fourth[unit])


class PolicyBot:
    """Plays the card that a network likes best.

    Args:
        path: checkpoint folder, or its weights file.
        rules: what is played: as many players as the policy has learned with; it plays best by its own rules.
        seed: for ``sample``.
        sample: draw the card from the policy instead of playing its likeliest.

    Raises:
        CheckpointError: the checkpoint is damaged or made for another version.
        ValueError: the rules have another number of players.
    """

    def __init__(self, path: str | Path, rules: str | Rules = "scarto", seed: int = 0, sample: bool = False) -> None:
        layers, trained_for = read_checkpoint(Path(path))
        self._begin(layers, trained_for, as_rules(rules), seed, sample)
        folder = Path(path)
        self.name = folder.name if folder.is_dir() else folder.parent.name

    @classmethod
    def of(
        cls, layers: Layers, rules: str | Rules = "scarto", seed: int = 0, sample: bool = False, name: str = "policy"
    ) -> PolicyBot:
        """Return a bot that plays layers in memory, trained for ``rules``."""
        bot = cls.__new__(cls)
        bot._begin(layers, as_rules(rules), as_rules(rules), seed, sample)
        bot.name = name
        return bot

    def _begin(self, layers: Layers, trained_for: Rules, rules: Rules, seed: int, sample: bool) -> None:
        if trained_for.players != rules.players:
            raise ValueError(
                f"the policy has learned with {trained_for.players} players: it cannot play with {rules.players}"
            )
        self.rules, self.trained_for, self.seed, self.sample = rules, trained_for, seed, sample
        first = layers[0][0] * feature_scale(rules.players)[:, None]
        self.layers = [(np.ascontiguousarray(first), layers[0][1]), *layers[1:]]
        self._key = stream_key(seed)
        self._reading = Reading.of(rules)

    def __repr__(self) -> str:
        """Return the bot's name and what it plays."""
        return f"PolicyBot({self.name!r}, {self.rules!r})"

    def act(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> Cards:
        """Return the policy's card each, [B] int64; 0 where the mask is empty."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        cards, free = np.zeros(len(observation), np.int64), np.empty(len(observation), np.int64)
        rows = free[: forced_cards(action_mask, cards, free)]
        if len(rows):
            logits, order = self._masked_logits(observation, action_mask, rows)
            if self.sample:
                numbers = np.empty(len(rows))
                drawn_numbers(observation, rows, self._key, numbers)
                cumulative = np.exp(logits - logits.max(1, keepdims=True)).cumsum(1, dtype=np.float64)
                places = (cumulative > numbers[:, None] * cumulative[:, -1:]).argmax(1)
            else:
                places = logits.argmax(1)
            put_cards(places, order, rows, cards)
        return cards

    def log_policy(self, observation: NDArray[Any], action_mask: NDArray[Any]) -> NDArray[np.float32]:
        """Return the log-probability of every card, [B, 78]; minus infinity where it is not legal."""
        observation, action_mask = as_bytes(observation, action_mask, self.rules)
        logits, order = self._masked_logits(observation, action_mask, np.arange(len(observation)))
        logits -= logits.max(1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(1, keepdims=True))
        place_of = np.argsort(order, axis=1)
        places = np.tile(np.arange(NUM_CARDS), (len(order), 1))
        suits = np.repeat(place_of, 14, axis=1) * 14 + np.tile(np.arange(14), 4)
        places[:, : suits.shape[1]] = suits
        return np.take_along_axis(logits, places, axis=1)

    def _masked_logits(
        self, observation: NDArray[np.int8], action_mask: NDArray[np.int8], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return the logits of some rows in canonical order, minus infinity where not legal, and their suit orders."""
        if len(rows) > _AT_ONCE:
            parts = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
            logits, orders = zip(*(self._masked_logits(observation, action_mask, part) for part in parts), strict=True)
            return np.concatenate(logits), np.concatenate(orders)
        features = np.empty((len(rows), num_features(self.rules.players)), np.int8)
        mask = np.empty((len(rows), NUM_CARDS), np.int8)
        order = np.empty((len(rows), NUM_SUITS), np.int8)
        # Working memory of this call's own: threads may share a bot.
        reading = self._reading._replace(words=self._reading.words.copy(), grid=self._reading.grid.copy())
        encode_rows(observation, action_mask, rows, reading, rules_table(self.rules), features, mask, order)
        hidden = np.empty((len(rows), len(self.layers[0][1])), np.float32)
        first_layer(features, *self.layers[0], hidden)
        for weight, bias in self.layers[1:]:
            np.maximum(hidden, 0, out=hidden)
            hidden = hidden @ weight
            hidden += bias
        hidden[mask == 0] = -np.inf
        return hidden, order


def read_checkpoint(path: Path) -> tuple[Layers, Rules]:
    """Return a checkpoint's layers and the rules it was trained for.

    Raises:
        CheckpointError: it is damaged or made for another version.
    """
    folder = path if path.is_dir() else path.parent
    weights = folder / WEIGHTS_FILE
    if path not in (folder, weights):
        raise CheckpointError(f"{path} is no checkpoint: expected a folder with {WEIGHTS_FILE}, or that file")
    config = read_config(folder)
    try:
        content = weights.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{weights} cannot be read: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != config["sha256"]:
        raise CheckpointError(f"{weights} is damaged: it is not the file that {CONFIG_FILE} describes")
    tensors = parse_safetensors(content, weights)
    try:
        rules = Rules(**config["rules"])
        sizes = config["layers"]
        layers = [
            (np.ascontiguousarray(tensors[f"weights.{layer}"].T), tensors[f"biases.{layer}"])
            for layer in range(len(sizes) - 1)
        ]
        shapes = [layers[0][0].shape[0], *(weight.shape[1] for weight, _ in layers)]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise CheckpointError(f"{folder} is no policy of this game: {error!r}") from None
    if shapes != sizes or shapes[0] != num_features(rules.players) or shapes[-1] != NUM_CARDS:
        raise CheckpointError(f"{folder}: layers of sizes {shapes} do not fit the game")
    return layers, rules


def read_config(folder: Path) -> dict[str, Any]:
    """Return a checkpoint's config.

    Raises:
        CheckpointError: it is missing, damaged or made for another version.
    """
    path = folder / CONFIG_FILE
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise CheckpointError(f"{path} does not describe a {FORMAT!r}")
    for name, ours in (("observation_version", OBSERVATION_VERSION), ("features_version", FEATURES_VERSION)):
        if config.get(name) != ours:
            raise CheckpointError(f"{path} was made for {name} {config.get(name)!r}, this is {ours}")
    return config


def parse_safetensors(content: bytes, path: Path) -> dict[str, NDArray[np.float32]]:
    """Return the fp32 tensors of a safetensors file: a length, a JSON header, then the numbers.

    Raises:
        CheckpointError: it is damaged or holds other numbers.
    """
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        body = memoryview(content)[8 + size :]
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            if entry["dtype"] != "F32":
                raise CheckpointError(f"{path}: {name} holds {entry['dtype']}, expected F32")
            start, stop = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[start:stop], "<f4").reshape(entry["shape"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise error if isinstance(error, CheckpointError) else CheckpointError(f"{path} is damaged") from None
    return tensors
