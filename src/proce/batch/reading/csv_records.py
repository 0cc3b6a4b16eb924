"""The records of a csv text: where each begins, and how many cells it has.

This is slower than reading the cells, and is done for the beginning of a file, to find out how it
is written, and for a file that cannot be read, to name the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

_BLOCK_SIZE = 1 << 20  # characters read at a time


@dataclass(frozen=True)
class Record:
    """A record of a csv text, its header included; empty lines are none."""

    line: int  # the line on which it begins, counted from 1
    n_cells: int  # how many cells it has
    n_characters: int  # how long it is
    is_closed: bool  # whether the last quote that it opens is closed before the text ends


def records(text: TextIO, separator: str) -> Iterator[Record]:
    r"""Yield the records of a text whose lines end in ``\n`` alone, as text files are read.

    A quote opens a cell only where the cell begins, and is part of it elsewhere; two of them
    inside a quoted cell stand for one.
    """
    signs = re.compile(f'["\n{re.escape(separator)}]')
    line, first_line, n_cells = 1, 1, 1
    offset, record_start, cell_start, closed_at = 0, 0, 0, -2
    in_quotes = False
    while block := text.read(_BLOCK_SIZE):
        for sign in signs.finditer(block):
            position = offset + sign.start()
            if sign[0] == '"':
                if in_quotes:
                    in_quotes, closed_at = False, position
                else:
                    in_quotes = position in (cell_start, closed_at + 1)
                continue
            line += sign[0] == "\n"
            if in_quotes:
                continue
            if sign[0] != "\n":
                n_cells, cell_start = n_cells + 1, position + 1
                continue
            if position > record_start:
                yield Record(first_line, n_cells, position - record_start, True)
            first_line, n_cells = line, 1
            record_start = cell_start = position + 1
        offset += len(block)
    if offset > record_start:
        yield Record(first_line, n_cells, offset - record_start, not in_quotes)
