"""Write one part: a file of results, and one of outcomes, which says that the part is finished."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from proce.batch.parts.place import OUTCOMES_KIND, Place
from proce.batch.parts.spans import Span
from proce.batch.parts.summary import Summary
from proce.batch.reading.file_types import FileType
from proce.batch.tables import in_types, outcome_table, table_of
from proce.explanation import Explanations
from proce.files import atomic_write, write_text

SUMMARY_KEY = b"proce"  # of the metadata of a part's outcomes


@dataclass(frozen=True)
class PartWriter:
    """Keeps explanations as parts of a result; any process can have one."""

    place: Place  # where the parts are kept
    suffix: str  # the suffix of the result: .csv, .parquet or .json
    # the types of columns in a Parquet file, where they are others than those of the result
    types: Mapping[str, FileType] = field(default_factory=dict)

    def results_path(self, span: Span) -> Path:
        """Return the file of the results of a part."""
        kind = "json" if self.suffix == ".json" else "parquet"
        return self.place.path(span, f"results.{kind}")

    def outcomes_path(self, span: Span) -> Path:
        """Return the file of the outcomes of a part."""
        return self.place.path(span, OUTCOMES_KIND)

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
        marks = {SUMMARY_KEY: Summary.of(result).to_json()}
        outcomes = outcome_table(result).replace_schema_metadata(marks)
        _write_table(self.outcomes_path(span), outcomes)
        return span


def _write_table(path: Path, table: pa.Table) -> None:
    with atomic_write(path) as draft, draft.open("wb") as stream:
        pq.write_table(table, stream)
