"""Matches: several deals in an episode, by number or to a target, against the reference's (A7, A22, A24)."""

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from positions import ID, MIXES, Mix, mix, reference_game
from reference import Match as ReferenceMatch

from scarto_env import Batch, Rules, scarto_v0
from scarto_env.match import Match
from scarto_env.observation import view

MATCHES = [
    {"deals": 1},
    {"deals": 3},
    {"deals": 4, "reward": "trick"},
    {"deals": 3, "reward": "win"},
    {"target": 30},
    {"target": 25, "reward": "win"},
    {"target": 60, "max_deals": 4},
    {"target": 1, "reward": "trick"},
]


def reference_match(chosen: Mix, arguments: dict[str, Any], first_dealer: int) -> ReferenceMatch:
    ends = {name: arguments[name] for name in ("deals", "target", "max_deals") if name in arguments}
    return ReferenceMatch(chosen.options, first_dealer=first_dealer, **ends)


def play_and_compare(chosen: Mix, arguments: dict[str, Any], seed: int) -> tuple[ReferenceMatch, int]:
    """Play an episode beside the reference's match; compare dealers, totals, end, rewards, observations."""
    env = scarto_v0.raw_env(rules=chosen.rules, **arguments)
    rng = random.Random(seed)
    env.reset(seed=seed)
    players = chosen.rules.players
    match = reference_match(chosen, arguments, env.deal.dealer)
    paid = np.zeros(players)
    score = [0.0] * players
    while True:
        assert env.deal.dealer == match.dealer
        game = reference_game(chosen.options, env.deal)
        totals = [float(total) for total in match.totals]
        while game.phase != "over":
            seat = game.to_act
            assert seat is not None and env.agent_selection == f"player_{seat}"
            info = env.infos[f"player_{seat}"]
            assert info["deal"] == match.num_deals
            assert info["total"] == pytest.approx(totals[seat]) and info["score"] == pytest.approx(score[seat])
            if rng.random() < 0.1:
                compare_totals(env, seat, match)
            card = rng.choice(sorted(game.legal()))
            game.play(card)
            env.step(ID[card])
            paid += [env.rewards[agent] for agent in env.possible_agents]
        match.add(game.settled())
        score = [float(pay) for pay in game.settled()]
        if match.over:
            break
        assert not any(env.terminations.values())
    assert all(env.terminations.values()) and env.match.num_deals == match.num_deals
    totals = [float(total) for total in match.totals]
    for seat, agent in enumerate(env.possible_agents):
        assert env.infos[agent]["total"] == pytest.approx(totals[seat])
    if arguments.get("reward") == "win":
        share = players / len(match.winners) - 1
        assert paid == pytest.approx([share if seat in match.winners else -1 for seat in range(players)])
    else:
        assert paid == pytest.approx(totals, abs=1e-3)
    return match, match.num_deals


def compare_totals(env: Any, viewer: int, match: ReferenceMatch) -> None:
    """The observation shows the totals before this deal exactly, and the deal's number."""
    parts = view(env.observe(f"player_{viewer}")["observation"].astype(int))
    players = len(match.totals)
    shown = [
        250 * int(carry) + int(whole) + Fraction(int(part), 6 * players)
        for whole, carry, part in zip(parts["total"], parts["total_carry"], parts["total_part"], strict=True)
    ]
    assert shown == [match.totals[(viewer + place) % players] for place in range(players)]
    assert 100 * parts["deal"][0] + parts["deal"][1] == match.num_deals


@pytest.mark.parametrize("preset", MIXES)
@pytest.mark.parametrize("arguments", MATCHES, ids=str)
def test_a24_matches_are_those_of_the_reference(preset: str, arguments: dict) -> None:
    lengths = {play_and_compare(MIXES[preset], arguments, seed)[1] for seed in range(2)}
    if "deals" in arguments:
        assert lengths == {arguments["deals"]}
    elif "max_deals" in arguments:
        assert max(lengths) <= arguments["max_deals"]


def test_a22_matches_where_the_lowest_pays() -> None:
    for preset in MIXES:
        play_and_compare(mix(preset, settlement="lowest_pays"), {"deals": 3, "reward": "win"}, 1)
        play_and_compare(mix(preset, settlement="lowest_pays"), {"target": 40, "reward": "trick"}, 2)


