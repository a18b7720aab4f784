"""Decisions a second of each library's training loop beside those of the bare interface that it uses.

    python benchmarks/libraries.py

Measures the libraries that are installed, in seconds of processor time, so that a busy machine does not count.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np

from scarto_env import scarto_v0

NUM_DECISIONS = 3120
"""Forty deals of all three seats."""


def speed(loop: Callable[[], int]) -> float:
    """Return decisions a second of a loop that returns how many it made; the first, short call compiles."""
    with contextlib.redirect_stdout(io.StringIO()):
        loop()
        started = time.process_time()
        decisions = loop()
        return decisions / (time.process_time() - started)


def play_aec() -> int:
    """Play random legal cards through the AEC environment."""
    env = scarto_v0.raw_env()
    random = np.random.default_rng(0)
    decisions = 0
    while decisions < NUM_DECISIONS:
        env.reset(seed=decisions)
        for _ in env.agent_iter():
            observation, _, terminated, _, _ = env.last()
            decisions += not terminated
            env.step(None if terminated else int(random.choice(np.flatnonzero(observation["action_mask"]))))
    return decisions


def play_single() -> int:
    """Play random legal cards through the single-seat environment."""
    env = gymnasium.make("Scarto-v0", opponents="random")
    random = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    for _ in range(NUM_DECISIONS):
        _, _, terminated, _, info = env.step(int(random.choice(np.flatnonzero(info["action_mask"]))))
        if terminated:
            _, info = env.reset()
    return NUM_DECISIONS


def play_vector() -> int:
    """Play random legal cards through 64 environments at once."""
    env = gymnasium.make_vec("Scarto-v0", num_envs=64, vectorization_mode="vector_entry_point", opponents="random")
    random = np.random.default_rng(0)
    _, infos = env.reset(seed=0)
    for _ in range(200):
        chosen = (random.random((64, 78)) * infos["action_mask"]).argmax(axis=1)
        _, _, _, _, infos = env.step(chosen)
    return 200 * 64


def play_open_spiel() -> int:
    """Play random legal cards through OpenSpiel's states, the deal's chance nodes included."""
    import pyspiel

    import scarto_env.adapters.open_spiel

    game = pyspiel.load_game(scarto_env.adapters.open_spiel.NAME)
    random = np.random.default_rng(0)
    for _ in range(20):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(random.choice(state.legal_actions())))
    return 20 * 78


def sb3() -> Callable[[], int]:
    """MaskablePPO over eight environments in one process."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    env = DummyVecEnv([lambda: gymnasium.make("Scarto-v0", opponents="random")] * 8)
    model = MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=256, n_epochs=4, device="cpu")

    def loop() -> int:
        model.learn(2048)
        return 2048

    return loop


def example(name: str) -> Callable[[], int]:
    """Return the training of an example."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    num_decisions = 8192 if name == "masked_ppo" else 780

    def loop() -> int:
        module.train(num_decisions)
        return num_decisions

    return loop


def rlcard() -> Callable[[], int]:
    """RLCard's DQN in all seats."""
    from rlcard.agents.pettingzoo_agents import DQNAgentPettingZoo
    from rlcard.utils import reorganize_pettingzoo, run_game_pettingzoo

    env = scarto_v0.raw_env()
    agent = DQNAgentPettingZoo(num_actions=78, state_shape=[710], mlp_layers=[64, 64], device="cpu", train_every=4)

    def loop() -> int:
        for _ in range(5):
            games = run_game_pettingzoo(env, dict.fromkeys(env.possible_agents, agent), is_training=True)
            for steps in reorganize_pettingzoo(games).values():
                for step in steps:
                    agent.feed(step)
        return 5 * 78

    return loop


def open_spiel() -> Callable[[], int]:
    """OpenSpiel's DQN in one seat, random agents in the others."""
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import random_agent
    from open_spiel.python.pytorch import dqn

    import scarto_env.adapters.open_spiel

    env = rl_environment.Environment(scarto_env.adapters.open_spiel.NAME)
    learner = dqn.DQN(0, env.observation_spec()["info_state"][0], 78, [64, 64], min_buffer_size_to_learn=64)
    agents = [learner, random_agent.RandomAgent(1, 78), random_agent.RandomAgent(2, 78)]

    def loop() -> int:
        for _ in range(5):
            step = env.reset()
            while not step.last():
                step = env.step([agents[step.observations["current_player"]].step(step).action])
            for agent in agents:
                agent.step(step)
        return 5 * 78

    return loop


def rllib() -> Callable[[], int]:
    """RLlib's PPO, sampling and learning in one process."""
    from scarto_env.adapters.rllib import ppo_config

    config = ppo_config().env_runners(num_env_runners=0)
    algorithm = config.training(train_batch_size_per_learner=1560, minibatch_size=256, num_epochs=4).build_algo()

    def loop() -> int:
        return int(algorithm.train()["env_runners"]["num_env_steps_sampled"])

    return loop


LOOPS = [
    ("MaskablePPO, DummyVecEnv of 8", "sb3_contrib", sb3, play_single),
    ("masked_ppo.py, 64 games", "torch", lambda: example("masked_ppo"), play_vector),
    ("torchrl_ppo.py", "torchrl", lambda: example("torchrl_ppo"), play_aec),
    ("RLCard DQN, training every 4th decision", "rlcard", rlcard, play_aec),
    ("OpenSpiel DQN in one seat", "pyspiel", open_spiel, play_open_spiel),
    ("RLlib PPO, one process", "ray", rllib, play_aec),
]


def main() -> None:
    """Print a row a library."""
    import torch

    torch.set_num_threads(1)
    bare: dict[Callable[[], int], float] = {}
    print("| loop | decisions/s | bare interface | decisions/s | time in the environment |")
    print("| --- | --- | --- | --- | --- |")
    for name, module, make, play in LOOPS:
        if importlib.util.find_spec(module) is None:
            continue
        if play not in bare:
            bare[play] = speed(play)
        learning = speed(make())
        share = learning / bare[play]
        print(f"| {name} | {learning:,.0f} | {play.__name__[5:]} | {bare[play]:,.0f} | {share:.0%} |", flush=True)


if __name__ == "__main__":
    main()
