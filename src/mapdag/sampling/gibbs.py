"""Kernel of the Markov chain over graphs: blocks of nodes whose parents are drawn anew, all at once and exactly.

A block is a few nodes, chosen without a look at the graph. The parents of all other nodes stay. Which members of the
block must come before a parent follows from these; so the graph has no cycle if the graph on the members has none in
which each has as parents the members that its parents need. The sum over all graphs on the members is a dynamic program
over their subsets (Tian and He 2009), and a graph is drawn back through it, from the nodes without parents on, layer by
layer (Kuipers and Moffa 2015). So each step is a draw from the conditional distribution: the chain has the posterior as
its stationary distribution, and rejects nothing.

Weights are a mantissa and a power of two, as they differ by thousands of orders of magnitude.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, Words, entry, inner, lend, trailing_zeros
from mapdag.search.orders.windows import draw

SIZE = 8  # nodes of a block, at most
_LARGER, _LARGEST = 4, 16  # one block in so many has 6 nodes, one 8, the others 4: chosen by measurement
_SETS = 1 << SIZE
_NONE = -(1 << 40)  # power of two of a weight that is zero
_NEGLIGIBLE = 70  # powers of two below which a term adds nothing to a sum


class ParentLists(NamedTuple):
    """Sets of parents that each node may have, the best first."""

    masks: Words  # (families,) a bit for each candidate of the child
    mantissas: Floats  # (families,) weight of each, relative to any number that is the same for a child
    powers: Ints  # (families,)
    starts: Ints  # (nodes + 1,) where those of each child begin
    candidates: Ints  # (nodes, 64) the node of each bit
    n_candidates: Ints  # (nodes,)
    pins: Words  # (nodes,) candidates that must be parents unless they are children


class Neighbours(NamedTuple):
    """Whom a block takes next to one that it has: nodes, and the cumulated probabilities that they are taken."""

    nodes: Ints  # (nodes, neighbours)
    chances: Floats  # (nodes, neighbours) cumulated, the last one is 1


class ChainState(NamedTuple):
    """One chain: where it is, and what it counts."""

    chosen: Ints  # (nodes,) the family of each node
    sequence: Ints  # (nodes,) an order in which parents come before children
    since: Ints  # (nodes,) the step at which each family was chosen
    held: Ints  # (families,) for how many steps each was there
    step: Ints  # one number: steps made
    random: Words  # one word: the state of the generator


class Block(NamedTuple):
    """Room for one block; sets of its members are numbers, one bit for each."""

    members: Ints  # (SIZE,)
    place: Ints  # (nodes,) of each node among the members; -1: it is none
    above: Ints  # (nodes,) the members that must come before each node can be a parent
    pins: Ints  # (SIZE,) members that each must be adjacent to
    needs: Ints  # (SIZE, families of a child) members that must come before each family; with its own bit: impossible
    scanned: Ints  # (SIZE,) how many of the families were looked at
    within: Floats  # (SIZE, sets) sum of the weights of a member's families, given which others come before it
    powers: Ints  # (SIZE, sets)
    rest: Floats  # (sets,) sum over all graphs on the members that do not come before
    rest_powers: Ints  # (sets,)
    sets: Ints  # (sets,) subsets of some members
    products: Floats  # (sets,)
    product_powers: Ints  # (sets,)
    halves: Floats  # powers of 1/2
    marks: Ints  # (nodes,) of the sort
    stack: Ints  # (nodes,)
    left: Words  # (nodes,)


def new_block(n_nodes: int, longest: int) -> Block:
    """Make a block with nobody in it, for lists of at most so many families of a child."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Block(
        members=ints(SIZE),
        place=np.full(n_nodes, -1, dtype=np.int64),
        above=ints(n_nodes),
        pins=ints(SIZE),
        needs=ints(SIZE, max(longest, 1)),
        scanned=ints(SIZE),
        within=np.zeros((SIZE, _SETS)),
        powers=ints(SIZE, _SETS),
        rest=np.zeros(_SETS),
        rest_powers=ints(_SETS),
        sets=ints(_SETS),
        products=np.zeros(_SETS),
        product_powers=ints(_SETS),
        halves=np.exp2(-np.arange(_NEGLIGIBLE + 1.0)),
        marks=ints(n_nodes),
        stack=ints(n_nodes),
        left=np.zeros(n_nodes, dtype=np.uint64),
    )


@inner
def _chance(random: Words) -> float:
    """Draw a number from [0, 1)."""
    return draw(random, 1 << 26) * 2.0**-26 + draw(random, 1 << 26) * 2.0**-52


