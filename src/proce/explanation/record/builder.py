"""Explained rows in the making: each chunk of a call adds its outcomes and counterfactuals."""

import numpy as np

from proce.arrays import Array
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Counterfactuals, Fronts
from proce.explanation.record.diagnosis import Diagnosis
from proce.explanation.record.notes import Notes
from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedRows

_OPEN = -1  # in the column of outcomes: the search for this row has not ended


class ExplainedRowsBuilder:
    """Collects the outcome and the counterfactuals of each row of a call.

    Parameters
    ----------
    context, factual, raw, predicted, target, probability
        The attributes of :class:`ExplainedRows` of the same names.
    """

    def __init__(
        self,
        context: Context,
        factual: Array,
        raw: Array,
        predicted: Array,
        target: Array,
        probability: Array,
    ) -> None:
        self._context, self._factual, self._raw = context, factual, raw
        self._predicted, self._target, self._probability = predicted, target, probability
        self._outcomes = np.full(len(predicted), _OPEN)
        self._margin_met = np.ones(len(predicted), dtype=np.bool_)
        self._dropped = np.zeros(len(predicted), dtype=np.int64)
        self._counterfactuals = [Counterfactuals.empty(factual.shape[1])]
        self._fronts = [Fronts.empty(factual.shape[1])]
        self._diagnoses: dict[int, Diagnosis] = {}
        self._notes: list[tuple[Array, str]] = []

    @property
    def probabilities(self) -> Array:
        """The probability of the target for each row as it is, ``(i,)``."""
        return self._probability

    @property
    def n_finished(self) -> int:
        """How many rows have an outcome."""
        return int((self._outcomes != _OPEN).sum())

    def open_rows(self) -> Array:
        """Return the positions of the rows that have no outcome yet."""
        return np.flatnonzero(self._outcomes == _OPEN)

    def rows_with(self, outcome: Outcome) -> Array:
        """Return the positions of the rows that have this outcome."""
        return np.flatnonzero(self._outcomes == outcome.code)

    def finish(self, rows: Array, outcome: Outcome) -> None:
        """Set how the search for some rows ended."""
        self._outcomes[rows] = outcome.code

    def add(self, counterfactuals: Counterfactuals) -> None:
        """Add counterfactuals, and set the outcome of the rows that own them to found."""
        self._counterfactuals.append(counterfactuals)
        self.finish(counterfactuals.owner, Outcome.FOUND)

    def keep_fronts(self, fronts: Fronts) -> None:
        """Add the whole Pareto sets of some rows."""
        self._fronts.append(fronts)

    def mark_margin_missed(self, rows: Array) -> None:
        """Mark rows whose counterfactuals do not keep the margin."""
        self._margin_met[rows] = False

    def count_dropped(self, rows: Array, counts: Array) -> None:
        """Set how many candidates of each of these rows failed before enough had passed."""
        self._dropped[rows] = counts

    def note(self, rows: Array, text: str) -> None:
        """Add a note that the readers of some rows should know."""
        if len(rows):
            self._notes.append((rows, text))

    def diagnose(self, row: int, diagnosis: Diagnosis) -> None:
        """Set the diagnosis of a row."""
        self._diagnoses[row] = diagnosis

    def build(self) -> ExplainedRows:
        """Return the finished rows."""
        assert self.n_finished == len(self._outcomes), "every row has an outcome"
        return ExplainedRows(
            context=self._context,
            positions=np.arange(len(self._predicted)),
            factual=self._factual,
            raw=self._raw,
            predicted=self._predicted,
            target=self._target,
            probability=self._probability,
            outcomes=self._outcomes,
            margin_met=self._margin_met,
            dropped=self._dropped,
            counterfactuals=Counterfactuals.concatenate(self._counterfactuals),
            fronts=Fronts.concatenate(self._fronts),
            diagnoses=self._diagnoses,
            notes=Notes.collect(self._notes),
        )
