"""Scarto in plain Python: the rules, article by article, as a reader would explain them.

This is the oracle of the test suite.  It uses the standard library only and shares nothing with the
package it judges.  A card is its code: ``"SK"`` the king of swords, ``"ST"`` the ten of swords,
``"10"`` trump X, ``"MT"`` the Fool.  Every rule names its article, A1 to A24.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

# --- The options and the presets ----------------------------------------------------------------------

HAND_AND_TALON = {(3, "full"): (25, 3), (4, "full"): (19, 2), (3, "piccolo"): (12, 6)}
"""Cards in a hand and in the talon, by players and deck; no other pair can be played."""


@dataclass(frozen=True)
class Options:
    """Every choice that changes the play or the count; the defaults are the preset ``scarto``."""

    players: int = 3
    deck: str = "full"
    honours: tuple[int, ...] = (1, 20, 21)
    fool_value: int = 4
    trump_top: int = 21
    overtrump: bool = True
    cheapest_overtrump: bool = False
    fool_lost_in_last_trick: bool = True
    leftovers: str = "exact"
    discard_ban: tuple[int, ...] = (20, 21)
    bagatto_fool_blocks: bool = False
    fool_discardable: bool = False
    ultimo: str = "off"
    settlement: str = "net"

    def __post_init__(self) -> None:
        """Refuse a value or a mix that cannot be played, naming the field."""
        allowed: dict[str, tuple[object, ...]] = {
            "players": (3, 4),
            "deck": ("full", "piccolo"),
            "trump_top": (20, 21),
            "leftovers": ("exact", "whole"),
            "ultimo": ("off", "bagatto", "bagatto_or_fool"),
            "settlement": ("net", "lowest_pays"),
        }
        for field, values in allowed.items():
            if getattr(self, field) not in values:
                raise ValueError(f"{field}: {getattr(self, field)!r} is not one of {values}")
        if (self.players, self.deck) not in HAND_AND_TALON:
            raise ValueError(f"players: {self.players} cannot play with deck {self.deck!r}")

    @property
    def hand_size(self) -> int:
        """The cards of a hand, and so the tricks of a deal (A6, A18)."""
        return HAND_AND_TALON[self.players, self.deck][0]

    @property
    def talon_size(self) -> int:
        """The cards the dealer takes up and lays away (A6, A8)."""
        return HAND_AND_TALON[self.players, self.deck][1]


PRESETS: dict[str, Options] = {
    "scarto": Options(),
    "traditional": Options(
        honours=(1, 20),
        trump_top=20,
        overtrump=False,
        fool_lost_in_last_trick=False,
        leftovers="whole",
        discard_ban=(20,),
        bagatto_fool_blocks=True,
    ),
    "four_player": Options(players=4),
    "piccolo": Options(deck="piccolo"),
    "free_fool": Options(fool_discardable=True),
    "ultimo": Options(ultimo="bagatto"),
}

# --- The cards (A1-A4) --------------------------------------------------------------------------------

FOOL = "MT"
BAGATTO = "01"
TRUMP = "trump"
"""The name that stands for the trumps where a plain suit has its letter."""

LONG = "123456789TJCQK"
"""The ranks of Bastoni and Spade by rising strength (A2)."""
ROUND = "T987654321JCQK"
"""The ranks of Coppe and Denari by rising strength: of the pips, the ace is the best (A2)."""
RANKS = {"C": ROUND, "D": ROUND, "B": LONG, "S": LONG}

TRUMP_NUMBER: dict[str, int] = {f"{number:02}": number for number in range(1, 22)}
ALL_CARDS: list[str] = [suit + rank for suit in "CDBS" for rank in RANKS[suit]] + [*TRUMP_NUMBER, FOOL]
"""The 78 cards: Coppe, Denari, Bastoni, Spade by rising strength, the trumps, the Fool (A1)."""

PLAIN_SUIT: dict[str, str] = {suit + rank: suit for suit in "CDBS" for rank in RANKS[suit]}
SUIT: dict[str, str | None] = {**PLAIN_SUIT, **dict.fromkeys(TRUMP_NUMBER, TRUMP), FOOL: None}
"""The suit of every card: a letter, ``TRUMP``, or none for the Fool (A1)."""
CARDS_OF: dict[str, frozenset[str]] = {
    suit: frozenset(card for card in ALL_CARDS if SUIT[card] == suit) for suit in ("C", "D", "B", "S", TRUMP)
}
PLAIN_STRENGTH: dict[str, int] = {card: RANKS[suit].index(card[1]) for card, suit in PLAIN_SUIT.items()}
"""The order within a plain suit (A2)."""
TRUMP_STRENGTH: dict[int, dict[str, int]] = {
    21: TRUMP_NUMBER,
    20: {**TRUMP_NUMBER, "21": 20, "20": 21},
}
"""The order of the trumps, by ``trump_top``: under 20, XX and XXI change places (A3)."""

KINGS = frozenset({"CK", "DK", "BK", "SK"})
COURT_VALUE = {"K": 5, "Q": 4, "C": 3, "J": 2}
HONOUR_VALUE = 5
EMPTY_VALUE = 1
ULTIMO_POINTS = 5
PICCOLO_PIPS = frozenset({"BT", "ST", "C1", "D1"})
NOTHING: frozenset[str] = frozenset()


def deck(options: Options) -> list[str]:
    """Return the cards in play, in the order of ``ALL_CARDS`` (A1).

    The piccolo deck is the trumps, the Fool, the courts and the highest pip of each suit.
    """
    if options.deck == "full":
        return list(ALL_CARDS)
    return [card for card in ALL_CARDS if card not in PLAIN_SUIT or card[1] in COURT_VALUE or card in PICCOLO_PIPS]


@cache
def card_values(honours: tuple[int, ...], fool_value: int) -> dict[str, int]:
    """Return the value of every card inside the count (A4)."""
    values = dict.fromkeys(ALL_CARDS, EMPTY_VALUE)
    for card in PLAIN_SUIT:
        values[card] = COURT_VALUE.get(card[1], EMPTY_VALUE)
    for number in honours:
        values[f"{number:02}"] = HONOUR_VALUE
    values[FOOL] = fool_value
    return values


# --- The discard (A8-A10) -----------------------------------------------------------------------------


def discardable(hand: Iterable[str], options: Options) -> set[str]:
    """Return the cards the dealer may lay away from the full hand, talon included (A9).

    Kings stay, and so do the trumps of ``discard_ban``, the Fool unless it is discardable, and the
    Bagatto unless it is the only trump of this full hand.
    """
    hand = set(hand)
    banned = KINGS | {f"{number:02}" for number in options.discard_ban}
    if not options.fool_discardable:
        banned |= {FOOL}
    other_trumps = (hand & CARDS_OF[TRUMP]) - {BAGATTO}
    if other_trumps or (options.bagatto_fool_blocks and FOOL in hand):
        banned |= {BAGATTO}
    return hand - banned


# --- The play (A11-A17) -------------------------------------------------------------------------------


def led_suit(trick: Iterable[str]) -> str | None:
    """Return the suit of the first card that is not the Fool, or None while there is none (A11)."""
    for card in trick:
        if card != FOOL:
            return SUIT[card]
    return None


def best_trump(trick: Iterable[str], options: Options) -> int:
    """Return the strength of the highest trump of the trick, or 0 without one (A3)."""
    strength = TRUMP_STRENGTH[options.trump_top]
    return max((strength[card] for card in trick if card in strength), default=0)


def legal_trumps(trumps: set[str], trick: Sequence[str], options: Options) -> set[str]:
    """Return which of these trumps may be played by a seat that must play a trump (A13)."""
    strength = TRUMP_STRENGTH[options.trump_top]
    best = best_trump(trick, options)
    higher = {card for card in trumps if strength[card] > best}
    if not higher:
        return set(trumps)
    lower = trumps - higher
    if options.cheapest_overtrump:
        higher = {min(higher, key=strength.__getitem__)}
    return higher if options.overtrump else lower | higher


def legal_cards(hand: Collection[str], trick: Sequence[str], options: Options) -> set[str]:
    """Return the cards of a hand that may be played to the trick on the table (A11-A15)."""
    hand = set(hand)
    suit = led_suit(trick)
    if suit is None:
        return hand  # The seat leads, or a led Fool left it the choice (A11).
    fool = hand & {FOOL}  # Always allowed (A15).
    if suit != TRUMP:
        following = hand & CARDS_OF[suit]
        if following:
            return following | fool  # A12
    trumps = hand & CARDS_OF[TRUMP]
    if trumps:
        return legal_trumps(trumps, trick, options) | fool  # A13
    return hand  # A14


def trick_winner(cards: Sequence[str], options: Options) -> int:
    """Return the index of the card that wins: the highest trump, else the highest of the led suit (A16).

    A trick still in progress may be asked too, for the card that is winning it.
    """
    suit = led_suit(cards)
    if suit is None:
        raise ValueError("A16: the Fool never wins, and no other card lies there")
    strength = TRUMP_STRENGTH[options.trump_top]
    contenders = [index for index, card in enumerate(cards) if card in strength]
    if not contenders:
        strength = PLAIN_STRENGTH
        contenders = [index for index, card in enumerate(cards) if SUIT[card] == suit]
    return max(contenders, key=lambda index: strength[cards[index]])


def proved_lacks(card: str, trick: Sequence[str], options: Options) -> set[str] | frozenset[str]:
    """Return the cards that a seat cannot hold, since it played ``card`` to this trick (A12-A15).

    The Fool proves nothing, nor does a led card.  All other cards of the 78 are judged, whether or
    not they were seen before.
    """
    suit = led_suit(trick)
    if suit is None or card == FOOL or (SUIT[card] == suit and suit != TRUMP):
        return NOTHING
    lacks = set(CARDS_OF[suit]) if suit != TRUMP else set()  # It did not follow (A12).
    if SUIT[card] != TRUMP:
        return lacks | CARDS_OF[TRUMP]  # It did not trump either (A13).
    strength = TRUMP_STRENGTH[options.trump_top]
    best, played = best_trump(trick, options), strength[card]
    if played < best and options.overtrump:
        lacks |= {trump for trump in strength if strength[trump] > best}
    if played > best and options.cheapest_overtrump:
        lacks |= {trump for trump in strength if best < strength[trump] < played}
    return lacks


# --- The count (A19-A23) ------------------------------------------------------------------------------


def count_points(cards: Collection[str], options: Options) -> Fraction:
    """Return the points of a pile: the values of its cards less 2 for every three cards (A19)."""
    values = card_values(options.honours, options.fool_value)
    total = sum([values[card] for card in cards])
    if options.leftovers == "exact":
        return Fraction(3 * total - 2 * len(cards), 3)
    threes, leftover = divmod(len(cards), 3)
    return Fraction(total - 2 * threes - (1 if leftover == 2 else 0))


def ultimo_bonus(last_trick: Collection[str], options: Options) -> int:
    """Return the points added for winning this last trick of a deal (A20)."""
    wanted = {"off": set(), "bagatto": {BAGATTO}, "bagatto_or_fool": {BAGATTO, FOOL}}[options.ultimo]
    return ULTIMO_POINTS if wanted.intersection(last_trick) else 0


def scores_of(points: Sequence[Fraction]) -> list[Fraction]:
    """Return the score of every seat: its points less the mean of all seats' points (A21)."""
    par = Fraction(sum(points)) / len(points)
    return [Fraction(seat_points) - par for seat_points in points]


