"""A csv file, read whole or in batches of text."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from proce.batch.reading.csv_dialect import Dialect, Record, dialect_of, open_text, records
from proce.batch.reading.readable import readable
from proce.errors import FileError
from proce.schema import Continuous, Schema
from proce.schema.frames.cells import MISSING_TEXTS

_BLOCK_SIZE = 1 << 22  # bytes parsed at a time; a record must fit
_WRONG_COUNT = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_TOO_LONG = "straddling object"  # a record that does not fit into a block


@dataclass(frozen=True)
class CsvFile:
    """A csv file."""

    path: Path  # the path of the file
    dialect: Dialect  # how it is written
    # the names of its columns, in their order; those at the end that have none are left out
    columns: tuple[str, ...] = ()
    n_unnamed: int = 0  # how many columns at the end have no name, as where lines end in separators

    @classmethod
    def open(cls, path: Path, separator: str | None = None) -> "CsvFile":
        """Find out how a file is written, and what its columns are."""
        with readable(path, "csv"):
            bare = cls(path, dialect_of(path, separator))
            with bare._named_lines(), bare._reader(None) as reader:
                names = list(reader.schema.names)
        n_unnamed = 0
        while names and not names[-1]:
            names.pop()
            n_unnamed += 1
        return cls(path, bare.dialect, tuple(names), n_unnamed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        if not self.n_unnamed:
            return self.dialect.notes
        text = "Columns without a name at the end of the lines were left out"
        return (*self.dialect.notes, f"{text}: {self.n_unnamed} of {self.path.name}.")

    @property
    def names_by_file(self) -> dict[Path, tuple[str, ...]]:
        """The names of the columns that the file has."""
        return {self.path: self.columns}

    def advice(self) -> str:
        """Return what to try where a column is not there."""
        if len(self.columns) == 1:
            return " Is it separated by something else? Say by what with --separator."
        return ""

    def type_of(self, _column: str) -> pa.DataType:
        """Return the type of the cells of a column, which are text."""
        return pa.string()

    def batches(self, columns: Sequence[str], _size: int) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Yield the rows of some columns, as text; Arrow decides how many at a time."""
        with (
            readable(self.path, "csv"),
            self._named_lines(),
            self._reader(list(columns)) as reader,
        ):
            for batch in reader:
                yield self.path, batch

    def table(self, schema: Schema | None = None) -> pa.Table:
        """Return the whole file, the types of its columns inferred."""
        types = _types(schema, self.columns)
        with readable(self.path, "csv"), self._named_lines():
            return pacsv.read_csv(self._input(), self._reading, self._parsing, types)

    @property
    def _reading(self) -> Any:
        encoding = self.dialect.encoding if self.dialect.has_rows else "utf-8"
        return pacsv.ReadOptions(block_size=_BLOCK_SIZE, encoding=encoding, use_threads=False)

    @property
    def _parsing(self) -> Any:
        return pacsv.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=True)

    def _input(self) -> Any:
        """Return what Arrow reads: the file, or a header alone with the line end that it needs."""
        if self.dialect.has_rows:
            return self.path
        with open_text(self.path, self.dialect.encoding) as text:
            return pa.BufferReader((text.read() + "\n").encode())

    def _reader(self, columns: list[str] | None) -> Any:
        as_text = pacsv.ConvertOptions(
            include_columns=columns,
            column_types={name: pa.string() for name in columns or ()},
            strings_can_be_null=False,
        )
        return pacsv.open_csv(self._input(), self._reading, self._parsing, as_text)

    @contextmanager
    def _named_lines(self) -> Iterator[None]:
        """Name the line of a record that cannot be parsed."""
        try:
            yield
        except pa.ArrowInvalid as error:
            if _TOO_LONG in str(error):
                line = self._line(lambda record: record.n_characters > _BLOCK_SIZE)
                raise FileError(
                    f"{str(self.path)!r}{line}: a record is longer than {_BLOCK_SIZE >> 20} MB."
                    " Leave out the column that makes it so, or write the rows as Parquet."
                ) from None
            if not (match := _WRONG_COUNT.search(str(error))):
                raise
            number, expected, count = map(int, match.groups())
            line = self._line(lambda record: record.n_cells != expected, number)
            advice = f"Put quotes around a cell that holds {self.dialect.separator!r}"
            raise FileError(
                f"{str(self.path)!r}{line}: {count} cell{'s' * (count != 1)}, where the header has"
                f" {expected}. {advice if count > expected else 'Complete the line'}, or say with"
                " --separator what separates the cells."
            ) from None

    def _line(self, is_wrong: Callable[[Record], bool], number: int = 1) -> str:
        """Return the line of the first wrong record, from the record of a number on."""
        with open_text(self.path, self.dialect.encoding) as text:
            later = islice(records(text, self.dialect.separator), number - 1, None)
            return next((f", line {record.line}" for record in later if is_wrong(record)), "")


def _types(schema: Schema | None, columns: Sequence[str]) -> Any:
    """Return how cells are converted: columns of text levels stay text, even of digits."""
    levels = {
        feature.name: feature.levels
        for feature in schema or ()
        if not isinstance(feature, Continuous) and isinstance(feature.levels[0], str)
    }
    known = {level for names in levels.values() for level in names}
    return pacsv.ConvertOptions(
        null_values=[text for text in MISSING_TEXTS if text not in known],
        strings_can_be_null=True,
        column_types={name: pa.string() for name in levels},
        include_columns=list(columns),
    )
