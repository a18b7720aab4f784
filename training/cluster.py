"""A run on a Ray cluster: players in actors of the cluster, the learner in the driver, weights by the object store.

An update learns from ``workers`` rollouts.  Which deals a rollout has and how its cards are drawn depends on the seed,
the update and its rank alone, so any player may play it, and play it again after another was lost: the numbers are
the same for any number of players.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarto_env.adapters.cluster import (
    ClusterError,
    ClusterExecutor,
    code_version,
    connected,
    node_name,
)
from training.config import Config
from training.crew import Crew
from training.league import League
from training.learner import Learner
from training.orders import Columns, Order, Played, Weights
from training.players import Players
from training.returns import NO_DECISION
from training.rollout import Decisions
from training.train import MOST_WORKERS, Player, check_workers, refusals, run


class RemotePlayer:
    """Plays rollouts in a process of the cluster.  It begins with nothing, so that Ray may begin it again anywhere."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self._settings: dict[str, Any] = {}
        self._version = -1

    def hello(self) -> tuple[str, str]:
        """Return the node and the version of the code: asked before anything else."""
        return node_name(), code_version()

    def play(self, order: Order, weights: Weights, past: bytes | None) -> Played:
        """Play a rollout with some weights, against the past self that a file holds."""
        began = time.process_time()
        if order.settings != self._settings:
            self._begin(order.settings)
        if order.version != self._version:
            load_weights(self._learner, weights)
            self._version = order.version
        opponent = None
        if past is not None:
            opponent = self._league.past(self._learner, past)
        elif order.opponent is not None:
            opponent = self._league.bots[str(order.opponent)]
        decisions = self._player.play(self._learner, opponent, order.update, order.rank, order.generator)
        cpu_seconds = time.process_time() - began
        return Played(columns_of(decisions), decisions.count, order.generator, cpu_seconds)

    def _begin(self, settings: dict[str, Any]) -> None:
        config = Config(**{**settings, "device": "cpu"})
        self._version = -1
        self._learner = Learner(config)
        self._league = League(config, Path(), self._learner.dtype)
        self._player = Player(config, self._learner)
        self._settings = settings


def remote_player() -> Callable[[], Any]:
    """Return what makes a player that has a core and is begun anew when it is lost, on any node that has room."""
    import ray

    make: Callable[[], Any] = (
        ray.remote(RemotePlayer).options(num_cpus=1, max_restarts=-1, scheduling_strategy="SPREAD").remote
    )
    return make


