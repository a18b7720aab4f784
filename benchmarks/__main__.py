"""Run product and peers side by side: ``python -m benchmarks``."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import peers
from benchmarks.accounting import account
from benchmarks.report import account_table, environment, ratio_table, results, speed_table
from scarto_env import bench
from scarto_env.bench import Speed, Task
from scarto_env.rules import as_rules


def alternate(tasks: Sequence[Task], seconds: float, repeats: int) -> dict[str, Speed]:
    """Measure every task once a repeat, there and back again, so that a slow spell meets all alike."""
    works = {}
    for task in tasks:
        works[task.name] = task.make()
        works[task.name]()
        print(f"ready: {task.name}", file=sys.stderr)
    speeds = {task.name: Speed(task.name, task.unit, []) for task in tasks}
    for repeat in range(repeats):
        print(f"repeat {repeat + 1} of {repeats}", file=sys.stderr)
        for task in tasks if repeat % 2 == 0 else reversed(tasks):
            speeds[task.name].speeds.append(bench.speed(works[task.name], seconds, task.clock))
    return speeds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the JSON file; 1 where a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rules", default="scarto", help="preset to play (default: scarto)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of one measurement (default: 0.5)")
    parser.add_argument("--repeats", type=int, default=7, help="measurements of each task (default: 7)")
    parser.add_argument("--only", default="", help="tasks with this text in their names, in any case")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds < math.inf or options.repeats < 1:
        parser.error("--seconds must be positive and --repeats at least 1")
    if options.output and not options.output.parent.is_dir():
        parser.error(f"--output: there is no folder {options.output.parent}")
    try:
        rules = as_rules(options.rules)
    except ValueError as error:
        parser.error(str(error))
    tasks = [task for task in (*bench.tasks(rules), *peers.tasks()) if options.only.lower() in task.name.lower()]
    if not tasks:
        parser.error(f"no task has {options.only!r} in its name")
    speeds = alternate(tasks, options.seconds, options.repeats)
    ratios, parts = results(speeds), account(rules)
    print("\n\n".join([speed_table(speeds), ratio_table(ratios), account_table(parts)]))
    if options.output:
        report = {
            "environment": environment(),
            "rules": options.rules,
            "seconds": options.seconds,
            "repeats": options.repeats,
            "speeds": [{**speed._asdict(), "median": speed.median} for speed in speeds.values()],
            "ratios": ratios,
            "step": parts,
        }
        options.output.write_text(json.dumps(report, indent=1) + "\n")
    return int(any(row["met"] is False for row in ratios))


if __name__ == "__main__":
    sys.exit(main())
