"""The pictures of a result, in the view of its reader."""

from collections.abc import Sequence
from typing import Any

from proce.arguments import MaybeAxes, checked
from proce.errors import SearchError
from proce.explanation.result.tabled import TabledFrame


class DrawnFrame(TabledFrame):
    """An explained frame that can be drawn; every picture takes axes, and returns them."""

    @checked(SearchError)
    def plot_changes(self, ax: MaybeAxes = None) -> Any:
        """Draw before and after of the recommended counterfactual; return the axes."""
        from proce.explanation.plots.changes import plot_changes
        from proce.explanation.plots.style import plot_first_row

        return plot_first_row(self._shown(), plot_changes, ax)

    @checked(SearchError)
    def plot_front(self, ax: MaybeAxes = None) -> Any:
        """Draw the Pareto front of the first row that has one; return the axes."""
        from proce.explanation.plots.front import plot_front
        from proce.explanation.plots.style import plot_first_row

        return plot_first_row(self._shown(), plot_front, ax)

    @checked(SearchError)
    def plot_cohort(self, ax: MaybeAxes = None) -> Any:
        """Draw which features change how often, and by how much; return the axes."""
        from proce.explanation.plots.cohort import plot_cohort

        return plot_cohort(self._shown(), ax)

    @checked(SearchError)
    def plot_groups(self, by: "str | Sequence[Any]", ax: MaybeAxes = None) -> Any:
        """Draw what counterfactuals cost by group, and the gaps; return the axes."""
        from proce.explanation.plots.cohort import plot_groups

        return plot_groups(self._shown(), self._grouping(by), ax)
