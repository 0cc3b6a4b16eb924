"""The table of answers as its kernels take it, and what is open while they are asked."""

from typing import NamedTuple

from proce.arrays import Floats, Ints, Words

# What a place of the table holds; from 0 on, the number of a question that is open.
EMPTY = -2
ANSWERED = -1


class Places(NamedTuple):
    """The places of a table of answers.

    Attributes
    ----------
    bits, keys
        ``(s, f)`` and ``(s,)``, the row in each place bit by bit, and whose it is.
    answers, states
        ``(s, k)`` and ``(s,)``, what is known of it, and whether it is.
    """

    bits: Words
    keys: Ints
    answers: Floats
    states: Ints


class Questions(NamedTuple):
    """What is asked about some rows.

    Attributes
    ----------
    source
        ``(n,)``, the question that answers each row, or -1 where the answer is known.
    asked, places
        ``(n,)``, the row of each question, and its place in the table.
    """

    source: Ints
    asked: Ints
    places: Ints
