"""Scarto, the Piedmontese tarot game, as an environment for reinforcement learning."""

import gymnasium
import pettingzoo

from scarto_env.batch import Batch, Step
from scarto_env.bots import bot_names, make_bot
from scarto_env.deal import Deal
from scarto_env.refusal import IllegalActionError
from scarto_env.rules import PRESETS, Rules

__all__ = ["PRESETS", "Batch", "Deal", "IllegalActionError", "Rules", "Step", "bot_names", "make_bot"]
__version__ = "0.1.0"


def _register() -> None:
    """Make the environments known to Gymnasium and, where it has a registry (1.27), to PettingZoo."""
    if "Scarto-v0" not in gymnasium.registry:
        gymnasium.register(
            "Scarto-v0",
            entry_point="scarto_env.single:ScartoEnv",
            vector_entry_point="scarto_env.vector:ScartoVectorEnv",
        )
    if hasattr(pettingzoo, "register"):
        if "scarto-v0" not in pettingzoo.aec_registry:
            pettingzoo.register("aec", "scarto-v0", "scarto_env.scarto_v0:env")
        if "scarto-v0" not in pettingzoo.parallel_registry:
            pettingzoo.register("parallel", "scarto-v0", "scarto_env.scarto_v0:parallel_env")


_register()
