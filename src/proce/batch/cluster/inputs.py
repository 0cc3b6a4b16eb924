"""A folder of Parquet files as pieces of work, each a slice of one file."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from proce.batch.cluster.store import Store
from proce.batch.reading.parquet_files import SUFFIXES, joint_type, parquet_names, plain_type
from proce.errors import FileError, did_you_mean
from proce.schema.features.levels import quoted

_N_THREADS = 16  # that look at files; object stores answer slowly
_CHECKSUM_DIGITS = 12  # of the checksum that tells a file from what it was before


@dataclass(frozen=True)
class InputFile:
    """A Parquet file of rows."""

    # number, name: its place in the order of names, and its name
    number: int
    name: str
    n_rows: int  # how many rows it has
    checksum: str  # digits that change with its content: a checksum of its length and its footer
    id_type: pa.DataType | None  # the Arrow type of its ids; None without ids
    # the columns that it has as numbers of 32 bits with fractions
    float32: frozenset[str] = frozenset()

    @property
    def has_ids(self) -> bool:
        """Whether any row has an id, so that their type is known."""
        return self.n_rows > 0 and self.id_type not in (None, pa.null())

    def is_other(self, id_type: pa.DataType | None) -> bool:
        """Return whether the file has ids that another type cannot hold."""
        if id_type is None or self.id_type is None or not self.has_ids:
            return False
        return bool(joint_type(id_type, self.id_type) != id_type)

    def is_wider(self, float32: frozenset[str]) -> bool:
        """Return whether the file has rows with numbers that are not of 32 bits as all others."""
        return self.n_rows > 0 and not float32 <= self.float32

    def pieces(self, piece_rows: int, digest: str) -> "list[FileSlice]":
        """Cut the file into slices of so many rows; a file without rows is one empty piece."""
        starts = range(0, max(self.n_rows, 1), piece_rows)
        return [
            FileSlice(
                self.name,
                self.checksum,
                start,
                min(piece_rows, self.n_rows - start),
                f"part-{self.number:05d}-{place:05d}-{self.checksum}-{digest}.parquet",
            )
            for place, start in enumerate(starts)
        ]


@dataclass(frozen=True)
class FileSlice:
    """Some rows of a file, and the name of the part that their results become."""

    # file, checksum: the name of the file, and the digits that its content had
    file: str
    checksum: str
    # first_row, n_rows: which rows of the file
    first_row: int
    n_rows: int
    part: str  # the name of the part; the input and the request decide it

    @property
    def description(self) -> str:
        """Which rows these are, for messages."""
        if not self.n_rows:
            return self.file
        return f"{self.file}, rows {self.first_row:,} to {self.first_row + self.n_rows - 1:,}"


def list_inputs(rows: Store) -> tuple[Store, tuple[str, ...]]:
    """Return the folder and the names of its Parquet files, hidden ones left out."""
    kind = rows.kind()
    if kind == "nothing":
        raise FileError(f"{rows.url!r} cannot be read: there is no such file or folder.")
    if kind == "file":
        if not rows.name.lower().endswith(SUFFIXES):
            raise FileError(
                f"{rows.url!r} is a file which is no Parquet file; a cluster reads files named"
                " .parquet. Convert the rows, or leave --engine out."
            )
        names: tuple[str, ...] = (rows.name,)
        rows = rows.parent
    else:
        entries = {name: entry == "directory" for name, entry in rows.entries().items()}
        names = parquet_names(rows.url, entries)
    return rows, names


def inspect_inputs(
    folder: Store, names: Sequence[str], columns: Sequence[str], id_name: str | None
) -> tuple[list[InputFile], dict[str, str]]:
    """Look at the footers of all files."""

    def inspect(numbered: tuple[int, str]) -> InputFile | str:
        number, name = numbered
        try:
            with open_input(folder, name) as (file, checksum):
                schema = file.schema_arrow
                _require_columns(schema.names, columns, id_name)
                id_type = None if id_name is None else plain_type(schema.field(id_name).type)
                float32 = {own for own in columns if schema.field(own).type == pa.float32()}
                n_rows = file.metadata.num_rows
                return InputFile(number, name, n_rows, checksum, id_type, frozenset(float32))
        except (OSError, FileError) as error:
            return str(error)

    with ThreadPoolExecutor(_N_THREADS) as threads:
        found = list(threads.map(inspect, enumerate(names)))
    failures = {
        name: reason for name, reason in zip(names, found, strict=True) if isinstance(reason, str)
    }
    return [file for file in found if isinstance(file, InputFile)], failures


@contextmanager
def open_input(folder: Store, name: str) -> Iterator[tuple[Any, str]]:
    """Open a Parquet file; yield it and its checksum."""
    with folder.reading(name) as (stream, size):
        try:
            file = pq.ParquetFile(stream, pre_buffer=False)
            footer = io.BytesIO()
            file.metadata.write_metadata_file(footer)
            total = hashlib.sha256(f"{name}\0{size}\0".encode() + footer.getvalue())
            yield file, total.hexdigest()[:_CHECKSUM_DIGITS]
        except (pa.ArrowException, UnicodeError) as error:
            reason = (str(error).splitlines() or ["damaged"])[0].rstrip(".")
            raise FileError(f"it cannot be read as Parquet: {reason}.") from error


def read_piece(
    folder: Store, piece: FileSlice, columns: Sequence[str], batch_rows: int
) -> Iterator[pa.Table]:
    """Yield the rows of a piece, so many at a time; one empty table where there are none."""
    with open_input(folder, piece.file) as (file, checksum):
        if checksum != piece.checksum:
            raise FileError("it was changed after this run began. Run the command again.")
        groups, skip = _row_groups(file.metadata, piece)
        left = piece.n_rows
        schema = pa.schema([file.schema_arrow.field(name) for name in columns])
        for batch in file.iter_batches(
            batch_rows, row_groups=groups, columns=list(columns), use_threads=False
        ):
            rows = batch.slice(skip, left)
            skip, left = max(0, skip - len(batch)), left - len(rows)
            if len(rows):
                yield pa.Table.from_batches([rows.select(list(columns))])
            if not left:
                break
        if not piece.n_rows:
            yield schema.empty_table()


def _row_groups(metadata: Any, piece: FileSlice) -> tuple[list[int], int]:
    """Return the row groups that hold a piece, and how many of their rows come before it."""
    groups: list[int] = []
    skip = start = 0
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        if start < piece.first_row + piece.n_rows and end > piece.first_row:
            skip = skip if groups else piece.first_row - start
            groups.append(group)
        start = end
    return groups, skip


def _require_columns(names: Sequence[str], columns: Sequence[str], id_name: str | None) -> None:
    wanted = columns if id_name is None else (*columns, id_name)
    if absent := [name for name in wanted if name not in names]:
        raise FileError(
            f"it lacks the column {absent[0]!r}; it has {quoted(tuple(names))}."
            + did_you_mean(absent[0], names)
        )
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise FileError(f"it has the column {twice[0]!r} twice; keep one of them.")
