"""Positions of the engine written in card codes, and the rules of both sides by one name."""

import dataclasses
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from reference import ALL_CARDS, HAND_AND_TALON, Game, Options, deck
from reference import PRESETS as OPTIONS

from scarto_env import PRESETS, Batch, Deal, Rules
from scarto_env.rules import card_set
from scarto_env.state import PLAY

ID = {code: card for card, code in enumerate(ALL_CARDS)}
"""Card ids are promised to follow the order of the reference's list."""
LAST = "last"
"""The trick number that stands for the last trick of the deal."""


class Mix(NamedTuple):
    """The same choices as the engine and the reference hold them."""

    rules: Rules
    options: Options


MIXES = {name: Mix(PRESETS[name], OPTIONS[name]) for name in PRESETS}


def mix(preset: str = "scarto", **fields: Any) -> Mix:
    """Return a preset with some fields changed, for both sides."""
    rules, options = MIXES[preset]
    return Mix(dataclasses.replace(rules, **fields), dataclasses.replace(options, **fields))


def random_mix(rng: random.Random) -> Mix:
    """Return any mix of the fields that the engine does not refuse."""
    flags = "overtrump cheapest_overtrump fool_lost_in_last_trick bagatto_fool_blocks fool_discardable"
    while True:
        players, deck_name = rng.choice(sorted(HAND_AND_TALON))
        hand_size, _ = HAND_AND_TALON[players, deck_name]
        most_banned = hand_size - 5  # Beside the kings and the Fool; a dealer then may have no choice.
        fields = {
            "players": players,
            "deck": deck_name,
            "honours": tuple(rng.sample(range(1, 22), rng.choice([0, 2, 3, 3, 6]))),
            "fool_value": rng.randint(1, 9),
            "trump_top": rng.choice([20, 21]),
            "leftovers": rng.choice(["exact", "whole"]),
            "discard_ban": tuple(rng.sample(range(1, 22), rng.choice([0, 1, 2, 5, most_banned]))),
            "ultimo": rng.choice(["off", "bagatto", "bagatto_or_fool"]),
            "settlement": rng.choice(["net", "lowest_pays"]),
            **{flag: rng.random() < 0.5 for flag in flags.split()},
        }
        try:
            return Mix(Rules(**fields), Options(**fields))
        except ValueError:  # Too many points, or too many cards banned: the engine names the field.
            continue


def ids(codes: str | Iterable[str]) -> list[int]:
    """Return the ids of cards written in codes."""
    return [ID[code] for code in (codes.split() if isinstance(codes, str) else codes)]


def codes_of(cards: Iterable[int]) -> list[str]:
    """Return the codes of cards."""
    return [ALL_CARDS[card] for card in cards]


def words_codes(words: Any) -> set[str]:
    """Return the cards of one of the row's sets."""
    bits = int(words[0]) | int(words[1]) << 56
    return {code for card, code in enumerate(ALL_CARDS) if bits >> card & 1}


def legal_codes(batch: Batch, game: int = 0) -> set[str]:
    """Return the cards that the mask of a game allows."""
    return set(codes_of(batch.action_mask[game].nonzero()[0]))


def table_position(
    rules: str | Rules,
    hand: str,
    trick: str,
    seat: int = 2,
    trick_number: int | str = 10,
    dealer: int = 0,
    **after: Any,
) -> Batch:
    """Return a batch of one game in which ``seat``, holding ``hand``, is to play to ``trick``.

    The seats before it hold nothing but their card on the table, so that any trick can be written;
    ``after`` gives the fields to write before the trick is played.
    """
    batch = Batch(1, rules, seed=0, redeal=False)
    players = batch.rules.players
    played = trick.split()
    game = batch.games[0]
    game.hand[:] = game.discarded[:] = game.talon[:] = 0
    leader = (seat - len(played)) % players
    game.dealer, game.phase, game.leader, game.seat = dealer, PLAY, leader, leader
    game.trick = batch.rules.tricks - 1 if trick_number == LAST else int(trick_number) - 1
    game.hand[seat] = card_set(ids(hand))
    for turn, code in enumerate(played):
        game.hand[(leader + turn) % players] = card_set(ids(code))
    game.legal[:] = game.hand[leader]
    for name, value in after.items():
        game[name] = value
    batch.refresh()
    for code in played:
        batch.step(ids(code))
    return batch


def play_codes(batch: Batch, codes: str | Iterable[str]) -> None:
    """Play cards written in codes in a batch of one game."""
    for card in ids(codes):
        batch.step([card])


def trick_winner_at(rules: str | Rules, trick: str, leader: int) -> int:
    """Return the seat that takes a whole trick led by ``leader``."""
    *before, last = trick.split()
    seat = (leader + len(before)) % len(trick.split())
    batch = table_position(rules, last, " ".join(before), seat)
    play_codes(batch, last)
    return int(batch.games.leader[0])


def exact_points(batch: Batch, game: int = 0) -> list[Fraction]:
    """Return the points of each seat's pile."""
    return [Fraction(int(third), 3) for third in batch.games.points[game][: batch.rules.players]]


def exact_scores(batch: Batch, game: int = 0) -> list[Fraction]:
    """Return the score of each seat when the deal is over."""
    players = batch.rules.players
    return [Fraction(int(score), 3 * players) for score in batch.games.score[game][:players]]


def exact_settled(batch: Batch, game: int = 0) -> list[Fraction]:
    """Return what each seat receives or pays when the deal is over."""
    players = batch.rules.players
    return [Fraction(int(score), 6 * players) for score in batch.games.settled[game][:players]]


def random_deal(options: Options, rng: random.Random, dealer: int | None = None) -> Deal:
    """Return a deal shuffled by ``rng``."""
    cards = deck(options)
    rng.shuffle(cards)
    return deal_in_order(options, cards, rng.randrange(options.players) if dealer is None else dealer)


def deal_in_order(options: Options, cards: Sequence[str], dealer: int) -> Deal:
    """Return the deal that gives the talon and the dealer the first cards, the other seats the rest."""
    size, talon_size = options.hand_size, options.talon_size
    places = [cards[talon_size + turn * size :][:size] for turn in range(options.players)]
    hands = [places[(seat - dealer) % options.players] for seat in range(options.players)]
    return Deal(hands, cards[:talon_size], dealer)


def reference_game(options: Options, deal: Deal) -> Game:
    """Return the reference's game of a deal."""
    return Game(options, [codes_of(hand) for hand in deal.hands], codes_of(deal.talon), deal.dealer)


def begin(rules: str | Rules, deal: Deal, **arguments: Any) -> Batch:
    """Return a batch of one game that begins with a chosen deal."""
    batch = Batch(1, rules, seed=0, redeal=False, **arguments)
    batch.set_deal(0, deal)
    return batch


def play_in_order(batch: Batch, discard: str | Sequence[str], orders: Sequence[Sequence[str]]) -> None:
    """Play a whole deal: each seat plays the first legal card of its own order."""
    play_codes(batch, discard)
    while batch.games.phase[0] == PLAY:
        legal = legal_codes(batch)
        play_codes(batch, [next(card for card in orders[batch.seat[0]] if card in legal)])
