"""The observation: an information state, decoded with nothing but the published table."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from positions import ID, MIXES, Mix, begin, codes_of, ids, legal_codes, mix, random_deal, random_mix, reference_game
from reference import ALL_CARDS, CARDS_OF, FOOL, TRUMP, Game, led_suit, trick_winner
from steering import STEERED, at_random

from scarto_env import Batch, Deal
from scarto_env.observation import (
    SECTIONS,
    bounds,
    num_players,
    observation_size,
    offsets,
    sections,
    state_sections,
    state_size,
    view,
)

LED = ("C", "D", "B", "S", TRUMP)


def decoded(observation: np.ndarray, players: int) -> dict[str, Any]:
    """Return the parts of an observation as the published table says, in plain lists and numbers."""
    parts, start = {}, 0
    for section in sections(players):
        part = observation[start : start + section.size].astype(int).reshape(section.shape)
        parts[section.name] = part.tolist() if section.size > 1 else int(part[0])
        start += section.size
    assert start == len(observation)
    return parts


def one_hot(place: int | None, size: int) -> list[int]:
    return [int(index == place) for index in range(size)]


def card_flags(codes: Any) -> list[int]:
    return [int(code in codes) for code in ALL_CARDS]


def information(game: Game, viewer: int) -> dict[str, Any]:
    """Return what the reference says that a seat may know, in the parts of the table."""
    players = game.options.players
    seats = [(viewer + place) % players for place in range(players)]
    cards_played: list[list[str]] = [[] for _ in seats]
    trick_of = dict.fromkeys(ALL_CARDS, 0)
    tricks = [plays for _, plays, _ in game.tricks] + [game.table]
    for number, plays in enumerate(tricks, start=1):
        for seat, card in plays:
            cards_played[seat].append(card)
            trick_of[card] = number
    deck = game._deck
    lacks = [game.shown_lacks(seat) for seat in seats[1:]]
    points = game.points() if game.phase == "over" else game.public_points()
    on_table = [card for _, card in game.table]
    leader = game.dealer + 1
    if game.table or game.tricks:
        leader = game.table[0][0] if game.table else game.tricks[-1][2]
    best = None
    if set(on_table) - {FOOL}:
        best = (game.table[trick_winner(on_table, game.options)][0] - viewer) % players
    led = led_suit(on_table)
    return {
        "hand": card_flags(game.hands[viewer]),
        "talon": card_flags(game.talon if viewer == game.dealer else []),
        "discard": card_flags(game.discarded if viewer == game.dealer else []),
        "played": [card_flags(cards_played[seat]) for seat in seats],
        "table": card_flags(on_table),
        "void": [[int(CARDS_OF[suit] & deck <= shown) for suit in LED] for shown in lacks],
        "trumps_lacked": [[int(f"{number:02}" in shown) for number in range(1, 22)] for shown in lacks],
        "led_suit": one_hot(None if led is None else LED.index(led), 5),
        "winning": one_hot(best, players),
        "dealer": one_hot((game.dealer - viewer) % players, players),
        "leader": one_hot((leader - viewer) % players, players),
        "discarding": int(game.phase == "discard"),
        "over": int(game.phase == "over"),
        "trick_of": list(trick_of.values()),
        "tricks_done": len(game.tricks),
        "points": [points[seat] // 1 for seat in seats],
        "thirds": [points[seat] % 1 * 3 for seat in seats],
        "total": [0] * players,
        "total_carry": [0] * players,
        "total_part": [0] * players,
        "deal": [0, 0],
    }


def positions_of_a_deal(chosen: Mix, rng: random.Random) -> Iterator[tuple[Batch, Game]]:
    """Yield a deal's positions on both sides, from the first to the last."""
    deal = random_deal(chosen.options, rng)
    batch, game = begin(chosen.rules, deal), reference_game(chosen.options, deal)
    choose = rng.choice([at_random, *STEERED])
    yield batch, game
    while game.phase != "over":
        card = choose(game, sorted(game.legal()), rng)
        batch.step(ids([card]))
        game.play(card)
        yield batch, game


