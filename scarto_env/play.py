"""The rules in code: deal, legal cards, lay away, play a card, take a trick, count (kernels).

Every kernel takes a game's row and the rules' record, writes in place, allocates nothing, raises nothing,
and trusts its caller that the card is legal (``Batch.step`` checks).  Articles are those of RULES.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarto_env.cards import (
    ALL_TRUMPS,
    BAGATTO_BIT,
    FIRST_TRUMP,
    FOOL,
    FOOL_BIT,
    NO_CARD,
    NO_SUIT,
    NUM_SUITS,
    NUM_TRUMPS,
    SUIT,
    SUIT_BITS,
    SUIT_SIZE,
    TRUMPS,
)
from scarto_env.jit import kernel, lowest_bit, popcount
from scarto_env.rules import NO_TRUMP_POWER, THIRDS, ULTIMO_POINTS
from scarto_env.state import DISCARD, NO_SEAT, OVER, PLAY

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mixed(word: Any) -> Any:
    """Return a 64-bit word scrambled (the output function of SplitMix64, Steele et al. 2014)."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@kernel
def bounded(word: Any, bound: int) -> int:
    """Return the high half of ``word`` scaled to 0..bound-1, or -1 where keeping it would favour some numbers.

    The multiply-and-reject method of Lemire (2019): exactly uniform over words.
    """
    product = (word >> _S32) * np.uint64(bound)
    low = product & _LOW_HALF
    if low < np.uint64(bound) and low < (np.uint64(1) << _S32) % np.uint64(bound):
        return -1
    return np.int64(product >> _S32)  # type: ignore[return-value] # Numba's int() would keep it unsigned


@kernel
def next_deal_number(game: Any, bound: int) -> int:
    """Return a number uniform over 0..bound-1 from the deals' generator."""
    number = -1
    while number < 0:
        game.deal_random += _GOLDEN
        number = bounded(mixed(game.deal_random), bound)
    return number


@kernel
def next_bot_number(game: Any, bound: int) -> int:
    """Return a number uniform over 0..bound-1 from the bots' generator."""
    number = -1
    while number < 0:
        game.bot_random += _GOLDEN
        number = bounded(mixed(game.bot_random), bound)
    return number


@kernel
def start_deal(game: Any, rules: Any, dealer: int) -> None:
    """Clear the row for a deal by ``dealer``: empty hands, nothing played; score and match totals stay."""
    for seat in range(rules.players):
        for word in range(2):
            game.hand[seat, word] = 0
            game.played[seat, word] = 0
            game.pile[seat, word] = 0
            game.lacks[seat, word] = 0
        game.paid[seat] = 0
        game.pile_value[seat] = 0
        game.pile_size[seat] = 0
        game.points[seat] = 0
        game.table[seat] = NO_CARD
    for word in range(2):
        game.talon[word] = 0
        game.discarded[word] = 0
        game.discardable[word] = 0
        game.trick_cards[word] = 0
    for card in range(len(game.trick_of)):
        game.trick_of[card] = 0
    game.dealer = dealer
    game.leader = (dealer + 1) % rules.players
    game.seat = dealer
    game.phase = DISCARD
    game.turn = 0
    game.trick = 0
    game.trick_value = 0
    game.led_suit = NO_SUIT
    game.best_power = -1
    game.best_seat = NO_SEAT
    game.fool_seat = NO_SEAT
    game.num_discarded = 0


@kernel
def word_of(card: int) -> int:
    """Return which word of a set holds a card: a number to reckon with, since no branch could be foretold."""
    return int(card >= FIRST_TRUMP)


@kernel
def put(sets: Any, seat: int, card: int) -> None:
    """Add a card to a seat's set."""
    word = word_of(card)
    sets[seat, word] |= 1 << (card - FIRST_TRUMP * word)


