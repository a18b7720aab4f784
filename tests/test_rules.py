"""Rules and presets: their values, what follows from them, and mixes that cannot be played."""

import copy
import dataclasses
import pickle
import re
from fractions import Fraction

import pytest
from positions import ID, MIXES, codes_of
from reference import card_values, count_points, deck

from scarto_env import PRESETS, Batch, Deal, Rules
from scarto_env.rules import as_rules, card_value, deck_cards, rules_name, rules_table

# The table of presets, field by field; a dot repeats the default.
PRESET_TABLE = """
                        scarto   traditional four_player piccolo  free_fool ultimo
players                 3        .           4           .        .         .
deck                    full     .           .           piccolo  .         .
hand_size               25       .           19          12       .         .
talon_size              3        .           2           6        .         .
tricks                  25       .           19          12       .         .
honours                 1,20,21  1,20        .           .        .         .
fool_value              4        .           .           .        .         .
trump_top               21       20          .           .        .         .
overtrump               yes      no          .           .        .         .
cheapest_overtrump      no       .           .           .        .         .
fool_lost_in_last_trick yes      no          .           .        .         .
leftovers               exact    whole       .           .        .         .
discard_ban             20,21    20          .           .        .         .
bagatto_fool_blocks     no       yes         .           .        .         .
fool_discardable        no       .           .           .        yes       .
ultimo                  off      .           .           .        .         bagatto
settlement              net      .           .           .        .         .
total_points            81       78          .           69       .         .
par                     27       26          81/4        23       .         .
"""


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(str(number) for number in value)
    return str(value)


def test_presets_are_those_of_the_table() -> None:
    header, *lines = PRESET_TABLE.strip("\n").splitlines()
    names = header.split()
    assert list(PRESETS) == names
    for line in lines:
        field, default, *others = line.split()
        expected = [default, *(default if entry == "." else entry for entry in others)]
        assert [shown(getattr(PRESETS[name], field)) for name in names] == expected, field
    fields = {line.split()[0] for line in lines}
    assert {field.name for field in dataclasses.fields(Rules)} <= fields


def test_scarto_is_the_default() -> None:
    assert Rules() == PRESETS["scarto"] == as_rules("scarto")
    assert Batch(1, seed=0).rules == Rules()


@pytest.mark.parametrize("preset", PRESETS)
def test_a4_values_and_deck(preset: str) -> None:
    rules, options = MIXES[preset]
    values = card_values(options.honours, options.fool_value)
    assert codes_of(deck_cards(rules)) == deck(options)
    assert {code: card_value(rules, card) for code, card in ID.items()} == values
    assert rules.players * rules.hand_size + rules.talon_size == rules.deck_size == len(deck(options))
    assert rules.num_decisions == rules.talon_size + rules.players * rules.tricks
    # The Fool counted apart, as it lies when it was played before the last trick.
    exact = count_points(deck(options), dataclasses.replace(options, leftovers="exact"))
    assert rules.total_points == exact + (options.leftovers == "whole")
    assert rules.par == Fraction(rules.total_points, rules.players)


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_are_frozen_hashable_and_picklable(preset: str) -> None:
    rules = PRESETS[preset]
    assert pickle.loads(pickle.dumps(rules)) == rules == copy.deepcopy(rules)
    assert hash(dataclasses.replace(rules)) == hash(rules)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.players = 4  # type: ignore[misc]
    with pytest.raises(TypeError):
        PRESETS["mine"] = rules  # type: ignore[index]
    assert not rules_table(rules).flags.writeable