def test_a7_every_seat_deals_once_in_a_match_by_custom() -> None:
    for players in (3, 4):
        env = scarto_v0.raw_env(rules="scarto" if players == 3 else "four_player", deals=players)
        for dealer in range(players):
            env.reset(options={"dealer": dealer})
            dealers = []
            rng = random.Random(dealer)
            while not any(env.terminations.values()):
                if not dealers or env.match.num_deals == len(dealers):
                    dealers.append(env.deal.dealer)
                env.step(int(rng.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))
            assert dealers == [(dealer + turn) % players for turn in range(players)]


def test_a_match_s_deals_follow_the_stream() -> None:
    """The cards are those of ``Batch(1, seed)``, deal by deal, whatever dealer is due."""
    env = scarto_v0.raw_env(deals=3)
    env.reset(seed=21)
    batch = Batch(1, seed=21)
    rng = random.Random(0)
    for number in range(3):
        if number:
            batch.reset(dealer=(batch.deal().dealer + 1) % 3)
        assert env.deal == batch.deal()
        while env.match.num_deals == number:
            env.step(int(rng.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))


def test_a_new_episode_starts_at_zero() -> None:
    env = scarto_v0.raw_env(deals=2, rules="piccolo")
    rng = random.Random(0)
    for _ in range(3):
        env.reset()
        assert env.match.num_deals == 0 and env.match.totals == [0, 0, 0]
        for agent in env.agents:
            info = env.infos[agent]
            assert (info["deal"], info["total"], info["score"], info["points"]) == (0, 0, 0, 0)
            parts = view(env.observe(agent)["observation"])
            assert not any(parts[name].any() for name in ("total", "total_carry", "total_part", "deal"))
        while not any(env.terminations.values()):
            env.step(int(rng.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))


# --- The standing alone -------------------------------------------------------------------------------


def both(rules: Rules, options: Any, settled: Sequence[Sequence[int]], **ends: Any) -> tuple[Match, ReferenceMatch]:
    """Add deals, in whole points, to a match of each side and compare them after every deal."""
    match, reference = Match(rules, **ends), ReferenceMatch(options, **ends)
    for scores in settled:
        assert match.over == reference.over is False
        match.add([score * match.unit for score in scores])
        reference.add(scores)
        assert [Fraction(total, match.unit) for total in match.totals] == reference.totals
        assert match.over == reference.over
        assert match.leaders == reference.leaders
        assert match.num_deals == reference.num_deals
    return match, reference


def test_a24_the_target_ends_it_for_one_leader() -> None:
    rules, options = MIXES["scarto"]
    match, _ = both(rules, options, [(60, -20, -40), (39, -20, -19)], target=100)
    assert not match.over
    match, _ = both(rules, options, [(60, -20, -40), (40, -20, -20)], target=100)
    assert match.over and match.win_rewards() == [2, -1, -1]


def test_a24_a_shared_lead_at_the_target_plays_on() -> None:
    rules, options = MIXES["scarto"]
    tied = [(50, 50, -100), (50, 50, -100)]
    assert not both(rules, options, tied, target=100)[0].over
    # The lead may then be decided below the target as well: it was reached once.
    match, reference = both(rules, options, [*tied, (-10, -15, 25)], target=100)
    assert match.over and match.leaders == reference.winners == [0]
    match, _ = both(rules, options, tied, target=100, max_deals=2)
    assert match.over and match.win_rewards() == [0.5, 0.5, -1]
    match, _ = both(rules, options, [(0, 0, 0)], deals=1)
    assert match.over and match.win_rewards() == [0, 0, 0]


def test_a24_random_matches() -> None:
    rng = random.Random("matches")
    for _ in range(300):
        rules, options = MIXES[rng.choice(["scarto", "four_player"])]
        target = rng.randint(1, 6)
        match, reference = Match(rules, target=target), ReferenceMatch(options, target=target)
        while not reference.over:
            first = [rng.randint(-2, 2) for _ in range(rules.players - 1)]
            scores = [*first, -sum(first)]
            match.add([score * match.unit for score in scores])
            reference.add(scores)
            assert match.over == reference.over
        assert match.leaders == reference.winners
        assert abs(sum(match.win_rewards())) < 1e-9
