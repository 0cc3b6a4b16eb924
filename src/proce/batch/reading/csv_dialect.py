"""Find out how a csv file is written: its encoding and its separator."""

import codecs
import csv
from dataclasses import dataclass
from pathlib import Path

from proce.errors import FileError

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_BLOCK_SIZE = 1 << 20  # bytes or characters read at a time
_MAX_RECORDS = 200  # read to find the separator
_NOT_TEXT = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip file or an Excel workbook; export it as csv",
    b"\x1f\x8b": "compressed; unpack it first",
}


@dataclass(frozen=True)
class Dialect:
    """How a csv file is written.

    Attributes
    ----------
    separator, encoding
        What stands between two cells, and how characters are written as bytes.
    notes
        What a person should know about how the two were found.
    """

    separator: str
    encoding: str
    notes: tuple[str, ...] = ()


def dialect_of(path: Path, separator: str | None = None) -> Dialect:
    """Find the encoding of a csv file, and its separator where none is given."""
    encoding, notes = _encoding(path)
    if separator is not None:
        return Dialect(_checked(separator), encoding, notes)
    separator = _separator(_beginning(path, encoding))
    if separator != ",":
        notes = (*notes, f"{path.name} was read with {SEPARATORS[separator]} between its cells.")
    return Dialect(separator, encoding, notes)


def _encoding(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the encoding of a file and a note on it; only the whole file can prove UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position, encoding = 0, "utf-8"
    with path.open("rb") as stream:
        start = stream.read(4)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", (f"{path.name} was read as UTF-16.",)
        stream.seek(0)
        while block := stream.read(_BLOCK_SIZE):
            if b"\0" in block or (position == 0 and start.startswith(tuple(_NOT_TEXT))):
                raise FileError(f"{str(path)!r} is not csv: it is {_kind(start)}.")
            if encoding == "utf-8":
                try:
                    decoder.decode(block)
                except UnicodeDecodeError as error:
                    position += max(0, error.start)
                    encoding = "latin-1"
            position += len(block) if encoding == "utf-8" else 0
    if encoding == "utf-8":
        return encoding, ()
    return encoding, (
        f"{path.name} is not UTF-8 (about byte {position:,}) and was read as Latin-1; if letters"
        " look wrong, save it as UTF-8.",
    )


def _kind(start: bytes) -> str:
    kinds = [words for magic, words in _NOT_TEXT.items() if start.startswith(magic)]
    return kinds[0] if kinds else "not text"


def _checked(separator: str) -> str:
    sign = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(sign) != 1 or sign in '"\r\n' or sign.isalnum():
        raise FileError(
            f"the separator is {separator!r}; expected a single sign such as ',', ';' or '\\t'."
        )
    return sign


def _beginning(path: Path, encoding: str) -> str:
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as text:
        return text.read(_BLOCK_SIZE)


def _separator(text: str) -> str:
    """Return the separator that cuts all records into equally many cells, and into the most."""
    best, max_cells = ",", 1
    for separator in SEPARATORS:
        counts = _cell_counts(text, separator)
        if counts and counts[0] > max_cells and all(count == counts[0] for count in counts):
            best, max_cells = separator, counts[0]
    return best


def _cell_counts(text: str, separator: str) -> list[int]:
    """Return how many cells each of the first records has."""
    counts: list[int] = []
    try:
        for record in csv.reader(text.splitlines(keepends=True), delimiter=separator):
            counts += [len(record)] if record else []
            if len(counts) > _MAX_RECORDS:
                break
    except csv.Error:
        return []
    cut_off = len(text) >= _BLOCK_SIZE and len(counts) <= _MAX_RECORDS
    return counts[:-1] if cut_off else counts
