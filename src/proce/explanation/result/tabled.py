"""The tables of a result, in the library of the explained frame."""

from collections.abc import Sequence
from typing import Any

from proce.arguments import checked
from proce.errors import SearchError
from proce.explanation.result.shown import ShownFrame


class TabledFrame(ShownFrame):
    """An explained frame whose rows, outcomes and changes are tables."""

    def to_frame(self) -> Any:
        """Return all counterfactuals: row, rank, then the columns of the explained frame.

        The result has the library and the dtypes of the explained frame, and for pandas its index
        labels. Where that frame has a column ``row`` or ``rank``, ours are ``_row`` and ``_rank``.
        """
        from proce.explanation.tables.frames import to_frame

        return to_frame(self)

    def counterfactuals(self) -> Any:
        """Return all counterfactuals in the columns of the frame, ready for the model."""
        from proce.explanation.tables.frames import counterfactuals

        return counterfactuals(self)

    def best(self) -> Any:
        """Return the recommended counterfactual of every row that has one."""
        from proce.explanation.tables.frames import recommended

        return recommended(self)

    def outcomes(self) -> Any:
        """Return one line per row, found or not."""
        from proce.explanation.tables.frames import outcomes

        return outcomes(self._shown())

    def changes(self) -> Any:
        """Return one line per change: row, rank, feature, before, after, kind."""
        from proce.explanation.tables.frames import changes

        return changes(self._shown())

    @checked(SearchError)
    def summary(self, by: "str | Sequence[Any] | None" = None) -> Any:
        """Return what changes in the recommended counterfactuals, or what they cost by group.

        Parameters
        ----------
        by
            ``None`` gives a line for each feature and kind of change: how often it occurs, and how
            large it is. The name of a feature, or a label for each row, gives a line for each
            group: what its counterfactuals cost, and how far that is from the other groups.
        """
        from proce.explanation.tables.cohort import feature_frame
        from proce.explanation.tables.groups import group_frame

        shown = self._shown()
        return feature_frame(shown) if by is None else group_frame(shown, self._grouping(by))
