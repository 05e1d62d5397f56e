"""Threads that help one another without locks and without Python: where they meet, and how work is taken.

Who has much to do posts *requests*, each a family with candidates, cut into *pieces*, and puts their number on the
board. Everybody, the one who posted included, takes one piece after the other until none is left. Helpers wait
in compiled code for the next post, for a while; then they go back to Python, and are sent again when they are needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, RowNumbers, breathe, exchange_if, fetch_add, give_way, inner, look, publish

SLOTS = 2  # requests of one post whose rows are numbered, or whose blocks of rows are summed, for all threads at once
FIELDS = 9  # that describe a request: see `mapdag.families.work`
_LINE = 8  # words of a cache line: numbers that threads write at the same time keep apart

#: What is where on the board: pieces not yet taken, pieces done, pieces of this post; whether somebody's post is there,
#: which helpers are wanted (see `serve`), whether one of them failed; for each slot, whether its rows are numbered, and
#: how many of its blocks of rows are counted.
LEFT, DONE, TOTAL, BUSY, OPEN, FAILED, READY = (_LINE * i for i in range(7))

WORTH = 60_000.0  # nanoseconds of a request that outweigh a post
PIECE = 30_000.0  # nanoseconds of a piece that outweigh taking it
BLOCK = 1 << 10  # words of a block of rows, at least: to add up its counts takes a small part of the time of counting
ROOM = 1 << 17  # counts of one slot that are summed over blocks of rows
_SPINS = 2_000  # looks at the board, some tens of microseconds, before a thread lets others have its core
_PATIENCE = 1_000_000  # looks after which a helper leaves: some tenths of a second


class Crew(NamedTuple):
    """What threads share: the board, and the requests that are posted there."""

    board: Ints  # numbers that threads change while others look
    threads: int  # who may be there, the one who posts included
    worth: float  # nanoseconds from which on a request is shared,
    piece: float  # and of a piece, at least
    block: int  # words of a block of rows, at least
    members: Ints  # (requests, nodes + 1) of each family: parents, then the child
    requests: Ints  # (requests, fields) see `mapdag.families.work`
    candidates: Ints  # (room,) of all requests
    places: Ints  # (room,) which of its request's candidates each is
    how: Ints  # (room,) way in which each is counted
    declared: Floats  # (requests, 2, numbers of levels) of each extended family
    found: Floats  # (criteria, room) scores
    pieces: Ints  # (pieces, 4) kind, request, begin, end
    sums: Ints  # (slots, ROOM) counts summed over blocks of rows
    ids: RowNumbers  # (slots, 2, rows) cell of each row; rows in the order of cells
    ends: Ints  # (slots, 2, rows) where configurations end; where cells end


def new_crew(threads: int, rows: int, nodes: int, criteria: int, levels: int, requests: int, room: int) -> Crew:
    """Make a place to meet for so many threads; its memory is not taken before it is used.

    Parameters
    ----------
    threads, rows, nodes, criteria : int
        Without threads that help, there is no room for anything.
    levels : int
        Different numbers of levels.
    requests, room : int
        Most requests of one post, and most candidates of all of them.
    """
    slots = SLOTS
    if threads == 1:
        slots = rows = nodes = requests = room = 0
    return Crew(
        board=np.zeros(READY + 2 * _LINE * SLOTS, dtype=np.int64),
        threads=threads,
        worth=WORTH,
        piece=PIECE,
        block=BLOCK,
        members=np.empty((requests, nodes + 1), dtype=np.int64),
        requests=np.empty((requests, FIELDS), dtype=np.int64),
        candidates=np.empty(room, dtype=np.int64),
        places=np.empty(room, dtype=np.int64),
        how=np.empty(room, dtype=np.int64),
        declared=np.empty((requests, 2, levels)),
        found=np.empty((criteria, room)),
        pieces=np.empty((room + 64 * threads * slots, 4), dtype=np.int64),
        sums=np.empty((slots, ROOM), dtype=np.int64),
        ids=np.empty((slots, 2, rows), dtype=np.uint32),
        ends=np.empty((slots, 2, rows), dtype=np.int64),
    )


@inner
def numbered_line(slot: int) -> int:
    """Where on the board it says whether the rows of a slot are numbered."""
    return READY + 2 * _LINE * slot


@inner
def summed_line(slot: int) -> int:
    """Where on the board it says how many blocks of rows of a slot are counted."""
    return READY + 2 * _LINE * slot + _LINE


@inner
def rest(looks: int) -> int:
    """Wait a moment, a little longer after many looks in vain; returns how many there were."""
    if looks < _SPINS:
        breathe()
    else:
        give_way()
    return looks + 1


@inner
def is_patient(looks: int) -> bool:
    """Whether a helper goes on looking."""
    return looks < _PATIENCE


@inner
def take_piece(board: Ints) -> int:
    """Take the next piece; -1 if none is left."""
    while True:
        left: int = look(board, LEFT)
        if left <= 0:
            return -1
        if exchange_if(board, LEFT, left, left - 1):
            return board[TOTAL] - left


@inner
def finish_piece(board: Ints) -> None:
    """Tell that a piece is done."""
    fetch_add(board, DONE, 1)


@inner
def wait_until(board: Ints, line: int, least: int) -> bool:
    """Wait for a number on the board; tells whether it came, or a helper failed."""
    looks = 0
    while look(board, line) < least:
        if has_failed(board):
            return False
        looks = rest(looks)
    return True


@inner
def has_failed(board: Ints) -> bool:
    """Whether a helper failed, so that not all is done."""
    return look(board, FAILED) != 0


@inner
def open_post(board: Ints) -> bool:
    """Take the board for a post; tells whether it was free."""
    return exchange_if(board, BUSY, 0, 1)


@inner
def close_post(board: Ints) -> None:
    """Leave the board to others."""
    publish(board, BUSY, 0)


@inner
def announce_pieces(board: Ints, pieces: int) -> None:
    """Let everybody take pieces, which are all written by now."""
    board[DONE], board[TOTAL] = 0, pieces
    for slot in range(SLOTS):
        board[numbered_line(slot)] = board[summed_line(slot)] = 0
    publish(board, LEFT, pieces)
