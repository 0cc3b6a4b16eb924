"""One changed cell in words: what to do about it, how long to wait, or what is expected to follow.

The direction of an action is measured against where the other changes alone would bring the
feature: an amount that they would raise to 8,370 and that ends at 8,000 is kept down, although it
was 7,000 before. *At least*, *at most* and *between* are said only of values that were tried.
"""

from collections.abc import Sequence

from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import NO_RULE, OPEN_ABOVE, OPEN_BELOW, Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import (
    change_texts,
    inner_text,
    joined,
    name_text,
    one_line,
    value_text,
)
from proce.schema import Action, Categorical, Continuous
from proce.schema.features.feature import time_unit

_VERBS = {1: "raise", -1: "lower", 0: "change"}
_INTRANSITIVE_VERBS = {1: "rise", -1: "fall", 0: "change"}
_BOUNDS = {1: "at least", -1: "at most"}
_NO_FURTHER = {1: "not more", -1: "not less"}
_NEAR_SHARE = 1e-3  # of the span: a number that ends so near to the present one is kept near it


def is_waiting(cell: ChangedCell) -> bool:
    """Whether time moves a cell, and not a person."""
    # A published method that knows no such limits may send time back; that is told as it is.
    return cell.feature.action is Action.WAITS and cell.after > cell.before


def kind_of(cell: ChangedCell) -> str:
    """Return what a change is to a person: ``action``, ``hold``, ``wait`` or ``consequence``."""
    return "wait" if is_waiting(cell) else cell.kind.name.lower()


def duration_text(cell: ChangedCell) -> str:
    """Return how much time passes for a feature that waits: ``3 years``."""
    return _amount(cell.after - cell.before, cell)


def wait_text(lead: ChangedCell, cells: Sequence[ChangedCell], context: Context) -> str:
    """Return how long to wait, and what time moves: ``Wait 3 years (age 27 to 30)``."""
    shown = [lead, *(cell for cell in cells if is_waiting(cell) and not cell.kind.by_hand)]
    moved = [
        f"{name_text(cell.feature)} {' to '.join(change_texts(cell, context))}" for cell in shown
    ]
    return f"Wait {_bounded_wait(lead)} ({joined(moved)})"


def _bounded_wait(cell: ChangedCell) -> str:
    """Return how long to wait, with how much longer the advice was found to hold."""
    told, longest = duration_text(cell), cell.holds_to
    if longest != longest:  # NaN: not tried
        return told
    if cell.open_ends & OPEN_ABOVE:
        return f"at least {told}"
    if _plain_number(longest - cell.before) == _plain_number(cell.after - cell.before):
        return f"{told}, not longer"
    return f"{_plain_number(cell.after - cell.before)} to {_amount(longest - cell.before, cell)}"


def _amount(amount: float, cell: ChangedCell) -> str:
    unit = time_unit(cell.feature.unit) or "year"
    number = _plain_number(amount)
    return f"{number} {unit}{'s' * (number != '1')}"


def _plain_number(amount: float) -> str:
    return f"{amount:,.10g}"


def instructions(cells: Sequence[ChangedCell], context: Context) -> list[str]:
    """Return what to do, a sentence a feature: ``Raise savings from 2,000 to at least 3,500.``"""
    by_hand = [cell for cell in cells if cell.kind.by_hand]
    texts = []
    for cell in by_hand:
        if is_waiting(cell):
            told = wait_text(cell, cells, context)
        else:
            told = _told(cell, context, n_others=len(by_hand) - 1)
        texts.append(f"{told}{_asking_rule(cell, context)}.")
    return texts


def condition(cell: ChangedCell, context: Context) -> str:
    """Return an action as a condition: ``savings had been 3,500``."""
    if is_waiting(cell):
        return f"{duration_text(cell)} had passed"
    name, (before, after) = name_text(cell.feature), change_texts(cell, context)
    if cell.kind is Change.HOLD:
        return f"{name} had stayed at {before}"
    return f"{name} had been {after}"


def consequence(cell: ChangedCell, context: Context) -> str:
    """Return what follows for one feature, worded apart from what to do."""
    joint = " " if context.graph_was_learned else ", "
    return f"{effect_text(cell, context)}: expected{joint}{reservation(context)}."


def effect_text(cell: ChangedCell, context: Context) -> str:
    """Return what follows for one feature: ``This would likely also raise income from 1 to 2``."""
    name, (before, after) = name_text(cell.feature), change_texts(cell, context)
    verb = _VERBS[_direction(cell, cell.before, cell.after)]
    if not context.graph_was_learned:
        return f"This would likely also {verb} {name} from {before} to {after}"
    near = "about " if isinstance(cell.feature, Continuous) else ""
    return f"This may also {verb} {name} from {before} to {near}{after}"


def reservation(context: Context) -> str:
    """Return what is to be kept in mind of all that is expected to follow."""
    if context.graph_was_learned:
        return "if the graph learned from the data is right, not something to do"
    return "not something to do"


def direction_of_action(cell: ChangedCell) -> int:
    """Return 1 where an action leads up from where its feature would go, -1 down, or 0."""
    return _direction(cell, _by_itself(cell), cell.after)


def interval_text(cell: ChangedCell, context: Context) -> str | None:
    """Return between which values an action's may lie: ``3,500 and 9,000``; ``None`` for no two."""
    low, high = _interval(cell, context)
    return None if low == high else f"{low} and {high}"


