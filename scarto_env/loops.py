"""The kernels that ``Batch`` calls: the rules over a range of games, each with its observation, mask and rewards."""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np

from scarto_env.cards import NUM_CARDS
from scarto_env.jit import allocating_kernel, array_at, copy, inlined_kernel, kernel, parallel_kernel, prefetch, stream
from scarto_env.observation import observe, relative, write_hidden, write_mask, write_state
from scarto_env.play import act, deal, is_legal, play_out, random_card, start_deal, take_talon
from scarto_env.rules import TABLE
from scarto_env.state import GAME, HOT_BYTES, OVER, SCORE_UNITS

SCORE, TRICK, WIN = range(3)
"""What is paid: the settled score at the end of a deal, the same trick by trick, or the win."""

WAIT, CARD, RANDOM, DEAL, GO_ON = range(5)
"""Orders to a game: stand still, play the action, play a random card, deal, none of these."""

_AHEAD: Final = 8
"""Games between the one that is stepped and the one that is asked for from memory."""
_LINE: Final = 64
"""Bytes that come from memory at a time."""

_CACHED: Final = 1 << 25
"""Bytes of observations and masks that a cache may keep: more are written past it."""
STAGE: Final = 1024
"""Bytes of room for a row on its way to memory: more than a row and a line."""

FRAME: Final = np.dtype(
    [(name, np.int64) for name in ("num_games", "width", "games", "table", "observation", "mask", "stage")]
)
"""Where a batch's arrays lie and how large they are: one record."""


