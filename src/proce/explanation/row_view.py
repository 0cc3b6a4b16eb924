"""What is told of one row, in words and numbers: report, page, notebook and letter draw it.

The first of the ways is the recommended one; within a way stand the actions, then the holds, then
the consequences, of each the largest change first.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array, cells_differ
from proce.compiled.copies import groups_of, rounded
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import (
    UNKNOWN_CHANGE,
    UNKNOWN_CLASS,
    Blocker,
    Change,
    Counterfactuals,
    Diagnosis,
    count_actions,
    ways_text,
)
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.explanation.words.cells import (
    ChangedCell,
    changed_cells,
    plain_value,
    ranked_cells,
    row_cells,
)
from proce.explanation.words.certainty import is_unsure
from proce.explanation.words.decision import (
    added_points,
    decision_line,
    decision_text,
    now_text,
    then_and_now,
    then_text,
)
from proce.explanation.words.instructions import (
    consequence,
    decides_fact,
    effect_text,
    instructions,
    interval_text,
    kind_of,
)
from proce.explanation.words.sentences import (
    Line,
    LineKind,
    lines_of_counterfactual,
    lines_without_counterfactual,
)
from proce.explanation.words.values import (
    change_texts,
    class_texts,
    name_text,
    plain_value_text,
    row_label,
    share_text,
    value_text,
)
from proce.losses import Loss, chance_of_loss
from proce.schema import Action, Continuous, Feature, Layout, Level
from proce.schema.features.naming import spoken_name

Facts = Sequence[tuple[str, str]]  # names and values
_SAME = 1e-6  # distances and probabilities this near are one
_ACTION_TEXTS = {
    Action.FIXED: "fixed",
    Action.INDIRECT: "only follows",
    Action.WAITS: "goes with time",
}
_LIMIT_TEXTS = {
    "vary": "what may vary, by this request",
    "max_changes": "the number of changes",
    "min_probability": "the probability asked for",
    "robust": "holding under other models, as asked for",
    "rule": "the rule",
    "range": "the range",
    "fixed": "held fixed by the schema",
    "indirect": "never acted on, by the schema",
    "increase": "may only rise, by the schema",
    "decrease": "may only fall, by the schema",
    "waits": "moved by time alone, by the schema",
    "protected": "protected by the schema",
    "search": "a setting of the search",
}


@dataclass(frozen=True, slots=True)
class ValueView:
    """A value of the row."""

    feature: Feature
    label: str
    value: Level | None
    text: str
    limit: str  # what the schema says of the feature; empty where it may be acted on


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A changed cell with its texts."""

    cell: ChangedCell
    label: str
    kind: str  # action, hold, wait or consequence
    before: str
    after: str

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.cell.feature.name

    @property
    def mark(self) -> str:
        """How a picture marks it, whoever moves it: ``action``, ``hold`` or ``consequence``."""
        return self.cell.kind.name.lower()


@dataclass(frozen=True, slots=True)
class StepView:
    """A change as a step of a way: what to do, or what is expected to follow."""

    change: ChangeView
    sentence: str
    effect: str  # of a consequence: its sentence without the reservation
    interval: str | None  # between which values an action's may lie
    facts: Facts


@dataclass(frozen=True, slots=True)
class WayView:
    """A counterfactual of the row."""

    rank: int
    probability: float
    distance: float
    confidence: float | None
    is_unsure: bool
    is_outdone: bool  # the front has one that is nearer and likelier: told for being different
    reached: str  # the probability, by itself
    then: str  # the probability as it is told beside that of the row as it is
    now: str
    steps: Sequence[StepView]
    lines: Sequence[Line]

    @property
    def actions(self) -> list[StepView]:
        """What a person does, or holds."""
        return [step for step in self.steps if step.change.cell.kind.by_hand]

    @property
    def consequences(self) -> list[StepView]:
        """What follows from what a person does; what time moves goes with the waiting."""
        return [step for step in self.steps if step.change.kind == "consequence"]

    def texts(self, kind: LineKind) -> list[str]:
        """Return the sentences of one kind."""
        return texts_of(self.lines, kind)


