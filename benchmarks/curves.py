"""Learning curves of several kinds of runs beside each other.

``python -m benchmarks.curves "one machine=runs/m0,runs/m1" "Ray=runs/r0,runs/r1" --out curves.png``
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

Curve = list[tuple[float, float, float]]
"""Deals, points a deal, half the width of their interval."""


def curve(folder: Path, yardstick: str) -> Curve:
    """Return what a run's evaluations say."""
    with (folder / "evaluations.csv").open(newline="", encoding="utf-8") as file:
        return [
            (float(row["deals"]), float(row[yardstick]), float(row[f"{yardstick}_margin"]))
            for row in csv.DictReader(file)
        ]


def table(curves: Mapping[str, Sequence[Curve]]) -> str:
    """Return each run's points at each evaluation."""
    names = [f"{kind}, seed {seed}" for kind, runs in curves.items() for seed in range(len(runs))]
    columns = [run for runs in curves.values() for run in runs]
    lines = ["| deals | " + " | ".join(names) + " |", "|---:|" + "---:|" * len(names)]
    for row in zip(*columns, strict=True):
        cells = (f"{points:+.2f} ± {margin:.2f}" for _, points, margin in row)
        lines.append(f"| {row[0][0]:,.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(curves: Mapping[str, Sequence[Curve]], yardstick: str, out: Path) -> None:
    """Write a picture: a colour a kind, a line a seed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for colour, (kind, runs) in enumerate(curves.items()):
        for seed, run in enumerate(runs):
            deals, points, margins = zip(*run, strict=True)
            axes.errorbar(deals, points, yerr=margins, marker="o", markersize=3, capsize=2, color=f"C{colour}",
                          linestyle=("-", "--", ":")[seed % 3], label=f"{kind}, seed {seed}")  # fmt: skip
    axes.set_xlabel("deals played")
    axes.set_ylabel(f"points a deal against two {yardstick}, 95 % interval")
    axes.legend()
    figure.savefig(out, dpi=100)


def main() -> None:
    """Print the table and write the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves", description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="KIND=FOLDER,FOLDER", help="a kind of runs, a folder a seed")
    parser.add_argument("--yardstick", default="random", help="bot of the evaluations (default: random)")
    parser.add_argument("--out", type=Path, help="picture to write")
    options = parser.parse_args()
    curves = {
        kind: [curve(Path(folder), options.yardstick) for folder in folders.split(",")]
        for kind, _, folders in (words.partition("=") for words in options.runs)
    }
    print(table(curves))
    if options.out:
        draw(curves, options.yardstick, options.out)


if __name__ == "__main__":
    main()
