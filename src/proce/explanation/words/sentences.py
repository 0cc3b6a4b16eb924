"""An explanation in plain words: what to do, the contrast, what follows, what to know."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.result.explanation import Change, Explanation, Outcome
from proce.explanation.words.cells import Cell, cells_of
from proce.explanation.words.values import (
    cell_texts,
    class_text,
    joined,
    level_text,
    name_text,
    percent,
    percents,
    value_text,
)
from proce.schema import Action, Categorical, Continuous, Level

MOST_SHOWN = 4  # actions, or consequences, told at once
_MOST_NAMES = 6
_MOST_CAUSES = 3  # named as assumptions
_VERBS = {1: "raise", -1: "lower", 0: "change"}
_INTRANSITIVE = {1: "rise", -1: "fall", 0: "change"}


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and what it tells, for whoever sets consequences apart.

    Attributes
    ----------
    kind
        ``action``, ``contrast``, ``consequence``, ``outcome``, ``certainty`` (what it rests on),
        ``fixed`` (what could not change, and who says so), ``note`` or ``caution``.
    text
        The sentence.
    """

    kind: str
    text: str


def sentences(explanation: Explanation, rank: int = 1) -> list[str]:
    """Return the explanation in plain words: actions first, consequences after."""
    return [line.text for line in lines(explanation, rank)]


def lines(explanation: Explanation, rank: int = 1) -> list[Line]:
    """Return the sentences for one counterfactual, each with what it tells."""
    if not len(explanation):
        return told(explanation, ())
    if not 1 <= rank <= len(explanation):
        raise SearchError(
            f"rank is {rank}; row {explanation.row} has the counterfactuals 1 to"
            f" {len(explanation)}."
        )
    return told(explanation, cells_of([explanation])[0][rank - 1], rank)


def told(explanation: Explanation, cells: Sequence[Cell], rank: int = 1) -> list[Line]:
    """Return the sentences for the counterfactual whose cells are given."""
    if not len(explanation):
        return _told_without(explanation)
    context = explanation.context
    acts = [cell for cell in cells if cell.kind in (Change.ACTION, Change.HOLD)]
    follows = [cell for cell in cells if cell.kind is Change.CONSEQUENCE]
    parts = {
        "action": [*(instruction(cell, context) for cell in acts[:MOST_SHOWN]), *_rest(acts)],
        "contrast": [_contrast(explanation, acts, follows, rank)],
        "consequence": [
            *(consequence(cell, context) for cell in follows[:MOST_SHOWN]),
            *_further(follows),
        ],
        "certainty": [*_uncertainty(explanation, cells, rank), *_margin(explanation, rank)],
        "fixed": _held_fixed(context),
        "note": [*explanation.notes, *_search_note(explanation, rank)],
        "caution": [caution(context)],
    }
    return [Line(kind, text) for kind, texts in parts.items() for text in texts]


def _told_without(explanation: Explanation) -> list[Line]:
    """Return the sentences for a row without a counterfactual."""
    notes = [Line("note", note) for note in explanation.notes]
    says = class_text(_target(explanation))
    if explanation.outcome is Outcome.ALREADY_TARGET:
        chance = percent(explanation.probability)
        text = f"The model already says {says} ({chance}): nothing needs to change."
        return [Line("outcome", text), *notes]
    if explanation.outcome is Outcome.OUT_OF_TIME:
        text = f"The time ran out before a change was found for {says}: allow more time."
    elif explanation.diagnosis is not None:
        text = explanation.diagnosis.reason
    else:
        text = f"No change was found for which the model says {says}."
    fixed = [Line("fixed", line) for line in _held_fixed(explanation.context)]
    return [Line("outcome", text), *fixed, *notes, Line("caution", _NO_PROOF)]


def instruction(cell: Cell, context: Context) -> str:
    """Return what to do about one feature: ``Raise savings from 2,000 to at least 3,500.``"""
    name, before, after = _texts(cell, context)
    if cell.kind is Change.HOLD:
        span = context.codec.span[cell.position].item()
        would = value_text(cell.feature, cell.expected, span)
        moves = _INTRANSITIVE[_direction(cell, cell.expected)]
        known = cell.expected == cell.expected  # not NaN
        although = f"it would {moves} to {would}" if known else "what affects it changes"
        return f"Keep {name} at {before}, although {although}."
    if cell.before != cell.before:
        return f"Set {name} to {after}; it is missing now."
    direction = _direction(cell, cell.after)
    verb = _VERBS[direction].capitalize()
    bound = {1: "at least ", -1: "at most ", 0: ""}[direction]
    return f"{verb} {name} from {before} to {bound * _is_number(cell)}{after}."


def caution(context: Context) -> str:
    """Return the one thing to keep in mind, for the inside of a result."""
    start = "This describes what the model says at these values; it is not a promise."
    if not context.edges:
        return f"{start} Without a causal graph, what else would change with them is left out."
    if context.origin is None:
        return f"{start} It relies on a causal graph."
    if learned(context):
        return (
            f"{start} The causal graph was learned from data ({context.origin}) and may be wrong."
        )
    return f"{start} The causal graph was given by a person, not learned."


def learned(context: Context) -> bool:
    """Whether the graph was read off data rather than given."""
    return bool(context.edges) and context.origin not in (None, "given")


_NO_PROOF = "This describes the model and this search; it does not prove that there is no way."


def _target(explanation: Explanation) -> Level:
    return explanation.context.classes[explanation.target]


def _texts(cell: Cell, context: Context) -> tuple[str, str, str]:
    before, after = cell_texts(cell, context.codec.span[cell.position].item())
    return name_text(cell.feature.name), before, after


def _is_number(cell: Cell) -> bool:
    return isinstance(cell.feature, Continuous)


