"""Past selves and bots as opponents, so that what once was beaten is not forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.torch import load, save

from scarto_env import make_bot
from training.checkpoint import write_atomically
from training.config import Config
from training.learner import Learner
from training.rollout import Opponent

LEAGUE_FOLDER: Final = "league"


class League:
    """The others of a run.  Past selves are kept on disk: which there are depends on the number of updates alone.

    Args:
        config: the run.
        folder: of the run.
        dtype: what they compute in.
    """

    def __init__(self, config: Config, folder: Path, dtype: torch.dtype) -> None:
        self.config, self.folder, self.dtype = config, folder / LEAGUE_FOLDER, dtype
        self.bots = {name: make_bot(name, config.rules, config.seed) for name in config.league_bots}

    def _path(self, update: int) -> Path:
        return self.folder / f"{update:06d}.safetensors"

    def admit(self, learner: Learner) -> None:
        """Keep the present policy if its turn has come."""
        if self.config.league_share > 0 and learner.updates % self.config.league_every == 0:
            self.folder.mkdir(exist_ok=True)
            state = {name: tensor.detach().cpu().to(self.dtype) for name, tensor in learner.actor.state_dict().items()}
            write_atomically(self._path(learner.updates), save(state))

    def opponent(self, learner: Learner, generator: np.random.Generator) -> Opponent | None:
        """Return who plays the other seats until the next update, None while there is nobody."""
        drawn = self.draw(learner.updates, generator)
        if drawn is None:
            return None
        return self.bots[drawn] if isinstance(drawn, str) else self.past(learner, self.content(drawn))

    def draw(self, updates: int, generator: np.random.Generator) -> str | int | None:
        """Draw a bot by its name or a past self by its update, None while there is nobody.

        Each bot is as likely as all past selves together, and these are equally likely among themselves.
        """
        bots = self.config.league_bots
        members = updates // self.config.league_every
        if self.config.league_share == 0 or not (bots or members):
            return None
        kind = int(generator.integers(len(bots) + (members > 0)))
        if kind < len(bots):
            return bots[kind]
        return int(generator.integers(1, members + 1)) * self.config.league_every

    def content(self, update: int) -> bytes:
        """Return the file of a past self."""
        return self._path(update).read_bytes()

    def past(self, learner: Learner, content: bytes) -> Opponent:
        """Return the past self that a file holds."""
        past = learner.frozen_actor()
        for name, tensor in load(content).items():
            what, layer = name.split(".")
            getattr(past, what)[int(layer)] = tensor.to(self.config.device)
        return past