@dataclass(frozen=True, slots=True)
class BlockerView:
    """A limit without which there is a way."""

    blocker: Blocker
    way: str  # under which condition there is one
    limit: str  # what the limit is, and of what


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the candidate that came nearest differs from the row."""

    name: str
    label: str
    before: Any
    after: Any
    before_text: str
    after_text: str


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """Why nothing was found."""

    diagnosis: Diagnosis
    reason: str  # without what would open a way, which the blockers say
    blockers: Sequence[BlockerView]
    differences: Sequence[Difference]


@dataclass(frozen=True, slots=True)
class FrontMember:
    """A candidate that no other outdoes in everything; those that are told have a rank."""

    rank: int | None
    probability: float
    distance: float
    prototype: float
    n_actions: int
    changes: Sequence[ChangeView]


@dataclass(frozen=True, slots=True)
class RowView:
    """Everything that is told of a row, but for its front."""

    row: ExplainedRow
    label: str
    predicted: str
    target: str
    decision: str
    now: str
    needed: float | None  # the probability that is aimed for; None where the likeliest counts
    decides: float | None  # from where on a model of two classes decides so
    values: Sequence[ValueView]
    ways: Sequence[WayView]
    lines: Sequence[Line]  # of the recommended way, or of the row without one
    diagnosis: DiagnosisView | None

    @property
    def recommended(self) -> WayView | None:
        """The first of the ways; ``None`` without any."""
        return self.ways[0] if self.ways else None


def texts_of(lines: Sequence[Line], kind: LineKind) -> list[str]:
    """Return the sentences of one kind."""
    return [line.text for line in lines if line.kind == kind]


def row_view(row: ExplainedRow, ranked: Sequence[Sequence[ChangedCell]] | None = None) -> RowView:
    """Return what is told of a row, given the changed cells of each of its ways where known."""
    ranked = row_cells(row) if ranked is None else ranked
    predicted, target = class_texts(row)
    ways = [_way(row, rank, cells) for rank, cells in enumerate(ranked, 1)]
    return RowView(
        row=row,
        label=row_label(row),
        predicted=predicted,
        target=target,
        decision=decision_text(row),
        now=now_text(row),
        needed=None if row.target == UNKNOWN_CLASS else row.needed or None,
        decides=decision_line(row),
        values=_values(row),
        ways=ways,
        lines=ways[0].lines if ways else lines_without_counterfactual(row),
        diagnosis=None if ways or row.diagnosis is None else _diagnosis(row, row.diagnosis),
    )


def row_views(rows: ExplainedRows, layout: Layout | None = None) -> list[RowView]:
    """Return what is told of rows, named as in the layout of their frame."""
    return [
        row_view(ExplainedRow(rows, index, layout), ranked)
        for index, ranked in enumerate(ranked_cells(rows))
    ]


def change_view(cell: ChangedCell, context: Context) -> ChangeView:
    """Return a changed cell with its texts."""
    return ChangeView(cell, name_text(cell.feature), kind_of(cell), *change_texts(cell, context))


def front_of(view: RowView) -> list[FrontMember]:
    """Return the ways that are told, by rank, and the other members of the front."""
    row, n_told = view.row, len(view.ways)
    counts = count_actions(row.changes).tolist()
    told = [
        _member(way.rank, way.probability, losses, count, [step.change for step in way.steps])
        for way, losses, count in zip(view.ways, row.losses, counts, strict=True)
    ]
    front = row.front
    if front is None:
        return told
    firsts, group = groups_of(rounded(np.concatenate([row.rows, front.rows])))
    others = np.flatnonzero(firsts[group[n_told:]] >= n_told)
    rows, losses = front.rows[others], front.losses[others]
    kinds = _kinds(row, rows, front.changes[others])
    owner, unknown = np.full(len(rows), row.index), np.zeros(len(rows))
    ways = Counterfactuals.of(owner, rows, kinds, unknown, np.zeros_like(losses))
    cells = changed_cells(row.record, ways).by_counterfactual()
    members = zip(
        chance_of_loss(losses[:, Loss.PREDICTION]).tolist(),
        losses,
        count_actions(kinds).tolist(),
        [[change_view(cell, row.context) for cell in own] for own in cells],
        strict=True,
    )
    return told + [_member(None, *member) for member in members]


def _values(row: ExplainedRow) -> list[ValueView]:
    codec = row.context.codec
    cells = zip(codec.schema, row.raw.tolist(), codec.span.tolist(), strict=True)
    return [
        ValueView(
            feature,
            name_text(feature),
            plain_value(feature, value),
            value_text(feature, value, span),
            _ACTION_TEXTS.get(feature.action, ""),
        )
        for feature, value, span in cells
    ]


def _way(row: ExplainedRow, rank: int, cells: Sequence[ChangedCell]) -> WayView:
    then, now = then_and_now(row, rank)
    confidence = None if row.confidence is None else row.confidence[rank - 1].item()
    return WayView(
        rank=rank,
        probability=row.probabilities[rank - 1].item(),
        distance=row.losses[rank - 1, Loss.DISTANCE].item(),
        confidence=confidence,
        is_unsure=is_unsure(row, rank),
        is_outdone=rank > 1 and _is_outdone(row, rank),
        reached=then_text(row, rank),
        then=then,
        now=now,
        steps=_steps(row, rank, cells),
        lines=lines_of_counterfactual(row, cells, rank),
    )


def _steps(row: ExplainedRow, rank: int, cells: Sequence[ChangedCell]) -> list[StepView]:
    context = row.context
    by_hand = [cell for cell in cells if cell.kind.by_hand]
    told = dict(zip((c.position for c in by_hand), instructions(cells, context), strict=True))
    steps = []
    for cell in cells:
        change = change_view(cell, context)
        sentence = told.get(cell.position) or consequence(cell, context)
        if change.kind == "wait" and not cell.kind.by_hand:
            moved = f"{change.label} from {change.before} to {change.after}"
            sentence = f"Time alone moves {moved}."
        steps.append(
            StepView(
                change=change,
                sentence=sentence,
                effect=f"{effect_text(cell, context)}.",
                interval=interval_text(cell, context),
                facts=_facts(row, rank, cell, len(by_hand)),
            )
        )
    return steps


def _facts(row: ExplainedRow, rank: int, cell: ChangedCell, n_by_hand: int) -> Facts:
    """Return what else is known of a change; what it adds is told where it is not the only one."""
    facts = decides_fact(cell, row.context)
    if row.contributions is not None and n_by_hand > 1 and cell.kind is Change.ACTION:
        added = row.contributions[rank - 1, cell.position].item()
        facts.append(("adds to the probability", added_points(added)))
    shares = (row.context.spread or {}).get(cell.feature.name, ())
    if shares and not isinstance(cell.feature, Continuous) and cell.before != cell.after:
        codes = [int(code) for code in (cell.before, cell.after) if code >= 0]
        told = " → ".join(share_text(shares[code]) for code in codes)
        facts.append(("share of the training rows", told))
    return facts


def _is_outdone(row: ExplainedRow, rank: int) -> bool:
    """Whether the front has a way that is both nearer and likelier than the one of a rank."""
    if row.front is None:
        return False
    losses = row.front.losses
    is_nearer = losses[:, Loss.DISTANCE] < row.losses[rank - 1, Loss.DISTANCE] - _SAME
    probabilities = chance_of_loss(losses[:, Loss.PREDICTION])
    is_likelier = probabilities > row.probabilities[rank - 1] + _SAME
    return bool((is_nearer & is_likelier).any())


def _diagnosis(row: ExplainedRow, diagnosis: Diagnosis) -> DiagnosisView:
    return DiagnosisView(
        diagnosis,
        diagnosis.reason.removesuffix(ways_text(diagnosis.blockers)),
        [_blocker(row.context, blocker) for blocker in diagnosis.blockers],
        _differences(row, diagnosis.closest_miss or {}),
    )


def _blocker(context: Context, blocker: Blocker) -> BlockerView:
    schema, name = context.codec.schema, blocker.name
    if name in schema:
        name = name_text(schema[name])
    elif blocker.kind != "rule":
        name = spoken_name(name)
    limit = _LIMIT_TEXTS.get(blocker.kind, blocker.kind)
    way = f"{blocker.relaxation[:1].upper()}{blocker.relaxation[1:]}"
    return BlockerView(blocker, way, f"{limit}: {name}" if name else limit)


def _differences(row: ExplainedRow, candidate: Mapping[str, Any]) -> list[Difference]:
    """Return where a candidate differs; what a text from elsewhere calls so is shown as it is."""
    context = row.context
    schema = context.codec.schema
    values = zip(schema, row.raw.tolist(), strict=True)
    own = {feature.name: plain_value(feature, value) for feature, value in values}
    differences = []
    for name, after in candidate.items():
        if name not in own or not _is_plain(after):
            differences.append(Difference(name, spoken_name(name), None, after, "", str(after)))
        elif own[name] != after:
            texts = (plain_value_text(context, name, value) for value in (own[name], after))
            label = name_text(schema[name])
            differences.append(Difference(name, label, own[name], after, *texts))
    return differences


def _is_plain(value: Any) -> bool:
    """Whether a feature can have a value: a text from elsewhere holds anything."""
    if isinstance(value, int | float):
        return abs(value) <= sys.float_info.max
    return value is None or isinstance(value, str)


def _member(
    rank: int | None,
    probability: float,
    losses: Array,
    n_actions: int,
    changes: Sequence[ChangeView],
) -> FrontMember:
    distance, prototype = losses[Loss.DISTANCE].item(), losses[Loss.PROTOTYPE].item()
    return FrontMember(rank, probability, distance, prototype, n_actions, changes)


def _kinds(row: ExplainedRow, rows: Array, changes: Array) -> Array:
    """Return a ``Change`` for each cell of members ``(p, f)`` of the front."""
    is_unknown = changes == UNKNOWN_CHANGE
    if not bool(is_unknown.any()):
        return changes
    context = row.context
    names = context.codec.schema.names
    changed = cells_differ(rows, row.factual)
    can_act = np.array(
        [
            f.can_be_acted_on and (context.vary is None or f.name in context.vary)
            for f in context.codec.schema
        ]
    )
    follows = np.zeros_like(changed)
    for cause, effect in context.edges:
        follows[:, names.index(effect)] |= changed[:, names.index(cause)]
    told = np.where(can_act & ~follows, int(Change.ACTION), int(Change.CONSEQUENCE))
    return np.where(is_unknown, told * changed, changes).astype(np.int8)
