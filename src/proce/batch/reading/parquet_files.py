"""Parquet files: one, or those of a folder as one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from proce.batch.reading.readable import readable
from proce.errors import FileError
from proce.schema import Schema

SUFFIXES = (".parquet", ".pq")
_BLOCK_SIZE = 1 << 22  # bytes read ahead of a column


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files that are read one after the other."""

    paths: tuple[Path, ...]  # the files
    schemas: tuple[pa.Schema, ...]  # the columns of each file, with their types

    @classmethod
    def open(cls, paths: Sequence[Path]) -> "ParquetFiles":
        """Read the columns of every file, or say which cannot be read."""
        schemas: list[pa.Schema] = []
        for path in paths:
            with readable(path, "Parquet"):
                if path.stat().st_size == 0:
                    raise FileError(f"{str(path)!r} is empty; expected a header and rows.")
                schema = pq.ParquetFile(path).schema_arrow
            # A folder of many files has few kinds of them.
            schemas.append(next((known for known in schemas[-1:] if known.equals(schema)), schema))
        return cls(tuple(paths), tuple(schemas))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in the order in which the files have them."""
        kinds = dict.fromkeys(self.names_by_file.values())
        return tuple(dict.fromkeys(name for names in kinds for name in names))

    @property
    def names_by_file(self) -> dict[Path, tuple[str, ...]]:
        """The names of the columns that each file has."""
        named = zip(self.paths, self.schemas, strict=True)
        return {path: tuple(schema.names) for path, schema in named}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the files were read."""
        if len(self.paths) == 1:
            return ()
        folder = self.paths[0].parent.name
        return (f"{len(self.paths):,} Parquet files of {folder} were read as one table.",)

    def advice(self) -> str:
        """Return what to try where a column is not there."""
        return " All files need it." if len(self.paths) > 1 else ""

    def type_of(self, column: str) -> pa.DataType:
        """Return the type in which all files can give a column without loss."""
        common: pa.DataType | None = None
        for path, schema in zip(self.paths, self.schemas, strict=True):
            own = plain_type(schema.field(column).type)
            joint = own if common is None else joint_type(common, own)
            if joint is None:
                raise FileError(
                    f"{str(path)!r} has the column {column!r} as {own}, and the files before it"
                    f" have it as {common}. Convert one of them."
                )
            common = joint
        assert common is not None, "there is at least one file"
        return common

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Yield the rows of some columns, with the file that they are from."""
        for path in self.paths:
            with readable(path, "Parquet"):
                # Buffered by pages: a row group of any size does not have to fit in memory.
                file = pq.ParquetFile(path, buffer_size=_BLOCK_SIZE, pre_buffer=False)
                for batch in file.iter_batches(size, columns=list(columns), use_threads=False):
                    yield path, batch

    def table(self, _schema: Schema | None = None) -> pa.Table:
        """Return all rows in the columns of the first file, without an index that pandas wrote."""
        tables: list[pa.Table] = []
        for path in self.paths:
            with readable(path, "Parquet"):
                table = _without_index(pq.ParquetFile(path).read())
                tables.append(table.select(tables[0].column_names) if tables else table)
        if not all(table.schema.equals(tables[0].schema) for table in tables):
            tables = [_plain_table(table) for table in tables]
        with readable(self.paths[0].parent, "Parquet"):
            return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def files_in(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet files of a folder in the order of their names.

    Names that begin with a dot or an underscore are left out: other programs leave marks so.
    """
    with readable(folder, "Parquet"):
        entries = {path.name: path.is_dir() for path in folder.iterdir()}
    return tuple(folder / name for name in parquet_names(str(folder), entries))


def parquet_names(folder: str, entries: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the names of the Parquet files of a folder in order, or say what else is there."""
    if "_delta_log" in entries:
        raise FileError(
            f"{folder!r} is a Delta table, whose files may be out of date; expected a folder"
            " of Parquet files. Export the rows as Parquet."
        )
    names = tuple(sorted(name for name in entries if not name.startswith((".", "_"))))
    for name in names:
        if entries[name]:
            raise FileError(
                f"{folder!r} holds the folder {name!r}; expected Parquet files alone,"
                " because the name of a folder may stand for a column. Give the folder inside, or"
                " put the files side by side."
            )
        if not name.lower().endswith(SUFFIXES):
            raise FileError(
                f"{folder!r} holds {name!r}; expected files that end in .parquet alone,"
                " so that no rows are missed. Move it somewhere else."
            )
    if not names:
        raise FileError(f"{folder!r} holds no Parquet files; expected one at least.")
    return names


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column that is no dictionary, its text of one type."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if is_text else kind


def joint_type(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    """Return the type that holds all values of two types, or ``None`` for no such type."""
    if first.equals(second) or pa.types.is_null(second):
        return first
    if pa.types.is_null(first):
        return second
    kinds = (first, second)
    are_integers = all(pa.types.is_integer(kind) for kind in kinds) and pa.uint64() not in kinds
    if not are_integers and not all(pa.types.is_floating(kind) for kind in kinds):
        return None
    schemas = [pa.schema([pa.field("column", kind)]) for kind in kinds]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def _plain_table(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries, its text of one type."""
    types = pa.schema([(field.name, plain_type(field.type)) for field in table.schema])
    return table.cast(types)


def _without_index(table: pa.Table) -> pa.Table:
    index = (table.schema.pandas_metadata or {}).get("index_columns")
    names = index if isinstance(index, list) else []
    kept = [name for name in table.column_names if name not in names]
    return table.select(kept).replace_schema_metadata(None)
