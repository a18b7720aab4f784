"""Past selves as opponents, so that what once was beaten is not forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.torch import load_file, save

from training.checkpoint import write_atomically
from training.config import Config
from training.learner import Learner
from training.network import FrozenPerceptron

LEAGUE_FOLDER: Final = "league"


class League:
    """The past selves of a run, kept on disk: which there are depends on the number of updates alone.

    Args:
        config: the run.
        folder: of the run.
        dtype: what they compute in.
    """

    def __init__(self, config: Config, folder: Path, dtype: torch.dtype) -> None:
        self.config, self.folder, self.dtype = config, folder / LEAGUE_FOLDER, dtype

    def _path(self, update: int) -> Path:
        return self.folder / f"{update:06d}.safetensors"

    def admit(self, learner: Learner) -> None:
        """Keep the present policy if its turn has come."""
        if self.config.league_share > 0 and learner.updates % self.config.league_every == 0:
            self.folder.mkdir(exist_ok=True)
            state = {name: tensor.detach().cpu().to(self.dtype) for name, tensor in learner.actor.state_dict().items()}
            write_atomically(self._path(learner.updates), save(state))

    def opponent(self, learner: Learner, generator: np.random.Generator) -> FrozenPerceptron | None:
        """Return a past self, each as likely as another; None while there are none."""
        members = learner.updates // self.config.league_every
        if self.config.league_share == 0 or members == 0:
            return None
        update = int(generator.integers(1, members + 1)) * self.config.league_every
        past = learner.frozen_actor()
        for name, tensor in load_file(self._path(update)).items():
            kind, layer = name.split(".")
            getattr(past, kind)[int(layer)] = tensor.to(self.config.device)
        return past
