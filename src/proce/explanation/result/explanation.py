"""The explanation of one row: its counterfactuals, or the reason why there are none."""

from os import PathLike
from pathlib import Path
from typing import Any

from proce.arguments import MaybeAxes, checked
from proce.errors import SearchError
from proce.explanation.record.counterfactuals import Diagnosis
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.record.view import View, shown_row
from proce.schema.features.numerals import counted


class Explanation(ExplainedRow):
    """One row, its target, and its counterfactuals or the reason why there are none.

    The counterfactuals are ordered, the recommended one first; a rank counts from 1. Arrays are
    in the entries of the codec: numbers on the unit range, levels as codes.
    """

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the row has no counterfactual, where that is known, else ``None``.

        For the outcome ``not_found`` that is what blocks it.
        """
        return shown_row(self).diagnosis

    @checked(SearchError)
    def sentences(self, rank: int = 1, view: View | None = None) -> list[str]:
        """Return the counterfactual of a rank in plain words: actions, then consequences.

        Parameters
        ----------
        rank
            The rank, from 1.
        view
            ``"applicant"``, who is shown no protected feature, or ``"auditor"``; by default that
            of the result.
        """
        from proce.explanation.words.sentences import sentences

        return sentences(shown_row(self, view), rank)

    @checked(SearchError)
    def path(self, rank: int = 1) -> Any:
        """Return the path to the counterfactual of a rank as a frame: the row, then each step.

        Methods whose counterfactuals are reached step by step, such as FACE, have paths. The frame
        has the library and the dtypes of the training frame.
        """
        from proce.explanation.tables.frames import path

        return path(self, rank)

    @checked(SearchError)
    def save_html(
        self, path: str | PathLike[str], title: str | None = None, view: View | None = None
    ) -> Path:
        """Write a report of this row: one HTML file that needs nothing else."""
        from proce.explanation.html.report import save_page_of_row

        return save_page_of_row(shown_row(self, view), path, title=title)

    @checked(SearchError)
    def plot_changes(self, ax: MaybeAxes = None) -> Any:
        """Draw before and after of the recommended counterfactual; return the axes."""
        from proce.explanation.plots.changes import plot_changes

        return plot_changes(shown_row(self), ax)

    @checked(SearchError)
    def plot_front(self, ax: MaybeAxes = None) -> Any:
        """Draw the Pareto front; return the axes."""
        from proce.explanation.plots.front import plot_front

        return plot_front(shown_row(self), ax)

    @checked(SearchError)
    def plot_graph(self, ax: MaybeAxes = None) -> Any:
        """Draw the causal graph with actions and consequences marked; return the axes."""
        from proce.explanation.plots.graph import plot_graph

        return plot_graph(shown_row(self), ax)

    def __str__(self) -> str:
        from proce.explanation.words.sentences import lines, plain_text

        return plain_text(lines(shown_row(self)))

    def __repr__(self) -> str:
        from proce.explanation.words.values import row_label

        ways = counted(len(self), "counterfactual")
        return f"Explanation(row {row_label(self)}, {self.outcome.value}, {ways})"

    def _repr_html_(self) -> str:
        from proce.explanation.html.notebook import html_of_row

        return html_of_row(shown_row(self))
