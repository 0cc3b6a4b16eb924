"""Writes explained frames as plain values of JSON: raw values by feature, in a versioned form."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from proce.arrays import Array, Floats, blocks
from proce.explanation.exchange.context_writing import context_record
from proce.explanation.exchange.plain_json import finite_or_none, plain_json
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import NO_RULE, OPEN_END_WORDS, UNKNOWN_CHANGE
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.outcome import CHANGE_LETTERS, CHANGES, Change
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.explanation.words.cells import (
    ChangedCell,
    ChangedCells,
    changed_cells,
    plain_column,
)
from proce.explanation.words.sentences import recommended_lines
from proce.losses import LOSS_NAMES
from proce.schema.frames.layout_json import layout_to_json

Plain = dict[str, Any]
_BLOCK_ROWS = 1_024
_KINDS = tuple(change.name.lower() for change in CHANGES)


def frame_record(result: ExplainedFrame, version: int) -> Plain:
    """Return everything about an explained frame as plain values, in a version of the form.

    The explanations are an iterator.
    """
    context, shared = result.context, context_record(result.context)
    layout, training = layout_to_json(result.layout), shared["training_layout"]
    return {
        "format": version,
        **({"view": "applicant", "withheld": context.withheld} if context.withheld else {}),
        "schema": shared["schema"],
        "scale": shared["scale"],
        "layout": layout_to_json(result.layout, result.rows.positions.tolist()),
        **({"training_layout": training} if training != layout else {}),
        "model": shared["model"],
        "graph": shared["graph"],
        **({} if context.spread is None else {"spread": shared["spread"]}),
        "request": shared["request"],
        "provenance": plain_json(vars(result.provenance)),
        "explanations": _rows_in_blocks(result.rows),
    }


def _rows_in_blocks(rows: ExplainedRows) -> Iterator[Plain]:
    """Yield the rows, so that the plain values of a few of them are held at a time."""
    for block in blocks(np.arange(len(rows)), _BLOCK_ROWS):
        yield from _rows(rows.take(block))


def _rows(rows: ExplainedRows) -> list[Plain]:
    cells = changed_cells(rows)
    ranked, ways = cells.by_counterfactual(), _counterfactuals(rows, cells)
    factual, fronts = _objects(rows.context, rows.raw), _fronts(rows)
    starts, ends = rows.extents[:-1], rows.extents[1:]
    return [
        _row(row, values, ranked[start:end], ways[start:end], front)
        for row, values, start, end, front in zip(rows, factual, starts, ends, fronts, strict=True)
    ]


def _row(
    row: ExplainedRow,
    factual: Plain,
    ranked: Sequence[Sequence[ChangedCell]],
    ways: list[Plain],
    front: Plain | None,
) -> Plain:
    return {
        "row": row.row,
        "outcome": row.outcome.value,
        "predicted": row.context.class_at(row.predicted),
        "target": row.context.class_at(row.target),
        "probability": finite_or_none(row.probability),
        "sentences": [line.text for line in recommended_lines(row, ranked)],
        "factual": factual,
        "counterfactuals": ways,
        "margin_met": row.margin_met,
        "diagnosis": None if row.diagnosis is None else _diagnosis(row.diagnosis),
        "notes": list(row.notes),
        "dropped": row.dropped,
        "front": front,
    }


def _counterfactuals(rows: ExplainedRows, cells: ChangedCells) -> list[Plain]:
    ways = rows.counterfactuals
    codec, owner = rows.context.codec, ways.owner
    raw = codec.raw_of_changes(ways.rows, rows.factual[owner], rows.raw[owner])
    columns = zip(
        ways.ranks().tolist(),
        ways.probabilities.tolist(),
        _certainties(rows),
        _losses(ways.losses),
        _changes(rows, cells),
        _steps(rows),
        _objects(rows.context, raw),
        strict=True,
    )
    return [
        {
            "rank": rank,
            "probability": probability,
            **certainties,
            "losses": dict(zip(LOSS_NAMES, losses, strict=True)),
            "changes": changes,
            **({"steps": steps} if steps else {}),
            "values": values,
        }
        for rank, probability, certainties, losses, changes, steps, values in columns
    ]


def _changes(rows: ExplainedRows, cells: ChangedCells) -> list[list[Plain]]:
    """Return the changes of each counterfactual."""
    names = rows.context.codec.schema.names
    changes: list[list[Plain]] = [[] for _ in range(cells.n_counterfactuals)]
    contributions = _known_contributions(rows)[cells.counterfactual, cells.position]
    drifts = (cells.kind == Change.ACTION) & (cells.expected != cells.before)
    has_expected = ((cells.kind == Change.HOLD) | drifts) & ~np.isnan(cells.expected)
    has_contribution = (cells.kind == Change.ACTION) & ~np.isnan(contributions)
    columns = zip(
        cells.counterfactual.tolist(),
        cells.position.tolist(),
        cells.kind.tolist(),
        cells.plain_values(cells.before),
        cells.plain_values(cells.after),
        cells.plain_values(cells.expected),
        has_expected.tolist(),
        contributions.tolist(),
        has_contribution.tolist(),
        _promises(rows.context, cells),
        strict=True,
    )
    for (
        line,
        position,
        kind,
        before,
        after,
        expected,
        told,
        contribution,
        acted,
        promise,
    ) in columns:
        changes[line].append(
            {
                "feature": names[position],
                "kind": _KINDS[kind],
                "before": before,
                "after": after,
                **({"expected": expected} if told else {}),
                **({"contribution": contribution} if acted else {}),
                **promise,
            }
        )
    return changes


def _promises(context: Context, cells: ChangedCells) -> list[Plain]:
    """Return for each changed cell where it holds, and the rule that asks for it."""
    columns = (cells.holds_from, cells.holds_to, cells.open_ends, cells.rule)
    return [
        {
            **({} if low != low else {"holds_from": low, "holds_to": high}),
            **({"open_ends": OPEN_END_WORDS[ends]} if ends else {}),
            **({} if rule == NO_RULE else {"rule": context.rules[rule]}),
        }
        for low, high, ends, rule in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _known_contributions(rows: ExplainedRows) -> Floats:
    """Return the contributions ``(n, f)``; NaN throughout a row of which not all are known."""
    contributions = rows.counterfactuals.contributions.copy()
    owner = rows.counterfactuals.owner
    contributions[np.isin(owner, owner[np.isnan(contributions).any(1)])] = np.nan
    return contributions


def _certainties(rows: ExplainedRows) -> list[Plain]:
    """Return how sure each counterfactual is: its chance, and the counts that its row has."""
    certainties: list[Plain] = [{} for _ in range(len(rows.counterfactuals))]
    for name in ("support", "refits", "confidence", "robustness"):
        column = getattr(rows.counterfactuals, name)
        known = column >= 0  # NaN is not known
        if name != "confidence":
            known = rows.counterfactuals.is_counted(name)
        lines = np.flatnonzero(known)
        for line, value in zip(lines.tolist(), column[lines].tolist(), strict=True):
            certainties[line][name] = value
    return certainties


def _steps(rows: ExplainedRows) -> list[list[list[Any]]]:
    """Return the path to each counterfactual, empty where there is none."""
    ways = rows.counterfactuals
    if not ways.steps:
        return [[] for _ in range(len(ways))]
    counts = [len(steps) for steps in ways.steps]
    owner = np.repeat(ways.owner, counts)
    return _split(_variants(rows, np.concatenate(ways.steps), owner), counts)


def _fronts(rows: ExplainedRows) -> list[Plain | None]:
    """Return the front of each row, ``None`` where it was not kept."""
    fronts = rows.fronts
    sizes = np.bincount(fronts.owner, minlength=len(rows)).tolist()
    values = _split(_variants(rows, fronts.rows, fronts.owner), sizes)
    losses = _split(_losses(fronts.losses), sizes)
    changes = _split(_letters(fronts.changes), sizes)
    return [
        {
            "values": own_values,
            "losses": own_losses,
            **({"changes": letters} if None not in letters else {}),
        }
        if own_values
        else None
        for own_values, own_losses, letters in zip(values, losses, changes, strict=True)
    ]


def _letters(changes: Array) -> list[str | None]:
    """Return what became of the cells of each member of a front; ``None`` where not known."""
    return [
        None if UNKNOWN_CHANGE in own else "".join(CHANGE_LETTERS[code] for code in own)
        for own in changes.tolist()
    ]


def _diagnosis(diagnosis: Diagnosis) -> Any:
    needed = None if diagnosis.needed is None else float(diagnosis.needed)
    blockers = [*map(_blocker, diagnosis.blockers)]
    return plain_json({**vars(diagnosis), "needed": needed, "blockers": blockers})


def _blocker(blocker: Blocker) -> Plain:
    record = dict(vars(blocker))
    if blocker.value is None:
        del record["value"]  # as in texts from before there was one
    return record


def _variants(rows: ExplainedRows, variants: Array, owner: Array) -> list[list[Any]]:
    """Return variants ``(n, f)`` of the explained rows at ``owner (n,)`` as plain values."""
    codec = rows.context.codec
    raw = codec.raw_of_changes(variants, rows.factual[owner], rows.raw[owner])
    return _lists(rows.context, raw)


def _objects(context: Context, raw: Array) -> list[Plain]:
    """Return rows ``(n, f)`` in raw units as plain values by feature."""
    names = context.codec.schema.names
    return [dict(zip(names, values, strict=True)) for values in _lists(context, raw)]


def _lists(context: Context, raw: Array) -> list[list[Any]]:
    """Return rows ``(n, f)`` in raw units as lists of plain values."""
    columns = [
        plain_column(feature, values)
        for feature, values in zip(context.codec.schema, raw.T.tolist(), strict=True)
    ]
    return [list(values) for values in zip(*columns, strict=True)]


def _losses(losses: Array) -> list[list[float | None]]:
    return [[finite_or_none(loss) for loss in own] for own in losses.tolist()]


def _split(items: list[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Return a list in parts of some sizes."""
    remaining = iter(items)
    return [list(islice(remaining, size)) for size in sizes]
