"""The changes of one way: actions first, and below each what follows from it."""

from collections.abc import Mapping, Sequence
from typing import Any

from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell, plain_value
from proce.explanation.words.instructions import consequence, instructions, interval_text
from proce.explanation.words.values import change_texts, name_text
from proce.explanation.words.waiting import is_waiting

Plain = dict[str, Any]


def kind_of(cell: ChangedCell) -> str:
    """Return what a change is to a person: ``action``, ``hold``, ``wait`` or ``consequence``."""
    return "wait" if is_waiting(cell) else cell.kind.name.lower()


def brief_change(cell: ChangedCell, context: Context) -> Plain:
    """Return a change without the words around it."""
    before, after = change_texts(cell, context)
    return {
        "feature": cell.feature.name,
        "label": name_text(cell.feature),
        "kind": kind_of(cell),
        "before": plain_value(cell.feature, cell.before),
        "after": plain_value(cell.feature, cell.after),
        "before_text": before,
        "after_text": after,
    }


def changes_in_order(cells: Sequence[ChangedCell], context: Context) -> list[Plain]:
    """Return all changes of a way, each consequence below the change that it follows from.

    A consequence with several causes stands below the one that is nearest to a person's own
    actions, the largest first; ``causes`` names them all.
    """
    causes = _causes(cells, context)
    depths, parents = _places(cells, causes)
    told = dict(zip(_by_hand(cells), instructions(cells, context), strict=True))
    ordered: list[Plain] = []

    def add(cell: ChangedCell) -> None:
        name = cell.feature.name
        ordered.append(_change(cell, context, told.get(name), causes[name], depths[name]))
        for follower in cells:
            if parents.get(follower.feature.name) == name:
                add(follower)

    for cell in cells:
        if cell.feature.name not in parents:
            add(cell)
    return ordered


def _by_hand(cells: Sequence[ChangedCell]) -> list[str]:
    return [cell.feature.name for cell in cells if cell.kind.by_hand]


def _causes(cells: Sequence[ChangedCell], context: Context) -> dict[str, list[str]]:
    """Return for each change the features that move it, in the order of the changes.

    An action has none: a person moves it. What time moves goes with the time that is waited.
    """
    edges = set(context.edges)
    moving = [cell.feature.name for cell in cells if cell.kind is not Change.HOLD]
    waited = [cell.feature.name for cell in cells if cell.kind.by_hand and is_waiting(cell)]
    causes: dict[str, list[str]] = {}
    for cell in cells:
        name = cell.feature.name
        if cell.kind.by_hand:
            causes[name] = []
        elif is_waiting(cell):
            causes[name] = waited
        else:
            causes[name] = [cause for cause in moving if (cause, name) in edges]
    return causes


def _places(
    cells: Sequence[ChangedCell], causes: Mapping[str, Sequence[str]]
) -> tuple[dict[str, int], dict[str, str]]:
    """Return how deep each change stands, and below which other one."""
    depths = dict.fromkeys(_by_hand(cells), 0)
    parents: dict[str, str] = {}
    waiting = [cell.feature.name for cell in cells if cell.feature.name not in depths]
    while waiting:
        found = {
            name: min((c for c in causes[name] if c in depths), key=depths.__getitem__)
            for name in waiting
            if any(cause in depths for cause in causes[name])
        }
        if not found:  # its causes are not shown in this view
            found = {waiting[0]: ""}
        for name, parent in found.items():
            depths[name] = depths.get(parent, 0) + 1
            if parent:
                parents[name] = parent
        waiting = [name for name in waiting if name not in depths]
    return depths, parents


def _change(
    cell: ChangedCell,
    context: Context,
    instruction: str | None,
    causes: Sequence[str],
    depth: int,
) -> Plain:
    sentence = instruction
    if sentence is None and is_waiting(cell):
        before, after = change_texts(cell, context)
        sentence = f"Time alone moves {name_text(cell.feature)} from {before} to {after}."
    return {
        **brief_change(cell, context),
        "sentence": sentence or consequence(cell, context),
        "holds_from": finite_or_none(cell.holds_from),
        "holds_to": finite_or_none(cell.holds_to),
        "interval_text": interval_text(cell, context),
        "causes": list(causes),
        "depth": depth,
    }
