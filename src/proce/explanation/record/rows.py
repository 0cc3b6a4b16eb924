"""What is known of explained rows, as columns; one row is a view on them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import numpy as np

from proce.arrays import Array
from proce.explanation.record.context import Context, Provenance
from proce.explanation.record.counterfactuals import (
    OUTCOMES,
    Counterfactuals,
    Diagnosis,
    Fronts,
    Notes,
    Outcome,
    array_columns,
)
from proce.schema import Layout


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplainedRows:
    """The rows of a call, their targets, their outcomes and their counterfactuals."""

    # All arrays have one entry for each row; each counterfactual names the row that owns it.

    context: Context  # what all rows share
    positions: Array  # ``(i,)``, where each row stands in the frame that was explained
    factual: Array  # ``(i, f)``, the rows in the entries of the codec
    raw: Array  # ``(i, f)``, the rows in raw units, as they came in
    predicted: Array  # ``(i,)``, the class of each row and the wanted one, as positions
    target: Array
    probability: Array  # ``(i,)``, the probability of the target for each row as it is
    outcomes: Array  # ``(i,)``, how each search ended, as positions in ``OUTCOMES``
    margin_met: Array  # ``(i,)``, whether the counterfactuals keep the margin of the settings
    # ``(i,)``, how many candidates failed the last check on the model itself before as many had
    # passed as were asked for
    dropped: Array
    # The counterfactuals of all rows, and the whole Pareto sets of the rows for which they were
    # kept
    counterfactuals: Counterfactuals
    fronts: Fronts
    # For rows without a counterfactual, by their index: why they have none
    diagnoses: Mapping[int, Diagnosis] = field(default_factory=dict)
    # What the readers of rows should know, such as cells that are missing
    notes: Notes = field(default_factory=lambda: Notes.collect(()))

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> "Iterator[ExplainedRow]":
        return (ExplainedRow(self, index) for index in range(len(self)))

    def take(self, rows: Array) -> "ExplainedRows":
        """Return some of the rows, given by their index."""
        columns = {name: values[rows] for name, values in array_columns(self).items()}
        pairs = enumerate(rows.tolist() if self.diagnoses else ())
        return replace(
            self,
            **columns,
            counterfactuals=self.counterfactuals.owned_by(rows),
            fronts=self.fronts.owned_by(rows),
            diagnoses={index: self.diagnoses[row] for index, row in pairs if row in self.diagnoses},
            notes=self.notes.owned_by(rows),
        )

    def head(self, n_rows: int) -> "ExplainedRows":
        """Return the first ``n_rows`` of the rows."""
        return self.take(np.arange(min(n_rows, len(self))))

    def recommended(self) -> Counterfactuals:
        """Return the first counterfactual of every row that has one."""
        return self.counterfactuals.take(np.flatnonzero(self.counterfactuals.ranks() == 1))

    def counterfactual_positions(self) -> Array:
        """Return the position of the row that each counterfactual belongs to, ``(n,)``."""
        return self.positions[self.counterfactuals.owner]

    def outcome_counts(self) -> Counter[Outcome]:
        """Return how many rows have each outcome, the outcome of the first row first."""
        code, first, count = np.unique(self.outcomes, return_index=True, return_counts=True)
        return Counter({OUTCOMES[code[n]]: int(count[n]) for n in first.argsort()})

    @cached_property
    def counts(self) -> Array:
        """How many counterfactuals each row has, ``(i,)``."""
        return self.counterfactuals.counts(len(self))

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Where the counterfactuals of each row begin; the last number is where they end."""
        return (0, *self.counts.cumsum(0).tolist())


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """A view on one row of :class:`ExplainedRows`."""

    record: ExplainedRows  # the columns of all rows
    index: int  # the index of this row in the columns
    layout: Layout | None = None  # how the frame looked whose index names the row

    def __len__(self) -> int:
        return int(self.record.counts[self.index])

    @property
    def context(self) -> Context:
        """What this row shares with the other rows of the call."""
        return self.record.context

    @property
    def row(self) -> int:
        """The position of the row in the frame that was explained."""
        return int(self.record.positions[self.index])

    @property
    def factual(self) -> Array:
        """The row in the entries of the codec, ``(f,)``."""
        return self.record.factual[self.index]

    @property
    def raw(self) -> Array:
        """The row in raw units, as it came in, ``(f,)``."""
        return self.record.raw[self.index]

    @property
    def predicted(self) -> int:
        """The class of the row as it is, as a position; -1 where it is not known."""
        return int(self.record.predicted[self.index])

    @property
    def target(self) -> int:
        """The wanted class, as a position; -1 where it is not known."""
        return int(self.record.target[self.index])

    @property
    def probability(self) -> float:
        """The probability of the target, for the row as it is; NaN where it is not known."""
        return float(self.record.probability[self.index])

    @property
    def needed(self) -> float:
        """The probability of the target that is wanted."""
        return self.context.needed[self.target]

    @property
    def outcome(self) -> Outcome:
        """How the search ended."""
        return OUTCOMES[int(self.record.outcomes[self.index])]

    @property
    def margin_met(self) -> bool:
        """Whether the counterfactuals keep the margin of the settings."""
        return bool(self.record.margin_met[self.index])

    @property
    def dropped(self) -> int:
        """How many candidates failed the last check before as many had passed as were asked for."""
        return int(self.record.dropped[self.index])

    @cached_property
    def ways(self) -> Counterfactuals:
        """The lines of this row's counterfactuals, the recommended one first."""
        return self.record.counterfactuals.take(slice(*self.extent))

    @property
    def rows(self) -> Array:
        """The counterfactuals, the recommended one first, ``(n, f)``."""
        return self._column("rows")

    @property
    def changes(self) -> Array:
        """A ``Change`` for each cell of the counterfactuals, ``(n, f)``."""
        return self._column("changes")

    @property
    def probabilities(self) -> Array:
        """The probability of the target for each counterfactual, ``(n,)``."""
        return self._column("probabilities")

    @property
    def losses(self) -> Array:
        """The losses of each counterfactual, ``(n, 3)``: prediction, prototype, distance."""
        return self._column("losses")

    @property
    def expected(self) -> Array:
        """Where each feature would be if neither acted on nor held, ``(n, f)``; NaN if unknown."""
        return self._column("expected")

    @property
    def contributions(self) -> Array | None:
        """How far the probability falls without an action, ``(n, f)``; ``None`` if not asked."""
        values = self._column("contributions")
        return None if not len(values) or bool(np.isnan(values).any()) else values

    @property
    def support(self) -> Array | None:
        """In how many bootstrap graphs each comes about, ``(n,)``; ``None`` without such graphs."""
        return self._counts("support")

    @property
    def refits(self) -> Array | None:
        """In how many refits of the equations each reaches the target; ``None`` without refits."""
        return self._counts("refits")

    @property
    def robustness(self) -> Array | None:
        """In how many other models each reaches the target, ``(n,)``; ``None`` without others."""
        return self._counts("robustness")

    def _column(self, name: str) -> Array:
        values: Array = getattr(self.record.counterfactuals, name)[slice(*self.extent)]
        return values

    def _counts(self, name: str) -> Array | None:
        values = self._column(name)
        return None if not len(values) or bool((values < 0).any()) else values

    @property
    def confidence(self) -> Array | None:
        """How likely each works in the true equations, ``(n,)``; NaN or ``None`` if not known."""
        values = self._column("confidence")
        return None if bool(np.isnan(values).all()) else values

    @property
    def steps(self) -> Sequence[Array]:
        """The path to each counterfactual ``(s, f)``; empty for methods that give none."""
        paths = self.record.counterfactuals.steps[slice(*self.extent)]
        return paths if any(len(path) for path in paths) else ()

    @property
    def front(self) -> Fronts | None:
        """The whole Pareto set; ``None`` where it was not kept."""
        lines = self.record.fronts.lines_of(self.index)
        return None if lines.start == lines.stop else self.record.fronts.take(lines)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the row has no counterfactual, where that is known, else ``None``."""
        return self.record.diagnoses.get(self.index)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know, such as cells that are missing and so stay as they are."""
        return self.record.notes.texts_of(self.index)

    def alone(self) -> ExplainedRows:
        """Return the columns of this row only."""
        return self.record.take(np.array([self.index]))

    @property
    def extent(self) -> tuple[int, int]:
        """Where the counterfactuals of this row begin and end among those of all rows."""
        return self.record.extents[self.index], self.record.extents[self.index + 1]


