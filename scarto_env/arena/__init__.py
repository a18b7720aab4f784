"""The arena: which bot is better, by how much, and whether the deals can tell."""

from scarto_env.arena.deals import NAMED_SETS, DealSet, deal_set
from scarto_env.arena.duels import Duel, Side, duel
from scarto_env.arena.estimate import Estimate

__all__ = ["NAMED_SETS", "DealSet", "Duel", "Estimate", "Side", "deal_set", "duel"]
