"""RLCard's PettingZoo agents, games and tournaments on the AEC environment as it is."""
# ruff: noqa: E402 - the library is looked for first

from __future__ import annotations

import numpy as np
import pytest

from scarto_env import scarto_v0
from scarto_env.arena.duels import duel
from scarto_env.state import SCORE_UNITS

torch = pytest.importorskip("torch", reason="torch is not installed: scarto[rlcard]")
# The import asks pip what is installed and uses the deprecated distutils: seconds, and a warning.
pytest.importorskip("rlcard.agents", reason="rlcard is not installed: scarto[rlcard]")

from rlcard.agents.pettingzoo_agents import DQNAgentPettingZoo, NFSPAgentPettingZoo, RandomAgentPettingZoo
from rlcard.utils import reorganize_pettingzoo, run_game_pettingzoo, set_seed, tournament_pettingzoo

AGENTS = ("player_0", "player_1", "player_2")


def make_env(**arguments):
    """An environment that raises for an illegal card."""
    env = scarto_v0.raw_env(**arguments)
    env.reset(seed=1)
    return env


def make_dqn():
    return DQNAgentPettingZoo(
        num_actions=78, state_shape=[710], mlp_layers=[64, 64], device="cpu", learning_rate=1e-3, batch_size=64,
        discount_factor=1.0, epsilon_decay_steps=4000, train_every=4, update_target_estimator_every=200,
        replay_memory_init_size=500,
    )  # fmt: skip


def train(agent, env, num_deals):
    """Let one agent learn in all seats; return what RLCard says each was paid and what the engine counts."""
    paid, scores = [], []
    for _ in range(num_deals):
        transitions = reorganize_pettingzoo(run_game_pettingzoo(env, dict.fromkeys(AGENTS, agent), is_training=True))
        for seat in AGENTS:
            for transition in transitions[seat]:
                agent.feed(transition)
        paid.append([sum(step[2] for step in transitions[seat]) for seat in AGENTS])
        scores.append(env.unwrapped.batch.games.settled[0, :3] / (3 * SCORE_UNITS))
    return paid, scores


@pytest.fixture(scope="module")
def learner():
    """A DQN that has learned from 50 deals in all three seats, with what it was paid meanwhile."""
    torch.set_num_threads(1)
    set_seed(1)
    agent = make_dqn()
    return agent, *train(agent, make_env(reward="trick"), 50)


def test_every_seat_is_paid_the_score_of_the_engine(learner):
    _, paid, scores = learner
    assert np.abs(scores).min(axis=0).max() < 27
    assert np.array(paid) == pytest.approx(np.array(scores), abs=1e-4)


def test_memory_holds_legal_cards_and_masks_of_what_follows(learner):
    agent, _, _ = learner
    for step in agent.memory.memory:
        assert step.state[:78][step.action] == 1  # a card of the hand
        assert bool(step.legal_actions) != step.done
        assert all(step.next_state[card] == 1 for card in step.legal_actions)


def test_beats_random(learner):
    agent, _, _ = learner

    def best(observation, mask):
        values = agent.q_estimator.predict_nograd(np.asarray(observation, np.float32))
        return np.where(mask > 0, values, -np.inf).argmax(axis=1)

    low, _ = duel(best, "random", deals=400).interval
    assert low > 0


def test_tournament_of_a_thousand_deals_has_no_illegal_card(learner):
    agent, _, _ = learner
    agents = {seat: RandomAgentPettingZoo(num_actions=78) for seat in AGENTS} | {"player_1": agent}
    payoffs = tournament_pettingzoo(make_env(), agents, 1000)
    assert sum(payoffs.values()) == pytest.approx(0, abs=1e-6)
    assert payoffs["player_1"] > 0


def test_saved_dqn_loads(learner, tmp_path):
    agent, _, _ = learner
    agent.save_checkpoint(str(tmp_path))
    # The file holds the replay memory too, which is more than weights.
    saved = torch.load(tmp_path / "checkpoint_dqn.pt", weights_only=False)
    loaded = DQNAgentPettingZoo.from_checkpoint(saved)
    env = make_env()
    for _ in range(40):
        observation = env.last()[0]
        action, _ = agent.eval_step(observation)
        assert loaded.eval_step(observation)[0] == action
        env.step(action)


def test_nfsp_learns_and_plays():
    set_seed(2)
    agent = NFSPAgentPettingZoo(
        num_actions=78, state_shape=[710], hidden_layers_sizes=[32], q_mlp_layers=[32], device="cpu",
        anticipatory_param=0.5, batch_size=32, train_every=8, min_buffer_size_to_learn=32,
        q_replay_memory_init_size=100, q_train_every=8,
    )  # fmt: skip
    env = make_env()
    for _ in range(3):
        agent.sample_episode_policy()
        paid, scores = train(agent, env, 2)
        assert np.array(paid) == pytest.approx(np.array(scores), abs=1e-4)
    assert agent.train_t > 0
    payoffs = tournament_pettingzoo(env, dict.fromkeys(AGENTS, agent), 5)
    assert sum(payoffs.values()) == pytest.approx(0, abs=1e-6)
