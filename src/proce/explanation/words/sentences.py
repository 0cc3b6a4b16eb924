"""An explanation in plain words: what to do, what the model then says, what follows, cautions."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proce.causal.graphs.features import cut_edges
from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import MODEL_FAILED, UNKNOWN_CLASS, Change, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.certainty import certainty_texts, doubt_texts, robustness_texts
from proce.explanation.words.decision import now_text, then_and_now
from proce.explanation.words.instructions import condition, consequence, instructions, is_waiting
from proce.explanation.words.values import (
    class_texts,
    joined,
    name_text,
    name_texts,
    percents,
    plain_value_text,
)
from proce.schema import Action, Codec, Continuous, Level

MAX_SHOWN = 4  # consequences written out; all actions are
_MAX_NAMES = 6  # names in one sentence
_MAX_CAUSES = 3  # causes named as assumptions
_NO_PROOF = "This describes the model and this search; it does not prove that there is no way."


LineKind = Literal[
    "action",
    "contrast",
    "consequence",
    "outcome",
    "doubt",  # that this is unsure
    "certainty",  # what it rests on
    "fixed",  # what could not change, and who says so
    "note",
    "search",  # how the search ended, and what else it found
    "caution",
    "summary",  # of several rows
]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and what it is about, so that a page can show its kinds differently."""

    kind: LineKind
    text: str


def sentences(row: ExplainedRow, rank: int = 1) -> list[str]:
    """Return the counterfactual of a rank in plain words: actions first, consequences after."""
    return [line.text for line in lines(row, rank)]


def lines(row: ExplainedRow, rank: int = 1) -> list[Line]:
    """Return the sentences for the counterfactual of a rank, each with what it is about."""
    if not len(row):
        return lines_without_counterfactual(row)
    if not 1 <= rank <= len(row):
        raise SearchError(f"rank is {rank}; row {row.row} has the counterfactuals 1 to {len(row)}.")
    return lines_of_counterfactual(row, row_cells(row)[rank - 1], rank)


def recommended_lines(row: ExplainedRow, ranked: Sequence[Sequence[ChangedCell]]) -> list[Line]:
    """Return the sentences for the recommended counterfactual, given the cells of each rank."""
    if not ranked:
        return lines_without_counterfactual(row)
    return lines_of_counterfactual(row, ranked[0])


