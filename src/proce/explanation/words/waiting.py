"""Waiting in words: ``Wait 3 years (age 27 to 30).`` Time is not something one does."""

from collections.abc import Sequence

from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import OPEN_ABOVE
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import change_texts, joined, name_text
from proce.schema import Action
from proce.schema.features.feature import time_unit


def is_waiting(cell: ChangedCell) -> bool:
    """Whether time moves a cell, and not a person.

    A published method that knows no such limits may send time back; that is told as it is.
    """
    return cell.feature.action is Action.WAITS and cell.after > cell.before


def duration_text(cell: ChangedCell) -> str:
    """Return how much time passes for a feature that waits: ``3 years``."""
    return _amount(cell.after - cell.before, cell)


def wait_text(lead: ChangedCell, cells: Sequence[ChangedCell], context: Context) -> str:
    """Return how long to wait, and what time moves: ``Wait 3 years (age 27 to 30)``.

    The lead is the cell that says how much time passes; of the other cells, those that wait go
    with it.
    """
    shown = [lead, *(cell for cell in cells if is_waiting(cell) and not cell.kind.by_hand)]
    moved = [
        f"{name_text(cell.feature)} {' to '.join(change_texts(cell, context))}" for cell in shown
    ]
    return f"Wait {_bounded(lead)} ({joined(moved)})"


def _bounded(cell: ChangedCell) -> str:
    """Return how long to wait, with how much longer the advice was found to hold."""
    told, longest = duration_text(cell), cell.holds_to
    if longest != longest:  # NaN: not tried
        return told
    if cell.open_ends & OPEN_ABOVE:
        return f"at least {told}"
    if _number(longest - cell.before) == _number(cell.after - cell.before):
        return f"{told}, not longer"
    return f"{_number(cell.after - cell.before)} to {_amount(longest - cell.before, cell)}"


def _amount(amount: float, cell: ChangedCell) -> str:
    unit = time_unit(cell.feature.unit) or "year"
    number = _number(amount)
    return f"{number} {unit}{'s' * (number != '1')}"


def _number(amount: float) -> str:
    return f"{amount:,.10g}"
