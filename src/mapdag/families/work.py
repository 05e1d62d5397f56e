"""Large requests shared among threads: how they are posted, cut into pieces, and done, compiled.

A family's rows are numbered once, by whoever comes first, for all threads. Where there are many rows and small tables,
threads share blocks of rows rather than candidates, so that a block is read once and its family's cells are found
once; sums of whole numbers have no order. So scores are the same to the last bit for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.counts.bitsets import add_rows, rows_to_count
from mapdag.counts.choice import (
    AUTO,
    BITSETS,
    SORTED,
    choose,
    choose_again,
    declared_cells,
    estimate,
    no_cells,
    no_order,
    with_first_levels,
)
from mapdag.counts.rows import Cells, RowOrder, add_tables, cells_of_rows, number_rows, sort_rows
from mapdag.families.crew import (
    DONE,
    FIELDS,
    LEFT,
    OPEN,
    ROOM,
    TOTAL,
    Crew,
    announce_pieces,
    close_post,
    finish_piece,
    has_failed,
    is_patient,
    numbered_line,
    open_post,
    rest,
    summed_line,
    take_piece,
    wait_until,
)
from mapdag.families.fused import Declared, Inputs, Prepared
from mapdag.kernels import (
    Counts,
    Floats,
    Ints,
    call_at,
    entry,
    fetch_add,
    inner,
    look,
    new_ints,
    new_scores,
    no_counts,
    part,
    publish,
)

if TYPE_CHECKING:
    from mapdag.counts.cores import Rows

# Fields of a request: members of the family; where its candidates begin, how many there are, how many of them, the
# first ones, are counted by bitsets, how many are summed over blocks of rows, and by how many pieces; its slot, or -1;
# and what is known when rows are numbered: cells and configurations that occur.
_MEMBERS, _FIRST, _SIZE, _BY_BITS, _SUMMED, _BLOCKS, _SLOT, _CELLS, _CONFIGURATIONS = range(FIELDS)

_ALONE, _NUMBER, _BLOCK, _EXTEND, _COMPLETE = range(5)  # kinds of pieces

_SCORING = 400.0  # nanoseconds to score one family, whatever its counts
_PER_THREAD = 10  # pieces for each thread, so that all are done at about the same time
_BLOCKS_PER_THREAD = 3  # of rows; the counts of each are added up, which costs some time
_ROWS = 1 << 13  # whose cells are found at a time: they stay in the cache


@inner
def cost_of(inputs: Inputs, family: Ints, candidates: Ints) -> float:
    """Nanoseconds that counting and scoring one family with each candidate will take."""
    rows = inputs.rows
    return estimate(rows.codes.shape[1], family, candidates, rows.cards) + _SCORING * len(candidates)


@inner
def is_worth_it(inputs: Inputs, family: Ints, candidates: Ints) -> bool:
    """Whether threads should share a request."""
    return cost_of(inputs, family, candidates) >= inputs.crew.worth


@entry
def post(
    request: int, inputs: Inputs, family: Ints, declared: Declared, candidates: Ints, first: int, shared: bool
) -> None:
    """Write down a request, its candidates from `first` on; `shared` where threads are to share one preparation."""
    crew, rows = inputs.crew, inputs.rows
    fields, n_candidates = crew.requests[request], len(candidates)
    fields[_MEMBERS], fields[_FIRST], fields[_SIZE] = len(family), first, n_candidates
    fields[_BY_BITS], fields[_SUMMED], fields[_BLOCKS], fields[_SLOT] = 0, 0, 0, request if shared else -1
    for i in range(len(family)):
        crew.members[request, i] = family[i]
    for i in range(len(declared.q)):
        crew.declared[request, 0, i], crew.declared[request, 1, i] = declared.q[i], declared.log_q[i]
    if not shared:
        crew.places[first] = 0  # of a node without parents, if there are no candidates
        for c in range(n_candidates):
            crew.candidates[first + c], crew.places[first + c] = candidates[c], c
        return
    how = choose(rows.codes.shape[1], family, candidates, rows.cards, inputs.way)
    at, levels, by_bits_levels = first, 0, 0
    for by_bits in (True, False):
        for c in range(n_candidates):
            if (how[c] == BITSETS) == by_bits:
                crew.candidates[at], crew.places[at], crew.how[at] = candidates[c], c, how[c]
                levels += rows.cards[candidates[c]]
                at += 1
        if by_bits:
            fields[_BY_BITS], by_bits_levels = at - first, levels
    words, dense = rows.bits.shape[1], declared_cells(family, rows.cards)
    if words >= 2 * crew.block and inputs.way != SORTED:
        if _room(levels, dense) <= ROOM:
            fields[_SUMMED] = n_candidates
        elif _room(by_bits_levels, dense) <= ROOM:
            fields[_SUMMED] = fields[_BY_BITS]
    if fields[_SUMMED]:
        fields[_BLOCKS] = min(words // crew.block, _BLOCKS_PER_THREAD * crew.threads)
        for k in range(_room(levels if fields[_SUMMED] == n_candidates else by_bits_levels, dense)):
            crew.sums[request, k] = 0
        for c in range(first, first + fields[_SUMMED]):
            crew.how[c] = BITSETS  # sums of all have the same form


@inner
def _room(levels: int, dense: int) -> int:
    """Counts that sums over blocks of rows have room for: of so many levels, and of the family itself."""
    return (levels + 1) * dense


@inner
def _cut_candidates(pieces: int, kind: int, request: int, begin: int, end: int, inputs: Inputs) -> int:
    """Cut some candidates of a request into pieces, the last ones smaller; returns how many pieces there are now."""
    crew = inputs.crew
    fields = crew.requests[request]
    family = crew.members[request, : fields[_MEMBERS]]
    cost = cost_of(inputs, family, crew.candidates[fields[_FIRST] + begin : fields[_FIRST] + end])
    parts = min(_PER_THREAD * crew.threads, int(cost / crew.piece) + 1)
    step = ((end - begin - 1) // parts // 4 + 1) * 4  # four are counted in one pass
    least = int(crew.piece * (end - begin) / cost) + 1
    while begin < end:
        if step > least and end - begin < step * crew.threads:
            step = max(step // 4, least)  # so that nobody is left with much to do
        piece = crew.pieces[pieces]
        piece[0], piece[1], piece[2], piece[3] = kind, request, begin, min(begin + step, end)
        begin += step
        pieces += 1
    return pieces


@inner
def _cut(requests: int, inputs: Inputs) -> int:
    """Cut all requests into pieces; what others wait for comes first, so that nobody waits for somebody who waits."""
    crew = inputs.crew
    pieces = 0
    for kind in (_NUMBER, _ALONE, _BLOCK, _EXTEND, _COMPLETE):
        for request in range(requests):
            fields, piece = crew.requests[request], crew.pieces[pieces]
            size, by_bits, summed = fields[_SIZE], fields[_BY_BITS], fields[_SUMMED]
            if (kind == _ALONE) != (fields[_SLOT] < 0):
                continue
            if (kind == _ALONE and size == 0) or (kind == _NUMBER and max(by_bits, summed) < size):
                piece[0], piece[1], piece[2], piece[3] = kind, request, 0, 0
                pieces += 1
            elif kind == _BLOCK:
                words, blocks = inputs.rows.bits.shape[1], fields[_BLOCKS]
                for block in range(blocks):
                    begin, end = words * block // blocks, words * (block + 1) // blocks
                    piece = crew.pieces[pieces]
                    piece[0], piece[1], piece[2], piece[3] = kind, request, begin, end
                    pieces += 1
            elif kind in (_ALONE, _EXTEND, _COMPLETE):
                begin = summed if kind == _EXTEND else 0
                end = summed if kind == _COMPLETE else size
                if kind == _EXTEND and begin < by_bits:
                    pieces = _cut_candidates(pieces, kind, request, begin, by_bits, inputs)
                    begin = by_bits
                if begin < end:
                    pieces = _cut_candidates(pieces, kind, request, begin, end, inputs)
    return pieces


@part
def _number(request: int, inputs: Inputs) -> None:
    """Number the rows of a request for all threads."""
    crew, rows = inputs.crew, inputs.rows
    n, cards, fields = rows.codes.shape[1], rows.cards, crew.requests[request]
    first, slot = fields[_FIRST], fields[_SLOT]
    family = crew.members[request, : fields[_MEMBERS]]
    cells = number_rows(rows.codes, family, cards)
    ids, ends = crew.ids[slot], crew.ends[slot]
    for row in range(n):
        ids[0, row] = cells.ids[row]
    for c in range(len(cells.configuration_ends)):
        ends[0, c] = cells.configuration_ends[c]
    begin, end = first + fields[_BY_BITS], first + fields[_SIZE]
    any_sorted = inputs.way == SORTED
    if inputs.way == AUTO:
        any_sorted = choose_again(crew.how[begin:end], n, cells.n_cells, family, crew.candidates[begin:end], cards)
    if any_sorted:
        order = sort_rows(cells.ids, cells.n_cells)
        for row in range(n):
            ids[1, row] = order.rows[row]
        for cell in range(cells.n_cells):
            ends[1, cell] = order.ends[cell]
    fields[_CELLS], fields[_CONFIGURATIONS] = cells.n_cells, len(cells.configuration_ends)
    publish(crew.board, numbered_line(slot), 1)


@part
def _add_block(request: int, begin: int, end: int, inputs: Inputs) -> None:
    """Count a block of rows, and add it to what all threads count."""
    crew, rows = inputs.crew, inputs.rows
    fields, cards = crew.requests[request], rows.cards
    first, slot, by_bits = fields[_FIRST], fields[_SLOT], fields[_BY_BITS]
    family = crew.members[request, : fields[_MEMBERS]]
    members = with_first_levels(family, rows.first_level, cards)
    to_count, total = rows_to_count(
        with_first_levels(crew.candidates[first : first + by_bits], rows.first_level, cards)
    )
    dense = declared_cells(family, cards)
    product, counts, sums = no_counts((total + 1) * dense), no_counts(dense), crew.sums[slot]
    if by_bits < fields[_SUMMED]:
        others = crew.candidates[first + by_bits : first + fields[_SUMMED]]
        _add_others(family, others, begin, end, rows, sums, (1 + total) * dense, counts)
    if by_bits:
        counts[:] = 0
        add_rows(rows.bits, members, to_count, begin, end, counts, product)
    for k in range(dense):
        if counts[k]:
            fetch_add(sums, k, counts[k])
    for k in range(total * dense):
        if product[k]:
            fetch_add(sums, dense + k, product[k])
    fetch_add(crew.board, summed_line(slot), 1)


@inner
def _add_others(
    family: Ints, candidates: Ints, begin: int, end: int, rows: Rows, sums: Ints, place: int, counts: Counts
) -> None:
    """Count candidates in some words of rows by going through these, and add that to the sums, from a place on.

    `counts` gets how many of these rows fall into each of the family's cells.
    """
    cards, codes = rows.cards, rows.codes
    dense = declared_cells(family, cards)
    starts, size = new_ints(len(candidates)), 0
    for t in range(len(candidates)):
        starts[t] = size
        size += cards[candidates[t]] * dense
    cells = no_counts(size)
    last = min(64 * end, codes.shape[1])
    for row in range(64 * begin, last, _ROWS):
        ids = cells_of_rows(codes, family, cards, row, min(row + _ROWS, last))
        add_tables(ids, codes, row, candidates, cards, starts, cells)
        for i in range(len(ids)):
            counts[ids[i]] += 1
    for t in range(len(candidates)):
        r = cards[candidates[t]]
        for k in range(dense * r):
            if cells[starts[t] + k]:
                fetch_add(sums, place + k % r * dense + k // r, cells[starts[t] + k])
        place += dense * r


@part
def _summed(request: int, begin: int, end: int, inputs: Inputs) -> Prepared:
    """Counts of some candidates that were summed over blocks."""
    crew, cards = inputs.crew, inputs.rows.cards
    fields = crew.requests[request]
    first, slot = fields[_FIRST], fields[_SLOT]
    dense = declared_cells(crew.members[request, : fields[_MEMBERS]], cards)
    start, size = 1, 0
    for c in range(end):
        start += cards[crew.candidates[first + c]] if c < begin else 0
        size += cards[crew.candidates[first + c]] if c >= begin else 0
    product, counts = no_counts((size + 1) * dense), no_counts(dense)
    sums = crew.sums[slot]
    for k in range(dense):
        counts[k] = sums[k]
    for k in range(size * dense):
        product[k] = sums[start * dense + k]
    return Prepared(crew.how[first + begin : first + end], no_cells(), no_order(), counts, product)


@part
def _numbered(request: int, begin: int, end: int, inputs: Inputs) -> Prepared:
    """What is prepared for some candidates, their family's rows numbered where they are needed."""
    crew = inputs.crew
    fields = crew.requests[request]
    first, slot = fields[_FIRST], fields[_SLOT]
    cells, order = no_cells(), no_order()
    if begin >= fields[_BY_BITS]:
        ids, ends = crew.ids[slot], crew.ends[slot]
        cells = Cells(ids[0], fields[_CELLS], ends[0, : fields[_CONFIGURATIONS]])
        order = RowOrder(ids[1], ends[1, : fields[_CELLS]])
    return Prepared(crew.how[first + begin : first + end], cells, order, no_counts(0), no_counts(0))


