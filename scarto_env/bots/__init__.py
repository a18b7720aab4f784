"""Bots: programs that play from observations alone, each usable by name everywhere."""

from scarto_env.bots.base import Bot
from scarto_env.bots.registry import bot_names, make_bot

__all__ = ["Bot", "bot_names", "make_bot"]
