"""Players of a run on a cluster, without a cluster: what numbers to expect of one."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

from training.cluster import RemotePlayer, RemoteRollouts
from training.config import Config
from training.crew import Crew
from training.orders import Order, Played, Weights
from training.train import run


class PlayersHere:
    """Plays in this process, as orders come."""

    lost = 0

    def __init__(self) -> None:
        self.player = RemotePlayer()
        self.done: list[tuple[Order, Played]] = []

    def put(self, value: Any) -> Any:
        return value

    def order(self, order: Order, weights: Weights, past: bytes | None) -> None:
        sent = pickle.loads(pickle.dumps(order))  # its generator moves
        played = self.player.play(sent, weights, past)
        kept = {name: column.copy() for name, column in played.columns.items()}
        self.done.append((order, dataclasses.replace(played, columns=kept)))

    def finished(self) -> list[tuple[Order, Played]]:
        done, self.done = self.done, []
        return done


def train_here(config: Config, folder: Path) -> None:
    """Train as a cluster does, without one."""
    folder.mkdir()
    ranks = range(config.workers)
    run(config, folder, Crew(), lambda learner, league: RemoteRollouts(config, learner, league, PlayersHere(), ranks))
