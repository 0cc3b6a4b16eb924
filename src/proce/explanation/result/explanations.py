"""The explanations of all rows, with every form that they can take, and receipts of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from proce.arguments import MAX_COUNT, check_count, checked
from proce.errors import ReceiptError, RowIndexError, SearchError
from proce.explanation.receipts.receipt import ModelFile, ReceiptRecord, require_answer
from proce.explanation.record.view import View
from proce.explanation.result.drawn import DrawnFrame
from proce.explanation.result.explanation import Explanation
from proce.explanation.result.shown import require_whole
from proce.explanation.tables.reasons import Reasons, reasons_of
from proce.files import read_text, write_text
from proce.paths import path_of
from proce.schema.features.numerals import counted


class Explanations(DrawnFrame):
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
        from proce.explanation.result.joining import joined_frame

        whole = joined_frame(list(pieces), elapsed_seconds)
        return cls(whole.rows, whole.layout, whole.provenance)

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
        return reasons_of(self._shown("applicant"), at_most, self._told_codes(codes))

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
        from proce.explanation.html.report import save_page_of_rows

        shown, by = self._shown(view), self._grouping(by, view)
        return save_page_of_rows(shown, path, title=title, at_most=at_most, by=by)

    @checked(SearchError)
    def to_json(self, view: View | None = None) -> str:
        """Return the explanations as JSON text; ``from_json`` reads it back.

        Parameters
        ----------
        view
            As for :meth:`save_html`. What is read back from an applicant's JSON has no protected
            features: its rows are not whole, and cannot be sent to the model.
        """
        from proce.explanation.exchange.explanations_json import to_json

        return to_json(self._shown(view))

    @classmethod
    @checked(SearchError)
    def from_json(cls, text: str) -> "Explanations":
        """Read explanations from JSON text."""
        from proce.explanation.exchange.explanations_json import from_json

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
class Receipt(ReceiptRecord):
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
        from proce.explanation.receipts.receipt_json import receipt_to_json

        return receipt_to_json(self)

    @classmethod
    @checked(ReceiptError)
    def from_json(cls, text: str) -> "Receipt":
        """Read a receipt.

        Raises
        ------
        ReceiptError
            The text is not a receipt, or was changed after it was written.
        """
        from proce.explanation.receipts.receipt_json import receipt_from_json

        read = receipt_from_json(text)
        frame = read.result
        result = Explanations(frame.rows, frame.layout, frame.provenance)
        return cls(result, read.model_name, read.model_sha256, read.written)

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
