"""Pictures of a recorded deal: text, SVG, pixels, and a page; all drawn from one view, all pure."""

from scarto_env.render.modes import render_mode
from scarto_env.render.text import render_text
from scarto_env.render.view import Count, SeatView, TableView, facts, table_view, table_views

__all__ = ["Count", "SeatView", "TableView", "facts", "render_mode", "render_text", "table_view", "table_views"]