def test_equal_choices_are_equal_rules() -> None:
    assert Rules(honours=[21, 1, 20, 1]) == Rules(honours=(1, 20, 21))  # type: ignore[arg-type]
    assert Rules(discard_ban={21, 20}) == Rules()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"players": 2}, "players"),
        ({"players": 5}, "players"),
        ({"players": 3.0}, "players"),
        ({"players": "3"}, "players"),
        ({"players": None}, "players"),
        ({"players": True}, "players"),
        ({"players": 4, "deck": "piccolo"}, "players=4 does not fit deck='piccolo'"),
        ({"deck": "half"}, "deck"),
        ({"deck": None}, "deck"),
        ({"honours": (0,)}, "honours"),
        ({"honours": (22,)}, "honours"),
        ({"honours": (1.0,)}, "honours"),
        ({"honours": "21"}, "honours"),
        ({"honours": None}, "honours"),
        ({"honours": (True,)}, "honours"),
        ({"honours": tuple(range(1, 22))}, "honours"),
        ({"fool_value": 0}, "fool_value"),
        ({"fool_value": 10}, "fool_value"),
        ({"fool_value": float("nan")}, "fool_value"),
        ({"trump_top": 19}, "trump_top"),
        ({"trump_top": 20.0}, "trump_top"),
        ({"overtrump": 1}, "overtrump"),
        ({"overtrump": "no"}, "overtrump"),
        ({"cheapest_overtrump": None}, "cheapest_overtrump"),
        ({"fool_lost_in_last_trick": 0}, "fool_lost_in_last_trick"),
        ({"leftovers": "half"}, "leftovers"),
        ({"leftovers": True}, "leftovers"),
        ({"discard_ban": (25,)}, "discard_ban"),
        ({"discard_ban": ("20",)}, "discard_ban"),
        ({"discard_ban": tuple(range(1, 22))}, "discard_ban"),
        ({"deck": "piccolo", "discard_ban": tuple(range(2, 10))}, "discard_ban"),
        ({"players": 4, "discard_ban": tuple(range(2, 17))}, "discard_ban"),
        ({"bagatto_fool_blocks": "yes"}, "bagatto_fool_blocks"),
        ({"fool_discardable": 1.0}, "fool_discardable"),
        ({"ultimo": "fool"}, "ultimo"),
        ({"ultimo": False}, "ultimo"),
        ({"settlement": "highest_pays"}, "settlement"),
        ({"settlement": []}, "settlement"),
    ],
)
def test_refused_values_and_mixes_name_the_field(fields: dict, name: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(name)):
        Rules(**fields)


@pytest.mark.parametrize(
    ("fields", "most"),
    [({}, 20), ({"fool_discardable": True}, 21), ({"players": 4}, 14), ({"deck": "piccolo"}, 7)],
)
def test_a9_the_longest_ban_leaves_enough_to_lay_away(fields: dict, most: int) -> None:
    """With the most trumps banned, the dealer who holds them all, the kings and the Fool can still lay away."""
    rules = Rules(discard_ban=tuple(range(1, most + 1)), **fields)
    kept = [*(ID[suit + "K"] for suit in "CDBS"), *(ID[f"{number:02}"] for number in range(1, most + 1)), ID["MT"]]
    others = [card for card in deck_cards(rules) if card not in kept]
    cards = kept + others
    size = rules.hand_size
    hands = [cards[seat * size : (seat + 1) * size] for seat in range(rules.players)]
    batch = Batch(1, rules, seed=0, redeal=False)
    batch.set_deal(0, Deal(hands, cards[rules.players * size :], 0))
    assert batch.action_mask.sum() >= rules.talon_size
    if most < 21:
        assert batch.action_mask.sum() == rules.talon_size
        with pytest.raises(ValueError, match=r"^discard_ban"):
            Rules(discard_ban=tuple(range(1, most + 2)), **fields)


@pytest.mark.parametrize("rules", ["skat", "", None, 3, {"players": 3}, ["scarto"]])
def test_unknown_presets_are_refused_with_the_list(rules: object) -> None:
    with pytest.raises(ValueError, match=r"rules=.* is no preset and no Rules: expected one of scarto, trad"):
        as_rules(rules)  # type: ignore[arg-type]


def test_a_mistyped_preset_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'traditional'"):
        Batch(1, "tradicional")


def test_rules_name() -> None:
    assert [rules_name(rules) for rules in PRESETS.values()] == list(PRESETS)
    assert rules_name(Rules(trump_top=20)) == "scarto, trump_top=20"
