"""The principal reasons of each row, in order: a draft for a notice, not a legal reason.

A reason is an action of the recommended counterfactual. Its weight is by how much the probability
of the target falls when that action alone is taken back, with all that follows from it. An action
that adds nothing by itself is no reason. Where these contributions are not known, because another
method or an older version made the result, the weight is the action's share of the distance.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from proce.arguments import checked
from proce.errors import SchemaError, SearchError, did_you_mean
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS, Change, Outcome
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.row_view import ChangeView, RowView, WayView, row_view
from proce.explanation.tables.frames import frame_of
from proce.explanation.words.cells import ChangedCell, plain_value, recommended_cells
from proce.explanation.words.certainty import doubt_texts, is_less_robust, robustness_texts
from proce.explanation.words.instructions import (
    direction_of_action,
    drift_text,
    duration_text,
    is_waiting,
)
from proce.explanation.words.values import change_texts, class_texts, joined, name_text, row_label

DRAFT = "draft: a variant that the model decides otherwise is not by itself a legal reason"
Measure = Literal["probability", "distance"]


def letter_text(
    view: RowView, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> str:
    """Return the draft of a letter: numbered reasons, and the features that they tell of."""
    draft = f"{DRAFT[:1].upper()}{DRAFT[1:]}. To be checked by a person before it is sent."
    return "\n\n".join([draft, *_paragraphs(view, reasons, told, measure)]) + "\n"


def _paragraphs(
    view: RowView, reasons: Sequence[str], told: Sequence[int], measure: Measure
) -> list[str]:
    row, way, nothing = view.row, view.recommended, "No reasons can be drafted."
    if row.predicted == UNKNOWN_CLASS:
        return [f"{nothing} {view.lines[0].text}"]
    opening = f"The model said {view.predicted}."
    if row.outcome is Outcome.ALREADY_TARGET:
        return [f"{opening} There is nothing to give reasons for."]
    if way is None:
        return [f"{opening} {nothing} {view.lines[0].text}"]
    variant = _rest_of_variant(way, told)
    if not reasons:
        return [
            f"{opening} It would have said {view.target} after several changes together, none of"
            " which matters by itself; no principal reason can be named.",
            *variant,
        ]
    measured = "by how much the probability falls when that change alone is taken back"
    if measure == "distance":
        measured = "by the size of the change"
    cells = [step.change.cell for step in way.steps]
    return [
        f"{opening} The principal reasons, the weightiest first:",
        "\n".join(reasons),
        f"The order was found by comparing this application with a variant of it for which the"
        f" model says {view.target} ({way.then}; it was {way.now}): {measured}. The reasons"
        " describe the model; they are not a promise.",
        *variant,
        *doubt_texts(row, cells, subject="That variant")[:1],
        *(robustness_texts(row, subject="That variant") if is_less_robust(row) else []),
    ]


def _rest_of_variant(way: WayView, told: Sequence[int]) -> list[str]:
    """Return what else the variant has beside the reasons: further changes, and what follows."""
    changes = [step.change for step in way.steps]
    done = [c for c in changes if c.cell.kind.by_hand and c.cell.position not in told]
    following = [change for change in changes if change.cell.kind is Change.CONSEQUENCE]
    texts = []
    if done:
        texts.append(f"Also in that variant: {joined([_state(change) for change in done])}.")
    if following:
        listed = joined([_state(change) for change in following])
        texts.append(f"Expected to follow in that variant: {listed}.")
    return [" ".join(texts)] if texts else []


def _state(change: ChangeView) -> str:
    if change.cell.kind is Change.HOLD:
        return f"{change.label} stays at {change.before}"
    return f"{change.label} is {change.after} (it is {change.before} now)"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of one row."""

    cell: ChangedCell  # the cell that is acted on
    # what the action adds to the probability of the target, or its share of the distance
    weight: float
    measure: Measure  # what the weight is: probability or distance
    # code, text: the code and the text of the caller's table; without an entry there, no code and a
    # sentence about the change
    code: str | None
    text: str


