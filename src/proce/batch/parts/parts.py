"""A result that grows part by part in a folder beside its final name.

A part is known by the rows that it covers. Parts may come in any order, of any size and from any
process; an interrupted run is taken up again by explaining the rows that no part covers. The last
step puts the parts together in the order of the rows.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from proce.batch.parts.partial_result_dir import OUTCOMES_KIND, PartialResultDir
from proce.batch.parts.spans import Span, cover, gaps
from proce.batch.reading.file_types import FileType
from proce.batch.tables import (
    NO_ROWS,
    Summary,
    in_types,
    outcome_table,
    read_summary,
    table_of,
    table_writer,
    with_summary,
)
from proce.errors import FileError
from proce.explanation import Explanations
from proce.files import atomic_write, read_text, write_text

Read = TypeVar("Read")


@dataclass(frozen=True)
class PartWriter:
    """Keeps explanations as parts of a result; any process can have one."""

    directory: PartialResultDir  # where the parts are kept
    suffix: str  # the suffix of the result: .csv, .parquet or .json
    # the types of columns in a Parquet file, where they are others than those of the result
    types: Mapping[str, FileType] = field(default_factory=dict)

    def results_path(self, span: Span) -> Path:
        """Return the file of the results of a part."""
        kind = "json" if self.suffix == ".json" else "parquet"
        return self.directory.path(span, f"results.{kind}")

    def outcomes_path(self, span: Span) -> Path:
        """Return the file of the outcomes of a part."""
        return self.directory.path(span, OUTCOMES_KIND)

    def write(self, result: Explanations) -> Span:
        """Keep the explanations of consecutive rows; return which rows they are.

        The part is there as a whole or not at all, whenever the process ends.
        """
        positions = result.rows.positions
        span = Span(int(positions[0]) if len(result) else 0, len(result))
        assert not len(result) or int(positions[-1]) == span.end - 1, "rows are consecutive"
        if self.suffix == ".json":
            write_text(self.results_path(span), result.to_json())
        else:
            types = self.types if self.suffix == ".parquet" else {}
            _write_table(self.results_path(span), in_types(table_of(result), types))
        outcomes = with_summary(outcome_table(result), Summary.of(result))
        _write_table(self.outcomes_path(span), outcomes)
        return span


@dataclass(frozen=True)
class Parts:
    """The finished parts of a result."""

    out: Path  # where the result goes in the end
    writer: PartWriter  # what keeps a part; it can be given to other processes

    @classmethod
    @contextmanager
    def open(
        cls,
        out: Path,
        request: Mapping[str, Any],
        *,
        restart: bool = False,
        types: Mapping[str, FileType] | None = None,
    ) -> "Iterator[Parts]":
        """Take up the parts of the same request, or begin; hold a lock while it is open."""
        text = json.dumps(dict(request), sort_keys=True, default=str)
        with PartialResultDir.open(out.with_name(f"{out.name}.parts"), text, restart) as directory:
            yield cls(out, PartWriter(directory, out.suffix, types or {}))

    @property
    def folder(self) -> Path:
        """The folder of the parts."""
        return self.writer.directory.folder

    def covered(self) -> list[Span]:
        """Return the rows of the finished parts, in order; no row is in two of them."""
        return cover(self.writer.directory.spans())

    def summary(self) -> Summary:
        """Return how many rows of all finished parts ended how."""
        paths = [self.writer.outcomes_path(span) for span in self.covered()]
        return sum((_readable(path, read_summary) for path in paths), NO_ROWS)

    def put_together(self, n_rows: int, outcomes: Path | None = None) -> None:
        """Write the result, and remove the parts."""
        writer = self.writer
        spans = self.covered() or writer.directory.spans()[:1]
        self._refuse_missing(spans, n_rows)
        with atomic_write(self.out) as draft:
            paths = [writer.results_path(span) for span in spans]
            if self.out.suffix == ".json":
                whole = Explanations.join(_readable(path, _read_explanations) for path in paths)
                draft.write_bytes(_json_as_read(whole).encode())
            else:
                _write_tables(draft, self.out.suffix, paths)
            if outcomes is not None:
                with atomic_write(outcomes) as beside:
                    _write_tables(
                        beside, outcomes.suffix, [writer.outcomes_path(span) for span in spans]
                    )
        writer.directory.clear()

    def _refuse_missing(self, spans: list[Span], n_rows: int) -> None:
        """Refuse parts that do not have all rows, so that none is left out silently."""
        missing = gaps(spans, Span(0, n_rows))
        if spans and not missing:
            return
        n_missing = sum(span.n_rows for span in missing)
        first = f", from row {missing[0].first_row} on," if missing else ""
        raise FileError(
            f"{n_missing:,} of {n_rows:,} rows{first} are in no part in {str(self.folder)!r} any"
            " more: somebody removed files there. What is there is kept; ask for the same again,"
            " and the missing rows are explained."
        )


def _write_tables(draft: Path, suffix: str, paths: list[Path]) -> None:
    """Write tables of Parquet files one after the other, with types that fit all of them."""
    schemas = [_readable(path, pq.read_schema).remove_metadata() for path in paths]
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    with table_writer(draft, suffix, schema) as write:
        for path in paths:
            write(_readable(path, pq.read_table))


def _read_explanations(path: Path) -> Explanations:
    return Explanations.from_json(read_text(path, "the part"))


def _json_as_read(result: Explanations) -> str:
    """Return what was read from JSON as JSON again, for the reader whom it was written for."""
    return result.to_json("applicant" if result.context.withheld else "auditor")


def _readable(path: Path, read: Callable[[Path], Read]) -> Read:
    """Read a part, or say that it is gone or damaged."""
    try:
        return read(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"the part {str(path)!r} cannot be read: {str(error).splitlines()[0]} Remove it, and"
            " its rows are explained again by the same command."
        ) from error


def _write_table(path: Path, table: pa.Table) -> None:
    with atomic_write(path) as draft, draft.open("wb") as stream:
        pq.write_table(table, stream)
