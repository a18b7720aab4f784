"""Pictures of a recorded deal: text, SVG, pixels, and a page; all drawn from one view, all pure."""

from scarto_env.render.marks import THEMES, Theme
from scarto_env.render.modes import render_mode
from scarto_env.render.page import Advice, render_page
from scarto_env.render.pixels import render_rgb, svg_to_png
from scarto_env.render.sheet import render_sheet
from scarto_env.render.table import render_svg
from scarto_env.render.text import render_ansi
from scarto_env.render.view import Count, SeatView, TableView, facts, table_view, table_views

__all__ = [
    "THEMES",
    "Advice",
    "Count",
    "SeatView",
    "TableView",
    "Theme",
    "facts",
    "render_ansi",
    "render_mode",
    "render_page",
    "render_rgb",
    "render_sheet",
    "render_svg",
    "svg_to_png",
    "table_view",
    "table_views",
]
