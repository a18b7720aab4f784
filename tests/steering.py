"""Ways to choose cards that meet the rare cases, and deals made for them."""

import random
from collections.abc import Callable, Sequence

from positions import deal_in_order, random_deal
from reference import BAGATTO, CARDS_OF, FOOL, KINGS, TRUMP, TRUMP_NUMBER, Game, Options, deck

from scarto_env import Deal

Choice = Callable[[Game, Sequence[str], random.Random], str]
"""A way to choose a card: the game, its legal cards in order, a generator."""

TRUMPS = CARDS_OF[TRUMP]


def at_random(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Play any legal card."""
    return legal[int(rng.random() * len(legal))]


def fool_to_the_end(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Keep the Fool for the last trick."""
    return at_random(game, [card for card in legal if card != FOOL] or legal, rng)


def fool_led(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Keep the Fool until the seat leads, and lead it."""
    if FOOL in legal and game.phase == "play" and not game.table:
        return FOOL
    return fool_to_the_end(game, legal, rng)


def trumps_hoarded(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Play trumps only when nothing else is legal."""
    return at_random(game, [card for card in legal if card not in TRUMPS] or legal, rng)


def bagatto_to_the_end(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Keep the Bagatto for the last trick, and the trumps that protect it."""
    others = [card for card in legal if card != BAGATTO] or legal
    return at_random(game, [card for card in others if card not in TRUMPS] or others, rng)


def tarocchi_away(game: Game, legal: Sequence[str], rng: random.Random) -> str:
    """Lay away the Bagatto, the Fool and trumps where that is allowed."""
    if game.phase == "discard":
        for wanted in ({BAGATTO}, {FOOL}, TRUMPS):
            cards = [card for card in legal if card in wanted]
            if cards:
                return at_random(game, cards, rng)
    return at_random(game, legal, rng)


STEERED: tuple[Choice, ...] = (
    fool_to_the_end,
    fool_led,
    trumps_hoarded,
    bagatto_to_the_end,
    tarocchi_away,
)


def least_discards_deal(options: Options, rng: random.Random) -> Deal:
    """Return a deal whose dealer holds all the cards that may not be laid away."""
    banned = {*KINGS, BAGATTO, FOOL, *(f"{number:02}" for number in options.discard_ban)}
    cards = deck(options)
    rng.shuffle(cards)
    cards.sort(key=lambda card: card not in banned)
    full = cards[: options.hand_size + options.talon_size]
    rng.shuffle(full)
    return deal_in_order(options, full + cards[len(full) :], rng.randrange(options.players))


def lone_bagatto_deal(options: Options, rng: random.Random) -> Deal:
    """Return a deal whose dealer holds the Bagatto and no other trump, and often the Fool."""
    others = TRUMP_NUMBER.keys() - {BAGATTO}
    fool_place = rng.choice([0, 0, 2])
    place = {BAGATTO: 0, FOOL: fool_place, **dict.fromkeys(others, 2)}
    cards = deck(options)
    rng.shuffle(cards)
    cards.sort(key=lambda card: place.get(card, 1))
    full, rest = (
        cards[: options.hand_size + options.talon_size],
        cards[options.hand_size + options.talon_size :],
    )
    rng.shuffle(full)
    rng.shuffle(rest)
    return deal_in_order(options, full + rest, rng.randrange(options.players))


def long_suits_deal(options: Options, rng: random.Random) -> Deal:
    """Return a deal of long suits and voids: the sorted deck, cut and barely shuffled."""
    cards = deck(options)
    cut = rng.randrange(len(cards))
    cards = cards[cut:] + cards[:cut]
    for _ in range(rng.choice([0, 4, 12])):
        first, second = rng.sample(range(len(cards)), 2)
        cards[first], cards[second] = cards[second], cards[first]
    return deal_in_order(options, cards, rng.randrange(options.players))


DEALS: tuple[Callable[[Options, random.Random], Deal], ...] = (
    random_deal,
    random_deal,
    least_discards_deal,
    lone_bagatto_deal,
    long_suits_deal,
)
