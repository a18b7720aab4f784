"""Scarto as a game of OpenSpiel: importing this module registers ``"scarto"``.

    import pyspiel
    import scarto_env.adapters.open_spiel

    game = pyspiel.load_game("scarto(rules=piccolo)")

A deal is a chance node for the dealer, then one for each card.  It is a game in Python: OpenSpiel's C++ search
bots do not run on it, those in Python do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyspiel
from numpy.typing import NDArray

from scarto_env.adapters.imagination import Imagination
from scarto_env.batch import Batch
from scarto_env.cards import NUM_CARDS, card_code
from scarto_env.deal import Deal
from scarto_env.observation import Section, offsets, sections
from scarto_env.rules import ULTIMO_POINTS, Rules, as_rules, deck_cards
from scarto_env.state import DISCARD, OVER, SCORE_UNITS, cards_of

NAME: Final = "scarto"

_TYPE: Final = pyspiel.GameType(
    short_name=NAME,
    long_name="Scarto",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=3,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification={"rules": "scarto"},
)

_PRIVATE: Final = ("hand", "talon", "discard")
_REMEMBERED: Final = ("played", "void", "trumps_lacked", "trick_of")
"""Sections that only memory gives: without perfect recall they are left out."""
_MATCH: Final = ("total", "total_carry", "total_part", "deal")
"""Sections that are zero, as a game is one deal."""


def _game_info(rules: Rules) -> pyspiel.GameInfo:
    total = rules.total_points + (0 if rules.ultimo == "off" else ULTIMO_POINTS)
    most = total * (rules.players - 1) / rules.players
    return pyspiel.GameInfo(
        num_distinct_actions=NUM_CARDS,
        max_chance_outcomes=len(deck_cards(rules)),
        num_players=rules.players,
        min_utility=-most if rules.settlement == "lowest_pays" else -total / rules.players,
        max_utility=most,
        utility_sum=0.0,
        max_game_length=rules.num_decisions,
    )


class Table:
    """What all states of a game share.

    States hold this and not the game: OpenSpiel may drop the Python part of a game while its states live.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.imagination = Imagination(rules)
        self.deck = deck_cards(rules)
        self.blank = Batch(1, rules, seed=0, threads=1, redeal=False)
        """Copied for every deal, which is faster than making one."""


class ScartoGame(pyspiel.Game):
    """The game; its one parameter is ``rules``, the name of a preset."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        rules = as_rules(params.get("rules", "scarto"))
        super().__init__(_TYPE, _game_info(rules), params)
        self.table = Table(rules)

    def new_initial_state(self) -> ScartoState:
        """Return a state in which nothing has been dealt."""
        return ScartoState(self, self.table)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ScartoObserver:
        """Return an observer; without a type one without perfect recall, as OpenSpiel's own games do."""
        if params:
            raise ValueError(f"the observer takes no parameters, not {params}")
        return ScartoObserver(self.table.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))

    def max_chance_nodes_in_history(self) -> int:
        """Return the number of chance nodes: the dealer, then every card."""
        return 1 + len(self.table.deck)


class Course:
    """What has happened: dealer, cards dealt one by one, the game itself, cards laid away and played.

    OpenSpiel clones a state by ``deepcopy`` of its attributes: here that copies no more than it must.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.dealer = -1
        self.dealt: list[int] = []
        self.batch: Batch | None = None
        self.laid_away: list[int] = []
        self.played: list[int] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Course:
        """Return an independent copy at the same table."""
        other = Course.__new__(Course)
        other.table, other.dealer = self.table, self.dealer
        other.dealt, other.laid_away, other.played = self.dealt.copy(), self.laid_away.copy(), self.played.copy()
        other.batch = self.batch and self.batch.clone()
        return other

    def deal_card(self, card: int) -> None:
        """Deal a card: forehand's hand comes first, the dealer's next to last, the talon last."""
        self.dealt.append(card)
        if len(self.dealt) == len(self.table.deck):
            self.batch = self.table.blank.clone()
            self.batch.set_deal(0, self._deal())

    def _deal(self) -> Deal:
        rules = self.table.rules
        size = rules.hand_size
        hands = [self.dealt[start : start + size] for start in range(0, rules.players * size, size)]
        # The first hand is that of the seat after the dealer.
        by_seat = tuple(tuple(hands[(seat - self.dealer - 1) % rules.players]) for seat in range(rules.players))
        return Deal(by_seat, tuple(self.dealt[rules.players * size :]), self.dealer)

    @property
    def row(self) -> Any:
        """The game's row."""
        return self.batch.games[0] if self.batch else None


