"""Play and watch in a terminal."""

from scarto_env.terminal.person import Person
from scarto_env.terminal.screen import screen_pen
from scarto_env.terminal.sitting import BotPlayer, Player, Quit, Sitting
from scarto_env.terminal.told import told_deal

__all__ = ["BotPlayer", "Person", "Player", "Quit", "Sitting", "screen_pen", "told_deal"]