@part
def _score_piece(kind: int, request: int, begin: int, end: int, inputs: Inputs) -> None:
    """Score some candidates of a request."""
    crew = inputs.crew
    fields = crew.requests[request]
    first, slot = fields[_FIRST], fields[_SLOT]
    family = crew.members[request, : fields[_MEMBERS]]
    mine = crew.candidates[first + begin : first + end]
    declared = Declared(crew.declared[request, 0], crew.declared[request, 1])
    out, nothing = new_scores(len(crew.found), max(end - begin, 1)), new_scores(0, 0)
    if kind == _ALONE:
        call_at(inputs.alone, inputs, family, declared, mine, out, nothing)
    elif kind == _COMPLETE:
        if wait_until(crew.board, summed_line(slot), fields[_BLOCKS]):
            call_at(inputs.score, inputs, family, declared, mine, _summed(request, begin, end, inputs), out, nothing)
    elif begin < fields[_BY_BITS] or wait_until(crew.board, numbered_line(slot), 1):
        call_at(inputs.score, inputs, family, declared, mine, _numbered(request, begin, end, inputs), out, nothing)
    for k in range(len(out)):
        for c in range(out.shape[1]):
            crew.found[k, first + begin + c] = out[k, c]


@entry
def work(requests: int, inputs: Inputs) -> None:
    """Do pieces of what is posted, until none is left; who has posted says how many requests, and waits for all.

    Where that does not go well, `has_failed` says so.
    """
    crew = inputs.crew
    if requests:
        announce_pieces(crew.board, _cut(requests, inputs))
    while True:
        at = take_piece(crew.board)
        if at < 0:
            break
        kind, request, begin, end = crew.pieces[at, 0], crew.pieces[at, 1], crew.pieces[at, 2], crew.pieces[at, 3]
        if kind == _NUMBER:
            _number(request, inputs)
        elif kind == _BLOCK:
            _add_block(request, begin, end, inputs)
        else:
            _score_piece(kind, request, begin, end, inputs)
        finish_piece(crew.board)
    if requests:
        wait_until(crew.board, DONE, crew.board[TOTAL])