class RemoteRollouts:
    """Rollouts that players on the cluster play, ahead of the learner by at most ``staleness`` updates.

    As soon as ``version`` updates are made, the rollouts of all updates up to ``version + staleness`` are ordered, with
    the weights of that moment: so the order, not the speed of anything, decides which weights play a rollout.

    Args:
        config: the run.
        learner: where it stands.
        league: the opponents.
        players: play.
        ranks: of the rollouts that this process learns from.
    """

    def __init__(
        self, config: Config, learner: Learner, league: League, players: Players, ranks: Sequence[int]
    ) -> None:
        self.config, self.league, self.players, self.ranks = config, league, players, ranks
        self.rollouts = len(ranks)
        self._ordered = learner.updates
        self._past: dict[int, Any] = {}
        self._played: dict[tuple[int, int], tuple[int, Played]] = {}
        self._seen: dict[str, float] = {}
        self._players_seconds = 0.0

    def play(self, learner: Learner) -> tuple[Decisions, np.random.Generator]:
        """Return the decisions of the learner's next update and the generator that goes on from them."""
        self._order(learner)
        update = learner.updates
        while not all((update, rank) in self._played for rank in self.ranks):
            for order, played in self.players.finished():
                self._played[order.update, order.rank] = (order.version, played)
                self._players_seconds += played.cpu_seconds
        parts = [self._played.pop((update, rank)) for rank in self.ranks]
        counts = [played.count for _, played in parts]
        staleness = [update - version for version, _ in parts]
        self._seen = {
            "staleness": float(np.average(staleness, weights=counts)),
            "staleness_most": max(staleness),
            "lost": self.players.lost,
        }
        return joined([played for _, played in parts]), parts[0][1].generator

    def _order(self, learner: Learner) -> None:
        """Order all rollouts that may be played with the present weights and are not ordered yet."""
        version = learner.updates
        updates = range(self._ordered, min(version + self.config.staleness + 1, self.config.updates))
        if not updates:
            return
        weights = self.players.put(weights_of(learner))
        settings = dataclasses.asdict(self.config)
        for update in updates:
            for rank in self.ranks:
                generator = np.random.default_rng([self.config.seed, update, rank])
                opponent = self.league.draw(version, generator)
                order = Order(settings, update, rank, version, opponent, generator)
                self.players.order(order, weights, self._past_self(opponent) if isinstance(opponent, int) else None)
        self._ordered = updates.stop

    def _past_self(self, update: int) -> Any:
        """Return where the cluster keeps a past self."""
        if update not in self._past:
            self._past[update] = self.players.put(self.league.content(update))
        return self._past[update]

    def seen(self) -> dict[str, float]:
        """Return how many updates the weights were behind that played what was learned from last, and what was lost."""
        return self._seen

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the drivers and, as they told, of the players; drivers do the same work."""
        return (time.process_time() + self._players_seconds) * self.config.workers / self.rollouts


def weights_of(learner: Learner) -> Weights:
    """Return the weights of both networks."""
    networks = {"actor": learner.actor, "critic": learner.critic}
    return {
        network: {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}
        for network, module in networks.items()
    }


def load_weights(learner: Learner, weights: Weights) -> None:
    """Give a learner the weights of another."""
    for network, module in (("actor", learner.actor), ("critic", learner.critic)):
        module.load_state_dict({name: torch.tensor(array) for name, array in weights[network].items()})


def columns_of(decisions: Decisions) -> Columns:
    """Return the arrays of some decisions without the room behind them; views."""
    columns = {field.name: getattr(decisions, field.name) for field in dataclasses.fields(decisions)}
    return {name: column[: decisions.count] for name, column in columns.items() if isinstance(column, np.ndarray)}


def joined(parts: Sequence[Played]) -> Decisions:
    """Return the decisions of some rollouts one after another, as one; a copy."""
    starts = np.cumsum([0, *(part.count for part in parts)])
    values = {}
    for name in parts[0].columns:
        columns = [part.columns[name] for part in parts]
        if name == "following":  # numbers of other decisions
            columns = [np.where(column == NO_DECISION, column, column + int(start))
                       for column, start in zip(columns, starts, strict=False)]  # fmt: skip
        values[name] = np.concatenate(columns)
    return Decisions(**values, count=int(starts[-1]))


def train_on_cluster(config: Config, folder: Path, where: str, num_players: int, crew: Crew | None = None) -> bool:
    """Train with players on a cluster; return whether all was played, which a request to stop prevents.

    Args:
        config: the run.
        folder: of the run.
        where: ``"local"``, ``"auto"`` or an address.
        num_players: how many actors play for this process.
        crew: the processes that learn as one; each has its own players and an equal share of the rollouts.

    Raises:
        ClusterError: there is no such cluster, or a worker runs other code.
        RunError: the run cannot go on; its last save is whole.
    """
    check_workers(config, MOST_WORKERS)
    crew = crew or Crew()
    ranks = crew.share(config.workers)
    if num_players > len(ranks) * (1 + config.staleness):
        raise ClusterError(
            f"actors={num_players} cannot all be busy with workers={config.workers} rollouts an update "
            f"and staleness={config.staleness}"
        )
    with refusals(), connected(where, num_players + 1):
        players = Players(num_players, remote_player())
        return run(
            config,
            folder,
            crew,
            lambda learner, league: RemoteRollouts(config, learner, league, players, ranks),
            ClusterExecutor(num_cpus=0),  # never waits for a core that the players have
        )