@kernel
def deal(game: Any, rules: Any, dealer: int) -> None:
    """Shuffle and deal the game's next deal (A6, A7); a negative ``dealer`` is drawn.

    The deal depends on the game's key and the deal's number alone: the generator starts anew from them.
    """
    game.deal_number += 1
    game.deal_random = mixed(game.key + np.uint64(game.deal_number + 1) * _GOLDEN)
    drawn = next_deal_number(game, rules.players)
    if dealer < 0:
        dealer = drawn
    start_deal(game, rules, dealer)
    # The deck is shuffled in the row itself: ``trick_of`` is free until the first play.
    deck = game.trick_of
    for place in range(rules.deck_size):
        deck[place] = rules.deck[place]
    seat = dealer
    left = rules.deck_size
    for _ in range(rules.players):
        seat = (seat + 1) % rules.players
        for _ in range(rules.hand_size):
            place = next_deal_number(game, left)
            left -= 1
            put(game.hand, seat, int(deck[place]))
            deck[place] = deck[left]
    for place in range(left):
        card = int(deck[place])
        word = word_of(card)
        game.talon[word] |= 1 << (card - FIRST_TRUMP * word)
    for place in range(len(deck)):
        deck[place] = 0
    take_talon(game, rules)


@kernel
def take_talon(game: Any, rules: Any) -> None:
    """Give the dealer the talon and judge, on the full hand, what may be laid away (A8, A9)."""
    hand = game.hand[game.dealer]
    hand[0] |= game.talon[0]
    hand[1] |= game.talon[1]
    trumps = ALL_TRUMPS | FOOL_BIT if rules.bagatto_fool_blocks else ALL_TRUMPS
    never = rules.never_discard[1]
    if hand[1] & trumps & ~BAGATTO_BIT:
        never |= BAGATTO_BIT
    game.discardable[0] = hand[0] & ~rules.never_discard[0]
    game.discardable[1] = hand[1] & ~never
    game.legal[0] = game.discardable[0]
    game.legal[1] = game.discardable[1]


@kernel
def lay_away(game: Any, rules: Any, card: int) -> None:
    """Lay one card away for the dealer; after the last, forehand leads (A5, A8)."""
    word = word_of(card)
    bit = card - FIRST_TRUMP * word
    game.hand[game.dealer, word] &= ~(1 << bit)
    game.legal[word] &= ~(1 << bit)
    game.discarded[word] |= 1 << bit
    game.num_discarded += 1
    if game.num_discarded == rules.talon_size:
        game.phase = PLAY
        game.seat = game.leader
        set_legal(game, rules)


@kernel
def trumps_above(game: Any, rules: Any) -> int:
    """Return the trumps that beat every trump on the table, as a set."""
    if game.best_power <= NO_TRUMP_POWER:
        return ALL_TRUMPS
    return int(rules.higher[game.table[game.best_seat] - FIRST_TRUMP + 1])


@kernel
def lowest_trump(trumps: int, rules: Any) -> int:
    """Return, as a set of one, the lowest of a non-empty set of trumps by rank (A3)."""
    lowest = lowest_bit(trumps)
    # By number and by rank the order differs at most between XX and XXI.
    if lowest == NUM_TRUMPS - 2 and trumps >> (NUM_TRUMPS - 1) & 1 and not rules.higher[NUM_TRUMPS - 1]:
        lowest = NUM_TRUMPS - 1
    return 1 << lowest


@kernel
def set_legal(game: Any, rules: Any) -> None:
    """Write what the seat to act may play (A11-A15)."""
    plain = game.hand[game.seat, 0]
    tarocchi = game.hand[game.seat, 1]
    led_suit = int(game.led_suit)
    if led_suit == NO_SUIT:
        game.legal[0] = plain
        game.legal[1] = tarocchi
        return
    if led_suit < NUM_SUITS:
        following = plain & (SUIT_BITS << (SUIT_SIZE * led_suit))
        if following:
            game.legal[0] = following
            game.legal[1] = tarocchi & FOOL_BIT
            return
    trumps = tarocchi & ALL_TRUMPS
    if not trumps:
        game.legal[0] = plain
        game.legal[1] = tarocchi
        return
    above = trumps & trumps_above(game, rules)
    if above:
        cheapest = lowest_trump(above, rules) if rules.cheapest_overtrump else above
        trumps = cheapest if rules.overtrump else trumps & ~above | cheapest
    game.legal[0] = 0
    game.legal[1] = trumps | tarocchi & FOOL_BIT


