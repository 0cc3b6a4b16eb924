"""The explained rows of several pieces of a frame as one record."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from proce.explanation.record.counterfactuals import Counterfactuals, Fronts
from proce.explanation.record.notes import Notes
from proce.explanation.record.rows import COLUMNS, ExplainedRows

Lines = TypeVar("Lines", Counterfactuals, Fronts, Notes)


def joined_rows(pieces: Sequence[ExplainedRows]) -> ExplainedRows:
    """Return the rows of one or more pieces, one piece after the other, in the first's context."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(own, name) for own in pieces]) for name in COLUMNS
    }
    firsts = accumulate(map(len, pieces[:-1]), initial=0)
    shifted = list(zip(pieces, firsts, strict=True))
    return replace(
        pieces[0],
        **columns,
        counterfactuals=Counterfactuals.concatenate(
            [_moved(own.counterfactuals, first) for own, first in shifted]
        ),
        fronts=Fronts.concatenate([_moved(own.fronts, first) for own, first in shifted]),
        diagnoses={
            first + row: diagnosis
            for own, first in shifted
            for row, diagnosis in own.diagnoses.items()
        },
        notes=Notes.concatenate([_moved(own.notes, first) for own, first in shifted]),
    )


def _moved(lines: Lines, first: int) -> Lines:
    return replace(lines, owner=lines.owner + first)
