"""ScartoEnv: one seat against bots as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from scarto_env.batch import Reward
from scarto_env.notation import Record, record_of
from scarto_env.rules import Rules
from scarto_env.versus import Illegal, Versus, check_reset, learner_spaces

RENDER_MODES: Final = ("ansi", "rgb_array", "human")

Observation = NDArray[np.float32] | dict[str, NDArray[Any]]


class ScartoEnv(gymnasium.Env[Observation, np.int64]):
    """One deal an episode, the learner in one seat, bots in the others: ``gymnasium.make("Scarto-v0")``.

    An action is a card 0..77.  The reward of a step is all that the learner got until it is to act again.  The
    legal cards are in ``action_masks()`` and ``info["action_mask"]``.  Other entries of ``info``: ``seat``, the
    learner's, and ``score``, its settled score in points once the deal has been played to its end, else 0.

    Args:
        opponents: bot for all other seats, or a list of bots, one a seat, the seat to play after the learner
            first: whatever ``make_bot`` takes.
        seat: the learner's seat; None gives it seat ``seed % players`` and with each next episode the next one.
        rules: preset or ``Rules``.
        reward: ``"score"``, ``"trick"`` or ``"win"``, as of ``Batch``.
        illegal: what an illegal card does: ``"raise"`` an ``IllegalActionError``; ``"terminate"`` the episode,
            for minus the par; ``"replace"`` it by a random legal card.  A number outside 0..77 raises in any case.
        flat: observe the vector alone, else a dict of ``observation`` and ``action_mask``.
        reward_scale: what rewards are multiplied by.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``; the table is shown as the learner sees it.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as the base class declares it
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    def __init__(
        self,
        opponents: Any = "heuristic",
        *,
        seat: int | None = None,
        rules: str | Rules = "scarto",
        reward: Reward = "score",
        illegal: Illegal = "raise",
        flat: bool = True,
        reward_scale: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(
                f"render_mode={render_mode!r} is not allowed: expected None or one of {', '.join(RENDER_MODES)}"
            )
        self.render_mode = render_mode
        self._versus = Versus(
            1, opponents, seat=seat, rules=rules, reward=reward, illegal=illegal, reward_scale=reward_scale
        )
        self.flat = flat
        self.observation_space, self.action_space = learner_spaces(self._versus.rules, flat)
        self._begun = False
        self._seed: int | None = None

    @property
    def rules(self) -> Rules:
        """The rules that are played."""
        return self._versus.rules

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal and play on to the learner's first decision.

        Args:
            seed: starts a stream of deals anew; without it the stream goes on.
            options: ``{"deal": Deal}`` or ``{"hands": ..., "talon": ..., "dealer": seat}`` for a chosen deal,
                ``{"dealer": seat}`` for a random one by that dealer.

        Raises:
            ValueError: an option or the seed is not allowed; nothing has been dealt.
        """
        check_reset(seed, options)
        super().reset(seed=None if seed is None else int(seed))
        vectors = self._empty()
        self._versus.reset(np.ones(1, np.bool_), [seed], options, vectors)
        self._begun = True
        chosen = {"deal", "hands", "talon", "dealer"} & set(options or ())
        self._seed = None if chosen else seed
        if self.render_mode == "human":
            self.render()
        return self._observation(vectors), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a card and play on to the learner's next decision or the end of the deal.

        Args:
            action: card id, a whole number of any kind.

        Raises:
            IllegalActionError: the card is not legal, with ``illegal="raise"``, or the number is no card at all;
                nothing has been played.
            ResetNeeded: no deal has begun, or it is over.
        """
        if not self._begun or self._versus.over[0]:
            raise ResetNeeded("the deal is over" if self._begun else "no deal has begun: call reset first")
        vectors = self._empty()
        card = np.asarray(action)
        if card.size != 1:
            raise ValueError(f"action {action!r} is no card: expected one whole number")
        self._versus.step(card.reshape(1), vectors)
        if self.render_mode == "human":
            self.render()
        return (
            self._observation(vectors),
            float(self._versus.reward[0]),
            bool(self._versus.over[0]),
            False,
            self._info(),
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which cards are legal now, [78] bool, a fresh array; none once the deal is over."""
        mask: NDArray[np.bool_] = self._versus.action_mask()[0].astype(np.bool_)
        return mask

    def record(self) -> Record:
        """Return the deal in progress, or the last one, as a record.

        Raises:
            ResetNeeded: no deal has begun.
        """
        if not self._begun:
            raise ResetNeeded("no deal has begun: call reset first")
        return record_of(self._versus.batch.games[0], self.rules, seed=self._seed)

    def render(self) -> Any:
        """Return the table as text or pixels, or show it, as ``render_mode`` says."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode")
            return None
        from scarto_env.render import render_mode

        return render_mode(self.render_mode, self.record(), viewer=int(self._versus.seat[0]))

    def _empty(self) -> NDArray[np.float32]:
        return np.empty(self._versus.batch.observation.shape, np.float32)

    def _observation(self, vectors: NDArray[np.float32]) -> Observation:
        vector: NDArray[np.float32] = vectors[0]
        return vector if self.flat else {"observation": vector, "action_mask": self._versus.action_mask()[0]}

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._versus.action_mask()[0],
            "seat": int(self._versus.seat[0]),
            "score": float(self._versus.score()[0]),
        }