@entry
def serve(ticket: int, inputs: Inputs) -> None:
    """Help with whatever is posted, as long as helpers with this ticket are wanted and the wait is not too long."""
    board = inputs.crew.board
    looks = 0
    while look(board, OPEN) == ticket and is_patient(looks):
        if look(board, LEFT) > 0:
            call_at(inputs.work, 0, inputs)
            looks = 0
        else:
            looks = rest(looks)


@entry
def read_found(request: int, crew: Crew, out: Floats) -> None:
    """Scores of one request, in the order of its candidates."""
    fields = crew.requests[request]
    first = fields[_FIRST]
    for k in range(len(out)):
        for c in range(out.shape[1]):
            out[k, crew.places[first + c]] = crew.found[k, first + c]


@entry
def share(inputs: Inputs, family: Ints, declared: Declared, candidates: Ints, out: Floats, back: Floats) -> None:
    """Do as `extend` does, with whoever helps where that is worth it."""
    crew = inputs.crew
    alone = len(back) > 0 or len(candidates) < 2 or not is_worth_it(inputs, family, candidates)
    if alone or not open_post(crew.board):
        call_at(inputs.alone, inputs, family, declared, candidates, out, back)
        return
    post(0, inputs, family, declared, candidates, 0, True)
    call_at(inputs.work, 1, inputs)
    if has_failed(crew.board):
        raise MemoryError
    read_found(0, crew, out)
    close_post(crew.board)