def decides_fact(cell: ChangedCell, context: Context) -> list[tuple[str, str]]:
    """Return between which values of an action today's model decides so, as a name and a value."""
    low, high = _interval(cell, context)
    if low is None:
        return []
    if low == high:
        return [("today's model decides so", f"at {low} alone")]
    return [("today's model decides so between", f"{low} and {high}{further_text(cell)}")]


def further_text(cell: ChangedCell) -> str:
    """Return why an action goes beyond where today's model decides so; empty where it does not."""
    near = cell.holds_from if cell.after > cell.before else cell.holds_to
    if near != near or not min(cell.before, cell.after) < near < max(cell.before, cell.after):
        return ""
    return "; the advice goes further, to keep a margin and be surer to work"


def drift_text(cell: ChangedCell, context: Context, n_others: int = 2) -> str | None:
    """Return where the other changes alone would bring a feature; ``None`` where it would stay."""
    end = _by_itself(cell)
    if end == cell.before or end != end:  # NaN
        return None
    verb = _VERBS[_direction(cell, cell.before, end)]
    value = value_text(cell.feature, end, context.codec.span[cell.position].item())
    if n_others < 1:
        verb = _INTRANSITIVE_VERBS[_direction(cell, cell.before, end)]
        return f"it would otherwise {verb} to {value}"
    others = "the other change" if n_others == 1 else "the other changes"
    return f"{others} alone would {verb} it to {value}"


def _interval(cell: ChangedCell, context: Context) -> tuple[str | None, str | None]:
    """Return both ends of where an action's value may lie; ``None`` twice where not known."""
    ends = (cell.holds_from, cell.holds_to)
    if any(end != end for end in ends):  # NaN
        return None, None
    low, high = (inner_text(cell, end, context) for end in ends)
    return low, high


def _told(cell: ChangedCell, context: Context, n_others: int) -> str:
    name, (before, after) = name_text(cell.feature), change_texts(cell, context)
    drift = drift_text(cell, context, n_others)
    if cell.kind is Change.HOLD:
        return f"Keep {name} at {before}, although {drift or 'what affects it changes'}"
    if cell.before != cell.before:  # NaN
        return f"Set {name} to {after}; it is missing now"
    direction = direction_of_action(cell)
    bounded = _bounded(cell, context, direction, after)
    if drift is None:
        return f"{_VERBS[direction].capitalize()} {name} from {before} to {bounded}"
    own_direction = _direction(cell, cell.before, cell.after)
    if direction == own_direction:
        verb = _VERBS[direction].capitalize()
        return f"{verb} {name} from {before} to {bounded} ({drift})"
    if own_direction == 0:
        return f"Keep {name} at {before}, although {drift}"
    now = f"(it is {before}, and {drift})"
    if direction == 0:
        return f"See that {name} comes to {after} {now}"
    if bounded.endswith(_NO_FURTHER[direction]):
        return f"Let {name} {_INTRANSITIVE_VERBS[own_direction]} to {after} only {now}"
    if _is_near(cell, context):
        return f"Keep {name} near {before}, {_kept(bounded, direction, after)}, although {drift}"
    return f"Keep {name} {_kept(bounded, direction, after)} {now}"


def _is_near(cell: ChangedCell, context: Context) -> bool:
    """Whether a number ends so near to the present one that few would call it a change."""
    if not isinstance(cell.feature, Continuous):
        return False
    span = context.codec.span[cell.position].item()
    return abs(cell.after - cell.before) <= _NEAR_SHARE * span


def _bounded(cell: ChangedCell, context: Context, direction: int, after: str) -> str:
    """Return the value to reach, with how far beyond it the advice was found to hold."""
    far = cell.holds_to if direction > 0 else cell.holds_from
    if far != far or not direction:  # NaN: not tried
        return after
    end = inner_text(cell, far, context)
    if cell.open_ends & (OPEN_ABOVE if direction > 0 else OPEN_BELOW):
        # There is nothing beyond the end of what is possible: 'to 0', not 'to at most 0'.
        return after if end == after else f"{_BOUNDS[direction]} {after}"
    if end == after:
        return f"{after}, {_NO_FURTHER[direction]}"
    low, high = (after, end) if direction > 0 else (end, after)
    return f"between {low} and {high}"


def _kept(bounded: str, direction: int, after: str) -> str:
    """Return where a feature is to be kept: ``at 8,000 or below``, ``between 7,000 and 8,000``."""
    if bounded.startswith("between "):
        return bounded
    if bounded.startswith(("at least ", "at most ")):
        return f"at {after} or {'above' if direction > 0 else 'below'}"
    return f"at {bounded}"


def _asking_rule(cell: ChangedCell, context: Context) -> str:
    if cell.rule == NO_RULE:
        return ""
    return f": the rule '{one_line(context.rules[cell.rule])}' asks for it"


def _by_itself(cell: ChangedCell) -> float:
    """Return where a feature would go by itself; where that is not known, it would stay."""
    unknown = cell.expected != cell.expected
    return cell.before if unknown and cell.kind is Change.ACTION else cell.expected


def _direction(cell: ChangedCell, start: float, end: float) -> int:
    """Return 1 up, -1 down, 0 where the levels have no order."""
    if isinstance(cell.feature, Categorical):
        return 0
    return (end > start) - (end < start)