@dataclass(frozen=True, eq=False)
class Reasons:
    """The reasons of every row, in order; has a length and iterates over the rows."""

    result: ExplainedFrame  # the explanations
    # the reasons of each row, the weightiest first; empty where a row has none
    rows: tuple[tuple[Reason, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Reason, ...]]:
        return iter(self.rows)

    def frame(self) -> Any:
        """Return one line per reason, in the library of the frame that was explained."""
        lines = [
            (row.row, order, reason)
            for row, reasons in zip(self.result, self.rows, strict=True)
            for order, reason in enumerate(reasons, 1)
        ]
        reasons = [reason for _, _, reason in lines]
        cells = [reason.cell for reason in reasons]
        rows = [row for row, _, _ in lines]
        columns = {
            "row": pa.array(rows, pa.int64()),
            "order": pa.array([order for _, order, _ in lines], pa.int64()),
            "feature": pa.array([cell.feature.name for cell in cells], pa.string()),
            "before": [plain_value(cell.feature, cell.before) for cell in cells],
            "after": [plain_value(cell.feature, cell.after) for cell in cells],
            "weight": pa.array([reason.weight for reason in reasons], pa.float64()),
            "measure": pa.array([reason.measure for reason in reasons], pa.string()),
            "code": pa.array([reason.code for reason in reasons], pa.string()),
            "reason": pa.array([reason.text for reason in reasons], pa.string()),
            "status": pa.array([DRAFT] * len(lines), pa.string()),
        }
        return frame_of(self.result, columns, rows)

    def to_json(self) -> str:
        """Return the reasons as JSON text."""
        context = self.result.context
        rows = [
            {
                "row": row.row,
                "outcome": row.outcome.value,
                "predicted": context.class_at(row.predicted),
                "target": context.class_at(row.target),
                "reasons": [_record(reason) for reason in reasons],
            }
            for row, reasons in zip(self.result, self.rows, strict=True)
        ]
        record = {"status": DRAFT, "rows": rows}
        return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @checked(SearchError)
    def letter(self, row: int) -> str:
        """Return the draft of a letter about the explanation at a position of the result."""
        if not -len(self) <= row < len(self):
            raise SearchError(f"row is {row}; the result has the rows 0 to {len(self) - 1}.")
        index = row % len(self)
        reasons = self.rows[index]
        listed = [
            f"{order}. {f'[{reason.code}] ' if reason.code else ''}{reason.text}"
            for order, reason in enumerate(reasons, 1)
        ]
        measure = reasons[0].measure if reasons else "probability"
        told = [reason.cell.position for reason in reasons]
        explained = ExplainedRow(self.result.rows, index, self.result.layout)
        return letter_text(row_view(explained), listed, told, measure)

    def __str__(self) -> str:
        return "\n".join(
            f"{row_label(row)}: {' '.join(reason.text for reason in reasons) or '–'}"
            for row, reasons in zip(self.result, self.rows, strict=True)
        )


def reasons_of(
    result: ExplainedFrame, at_most: int = 4, codes: Mapping[str, tuple[str, str]] | None = None
) -> Reasons:
    """Return the reasons of each row."""
    if not 1 <= at_most <= sys.maxsize:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 1 on.")
    table = _checked_codes(codes, result.context.codec.schema.names)
    pairs = zip(result, recommended_cells(result.rows), strict=True)
    return Reasons(
        result,
        tuple(_reasons_of_row(row, cells, table)[:at_most] for row, cells in pairs),
    )


def _reasons_of_row(
    row: ExplainedRow, cells: Sequence[ChangedCell], table: Mapping[str, tuple[str, str]]
) -> tuple[Reason, ...]:
    actions = [cell for cell in cells if cell.kind is Change.ACTION]
    measure: Measure = "distance"
    total = sum(cell.size for cell in actions)
    weights = [cell.size / total if total else 0.0 for cell in actions]
    if row.contributions is not None:
        measure = "probability"
        weights = [row.contributions[0, cell.position].item() for cell in actions]
    pairs = sorted(zip(weights, actions, strict=True), key=lambda pair: -pair[0])  # stable
    n_others = sum(cell.kind.by_hand for cell in cells) - 1
    return tuple(
        Reason(cell, weight, measure, *_code_and_text(row, cell, table, n_others))
        for weight, cell in pairs
        if weight > 0
    )


def _code_and_text(
    row: ExplainedRow, cell: ChangedCell, table: Mapping[str, tuple[str, str]], n_others: int
) -> tuple[str | None, str]:
    """Return the code and the text of a reason, beside which so many other things are done."""
    if cell.feature.name in table:
        return table[cell.feature.name]
    before, after = change_texts(cell, row.context)
    name = name_text(cell.feature)
    _, target = class_texts(row)
    drift = drift_text(cell, row.context, n_others)
    fact = f"{name[:1].upper()}{name[1:]} is {before}"
    if drift is not None:
        fact = f"{fact} ({drift})"
    contrast = f"in the variant for which the model says {target} it is {after}."
    if is_waiting(cell):
        passed = duration_text(cell)
        return None, f"{fact}; {passed} later, {contrast}"
    direction = direction_of_action(cell)
    if not direction:
        return None, f"{fact}; {contrast}"
    return None, f"{fact}, too {'low' if direction > 0 else 'high'}: {contrast}"


def _record(reason: Reason) -> dict[str, Any]:
    cell = reason.cell
    return {
        "feature": cell.feature.name,
        "before": plain_value(cell.feature, cell.before),
        "after": plain_value(cell.feature, cell.after),
        "weight": reason.weight,
        "measure": reason.measure,
        "code": reason.code,
        "reason": reason.text,
    }


def _checked_codes(
    codes: Mapping[str, tuple[str, str]] | None, names: Sequence[str]
) -> Mapping[str, tuple[str, str]]:
    """Return the caller's table, or say what is wrong with it."""
    if codes is None:
        return {}
    if not isinstance(codes, Mapping):
        raise SearchError(f"codes is {codes!r}; expected {{feature: (code, text)}}.")
    entries: Mapping[Any, Any] = codes
    for name, entry in entries.items():
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise SchemaError(f"codes names {name!r}, which is not a feature.{hint}")
        pair = isinstance(entry, tuple | list) and len(entry) == 2
        if not pair or not all(isinstance(part, str) for part in entry):
            raise SearchError(f"the code of {name!r} is {entry!r}; expected (code, text).")
    return {name: (code, text) for name, (code, text) in codes.items()}
