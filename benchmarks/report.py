"""The run's figures as tables and as JSON."""

import platform
import statistics
from collections.abc import Mapping
from importlib import metadata
from typing import NamedTuple

from benchmarks import peers
from scarto_env import bench
from scarto_env.bench import Speed

PACKAGES = ("scarto", "numpy", "numba", "gymnasium", "pettingzoo", "open-spiel", "rlcard")


class Ratio(NamedTuple):
    """A speed over another, in each repeat, and what it is to reach if anything is asked."""

    name: str
    over: str
    under: str
    target: float | None = None


def wanted() -> list[Ratio]:
    """Return the ratios that are reported."""
    vector = [
        Ratio(f"vector environment over bare Batch, {size:,}", bench.vector_name(size), bench.batch_name(size), 0.6)
        for size in bench.VECTOR_SIZES
    ]
    batch = [
        Ratio(f"Batch of {size:,} over spades in C++", bench.batch_name(size), peers.SPADES_ROLLOUTS, 10 / 7.5)
        for size in bench.BATCH_SIZES
    ]
    smallest = bench.BATCH_SIZES[0]
    growth = [
        Ratio(f"Batch of {size:,} over {smallest}", bench.batch_name(size), bench.batch_name(smallest), 0.75)
        for size in bench.BATCH_SIZES[1:]
    ]
    return [
        Ratio("engine over spades in C++", bench.ENGINE, peers.SPADES_ROLLOUTS, 3.0),
        Ratio("engine over tarok in C++", bench.ENGINE, peers.TAROK_ROLLOUTS),
        *batch,
        *growth,
        Ratio("two threads over one, step alone", bench.threads_step_name(2), bench.threads_step_name(1), 1.85),
        Ratio("two threads over one, with random cards", bench.threads_name(2), bench.threads_name(1)),
        *vector,
        Ratio("env() over the wrapped empty env, first legal", bench.AEC_FIRST, peers.WRAPPED_FIRST, 5.0),
        Ratio("env() over the wrapped empty env, sample(mask)", bench.AEC_SAMPLE, peers.WRAPPED_SAMPLE),
        Ratio("env() over the bare empty env, first legal", bench.AEC_FIRST, peers.EMPTY_FIRST),
        Ratio("Batch of one over tarok from Python", bench.ONE_GAME, peers.TAROK, 1.0),
        Ratio("raw_env over tarok from Python", bench.AEC_ONE_GAME, peers.TAROK),
        Ratio("raw_env over RLCard bridge", bench.AEC_ONE_GAME, peers.RLCARD),
        Ratio("Batch of one over an empty Python loop", bench.ONE_GAME, peers.LOOP),
    ]


def results(speeds: Mapping[str, Speed]) -> list[dict[str, object]]:
    """Return the ratios of what has been measured: median and spread over the repeats."""
    rows = []
    for ratio in wanted():
        if ratio.over not in speeds or ratio.under not in speeds:
            continue
        pairs = zip(speeds[ratio.over].speeds, speeds[ratio.under].speeds, strict=True)
        values = [over / under for over, under in pairs]
        median = statistics.median(values)
        met = None if ratio.target is None else median >= ratio.target
        rows.append({**ratio._asdict(), "median": median, "low": min(values), "high": max(values), "met": met})
    return rows


def environment() -> dict[str, object]:
    """Return what the figures depend on."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"python": platform.python_version(), "machine": platform.machine(), "versions": versions}


def speed_table(speeds: Mapping[str, Speed]) -> str:
    lines = [f"{'a second':<60}{'median':>14}{'lowest':>14}{'highest':>14}"]
    lines += [
        f"{f'{speed.name} ({speed.unit})':<60}"
        + "".join(f"{figure:>14,.0f}" for figure in (speed.median, min(speed.speeds), max(speed.speeds)))
        for speed in speeds.values()
    ]
    return "\n".join(lines)


def ratio_table(rows: list[dict[str, object]]) -> str:
    lines = [f"{'ratio':<50}{'median':>9}{'lowest':>9}{'highest':>9}{'target':>9}"]
    for row in rows:
        verdict = "" if row["met"] is None else ("  met" if row["met"] else "  MISSED")
        target = "" if row["target"] is None else f"{row['target']:.2f}"
        lines.append(f"{row['name']:<50}{row['median']:>9.2f}{row['low']:>9.2f}{row['high']:>9.2f}{target:>9}{verdict}")
    return "\n".join(lines)


def account_table(account: Mapping[str, object]) -> str:
    lines = [f"a batched step, {account['games']} games: nanoseconds a game"]
    lines += [f"  {name:<45}{value:>9.1f}" for name, value in account["nanoseconds"].items()]
    lines.append("bytes a game")
    lines += [f"  {name:<45}{value:>9.1f}" for name, value in account["bytes"].items()]
    name = "memory of 65,536 games, MB"
    return "\n".join([*lines, f"{name:<47}{account[name]:>9.1f}"])