@entry
def run_chain(steps: int, size: int, lists: ParentLists, near: Neighbours, chain: ChainState, block: Block) -> None:
    """Make so many steps with blocks of at most `size` nodes, or of 4, 6 and 8 where that is 0."""
    lists, near, chain, block = lend(lists), lend(near), lend(chain), lend(block)
    for _ in range(steps):
        chain.step[0] += 1
        most = size
        if size == 0:
            most = 8 if draw(chain.random, _LARGEST) == 0 else 6 if draw(chain.random, _LARGER) == 0 else 4
        found = _gather(most, near, chain.random, block)
        _look_above(lists, chain, block)
        for i in range(found):
            _pin(i, lists, block)
            _weigh(i, lists, block, _demanded(block.members[i], lists, chain, block))
            _sum_within(i, found, block)
        _sum_rest(found, block)
        _draw_layers(found, lists, chain, block)
        for i in range(found):
            block.place[block.members[i]] = -1
        _sort(lists, chain, block)
    for x in range(len(chain.chosen)):
        chain.held[chain.chosen[x]] += chain.step[0] + 1 - chain.since[x]
        chain.since[x] = chain.step[0] + 1


@inner
def _gather(size: int, near: Neighbours, random: Words, block: Block) -> int:
    """Choose the members, each a neighbour of one before; returns how many there are."""
    members, place = block.members, block.place
    n, width = near.nodes.shape
    members[0] = draw(random, n)
    place[members[0]] = 0
    found = 1
    for _ in range(4 * size):
        if found == size or width == 0:
            break
        x = members[draw(random, found)]
        u = _chance(random)
        at = 0
        while at < width - 1 and near.chances[x, at] <= u:
            at += 1
        y = near.nodes[x, at]
        if place[y] < 0:
            members[found], place[y] = y, found
            found += 1
    return found


@inner
def _look_above(lists: ParentLists, chain: ChainState, block: Block) -> None:
    """For each node, find the members that it has among its ancestors, up to the first on each path."""
    place, above = block.place, block.above
    masks, candidates, chosen = lists.masks, lists.candidates, chain.chosen
    for x in chain.sequence:
        if place[x] >= 0:
            above[x] = 1 << place[x]
        else:
            needs, rest = 0, masks[chosen[x]]
            while rest:
                needs |= above[candidates[x, trailing_zeros(rest)]]
                rest &= rest - np.uint64(1)
            above[x] = needs


@inner
def _pin(i: int, lists: ParentLists, block: Block) -> None:
    """Find the members that a member must be adjacent to."""
    x = block.members[i]
    found, rest = 0, lists.pins[x]
    while rest:
        y = lists.candidates[x, trailing_zeros(rest)]
        rest &= rest - np.uint64(1)
        if block.place[y] >= 0:
            found |= 1 << block.place[y]
    block.pins[i] = found


@inner
def _demanded(x: int, lists: ParentLists, chain: ChainState, block: Block) -> np.uint64:
    """Candidates outside the block that must be parents of a member, as they are not its children."""
    found, rest = np.uint64(0), lists.pins[x]
    while rest:
        bit: int = trailing_zeros(rest)
        rest &= rest - np.uint64(1)
        y = lists.candidates[x, bit]
        if block.place[y] >= 0:
            continue
        is_child, others = False, lists.masks[chain.chosen[y]]
        while others:
            is_child |= lists.candidates[y, trailing_zeros(others)] == x
            others &= others - np.uint64(1)
        if not is_child:
            found |= np.uint64(1) << np.uint64(bit)
    return found