_OPEN = -1  # in the column of outcomes: the search for this row has not ended


class ExplainedRowsBuilder:
    """Collects the outcome and the counterfactuals of each row of a call."""

    def __init__(
        self,
        context: Context,
        factual: Array,
        raw: Array,
        predicted: Array,
        target: Array,
        probability: Array,
    ) -> None:
        n_rows, n_features = factual.shape
        self._rows = ExplainedRows(
            context=context,
            positions=np.arange(n_rows),
            factual=factual,
            raw=raw,
            predicted=predicted,
            target=target,
            probability=probability,
            outcomes=np.full(n_rows, _OPEN),
            margin_met=np.ones(n_rows, dtype=np.bool_),
            dropped=np.zeros(n_rows, dtype=np.int64),
            counterfactuals=Counterfactuals.empty(n_features),
            fronts=Fronts.empty(n_features),
        )
        self._counterfactuals = [self._rows.counterfactuals]
        self._fronts = [self._rows.fronts]
        self._diagnoses: dict[int, Diagnosis] = {}
        self._notes: list[tuple[Array, str]] = []

    @property
    def probabilities(self) -> Array:
        """The probability of the target for each row as it is, ``(i,)``."""
        return self._rows.probability

    @property
    def n_finished(self) -> int:
        """How many rows have an outcome."""
        return int((self._rows.outcomes != _OPEN).sum())

    def open_rows(self) -> Array:
        """Return the positions of the rows that have no outcome yet."""
        return np.flatnonzero(self._rows.outcomes == _OPEN)

    def rows_with(self, outcome: Outcome) -> Array:
        """Return the positions of the rows that have this outcome."""
        return np.flatnonzero(self._rows.outcomes == outcome.code)

    def finish(self, rows: Array, outcome: Outcome) -> None:
        """Set how the search for some rows ended."""
        self._rows.outcomes[rows] = outcome.code

    def add(self, counterfactuals: Counterfactuals) -> None:
        """Add counterfactuals, and set the outcome of the rows that own them to found."""
        self._counterfactuals.append(counterfactuals)
        self.finish(counterfactuals.owner, Outcome.FOUND)

    def keep_fronts(self, fronts: Fronts) -> None:
        """Add the whole Pareto sets of some rows."""
        self._fronts.append(fronts)

    def mark_margin_missed(self, rows: Array) -> None:
        """Mark rows whose counterfactuals do not keep the margin."""
        self._rows.margin_met[rows] = False

    def count_dropped(self, rows: Array, counts: Array) -> None:
        """Set how many candidates of each of these rows failed before enough had passed."""
        self._rows.dropped[rows] = counts

    def note(self, rows: Array, text: str) -> None:
        """Add a note that the readers of some rows should know."""
        if len(rows):
            self._notes.append((rows, text))

    def diagnose(self, row: int, diagnosis: Diagnosis) -> None:
        """Set the diagnosis of a row."""
        self._diagnoses[row] = diagnosis

    def build(self) -> ExplainedRows:
        """Return the finished rows."""
        assert not len(self.open_rows()), "every row has an outcome"
        return replace(
            self._rows,
            counterfactuals=Counterfactuals.concatenate(self._counterfactuals),
            fronts=Fronts.concatenate(self._fronts),
            diagnoses=self._diagnoses,
            notes=Notes.collect(self._notes),
        )