def frame_of(
    games: np.ndarray[Any, Any], table: np.ndarray[Any, Any], observation: np.ndarray[Any, Any],
    mask: np.ndarray[Any, Any], stage: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:  # fmt: skip
    """Return the frame of a batch's arrays, ``stage`` a ``new_stage``; the caller keeps them as long as the frame."""
    places = (array.ctypes.data for array in (games, table, observation, mask, stage))
    return np.array([(*observation.shape, *places)], FRAME)


def new_stage(threads: int) -> np.ndarray[Any, Any]:
    """Return room for the rows that each thread is putting together."""
    return np.zeros((threads, 2, STAGE), np.int8)


@allocating_kernel
def arrays_of(frame: int) -> Any:
    """Return the games, the table, the observation and the mask of the frame at an address."""
    record = array_at(frame, (1,), FRAME)[0]
    return (
        array_at(record.games, (record.num_games,), GAME),
        array_at(record.table, (1,), TABLE),
        array_at(record.observation, (record.num_games, record.width), np.int8),
        array_at(record.mask, (record.num_games, NUM_CARDS), np.int8),
    )


@kernel
def part_of(games: Any, part: int, parts: int) -> tuple[int, int]:
    """Return where one of so many parts of the games starts and stops."""
    return len(games) * part // parts, len(games) * (part + 1) // parts


@kernel
def pay(game: Any, rules: Any) -> None:
    """Write the rewards of a trick just taken (A21, A22)."""
    reward = game.reward
    kind = int(rules.reward_kind)
    players = int(rules.players)
    over = game.phase == OVER
    unit = np.float32(SCORE_UNITS * players)
    if kind == TRICK:
        total = np.int64(0)
        for seat in range(players):
            total += game.points[seat]
        for seat in range(players):
            # Twice the public score: settled scores are kept in half units.
            due = int(game.settled[seat]) if over else 2 * (players * int(game.points[seat]) - total)
            reward[seat] = np.float32(due - game.paid[seat]) / unit
            game.paid[seat] = due
    elif over and kind == SCORE:
        for seat in range(players):
            reward[seat] = np.float32(game.settled[seat]) / unit
    elif over:
        highest = game.settled[0]
        for seat in range(players):
            highest = max(highest, game.settled[seat])
        winners = 0
        for seat in range(players):
            winners += game.settled[seat] == highest
        for seat in range(players):
            reward[seat] = np.float32(players / winners - 1) if game.settled[seat] == highest else np.float32(-1)


@kernel
def first_illegal(games: Any, actions: Any, start: int, stop: int) -> int:
    """Return the first of games ``start``..``stop``-1 whose action is not legal, or the number of all games.

    Games that are over take any action.
    """
    for index in range(start, stop):
        game = games[index]
        if game.phase != OVER and not is_legal(game, actions[index]):
            return index
    return len(games)


@kernel
def play_paid(game: Any, rules: Any, card: int) -> None:
    """Play one legal card and, if it ends a trick, write the rewards."""
    trick = game.trick
    act(game, rules, card)
    if game.trick != trick:
        pay(game, rules)


@kernel
def fetch_row(games: Any, ahead: int, stop: int) -> None:
    """Ask for the row of a game to come, if it is before ``stop``."""
    if ahead < stop:
        for offset in range(0, HOT_BYTES, _LINE):
            prefetch(games, ahead, offset)


@kernel
def fetch_ahead(games: Any, observation: Any, mask: Any, index: int, stop: int) -> None:
    """Ask for the memory of a game to come before ``stop``: games that fill more than a cache wait for it most."""
    ahead = index + _AHEAD
    fetch_row(games, ahead, stop)
    if ahead < stop:
        for offset in range(0, observation.shape[1], _LINE):
            prefetch(observation, ahead, offset)
        prefetch(mask, ahead, 0)


@inlined_kernel
def move(game: Any, rules: Any, card: int, observation: Any, mask: Any) -> None:
    """Play one legal card in a game, none if it is over, and write what the next seat sees."""
    for seat in range(rules.players):
        game.reward[seat] = 0
    game.done = False
    if game.phase != OVER:
        play_paid(game, rules, card)
        if game.phase == OVER:
            game.done = True
            if rules.redeal:
                deal(game, rules, -1)
    observe(game, rules, int(game.seat), observation)
    write_mask(game, mask)


@kernel
def advance(games: Any, table: Any, actions: Any, observation: Any, mask: Any, start: int, stop: int) -> None:
    """Play one legal card in games ``start``..``stop``-1 and write what the next seats see."""
    rules = table[0]
    for index in range(start, stop):
        fetch_ahead(games, observation, mask, index, stop)
        move(games[index], rules, actions[index], observation[index], mask[index])


@kernel
def stage_tail(out: Any, line: int, stop: int, stage: Any) -> int:
    """Copy what lies in ``out`` before ``stop`` in a line that is not full to ``stage``; return how many bytes.

    A line begins at ``line`` bytes.
    """
    number = (stop - line) % _LINE
    for place in range(number):
        stage[place] = out[stop - number + place]
    return number


@kernel
def send_lines(stage: Any, number: int, out: Any, stop: int) -> int:
    """Write the full lines among the staged bytes to ``out``, where they end before ``stop``; return what is left."""
    sent = 0
    while number - sent >= _LINE:
        stream(stage, sent, out, stop - number + sent)
        sent += _LINE
    copy(stage, sent, stage, 0)
    copy(stage, sent + _LINE // 2, stage, _LINE // 2)
    return number - sent


@kernel
def send_tail(stage: Any, number: int, out: Any, stop: int) -> None:
    """Write the last staged bytes, less than a line, to ``out`` before ``stop``."""
    for place in range(number):
        out[stop - number + place] = stage[place]


@kernel
def advance_uncached(
    games: Any, table: Any, actions: Any, observation: Any, mask: Any, line: int, mask_line: int, stage: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Do what ``advance`` does with observation and mask too large for a cache, here flat.

    A write to memory that is not cached first reads the line, unless a whole line is written past the caches: rows are
    therefore put together in ``stage``, [2, STAGE] int8, and sent line by line.  The first lines of the two begin at
    ``line`` and ``mask_line`` bytes.
    """
    rules = table[0]
    width = len(observation) // len(games)
    if start == stop:
        return
    move(games[start], rules, actions[start], observation[start * width : (start + 1) * width],
         mask[start * NUM_CARDS : (start + 1) * NUM_CARDS])  # fmt: skip
    number = stage_tail(observation, line, (start + 1) * width, stage[0])
    mask_number = stage_tail(mask, mask_line, (start + 1) * NUM_CARDS, stage[1])
    for index in range(start + 1, stop):
        fetch_row(games, index + _AHEAD, stop)
        move(games[index], rules, actions[index], stage[0, number : number + width],
             stage[1, mask_number : mask_number + NUM_CARDS])  # fmt: skip
        number = send_lines(stage[0], number + width, observation, (index + 1) * width)
        mask_number = send_lines(stage[1], mask_number + NUM_CARDS, mask, (index + 1) * NUM_CARDS)
    send_tail(stage[0], number, observation, stop * width)
    send_tail(stage[1], mask_number, mask, stop * NUM_CARDS)


@allocating_kernel
def advance_part(frame: int, actions: Any, part: int, parts: int) -> None:
    """Play one legal card in one of so many parts of a frame's games and write what the next seats see."""
    games, table, observation, mask = arrays_of(frame)
    start, stop = part_of(games, part, parts)
    record = array_at(frame, (1,), FRAME)[0]
    num_entries, num_cards = observation.size, mask.size
    if num_entries + num_cards <= _CACHED:
        advance(games, table, actions, observation, mask, start, stop)
    else:
        flat = array_at(record.observation, (num_entries,), np.int8)
        flat_mask = array_at(record.mask, (num_cards,), np.int8)
        stage = array_at(record.stage + 2 * STAGE * part, (2, STAGE), np.int8)
        advance_uncached(games, table, actions, flat, flat_mask, -record.observation % _LINE, -record.mask % _LINE,
                         stage, start, stop)  # fmt: skip


@allocating_kernel
def advance_one(frame: int, card: int) -> bool:
    """Play a card in the only game of a frame and return whether that could be done."""
    games, table, observation, mask = arrays_of(frame)
    if len(games) != 1 or (games[0].phase != OVER and not is_legal(games[0], card)):
        return False
    move(games[0], table[0], card, observation[0], mask[0])
    return True


@allocating_kernel
def checked_advance(frame: int, actions: Any) -> int:
    """Return the first game whose action is illegal, or their number after having played one card in every game."""
    games, _, _, _ = arrays_of(frame)
    illegal = first_illegal(games, actions, 0, len(games))
    if illegal == len(games):
        advance_part(frame, actions, 0, 1)
    return illegal


@parallel_kernel
def checked_advance_on_threads(frame: int, actions: Any, threads: int) -> int:
    """Do what ``checked_advance`` does, a range of games on each thread: rows stay in their core's cache."""
    games, _, _, _ = arrays_of(frame)
    illegal = len(games)
    for part in numba.prange(threads):
        start, stop = part_of(games, part, threads)
        illegal = min(illegal, first_illegal(games, actions, start, stop))
    if illegal == len(games):
        for part in numba.prange(threads):
            advance_part(frame, actions, part, threads)
    return illegal


@kernel
def first_misorder(games: Any, orders: Any, actions: Any, viewers: Any, players: int, start: int, stop: int) -> int:
    """Return the first of games ``start``..``stop``-1 whose order, ordered card or viewer is none, or their number."""
    for index in range(start, stop):
        game = games[index]
        order = orders[index]
        if order < WAIT or order > GO_ON or viewers[index] < 0 or viewers[index] >= players:
            return index
        if order == CARD and game.phase != OVER and not is_legal(game, actions[index]):
            return index
    return len(games)


@kernel
def advance_some(
    games: Any, table: Any, orders: Any, actions: Any, viewers: Any, random_places: Any, observation: Any,
    mask: Any, out: Any, gained: Any, score: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """Carry out orders in games ``start``..``stop``-1, then play for the seats that play at random.

    A viewer plays to every trick and is never random, so no more than one trick ends and is paid.  What a viewer
    gets, ``out``, [B, D] float32 or [0, D], ``gained`` and ``score``, each [B] float64 or [0], is written while the
    row is in the nearest cache.
    """
    rules = table[0]
    players = int(rules.players)
    for index in range(start, stop):
        order = orders[index]
        if order == WAIT:
            continue
        fetch_ahead(games, observation, mask, index, stop)
        game = games[index]
        viewer = int(viewers[index])
        for seat in range(players):
            game.reward[seat] = 0
        if order == DEAL:
            deal(game, rules, -1)
        elif order == CARD and game.phase != OVER:
            play_paid(game, rules, actions[index])
        elif order == RANDOM and game.phase != OVER:
            play_paid(game, rules, random_card(game))
        while game.phase != OVER and random_places[relative(int(game.seat), viewer, players)]:
            play_paid(game, rules, random_card(game))
        game.done = game.phase == OVER
        row = observation[index]
        observe(game, rules, viewer if game.phase == OVER else int(game.seat), row)
        write_mask(game, mask[index])
        if len(gained):
            gained[index] += game.reward[viewer]
        if len(score):
            score[index] = game.settled[viewer] / (SCORE_UNITS * players) if game.phase == OVER else 0
        if len(out) and (game.phase == OVER or game.seat == viewer):
            wide = out[index]
            for place in range(len(row)):
                wide[place] = row[place]


@allocating_kernel
def checked_advance_some(
    frame: int, orders: Any, actions: Any, viewers: Any, random_places: Any, out: Any, gained: Any, score: Any
) -> int:
    """Return the first game that cannot do as ordered, or their number after all orders have been carried out."""
    games, table, observation, mask = arrays_of(frame)
    wrong = first_misorder(games, orders, actions, viewers, len(random_places), 0, len(games))
    if wrong == len(games):
        advance_some(games, table, orders, actions, viewers, random_places, observation, mask, out, gained, score,
                     0, len(games))  # fmt: skip
    return wrong


@parallel_kernel
def checked_advance_some_on_threads(
    frame: int, orders: Any, actions: Any, viewers: Any, random_places: Any, out: Any, gained: Any, score: Any,
    threads: int,
) -> int:  # fmt: skip
    """Do what ``checked_advance_some`` does, a range of games on each thread."""
    games, table, observation, mask = arrays_of(frame)
    wrong = len(games)
    for part in numba.prange(threads):
        start, stop = part_of(games, part, threads)
        wrong = min(wrong, first_misorder(games, orders, actions, viewers, len(random_places), start, stop))
    if wrong == len(games):
        for part in numba.prange(threads):
            start, stop = part_of(games, part, threads)
            advance_some(games, table, orders, actions, viewers, random_places, observation, mask, out, gained,
                         score, start, stop)  # fmt: skip
    return wrong


@kernel
def write_some(games: Any, table: Any, chosen: Any, observation: Any, mask: Any) -> None:
    """Write observation and mask of the seat to act in the games whose ``chosen`` [B] bool is true."""
    rules = table[0]
    for index in range(len(games)):
        if chosen[index]:
            game = games[index]
            observe(game, rules, int(game.seat), observation[index])
            write_mask(game, mask[index])


@kernel
def deal_some(games: Any, table: Any, chosen: Any, dealer: int) -> None:
    """Deal the next deal of the games whose ``chosen`` [B] bool is true."""
    rules = table[0]
    for index in range(len(games)):
        if chosen[index]:
            deal(games[index], rules, dealer)


@kernel
def begin_given(games: Any, table: Any, index: int, dealer: int) -> None:
    """Clear one game for a deal that the caller then writes."""
    start_deal(games[index], table[0], dealer)


@kernel
def take_given(games: Any, table: Any, index: int) -> None:
    """Let the dealer of a written deal take up the talon."""
    take_talon(games[index], table[0])


@kernel
def choose_random(games: Any, actions: Any, start: int, stop: int) -> None:
    """Write a random legal card of games ``start``..``stop``-1, 0 for those that are over."""
    for index in range(start, stop):
        if index + _AHEAD < stop:
            prefetch(games, index + _AHEAD, 0)
        game = games[index]
        actions[index] = random_card(game) if game.phase != OVER else 0


@kernel
def play_out_all(games: Any, table: Any, start: int, stop: int) -> int:
    """Play games ``start``..``stop``-1 to the end at random and return the number of cards."""
    rules = table[0]
    num_played = 0
    for index in range(start, stop):
        num_played += play_out(games[index], rules)
    return num_played


@allocating_kernel
def choose_random_of(frame: int, actions: Any) -> None:
    """Do what ``choose_random`` does in all games of a frame."""
    games, _, _, _ = arrays_of(frame)
    choose_random(games, actions, 0, len(games))


@parallel_kernel
def choose_random_on_threads(frame: int, actions: Any, threads: int) -> None:
    """Do what ``choose_random`` does in all games of a frame, a range of them on each thread."""
    games, _, _, _ = arrays_of(frame)
    for part in numba.prange(threads):
        start, stop = part_of(games, part, threads)
        choose_random(games, actions, start, stop)


@parallel_kernel
def play_out_on_threads(games: Any, table: Any, threads: int) -> int:
    """Do what ``play_out_all`` does, a range of games on each thread."""
    num_played = 0
    for part in numba.prange(threads):
        start, stop = part_of(games, part, threads)
        num_played += play_out_all(games, table, start, stop)
    return num_played


@kernel
def observe_one(games: Any, table: Any, index: int, seat: int, out: Any) -> None:
    """Write what ``seat`` sees of one game."""
    observe(games[index], table[0], seat, out)


@kernel
def hidden_all(games: Any, table: Any, out: Any) -> None:
    """Write what the seat to act may not know of every game."""
    rules = table[0]
    for index in range(len(games)):
        game = games[index]
        write_hidden(game, rules, int(game.seat), out[index])


@kernel
def state_of(games: Any, table: Any, index: int, out: Any) -> None:
    """Write the full information of one game."""
    write_state(games[index], table[0], out)
