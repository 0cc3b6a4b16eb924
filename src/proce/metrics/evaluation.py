"""The measures of a result, counterfactual by counterfactual, and which way each is better."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.metrics.inputs import CounterfactualColumns
from proce.schema.features.numerals import counted

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of counterfactuals, as ``docs/metrics.md`` explains it."""

    name: str  # the name of the measure in the frame and the summary of an evaluation
    better: Better  # which way is better
    missing: float  # what a row without a counterfactual counts as
    needs: str  # what must be given for the measure, in words
    # Whether the measure is of one counterfactual, or of all those of a row together
    per: Literal["counterfactual", "row"] = "counterfactual"


_UNDEFINED = math.nan
_ANYTHING = "nothing but the result"
_RULES = "rules="
_STRICT = "rules=, and truth=, train= or an equation in graph= for each effect of a rule with ~>"
_TRAIN = "train=, and a schema with numbers"
_ROWS = "model= and train=, or neighbourhood="
_JUDGES = "judges=proce.metrics.Judges.fit(...)"
_CHOICE = "more than one counterfactual for some row: explain(..., n=4)"
_TRUTH = "model= and truth="

MEASURES = (
    Measure("target_class_validity", "higher", 0.0, "model="),
    Measure("causal_constraint_validity", "higher", 0.0, _RULES),
    Measure("causal_constraint_triggered", "neither", 0.0, _RULES),
    Measure("causal_constraint_satisfied", "higher", _UNDEFINED, _RULES),
    Measure("strict_constraint_validity", "higher", 0.0, _STRICT),
    Measure("strict_constraint_triggered", "neither", 0.0, _STRICT),
    Measure("strict_constraint_satisfied", "higher", _UNDEFINED, _STRICT),
    Measure("categorical_proximity", "higher", _UNDEFINED, "a schema with levels"),
    Measure("continuous_proximity", "higher", _UNDEFINED, "a schema with numbers"),
    Measure("sparsity", "lower", _UNDEFINED, _ANYTHING),
    Measure("n_actions", "lower", _UNDEFINED, _ANYTHING),
    Measure("gower_distance", "lower", _UNDEFINED, _ANYTHING),
    Measure("robust_distance", "lower", _UNDEFINED, "train="),
    Measure("mad_l1", "lower", _UNDEFINED, _TRAIN),
    Measure("im1", "lower", _UNDEFINED, _JUDGES),
    Measure("im2", "lower", _UNDEFINED, _JUDGES),
    Measure("im1_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("im2_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("nearest_target_row", "lower", _UNDEFINED, _ROWS),
    Measure("local_outlier_factor", "lower", _UNDEFINED, _ROWS),
    Measure("diversity", "higher", 0.0, _CHOICE, "row"),
    Measure("features_touched", "higher", 0.0, _CHOICE, "row"),
    Measure("recourse_success", "higher", 0.0, _TRUTH),
    Measure("broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("actionable_success", "higher", 0.0, _TRUTH),
    Measure("actionable_broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("action_cost", "lower", _UNDEFINED, "truth="),
    Measure("within_limits", "higher", 0.0, "recourse_schema="),
    Measure("robustness", "higher", 0.0, "refits=, models trained again"),
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The measures of a result; ``docs/metrics.md`` explains each.

    Attributes
    ----------
    frame
        One line for each measure and counterfactual: ``row`` (the position in the frame that was
        explained), ``rank`` (from 1), ``metric``, ``value``. A row without a counterfactual has
        one line of rank 1 for each measure. A measure of all counterfactuals of a row together
        has one line of rank 0 for each row.
    n_asked
        How many rows needed a counterfactual; those that had the target class already did not.
    n_without
        How many of these rows have none.
    left_out
        The measures that could not be taken, by name, and what they need.
    """

    frame: pd.DataFrame
    n_asked: int
    n_without: int
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, columns: CounterfactualColumns, values: Mapping[str, Array]) -> "Evaluation":
        """Lay out the values of measures as a long frame.

        Parameters
        ----------
        columns
            The counterfactuals that were measured.
        values
            By name of the measure: ``(c,)``, one for each counterfactual, or ``(i,)``, one for
            each row that needed a counterfactual.
        """
        without = np.flatnonzero(columns.counts == 0)
        owner = np.concatenate([columns.owner, without])
        order = np.argsort(owner, kind="stable")
        row = columns.searched[owner[order]]
        rank = np.concatenate([columns.rank, np.ones_like(without)])[order]
        taken = [measure for measure in MEASURES if measure.name in values]
        parts: list[tuple[Array, Array, Array]] = []
        for measure in taken:
            value = values[measure.name].astype(np.float64)
            if measure.per == "row":
                parts.append((columns.searched, np.zeros_like(columns.searched), value))
            else:
                missing = np.full(len(without), measure.missing)
                parts.append((row, rank, np.concatenate([value, missing])[order]))
        rows, ranks, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
        lengths = [len(part[0]) for part in parts]
        names = np.repeat([measure.name for measure in taken], lengths)
        frame = pd.DataFrame({"row": rows, "rank": ranks, "metric": names, "value": numbers})
        left_out = {
            measure.name: measure.needs for measure in MEASURES if measure.name not in values
        }
        return cls(frame, len(columns.searched), len(without), left_out)

    def summary(self) -> pd.DataFrame:
        """Return one line for each measure, over the recommended counterfactuals (rank 1).

        ``better`` says which way is better; ``n`` is the number of rows that have a value, and
        ``mean``, ``sd`` and ``median`` are over these rows; ``without`` is the share of rows that
        needed a counterfactual and have none.
        """
        first = self.frame[self.frame["rank"] <= 1]
        grouped = first.groupby("metric", sort=False)["value"]
        table = grouped.agg(["count", "mean", "std", "median"])
        table = table.rename(columns={"count": "n", "std": "sd"})
        better = {measure.name: measure.better for measure in MEASURES}
        table.insert(0, "better", [better[name] for name in table.index])
        table["without"] = self.n_without / self.n_asked if self.n_asked else np.nan
        return table

    def __repr__(self) -> str:
        return (
            f"Evaluation({counted(self.n_asked, 'row')}, {self.n_without} without a counterfactual,"
            f" {counted(self.frame['metric'].nunique(), 'metric')}, {len(self.left_out)} left out)"
        )