def _direction(cell: Cell, to: float) -> int:
    """Return 1 up, -1 down, 0 where there is no order."""
    if isinstance(cell.feature, Categorical):
        return 0
    return (to > cell.before) - (to < cell.before)


def _rest(acts: Sequence[Cell]) -> list[str]:
    left = len(acts) - MOST_SHOWN
    if left <= 0:
        return []
    return [f"And {left} smaller change{'s' * (left > 1)}."]


def _contrast(
    explanation: Explanation, acts: Sequence[Cell], follows: Sequence[Cell], rank: int
) -> str:
    new, old = percents(explanation.probabilities[rank - 1].item(), explanation.probability)
    condition = f"all {len(acts)} changes had been made"
    if len(acts) <= MOST_SHOWN:
        condition = joined([_condition(cell, explanation.context) for cell in acts])
    them = "them" if len(acts) > 1 else "it"
    following = f", with what follows from {them}" if follows else ""
    return (
        f"If {condition}{following}, the model would have said"
        f" {class_text(_target(explanation))} ({new}; it was {old})."
    )


def _condition(cell: Cell, context: Context) -> str:
    name, before, after = _texts(cell, context)
    if cell.kind is Change.HOLD:
        return f"{name} had stayed at {before}"
    return f"{name} had been {after}"


def consequence(cell: Cell, context: Context) -> str:
    """Return what follows for one feature, worded apart from what to do."""
    name, before, after = _texts(cell, context)
    verb = _VERBS[_direction(cell, cell.after)]
    if learned(context):
        near = "about " * _is_number(cell)
        return (
            f"This may also {verb} {name} from {before} to {near}{after}: expected if the graph"
            " learned from the data is right, not something to do."
        )
    return (
        f"This would likely also {verb} {name} from {before} to {after}:"
        " expected, not something to do."
    )


def _further(follows: Sequence[Cell]) -> list[str]:
    left = [name_text(cell.feature.name) for cell in follows[MOST_SHOWN:]]
    return [f"It would likely also move {joined(left, _MOST_NAMES)}."] if left else []


def _uncertainty(explanation: Explanation, cells: Sequence[Cell], rank: int) -> list[str]:
    """Return what the consequences rest on, and in how many graphs they hold."""
    context = explanation.context
    moved = {cell.feature.name for cell in cells if cell.kind is not Change.HOLD}
    follow = {cell.feature.name for cell in cells if cell.kind is not Change.ACTION}
    effects: dict[str, list[str]] = {}
    for cause, effect in context.edges:
        if cause in moved and effect in follow:
            effects.setdefault(name_text(cause), []).append(name_text(effect))
    parts = [f"{cause} affects {joined(each, MOST_SHOWN)}" for cause, each in effects.items()]
    more = len(parts) - _MOST_CAUSES
    rest = f", and the effects of {more} more" if more > 0 else ""
    told = [f"This assumes that {', and that '.join(parts[:_MOST_CAUSES])}{rest}."] * bool(parts)
    if explanation.support is not None and context.n_graphs:
        count = int(explanation.support[rank - 1])
        told.append(f"It holds in {count} of {context.n_graphs} graphs learned from this data.")
    if explanation.refits is not None and int(explanation.refits[rank - 1]) < context.n_refits:
        told.append(refit_text(explanation, rank))
    return told


def refit_text(explanation: Explanation, rank: int = 1) -> str:
    """Return how often the way still leads there when the equations are fitted again."""
    assert explanation.refits is not None, "there are refits"
    return (
        f"It still reaches {class_text(_target(explanation))} in"
        f" {int(explanation.refits[rank - 1])} of {explanation.context.n_refits} refits of the"
        " equations on resampled rows."
    )


def _margin(explanation: Explanation, rank: int) -> list[str]:
    if explanation.margin_met:
        return []
    context = explanation.context
    asked = "the margin that was asked for could not be had"
    if len(context.classes) == 2:
        reached, needed = percents(explanation.probabilities[rank - 1].item(), explanation.needed)
        asked = f"{reached}, where {needed} was asked for and could not be had"
    return [f"This is a narrow pass: {asked}. A small difference can undo it."]


def _held_fixed(context: Context) -> list[str]:
    """Return what could not change, and who says so."""
    schema = context.codec.schema
    fixed = _names(f.name for f in schema if f.action is Action.FIXED)
    indirect = _names(f.name for f in schema if f.action is Action.INDIRECT)
    told = []
    if fixed:
        told.append(f"Held fixed by the schema: {joined(fixed, _MOST_NAMES)}.")
    if indirect:
        names = joined(indirect, _MOST_NAMES)
        told.append(f"Never acted on, by the schema, but may follow: {names}.")
    if context.vary is not None:
        names = joined(_names(context.vary), _MOST_NAMES)
        told.append(f"Only these could be acted on, by this request: {names}.")
    for name, limits in context.ranges.items():
        low, high = (_limit_text(context, name, limit) for limit in limits)
        told.append(f"Kept between {low} and {high} by this request: {name_text(name)}.")
    return told


def _names(names: Iterable[str]) -> list[str]:
    return [name_text(name) for name in names]


def _limit_text(context: Context, name: str, limit: Level) -> str:
    feature = context.codec.schema[name]
    if not isinstance(feature, Continuous) or isinstance(limit, str):
        return level_text(limit)
    span = context.codec.span[context.codec.schema.position(name)].item()
    return value_text(feature, float(limit), span)


def _search_note(explanation: Explanation, rank: int) -> list[str]:
    told = []
    if explanation.outcome is Outcome.OUT_OF_TIME:
        told.append("The time ran out during the search: there may be a shorter way.")
    others = len(explanation) - 1
    if rank == 1 and others:
        told.append(f"{others} other way{'s were' if others > 1 else ' was'} found.")
    return told