@kernel
def note_lacks(game: Any, rules: Any, suit: int, card: int) -> None:
    """Record what a card other than the Fool, not led, proves its seat not to hold (A12, A13)."""
    lacks = game.lacks[game.seat]
    led_suit = int(game.led_suit)
    if suit == led_suit and suit != TRUMPS:
        return
    if led_suit != TRUMPS:
        lacks[0] |= SUIT_BITS << (SUIT_SIZE * led_suit)
    if suit != TRUMPS:
        lacks[1] |= ALL_TRUMPS
        return
    above = trumps_above(game, rules)
    bit = 1 << (card - FIRST_TRUMP)
    if not above & bit:
        if rules.overtrump:
            lacks[1] |= above
    elif rules.cheapest_overtrump:
        lacks[1] |= above & ~rules.higher[card - FIRST_TRUMP + 1] & ~bit


@kernel
def play(game: Any, rules: Any, card: int) -> None:
    """Play a card to the trick for the seat to act; a full trick is taken, the last one counted (A11-A18)."""
    seat = game.seat
    suit = SUIT[card]
    word = word_of(card)
    bit = 1 << (card - FIRST_TRUMP * word)
    game.hand[seat, word] &= ~bit
    game.played[seat, word] |= bit
    game.trick_cards[word] |= bit
    game.table[seat] = card
    game.trick_of[card] = game.trick + 1
    if card == FOOL:
        game.fool_seat = seat
    else:
        game.trick_value += rules.value[card]
        if game.led_suit == NO_SUIT:
            game.led_suit = suit
            game.best_power = rules.power[card]
            game.best_seat = seat
        else:
            note_lacks(game, rules, suit, card)
            if rules.power[card] > game.best_power and (suit == game.led_suit or suit == TRUMPS):
                game.best_power = rules.power[card]
                game.best_seat = seat
    game.turn += 1
    if game.turn == rules.players:
        take_trick(game, rules)
    else:
        game.seat = seat + 1 if seat + 1 < rules.players else 0
        set_legal(game, rules)


