"""The explanations of a chunk as tables and counts, as they are kept in files."""

from collections import Counter
from typing import Any

import pyarrow as pa

from proce.explanation import Explanations
from proce.explanation.words.certainty import count_unsure
from proce.explanation.words.robustness import count_less_robust


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


def table_of(result: Explanations) -> pa.Table:
    """Return the counterfactuals of rows of an Arrow table, with the ids of the rows in front."""
    table = as_table(result.to_frame())
    labels = result.row_labels()
    if labels is None:
        return table
    return table.add_column(0, str(labels.name), pa.Array.from_pandas(labels))


def as_table(frame: Any) -> pa.Table:
    """Return a frame made from an Arrow table as a table, its text of one type."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))
