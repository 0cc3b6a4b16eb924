"""Equal rows, of which the first counts.

-0.0 equals 0.0, and a missing number another. Rows are compared by a hash of 64 bits, and exactly:
which of them are shown to a person is decided of rows that were :func:`rounded`.
"""

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array, Flags, Floats, Ints, Words
from proce.compiled.kernel import kernel, part
from proce.compiled.streams import hash_row


def first_of_each(rows: Floats, counts: Flags) -> Flags:
    """Return flags ``(i, n)`` of the rows ``(i, n, f)`` that count and equal none before them."""
    return _marked(rows, counts)[0]


def firsts_of(rows: Floats) -> Ints:
    """Return which row of its group each of the rows ``(i, n, f)`` equals first, ``(i, n)``."""
    return _marked(rows, np.ones(rows.shape[:2], np.bool_))[1]


def distinct(rows: Floats) -> Ints:
    """Return the positions of the different rows of ``(n, f)``, each where it first appears."""
    return groups_of(rows)[0]


def groups_of(rows: Array) -> tuple[Ints, Ints]:
    """Return :func:`distinct` of rows ``(n, f)``, and which of those each row equals, ``(n,)``."""
    flags, firsts = _marked(rows[None], np.ones((1, len(rows)), np.bool_))
    return np.flatnonzero(flags[0]), (np.cumsum(flags[0]) - 1)[firsts[0]]


def rounded(rows: Array) -> Floats:
    """Return rows in which entries that differ by rounding are the same, but for unlucky ones."""
    with np.errstate(over="ignore"):  # equations can lead anywhere
        return np.rint(rows / MIN_DIFFERENCE)


def members_of(group: Ints) -> list[Ints]:
    """Return the positions of the rows in each group, from the group of each row ``(n,)``."""
    return np.split(np.argsort(group, kind="stable"), np.bincount(group).cumsum()[:-1])


def _marked(rows: Array, counts: Flags) -> tuple[Flags, Ints]:
    """Return what :func:`drop_all_copies` writes about rows ``(i, n, f)``."""
    flags, firsts = counts.copy(), np.empty(counts.shape, np.int64)
    drop_all_copies(np.ascontiguousarray(rows, np.float64).view(np.uint64), flags, firsts)
    return flags, firsts


@kernel
def drop_all_copies(bits: Words, counts: Flags, firsts: Ints) -> None:
    """Let no row of bits ``(i, n, f)`` count that equals one before it, see `drop_copies`.

    ``counts (i, n)`` and ``firsts (i, n)`` are written.
    """
    for i in range(len(bits)):
        drop_copies(bits[i], counts[i], firsts[i])


@part
def drop_copies(bits: Words, counts: Flags, firsts: Ints) -> None:
    """Let rows of bits ``(n, f)`` no longer count that equal an earlier one that counts.

    The position of that one is written to ``firsts (n,)``; of a row that counts it is its own.
    """
    n = len(bits)
    size = 64
    while size < 2 * n:
        size *= 2
    table = np.empty(size, np.int64)  # open addressing: the position of each hash
    for empty in range(size):
        table[empty] = -1
    hashes = np.empty(n, np.uint64)
    for c in range(n):
        if counts[c]:
            hashes[c] = hash_row(bits[c])
            slot = np.int64(hashes[c] & np.uint64(size - 1))
            while table[slot] >= 0 and hashes[table[slot]] != hashes[c]:
                slot = (slot + 1) & (size - 1)
            counts[c] = table[slot] < 0
            if counts[c]:
                table[slot] = c
            firsts[c] = table[slot]
