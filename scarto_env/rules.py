"""The choices that change play or the count, the presets, and the read-only table the kernels run on.

RULES.md is the rule book; articles A1..A24 are cited from it.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Iterable
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from scarto_env.cards import (
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    JACK_STRENGTH,
    KING_STRENGTH,
    NUM_CARDS,
    NUM_SUITS,
    NUM_TRUMPS,
    STRENGTH,
    SUIT_SIZE,
)

GROUP_SIZE: Final = 3
"""Cards are counted in threes (A19)."""
THIRDS: Final = 3
"""Points are kept as whole thirds of a point."""
HONOUR_VALUE: Final = 5
COURT_VALUES: Final = (2, 3, 4, 5)
"""Jack, knight, queen, king (A4)."""
EMPTY_VALUE: Final = 1
ULTIMO_POINTS: Final = 5
MAX_TOTAL_POINTS: Final = 122
"""So that a pile's points, the ultimo bonus included, fit the observation's one byte."""
BAGATTO_NUMBER: Final = 1
NO_TRUMP_POWER: Final = 14
"""Every trump's power is above this, every plain card's below."""

_SIZES: Final = MappingProxyType({(3, "full"): (25, 3), (4, "full"): (19, 2), (3, "piccolo"): (12, 6)})
"""Hand and talon for each number of players and deck (A6)."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """One way to play Scarto: every choice that changes play or the count.

    Attributes:
        players: seats at the table, 3 or 4.
        deck: ``"full"`` (78 cards) or ``"piccolo"`` (42: trumps, Fool, courts, best pip of each suit).
        honours: numbers of the trumps worth 5 (A4).
        fool_value: points of the Fool inside the count, 1..9 (A4).
        trump_top: the highest trump, 21 or 20 (A3).
        overtrump: a trump played must beat the best trump lying there if it can (A13).
        cheapest_overtrump: a trump that beats must be the lowest that does (A13).
        fool_lost_in_last_trick: a Fool played to the last trick goes to its winner (A17).
        leftovers: count of cards left over from threes, ``"exact"`` or ``"whole"`` (A19).
        discard_ban: numbers of the trumps never laid away (A9).
        bagatto_fool_blocks: the Fool counts as a trump when the Bagatto wants to be laid away (A9).
        fool_discardable: the Fool may be laid away (A9).
        ultimo: bonus for a last trick with the ``"bagatto"``, the ``"bagatto_or_fool"``, or ``"off"`` (A20).
        settlement: ``"net"`` or ``"lowest_pays"`` (A22).

    Raises:
        ValueError: a field has no such value, or the fields do not fit together; the message names the field.
    """

    players: int = 3
    deck: Literal["full", "piccolo"] = "full"
    honours: tuple[int, ...] = (1, 20, 21)
    fool_value: int = 4
    trump_top: int = 21
    overtrump: bool = True
    cheapest_overtrump: bool = False
    fool_lost_in_last_trick: bool = True
    leftovers: Literal["exact", "whole"] = "exact"
    discard_ban: tuple[int, ...] = (20, 21)
    bagatto_fool_blocks: bool = False
    fool_discardable: bool = False
    ultimo: Literal["off", "bagatto", "bagatto_or_fool"] = "off"
    settlement: Literal["net", "lowest_pays"] = "net"

    def __post_init__(self) -> None:
        for name in ("honours", "discard_ban"):
            object.__setattr__(self, name, _trump_numbers(name, getattr(self, name)))
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            # True == 1 and 20.0 == 20: equality alone would let another type in.
            if not any(value == choice and type(value) is type(choice) for choice in allowed):
                raise ValueError(f"{name}={value!r} is not allowed: expected {_listed(allowed)}")
        if (self.players, self.deck) not in _SIZES:
            raise ValueError(
                f"players={self.players} does not fit deck={self.deck!r}: "
                "the piccolo deck is dealt to 3 players, 12 cards each and 6 to the talon"
            )
        if self.total_points > MAX_TOTAL_POINTS:
            raise ValueError(
                f"honours={self.honours} with fool_value={self.fool_value} make {self.total_points} points a deal: "
                f"at most {MAX_TOTAL_POINTS} are allowed"
            )
        self._check_discard()

    def _check_discard(self) -> None:
        """Refuse a ban under which some dealer could not lay away enough cards (A9)."""
        never = len({*self.discard_ban, BAGATTO_NUMBER}) + NUM_SUITS + (not self.fool_discardable)
        room = self.hand_size
        if never > room:
            most = room - (never - len({*self.discard_ban, BAGATTO_NUMBER}))
            raise ValueError(
                f"discard_ban={self.discard_ban} bans too many cards: a dealer could be left with none to lay "
                f"away; with these rules at most {most} trumps, the Bagatto counted, may be banned"
            )

    @property
    def hand_size(self) -> int:
        """Cards dealt to each seat."""
        return _SIZES[self.players, self.deck][0]

    @property
    def talon_size(self) -> int:
        """Cards left over for the dealer, and laid away again (A8)."""
        return _SIZES[self.players, self.deck][1]

    @property
    def tricks(self) -> int:
        """Tricks in a deal (A18)."""
        return self.hand_size

    @property
    def deck_size(self) -> int:
        """Cards in the deck: 78 or 42."""
        return self.players * self.hand_size + self.talon_size

    @property
    def num_decisions(self) -> int:
        """Actions in a deal: the cards laid away and those played."""
        return self.talon_size + self.players * self.tricks

    @property
    def total_points(self) -> int:
        """Points of the whole deck, the ultimo bonus not counted.

        With ``leftovers="whole"`` at three, one pile is left with two cards over and another with one, since
        the Fool parts from its trick; a Fool lost in the last trick then makes the total one less.
        Four players' whole counts have no constant: this is then the exact total.
        """
        values = sum(card_value(self, card) for card in deck_cards(self))
        exact = values - 2 * self.deck_size // GROUP_SIZE
        return exact + (self.leftovers == "whole" and self.players == GROUP_SIZE)

    @property
    def par(self) -> Fraction:
        """A seat's fair share of the total (A21)."""
        return Fraction(self.total_points, self.players)