@inner
def _weigh(i: int, lists: ParentLists, block: Block, demanded: np.uint64) -> None:
    """Sum the weights of a member's families by the members that they need.

    Families without a needed member are there for any order. Once one of them was found, much smaller weights do not
    count any more.
    """
    x, own, pins = block.members[i], 1 << i, block.pins[i]
    above, halves, needed = block.above, block.halves, block.needs[i]
    within, powers = block.within[i], block.powers[i]
    for s in range(_SETS):
        within[s], powers[s] = 0.0, _NONE
    blocked, free, pinned = np.uint64(0), np.uint64(0), np.uint64(0)
    for b in range(lists.n_candidates[x]):
        y = lists.candidates[x, b]
        bit = np.uint64(1) << np.uint64(b)
        if above[y] & own:
            blocked |= bit
        if above[y] == 0:
            free |= bit
        if block.place[y] >= 0 and pins >> block.place[y] & 1:
            pinned |= bit
    least = _NONE
    first, last = lists.starts[x], lists.starts[x + 1]
    for f in range(first, last):
        mask, power = lists.masks[f], lists.powers[f]
        if power < least:
            last = f
            break
        needed[f - first] = own
        if mask & blocked or mask & demanded != demanded:
            continue
        needs = _needed(x, mask & ~free, lists, above)
        if pins and _needed(x, mask & pinned, lists, above) != needs & pins:
            continue  # one of them comes before the member without being its parent
        if needs == 0 and pins == 0 and least == _NONE:
            least = power - _NEGLIGIBLE
        needed[f - first] = needs
        behind = powers[needs] - power
        if powers[needs] == _NONE:
            within[needs], powers[needs] = lists.mantissas[f], power
        elif behind <= _NEGLIGIBLE:
            within[needs] += lists.mantissas[f] * halves[behind]
    block.scanned[i] = last - first


@inner
def _needed(x: int, parents: np.uint64, lists: ParentLists, above: Ints) -> int:
    """Members that must come before some candidates of a node can be its parents."""
    needs = 0
    while parents:
        needs |= above[lists.candidates[x, trailing_zeros(parents)]]
        parents &= parents - np.uint64(1)
    return needs


@inner
def _sum_within(i: int, size: int, block: Block) -> None:
    """Sum the weights of a member's families within each set of members that come before it."""
    own, pins, halves = 1 << i, block.pins[i], block.halves
    within, powers = block.within[i], block.powers[i]
    sets = 1 << size
    for b in range(size):
        step = 1 << b
        if step == own or pins & step:
            continue
        for s in range(sets):
            if not s & step or s & own or within[s ^ step] == 0.0:
                continue
            behind = powers[s] - powers[s ^ step]
            if behind >= 0:
                if behind <= _NEGLIGIBLE:
                    within[s] += within[s ^ step] * halves[behind]
            else:
                within[s] = within[s ^ step] + (within[s] * halves[-behind] if -behind <= _NEGLIGIBLE else 0.0)
                powers[s] = powers[s ^ step]
    for s in range(sets):
        if powers[s] != _NONE:
            within[s], more = math.frexp(within[s])
            powers[s] += more


@inner
def _products(before: int, size: int, block: Block) -> int:
    """All sets of members that can come right after some, with the product of their weights; returns how many."""
    sets, products, powers = block.sets, block.products, block.product_powers
    sets[0], products[0], powers[0] = 0, 1.0, 0
    found = 1
    for x in range(size):
        if before >> x & 1:
            continue
        own, power, pins = block.within[x, before], block.powers[x, before], block.pins[x]
        for i in range(found):
            sets[found + i] = sets[i] | 1 << x
            powers[found + i] = powers[i] + power
            products[found + i] = 0.0 if sets[i] & pins else -products[i] * own
        found *= 2
    return found


@inner
def _sum_rest(size: int, block: Block) -> None:
    """Sum over all graphs on the members that do not come before, for each set of members that does.

    A graph with m nodes that have parents among those before only is counted 2^m - 1 times, with signs that add up to
    one: no more than m bits are lost.
    """
    rest, powers, halves = block.rest, block.rest_powers, block.halves
    sets, products, product_powers = block.sets, block.products, block.product_powers
    full = (1 << size) - 1
    rest[full], powers[full] = 0.5, 1
    for before in range(full - 1, -1, -1):
        found = _products(before, size, block)
        total, scale = 0.0, _NONE
        for i in range(1, found):
            after = before | sets[i]
            if products[i] == 0.0:
                continue
            term, behind = -products[i] * rest[after], scale - product_powers[i] - powers[after]
            if behind >= 0:
                if behind <= _NEGLIGIBLE:
                    total += term * halves[behind]
            elif rest[after] != 0.0:
                total = term + (total * halves[-behind] if -behind <= _NEGLIGIBLE else 0.0)
                scale -= behind
        rest[before], powers[before] = 0.0, 0
        if total > 0.0:
            rest[before], more = math.frexp(total)
            powers[before] = scale + more


@inner
def _draw_layers(size: int, lists: ParentLists, chain: ChainState, block: Block) -> None:
    """Draw a graph on the members, layer by layer, and a family for each member."""
    full = (1 << size) - 1
    before, layer = 0, 0
    while before != full:
        found = _products(before, size, block)
        added = block.sets[_draw_layer(before, layer, size, found, block, chain.random)]
        if added == 0:  # nothing but rounding errors was left: those not drawn yet come last in any case
            added = full & ~before
        for i in range(size):
            if added >> i & 1:
                _draw_family(i, before, layer, lists, chain, block)
        before, layer = before | added, added


