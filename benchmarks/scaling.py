"""What limits a run on a cluster: ``python -m benchmarks.scaling``.

Measures one player, one learner, the driver's intake and the bytes between them; says from these where 1, 8, 64 and
512 actors reach a limit; and checks it with stand-in actors that take their time and send their bytes on a real
cluster of this machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pickle
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.standin import StandIn
from scarto_env.adapters.cluster import code_version, connected
from training import players
from training.cluster import RemotePlayer, RemoteRollouts, joined, weights_of
from training.config import Config
from training.league import League
from training.learner import Learner
from training.orders import Order, Played

ACTORS = (1, 8, 64, 512)
NETWORKS = (1, 10, 100)
"""Gigabits a second into the learner's machine."""
GIGABIT = 1e9 / 8
SLOWER = 20
"""Stand-ins play so many times slower in one of the cases, so that this machine's own cores are no limit."""


class Costs(NamedTuple):
    """What was measured; seconds are of one core.

    Attributes:
        decisions: of a rollout.
        rollout_bytes: of its columns.
        packed_bytes: of them after zlib's quickest.
        weight_bytes: of a broadcast of both networks.
        play_seconds: of a rollout.
        learn_seconds: of learning from it.
        intake_seconds: of ordering it, taking it from the store and joining it with others, in the driver.
    """

    decisions: int
    rollout_bytes: int
    packed_bytes: int
    weight_bytes: int
    play_seconds: float
    learn_seconds: float
    intake_seconds: float


def sent_bytes(value: Any) -> int:
    """Return the bytes of a value as Ray sends it: pickled, arrays beside it."""
    buffers: list[pickle.PickleBuffer] = []
    return len(pickle.dumps(value, 5, buffer_callback=buffers.append)) + sum(len(buffer.raw()) for buffer in buffers)


def cpu_seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the median CPU seconds of a call."""
    work()
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


def measure(config: Config, repeats: int) -> tuple[Costs, Played]:
    """Return what a rollout costs, and one; needs a cluster."""
    import ray

    learner, player = Learner(config), RemotePlayer()
    weights = weights_of(learner)

    def play() -> Played:
        generator = np.random.default_rng(0)
        return player.play(Order(dataclasses.asdict(config), 0, 0, 0, None, generator), weights, None)

    played = play()
    played = dataclasses.replace(played, columns={name: column.copy() for name, column in played.columns.items()})
    packed = sum(len(zlib.compress(column.tobytes(), 1)) for column in played.columns.values())
    found = Costs(
        decisions=played.count,
        rollout_bytes=sent_bytes(played),
        packed_bytes=packed,
        weight_bytes=sent_bytes(weights),
        play_seconds=cpu_seconds(play, repeats),
        learn_seconds=cpu_seconds(lambda: learner.learn(joined([played]), 0.0, np.random.default_rng(0)), repeats),
        intake_seconds=0.0,
    )
    at_once = found._replace(play_seconds=0.0)
    standing = stand_ins(played, 2)
    intake = statistics.median(
        simulate(config, at_once, standing, False, 10).driver_seconds for _ in range(min(3, repeats))
    )
    for player in standing:
        ray.kill(player)
    return found._replace(intake_seconds=intake), played


class Found(NamedTuple):
    """Of a simulation: decisions a second, and the driver's CPU seconds for a rollout."""

    speed: float
    driver_seconds: float


def measured_table(costs: Costs) -> str:
    n = costs.decisions
    rows = [
        ("bytes a decision", f"{costs.rollout_bytes / n:,.0f}"),
        ("the same after zlib's quickest", f"{costs.packed_bytes / n:,.0f}"),
        ("bytes a weight broadcast, both networks", f"{costs.weight_bytes:,}"),
        ("decisions a second of one actor", f"{n / costs.play_seconds:,.0f}"),
        ("decisions a second of one learner", f"{n / costs.learn_seconds:,.0f}"),
        ("decisions a second into one driver", f"{n / costs.intake_seconds:,.0f}"),
    ]
    return table(("what", "measured"), rows)


def limits(costs: Costs, actors: int) -> dict[str, float]:
    """Return the decisions a second that each part allows, with so many actors."""
    n = costs.decisions
    return {
        "actors": actors * n / costs.play_seconds,
        "learner": n / costs.learn_seconds,
        "driver": n / costs.intake_seconds,
        **{f"{speed} Gbit/s": speed * GIGABIT / costs.rollout_bytes * n for speed in NETWORKS},
    }


def limits_table(costs: Costs) -> str:
    """Return where so many actors reach each limit: 100 % is all that it can do."""
    rows: list[tuple[str, ...]] = []
    for actors in ACTORS:
        allowed = limits(costs, actors)
        given = allowed.pop("actors")
        # Every node gets the weights once an update of one rollout an actor; at worst each actor is a node.
        out = costs.weight_bytes * actors / costs.play_seconds / GIGABIT
        rows.append(
            (str(actors), f"{given:,.0f}", *(f"{given / most:,.0%}" for most in allowed.values()), f"{out:.2f}")
        )
    names = [name for name in limits(costs, 1) if name != "actors"]
    return table(("actors", "decisions a second", *names, "Gbit/s of weights"), rows)


