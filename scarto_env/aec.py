"""Scarto as a PettingZoo AEC environment: it translates names and types and decides nothing.

An action is a card 0..77 in every phase; the dealer's exchange is so many single-card actions.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from scarto_env.batch import REWARDS, Batch, Reward
from scarto_env.cards import NUM_CARDS
from scarto_env.deal import Deal
from scarto_env.match import Match
from scarto_env.notation import Record, position, record_of
from scarto_env.observation import MAX_DEALS, bounds, state_sections
from scarto_env.refusal import refusal
from scarto_env.rules import THIRDS, Rules, as_rules
from scarto_env.state import OVER, cards_of

Illegal = Literal["raise", "terminate", "replace"]
ILLEGAL: Final[tuple[Illegal, ...]] = ("raise", "terminate", "replace")
RENDER_MODES: Final = ("ansi", "rgb_array", "human")

Observation = dict[str, NDArray[Any]]

_VIEWS: Final = frozenset({"_turn", "_phase", "_points", "_seen", "_mask"})


@functools.cache
def _spaces(players: int) -> tuple[spaces.Dict, spaces.Discrete, spaces.Box]:
    """Return observation, action and state space for a number of players; every environment copies them."""
    low, high = bounds(players)
    state_low = np.concatenate([np.full(section.size, section.low) for section in state_sections(players)])
    state_high = np.concatenate([np.full(section.size, section.high) for section in state_sections(players)])
    observation = spaces.Dict(
        {
            "observation": spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32),
            "action_mask": spaces.Box(0, 1, (NUM_CARDS,), np.int8),
        }
    )
    state = spaces.Box(state_low.astype(np.float32), state_high.astype(np.float32), dtype=np.float32)
    return observation, spaces.Discrete(NUM_CARDS), state


class ScartoEnv(AECEnv[str, Observation, int]):
    """A match of Scarto, one deal by default.

    Order of calls and bounds of actions are checked here, so that PettingZoo's wrappers, which would make a step
    ten times slower, are not needed.

    Args:
        rules: preset or ``Rules``.
        deals: deals in an episode.
        target: total at which a match ends, instead of a number of deals.
        max_deals: most deals of a match with a target.
        reward: ``"score"`` the settled score of each deal, to all seats on its last play; ``"trick"`` the same paid
            trick by trick; ``"win"`` n/w - 1 to each of the w winners of the episode, -1 to the others.
        illegal: what an illegal card does: ``"raise"`` an ``IllegalActionError`` and nothing else; ``"terminate"``
            the episode, the offender paying the par to the others in equal parts; ``"replace"`` it by a legal card
            from the bots' generator.  A number outside 0..77 raises in any case.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo's form
        "name": "scarto_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Rules = "scarto",
        deals: int = 1,
        target: int | None = None,
        max_deals: int = MAX_DEALS,
        reward: Reward = "score",
        illegal: Illegal = "raise",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        for name, value, allowed in (
            ("reward", reward, REWARDS),
            ("illegal", illegal, ILLEGAL),
            ("render_mode", render_mode, (None, *RENDER_MODES)),
        ):
            if value not in allowed:
                raise ValueError(f"{name}={value!r} is not allowed: expected one of {', '.join(map(str, allowed))}")
        self.rules = as_rules(rules)
        self.reward: Reward = reward
        self.illegal: Illegal = illegal
        self.render_mode = render_mode
        self.match = Match(self.rules, deals, target, max_deals)
        # A match's winners are known after its last deal only: the batch pays nothing before.
        self.batch = Batch(1, self.rules, reward="score" if reward == "win" else reward, threads=1, redeal=False)
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents = self.possible_agents[:]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_space, self._action_space, self.state_space = copy.deepcopy(_spaces(self.rules.players))
        self._has_reset = False
        self._attach()

    def _attach(self) -> None:
        """Make the views of the one game that are read at every step."""
        fields = self.batch.games.view(np.ndarray)
        self._turn, self._phase, self._points = fields["turn"], fields["phase"], fields["points"]
        self._seen, self._mask = self.batch.observation[0], self.batch.action_mask[0]

    def __getstate__(self) -> dict[str, Any]:
        """Keep everything but the views, so that copies and pickles hold the game in progress."""
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes and make the views anew."""
        self.__dict__.update(state)
        self._attach()

    def clone(self) -> ScartoEnv:
        """Return an independent copy of the environment with the game in progress, much faster than ``deepcopy``.

        The spaces are shared: they hold no part of the game.
        """
        other = ScartoEnv.__new__(ScartoEnv)
        other.__dict__ = self.__dict__.copy()
        other.batch = self.batch.clone()
        other._attach()
        other.match = self.match.clone()
        other.agents = self.agents.copy()
        if self._has_reset:
            for name in ("rewards", "terminations", "truncations", "_cumulative_rewards"):
                other.__dict__[name] = self.__dict__[name].copy()
            other.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return other

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space, one object for all agents."""
        self._checked_seat(agent)
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space, one object for all agents: a card 0..77."""
        self._checked_seat(agent)
        return self._action_space

    def _checked_seat(self, agent: str) -> int:
        try:
            return self._seat_of[agent]
        except (KeyError, TypeError):
            raise ValueError(f"{agent!r} is no agent: expected one of {', '.join(self.possible_agents)}") from None

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode; without a seed the stream of deals goes on.

        Args:
            seed: whole number >= 0; the deals are those of ``Batch(1, seed=seed)``.
            options: ``{"deal": Deal}`` or ``{"hands": ..., "talon": ..., "dealer": seat}`` for a chosen first deal,
                ``{"record": Record, "ply": number}`` for a position of a record, ``{"dealer": seat}`` for a random
                deal by that dealer; other keys are left alone.

        Raises:
            ValueError: an option is at fault; nothing has been changed.
        """
        options = options or {}
        opened = _opened(options, self.rules)
        self.batch.reset(
            seeds=None if seed is None else [seed], dealer=None if opened is not None else options.get("dealer")
        )
        row = self.batch.games[0]
        if opened is not None:
            stream = row.key, row.deal_number, row.bot_random
            self.batch.games[:] = opened.games
            row.key, row.deal_number, row.bot_random = stream
        row.total[:] = 0
        row.match_deal = 0
        self.batch.refresh()
        self.match.begin()
        # The seed tells the deal only where nothing of it was chosen.
        self._seed = seed if opened is None and options.get("dealer") is None else None
        self._has_reset = True
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._scores = [0.0] * self.rules.players
        self._skip_agent_selection = None  # type: ignore[assignment] # as PettingZoo itself does
        self._rewarded = False
        self._stepped = True
        self._ended = False
        self.infos = {}
        self._select()
        self._tell_all()

    def step(self, action: int | np.integer[Any] | NDArray[Any] | None) -> None:
        """Lay away or play a card for the agent to act; None for an agent whose episode is over.

        Raises:
            IllegalActionError: the card is not legal and ``illegal="raise"``, or it is no card at all.
            TypeError: the action is no whole number.
            gymnasium.error.ResetNeeded: there is no episode.
        """
        if not self._has_reset:
            self._check_episode("step")
        if not self.agents:
            raise gymnasium.error.ResetNeeded("the episode is over and every agent has made its last step: call reset")
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise ValueError(f"{agent}'s episode is over: its only action is None, not {action!r}")
            self._stepped = True
            self._was_dead_step(None)  # type: ignore[arg-type]
            return
        card = self._checked_card(action)
        batch = self.batch
        if not self._mask.item(card):
            if self.illegal == "raise":
                raise refusal(batch.games[0], self.rules, card)
            if self.illegal == "terminate":
                self._end_by_offence(agent)
                return
            card = int(batch.random_actions()[0])
        self._stepped = True
        if self._rewarded:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._rewarded = False
        self._cumulative_rewards[agent] = 0.0
        reward = batch.step_one(card).reward
        if self._phase.item(0) == OVER:
            self._end_deal(reward[0])
        elif self._turn.item(0) == 0:
            if self.reward == "trick":
                self._pay(reward[0].tolist())
            self._select()
            self._tell_all()
        else:
            self.infos[agent] = {**self.infos[agent], "action_mask": np.zeros(NUM_CARDS, np.int8)}
            self._select()
            self._tell_legal()

    def _checked_card(self, action: Any) -> int:
        """Return the action as a card 0..77."""
        try:
            if action is True or action is False:
                raise TypeError
            card = operator.index(action)
        except TypeError:
            raise TypeError(f"action {action!r} is no card: expected a whole number 0..{NUM_CARDS - 1}") from None
        if not 0 <= card < NUM_CARDS:
            raise refusal(self.batch.games[0], self.rules, card)
        return card

    def _check_episode(self, call: str) -> None:
        if not self._has_reset:
            raise gymnasium.error.ResetNeeded(f"call reset before {call}")

    def _select(self) -> None:
        self.agent_selection = self.possible_agents[self.batch.seat.item(0)]

    def _pay(self, rewards: list[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self._rewarded = True
        self._accumulate_rewards()

    def _end_deal(self, reward: NDArray[np.float32]) -> None:
        """Pay the deal, then deal the next one of the match or end the episode (A24)."""
        row = self.batch.games[0]
        settled = row.settled[: self.rules.players]
        self.match.add(settled)
        unit = self.match.unit
        self._scores = [int(score) / unit for score in settled]
        over = self.match.over
        if self.reward == "score":
            self._pay(self._scores)
        elif self.reward == "trick":
            self._pay(reward.tolist())
        elif over:
            self._pay(self.match.win_rewards())
        if over:
            self._end()
            return
        row.total[: self.rules.players] = self.match.totals
        row.match_deal = self.match.num_deals
        self.batch.reset(dealer=(int(row.dealer) + 1) % self.rules.players)
        self._select()
        self._tell_all()

    def _end(self) -> None:
        self._ended = True
        self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._tell_all()
        self._deads_step_first()

    def _end_by_offence(self, agent: str) -> None:
        """End the episode: the offender pays the par, the others share it."""
        par = float(self.rules.par)
        share = par / (self.rules.players - 1)
        self._stepped = True
        self._cumulative_rewards[agent] = 0.0
        self._pay([-par if other == agent else share for other in self.possible_agents])
        self._end()

    def _tell_all(self) -> None:
        """Write fresh infos for all agents: something public has changed."""
        points = self._points[0].tolist()
        unit = self.match.unit
        for agent in self.agents:
            seat = self._seat_of[agent]
            self.infos[agent] = {
                "action_mask": np.zeros(NUM_CARDS, np.int8),
                "points": points[seat] / THIRDS,
                "score": self._scores[seat],
                "total": self.match.totals[seat] / unit,
                "deal": self.match.num_deals,
            }
        if not self._ended:
            self._tell_legal()

    def _tell_legal(self) -> None:
        """Write a fresh info with the legal cards for the agent to act."""
        agent = self.agent_selection
        self.infos[agent] = {**self.infos[agent], "action_mask": self._mask.copy()}

    def observe(self, agent: str) -> Observation:
        """Return what an agent knows, the dead included: fresh arrays ``observation`` and ``action_mask``."""
        if not self._has_reset:
            self._check_episode("observe")
        if agent == self.agent_selection and not self._ended:
            return {"observation": self._seen.astype(np.float32), "action_mask": self._mask.copy()}
        seen = self.batch.observe(0, self._checked_seat(agent))
        return {"observation": seen.astype(np.float32), "action_mask": np.zeros(NUM_CARDS, np.int8)}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, terminated, truncated and info of the selected agent."""
        if not self._has_reset:
            self._check_episode("last")
        if not self.agents:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yield the agent to act until the episode is over; every turn needs a ``step``."""
        self._check_episode("agent_iter")
        return self._turns(max_iter)

    def _turns(self, max_iter: int) -> Iterator[str]:
        while self.agents and max_iter > 0:
            if not self._stepped:
                raise RuntimeError("call step or reset for every agent that agent_iter yields")
            self._stepped = False
            max_iter -= 1
            yield self.agent_selection

    def state(self) -> NDArray[np.float32]:
        """Return the full information for a central critic, [S] float32; valid to the end and after."""
        self._check_episode("state")
        return self.batch.state(0).astype(np.float32)

    @property
    def deal(self) -> Deal:
        """The cards of the deal in progress, before the exchange."""
        self._check_episode("deal")
        return self.batch.deal(0)

    @property
    def piles(self) -> list[frozenset[int]]:
        """Cards each seat has won; the dealer's pile gets the discard when the deal is over (A10, A17)."""
        self._check_episode("piles")
        return [frozenset(cards_of(self.batch.games[0].pile[seat])) for seat in range(self.rules.players)]

    def record(self) -> Record:
        """Return the deal in progress, or the last one, as a record."""
        self._check_episode("record")
        # A seed alone names the first deal of its stream only.
        first = self.batch.games[0].deal_number == 0
        return record_of(self.batch.games[0], self.rules, seed=self._seed if first else None)

    def render(self) -> Any:
        """Return the table as text or pixels, or show it, as ``render_mode`` says."""
        self._check_episode("render")
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode")
            return None
        from scarto_env.render import render_mode

        return render_mode(self.render_mode, self.record())

    def _repr_svg_(self) -> str:
        """Return the table as a picture, for notebooks."""
        from scarto_env.render import render_svg, table_view

        return render_svg(table_view(self.record()))

    def close(self) -> None:
        """Nothing is held open."""

    def __repr__(self) -> str:
        """Return the name and the rules."""
        return f"ScartoEnv(rules={self.rules!r})"


def _opened(options: Mapping[str, Any], rules: Rules) -> Batch | None:
    """Return a game at the position that reset options choose, None when they choose none."""
    if "record" in options:
        record = options["record"]
        if not isinstance(record, Record):
            raise ValueError(f"option record={record!r} is no scarto_env.notation.Record")
        if record.rules != rules:
            raise ValueError("option record: it was played by other rules than this environment's")
        opened = position(record, options.get("ply"))
        if opened.games[0].phase == OVER:
            raise ValueError(f"option ply={options.get('ply')!r}: the deal is over there, nothing is left to play")
        return opened
    if "deal" in options or "hands" in options or "talon" in options:
        deal = Deal.from_options(options)
        deal.check(rules)
        opened = Batch(1, rules, seed=0, threads=1, redeal=False)
        opened.set_deal(0, deal)
        return opened
    return None