def settle(scores: Sequence[Fraction | int], options: Options) -> list[Fraction]:
    """Return what every seat receives, negative where it pays (A22)."""
    payments = [Fraction(score) for score in scores]
    if options.settlement == "net":
        return payments
    lowest = min(payments)
    received = sum((score for score in payments if score > 0), Fraction(0))
    share = received / payments.count(lowest)
    return [-share if score == lowest else max(score, Fraction(0)) for score in payments]


# --- One deal -----------------------------------------------------------------------------------------


class Game:
    """One deal, from the cards before the exchange to the count.

    Attributes:
        phase: ``"discard"``, then ``"play"``, then ``"over"``.
        to_act: the seat that lays away or plays next, None when over.
        dealer: the seat that dealt.
        hands: the cards each seat holds now; the dealer's include the talon from the start (A8).
        talon: the cards of the talon, as dealt.
        discarded: the cards laid away so far, in order.
        table: the trick in progress, as (seat, card).
        tricks: the finished tricks, as (leader, [(seat, card), ...], winner).
        piles: the cards each seat has won; the dealer's gets the discard when the deal is over (A10).
    """

    def __init__(self, options: Options, hands: Sequence[Sequence[str]], talon: Sequence[str], dealer: int) -> None:
        """Take a deal and let the dealer take up the talon (A6, A8)."""
        sizes = [len(hand) for hand in hands]
        if sizes != [options.hand_size] * options.players or len(talon) != options.talon_size:
            raise ValueError(
                f"A6: {options.players} hands of {options.hand_size} and a talon of {options.talon_size} "
                f"are dealt, not {sizes} and {len(talon)}"
            )
        if {*talon}.union(*hands) != set(deck(options)):
            raise ValueError("A6: hands and talon are not the deck")
        if dealer not in range(options.players):
            raise ValueError(f"A5: there is no seat {dealer}")
        self.options = options
        self.dealer = dealer
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.talon = list(talon)
        self.hands[dealer].update(talon)
        self.discarded: list[str] = []
        self.table: list[tuple[int, str]] = []
        self.tricks: list[tuple[int, list[tuple[int, str]], int]] = []
        self.piles: list[set[str]] = [set() for _ in hands]
        self.phase = "discard"
        self.to_act: int | None = dealer
        self._deck = frozenset(deck(options))
        self._discardable = discardable(self.hands[dealer], options)  # Judged once (A9).
        self._lacks: list[set[str]] = [set() for _ in hands]

    def legal(self) -> set[str]:
        """Return the cards that the seat to act may lay away (A9) or play (A11-A15)."""
        if self.to_act is None:
            return set()
        if self.phase == "discard":
            return self._discardable.difference(self.discarded)
        return legal_cards(self.hands[self.to_act], self._table_cards(), self.options)

    def play(self, code: str) -> None:
        """Lay away or play one card for the seat to act.

        Raises:
            ValueError: when the card is not allowed, naming it and the article; nothing has changed.
        """
        if code not in self.legal():
            raise ValueError(self._why_illegal(code))
        if self.phase == "discard":
            self._lay_away(code)
        else:
            self._play_to_trick(code)

    def public_points(self) -> list[Fraction]:
        """Return the points of each pile without the dealer's discard and without the bonus (A10, A19)."""
        return [count_points(pile.difference(self.discarded), self.options) for pile in self.piles]

    def points(self) -> list[Fraction]:
        """Return the points of each seat when the deal is over, with the bonus of A20 (A19)."""
        if self.phase != "over":
            raise ValueError("A18: the deal is not over")
        points = [count_points(pile, self.options) for pile in self.piles]
        _, plays, winner = self.tricks[-1]
        points[winner] += ultimo_bonus([card for _, card in plays], self.options)
        return points

    def scores(self) -> list[Fraction]:
        """Return the score of each seat when the deal is over (A21)."""
        return scores_of(self.points())

    def settled(self) -> list[Fraction]:
        """Return what each seat receives or pays when the deal is over (A22)."""
        return settle(self.scores(), self.options)

    def winners(self) -> list[int]:
        """Return the seats that win the hand: those with a positive score (A23)."""
        return [seat for seat, score in enumerate(self.scores()) if score > 0]

    def shown_lacks(self, seat: int) -> set[str]:
        """Return the cards that the public play of this seat has proved it does not hold (A12-A15).

        A proved void names every card of the suit, also those already played; cards that are known
        to lie elsewhere for any other reason are not named.
        """
        return self._lacks[seat] & self._deck

    def _table_cards(self) -> list[str]:
        return [card for _, card in self.table]

    def _lay_away(self, card: str) -> None:
        """Lay away one card; after the last the seat after the dealer leads (A5, A8)."""
        self.hands[self.dealer].remove(card)
        self.discarded.append(card)
        if len(self.discarded) == self.options.talon_size:
            self.phase = "play"
            self.to_act = (self.dealer + 1) % self.options.players

    def _play_to_trick(self, card: str) -> None:
        """Play one card; the last of a trick closes it (A11)."""
        seat = self.to_act
        assert seat is not None
        self._lacks[seat] |= proved_lacks(card, self._table_cards(), self.options)
        self.hands[seat].remove(card)
        self.table.append((seat, card))
        self.to_act = (seat + 1) % self.options.players
        if len(self.table) == self.options.players:
            self._close_trick()

    def _close_trick(self) -> None:
        """Give the trick to its winner, who leads next, and the Fool to its owner (A16-A18)."""
        plays, self.table = self.table, []
        winner = plays[trick_winner([card for _, card in plays], self.options)][0]
        self.tricks.append((plays[0][0], plays, winner))
        is_last = len(self.tricks) == self.options.hand_size
        for seat, card in plays:
            fool_returns = card == FOOL and not (is_last and self.options.fool_lost_in_last_trick)
            self.piles[seat if fool_returns else winner].add(card)
        self.to_act = winner
        if is_last:
            self.phase = "over"
            self.to_act = None
            self.piles[self.dealer].update(self.discarded)  # A10

    def _why_illegal(self, card: str) -> str:
        """Return a sentence that names the card and the article it breaks."""
        if card not in SUIT:
            return f"{card}: there is no such card (A1)"
        if self.to_act is None:
            return f"{card}: the deal is over (A18)"
        hand = self.hands[self.to_act]
        if card not in hand:
            article = "A8" if self.phase == "discard" else "A11"
            return f"{card}: seat {self.to_act} does not hold it ({article})"
        if self.phase == "discard":
            return f"{card}: it may not be laid away (A9)"
        suit = led_suit(self._table_cards())
        if suit is not None and suit != TRUMP and hand & CARDS_OF[suit]:
            return f"{card}: the led suit must be followed (A12)"
        return f"{card}: a trump must be played, and one that suffices (A13)"


