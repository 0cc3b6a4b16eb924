"""One changed cell in words: what to do about it, or what is expected to follow."""

from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import change_texts, name_text, value_text
from proce.schema import Categorical, Continuous

_VERBS = {1: "raise", -1: "lower", 0: "change"}
_INTRANSITIVE_VERBS = {1: "rise", -1: "fall", 0: "change"}
_BOUNDS = {1: "at least ", -1: "at most ", 0: ""}


def instruction(cell: ChangedCell, context: Context) -> str:
    """Return what to do about one feature: ``Raise savings from 2,000 to at least 3,500.``"""
    name, (before, after) = name_text(cell.feature.name), change_texts(cell, context)
    if cell.kind is Change.HOLD:
        return f"Keep {name} at {before}, although {_what_it_prevents(cell, context)}."
    if cell.before != cell.before:
        return f"Set {name} to {after}; it is missing now."
    direction = _direction(cell, cell.after)
    bound = _BOUNDS[direction] if _is_number(cell) else ""
    return f"{_VERBS[direction].capitalize()} {name} from {before} to {bound}{after}."


def condition(cell: ChangedCell, context: Context) -> str:
    """Return an action as a condition: ``savings had been 3,500``."""
    name, (before, after) = name_text(cell.feature.name), change_texts(cell, context)
    if cell.kind is Change.HOLD:
        return f"{name} had stayed at {before}"
    return f"{name} had been {after}"


def consequence(cell: ChangedCell, context: Context) -> str:
    """Return what follows for one feature, worded apart from what to do."""
    name, (before, after) = name_text(cell.feature.name), change_texts(cell, context)
    verb = _VERBS[_direction(cell, cell.after)]
    if context.graph_was_learned:
        near = "about " if _is_number(cell) else ""
        return (
            f"This may also {verb} {name} from {before} to {near}{after}: expected if the graph"
            " learned from the data is right, not something to do."
        )
    return (
        f"This would likely also {verb} {name} from {before} to {after}:"
        " expected, not something to do."
    )


def _what_it_prevents(cell: ChangedCell, context: Context) -> str:
    if cell.expected != cell.expected:  # NaN
        return "what affects it changes"
    verb = _INTRANSITIVE_VERBS[_direction(cell, cell.expected)]
    span = context.codec.span[cell.position].item()
    return f"it would {verb} to {value_text(cell.feature, cell.expected, span)}"


def _is_number(cell: ChangedCell) -> bool:
    return isinstance(cell.feature, Continuous)


def _direction(cell: ChangedCell, end: float) -> int:
    """Return 1 up, -1 down, 0 where the levels have no order."""
    if isinstance(cell.feature, Categorical):
        return 0
    return (end > cell.before) - (end < cell.before)