class ScartoState(pyspiel.State):
    """A position."""

    def __init__(self, game: pyspiel.Game, table: Table) -> None:
        super().__init__(game)
        self.course = Course(table)

    def current_player(self) -> int:
        """Return the seat to act, or OpenSpiel's number for chance or the end."""
        batch = self.course.batch
        if batch is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if batch.games.phase[0] == OVER else int(batch.seat[0])

    def is_terminal(self) -> bool:
        """Return whether the deal is over."""
        return bool(self.course.batch is not None and self.course.batch.games.phase[0] == OVER)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return who may deal (A7), or which card may be dealt next (A6), with probabilities."""
        course = self.course
        if course.dealer < 0:
            players = course.table.rules.players
            return [(seat, 1 / players) for seat in range(players)]
        left = sorted(set(course.table.deck) - set(course.dealt))
        return [(card, 1 / len(left)) for card in left]

    def _legal_actions(self, player: int) -> list[int]:
        batch = self.course.batch
        if batch is None or player != batch.seat[0]:
            return []
        return [int(card) for card in np.flatnonzero(batch.action_mask[0])]

    def _apply_action(self, action: int) -> None:
        course = self.course
        if course.batch is None:
            if course.dealer < 0:
                course.dealer = int(action)
            else:
                course.deal_card(int(action))
            return
        laying = course.row.phase == DISCARD
        course.batch.step_one(int(action))
        (course.laid_away if laying else course.played).append(int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            # While OpenSpiel lists a chance node's actions, a small number may be either.
            return f"dealer {action}" if self.course.dealer < 0 else f"deal {card_code(action)}"
        laying = self.course.batch is not None and self.course.row.phase == DISCARD
        return f"lay away {card_code(action)}" if laying else card_code(action)

    def returns(self) -> list[float]:
        """Return the settled score of every seat, zeros before the end (A21, A22)."""
        course = self.course
        players = course.table.rules.players
        if not self.is_terminal():
            return [0.0] * players
        return [int(score) / (SCORE_UNITS * players) for score in course.row.settled[:players]]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> ScartoState:
        """Return a state that ``player`` cannot tell from this one, all such deals being equally likely."""
        course = self.course
        if course.batch is None:
            raise ValueError("nothing can be imagined before the cards are dealt")
        world = course.table.imagination.draw(course.batch, player, sampler)
        state = ScartoState(self.get_game(), course.table)
        state.apply_action(world.deal.dealer)
        players = course.table.rules.players
        for turn in range(1, players + 1):
            for card in world.deal.hands[(world.deal.dealer + turn) % players]:
                state.apply_action(card)
        for card in world.deal.talon:
            state.apply_action(card)
        for number in range(len(course.laid_away)):
            if player == course.dealer:
                card = course.laid_away[number]
            elif world.discard:
                card = world.discard[number]
            else:
                legal = state.legal_actions()
                card = legal[int(sampler() * len(legal))]
            state.apply_action(card)
        for card in course.played:
            state.apply_action(card)
        return state

    def __str__(self) -> str:
        """Return everything that has happened."""
        course = self.course
        text = f"dealer {course.dealer}" if course.dealer >= 0 else "before the deal"
        if course.batch is None:
            return f"{text}, dealt {_codes(course.dealt)}"
        hands = [_codes(cards_of(hand)) for hand in course.row.hand[: course.table.rules.players]]
        held = "; ".join(f"hand {seat} {hand}" for seat, hand in enumerate(hands))
        return f"{text}; {held}; laid away {_codes(course.laid_away)}; played {_codes(course.played)}"


class ScartoObserver:
    """What a seat may know, as OpenSpiel asks for it: ``tensor``, ``dict`` of its parts, and a string.

    The parts are the sections of ``scarto_env.observation`` but for those of a match.

    Args:
        rules: what is played.
        kind: with perfect recall an information state, else what lies open now; with or without public and
            the seat's own private information.

    Raises:
        ValueError: the private information of all players is asked for.
    """

    def __init__(self, rules: Rules, kind: Any) -> None:
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError("an observation holds the private information of one player at most")
        self.rules = rules
        self.private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self.public, self.recalls = kind.public_info, kind.perfect_recall
        chosen = [section for section in sections(rules.players) if self._shows(section)]
        starts = offsets(rules.players)
        places = [np.arange(starts[section.name], starts[section.name] + section.size) for section in chosen]
        self._places = np.concatenate(places) if places else np.empty(0, np.int64)
        self.tensor: NDArray[np.float32] = np.zeros(len(self._places), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        start = 0
        for section in chosen:
            self.dict[section.name] = self.tensor[start : start + section.size].reshape(section.shape)
            start += section.size

    def _shows(self, section: Section) -> bool:
        if section.name in _MATCH:
            return False
        if section.name in _PRIVATE:
            return bool(self.private)
        return bool(self.public and (self.recalls or section.name not in _REMEMBERED))

    def set_from(self, state: ScartoState, player: int) -> None:
        """Write what ``player`` sees into ``tensor``: zeros while the cards are dealt."""
        batch = state.course.batch
        self.tensor[:] = 0 if batch is None else batch.observe(0, player)[self._places]

    def string_from(self, state: ScartoState, player: int) -> str:
        """Return what ``player`` sees as text."""
        course = state.course
        parts = [f"seat {player}"] if self.private else []
        if self.public and course.dealer >= 0:
            parts.append(f"dealer {course.dealer}")
        if course.batch is None:
            return "; ".join(parts)
        row = course.row
        if self.private:
            parts.append(f"hand {_codes(cards_of(row.hand[player]))}")
            if player == course.dealer:
                parts.append(f"talon {_codes(cards_of(row.talon))}, laid away {_codes(course.laid_away)}")
        if self.public:
            players = self.rules.players
            shown = course.played
            if not self.recalls:
                points = [f"{points}/3" for points in row.points[:players]] if row.phase != OVER else []
                parts.append(f"piles {' '.join(points)}, leader {row.leader}")
                shown = shown[len(shown) - int(row.turn) :]
            parts.append(f"played {len(course.played)}: {_codes(shown)}")
            parts.append("laying away" if row.phase == DISCARD else "")
        return "; ".join(parts)


def _codes(cards: list[int]) -> str:
    return " ".join(card_code(card) for card in cards)


if NAME not in pyspiel.registered_names():
    pyspiel.register_game(_TYPE, ScartoGame)