def test_s20_the_table_covers_the_vector_without_gaps() -> None:
    assert sections(3) == SECTIONS
    for players in (3, 4):
        table = sections(players)
        assert len({section.name for section in table}) == len(table)
        assert all(section.size == np.prod(section.shape) and section.meaning for section in table)
        assert observation_size(players) == sum(section.size for section in table)
        assert [*offsets(players).values()] == np.cumsum([0, *(section.size for section in table)])[:-1].tolist()
        low, high = bounds(players)
        assert len(low) == len(high) == observation_size(players)
        assert (low < high).all() and low.dtype == high.dtype == np.int8
        assert num_players(observation_size(players)) == players
    assert observation_size(3) != observation_size(4)


@pytest.mark.parametrize("preset", MIXES)
def test_s20_every_part_is_what_the_reference_says(preset: str) -> None:
    """Positions of whole deals, seen by every seat, dead or alive."""
    rng = random.Random(f"observation {preset}")
    chosen = MIXES[preset]
    low, high = bounds(chosen.rules.players)
    for _ in range(8):
        for batch, game in positions_of_a_deal(chosen, rng):
            for seat in range(chosen.rules.players):
                observation = batch.observe(0, seat)
                assert decoded(observation, chosen.rules.players) == information(game, seat)
                assert (low <= observation).all() and (observation <= high).all()
            assert np.array_equal(batch.observation[0], batch.observe(0, int(batch.seat[0])))


def test_s20_random_mixes_too() -> None:
    rng = random.Random("observation of mixes")
    for _ in range(60):
        chosen = random_mix(rng)
        for batch, game in positions_of_a_deal(chosen, rng):
            seat = rng.randrange(chosen.rules.players)
            assert decoded(batch.observe(0, seat), chosen.rules.players) == information(game, seat)


def public_history(observation: np.ndarray, chosen: Mix) -> list[tuple[int, list[tuple[int, str]]]]:
    """Return the tricks as (leader, [(seat, card), ...]) by relative seats, from the observation alone.

    Within a trick the cards were played round the table from its leader: the forehand in the first
    trick, the winner of the trick before in the others.
    """
    players = chosen.rules.players
    parts = decoded(observation, players)
    number_of = parts["trick_of"]
    leader = (parts["dealer"].index(1) + 1) % players
    tricks = []
    for number in range(1, max(number_of) + 1):
        card_of = {
            seat: ALL_CARDS[card]
            for seat in range(players)
            for card in range(78)
            if parts["played"][seat][card] and number_of[card] == number
        }
        turns = [(leader + turn) % players for turn in range(players)]
        plays = [(seat, card_of[seat]) for seat in turns if seat in card_of]
        assert len(plays) == len(card_of) and plays[0][0] == leader
        tricks.append((leader, plays))
        if len(plays) == players:
            leader = plays[trick_winner([card for _, card in plays], chosen.options)][0]
    assert parts["leader"].index(1) == (tricks[-1][0] if any(parts["table"]) else leader)
    return tricks


@pytest.mark.parametrize("preset", MIXES)
def test_s22_the_observation_alone_tells_the_public_history(preset: str) -> None:
    rng = random.Random(f"history {preset}")
    chosen = MIXES[preset]
    players = chosen.rules.players
    for _ in range(15):
        for batch, game in positions_of_a_deal(chosen, rng):
            seat = rng.randrange(players)
            tricks = [plays for _, plays, _ in game.tricks] + ([game.table] if game.table else [])
            expected = [
                ((plays[0][0] - seat) % players, [((other - seat) % players, card) for other, card in plays])
                for plays in tricks
            ]
            assert public_history(batch.observe(0, seat), chosen) == expected


def test_s23_two_histories_that_leave_the_same_cards_look_different() -> None:
    """The same cards fall to the same seats in another order: only the memory of the tricks differs."""
    hands = [ALL_CARDS[0:75:3], ALL_CARDS[1:75:3], ALL_CARDS[2:75:3]]
    talon = "20 21 MT".split()
    seen = []
    for first, second in (("C9 C8 C7", "C6 C5 C4"), ("C6 C5 C4", "C9 C8 C7")):
        batch = begin(mix().rules, Deal(hands, talon, 2))
        for card in ids("CC DT D7"):
            batch.step([card])
        start = {card: seat for seat, hand in enumerate(hands) for card in hand}
        for trick in (first, second):
            for card in sorted(trick.split(), key=lambda card: (start[card] - int(batch.seat[0])) % 3):
                assert card in legal_codes(batch)
                batch.step(ids(card))
        seen.append(batch)
    earlier, later = (view(batch.observe(0, 1)) for batch in seen)
    for name in ("hand", "played", "table"):
        assert np.array_equal(earlier[name], later[name]), name
    assert not np.array_equal(earlier["trick_of"], later["trick_of"])


