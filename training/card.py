"""A policy's model card: how it was made, how strong it is, how fast, where it is weak, how to check all that."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from scarto_env import Batch
from scarto_env.arena import DealSet, Side, deal_set, duel
from scarto_env.bots.policy import WEIGHTS_FILE, PolicyBot, read_config
from scarto_env.rules import Rules
from training.checkpoint import as_json, write_atomically

CARD_FILE: Final = "README.md"
SCORES_FILE: Final = "scores.json"
FACTS_FILE: Final = "training.json"
WEAKNESSES: Final = (
    "It plays for points alone: it does not know the standing of a match.",
    "Among three players no strategy is safe from two that join against it; `scarto exploit` measures by how much.",
)
"""Of every policy."""
ALONE_DECISIONS: Final = 2000
BATCH_ROWS: Final = 1024


@dataclasses.dataclass(frozen=True)
class Facts:
    """How a policy came to be.

    Attributes:
        command: what trained it.
        commit: of the code that did.
        seed: of the run.
        deals: played in training.
        updates: of the weights.
        cpu_hours: of all workers.
        remarks: what else should be known, a sentence each.
    """

    command: str
    commit: str
    seed: int
    deals: int
    updates: int
    cpu_hours: float
    remarks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Speed:
    """Decisions a second on one core, forced ones not counted: one at a time and 1024 at a time."""

    alone: float
    batched: float


def measure_speed(folder: Path, rules: Rules) -> Speed:
    """Return how fast a policy decides."""
    bot = PolicyBot(folder, rules)
    batch = Batch(BATCH_ROWS, rules, seed=0, threads=1)
    for _ in range(rules.num_decisions // 2):
        batch.step(bot.act(batch.observation, batch.action_mask))
    free = np.flatnonzero(batch.action_mask.sum(1) > 1)
    observation, mask = batch.observation[free].copy(), batch.action_mask[free].copy()
    began = time.perf_counter()
    for number in range(ALONE_DECISIONS):
        row = slice(number % len(free), number % len(free) + 1)
        bot.act(observation[row], mask[row])
    alone = ALONE_DECISIONS / (time.perf_counter() - began)
    began, rounds = time.perf_counter(), 10
    for _ in range(rounds):
        bot.act(observation, mask)
    return Speed(alone, rounds * len(free) / (time.perf_counter() - began))


def measure_scores(
    folder: Path, rules: Rules, yardsticks: Sequence[str], deals: DealSet, sample: bool = False
) -> dict[str, Any]:
    """Return the scores of a policy against each yardstick, alone and opposed, by role."""
    scores = {}
    bot = PolicyBot(folder, rules, sample=sample)
    for name in yardsticks:
        found = duel(bot, name, rules, deals, both_ways=not sample)
        scores[name] = {"alone": _side(found.alone)} | ({"opposed": _side(found.opposed)} if found.opposed else {})
    return scores


def _side(side: Side) -> dict[str, Any]:
    estimates = {"all": side.points, **side.by_role}
    found: dict[str, Any] = {name: [round(one.mean, 3), round(one.margin, 3)] for name, one in estimates.items()}
    return found | {"won": round(side.won, 3)}


def measure(
    folder: Path, yardsticks: Sequence[str], deals: str | int = "test-1000", sampled: bool = True
) -> dict[str, Any]:
    """Measure a policy and keep the results beside it; return them."""
    rules = Rules(**read_config(folder)["rules"])
    chosen = deal_set(deals, rules)
    results: dict[str, Any] = {
        "deals": chosen.name,
        "asked": str(deals),
        "digest": chosen.digest(),
        "greedy": measure_scores(folder, rules, yardsticks, chosen),
        "sampled": measure_scores(folder, rules, yardsticks, chosen, sample=True) if sampled else {},
        "speed": dataclasses.asdict(measure_speed(folder, rules)),
    }
    write_atomically(folder / SCORES_FILE, as_json(results))
    return results


def table(results: dict[str, Any]) -> list[str]:
    """Return the scores as the lines of a Markdown table."""
    sides = results["greedy"]
    roles = [name for name in next(iter(sides.values()))["alone"] if name not in ("all", "won")]
    lines = [f"| against two | points a deal | {' | '.join(roles)} | one against two of it | sampled |",
             "|---|---:|" + "---:|" * (len(roles) + 2)]  # fmt: skip
    for name, found in sides.items():
        alone, opposed = found["alone"], found.get("opposed")
        cells = [f"**{_points(alone['all'])}**", *(_points(alone[role]) for role in roles)]
        cells.append(_points(opposed["all"]) if opposed else "-")
        sampled = results["sampled"].get(name)
        cells.append(_points(sampled["alone"]["all"]) if sampled else "-")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _points(pair: Sequence[float]) -> str:
    return f"{pair[0]:+.2f} ± {pair[1]:.2f}"


def write_card(folder: Path, facts: Facts | None, weaknesses: Sequence[str]) -> None:
    """Write a policy's card from its config, its scores and how it was made, where that is known.

    Raises:
        RunError: it could not be written.
    """
    config = read_config(folder)
    results = json.loads((folder / SCORES_FILE).read_text(encoding="utf-8"))
    size = (folder / WEIGHTS_FILE).stat().st_size
    speed = results["speed"]
    place = "/".join(folder.resolve().parts[-2:])  # checkpoints/scarto-base from the repository's root
    lines = [
        f"# {folder.resolve().name}",
        "",
        f"A policy for the rules `{config['rules_name']}`, learned from its own play.",
        "",
        "## Strength",
        "",
        f"Points a deal with 95 % intervals, the deal as the unit, on the deals `{results['deals']}` (digest "
        f"`{results['digest']}`), every deal played in every seat; likeliest card unless it says sampled.",
        "",
        *table(results),
        "",
        "Measured anew by",
        "",
        f"    python -m training card {place} --deals {results['asked']}",
        "",
        "## Making",
        "",
        *_making(facts),
        "",
        "## Size and speed",
        "",
        f"- layers {' x '.join(map(str, config['layers']))}, {config['parameters']:,} parameters, "
        f"{size / 1e6:.1f} MB of fp32",
        f"- decisions a second on one core with NumPy: {speed['alone']:,.0f} one at a time, {speed['batched']:,.0f} "
        f"{BATCH_ROWS} at a time",
        f"- observation version {config['observation_version']}, features version {config['features_version']}",
        f"- SHA-256 of `{WEIGHTS_FILE}`: `{config['sha256']}`",
        "",
        "## Known weaknesses",
        "",
        *(f"- {weakness}" for weakness in weaknesses),
    ]
    write_atomically(folder / CARD_FILE, ("\n".join(lines) + "\n").encode())
    if facts:
        write_atomically(folder / FACTS_FILE, as_json({**dataclasses.asdict(facts), "weaknesses": list(weaknesses)}))


def _making(facts: Facts | None) -> list[str]:
    """Return what a card says of how a policy was made."""
    if facts is None:
        return ["- nothing is kept of how it was made"]
    return [
        f"- trained by `{facts.command}`",
        f"- code {facts.commit}, seed {facts.seed}, {facts.deals:,} deals in {facts.updates:,} updates, "
        f"{facts.cpu_hours:.1f} CPU hours",
        *(f"- {remark}" for remark in facts.remarks),
    ]


def forget_card(folder: Path) -> None:
    """Remove what is told of the policy that a folder held before."""
    for name in (CARD_FILE, SCORES_FILE, FACTS_FILE):
        (folder / name).unlink(missing_ok=True)


def rewrite_card(folder: Path) -> None:
    """Write a card anew from what is kept beside the policy."""
    if not (folder / FACTS_FILE).exists():
        write_card(folder, None, WEAKNESSES)
        return
    kept = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
    weaknesses = kept.pop("weaknesses")
    write_card(folder, Facts(**{**kept, "remarks": tuple(kept["remarks"])}), weaknesses)
