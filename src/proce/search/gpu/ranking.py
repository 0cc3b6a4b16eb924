"""Copies, ranks and crowding on a CUDA device, as :mod:`proce.search.pareto` defines them.

Each program takes the pool of one instance. What candidates are to one another is found by
comparing all pairs, a tile of 32 at a time; who dominates whom is kept as bits. The same numbers
are compared in the same way as on the CPU, so that both choose the same survivors.
"""

import triton
import triton.language as tl

from proce.streams import FIRST_FACTOR, GOLDEN, SECOND_FACTOR

TILE = tl.constexpr(32)
_GOLDEN = tl.constexpr(GOLDEN)
_FIRST_FACTOR, _SECOND_FACTOR = tl.constexpr(FIRST_FACTOR), tl.constexpr(SECOND_FACTOR)
_INFINITE = tl.constexpr(float("inf"))
N_BITS = 10  # of a position among the candidates, the spare one above included
BITS = tl.constexpr(N_BITS)
_UNRANKED = tl.constexpr(2**20)  # of candidates beyond those that survive
_OUTSIDE = tl.constexpr(2**31 - 1)  # of places beyond the pool


@triton.jit
def mix(state: tl.tensor) -> tl.tensor:
    """Return numbers scrambled by the finalizer of SplitMix64."""
    state = (state ^ (state >> 30)) * _FIRST_FACTOR
    state = (state ^ (state >> 27)) * _SECOND_FACTOR
    return state ^ (state >> 31)


@triton.jit
def hash_kernel(
    genes: tl.tensor,
    codes: tl.tensor,
    n_candidates: tl.tensor,
    n_genes: tl.tensor,
    M: tl.constexpr,
    G: tl.constexpr,
) -> None:
    """Write a hash ``(i, m)`` of the genes ``(i, m, g)`` of each candidate."""
    instance = tl.program_id(0).to(tl.int64)
    c, j = tl.arange(0, M), tl.arange(0, G)
    inside = (c < n_candidates)[:, None] & (j < n_genes)[None]
    places = (instance * n_candidates + c[:, None]) * n_genes + j[None]
    bits = tl.load(genes + places, mask=inside, other=0.0).to(tl.uint64, bitcast=True)
    mixed = tl.where(inside, mix(bits + j[None].to(tl.uint64) * _GOLDEN), 0)
    code = tl.sum(mixed, axis=1).to(tl.int64, bitcast=True)
    tl.store(codes + instance * n_candidates + c, code, mask=c < n_candidates)


@triton.jit
def break_copies_kernel(
    codes: tl.tensor,
    losses: tl.tensor,
    violation: tl.tensor,
    n_candidates: tl.tensor,
    K: tl.constexpr,
    M: tl.constexpr,
) -> None:
    """Give losses of +inf to every candidate whose hash came before in its instance."""
    instance = tl.program_id(0).to(tl.int64)
    base = instance * n_candidates
    c = tl.arange(0, M)
    inside = c < n_candidates
    own = tl.load(codes + base + c, mask=inside, other=0)
    copies = tl.zeros([M], tl.int32)
    for start in range(0, n_candidates, TILE):
        d = start + tl.arange(0, TILE)
        other = tl.load(codes + base + d, mask=d < n_candidates, other=0)
        same = (other[:, None] == own[None]) & (d[:, None] < c[None])
        copies += tl.sum(same.to(tl.int32), axis=0)
    is_copy = inside & (copies > 0)
    tl.store(violation + base + c, _INFINITE, mask=is_copy)
    for o in tl.static_range(K):
        tl.store(losses + (base + c) * K + o, _INFINITE, mask=is_copy)


@triton.jit
def position_kernel(
    losses: tl.tensor,
    positions: tl.tensor,
    n_candidates: tl.tensor,
    K: tl.constexpr,
    M: tl.constexpr,
) -> None:
    """Write in one objective how many candidates ``(i, k, m)`` have a smaller loss than each."""
    instance = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1)
    base = instance * n_candidates
    c, t = tl.arange(0, M), tl.arange(0, TILE)
    inside = c < n_candidates
    own = tl.load(losses + (base + c) * K + o, mask=inside, other=0.0)
    below = tl.zeros([M], tl.int32)
    for start in range(0, n_candidates, TILE):
        d = start + t
        other = tl.load(losses + (base + d) * K + o, mask=d < n_candidates, other=_INFINITE)
        below += tl.sum((other[:, None] < own[None]).to(tl.int32), axis=0)
    tl.store(positions + (instance * K + o) * n_candidates + c, below, mask=inside)


