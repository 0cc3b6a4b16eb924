"""Tables that are written piece by piece, to csv or Parquet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


@contextmanager
def table_writer(
    path: Path, suffix: str, schema: pa.Schema
) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that appends a table to a file."""
    if suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            stream.write(csv_text(schema.empty_table(), header=True))

            def append(table: pa.Table) -> None:
                stream.write(csv_text(table.cast(schema), header=False))

            yield append
        return
    with path.open("wb") as file, pq.ParquetWriter(file, schema) as writer:
        yield lambda table: writer.write_table(table.cast(schema))


def csv_text(table: pa.Table, *, header: bool) -> str:
    """Return a table as csv, with an empty cell for a missing value."""
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    text: str = frame.to_csv(index=False, header=header, lineterminator="\n")
    return text
