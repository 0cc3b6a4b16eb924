"""What people hold: explanations with every form that they can take, and receipts of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Self, overload

import numpy as np

from proce.arguments import MAX_COUNT, MaybeAxes, check_count, checked
from proce.classifier import Classifier
from proce.errors import ReceiptError, RowIndexError, SearchError
from proce.explanation.exchange.explanations_json import from_json, to_json
from proce.explanation.receipts import (
    ModelFile,
    Verdict,
    read_receipt,
    receipt_frame,
    receipt_text,
    require_answer,
    verify_rows,
)
from proce.explanation.record.counterfactuals import Diagnosis
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.record.view import (
    View,
    allowed_grouping,
    in_view,
    open_codes,
    require_whole,
    shown_frame,
    shown_row,
)
from proce.explanation.result.joining import joined_frame
from proce.explanation.tables import frames
from proce.explanation.tables.cohort import feature_frame, group_frame
from proce.explanation.tables.reasons import Reasons, reasons_of
from proce.explanation.words.sentences import lines, plain_text, sentences
from proce.explanation.words.values import row_label
from proce.files import read_text, write_text
from proce.paths import path_of
from proce.schema import Codec
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import one_line


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
        return sentences(shown_row(self, view), rank)

    @checked(SearchError)
    def path(self, rank: int = 1) -> Any:
        """Return the path to the counterfactual of a rank as a frame: the row, then each step.

        Methods whose counterfactuals are reached step by step, such as FACE, have paths. The frame
        has the library and the dtypes of the training frame.
        """
        return frames.path(self, rank)

    @checked(SearchError)
    def save_html(
        self, path: str | PathLike[str], title: str | None = None, view: View | None = None
    ) -> Path:
        """Write a report of this row: one HTML file that needs nothing else."""
        from proce.explanation.html.report import page_of_row, save_page

        shown = shown_row(self, view)
        return save_page(path, lambda: page_of_row(shown, title=title))

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
        return plain_text(lines(shown_row(self)))

    def __repr__(self) -> str:
        ways = counted(len(self), "counterfactual")
        return f"Explanation(row {row_label(self)}, {self.outcome.value}, {ways})"

    def _repr_html_(self) -> str:
        from proce.explanation.html.notebook import html_of_row

        return html_of_row(shown_row(self))


class Explanations(ExplainedFrame):
    """The explanations of a frame's rows in their order, with a length, slices and iteration.

    Attributes
    ----------
    rows
        What is known of the rows, as columns; an :class:`Explanation` is a view on them.
    layout
        How the frame looked that was explained.
    provenance
        How the explanations came about.
    """

    def __iter__(self) -> Iterator[Explanation]:
        return (Explanation(self.rows, index, self.layout) for index in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Explanation: ...

    @overload
    def __getitem__(self, key: slice) -> "Explanations": ...

    @checked(SearchError)
    def __getitem__(self, key: int | slice) -> "Explanation | Explanations":
        try:
            indices = range(len(self))[key]
        except IndexError:
            rows = counted(len(self), "row")
            raise RowIndexError(
                f"there is no row {key}; the result has {rows}, counted from 0."
            ) from None
        except TypeError:
            raise SearchError(f"key is {key}; expected whole numbers in a slice.") from None
        except ValueError:
            raise SearchError(f"key is {key}, with a step of 0; expected another.") from None
        if isinstance(indices, range):
            return replace(self, rows=self.rows.take(np.array(indices, dtype=np.int64)))
        return Explanation(self.rows, indices, self.layout)

    @checked(SearchError)
    def counted_from(self, first_row: int) -> "Explanations":
        """Return the same explanations with ``first_row`` added to the position of each row.

        The explanations of a part of a longer table then have the positions of that table.
        """
        check_count("first_row", first_row, SearchError, minimum=-MAX_COUNT)
        rows = replace(self.rows, positions=self.rows.positions + first_row)
        moved = replace(self, rows=rows)
        if self.layout.index is None:
            return moved
        return moved.labelled(self.layout.take(self.rows.positions.tolist()).index)

    @classmethod
    @checked(SearchError)
    def join(
        cls, pieces: Iterable["Explanations"], elapsed_seconds: float | None = None
    ) -> "Explanations":
        """Return the explanations of consecutive pieces of one frame as those of the frame.

        They are what explaining the frame at once gives: rows, tables, pages and JSON. Only the
        time that it took is another.

        Parameters
        ----------
        pieces
            The explanations, in the order of the frame. Rows that were counted with
            :meth:`counted_from` keep their positions; where every piece counts from 0, they are
            counted on from piece to piece.
        elapsed_seconds
            The time that all of it took; by default the sum of the pieces.

        Raises
        ------
        SearchError
            A piece was explained by another explainer, with other options or from another frame,
            or the pieces are not in order.
        """
        whole = joined_frame(list(pieces), elapsed_seconds)
        return cls(whole.rows, whole.layout, whole.provenance)

    @checked(SearchError)
    def seen_by(self, view: View) -> Self:
        """Return the same result as somebody sees it.

        An ``applicant``, which is the default, is shown no protected feature: in no sentence,
        table, picture, page or JSON. An ``auditor`` is shown everything. The rows themselves
        (``to_frame``, ``counterfactuals``, ``best``) are for the model, and whole in both views.

        Parameters
        ----------
        view
            ``"applicant"`` or ``"auditor"``.
        """
        return replace(self, rows=in_view(self.rows, view))

    def _shown(self, view: View | None = None) -> ExplainedFrame:
        return shown_frame(self, view)

    def to_frame(self) -> Any:
        """Return all counterfactuals: row, rank, then the columns of the explained frame.

        The result has the library and the dtypes of the explained frame, and for pandas its index
        labels. Where that frame has a column ``row`` or ``rank``, ours are ``_row`` and ``_rank``.
        """
        return frames.to_frame(self)

    def counterfactuals(self) -> Any:
        """Return all counterfactuals in the columns of the frame, ready for the model."""
        return frames.counterfactuals(self)

    def best(self) -> Any:
        """Return the recommended counterfactual of every row that has one."""
        return frames.recommended(self)

    def outcomes(self) -> Any:
        """Return one line per row, found or not."""
        return frames.outcomes(self._shown())

    def changes(self) -> Any:
        """Return one line per change: row, rank, feature, before, after, kind."""
        return frames.changes(self._shown())

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
        if by is None:
            return feature_frame(self._shown())
        return group_frame(self._shown(), allowed_grouping(self.context, by))

    @checked(SearchError)
    def reasons(
        self, at_most: int = 4, codes: "Mapping[str, tuple[str, str]] | None" = None
    ) -> Reasons:
        """Return the principal reasons of each row in order, as a draft for a notice.

        Parameters
        ----------
        at_most
            The most reasons of a row.
        codes
            Your own code and text for a feature, by its name.
        """
        return reasons_of(self._shown("applicant"), at_most, open_codes(self.context, codes))

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

        return plot_groups(self._shown(), allowed_grouping(self.context, by), ax)

    @checked(SearchError)
    def save_html(
        self,
        path: str | PathLike[str],
        title: str | None = None,
        at_most: int = 20,
        by: "str | Sequence[Any] | None" = None,
        view: View | None = None,
    ) -> Path:
        """Write a report: one HTML file that needs nothing else; return where it is.

        Parameters
        ----------
        path
            The file to write; one that is there is replaced once the new one is whole.
        title
            The title of the report.
        at_most
            The most rows that are explained one by one; an overview covers all of them.
        by
            The name of a feature, or a label for each row: the overview compares what the
            counterfactuals of the groups cost.
        view
            ``"applicant"``, who is shown no protected feature, or ``"auditor"``; by default that
            of this result, which is the applicant's until :meth:`seen_by` says otherwise.
        """
        from proce.explanation.html.report import page_of_rows, save_page

        shown, by = self._shown(view), allowed_grouping(self.context, by, view)
        return save_page(path, lambda: page_of_rows(shown, title=title, at_most=at_most, by=by))

    @checked(SearchError)
    def to_json(self, view: View | None = None) -> str:
        """Return the explanations as JSON text; ``from_json`` reads it back.

        Parameters
        ----------
        view
            As for :meth:`save_html`. What is read back from an applicant's JSON has no protected
            features: its rows are not whole, and cannot be sent to the model.
        """
        return to_json(self._shown(view))

    @classmethod
    @checked(SearchError)
    def from_json(cls, text: str) -> "Explanations":
        """Read explanations from JSON text."""
        read = from_json(text)
        return cls(read.rows, read.layout, read.provenance)

    @checked(SearchError)
    def receipt(
        self, at: int = 0, *, model: str | PathLike[str] | ModelFile | None = None
    ) -> "Receipt":
        """Return one row's explanation as a receipt, to be checked on the model again later.

        Parameters
        ----------
        at
            The index of the row among these explanations.
        model
            The file or folder of the model, whose checksum the receipt then carries; a
            ``ModelFile`` for many rows, so that the checksum is taken once.
        """
        return Receipt.of(self, at, model)

    def __repr__(self) -> str:
        tally = self.rows.outcome_counts()
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in tally.items())
        return f"Explanations({counted(len(self), 'row')}{': ' if counts else ''}{counts})"

    def _repr_html_(self) -> str:
        from proce.explanation.html.notebook import html_of_rows

        return html_of_rows(self._shown())


@dataclass(frozen=True, eq=False, repr=False)
class Receipt:
    """The explanation of one row, with all that is needed to ask the model again.

    Attributes
    ----------
    result
        The explanation of one row, with its features, seed, settings and versions.
    model_name, model_sha256
        The name and the SHA-256 sum of the model's file; ``None`` where it was not named.
    written
        When the receipt was written, in UTC.
    """

    result: Explanations
    model_name: str | None = None
    model_sha256: str | None = None
    written: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def __repr__(self) -> str:
        (row,) = self.result
        model = "no model named" if self.model_name is None else f"model {self.model_name!r}"
        return one_line(
            f"Receipt(row {row.row}, {row.outcome.value}, {model}, written {self.written})"
        )

    @classmethod
    @checked(ReceiptError)
    def of(
        cls,
        result: Explanations,
        at: int = 0,
        model: str | PathLike[str] | ModelFile | None = None,
    ) -> "Receipt":
        """Return the receipt of one row.

        Parameters
        ----------
        result
            The explanations.
        at
            The index of the row among them.
        model
            The file or folder that the model was read from.
        """
        require_whole(result.context)
        if not -len(result) <= at < len(result):
            raise SearchError(f"at is {at!r}; there are {len(result)} explanations.")
        index = at % len(result)
        require_answer(result[index])
        single = result[index : index + 1]
        if model is None:
            return cls(single)
        file = model if isinstance(model, ModelFile) else ModelFile.of(model)
        return cls(single, file.name, file.sha256)

    def to_json(self) -> str:
        """Return the receipt as JSON text."""
        return receipt_text(self.result, self.model_name, self.model_sha256, self.written)

    @classmethod
    @checked(ReceiptError)
    def from_json(cls, text: str) -> "Receipt":
        """Read a receipt.

        Raises
        ------
        ReceiptError
            The text is not a receipt, or was changed after it was written.
        """
        receipt = read_receipt(text)
        frame = receipt_frame(receipt)
        result = Explanations(frame.rows, frame.layout, frame.provenance)
        return cls(result, receipt.model.name, receipt.model.sha256, receipt.written)

    @checked(ReceiptError)
    def save(self, path: str | PathLike[str]) -> Path:
        """Write the receipt to a file, whole or not at all."""
        target = path_of(path)
        write_text(target, self.to_json())
        return target

    @classmethod
    @checked(ReceiptError)
    def load(cls, path: str | PathLike[str]) -> "Receipt":
        """Read a receipt from a file."""
        return cls.from_json(read_text(path_of(path), "the receipt"))


def verify(receipt: Receipt, classifier: Classifier, codec: Codec) -> Verdict:
    """Send a receipt's row and counterfactuals to a model again, whose rows this codec has."""
    (verdict,) = verify_rows(receipt.result, classifier, codec)
    return verdict
