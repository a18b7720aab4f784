"""ScartoVectorEnv: many learners against bots over one batch, as a Gymnasium vector environment."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from scarto_env.batch import Batch, Reward
from scarto_env.notation import Record, record_of
from scarto_env.rules import Rules
from scarto_env.versus import Illegal, Versus, check_reset, learner_spaces

Observations = NDArray[np.float32] | dict[str, NDArray[Any]]
Infos = dict[str, Any]
_MOST_HANDED_OUT: Final = 3
"""Observations remembered: the caller mostly holds the last one, or one more, while the next is made."""


def _references(arrays: Iterable[NDArray[Any]]) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield arrays, each with the number of references to it."""
    for array in arrays:
        yield array, sys.getrefcount(array)


_UNHELD: Final = next(_references(deque([np.zeros(0)])))[1]
"""References to an array that a queue alone holds; how many the question adds is the interpreter's affair."""


class ScartoVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """``ScartoEnv`` many times over one batch: ``gymnasium.make_vec("Scarto-v0", num_envs=...)``.

    Step by step the same as ``SyncVectorEnv`` over ``ScartoEnv``: environment i of a seed is the single one
    of seed + i.

    Args:
        num_envs: number of environments.
        opponents: as of ``ScartoEnv``.
        seat: as of ``ScartoEnv``.
        rules: as of ``ScartoEnv``.
        reward: as of ``ScartoEnv``.
        illegal: as of ``ScartoEnv``; a raised error names the environment, and none has moved.
        flat: as of ``ScartoEnv``.
        reward_scale: as of ``ScartoEnv``.
        autoreset_mode: what follows an end, by Gymnasium's rules: ``NEXT_STEP`` deals at the next step, whose
            action is ignored; ``SAME_STEP`` at once, the end being in ``final_obs`` and ``final_info``;
            ``DISABLED`` leaves it to ``reset(options={"reset_mask": ...})``.
        copy: return fresh observations; else the same memory, overwritten by the next call.
        threads: cores that step games; None takes what the size is worth.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Any = "heuristic",
        *,
        seat: int | None = None,
        rules: str | Rules = "scarto",
        reward: Reward = "score",
        illegal: Illegal = "raise",
        flat: bool = True,
        reward_scale: float = 1.0,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(num_envs, (int, np.integer)) or isinstance(num_envs, bool) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not allowed: expected a whole number of 1 or more")
        if not isinstance(copy, (bool, np.bool_)):
            raise ValueError(f"copy={copy!r} is not allowed: expected True or False")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(mode.value for mode in AutoresetMode)
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not allowed: expected one of {known}") from None
        self._versus = Versus(
            num_envs, opponents, seat=seat, rules=rules, reward=reward, illegal=illegal,
            reward_scale=reward_scale, threads=threads,
        )  # fmt: skip
        self.num_envs = num_envs
        self.flat = flat
        self.copy = copy
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self.single_observation_space, self.single_action_space = learner_spaces(self._versus.rules, flat)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._vectors = np.zeros(self._versus.batch.observation.shape, np.float32)
        self._handed_out: deque[NDArray[np.float32]] = deque(maxlen=_MOST_HANDED_OUT)
        self._present = np.ones((3, num_envs), np.bool_)
        """Of the infos: every environment has all three."""
        self._waiting = np.ones(num_envs, np.bool_)
        """Environments that have not been reset yet."""
        self._begun = False
        """None of them waits: asking the array costs at every step."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: no observations that were handed out."""
        return {**self.__dict__, "_handed_out": deque(maxlen=_MOST_HANDED_OUT)}

    @property
    def batch(self) -> Batch:
        """The games.  Stepping them from outside leaves this environment's own memory behind."""
        return self._versus.batch

    @property
    def rules(self) -> Rules:
        """The rules that are played."""
        return self._versus.rules

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, Infos]:
        """Deal in all environments, or in those of ``options["reset_mask"]``.

        Args:
            seed: a number s for streams s, s + 1, ..., or a list of one an environment; without, streams go on.
            options: ``reset_mask``, [num_envs] bool with a true entry; the rest as of ``ScartoEnv.reset``, the
                same for all.

        Raises:
            ValueError: an option or a seed is not allowed; nothing has been dealt.
            TypeError: the mask is no bool array; nothing has been dealt.
        """
        check_reset(None if isinstance(seed, (Sequence, np.ndarray)) else seed, options)
        options = dict(options or {})
        chosen = self._reset_mask(options.pop("reset_mask", None))
        if isinstance(seed, (Sequence, np.ndarray)):
            seeds = list(seed)
        else:
            super().reset(seed=None if seed is None else int(seed))
            seeds = [None if seed is None else int(seed) + index for index in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed must list {self.num_envs} seeds, not {len(seeds)}")
        vectors = self._vectors_to_fill()
        self._versus.reset(chosen, seeds, options, vectors)
        self._waiting &= ~chosen
        self._begun = not self._waiting.any()
        return self._observations(vectors), self._infos(chosen)

    def _reset_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a NumPy array of bool, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},) and a true entry")
        return mask

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Play a card in every environment and play on to the learner's next decision.

        Args:
            actions: [num_envs] card ids of any integer dtype.

        Raises:
            IllegalActionError: names the first environment whose card is not legal, with ``illegal="raise"``, or
                whose action is no card at all; none has moved.
            ResetNeeded: an environment has not been reset, or is over with autoreset disabled, or a bot failed before.
        """
        versus = self._versus
        ended = versus.over
        if not self._begun:
            raise ResetNeeded(f"environment {int(np.argmax(self._waiting))} has no deal: call reset first")
        if self.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            raise ResetNeeded(
                f"environment {int(np.argmax(ended))} is over and autoreset is disabled: "
                "call reset(options={'reset_mask': ...})"
            )
        vectors = self._vectors_to_fill()
        versus.step(actions, vectors, ended if self.autoreset_mode is AutoresetMode.NEXT_STEP else None)
        reward, terminated = versus.reward, versus.over.copy()
        infos: Infos = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and terminated.any():
            infos = self._final(terminated)
            versus.deal_again(terminated, vectors)
        infos.update(self._infos())
        return self._observations(vectors), reward, terminated, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which cards are legal now, [num_envs, 78] bool, a fresh array; none where a deal is over."""
        return self._versus.action_mask().astype(np.bool_)

    def record(self, index: int) -> Record:
        """Return the deal in progress, or the last one, of an environment as a record."""
        return record_of(self._versus.batch.games[index], self.rules)

    def _vectors_to_fill(self) -> NDArray[np.float32]:
        """Return memory for observations: with ``copy`` memory that nobody holds, used before if there is any.

        What is handed out is a view.  Whoever holds it, or a view or a tensor over it, holds a reference to the array
        below, whose own shape and flags nobody can change.
        """
        if not self.copy:
            return self._vectors
        for vectors, number in _references(self._handed_out):
            if number == _UNHELD:
                return vectors.view()
        vectors = np.empty_like(self._vectors)
        self._handed_out.append(vectors)
        return vectors.view()

    def _observations(self, vectors: NDArray[np.float32]) -> Observations:
        return vectors if self.flat else {"observation": vectors, "action_mask": self._versus.action_mask()}

    def _infos(self, chosen: NDArray[np.bool_] | None = None) -> Infos:
        """Return the infos of the chosen or all environments, else zeros, each key with its presence mask."""
        versus = self._versus
        mask, seat, score = versus.action_mask(), versus.seat.copy(), versus.score()
        present = self._present.copy()
        if chosen is not None:
            present[:] = chosen
            for value in (mask, seat, score):
                value[~chosen] = 0
        of_mask, of_seat, of_score = present
        return {
            "action_mask": mask,
            "_action_mask": of_mask,
            "seat": seat,
            "_seat": of_seat,
            "score": score,
            "_score": of_score,
        }

    def _final(self, ended: NDArray[np.bool_]) -> Infos:
        """Return what ended environments saw last, as Gymnasium packs it."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        games = np.flatnonzero(ended)
        vectors = self._versus.batch.observation[games].astype(np.float32)
        masks = self._versus.action_mask()[games] if not self.flat else None
        for row, game in enumerate(games):
            final_obs[game] = (
                vectors[row] if masks is None else {"observation": vectors[row], "action_mask": masks[row]}
            )
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": self._infos(ended),
            "_final_info": ended.copy(),
        }
