"""Where rows come from: a csv file, a Parquet file, or a folder of Parquet files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from proce.batch.reading.csv_file import CsvFile
from proce.batch.reading.parquet_files import SUFFIXES, ParquetFiles, files_in
from proce.batch.reading.readable import readable
from proce.errors import FileError, did_you_mean
from proce.schema import Schema
from proce.schema.features.levels import quoted


@dataclass(frozen=True)
class Batch:
    """Some rows of a file."""

    file: Path  # the file that they are from
    first_row: int  # the position of the first of them in that file
    rows: pa.RecordBatch  # the rows


@dataclass(frozen=True)
class Source:
    """A file of rows, or a folder of such files."""

    path: Path  # the path of the file or folder
    columns: tuple[str, ...]  # the names of its columns, in their order
    content: CsvFile | ParquetFiles  # the file, or those in the folder

    @classmethod
    def open(cls, path: Path, separator: str | None = None) -> "Source":
        """Read the columns of a file or a folder, or say why it cannot be read."""
        is_parquet = path.suffix.lower() in SUFFIXES
        with readable(path, "Parquet" if is_parquet else "csv"):
            status = path.stat()
        content: CsvFile | ParquetFiles
        if path.is_dir():
            content = ParquetFiles.open(files_in(path))
        elif not path.is_file():
            raise FileError(
                f"{str(path)!r} is not a file; expected a csv or Parquet file, or a folder of"
                " Parquet files."
            )
        elif is_parquet:
            content = ParquetFiles.open([path])
        elif status.st_size == 0:
            raise FileError(f"{str(path)!r} is empty; expected a header and rows.")
        else:
            content = CsvFile.open(path, separator)
        _refuse_twice(content)
        return cls(path, content.columns, content)

    @property
    def is_text(self) -> bool:
        """Whether cells are text that has to be parsed, as in a csv file."""
        return isinstance(self.content, CsvFile)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        return self.content.notes

    def require(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Refuse a file that lacks one of these columns; return the other columns that there are.

        Of a folder every file must have them.
        """
        for path, names in self.content.names_by_file.items():
            if absent := [name for name in columns if name not in names]:
                extra = [name for name in names if name not in columns]
                raise FileError(
                    f"{str(path)!r} lacks the column {absent[0]!r}; it has {quoted(names)}."
                    + (did_you_mean(absent[0], extra) or self.content.advice())
                )
        return tuple(name for name in self.columns if name not in columns)

    def type_of(self, column: str) -> pa.DataType:
        """Return the type in which a column can be given without loss; text for a csv file."""
        return self.content.type_of(column)

    def batches(self, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the rows of some columns, file by file; cells of a csv file are text."""
        file, first_row = self.path, 0
        for path, rows in self.content.batches(columns, size):
            first_row = first_row if path == file else 0
            yield Batch(path, first_row, rows)
            file, first_row = path, first_row + len(rows)

    def table(self, schema: Schema | None = None) -> pa.Table:
        """Return all rows; the types of a csv file's columns are inferred."""
        return self.content.table(schema)


def _refuse_twice(content: CsvFile | ParquetFiles) -> None:
    """Refuse a file that has two columns of one name."""
    for path, names in content.names_by_file.items():
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise FileError(f"{str(path)!r} has the column {twice[0]!r} twice; keep one of them.")
