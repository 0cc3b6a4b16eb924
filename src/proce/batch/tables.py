"""The explanations of some rows as tables and counts, as they are kept in files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proce.batch.reading.file_types import FileType
from proce.explanation import Explanations
from proce.explanation.words.certainty import count_less_robust, count_unsure
from proce.explanation.words.values import row_label
from proce.schema.records import StrictRecord

_SUMMARY_KEY = b"proce"  # of the metadata of a table
MAX_REASONS = 3  # rows without a counterfactual whose reason is told


class Summary(StrictRecord):
    """How many rows ended how."""

    tally: Counter[str]  # how many rows have each outcome
    doubts: Counter[str]  # for how many the recommended counterfactual is not robust, or unsure
    reasons: tuple[str, ...]  # why the first rows that have no counterfactual have none

    @classmethod
    def of(cls, result: Explanations) -> "Summary":
        """Sum up the explanations of some rows."""
        why = tuple(reasons(result, MAX_REASONS))
        return cls(tally=tally(result), doubts=doubts(result), reasons=why)

    def __add__(self, later: "Summary") -> "Summary":
        return Summary(
            tally=self.tally + later.tally,
            doubts=self.doubts + later.doubts,
            reasons=(self.reasons + later.reasons)[:MAX_REASONS],
        )


NO_ROWS = Summary(tally=Counter(), doubts=Counter(), reasons=())


def with_summary(table: pa.Table, summary: Summary) -> pa.Table:
    """Return a table whose Parquet file says how its rows ended, and nothing else of it."""
    return table.replace_schema_metadata({_SUMMARY_KEY: summary.model_dump_json()})


def read_summary(file: Any) -> Summary:
    """Return what a Parquet file says of how its rows ended, or raise ``ValueError``."""
    return Summary.model_validate_json(pq.read_schema(file).metadata[_SUMMARY_KEY])


def tally(result: Explanations) -> Counter[str]:
    """Return how many rows have each outcome."""
    counts = result.rows.outcome_counts()
    return Counter({outcome.value: count for outcome, count in counts.items()})


def doubts(result: Explanations) -> Counter[str]:
    """Return for how many rows the recommended counterfactual is not robust, or unsure."""
    return +Counter(
        {
            "less robust than asked for": count_less_robust(result.rows),
            "unsure": count_unsure(result.rows),
        }
    )


def reasons(result: Explanations, at_most: int) -> list[str]:
    """Return why the first rows that have no counterfactual have none, a sentence each."""
    told = as_table(result.outcomes())["reason"]
    without = pc.indices_nonzero(pc.is_valid(told)).to_pylist()[:at_most]
    return [f"Row {row_label(result[at], result.layout)}: {told[at].as_py()}" for at in without]


def table_of(result: Explanations) -> pa.Table:
    """Return the counterfactuals of rows, with the ids of the rows in front."""
    table = as_table(result.to_frame())
    return _with_ids(table, _labels(result, result.rows.counterfactual_positions().tolist()))


def outcome_table(result: Explanations) -> pa.Table:
    """Return one line for each row, found or not, with the ids of the rows in front."""
    table = as_table(result.outcomes())
    return _with_ids(table, _labels(result, result.rows.positions.tolist()))


def as_table(frame: Any) -> pa.Table:
    """Return a frame of any library as an Arrow table, its text of one type."""
    if isinstance(frame, pd.DataFrame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    else:
        table = nw.from_native(frame, eager_only=True).to_arrow()
    fields = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def in_types(table: pa.Table, types: Mapping[str, FileType]) -> pa.Table:
    """Return a table whose columns have the given types, where all values of a column fit."""
    for position, name in enumerate(table.column_names):
        if name in types:
            with suppress(pa.ArrowInvalid):
                table = table.set_column(position, name, types[name].cast(table[name]))
    return table


def _labels(result: Explanations, positions: list[int]) -> Any:
    """Return the labels of rows by their positions; ``None`` where labels have no name."""
    labels = result.layout.take(positions).index
    return None if labels is None or labels.name is None else labels


def _with_ids(table: pa.Table, labels: Any) -> pa.Table:
    """Return a table with ids in front; a column of ours by the same name gets another."""
    if labels is None:
        return table
    name = str(labels.name)
    names = [f"_{own}" if own == name else own for own in table.column_names]
    return table.rename_columns(names).add_column(0, name, pa.Array.from_pandas(labels))


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