@triton.jit
def rank_kernel(
    positions: tl.tensor,
    violation: tl.tensor,
    ranks: tl.tensor,
    n_candidates: tl.tensor,
    n_kept: tl.tensor,
    SPARE: tl.constexpr,
    K: tl.constexpr,
    M: tl.constexpr,
    W: tl.constexpr,
) -> None:
    """Write the rank ``(i, m)`` of candidates until ``n_kept`` have one; the others come last.

    The positions of a candidate in all objectives stand side by side in one number, with a spare
    bit above each: in the difference of two such numbers the spare bits tell who is ahead where.
    """
    instance = tl.program_id(0).to(tl.int64)
    base = instance * n_candidates
    c, w, t = tl.arange(0, M), tl.arange(0, W), tl.arange(0, TILE)
    inside = c < n_candidates
    own = tl.load(violation + base + c, mask=inside, other=_INFINITE)
    feasible = (own <= 0) & inside
    infeasible = (own > 0) & inside
    mine = tl.zeros([M], tl.int32)
    for o in tl.static_range(K):
        line = (instance * K + o) * n_candidates
        mine += tl.load(positions + line + c, mask=inside, other=0) << (BITS * o)
    dominators = tl.zeros([W, M], tl.int32)  # bit t of word w: candidate 32 w + t dominates
    for k in range(W):
        d = k * TILE + t
        there = d < n_candidates
        theirs = tl.zeros([TILE], tl.int32)
        for o in tl.static_range(K):
            line = (instance * K + o) * n_candidates
            theirs += tl.load(positions + line + d, mask=there, other=0) << (BITS * o)
        counts = (tl.load(violation + base + d, mask=there, other=_INFINITE) <= 0) & there
        none_above = (((mine[None] | SPARE) - theirs[:, None]) & SPARE) == SPARE
        dominates = counts[:, None] & none_above & (mine[None] != theirs[:, None])
        word = tl.sum(tl.where(dominates, (1 << t)[:, None], 0), axis=0)
        dominators = tl.where((w == k)[:, None], word[None], dominators)
    home = (c // TILE)[None] == w[:, None]
    own_bit = (1 << (c % TILE))[None]
    n_feasible = tl.sum(feasible.to(tl.int32))
    rank = tl.where(feasible, -1, _UNRANKED)
    front = 0
    n_left = n_feasible
    while (n_left > 0) & (n_feasible - n_left < n_kept):
        alive = rank == -1
        words = tl.sum(tl.where(home & alive[None], own_bit, 0), axis=1)
        dominated = tl.max(((dominators & words[:, None]) != 0).to(tl.int32), axis=0)
        rank = tl.where(alive & (dominated == 0), front, rank)
        front += 1
        n_left = tl.sum((rank == -1).to(tl.int32))
    rank = tl.where(rank == -1, _UNRANKED, rank)
    if n_feasible < n_kept:
        below = tl.zeros([M], tl.int32)  # of the distinct violations, how many are smaller
        for start in range(0, n_candidates, TILE):
            d = start + t
            there = d < n_candidates
            lacking = tl.load(violation + base + d, mask=there, other=_INFINITE)
            same = (own[None] == lacking[:, None]) & (c[None] < d[:, None]) & inside[None]
            is_first = there & (lacking > 0) & (tl.sum(same.to(tl.int32), axis=1) == 0)
            below += tl.sum(
                (is_first[:, None] & (lacking[:, None] < own[None])).to(tl.int32), axis=0
            )
        rank = tl.where(infeasible, front + below, rank)
    tl.store(ranks + base + c, rank, mask=inside)


@triton.jit
def order_kernel(
    losses: tl.tensor,
    positions: tl.tensor,
    ranks: tl.tensor,
    places: tl.tensor,
    ordered: tl.tensor,
    n_candidates: tl.tensor,
    K: tl.constexpr,
    M: tl.constexpr,
) -> None:
    """Write the place ``(i, k, m)`` of each candidate by front and loss, and the losses in order.

    A loss that is not finite counts as 0, which leaves its front without a range.
    """
    instance = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1)
    base = instance * n_candidates
    line = (instance * K + o) * n_candidates
    c, t = tl.arange(0, M), tl.arange(0, TILE)
    inside = c < n_candidates
    # By front, then by position; candidates of one position stand in their own order.
    rank = tl.load(ranks + base + c, mask=inside, other=0).to(tl.int32)
    own = (rank << BITS) + tl.load(positions + line + c, mask=inside, other=0)
    place = tl.zeros([M], tl.int32)
    for start in range(0, n_candidates, TILE):
        d = start + t
        there = d < n_candidates
        other = tl.load(ranks + base + d, mask=there, other=0).to(tl.int32) << BITS
        other += tl.load(positions + line + d, mask=there, other=0)
        other = tl.where(there, other, _OUTSIDE)[:, None]
        before = (other < own[None]) | ((other == own[None]) & (d[:, None] < c[None]))
        place += tl.sum(before.to(tl.int32), axis=0)
    loss = tl.load(losses + (base + c) * K + o, mask=inside, other=0.0)
    tl.store(places + line + c, place, mask=inside)
    tl.store(ordered + line + place, tl.where(tl.abs(loss) < _INFINITE, loss, 0.0), mask=inside)


