"""Who reads a result: what the applicant's view leaves out is no longer in the record.

Protected features are taken out of everything that a record holds: features, rows, causes, rules,
notes and diagnoses. Whatever is then made of the record cannot tell them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from proce.arrays import Array
from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import (
    MODEL_FAILED,
    NO_RULE,
    Counterfactuals,
    Diagnosis,
    Outcome,
    array_columns,
    ways_text,
)
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow, ExplainedRows
from proce.schema import Codec, Redaction, Schema

View = Literal["applicant", "auditor"]
By = TypeVar("By", bound="str | Sequence[Any] | None")
Codes = Mapping[str, tuple[str, str]]
_NOT_FOUND = "No change was found."


def check_view(view: str) -> None:
    """Refuse a view that does not exist."""
    if view not in get_args(View):
        known = " or ".join(repr(name) for name in get_args(View))
        raise SearchError(f"view is {view!r}; expected {known}.")


def protected_names(schema: Schema) -> tuple[str, ...]:
    """Return the names of the features that only an auditor sees."""
    return tuple(feature.name for feature in schema if feature.protected)


def in_view(rows: ExplainedRows, view: View | None) -> ExplainedRows:
    """Return whole rows whose reader is named; ``None`` for the one that they have."""
    context = rows.context
    view = context.view if view is None else view
    check_view(view)
    if view == "auditor" and context.withheld:
        raise SearchError(
            "this result was written for the applicant, without its protected features; for the"
            " auditor's view write it again from the explanations, with to_json(view='auditor') or"
            " 'proce explain --view auditor'."
        )
    return replace(rows, context=replace(context, view=view))


def shown_frame(result: ExplainedFrame, view: View | None = None) -> ExplainedFrame:
    """Return what a reader is shown; ``None`` for the view of the result."""
    rows = in_view(result.rows, view)
    whole = ExplainedFrame(rows, result.layout, result.provenance)
    return whole if rows.context.view == "auditor" else frame_for_applicant(whole)


def shown_row(row: ExplainedRow, view: View | None = None) -> ExplainedRow:
    """Return a row as its reader is shown it; ``None`` for the view of its result."""
    record = in_view(row.record, view)
    shown = ExplainedRow(record, row.index, row.layout)
    if record.context.view == "auditor" or not protected_names(record.context.codec.schema):
        return shown
    return ExplainedRow(rows_for_applicant(shown.alone()), 0, row.layout)


def open_codes(context: Context, codes: Codes | None) -> Codes | None:
    """Return a table of reason codes without those of protected features."""
    hidden = protected_names(context.codec.schema)
    if not hidden or not isinstance(codes, Mapping):
        return codes
    return {name: code for name, code in codes.items() if name not in hidden}


def allowed_grouping(context: Context, by: By, view: View | None = None) -> By:
    """Return by what groups are made, unless the reader may not see it."""
    view = context.view if view is None else view
    hidden = protected_names(context.codec.schema) if view == "applicant" else ()
    if isinstance(by, str) and by in hidden:
        raise SearchError(
            f"by names {by!r}, which is protected: groups by it are for an auditor. Ask"
            " result.seen_by('auditor'), or write the page with view='auditor'."
        )
    return by


def require_whole(context: Context) -> None:
    """Refuse a result from which protected features were taken out, for what needs whole rows."""
    if context.withheld:
        raise SearchError(
            "a receipt holds the whole row, and this result was written without its protected"
            " features; write the receipt from the explanations themselves."
        )


def codec_for_applicant(codec: Codec) -> Codec:
    """Return a codec without its protected features; itself where it has none."""
    names = protected_names(codec.schema)
    return codec if not names else _codec(codec, _open_positions(codec.schema, names))


def frame_for_applicant(result: ExplainedFrame) -> ExplainedFrame:
    """Return an explained frame without its protected features; itself where it has none."""
    schema = result.context.codec.schema
    names = protected_names(schema)
    if not names:
        return result
    columns = {column for name in names for column in schema[name].columns}
    return replace(
        result,
        rows=rows_for_applicant(result.rows),
        layout=result.layout.without(columns),
        provenance=replace(
            result.provenance,
            options=Redaction.of(schema).options(result.provenance.options),
        ),
    )


def rows_for_applicant(rows: ExplainedRows) -> ExplainedRows:
    """Return explained rows without their protected features; themselves where there are none."""
    schema = rows.context.codec.schema
    names = protected_names(schema)
    if not names:
        return rows
    redaction = Redaction.of(schema)
    keep = _open_positions(schema, names)
    open_rules = [not redaction.in_rule(text) for text in rows.context.rules]
    fronts, outcomes = rows.fronts, rows.outcomes.tolist()
    return replace(
        rows,
        context=_context(rows.context, keep, redaction, open_rules),
        factual=rows.factual[:, keep],
        raw=rows.raw[:, keep],
        counterfactuals=_counterfactuals(rows.counterfactuals, keep, open_rules),
        fronts=replace(fronts, rows=fronts.rows[:, keep], changes=fronts.changes[:, keep]),
        diagnoses={
            row: _failure(diagnosis)
            if outcomes[row] == Outcome.FAILED.code
            else _diagnosis(diagnosis, redaction)
            for row, diagnosis in rows.diagnoses.items()
        },
        notes=rows.notes.without(redaction.in_text),
    )


def _open_positions(schema: Schema, names: Sequence[str]) -> Array:
    """Return the positions of all features but the named ones."""
    kept = [position for position, name in enumerate(schema.names) if name not in names]
    return np.array(kept, dtype=np.int64)


def _context(
    context: Context, keep: Array, redaction: Redaction, open_rules: Sequence[bool]
) -> Context:
    spread = context.spread
    return replace(
        context,
        codec=_codec(context.codec, keep),
        edges=tuple(edge for edge in context.edges if redaction.names.isdisjoint(edge)),
        vary=None if context.vary is None else tuple(redaction.kept(context.vary)),
        ranges=redaction.items(context.ranges),
        effort=redaction.items(context.effort),
        rules=tuple(
            text for text, is_open in zip(context.rules, open_rules, strict=True) if is_open
        ),
        spread=None if spread is None else redaction.items(spread),
        withheld=context.withheld + len(redaction.names),
    )


def _codec(codec: Codec, keep: Array) -> Codec:
    kept = Schema([codec.schema.features[position] for position in keep.tolist()])
    columns = set(codec.schema.columns) - set(kept.columns)
    arrays = ("low", "span", "may_miss", "seen_low", "seen_high", "resolution")
    return replace(
        codec,
        schema=kept,
        layout=codec.layout.without(columns),
        **{name: getattr(codec, name)[keep] for name in arrays},
    )


def _counterfactuals(
    ways: Counterfactuals, keep: Array, open_rules: Sequence[bool]
) -> Counterfactuals:
    cells = {
        name: column[:, keep]
        for name, column in array_columns(ways).items()
        if column.ndim == 2 and name != "losses"
    }
    numbers = np.array(open_rules, dtype=np.int64)
    numbers = np.where(numbers > 0, numbers.cumsum(0) - 1, NO_RULE)
    # Without a rule is the last of the numbers.
    cells["asked_by"] = np.append(numbers, NO_RULE)[cells["asked_by"]]
    return replace(ways, **cells, steps=tuple(path[:, keep] for path in ways.steps))


def _failure(diagnosis: Diagnosis) -> Diagnosis:
    """Return that the model failed; its own words may hold any value of the row."""
    return replace(diagnosis, reason=MODEL_FAILED)


def _diagnosis(diagnosis: Diagnosis, redaction: Redaction) -> Diagnosis:
    """Return a diagnosis in which no protected feature blocks, and its words accordingly."""
    blockers = tuple(
        blocker
        for blocker in diagnosis.blockers
        if blocker.name not in redaction.names
        and not (blocker.kind == "rule" and redaction.in_rule(blocker.name))
        and not redaction.in_text(blocker.relaxation)
    )
    broken = tuple(redaction.rules(diagnosis.broken))
    reason = diagnosis.reason.replace(ways_text(diagnosis.blockers), ways_text(blockers))
    for text in diagnosis.broken:
        if text not in broken:
            reason = reason.replace(f" It breaks the rule '{text}'.", "")
    miss = diagnosis.closest_miss
    return replace(
        diagnosis,
        reason=_NOT_FOUND if redaction.in_text(reason) else reason,
        closest_miss=None if miss is None else redaction.items(miss),
        broken=broken,
        blockers=blockers,
    )
