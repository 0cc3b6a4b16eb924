"""What was measured, counterfactual by counterfactual."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from proce.metrics.answers import Answers
from proce.metrics.measures import MEASURES


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
        How many rows wanted a counterfactual; those that had the target class already did not.
    n_without
        How many of them got none.
    left_out
        By name, the measures that could not be taken, and what they need.
    """

    frame: pd.DataFrame
    n_asked: int
    n_without: int
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, answers: Answers, values: Mapping[str, Tensor]) -> "Evaluation":
        """Lay out the values of measures, by name: ``(c,)``, or ``(i,)`` where they are of rows."""
        without = torch.nonzero(answers.counts == 0).flatten()
        owner = torch.cat([answers.owner, without])
        order = owner.argsort(stable=True)
        row = answers.asked[owner[order]]
        rank = torch.cat([answers.rank, torch.ones_like(without)])[order]
        taken = [measure for measure in MEASURES if measure.name in values]
        columns: list[tuple[Tensor, Tensor, Tensor]] = []
        for measure in taken:
            value = values[measure.name].double()
            if measure.per == "row":
                columns.append((answers.asked, torch.zeros_like(answers.asked), value))
            else:
                missing = value.new_full((len(without),), measure.missing)
                columns.append((row, rank, torch.cat([value, missing])[order]))
        rows, ranks, numbers = (torch.cat(each).numpy() for each in zip(*columns, strict=True))
        names = np.repeat([m.name for m in taken], [len(column[0]) for column in columns])
        frame = pd.DataFrame({"row": rows, "rank": ranks, "metric": names, "value": numbers})
        left_out = {m.name: m.needs for m in MEASURES if m.name not in values}
        return cls(frame, len(answers.asked), len(without), left_out)

    def summary(self) -> pd.DataFrame:
        """Return one line for each measure, over the recommended counterfactuals (rank 1).

        ``better`` says which way is better; ``n`` is the number of rows that have a value, and
        ``mean``, ``sd`` and ``median`` are of these; ``without`` is the share of rows that wanted
        a counterfactual and got none.
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
            f"Evaluation({self.n_asked} rows, {self.n_without} without a counterfactual,"
            f" {self.frame['metric'].nunique()} metrics, {len(self.left_out)} left out)"
        )