_BOOLEAN: Final = (True, False)
_CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "players": (3, 4),
    "deck": ("full", "piccolo"),
    "fool_value": tuple(range(1, 10)),
    "trump_top": (21, 20),
    "overtrump": _BOOLEAN,
    "cheapest_overtrump": _BOOLEAN,
    "fool_lost_in_last_trick": _BOOLEAN,
    "leftovers": ("exact", "whole"),
    "bagatto_fool_blocks": _BOOLEAN,
    "fool_discardable": _BOOLEAN,
    "ultimo": ("off", "bagatto", "bagatto_or_fool"),
    "settlement": ("net", "lowest_pays"),
}


def _listed(values: Iterable[Any]) -> str:
    return " or ".join(repr(value) for value in values)


def _trump_numbers(name: str, numbers: Any) -> tuple[int, ...]:
    """Return trump numbers sorted and without repeats, so that equal rules compare equal."""
    try:
        listed = list(numbers)
    except TypeError:
        listed = [numbers]
    for number in listed:
        if type(number) is not int or not 1 <= number <= NUM_TRUMPS:
            raise ValueError(f"{name}={numbers!r} is not allowed: expected trump numbers 1..{NUM_TRUMPS}")
    return tuple(sorted(set(listed)))


def card_value(rules: Rules, card: int) -> int:
    """Return what a card counts inside the count by threes (A4)."""
    if card == FOOL:
        return rules.fool_value
    if card >= FIRST_TRUMP:
        return HONOUR_VALUE if int(STRENGTH[card]) in rules.honours else EMPTY_VALUE
    strength = int(STRENGTH[card])
    return COURT_VALUES[strength - JACK_STRENGTH] if strength >= JACK_STRENGTH else EMPTY_VALUE


def deck_cards(rules: Rules) -> tuple[int, ...]:
    """Return the cards of the deck in order (A1; piccolo: trumps, Fool, courts, best pip of each suit)."""
    weakest = JACK_STRENGTH - 1 if rules.deck == "piccolo" else 0
    return tuple(card for card in range(NUM_CARDS) if card >= FIRST_TRUMP or int(STRENGTH[card]) >= weakest)


PRESETS: Final = MappingProxyType(
    {
        "scarto": Rules(),
        "traditional": Rules(
            honours=(1, 20),
            trump_top=20,
            overtrump=False,
            fool_lost_in_last_trick=False,
            leftovers="whole",
            discard_ban=(20,),
            bagatto_fool_blocks=True,
        ),
        "four_player": Rules(players=4),
        "piccolo": Rules(deck="piccolo"),
        "free_fool": Rules(fool_discardable=True),
        "ultimo": Rules(ultimo="bagatto"),
    }
)
"""The named rule sets (RULES.md, presets)."""


