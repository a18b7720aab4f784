"""The arena: which bot is better, by how much, and whether the deals can tell."""

from scarto_env.arena.deals import NAMED_SETS, DealSet, deal_set
from scarto_env.arena.duels import Duel, Side, duel
from scarto_env.arena.estimate import Estimate
from scarto_env.arena.evaluation import Evaluation, Mixed, evaluate
from scarto_env.arena.page import to_html
from scarto_env.arena.tables import to_markdown, to_text

__all__ = [
    "NAMED_SETS",
    "DealSet",
    "Duel",
    "Estimate",
    "Evaluation",
    "Mixed",
    "Side",
    "deal_set",
    "duel",
    "evaluate",
    "to_html",
    "to_markdown",
    "to_text",
]
