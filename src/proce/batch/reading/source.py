"""A csv or Parquet file of rows, read whole or in batches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from proce.batch.reading.csv_dialect import Dialect, dialect_of
from proce.errors import FileError, did_you_mean
from proce.schema import Continuous, Schema
from proce.schema.features.levels import shown
from proce.schema.frames.cells import MISSING_TEXTS

_BLOCK_SIZE = 1 << 22  # bytes of a csv file parsed at a time; a record must fit


@dataclass(frozen=True)
class Source:
    """A file of rows.

    Attributes
    ----------
    path
        The path of the file.
    columns
        The names of its columns, in their order.
    dialect
        How a csv file is written; ``None`` for Parquet.
    """

    path: Path
    columns: tuple[str, ...]
    dialect: Dialect | None

    @classmethod
    def open(cls, path: Path, separator: str | None = None) -> "Source":
        """Read the columns of a file, or say why it cannot be read."""
        with _readable(path):
            if not path.is_file():
                path.stat()
                raise FileError(f"{str(path)!r} is not a file; expected a csv or Parquet file.")
            if path.stat().st_size == 0:
                raise FileError(f"{str(path)!r} is empty; expected a header and rows.")
            if path.suffix.lower() in (".parquet", ".pq"):
                return cls(
                    path, _checked_names(path, pq.ParquetFile(path).schema_arrow.names), None
                )
            dialect = dialect_of(path, separator)
            bare = cls(path, (), dialect)
            with bare._csv_reader(None) as reader:
                names = reader.schema.names
        return cls(path, _checked_names(path, names), dialect)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        return () if self.dialect is None else self.dialect.notes

    def require(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Refuse a file that lacks one of these columns; return the other columns that it has."""
        extra = [name for name in self.columns if name not in columns]
        if absent := [name for name in columns if name not in self.columns]:
            raise FileError(
                f"{str(self.path)!r} lacks the column {absent[0]!r}; it has {shown(self.columns)}."
                + (did_you_mean(absent[0], extra) or self._advice())
            )
        return tuple(extra)

    def batches(self, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns; cells of a csv file are text."""
        with _readable(self.path):
            if self.dialect is None:
                # Buffered by pages: a row group of any size does not have to fit in memory.
                file = pq.ParquetFile(self.path, buffer_size=_BLOCK_SIZE, pre_buffer=False)
                yield from file.iter_batches(size, columns=list(columns), use_threads=False)
                return
            with self._csv_reader(list(columns)) as reader:
                yield from reader

    def table(self, schema: Schema | None = None) -> pa.Table:
        """Return the whole file; the types of a csv file's columns are inferred.

        Parameters
        ----------
        schema
            A text that it names as a level is not taken for a missing cell.
        """
        with _readable(self.path):
            if self.dialect is None:
                return _without_index(pq.read_table(self.path))
            return pacsv.read_csv(self.path, self._reading, self._parsing, _csv_types(schema))

    @property
    def _reading(self) -> Any:
        encoding = "utf8" if self.dialect is None else self.dialect.encoding
        return pacsv.ReadOptions(block_size=_BLOCK_SIZE, encoding=encoding, use_threads=False)

    @property
    def _parsing(self) -> Any:
        separator = "," if self.dialect is None else self.dialect.separator
        return pacsv.ParseOptions(delimiter=separator, newlines_in_values=True)

    def _csv_reader(self, columns: list[str] | None) -> Any:
        as_text = pacsv.ConvertOptions(
            include_columns=columns,
            column_types={name: pa.string() for name in columns or ()},
            strings_can_be_null=False,
        )
        return pacsv.open_csv(self.path, self._reading, self._parsing, as_text)

    def _advice(self) -> str:
        if len(self.columns) == 1 and self.dialect is not None:
            return " Is it separated by something else? Say by what with --separator."
        return ""


def _csv_types(schema: Schema | None) -> Any:
    """Return how csv cells are converted: columns of text levels stay text, even of digits."""
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
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what a library raises into an error that names the file and the reason."""
    try:
        yield
    except FileError:
        raise
    except pa.ArrowInvalid as error:
        kind = "Parquet" if path.suffix.lower() in (".parquet", ".pq") else "csv"
        reason = str(error).splitlines()[0].rstrip(".")
        raise FileError(
            f"{str(path)!r} cannot be read as {kind}: {reason}. Check that it is whole and of"
            " that format."
        ) from error
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise FileError(f"{str(path)!r} cannot be read: {reason}.") from error


def _checked_names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise FileError(f"{str(path)!r} has the column {twice[0]!r} twice; keep one of them.")
    return tuple(names)


def _without_index(table: pa.Table) -> pa.Table:
    """Return a table without the index that pandas wrote along."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    kept = [name for name in table.column_names if name not in index]
    return table.select(kept).replace_schema_metadata(None)
