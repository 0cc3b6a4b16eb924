"""All rows of a result: how they ended, what is advised how often, what it costs whom."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from proce.errors import ProceError
from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.counterfactuals import OUTCOMES, count_actions
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.tables.cohort import Group, Tally, change_text, groups_of, tallies
from proce.explanation.words.cells import ChangedCell, recommended_cells
from proce.explanation.words.instructions import instructions
from proce.explanation.words.values import name_text
from proce.losses import Loss
from proce.server.explainer_api.errors import RequestError, brief, listed, near
from proce.server.explainer_api.presenters.results import id_of, label_of, row_id_of

Plain = dict[str, Any]


def cohort_of(result: ExplainedFrame, request: Mapping[str, Any], by: str | None) -> Plain:
    """Return an overview of all rows of a result."""
    counts = result.rows.outcome_counts()
    return {
        "n_rows": len(result),
        "outcomes": {o.value: counts[o] for o in OUTCOMES if counts.get(o, 0)},
        "features": [_feature(result, tally) for tally in tallies(result)],
        "groups": [] if by is None else [_group(group) for group in _groups(result, by)],
        "rows": [
            _row(result, row, cells, row_id_of(request, row.index))
            for row, cells in zip(result, recommended_cells(result.rows), strict=True)
        ],
    }


def _feature(result: ExplainedFrame, tally: Tally) -> Plain:
    return {
        "feature": tally.feature.name,
        "label": name_text(tally.feature),
        "kind": tally.mark,
        "count": tally.count,
        "share": tally.share,
        "change_text": change_text(result, tally),
        "median_size": finite_or_none(tally.median_size),
    }


def _groups(result: ExplainedFrame, by: str) -> Sequence[Group]:
    names = result.context.codec.schema.names
    if by not in names:
        message = f"there is no feature {brief(by)}; the features are {listed(names)}."
        raise RequestError("by", message + near(by, names))
    try:
        return groups_of(result, by)
    except ProceError as error:
        raise RequestError("by", str(error)) from None


def _group(group: Group) -> Plain:
    return {
        "label": group.name,
        "n_rows": group.n_rows,
        "found": len(group.costs),
        "median_distance": group.median,
        "mean_distance": group.mean,
        "mean_actions": mean(group.n_actions) if group.n_actions else None,
        "gap": group.gap,
        "gap_low": group.low,
        "gap_high": group.high,
    }


def _row(
    result: ExplainedFrame, row: ExplainedRow, cells: Sequence[ChangedCell], row_id: int | None
) -> Plain:
    is_found = len(row) > 0
    return {
        "row": row.index if row_id is None else row_id,
        "index": row.index,
        "id": id_of(result, row),
        "label": label_of(result, row),
        "outcome": row.outcome.value,
        "probability": finite_or_none(row.probability),
        "new_probability": row.probabilities[0].item() if is_found else None,
        "distance": finite_or_none(row.losses[0, Loss.DISTANCE].item()) if is_found else None,
        "n_actions": count_actions(row.changes[0]).item() if is_found else None,
        "actions": " ".join(instructions(cells, row.context)),
    }
