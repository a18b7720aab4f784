"""Draw the pictures of the documentation anew: ``python docs/pictures.py``; needs the extras render and train."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl  # noqa: TID253 - this script is run by hand
from generate import growth_rows
from matplotlib import pyplot as plt  # noqa: TID253
from PIL import Image  # noqa: TID253

from scarto_env import Batch, make_bot
from scarto_env.notation import Record, record_of
from scarto_env.render import render_sheet, render_svg, svg_to_png, table_view, table_views

FOLDER = Path(__file__).parent / "images"
BOTS = ("heuristic", "greedy", "random")
SEED = 7
PLY = 37
FRAME_COLOURS = 64
FRAME_WIDTH = 600
FRAME_MILLISECONDS = 900
LAST_MILLISECONDS = 5000


def played() -> Record:
    """Return a deal between three bots."""
    bots = [make_bot(name) for name in BOTS]
    batch = Batch(1, seed=SEED, redeal=False)
    for _ in range(batch.rules.num_decisions):
        batch.step(bots[int(batch.seat[0])].act(batch.observation, batch.action_mask))
    return record_of(batch.games[0], batch.rules, seats=BOTS, seed=SEED)


def image(svg: str, width: int, colours: int = 256, palette: Image.Image | None = None) -> Image.Image:
    """Return a picture of so many colours; of a given palette's, so that frames differ only where they must."""
    picture = Image.open(io.BytesIO(svg_to_png(svg, width))).convert("RGB")
    return picture.quantize(colours, palette=palette, dither=Image.Dither.NONE)


def draw_growth(path: Path) -> None:
    """Write a picture of what more worlds bring the search."""
    mpl.use("Agg")
    rows = growth_rows()
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    margins = [row.points_margin for row in rows]
    axes.errorbar([row.worlds for row in rows], [row.points for row in rows], margins, marker="o", capsize=3)
    axes.set_xscale("log")
    axes.set_xticks([row.worlds for row in rows], [f"{row.worlds:,}" for row in rows], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("worlds")
    axes.set_ylabel("points a deal against\ntwo heuristic, 95 % interval")
    axes.grid(axis="y", alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Write the table, the deck, the animation of a deal and the growth of the search."""
    FOLDER.mkdir(exist_ok=True)
    draw_growth(FOLDER / "growth.png")
    record = played()
    image(render_svg(table_view(record, PLY, 0)), 1000).save(FOLDER / "table.png", optimize=True)
    image(render_sheet(), 1100).save(FOLDER / "cards.png", optimize=True)
    # A frame a trick, when its last card lies on the table, and the count.
    shown = [view for view in table_views(record) if view.phase == "over" or (view.tricks and not view.trick)]
    palette = image(render_sheet(), FRAME_WIDTH, FRAME_COLOURS)
    frames = [image(render_svg(view), FRAME_WIDTH, palette=palette) for view in shown]
    times = [FRAME_MILLISECONDS] * (len(frames) - 1) + [LAST_MILLISECONDS]
    frames[0].save(FOLDER / "deal.gif", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    main()
