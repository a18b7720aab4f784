"""What a run tells while it goes on: a line on stderr, metrics.csv, evaluations.csv, TensorBoard if installed."""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, Final

from scarto_env.arena import Duel, duel
from scarto_env.arena.table import done_here
from scarto_env.bots.policy import PolicyBot
from scarto_env.bots.registry import POLICY_FOLDER
from training.checkpoint import actor_layers, save_policy, save_state, write_atomically
from training.config import Config
from training.learner import Learner

BOARD_FOLDER: Final = "tensorboard"
METRICS_FILE: Final = "metrics.csv"
EVALUATIONS_FILE: Final = "evaluations.csv"
EVALUATION_SEED: Final = 1
"""Of the deals that every evaluation of a run plays: the arena's, never trained on."""
Row = dict[str, float | int | str]


class Reporter:
    """Keeps the records of a run and shows how it goes.

    Args:
        config: the run.
        folder: of the run.
        learner: where the run stands.
        progress: what was noted with the state that the run goes on from.
        cpu_seconds: returns those of all processes of the run since they began.
        executor: evaluates while the run goes on; without, the run waits.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        learner: Learner,
        progress: dict[str, Any],
        cpu_seconds: Callable[[], float] = time.process_time,
        executor: Executor | None = None,
    ) -> None:
        self.config, self.folder = config, folder
        self.seconds = float(progress.get("seconds", 0.0))
        self._cpu_seconds, self._executor = cpu_seconds, executor
        self._cpu_before = float(progress.get("cpu_seconds", 0.0)) - cpu_seconds()
        self._evaluating: list[tuple[Row, dict[str, Future[Duel]]]] = []
        self.metrics = _kept(folder / METRICS_FILE, learner.updates)
        self.evaluations = _kept(folder / EVALUATIONS_FILE, learner.updates)
        self._began = self._since = time.perf_counter()
        self._first = learner.updates
        self._scores = ""
        self._board = _tensorboard(folder)
        self._line = sys.stderr.isatty()

    def note(self, learner: Learner, found: dict[str, float], num_decisions: float) -> None:
        """Write down an update, ``num_decisions`` of each worker; evaluate when that is due."""
        now = time.perf_counter()
        elapsed, self._since = now - self._since, now
        self.seconds += elapsed
        deals = learner.updates * self.config.deals_an_update
        speed = self.config.deals_an_update / elapsed
        decisions = num_decisions * self.config.workers / elapsed
        row: Row = {"update": learner.updates, "deals": deals, **found, "seconds": self.seconds,
                    "deals_a_second": speed, "decisions_a_second": decisions}  # fmt: skip
        self.metrics.append(row)
        if self._board:
            for name, value in row.items():
                self._board.add_scalar(f"train/{name}", value, deals)
        self._show(learner, found, speed)
        if learner.updates % self.config.evaluate_every == 0 or learner.updates == self.config.updates:
            self._evaluate(learner, deals)
        self._collect(wait=False)
        self._since = time.perf_counter()

    def _show(self, learner: Learner, found: dict[str, float], speed: float) -> None:
        done = learner.updates - self._first
        left = (time.perf_counter() - self._began) / done * (self.config.updates - learner.updates)
        line = (
            f"{learner.updates}/{self.config.updates} updates, {speed:.0f} deals/s, entropy {found['entropy']:.2f}, "
            f"KL {found['kl']:.4f}, value fit {found['explained_variance']:.2f}, {_clock(left)} left{self._scores}"
        )
        if self._line:
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()
        elif done % self.config.save_every == 0:
            sys.stderr.write(f"{line}\n")

    def _evaluate(self, learner: Learner, deals: int) -> None:
        """Let the averaged policy play against each yardstick."""
        bot = PolicyBot.of(actor_layers(learner.averaged), learner.rules)
        submit = self._executor.submit if self._executor else done_here
        duels = {name: submit(evaluate, bot, name, self.config) for name in self.config.yardsticks}
        self._evaluating.append(({"update": learner.updates, "deals": deals, "seconds": self.seconds}, duels))

    def _collect(self, wait: bool) -> None:
        """Note the evaluations that are done, in their order; or wait for all."""
        while self._evaluating and (wait or all(duel.done() for duel in self._evaluating[0][1].values())):
            row, duels = self._evaluating.pop(0)
            shown = []
            for name, asked in duels.items():
                points = asked.result().alone.points
                row |= {name: points.mean, f"{name}_margin": points.margin}
                shown.append(f"{name} {points}")
                if self._board:
                    self._board.add_scalar(f"score/{name}", points.mean, row["deals"])
            self.evaluations.append(row)
            self._scores = "; " + ", ".join(shown)
            if not self._line:
                sys.stderr.write(f"after {row['deals']} deals: {', '.join(shown)}\n")

    def save_is_due(self, learner: Learner) -> bool:
        """Return whether to save now."""
        return learner.updates % self.config.save_every == 0 or learner.updates == self.config.updates

    def save(self, learner: Learner) -> None:
        """Write state, policy and records: the state last, so that it never knows more than the records.

        Raises:
            RunError: something could not be written.
        """
        self._collect(wait=True)
        save_policy(self.folder / POLICY_FOLDER, learner.averaged, self.config.rules)
        for name, rows in ((METRICS_FILE, self.metrics), (EVALUATIONS_FILE, self.evaluations)):
            write_atomically(self.folder / name, _as_csv(rows))
        cpu_seconds = self._cpu_before + self._cpu_seconds()
        save_state(self.folder, learner, {"seconds": self.seconds, "cpu_seconds": cpu_seconds})

    def finish(self, learner: Learner) -> None:
        """Close the line and the board."""
        if self._line:
            sys.stderr.write("\n")
        if self._board:
            self._board.close()
        self.save(learner)


def evaluate(bot: PolicyBot, yardstick: str, config: Config) -> Duel:
    """Return how a policy fares against a yardstick on the run's evaluation deals."""
    return duel(bot, yardstick, config.rules, config.evaluate_deals, EVALUATION_SEED)


def _kept(path: Path, updates: int) -> list[Row]:
    """Return the rows of a CSV file up to an update; what came after the last save is played again."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        # A yardstick that came later has no numbers in the rows before.
        rows: list[Row] = [{name: _number(text) for name, text in row.items() if text} for row in csv.DictReader(file)]
    return [row for row in rows if float(row["update"]) <= updates]


def _number(text: str) -> float | int:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _as_csv(rows: list[Row]) -> bytes:
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue().encode()


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d} h" if minutes >= 60 else f"{seconds / 60:.1f} min"  # noqa: PLR2004


def _tensorboard(folder: Path) -> Any:
    """Return a writer of TensorBoard events, None where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / BOARD_FOLDER))
