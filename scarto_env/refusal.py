"""Why a card is refused: the error that names card, seat and article.

The kernels decide what is legal; here an illegal card is only explained.
"""

from __future__ import annotations

from typing import Any, Final

from scarto_env.cards import (
    BAGATTO,
    FIRST_TRUMP,
    FOOL,
    KING_STRENGTH,
    NUM_CARDS,
    NUM_SUITS,
    STRENGTH,
    TRUMPS,
    card_code,
    suit_name,
)
from scarto_env.rules import Rules, card_set, deck_cards
from scarto_env.state import DISCARD, OVER, cards_of


class IllegalActionError(ValueError):
    """An action that the rules refuse; nothing has been changed.

    Attributes:
        action: what was asked for.
        seat: who acted.
        article: the article of RULES.md that refuses it, such as ``"A12"``.
        reason: the refusal in words.
        game: index of the game in its batch, 0 for a game on its own.
    """

    def __init__(self, action: int, seat: int, article: str, reason: str, game: int | None = None) -> None:
        """Make the error; ``game`` is named in the message if there is one."""
        card = card_code(action) if 0 <= action < NUM_CARDS else str(action)
        where = "" if game is None else f"game {game}: "
        super().__init__(f"{where}seat {seat} may not play {card}: {reason} ({article})")
        self.action, self.seat, self.article, self.reason = action, seat, article, reason
        self.game = game or 0
        self._arguments = (action, seat, article, reason, game)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the constructor's arguments, so that worker processes can report it."""
        return IllegalActionError, self._arguments


def refusal(row: Any, rules: Rules, card: int, game: int | None = None) -> IllegalActionError:
    """Return the error for a card that is not legal in a game's row."""
    article, reason = _reason(row, rules, card)
    return IllegalActionError(card, int(row.seat), article, reason, game)


def _reason(row: Any, rules: Rules, card: int) -> tuple[str, str]:
    if not 0 <= card < NUM_CARDS:
        return "A1", f"an action is a card 0..{NUM_CARDS - 1}"
    if row.phase == OVER:
        return "A18", "the deal is over"
    if card not in deck_cards(rules):
        return "A1", f"it is not in the {rules.deck} deck"
    words = card_set([card])
    if not (int(row.hand[row.seat][0]) & words[0] or int(row.hand[row.seat][1]) & words[1]):
        # The dealer alone knows (A10): to the others it is a card like any that they do not hold.
        if row.seat == row.dealer and (words[0] & int(row.discarded[0]) or words[1] & int(row.discarded[1])):
            return "A10", "it has been laid away"
        return ("A8" if row.phase == DISCARD else "A11"), "the seat does not hold it"
    if row.phase == DISCARD:
        return "A9", _ban(card, rules)
    if row.led_suit < NUM_SUITS and set(cards_of(row.legal)) - set(range(FIRST_TRUMP, NUM_CARDS)):
        return "A12", f"{suit_name(int(row.led_suit), 'en')} must be followed"
    if card < FIRST_TRUMP:
        return "A13", "a trump must be played" if row.led_suit != TRUMPS else "trumps must be followed"
    best = f"the {card_code(int(row.table[row.best_seat]))} on the table" if row.best_seat >= 0 else "the trick"
    if rules.overtrump and not _beats_as_legal(row, rules, card):
        return "A13", f"a trump that beats {best} must be played"
    return "A13", "a trump that beats must be the lowest that does"


def _beats_as_legal(row: Any, rules: Rules, card: int) -> bool:
    """Return whether the refused trump is at least as high as the lowest legal one."""
    order = list(range(FIRST_TRUMP, FOOL))
    if rules.trump_top != STRENGTH[order[-1]]:
        order[-2:] = reversed(order[-2:])
    lowest = min(order.index(legal) for legal in cards_of(row.legal) if legal != FOOL)
    return order.index(card) >= lowest


_BAN_REASONS: Final = {
    FOOL: "the Fool is never laid away",
    BAGATTO: "the Bagatto is laid away only as the one trump of the full hand",
}


def _ban(card: int, rules: Rules) -> str:
    if card < FIRST_TRUMP and STRENGTH[card] == KING_STRENGTH:
        return "a king is never laid away"
    if card != FOOL and card >= FIRST_TRUMP and int(STRENGTH[card]) in rules.discard_ban:
        return f"trump {card_code(card)} is never laid away"
    return _BAN_REASONS[card]