@kernel
def counted(value: int, size: int, rules: Any) -> int:
    """Return the points, in thirds, of a pile of ``size`` cards worth ``value`` before the count (A19)."""
    value = int(value)  # wider than the row's field
    size = int(size)
    if not rules.whole:
        return THIRDS * value - 2 * size
    threes = size // 3
    # One card left over costs nothing, two cost one point.
    return THIRDS * (value - 2 * threes - (size - 3 * threes) // 2)


@kernel
def add_to_pile(game: Any, rules: Any, seat: int, plain: int, tarocchi: int, value: int, size: int) -> None:
    """Put cards on a seat's pile and count it anew."""
    game.pile[seat, 0] |= plain
    game.pile[seat, 1] |= tarocchi
    game.pile_value[seat] += value
    game.pile_size[seat] += size
    game.points[seat] = counted(game.pile_value[seat], game.pile_size[seat], rules)


@kernel
def take_trick(game: Any, rules: Any) -> None:
    """Give the full trick to its winner, who leads next; the Fool to its player or, if lost, the winner (A16, A17)."""
    winner = game.best_seat
    fool_seat = game.fool_seat
    plain = game.trick_cards[0]
    tarocchi = game.trick_cards[1] & ALL_TRUMPS
    game.trick += 1
    last = game.trick == rules.tricks
    if fool_seat == NO_SEAT:
        add_to_pile(game, rules, winner, plain, tarocchi, game.trick_value, rules.players)
    else:
        owner = winner if last and rules.fool_lost_in_last_trick else fool_seat
        add_to_pile(game, rules, winner, plain, tarocchi, game.trick_value, rules.players - 1)
        add_to_pile(game, rules, owner, 0, FOOL_BIT, rules.value[FOOL], 1)
    bonus = last and game.trick_cards[1] & rules.bonus_cards
    for seat in range(rules.players):
        game.table[seat] = NO_CARD
    game.trick_cards[0] = 0
    game.trick_cards[1] = 0
    game.trick_value = 0
    game.turn = 0
    game.led_suit = NO_SUIT
    game.best_power = -1
    game.best_seat = NO_SEAT
    game.fool_seat = NO_SEAT
    game.leader = winner
    game.seat = winner
    if last:
        if bonus:
            game.points[winner] += THIRDS * ULTIMO_POINTS
        count_deal(game, rules)
    else:
        game.legal[0] = game.hand[winner, 0]
        game.legal[1] = game.hand[winner, 1]


@kernel
def set_value(plain: int, tarocchi: int, rules: Any) -> int:
    """Return the sum of the values of a set of cards (A4)."""
    value = 0
    while plain:
        value += rules.value[lowest_bit(plain)]
        plain &= plain - 1
    while tarocchi:
        value += rules.value[FIRST_TRUMP + lowest_bit(tarocchi)]
        tarocchi &= tarocchi - 1
    return value


@kernel
def count_deal(game: Any, rules: Any) -> None:
    """End the deal: the discard joins the dealer's pile, points are counted, scores settled (A10, A19-A22)."""
    dealer = game.dealer
    bonus = game.points[dealer] - counted(game.pile_value[dealer], game.pile_size[dealer], rules)
    value = set_value(game.discarded[0], game.discarded[1], rules)
    add_to_pile(game, rules, dealer, game.discarded[0], game.discarded[1], value, rules.talon_size)
    game.points[dealer] += bonus
    players = int(rules.players)
    total = 0
    for seat in range(players):
        total += game.points[seat]
    for seat in range(players):
        game.score[seat] = players * game.points[seat] - total
        game.settled[seat] = 2 * game.score[seat]
    if rules.lowest_pays:
        let_lowest_pay(game, players)
    game.phase = OVER
    game.legal[0] = 0
    game.legal[1] = 0


@kernel
def let_lowest_pay(game: Any, players: int) -> None:
    """Settle so that the seats with the lowest score alone pay, in equal parts, what positive scores receive (A22)."""
    lowest = game.settled[0]
    received = 0
    for seat in range(players):
        lowest = min(lowest, game.settled[seat])
        received += max(game.settled[seat], 0)
    payers = 0
    for seat in range(players):
        payers += game.settled[seat] == lowest
    if received == 0:
        return
    for seat in range(players):
        if game.settled[seat] == lowest:
            game.settled[seat] = -(received // payers)
        elif game.settled[seat] < 0:
            game.settled[seat] = 0


@kernel
def act(game: Any, rules: Any, card: int) -> None:
    """Lay the card away or play it, whichever the phase asks."""
    if game.phase == PLAY:
        play(game, rules, card)
    else:
        lay_away(game, rules, card)


@kernel
def is_legal(game: Any, card: int) -> bool:
    """Return whether the seat to act may lay away or play ``card``, any whole number."""
    if card < 0 or card > FOOL:
        return False
    word = word_of(card)
    return bool(game.legal[word] >> (card - FIRST_TRUMP * word) & 1)


@kernel
def card_at(plain: int, tarocchi: int, place: int) -> int:
    """Return the card at ``place`` 0.. of a set in rising order."""
    num_plain = popcount(plain)
    word = int(place >= num_plain)
    place -= num_plain * word
    cards = tarocchi if word else plain
    # Halving: how many cards lie in the lower half says in which half the card is, without a branch.
    card = FIRST_TRUMP * word
    for step in range(6):
        width = 32 >> step
        num_low = popcount(cards & ((1 << width) - 1))
        high = int(place >= num_low)
        place -= num_low * high
        cards >>= width * high
        card += width * high
    return card


@kernel
def random_card(game: Any) -> int:
    """Return a card uniform over the legal ones; moves the bots' generator."""
    num_legal = popcount(game.legal[0]) + popcount(game.legal[1])
    return card_at(game.legal[0], game.legal[1], next_bot_number(game, num_legal))


@kernel
def play_out(game: Any, rules: Any) -> int:
    """Play random legal cards to the end of the deal and return how many."""
    num_played = 0
    while game.phase != OVER:
        act(game, rules, random_card(game))
        num_played += 1
    return num_played