def as_rules(rules: str | Rules) -> Rules:
    """Return the rules that a preset's name or a ``Rules`` stands for.

    Raises:
        ValueError: no preset has that name, or the value is neither.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str) and rules in PRESETS:
        return PRESETS[rules]
    near = difflib.get_close_matches(str(rules), PRESETS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"rules={rules!r} is no preset and no Rules: expected one of {', '.join(PRESETS)}{hint}")


def rules_name(rules: Rules) -> str:
    """Return the preset's name, or the options that differ from the nearest preset: ``"scarto, trump_top=20"``."""
    fields = [field.name for field in dataclasses.fields(Rules)]
    differences = {
        name: [field for field in fields if getattr(preset, field) != getattr(rules, field)]
        for name, preset in PRESETS.items()
    }
    nearest = min(differences, key=lambda name: len(differences[name]))
    return ", ".join([nearest, *(f"{field}={getattr(rules, field)!r}" for field in differences[nearest])])


SUITS_WORD: Final = 0
TAROCCHI_WORD: Final = 1


def card_set(cards: Iterable[int]) -> tuple[int, int]:
    """Return cards as a set of two words: one bit a plain card, and one bit a trump or the Fool."""
    plain = tarocchi = 0
    for card in cards:
        if card < FIRST_TRUMP:
            plain |= 1 << card
        else:
            tarocchi |= 1 << (card - FIRST_TRUMP)
    return plain, tarocchi


TABLE: Final = np.dtype(
    [
        ("higher", np.int64, (NUM_TRUMPS + 1,)),  # trumps that beat trump n; n = 0: all trumps
        ("never_discard", np.int64, (2,)),  # never laid away (A9), the Bagatto apart
        ("value", np.int16, (NUM_CARDS,)),
        ("power", np.int16, (NUM_CARDS,)),  # greater takes, among the led suit and the trumps
        ("deck", np.int8, (NUM_CARDS,)),  # the first ``deck_size`` entries are the cards
        ("players", np.int8),
        ("hand_size", np.int8),
        ("talon_size", np.int8),
        ("tricks", np.int8),
        ("deck_size", np.int8),
        ("overtrump", np.bool_),
        ("cheapest_overtrump", np.bool_),
        ("fool_lost_in_last_trick", np.bool_),
        ("whole", np.bool_),
        ("bagatto_fool_blocks", np.bool_),
        ("fool_discardable", np.bool_),
        ("bonus_cards", np.int64),  # tarocchi that bring the ultimo in the last trick (A20)
        ("lowest_pays", np.bool_),
        ("reward_kind", np.int8),  # of a batch, not of the rules: what is paid, and whether a deal follows
        ("redeal", np.bool_),
    ],
    align=True,
)
"""What the kernels need to know of ``Rules``: one record."""


def _trump_rank(rules: Rules, number: int) -> int:
    """Return a trump's rank 1..21 (A3: with ``trump_top=20`` XX and XXI change places)."""
    if rules.trump_top == NUM_TRUMPS - 1 and number >= NUM_TRUMPS - 1:
        return 2 * NUM_TRUMPS - 1 - number
    return number


@functools.cache
def rules_table(rules: Rules) -> np.recarray[Any, Any]:
    """Return the one-record read-only table of ``rules`` for the kernels."""
    table = np.zeros(1, TABLE).view(np.recarray)
    rank = {number: _trump_rank(rules, number) for number in range(1, NUM_TRUMPS + 1)}
    rank[0] = 0
    record = table[0]
    for number in range(NUM_TRUMPS + 1):
        record.higher[number] = sum(1 << (above - 1) for above in rank if rank[above] > rank[number])
    kings = [suit * SUIT_SIZE + KING_STRENGTH for suit in range(NUM_SUITS)]
    banned = [FIRST_TRUMP + number - 1 for number in rules.discard_ban]
    record.never_discard[:] = card_set(kings + banned + ([] if rules.fool_discardable else [FOOL]))
    record.value[:] = [card_value(rules, card) for card in range(NUM_CARDS)]
    record.power[:FIRST_TRUMP] = STRENGTH[:FIRST_TRUMP]
    record.power[FIRST_TRUMP:FOOL] = [NO_TRUMP_POWER + rank[number] for number in range(1, NUM_TRUMPS + 1)]
    record.power[FOOL] = -1
    cards = deck_cards(rules)
    record.deck[: len(cards)] = cards
    for name in ("players", "hand_size", "talon_size", "tricks", "deck_size", "overtrump", "cheapest_overtrump",
                 "fool_lost_in_last_trick", "bagatto_fool_blocks", "fool_discardable"):  # fmt: skip
        setattr(record, name, getattr(rules, name))
    record.whole = rules.leftovers == "whole"
    bonus = {"off": [], "bagatto": [BAGATTO], "bagatto_or_fool": [BAGATTO, FOOL]}[rules.ultimo]
    record.bonus_cards = card_set(bonus)[TAROCCHI_WORD]
    record.lowest_pays = rules.settlement == "lowest_pays"
    table.flags.writeable = False
    return table