def stand_ins(played: Played, number: int) -> list[Any]:
    """Return so many stand-ins, each in a process of its own."""
    import ray

    columns = ray.put(played.columns)
    make = ray.remote(StandIn).options(num_cpus=0).remote
    return [make(code_version(), columns, played.count) for _ in range(number)]


def simulate(config: Config, costs: Costs, standing: Sequence[Any], learns: bool, updates: int) -> Found:
    """Return what stand-ins reach, with a learner that takes its time or none."""
    import ray

    actors = len(standing)
    config = dataclasses.replace(config, workers=actors, deals=actors * config.deals_at_once * (updates + 3))
    learner = Learner(config)
    ray.get([player.take.remote(costs.play_seconds) for player in standing])
    playing = players.Players(actors, iter(standing).__next__)
    rollouts = RemoteRollouts(config, learner, League(config, Path(), learner.dtype), playing, range(actors))
    began = used = 0.0
    for update in range(updates + 2):
        decisions, _ = rollouts.play(learner)
        if update == 1:  # the line is full
            began, used = time.perf_counter(), time.process_time()
        if update >= 1 and learns:
            time.sleep(decisions.count * costs.learn_seconds / costs.decisions)
        learner.updates += 1
    seconds, used = time.perf_counter() - began, time.process_time() - used
    # A learner that takes its time has learned from one update more than were played in that time.
    return Found((updates + learns) * actors * costs.decisions / seconds, used / updates / actors)


def simulation_table(config: Config, costs: Costs, played: Played, most: int, stretch: float, seconds: float) -> str:
    """Return what stand-ins reach beside what the limits say, with everything slower by ``stretch``."""
    import ray

    slow = costs._replace(play_seconds=costs.play_seconds * stretch, learn_seconds=costs.learn_seconds * stretch)
    cases = (("as measured", slow, True), ("none", slow._replace(play_seconds=slow.play_seconds * SLOWER), False),
             ("none", slow, False))  # fmt: skip
    rows = []
    for actors in (number for number in ACTORS if number <= most):
        standing = stand_ins(played, actors)
        for learner, case, learns in cases:
            allowed = limits(case, actors)
            parts = ("actors", "learner", "driver") if learns else ("actors", "driver")
            limit = min(parts, key=allowed.__getitem__)
            expected = allowed[limit]
            updates = max(3, round(seconds * expected / (actors * costs.decisions)))
            found = simulate(config, case, standing, learns, updates)
            rows.append((str(actors), f"{limits(case, 1)['actors']:,.0f}", learner, limit, f"{expected:,.0f}",
                         f"{found.speed:,.0f}", f"{found.speed / expected:.0%}",
                         f"{found.driver_seconds / costs.decisions * found.speed:.0%}"))  # fmt: skip
            sys.stderr.write(f"{rows[-1]}\n")
        for player in standing:
            ray.kill(player)
    head = ("stand-ins", "each plays", "learner", "limit", "expected", "found", "of it", "driver's core")
    return table(head, rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|---|" + "---:|" * (len(head) - 1))
    return "\n".join(lines)


def main() -> None:
    """Measure, reckon, simulate; print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--actor", default="128,128", help="widths of the policy (default: 128,128)")
    parser.add_argument("--critic", default="256,256", help="widths of the critic (default: 256,256)")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each cost (default: 5)")
    parser.add_argument("--deals", type=int, default=64, help="of a stand-in's rollout (default: 64)")
    parser.add_argument("--stretch", type=float, default=1, help="stand-ins and their learner are so many times slower")
    parser.add_argument("--most", type=int, default=64, help="stand-in actors at most; 0 for none (default: 64)")
    parser.add_argument("--seconds", type=float, default=5, help="of each simulation (default: 5)")
    options = parser.parse_args()
    widths: dict[str, Any] = {name: tuple(map(int, getattr(options, name).split(","))) for name in ("actor", "critic")}
    config = Config(workers=1, staleness=1, league_share=0, **widths)
    small = dataclasses.replace(
        config, deals_at_once=options.deals, minibatches=2
    )  # small enough to keep many in the store
    players.BEGIN_SECONDS = 600.0  # all stand-ins are to be there before anything is measured
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 would leave them what other jobs leave
    with connected("local", 1):
        costs, _ = measure(config, options.repeats)
        print(measured_table(costs), limits_table(costs), sep="\n\n", flush=True)
        if options.most:
            measured = measure(small, options.repeats)
            print("\n" + simulation_table(small, *measured, options.most, options.stretch, options.seconds))


if __name__ == "__main__":
    main()
