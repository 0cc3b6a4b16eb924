"""Find out how a csv file is written: its encoding, its separator, and where its records begin.

Going through records is slower than reading cells. It is done for the beginning of a file, to find
its separator, and for a file that cannot be read, to name the line.
"""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from proce.errors import FileError

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_BLOCK_SIZE = 1 << 20  # bytes or characters read at a time
_MAX_RECORDS = 200  # read to find the separator
_MIN_AGREEMENT = 0.5  # share of records that a separator cuts into as many cells as the header
_MARKS = {  # those of UTF-32 first: one of them begins like one of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NOT_TEXT = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip file or an Excel workbook; export it as csv",
    b"\x1f\x8b": "compressed; unpack it first",
}
_JSON = re.compile(r"""\s*(\{\s*["}]|\[\s*[\[{])""")


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


@dataclass(frozen=True)
class Dialect:
    """How a csv file is written."""

    # separator, encoding: what stands between two cells, and how characters are written as bytes
    separator: str
    encoding: str
    notes: tuple[str, ...] = ()  # what a person should know about how the two were found
    has_rows: bool = True  # whether there is more than a header


def dialect_of(path: Path, separator: str | None = None) -> Dialect:
    """Find the encoding of a csv file, and its separator where none is given."""
    encoding, notes, n_quotes = _scan(path)
    with open_text(path, encoding) as text:
        beginning = text.read(_BLOCK_SIZE)
    if _JSON.match(beginning):
        raise FileError(f"{str(path)!r} is not csv: it is JSON; write the rows as csv or Parquet.")
    if separator is None:
        separator = separator_of(beginning)
        if separator != ",":
            words = SEPARATORS[separator]
            notes = (*notes, f"{path.name} was read with {words} between its cells.")
    separator = _checked(separator)
    n_records = len(list(islice(_records(beginning, separator), 2)))
    if not n_records:
        raise FileError(f"{str(path)!r} is empty; expected a header and rows.")
    has_rows = n_records > 1 or len(beginning) == _BLOCK_SIZE
    dialect = Dialect(separator, encoding, notes, has_rows)
    if n_quotes % 2:
        _refuse_open_quote(path, dialect)
    return dialect


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    r"""Open a file as text without its byte order mark, every line end as ``\n``."""
    return path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding)


def _scan(path: Path) -> tuple[str, tuple[str, ...], int]:
    """Return the encoding of a file, a note on it, and how many quotes the file has.

    Only the whole file can prove its encoding.
    """
    with path.open("rb") as stream:
        start = stream.read(_BLOCK_SIZE)
        kinds = [words for magic, words in _NOT_TEXT.items() if start.startswith(magic)]
        if kinds:
            raise FileError(f"{str(path)!r} is not csv: it is {kinds[0]}.")
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    encoding = marked or _unmarked_utf_16(start)
    if encoding is not None:
        position, n_quotes = _decode(path, encoding)
        name = encoding[:6].upper()
        if position is not None:
            raise FileError(
                f"{str(path)!r} begins as {name} and goes on as something else at about byte"
                f" {position:,}. Check that it is whole, or save it as UTF-8."
            )
        return encoding, (f"{path.name} was read as {name}.",), n_quotes
    position, n_quotes = _decode(path, "utf-8")
    if position is None:
        return "utf-8", (), n_quotes
    _, n_quotes = _decode(path, "latin-1")
    text = f"{path.name} is not UTF-8 (about byte {position:,}) and was read as Latin-1; if letters"
    return "latin-1", (f"{text} look wrong, save it as UTF-8.",), n_quotes


def _decode(path: Path, encoding: str) -> tuple[int | None, int]:
    """Return the first byte that is not of an encoding, and how many quotes there are before it."""
    decoder = codecs.getincrementaldecoder(encoding)()
    position, n_quotes = 0, 0
    with path.open("rb") as stream:
        at_end = False
        while not at_end:
            block = stream.read(_BLOCK_SIZE)
            at_end = not block
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(block, final=at_end)
            except UnicodeDecodeError as error:
                return max(0, position - pending + error.start), n_quotes
            if "\0" in text:
                place = position + len(text[: text.find("\0")].encode(encoding))
                raise FileError(
                    f"{str(path)!r} is not csv: it is not text, with a NUL at about byte {place:,}."
                )
            position += len(block)
            n_quotes += text.count('"')
    return None, n_quotes


def _unmarked_utf_16(start: bytes) -> str | None:
    """Return which UTF-16 a text without a byte order mark is written in; ``None`` for no such.

    Separators, digits and line ends are ASCII, so every second byte of many is zero.
    """
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if max(even, odd) < 2 or min(even, odd) > max(even, odd) // 4:
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = start[: len(start) // 2 * 2].decode(encoding, errors="replace")
    return encoding if "\0" not in text and ("\n" in text or "\r" in text) else None


def _checked(separator: str) -> str:
    sign = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(sign) != 1 or sign in '"\r\n' or sign.isalnum():
        raise FileError(
            f"the separator is {separator!r}; expected a single sign such as ',', ';' or '\\t'."
        )
    return sign


def separator_of(text: str) -> str:
    """Return the separator that cuts most records into as many cells as the header, and many."""
    best, best_score = ",", (0.0, 1)
    for separator in SEPARATORS:
        counts = _cell_counts(text, separator)
        if not counts or counts[0] == 1:
            continue
        agreement = sum(count == counts[0] for count in counts) / len(counts)
        if agreement >= _MIN_AGREEMENT and (agreement, counts[0]) > best_score:
            best, best_score = separator, (agreement, counts[0])
    return best


def _cell_counts(text: str, separator: str) -> list[int]:
    """Return how many cells each of the first records has; the last may be cut off."""
    counts = [record.n_cells for record in islice(_records(text, separator), _MAX_RECORDS)]
    cut_off = len(text) >= _BLOCK_SIZE and 1 < len(counts) < _MAX_RECORDS
    return counts[:-1] if cut_off else counts


def _records(text: str, separator: str) -> Iterator[Record]:
    return records(io.StringIO(text), separator)


def _refuse_open_quote(path: Path, dialect: Dialect) -> None:
    """Refuse a file in which a quote is never closed: the cell would swallow all rows below."""
    with open_text(path, dialect.encoding) as text:
        for record in records(text, dialect.separator):
            if not record.is_closed:
                raise FileError(
                    f"{str(path)!r}, line {record.line}: a quote is opened in this record and never"
                    " closed. Close it, or write it twice inside a quoted cell."
                )
