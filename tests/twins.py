"""Engine games and their reference twins, played side by side and compared state by state."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from positions import ALL_CARDS, ID, Mix, random_deal, reference_game
from reference import FOOL, Game, deck, trick_winner
from steering import DEALS, STEERED, Choice, at_random

from scarto_env import Batch, Deal

BIT = {code: 1 << card for code, card in ID.items()}
PHASE = {"discard": 0, "play": 1, "over": 2}
WORD_BITS = 56
"""A set's first word holds the plain cards, its second the trumps and the Fool."""


def bits(codes: Iterable[str]) -> int:
    """Return a set of cards as one number."""
    return sum(map(BIT.__getitem__, codes))


def joined(words: Sequence[int]) -> int:
    """Return the two words of a set of the engine as one number."""
    return words[0] | words[1] << WORD_BITS


def codes_of_bits(cards: int) -> str:
    """Return a set of cards in codes."""
    return " ".join(code for code in ALL_CARDS if cards & BIT[code])


class Twins:
    """Games of one mix on both sides, one card in each at a time.

    Attributes:
        batch: the engine's games.
        games: the reference's.
        history: the cards played so far, game by game.
    """

    def __init__(self, mix: Mix, deals: Sequence[Deal | None]) -> None:
        """Begin the given deals; None takes the deal that the engine's own stream has dealt."""
        self.mix = mix
        self.batch = Batch(len(deals), mix.rules, seed=len(deals), redeal=False, threads=1)
        for index, deal in enumerate(deals):
            if deal is not None:
                self.batch.set_deal(index, deal)
        self.deals = [self.batch.deal(index) for index in range(len(deals))]
        self.games = [reference_game(mix.options, deal) for deal in self.deals]
        self.history: list[list[str]] = [[] for _ in deals]
        self._deck = bits(deck(mix.options))
        self.compare()

    def play(self, cards: Sequence[str]) -> None:
        """Play one card in every game on both sides and compare all that they show."""
        self.batch.step(np.fromiter(map(ID.__getitem__, cards), np.int64, len(cards)))
        for game, card, history in zip(self.games, cards, self.history, strict=True):
            game.play(card)
            history.append(card)
        self.compare()

    def compare(self) -> None:
        """Compare every game; what changes with a trick is compared when one was just taken."""
        rows = self.batch.games
        masks = np.packbits(self.batch.action_mask, axis=1, bitorder="little")
        columns: list[list[Any]] = [
            rows.seat.tolist(), rows.phase.tolist(), rows.legal.tolist(), rows.hand.tolist(),
            rows.table.tolist(), rows.lacks.tolist(), rows.best_seat.tolist(),
        ]  # fmt: skip
        for index, (game, *fields) in enumerate(zip(self.games, *columns, strict=True)):
            mask = int.from_bytes(masks[index].tobytes(), "little")
            self._compare_turn(index, game, mask, fields)
            if not game.table:
                self._compare_trick(index, game)

    def _compare_turn(self, index: int, game: Game, mask: int, fields: list[Any]) -> None:
        seat, phase, legal, hands, table, lacks, best_seat = fields
        cards = bits(game.legal())
        if mask != cards or joined(legal) != cards:
            self._fail(index, "legal cards", codes_of_bits(mask), codes_of_bits(cards))
        if phase != PHASE[game.phase]:
            self._fail(index, "phase", phase, game.phase)
        if game.to_act is not None and seat != game.to_act:
            self._fail(index, "seat to act", seat, game.to_act)
        on_table = dict(game.table)
        if len(on_table) > (FOOL in on_table.values()):
            best = game.table[trick_winner([card for _, card in game.table], self.mix.options)][0]
            if best_seat != best:
                self._fail(index, "seat winning the trick", best_seat, best)
        for other, hand in enumerate(game.hands):
            if joined(hands[other]) != bits(hand):
                self._fail(index, f"hand {other}", codes_of_bits(joined(hands[other])), sorted(hand))
            card = on_table.get(other)
            if table[other] != (-1 if card is None else ID[card]):
                self._fail(index, f"card on the table of {other}", table[other], card)
        for other in on_table or range(len(game.hands)):
            # A void names all cards of a suit, those outside a smaller deck too.
            lacking, shown = joined(lacks[other]) & self._deck, bits(game.shown_lacks(other))
            if lacking != shown:
                self._fail(index, f"lacks of {other}", codes_of_bits(lacking), codes_of_bits(shown))

    def _compare_trick(self, index: int, game: Game) -> None:
        row = self.batch.games[index]
        players = len(game.hands)
        public = [points * 3 for points in game.public_points()]
        over = game.phase == "over"
        if over:
            public = [points * 3 for points in game.points()]
            for name, unit, expected in (("score", 3, game.scores()), ("settled", 6, game.settled())):
                found = row[name][:players].tolist()
                if found != [score * unit * players for score in expected]:
                    self._fail(index, name, found, expected)
            self._compare_tricks(index, game, row)
        if row.points[:players].tolist() != public:
            self._fail(index, "points in thirds", row.points[:players].tolist(), public)
        if game.tricks and row.leader != game.tricks[-1][2]:
            self._fail(index, "winner", int(row.leader), game.tricks[-1])
        if row.trick != len(game.tricks):
            self._fail(index, "number of tricks", int(row.trick), len(game.tricks))
        discarded = joined(row.discarded.tolist())
        if discarded != bits(game.discarded):
            self._fail(index, "discard", codes_of_bits(discarded), game.discarded)
        for seat, pile in enumerate(game.piles):
            found = joined(row.pile[seat].tolist())
            if found != bits(pile):
                self._fail(index, f"pile of {seat}", codes_of_bits(found), sorted(pile))

    def _compare_tricks(self, index: int, game: Game, row: Any) -> None:
        """Compare who played what in which trick, once the deal is over."""
        played = [0] * len(game.hands)
        number_of = dict.fromkeys(ALL_CARDS, 0)
        for number, (_, plays, _) in enumerate(game.tricks, start=1):
            for seat, card in plays:
                played[seat] |= BIT[card]
                number_of[card] = number
        if [joined(words) for words in row.played[: len(played)].tolist()] != played:
            self._fail(index, "cards played", row.played, played)
        if row.trick_of.tolist() != list(number_of.values()):
            self._fail(index, "trick numbers", row.trick_of, number_of)

    def _fail(self, index: int, what: str, engine: object, reference: object) -> None:
        deal = self.deals[index]
        hands = "\n".join(f"  seat {seat}: {codes_of_bits(bits(ALL_CARDS[c] for c in hand))}"
                          for seat, hand in enumerate(deal.hands))  # fmt: skip
        talon = " ".join(ALL_CARDS[card] for card in deal.talon)
        raise AssertionError(
            f"{what}: engine {engine}, reference {reference}\n{self.mix.options}\n{hands}\n  talon: {talon}, "
            f"dealer {deal.dealer}\n  played: {' '.join(self.history[index])}"
        )


def play_twins(mix: Mix, num_games: int, rng: random.Random) -> list[Game]:
    """Play deals of one mix on both sides, half of them steered, and return the reference's games."""
    deals: list[Deal | None] = [None] * (num_games // 4)  # The engine's own deals, then chosen ones.
    deals += [random_deal(mix.options, rng) for _ in range(num_games // 2 - len(deals))]
    choices: list[Choice] = [at_random] * len(deals)
    for number in range(num_games - len(deals)):
        deals.append(rng.choice(DEALS)(mix.options, rng))
        choices.append(STEERED[number % len(STEERED)])
    twins = Twins(mix, deals)
    while twins.games[0].phase != "over":
        cards = []
        for choose, game in zip(choices, twins.games, strict=True):
            cards.append(choose(game, sorted(game.legal(), key=ID.__getitem__), rng))
        twins.play(cards)
    assert all(game.phase == "over" for game in twins.games)
    return twins.games