def joined_rows(pieces: Sequence[ExplainedRows]) -> ExplainedRows:
    """Return the rows of one or more pieces, one piece after the other, in the first's context."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(piece, name) for piece in pieces])
        for name in array_columns(pieces[0])
    }
    firsts = accumulate(map(len, pieces[:-1]), initial=0)
    shifted = list(zip(pieces, firsts, strict=True))
    return replace(
        pieces[0],
        **columns,
        counterfactuals=Counterfactuals.concatenate(
            [piece.counterfactuals.shifted(first) for piece, first in shifted]
        ),
        fronts=Fronts.concatenate([piece.fronts.shifted(first) for piece, first in shifted]),
        notes=Notes.concatenate([piece.notes.shifted(first) for piece, first in shifted]),
        diagnoses={
            first + row: diagnosis
            for piece, first in shifted
            for row, diagnosis in piece.diagnoses.items()
        },
    )


@dataclass(frozen=True, eq=False)
class ExplainedFrame:
    """Everything that a call of ``explain`` returns, as plain data."""

    rows: ExplainedRows  # what is known of each row, in the order of the frame
    layout: Layout  # how the frame looked that was explained
    provenance: Provenance  # how the explanations came about

    @property
    def context(self) -> Context:
        """What all rows share."""
        return self.rows.context

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ExplainedRow]:
        return (ExplainedRow(self.rows, index, self.layout) for index in range(len(self)))

    def labelled(self, labels: Any) -> Self:
        """Return the same explanations with a label for each row, a pandas index."""
        from proce.schema.frames.layout_json import labelled_layout

        places = {row: place for place, row in enumerate(self.rows.positions.tolist())}
        return replace(self, layout=labelled_layout(self.layout, labels, places))

    def row_labels(self) -> Any:
        """Return the label of the row of each counterfactual; ``None`` where rows have none."""
        return self.layout.take(self.rows.counterfactual_positions().tolist()).index
