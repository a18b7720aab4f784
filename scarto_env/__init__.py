"""Scarto, the Piedmontese tarot game, as an environment for reinforcement learning."""

from scarto_env.batch import Batch, Step
from scarto_env.bots import bot_names, make_bot
from scarto_env.deal import Deal
from scarto_env.refusal import IllegalActionError
from scarto_env.rules import PRESETS, Rules

__all__ = ["PRESETS", "Batch", "Deal", "IllegalActionError", "Rules", "Step", "bot_names", "make_bot"]
__version__ = "0.1.0"