@inner
def _draw_layer(before: int, layer: int, size: int, found: int, block: Block, random: Words) -> int:
    """Draw who comes next: those whose parents come before, one of them in the last layer.

    Returns its number among the products, which become its weights.
    """
    sets, weights, powers, halves = block.sets, block.products, block.product_powers, block.halves
    for i in range(found):
        after = before | sets[i]
        behind = block.rest_powers[before] - powers[i] - block.rest_powers[after]
        known = weights[i] != 0.0 and block.rest[after] != 0.0 and behind <= _NEGLIGIBLE
        scale = 0.0
        if known:
            scale = halves[behind] if behind >= 0 else 2.0**-behind
        weights[i] = abs(weights[i]) * block.rest[after] * scale
    step = 1
    while step < found:
        for i in range(found):
            if not i & step:
                weights[i] -= weights[i | step]
        step *= 2
    step = 1
    for x in range(size):
        if before >> x & 1:
            continue
        share = _share_of_layer(x, before, layer, block)
        for i in range(found):
            if i & step:
                weights[i] *= share
        step *= 2
    total = 0.0
    for i in range(1, found):
        weights[i] = max(weights[i], 0.0)
        total += weights[i]
    left = _chance(random) * total
    chosen = 0
    for i in range(1, found):
        if weights[i] > 0.0:
            chosen = i
            left -= weights[i]
            if left < 0.0:
                break
    return chosen


@inner
def _share_of_layer(x: int, before: int, layer: int, block: Block) -> float:
    """Share of a member's families among those before that have one of the last layer."""
    without = before & ~layer
    if layer == 0 or block.pins[x] & layer or block.powers[x, without] == _NONE:
        return 1.0
    behind = block.powers[x, before] - block.powers[x, without]
    if block.powers[x, before] == _NONE or behind > _NEGLIGIBLE:
        return 1.0
    return max(1.0 - block.within[x, without] / block.within[x, before] * block.halves[behind], 0.0)


@inner
def _draw_family(i: int, before: int, layer: int, lists: ParentLists, chain: ChainState, block: Block) -> None:
    """Draw a family of a member whose parents come before, one of them in the last layer."""
    needs, pins, halves = block.needs[i], block.pins[i], block.halves
    x = block.members[i]
    first = lists.starts[x]
    top, total, chosen = _NONE, 0.0, -1
    left = -1.0
    for turn in range(2):
        for f in range(first, first + block.scanned[i]):
            need = needs[f - first]
            if need & ~before or (layer and not need & layer) or need & pins != before & pins:
                continue
            if top == _NONE:
                top = lists.powers[f]
            if top - lists.powers[f] > _NEGLIGIBLE:
                break
            weight = lists.mantissas[f] * halves[top - lists.powers[f]]
            if turn == 0:
                total += weight
            else:
                chosen = f
                left -= weight
                if left < 0.0:
                    break
        left = _chance(chain.random) * total if turn == 0 else left
    old = chain.chosen[x]
    if chosen >= 0 and chosen != old:
        chain.held[old] += chain.step[0] - chain.since[x]
        chain.since[x] = chain.step[0]
        chain.chosen[x] = chosen


@inner
def _sort(lists: ParentLists, chain: ChainState, block: Block) -> None:
    """Sort the nodes so that parents come before children, close to the order so far."""
    sequence, chosen, marks, stack, left = chain.sequence, chain.chosen, block.marks, block.stack, block.left
    masks, candidates = lists.masks, lists.candidates
    above = block.above  # room for the new order: it is not needed any more
    turn, placed = chain.step[0], 0
    for start in sequence:
        if marks[start] == turn:
            continue
        marks[start], stack[0], left[start] = turn, start, masks[chosen[start]]
        depth = 1
        while depth:
            x = stack[depth - 1]
            rest = left[x]
            if rest == 0:
                above[placed] = x
                placed += 1
                depth -= 1
                continue
            y = candidates[x, trailing_zeros(rest)]
            left[x] = rest & (rest - np.uint64(1))
            if marks[y] != turn:
                marks[y], stack[depth], left[y] = turn, y, masks[chosen[y]]
                depth += 1
    for i in range(placed):
        sequence[i] = above[i]
