"""A deal: the cards before the exchange, as people give them and as a game's row holds them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scarto_env.cards import card_code, parse_card
from scarto_env.rules import Rules, as_rules, card_set, deck_cards
from scarto_env.state import cards_of


@dataclasses.dataclass(frozen=True)
class Deal:
    """The cards before the exchange (A6): hands in seat order, the talon, who deals.

    Cards may be given as ids or codes; they are kept as sorted tuples of ids, so equal deals compare equal.

    Raises:
        ValueError: a hand or the talon holds no card, or the dealer is no seat.
    """

    hands: tuple[tuple[int, ...], ...]
    talon: tuple[int, ...]
    dealer: int

    def __post_init__(self) -> None:
        if isinstance(self.hands, (str, bytes)) or not isinstance(self.hands, Iterable):
            raise ValueError(f"hands={self.hands!r}: expected one list of cards a seat")
        hands = tuple(_cards(f"hand {seat}", hand) for seat, hand in enumerate(self.hands))
        object.__setattr__(self, "hands", hands)
        object.__setattr__(self, "talon", _cards("talon", self.talon))
        dealer = self.dealer
        if not isinstance(dealer, (int, np.integer)) or isinstance(dealer, bool) or not 0 <= dealer < len(hands):
            raise ValueError(f"dealer={dealer!r} is no seat: expected 0..{len(hands) - 1}")
        object.__setattr__(self, "dealer", int(dealer))

    @classmethod
    def random(
        cls, rules: str | Rules = "scarto", rng: np.random.Generator | None = None, dealer: int | None = None
    ) -> Deal:
        """Return a deal uniform over all (A6, A7), by ``dealer`` or one drawn.

        Args:
            rules: preset or rules.
            rng: NumPy generator that is moved; a fresh one from the system's entropy without.
            dealer: seat, or None for a uniform one.
        """
        rules = as_rules(rules)
        rng = rng if rng is not None else np.random.default_rng()
        drawn = int(rng.integers(rules.players))
        cards = [int(card) for card in rng.permutation(deck_cards(rules))]
        size = rules.hand_size
        hands = tuple(tuple(cards[seat * size : (seat + 1) * size]) for seat in range(rules.players))
        return cls(hands, tuple(cards[rules.players * size :]), drawn if dealer is None else dealer)

    @classmethod
    def from_game(cls, game: Any, players: int) -> Deal:
        """Return the deal that a game's row began with, whatever has been played since."""
        hands = []
        for seat in range(players):
            cards = set(cards_of(game.hand[seat])) | set(cards_of(game.played[seat]))
            if seat == game.dealer:
                cards = (cards | set(cards_of(game.discarded))) - set(cards_of(game.talon))
            hands.append(tuple(cards))
        return cls(tuple(hands), tuple(cards_of(game.talon)), int(game.dealer))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Deal:
        """Return the deal that reset options spell out: ``deal``, or ``hands``, ``talon`` and ``dealer``."""
        if "deal" in options:
            deal = options["deal"]
            if not isinstance(deal, cls):
                raise ValueError(f"option deal={deal!r} is no scarto_env.Deal")
            return deal
        missing = [name for name in ("hands", "talon", "dealer") if name not in options]
        if missing:
            raise ValueError(f"a chosen deal needs the options hands, talon and dealer: {missing[0]} is missing")
        return cls(options["hands"], options["talon"], options["dealer"])

    def check(self, rules: Rules) -> None:
        """Refuse a deal that is no partition of the deck of ``rules``.

        Raises:
            ValueError: names the fault: seats, sizes, a card twice, missing or not of the deck.
        """
        if len(self.hands) != rules.players:
            raise ValueError(f"the deal has {len(self.hands)} hands, the rules have {rules.players} players")
        deck = set(deck_cards(rules))
        held = Counter(card for cards in (*self.hands, self.talon) for card in cards)
        foreign = sorted(set(held) - deck)
        if foreign:
            raise ValueError(f"{card_code(foreign[0])} is not in the {rules.deck} deck")
        twice = sorted(card for card, count in held.items() if count > 1)
        if twice:
            raise ValueError(f"{card_code(twice[0])} is dealt {held[twice[0]]} times")
        for seat, hand in enumerate(self.hands):
            if len(hand) != rules.hand_size:
                raise ValueError(f"hand {seat} has {len(hand)} cards instead of {rules.hand_size}")
        if len(self.talon) != rules.talon_size:
            raise ValueError(f"the talon has {len(self.talon)} cards instead of {rules.talon_size}")

    def write_to(self, game: Any) -> None:
        """Put the cards into a game's row that ``play.start_deal`` has cleared."""
        for seat, hand in enumerate(self.hands):
            game.hand[seat] = card_set(hand)
        game.talon[:] = card_set(self.talon)


def _cards(place: str, cards: Any) -> tuple[int, ...]:
    """Return cards given as ids or codes, or as one text of codes, as sorted ids."""
    if isinstance(cards, str):
        cards = cards.split()
    if not isinstance(cards, (Sequence, np.ndarray, set, frozenset)):
        raise ValueError(f"{place}={cards!r}: expected a list of cards")
    try:
        return tuple(sorted(parse_card(c) if isinstance(c, str) else parse_card(card_code(c)) for c in cards))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