def test_view_shares_the_memory_and_keeps_leading_axes() -> None:
    batch = Batch(6, "four_player", seed=1)
    parts = view(batch.observation)
    assert list(parts) == [section.name for section in sections(4)]
    assert parts["played"].shape == (6, 4, 78) and parts["discarding"].shape == (6,)
    assert all(np.shares_memory(part, batch.observation) for part in parts.values())
    assert parts["hand"].sum() == 6 * 21
    stacked = view(np.zeros((2, 5, observation_size(3)), np.float32))
    assert stacked["void"].shape == (2, 5, 2, 5)


def test_what_is_no_observation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"an observation has \d+ \(3 players\) or \d+ \(4 players\) entries, not 5"):
        view(np.zeros(5))


@pytest.mark.parametrize("preset", ["scarto", "four_player"])
def test_totals_of_a_match_read_back_exactly(preset: str) -> None:
    rng = random.Random("totals")
    batch = Batch(1, preset, seed=0)
    players, unit = batch.rules.players, 6 * batch.rules.players
    low, high = bounds(players)
    for _ in range(300):
        totals = [rng.randrange(-30_000 * unit, 30_000 * unit) for _ in range(players)]
        deal = rng.randrange(1, 300)
        batch.games.total[0][:players] = totals
        batch.games.match_deal[0] = deal
        seat = rng.randrange(players)
        observation = batch.observe(0, seat)
        assert (low <= observation).all() and (observation <= high).all()
        parts = decoded(observation, players)
        read = [
            unit * (250 * carry + whole) + part
            for whole, carry, part in zip(parts["total"], parts["total_carry"], parts["total_part"], strict=True)
        ]
        assert read == [totals[(seat + place) % players] for place in range(players)]
        assert parts["deal"][0] * 100 + parts["deal"][1] == deal


@pytest.mark.parametrize("preset", MIXES)
def test_full_information(preset: str) -> None:
    """The state holds all hands, the true talon and discard, and who acts, whoever deals."""
    rng = random.Random(f"state {preset}")
    chosen = MIXES[preset]
    players = chosen.rules.players
    for batch, game in positions_of_a_deal(chosen, rng):
        state = batch.state(0)
        assert len(state) == state_size(players)
        parts, start = {}, 0
        for section in state_sections(players):
            parts[section.name] = state[start : start + section.size].reshape(section.shape).tolist()
            start += section.size
        assert start == state_size(players)
        assert [parts["hand"], *parts["other_hands"]] == [card_flags(hand) for hand in game.hands]
        assert parts["talon"] == card_flags(game.talon)
        assert parts["discard"] == card_flags(game.discarded)
        if game.to_act is not None:
            assert parts["acting"] == one_hot(game.to_act, players)


@pytest.mark.parametrize("preset", MIXES)
def test_hidden_cards(preset: str) -> None:
    """What a critic may see besides: the other hands by relative seat, then the discard."""
    rng = random.Random(f"hidden {preset}")
    chosen = MIXES[preset]
    players = chosen.rules.players
    for batch, game in positions_of_a_deal(chosen, rng):
        if game.to_act is None:
            break
        others = [game.hands[(game.to_act + place) % players] for place in range(1, players)]
        hidden = batch.hidden_cards()[0]
        assert [codes_of(row.nonzero()[0]) for row in hidden] == [
            sorted(cards, key=ID.__getitem__) for cards in (*others, game.discarded)
        ]


def test_hidden_cards_into_an_array() -> None:
    batch = Batch(3, seed=1)
    out = np.full((3, 3, 78), 7, np.int8)
    assert batch.hidden_cards(out) is out
    assert np.array_equal(out, batch.hidden_cards()) and out.max() == 1
