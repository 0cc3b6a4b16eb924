"""Rows on which the model breaks are found by halving; the other rows get their answers."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from proce.errors import ModelError
from proce.explanation import Explanations

_MAX_FAILURES = 32  # of single rows, with no row answered, after which the model is given up


def reason_of(error: ModelError) -> str:
    """Return what an error says about a single row, without that it is the first of its piece."""
    return str(error).removeprefix("row 0, ")


def explain_isolating(
    table: pa.Table,
    explain: Callable[[pa.Table], Explanations],
    give_up: Callable[[pa.Table, str], Explanations],
) -> Iterator[tuple[int, Explanations]]:
    """Yield the explanations of a table in pieces, each with the position of its first row."""
    waiting = [(0, len(table))]
    n_answered = n_failed = 0
    while waiting:
        first, count = waiting.pop()
        rows = table.slice(first, count).combine_chunks()
        try:
            result = explain(rows)
            n_answered += count
        except ModelError as error:
            if count > 1:
                half = count // 2
                waiting += [(first + half, count - half), (first, half)]
                continue
            n_failed += 1
            if not n_answered and n_failed >= min(_MAX_FAILURES, len(table)):
                raise ModelError(
                    f"the model failed on all of the {n_failed} rows that it was asked about one"
                    f" by one; the last time: {error}"
                ) from error
            result = give_up(rows, reason_of(error))
        yield first, result