def common_lines(told: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the sentences that are the same for several rows, to be said once for all of them."""
    # Cautions and what could not change, where two rows or more have them; notes that all have.
    counts = Counter(line for lines in told for line in dict.fromkeys(lines))
    n_needed: dict[LineKind, int] = {"fixed": 2, "caution": 2, "note": max(2, len(told))}
    found = [line for line, n in counts.items() if n >= n_needed.get(line.kind, len(told) + 1)]
    return [line for kind in n_needed for line in found if line.kind == kind]


def plain_text(lines: Sequence[Line]) -> str:
    """Return sentences as text, a line each, with the consequences indented."""
    indents = {"consequence": "  "}
    return "\n".join(indents.get(line.kind, "") + line.text for line in lines)


def lines_of_counterfactual(
    row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1
) -> list[Line]:
    """Return the sentences for the counterfactual of a rank, whose changed cells are given."""
    context = row.context
    actions = [cell for cell in cells if cell.kind.by_hand]
    effects = [cell for cell in cells if cell.kind is Change.CONSEQUENCE and not is_waiting(cell)]
    parts: dict[LineKind, Sequence[str]] = {
        "action": instructions(cells, context),
        "contrast": [_contrast(row, actions, effects, rank)],
        "consequence": [
            *(consequence(cell, context) for cell in effects[:MAX_SHOWN]),
            *_further_consequences(effects),
        ],
        "doubt": doubt_texts(row, cells, rank),
        "certainty": [*_assumptions(row, cells, rank), *_narrow_pass(row, rank)],
        "fixed": limits_of_request(context),
        "note": row.notes,
        "search": _search_notes(row, rank),
        "caution": [caution(context)],
    }
    return [Line(kind, text) for kind, texts in parts.items() for text in texts]


def lines_without_counterfactual(row: ExplainedRow) -> list[Line]:
    """Return the sentences for a row without a counterfactual."""
    notes = [Line("note", note) for note in row.notes]
    ending = Line("outcome", _ending(row))
    was_searched = row.outcome is not Outcome.ALREADY_TARGET and row.predicted != UNKNOWN_CLASS
    if not was_searched:
        return [ending, *notes]
    fixed = [Line("fixed", text) for text in limits_of_request(row.context)]
    return [ending, *fixed, *notes, Line("caution", _NO_PROOF)]


def _ending(row: ExplainedRow) -> str:
    """Return why a row has no counterfactual."""
    target = _target_text(row)
    if row.outcome is Outcome.ALREADY_TARGET:
        return f"The model already says {target} ({now_text(row)}): nothing needs to change."
    if row.diagnosis is not None:
        return row.diagnosis.reason
    if row.outcome is Outcome.FAILED:
        return MODEL_FAILED
    if row.outcome is not Outcome.OUT_OF_TIME:
        return f"No change was found for which the model says {target}."
    if row.predicted == UNKNOWN_CLASS:
        return "The time ran out before this row was reached: allow more time."
    return f"The time ran out before a change was found for {target}: allow more time."


def caution(context: Context) -> str:
    """Return the caution that ends every explanation, by where the causal graph came from."""
    start = "This describes what the model says at these values; it is not a promise."
    if not context.edges:
        return f"{start} Without a causal graph, what else would change with them is left out."
    if context.origin is None:
        return f"{start} It relies on a causal graph."
    if context.graph_was_learned:
        learned_by = str(context.origin).replace("direct_lingam", "DirectLiNGAM")
        return f"{start} The causal graph was learned from data ({learned_by}) and may be wrong."
    if context.graph_was_edited:
        return f"{start} The causal graph was edited by a person for this question, not learned."
    return f"{start} The causal graph was given by a person, not learned."


def _target_text(row: ExplainedRow) -> str:
    return class_texts(row)[1]


def _further_consequences(effects: Sequence[ChangedCell]) -> list[str]:
    names = [name_text(cell.feature) for cell in effects[MAX_SHOWN:]]
    return [f"It would likely also move {joined(names, _MAX_NAMES)}."] if names else []


def _contrast(
    row: ExplainedRow, actions: Sequence[ChangedCell], effects: Sequence[ChangedCell], rank: int
) -> str:
    then, now = then_and_now(row, rank)
    premise = f"all {len(actions)} changes had been made"
    if len(actions) <= MAX_SHOWN:
        parts = [condition(cell, row.context) for cell in actions]
        has_commas = any(", " in part for part in parts)
        premise = ", and ".join(parts) if has_commas else joined(parts)
    pronoun = "them" if len(actions) > 1 else "it"
    following = f", with what follows from {pronoun}" if effects else ""
    return (
        f"If {premise}{following}, the model would have said"
        f" {_target_text(row)} ({then}; it was {now})."
    )


def _assumptions(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int) -> list[str]:
    """Return what the consequences rest on, and in how many graphs and refits they hold."""
    context = row.context
    moved = {cell.feature.name for cell in cells if cell.kind is not Change.HOLD}
    following = {cell.feature.name for cell in cells if cell.kind is not Change.ACTION}
    effects: dict[str, list[str]] = {}
    for cause, effect in context.edges:
        if cause in moved and effect in following:
            named_cause, named_effect = name_texts(context, (cause, effect))
            effects.setdefault(named_cause, []).append(named_effect)
    parts = [f"{cause} affects {joined(names, MAX_SHOWN)}" for cause, names in effects.items()]
    n_more = len(parts) - _MAX_CAUSES
    rest = f", and the effects of {n_more} more" if n_more > 0 else ""
    texts = []
    if parts:
        texts.append(f"This assumes that {_assumed(parts[:_MAX_CAUSES], bool(rest))}{rest}.")
    texts += certainty_texts(row, cells, rank)
    texts += robustness_texts(row, rank)
    return texts


def _assumed(parts: list[str], goes_on: bool) -> str:
    """Return what is assumed, one thing after another; the last one closes the list."""
    if goes_on or len(parts) < 2:
        return ", that ".join(parts)
    return f"{', that '.join(parts[:-1])}, and that {parts[-1]}"


def _narrow_pass(row: ExplainedRow, rank: int) -> list[str]:
    if row.margin_met:
        return []
    reason = "the margin beyond the decision could not be had"
    if len(row.context.classes) == 2:
        reached, needed = percents(row.probabilities[rank - 1].item(), row.needed)
        reason = f"{reached}, where {needed} was aimed for and could not be had"
    return [f"This is a narrow pass: {reason}. A small difference can undo it."]


def _search_notes(row: ExplainedRow, rank: int) -> list[str]:
    texts = []
    if row.outcome is Outcome.OUT_OF_TIME:
        texts.append("The time ran out during the search: there may be a shorter way.")
    n_others = len(row) - 1
    if rank == 1 and n_others:
        texts.append(f"{n_others} other way{'s were' if n_others > 1 else ' was'} found.")
    return texts


def limits_of_request(context: Context) -> list[str]:
    """Return what could not change, and whether the schema or the request says so."""
    schema = context.codec.schema
    fixed = [name_text(f) for f in schema if f.action is Action.FIXED]
    indirect = [name_text(f) for f in schema if f.action is Action.INDIRECT]
    waiting = [name_text(f) for f in schema if f.action is Action.WAITS]
    texts = []
    if fixed:
        texts.append(f"Held fixed by the schema: {joined(fixed, _MAX_NAMES)}.")
    if waiting:
        texts.append(f"Moved by time alone, by the schema: {joined(waiting, _MAX_NAMES)}.")
    kinds = " or ".join(filter(None, ["is fixed" * bool(fixed), "waits" * bool(waiting)]))
    cut = _cut_edges(context) if context.view == "auditor" else {}
    if cut:
        parts = [f"{effect} (from {joined(causes, _MAX_NAMES)})" for effect, causes in cut.items()]
        texts.append(
            f"The causal graph's arrows into what {kinds} were left out:"
            f" {joined(parts, _MAX_NAMES)}."
        )
    if indirect:
        names = joined(indirect, _MAX_NAMES)
        texts.append(f"Never acted on, by the schema, but may follow: {names}.")
    if context.vary is not None:
        names = joined(name_texts(context, context.vary), _MAX_NAMES)
        texts.append(f"Only these could be acted on, by this request: {names}.")
    texts += [
        f"Kept {_range_text(context, name)} by this request: {name_text(schema[name])}."
        for name in context.ranges
    ]
    return texts


def _range_text(context: Context, name: str) -> str:
    """Return the range of a request in words: only the ends that hold something back."""
    widest = _widest(context.codec, name)
    limits = tuple(
        end if isinstance(limit, float) and math.isinf(limit) else limit
        for limit, end in zip(context.ranges[name], widest, strict=True)
    )
    low, high = (plain_value_text(context, name, limit) for limit in limits)
    if limits[0] == limits[1]:
        return f"at {low}"
    ends = (*limits, *widest)
    first, last, lowest, highest = (float(context.codec.encode_value(name, end)) for end in ends)
    if first <= lowest and last < highest:
        return f"at {high} or below"
    if last >= highest and first > lowest:
        return f"at {low} or above"
    return f"between {low} and {high}"


def _widest(codec: Codec, name: str) -> tuple[Level, Level]:
    """Return the ends that hold where a request names none."""
    position = codec.schema.position(name)
    feature = codec.schema.features[position]
    if not isinstance(feature, Continuous):
        return feature.levels[0], feature.levels[-1]
    return feature.range or (codec.seen_low[position].item(), codec.seen_high[position].item())


def _cut_edges(context: Context) -> dict[str, list[str]]:
    """Return the causes of each fixed feature: nothing moves it, so these edges are cut."""
    cut: dict[str, list[str]] = {}
    for cause, effect in cut_edges(context.edges, context.codec.schema):
        named_cause, named_effect = name_texts(context, (cause, effect))
        cut.setdefault(named_effect, []).append(named_cause)
    return cut
