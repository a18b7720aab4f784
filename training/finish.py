"""The end of a run: the arena's table, the learning curve, sample deals, the model card."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any, Final

from scarto_env import Batch
from scarto_env.arena import deal_set
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.registry import POLICY_FOLDER
from scarto_env.notation import record_of, save_records
from scarto_env.rules import as_rules
from training.card import WEAKNESSES, Facts, measure, table, write_card
from training.checkpoint import STATE_FILE, RunError, read_facts
from training.config import Config
from training.report import EVALUATIONS_FILE

CURVE_FILE: Final = "curve.png"
SAMPLES_FILE: Final = "deals.stn"
RUN_FILE: Final = "run.json"
NUM_SAMPLES: Final = 3
FINAL_DEALS: Final = "test-1000"


def finish(config: Config, folder: Path, deals: str | int = FINAL_DEALS) -> None:
    """Measure the policy of a finished run, tell the results and write what goes with it."""
    policy = folder / POLICY_FOLDER
    sys.stderr.write(f"measuring the policy on {deals} deals\n")
    results = measure(policy, config.yardsticks, deals, sampled=False)
    sys.stdout.write("\n".join(table(results)) + "\n")
    draw_curve(folder)
    save_samples(config, folder)
    write_card(policy, run_facts(folder), WEAKNESSES)
    sys.stdout.write(f"policy and card: {policy}\nlearning curve: {folder / CURVE_FILE}\n"
                     f"sample deals: {folder / SAMPLES_FILE}\n")  # fmt: skip


def read_circumstances(folder: Path) -> dict[str, Any]:
    """Return what a run's folder tells of where it was made.

    Raises:
        RunError: the file is damaged.
    """
    path = folder / RUN_FILE
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not isinstance(run, dict) or not {"command", "commit"} <= run.keys():
        raise RunError(f"{path} is damaged: expected the run's command and commit")
    return run


def run_facts(folder: Path) -> Facts:
    """Return how a run's policy was made.

    Raises:
        RunError: what tells of it is damaged.
    """
    facts = read_facts(folder / STATE_FILE)
    config, updates = facts["config"], facts["updates"]
    run = read_circumstances(folder)
    return Facts(
        command=run["command"],
        commit=run["commit"],
        seed=config["seed"],
        deals=updates * config["workers"] * config["deals_at_once"],
        updates=updates,
        cpu_hours=facts["progress"]["cpu_seconds"] / 3600,
    )


def draw_curve(folder: Path) -> None:
    """Plot the evaluations of a run."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with (folder / EVALUATIONS_FILE).open(newline="", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    names = [name.removesuffix("_margin") for name in rows[0] if name.endswith("_margin")] if rows else []
    for name in names:
        measured = [row for row in rows if row[name]]  # a yardstick may have come later, or left
        deals = [float(row["deals"]) for row in measured]
        points = [float(row[name]) for row in measured]
        margins = [float(row[f"{name}_margin"]) for row in measured]
        axes.errorbar(deals, points, yerr=margins, marker="o", markersize=3, capsize=2, label=f"two {name}")
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("deals played")
    axes.set_ylabel("points a deal, 95 % interval")
    axes.set_title("One seat of the policy against")
    if names:
        figure.legend(loc="outside right upper")  # beside the curves, not over them
    figure.savefig(folder / CURVE_FILE, dpi=120)
    plt.close(figure)


def save_samples(config: Config, folder: Path) -> None:
    """Let the policy play some deals of the arena with itself and keep the records."""
    rules = as_rules(config.rules)
    bot = PolicyBot(folder / POLICY_FOLDER, rules)
    numbers = deal_set("smoke-100", rules)
    records = []
    for number in range(NUM_SAMPLES):
        batch = Batch(1, rules, seed=numbers.batch_seed(number), redeal=False)
        for _ in range(rules.num_decisions):
            batch.step(bot.act(batch.observation, batch.action_mask))
        records.append(record_of(batch.games[0], rules))
    save_records(folder / SAMPLES_FILE, records)
