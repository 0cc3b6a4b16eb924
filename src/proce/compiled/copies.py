"""Equal rows, of which the first counts.

-0.0 equals 0.0, and a missing number another. Rows are compared by a hash of 64 bits.
"""

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.compiled.kernel import kernel, part
from proce.compiled.stream import Words, hash_row


def first_of_each(rows: Floats, counts: Flags) -> Flags:
    """Return flags ``(i, n)`` of the rows ``(i, n, f)`` that count and equal none before them."""
    flags = counts.copy()
    drop_all_copies(np.ascontiguousarray(rows).view(np.uint64), flags)
    return flags


def distinct(rows: Floats) -> Ints:
    """Return the positions of the different rows of ``(n, f)``, each where it first appears."""
    return np.flatnonzero(first_of_each(rows[None], np.ones((1, len(rows)), np.bool_)))


@kernel
def drop_all_copies(bits: Words, counts: Flags) -> None:
    """Do what :func:`drop_copies` does for each of some groups of rows."""
    for i in range(len(bits)):
        drop_copies(bits[i], counts[i])


@part
def drop_copies(bits: Words, counts: Flags) -> None:
    """Let rows of bits ``(n, f)`` no longer count that equal an earlier one that counts."""
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
