"""The emptiest PettingZoo environment: no game at all, only what the interface asks for.

Its speed is the ceiling of whatever is built on PettingZoo's own classes and wrappers.
"""

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from scarto_env.cards import NUM_CARDS

EPISODE = 78
SIZE = 710


class EmptyEnv(AECEnv):
    """Three agents act in turn; nothing happens for 78 steps, then the episode ends."""

    metadata = {"name": "empty_v0", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.render_mode = None
        self.possible_agents = [f"player_{seat}" for seat in range(3)]
        vector, mask = spaces.Box(0, 1, (SIZE,), np.float32), spaces.Box(0, 1, (NUM_CARDS,), np.int8)
        self._observation_space = spaces.Dict({"observation": vector, "action_mask": mask})
        self._action_space = spaces.Discrete(NUM_CARDS)
        self._seen = {"observation": np.zeros(SIZE, np.float32), "action_mask": np.ones(NUM_CARDS, np.int8)}

    def observation_space(self, agent):
        return self._observation_space

    def action_space(self, agent):
        return self._action_space

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.steps = 0
        self.agent_selection = self.agents[0]

    def observe(self, agent):
        return self._seen

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self.steps += 1
        self.agent_selection = self.possible_agents[self.steps % 3]
        if self.steps == EPISODE:
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()


def wrapped():
    """Return the empty environment under the three wrappers that PettingZoo's games come in."""
    env = wrappers.TerminateIllegalWrapper(EmptyEnv(), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