@triton.jit
def crowding_kernel(
    ranks: tl.tensor,
    places: tl.tensor,
    ordered: tl.tensor,
    crowding: tl.tensor,
    n_candidates: tl.tensor,
    K: tl.constexpr,
    M: tl.constexpr,
) -> None:
    """Write the sides ``(i, m)`` of the box between a candidate's neighbours in its front."""
    instance = tl.program_id(0).to(tl.int64)
    base = instance * n_candidates
    c, t = tl.arange(0, M), tl.arange(0, TILE)
    inside = c < n_candidates
    rank = tl.load(ranks + base + c, mask=inside, other=0).to(tl.int32)
    first, size = tl.zeros([M], tl.int32), tl.zeros([M], tl.int32)
    for start in range(0, n_candidates, TILE):
        d = start + t
        theirs = tl.load(ranks + base + d, mask=d < n_candidates, other=_OUTSIDE)
        theirs = theirs.to(tl.int32)[:, None]
        first += tl.sum((theirs < rank[None]).to(tl.int32), axis=0)
        size += tl.sum((theirs == rank[None]).to(tl.int32), axis=0)
    last = first + size - 1
    total = tl.zeros([M], tl.float64)
    for o in tl.static_range(K):
        line = (instance * K + o) * n_candidates
        place = tl.load(places + line + c, mask=inside, other=0)
        at_end = (place == first) | (place == last)
        low = tl.load(ordered + line + first, mask=inside, other=0.0)
        high = tl.load(ordered + line + last, mask=inside, other=0.0)
        before = tl.load(ordered + line + place - 1, mask=inside & ~at_end, other=0.0)
        after = tl.load(ordered + line + place + 1, mask=inside & ~at_end, other=0.0)
        span = 0.5 * high - 0.5 * low
        box = (0.5 * after - 0.5 * before) / tl.where(span > 0, span, 1.0)
        total += tl.where(span > 0, tl.where(at_end, _INFINITE, box), 0.0)
    tl.store(crowding + base + c, total, mask=inside)


@triton.jit
def place_kernel(
    ranks: tl.tensor,
    crowding: tl.tensor,
    chosen: tl.tensor,
    n_candidates: tl.tensor,
    n_kept: tl.tensor,
    M: tl.constexpr,
) -> None:
    """Write the candidates ``(i, n)`` that survive, by rank, falling crowding and position."""
    instance = tl.program_id(0).to(tl.int64)
    base = instance * n_candidates
    c, t = tl.arange(0, M), tl.arange(0, TILE)
    inside = c < n_candidates
    rank = tl.load(ranks + base + c, mask=inside, other=0)
    own = tl.load(crowding + base + c, mask=inside, other=0.0)
    place = tl.zeros([M], tl.int32)
    for start in range(0, n_candidates, TILE):
        d = start + t
        there = (d < n_candidates)[:, None]
        theirs = tl.load(ranks + base + d, mask=d < n_candidates, other=0)[:, None]
        other = tl.load(crowding + base + d, mask=d < n_candidates, other=0.0)[:, None]
        tied = (other == own[None]) & (d[:, None] < c[None])
        first = (theirs < rank[None]) | ((theirs == rank[None]) & ((other > own[None]) | tied))
        place += tl.sum((there & first).to(tl.int32), axis=0)
    tl.store(chosen + instance * n_kept + place, c.to(tl.int64), mask=inside & (place < n_kept))