# --- A match (A7, A24) --------------------------------------------------------------------------------


class Match:
    """A number of deals, or deals until a total reaches a target (A24).

    With neither given, each seat deals once.  ``max_deals`` caps a match played to a target.

    Attributes:
        totals: the settled scores of each seat so far.
        num_deals: the deals added so far.
    """

    def __init__(
        self,
        options: Options,
        deals: int | None = None,
        target: int | Fraction | None = None,
        max_deals: int = 300,
        first_dealer: int = 0,
    ) -> None:
        """Start a match; the cut has made ``first_dealer`` deal first (A7)."""
        if deals is not None and target is not None:
            raise ValueError("A24: a match has a number of deals or a target, not both")
        if deals is None and target is None:
            deals = options.players
        self.players = options.players
        self.target = target
        self.last_deal = max_deals if deals is None else deals
        self.first_dealer = first_dealer
        self.num_deals = 0
        self.totals = [Fraction(0)] * options.players
        self._target_reached = False

    @property
    def dealer(self) -> int:
        """The seat that deals next: the deal passes from seat to seat (A7)."""
        return (self.first_dealer + self.num_deals) % self.players

    @property
    def leaders(self) -> list[int]:
        """The seats that share the highest total."""
        return [seat for seat, total in enumerate(self.totals) if total == max(self.totals)]

    @property
    def over(self) -> bool:
        """Whether the last deal was played, or the target was reached and one seat leads alone (A24)."""
        if self.num_deals >= self.last_deal:
            return True
        return self._target_reached and len(self.leaders) == 1

    @property
    def winners(self) -> list[int]:
        """The seats with the highest total, who share the win; empty until the match is over (A24)."""
        return self.leaders if self.over else []

    def add(self, settled: Sequence[Fraction | int]) -> None:
        """Add the settled scores of one deal (A22, A24)."""
        if self.over:
            raise ValueError("A24: the match is over")
        if len(settled) != self.players:
            raise ValueError(f"A5: {self.players} seats have {len(settled)} scores")
        self.totals = [total + score for total, score in zip(self.totals, settled, strict=True)]
        self.num_deals += 1
        if self.target is not None and max(self.totals) >= self.target:
            self._target_reached = True
