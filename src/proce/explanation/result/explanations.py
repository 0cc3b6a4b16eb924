"""What a person gets: the explanations of all rows, and every form they can take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from proce.explanation.record.context import Context
from proce.explanation.record.provenance import Provenance
from proce.explanation.result.explanation import Explanation
from proce.schema import Layout

if TYPE_CHECKING:
    from proce.explanation.receipts.receipt import Receipt
    from proce.explanation.tables.reasons import Reasons


@dataclass(frozen=True, eq=False)
class Explanations:
    """The explanations of a frame's rows, in its order; has a length, slices and iterates.

    Attributes
    ----------
    context
        What all rows share.
    items
        One a row.
    layout
        How the frame looked that was explained.
    provenance
        How the explanations came about.
    """

    context: Context
    items: tuple[Explanation, ...]
    layout: Layout
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.items)

    @overload
    def __getitem__(self, key: int) -> Explanation: ...

    @overload
    def __getitem__(self, key: slice) -> "Explanations": ...

    def __getitem__(self, key: int | slice) -> "Explanation | Explanations":
        if isinstance(key, slice):
            return replace(self, items=self.items[key])
        return self.items[key]

    def counted_from(self, first_row: int) -> "Explanations":
        """Return the same explanations with ``first_row`` added to the position of each row.

        For explanations of a part of a longer table that begins at that row of it.
        """
        shifted = tuple(replace(item, row=item.row + first_row) for item in self.items)
        return replace(self, items=shifted)

    def to_frame(self) -> Any:
        """Return all counterfactuals: row, rank, then the columns of the frame explained.

        In its library, dtypes and, for pandas, index labels. A column of that name renames
        ours to ``_row`` or ``_rank``.
        """
        from proce.explanation.tables.frames import to_frame

        return to_frame(self)

    def counterfactuals(self) -> Any:
        """Return all counterfactuals in the columns of the frame, ready for the model."""
        from proce.explanation.tables.frames import counterfactuals

        return counterfactuals(self)

    def best(self) -> Any:
        """Return the recommended counterfactual of every row that has one."""
        from proce.explanation.tables.frames import counterfactuals

        firsts = [replace(e, rows=e.rows[:1], changes=e.changes[:1]) for e in self.items]
        return counterfactuals(replace(self, items=tuple(firsts)))

    def outcomes(self) -> Any:
        """Return one line per row, found or not."""
        from proce.explanation.tables.frames import outcomes

        return outcomes(self)

    def changes(self) -> Any:
        """Return one line per change: row, rank, feature, before, after, kind."""
        from proce.explanation.tables.frames import changes

        return changes(self)

    def summary(self, by: "str | Sequence[Any] | None" = None) -> Any:
        """Return what changes in the recommended counterfactuals, or what they cost by group.

        Parameters
        ----------
        by
            ``None`` for one line per feature and kind of change: how often, and by how much. The
            name of a feature, or a label for each row, for one line per group: what its rows cost,
            and how far that is from the others, with an interval.
        """
        from proce.explanation.tables.cohort import feature_frame
        from proce.explanation.tables.groups import group_frame

        return feature_frame(self) if by is None else group_frame(self, by)

    def reasons(
        self, at_most: int = 4, codes: "Mapping[str, tuple[str, str]] | None" = None
    ) -> "Reasons":
        """Return the principal reasons of each row in order, as a draft for a notice.

        Parameters
        ----------
        at_most
            Reasons of a row.
        codes
            By feature, a code and a text of your own for it.
        """
        from proce.explanation.tables.reasons import reasons_of

        return reasons_of(self, at_most, codes)

    def save_html(
        self,
        path: str | PathLike[str],
        title: str | None = None,
        at_most: int = 20,
        by: "str | Sequence[Any] | None" = None,
    ) -> Path:
        """Write a report: one HTML file that needs nothing else; return where it is.

        Parameters
        ----------
        path
            Where to; a file that is there is replaced once the new one is whole.
        title
            Of the report.
        at_most
            Rows that are told one by one; an overview has all of them.
        by
            A feature, or a label for each row, whose groups' costs the overview compares.
        """
        from proce.explanation.html.page import save_html

        return save_html(self, path, title=title, at_most=at_most, by=by)

    def to_json(self) -> str:
        """Return everything as JSON text; ``from_json`` reads it back."""
        from proce.explanation.exchange.explanations_json import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Explanations":
        """Read explanations from JSON text."""
        from proce.explanation.exchange.explanations_json import from_json

        return from_json(text)

    def receipt(self, at: int = 0, *, model: str | PathLike[str] | None = None) -> "Receipt":
        """Return one row's explanation as a receipt, to be checked on the model again later.

        Parameters
        ----------
        at
            The position of the row among these explanations.
        model
            The file or folder of the model, whose checksum the receipt then carries.
        """
        from proce.explanation.receipts.receipt import Receipt

        return Receipt.of(self, at, model)

    def plot_changes(self, ax: Any = None) -> Any:
        """Draw before and after of the recommended counterfactual; return the axes."""
        from proce.explanation.plots.changes import plot_changes

        return plot_changes(self, ax)

    def plot_front(self, ax: Any = None) -> Any:
        """Draw the Pareto front of the first row that has one; return the axes."""
        from proce.explanation.plots.front import plot_front

        return plot_front(self, ax)

    def plot_cohort(self, ax: Any = None) -> Any:
        """Draw which features change how often, and by how much; return the axes."""
        from proce.explanation.plots.cohort import plot_cohort

        return plot_cohort(self, ax)

    def plot_groups(self, by: "str | Sequence[Any]", ax: Any = None) -> Any:
        """Draw what counterfactuals cost by group, and the gaps; return the axes."""
        from proce.explanation.plots.cohort import plot_groups

        return plot_groups(self, by, ax)

    def __repr__(self) -> str:
        counts = Counter(item.outcome.value for item in self.items)
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        return f"Explanations({len(self)} rows{': ' if told else ''}{told})"

    def _repr_html_(self) -> str:
        from proce.explanation.html.notebook import to_html

        return to_html(self)
