"""Tasks of other libraries, as far as they are installed, and of plain Python."""

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from pettingzoo import AECEnv

from benchmarks.empty import EmptyEnv, wrapped
from scarto_env.bench import Task, Work, draws

LOOP = "plain Python: an empty loop"
TAROK = "OpenSpiel tarok: legal actions, one play a call"
TAROK_MASK = "OpenSpiel tarok: the same with the mask as an array"
TAROK_ROLLOUTS = "OpenSpiel tarok: random rollouts in C++"
SPADES = "OpenSpiel spades: legal actions, one play a call"
SPADES_TENSOR = "OpenSpiel spades: the same with the tensor"
SPADES_ROLLOUTS = "OpenSpiel spades: random rollouts in C++"
RLCARD = "RLCard bridge: env.run with random agents"
EMPTY_FIRST = "PettingZoo's empty env: last, first legal action, step"
EMPTY_SAMPLE = "PettingZoo's empty env: last, sample(mask), step"
WRAPPED_FIRST = "the same under its three wrappers: first legal action"
WRAPPED_SAMPLE = "the same under its three wrappers: sample(mask)"

_ROLLOUTS = 500


def tasks() -> Iterator[Task]:
    """Yield the tasks of the peers that are installed."""
    yield Task(LOOP, "turns", lambda: _loop)
    yield Task(EMPTY_FIRST, "steps", partial(_aec, EmptyEnv, sample=False))
    yield Task(EMPTY_SAMPLE, "steps", partial(_aec, EmptyEnv, sample=True))
    yield Task(WRAPPED_FIRST, "steps", partial(_aec, wrapped, sample=False))
    yield Task(WRAPPED_SAMPLE, "steps", partial(_aec, wrapped, sample=True))
    if importlib.util.find_spec("pyspiel"):
        yield Task(TAROK, "decisions", partial(_spiel, "tarok(players=3)"))
        yield Task(TAROK_MASK, "decisions", partial(_spiel, "tarok(players=3)", mask=True))
        yield Task(TAROK_ROLLOUTS, "plays", partial(_rollouts, "tarok(players=3)"))
        yield Task(SPADES, "decisions", partial(_spiel, "spades"))
        yield Task(SPADES_TENSOR, "decisions", partial(_spiel, "spades", tensor=True))
        yield Task(SPADES_ROLLOUTS, "plays", partial(_rollouts, "spades"))
    if importlib.util.find_spec("rlcard"):
        yield Task(RLCARD, "decisions", _rlcard)


def _loop() -> int:
    turns = 0
    while turns < 100_000:
        turns += 1
    return turns


def _aec(make_env: Callable[[], AECEnv], sample: bool) -> Work:
    """The loop of ``scarto_env.bench``'s AEC tasks."""
    env = make_env()
    env.reset(seed=0)
    space = env.action_space(env.possible_agents[0])
    space.seed(0)

    def work() -> int:
        steps = 0
        env.reset()
        for _agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            steps += 1
            if terminated or truncated:
                env.step(None)
                continue
            mask = observation["action_mask"]
            env.step(space.sample(mask) if sample else mask.argmax())
        return steps

    return work


def _bid(state, generator) -> int:
    """Deal and bid so that all cards will be played, and return the number of bids.

    Tarok: everyone passes, which makes klop; under random bids most deals end before a card is played.
    """
    bids = 0
    while state.is_chance_node():
        outcomes = state.chance_outcomes()
        state.apply_action(outcomes[generator.integers(len(outcomes))][0])
    tarok = state.get_game().get_type().short_name == "tarok"
    for _ in range(state.num_players()):
        legal = state.legal_actions()
        state.apply_action(legal[0] if tarok else legal[generator.integers(len(legal))])
        bids += 1
    return bids


def _spiel(name: str, mask: bool = False, tensor: bool = False) -> Work:
    """Deals driven from Python: the legal actions, a random one, one call to play it."""
    import pyspiel

    game = pyspiel.load_game(name)
    generator = np.random.default_rng(0)
    drawn = draws()
    observer = None
    if tensor:
        from open_spiel.python import observation

        observer = observation.make_observation(game)

    def work() -> int:
        state = game.new_initial_state()
        decisions = _bid(state, generator)
        while not state.is_terminal():
            legal = state.legal_actions()
            if mask:
                np.asarray(state.legal_actions_mask(), np.int8)
            if observer is not None:
                observer.set_from(state, state.current_player())
            state.apply_action(legal[drawn[decisions] % len(legal)])
            decisions += 1
        return decisions

    return work


def _rollouts(name: str) -> Work:
    """Random playouts from after the bids, in C++: a search of one simulation evaluates its root by them."""
    import pyspiel

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    _bid(state, np.random.default_rng(0))
    evaluator = pyspiel.RandomRolloutEvaluator(_ROLLOUTS, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 0, False)
    playout = state.clone()
    plays = 0
    while not playout.is_terminal():
        playout.apply_action(playout.legal_actions()[0])
        plays += 1

    def work() -> int:
        bot.step(state)
        return _ROLLOUTS * plays

    return work


def _rlcard() -> Work:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("bridge", config={"seed": 0})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])

    def work() -> int:
        before = env.timestep
        env.run(is_training=False)
        return int(env.timestep - before)

    return work
