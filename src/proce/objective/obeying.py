"""Whether rows, as they are shown, obey every limit."""

from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats
from proce.compiled.cells import is_level, is_missing
from proce.compiled.kernel import kernel
from proce.objective.limits import SHOWN_ROUNDING, Limits
from proce.objective.terms import FACTUAL, add_beyond_limits, most_changes
from proce.schema import Codec


class Bounds(NamedTuple):
    """What binds rows, as arrays.

    Attributes
    ----------
    movable
        ``(i, f)``, whether a feature may be acted on.
    known
        ``(i, 7, f)``, the rows as they are, and their limits: :meth:`Limits.table`.
    reach, is_number, avoided
        ``(f,)``, ``(f,)`` and ``(f, l)``, as the codec has them.
    max_changes
        The most actions and holds of a row; infinite without such a limit.
    """

    movable: Flags
    known: Floats
    reach: Floats
    is_number: Flags
    avoided: Flags
    max_changes: float


def obey_limits(
    limits: Limits,
    codec: Codec,
    factual: Array,
    rows: Array,
    moved: Array,
    by_hand: Array,
    max_changes: int | None = None,
) -> Flags:
    """Return which rows ``(i, c, f)`` of people ``(i, f)`` obey every limit, ``(i, c)``.

    ``moved`` and ``by_hand (i, c, f)`` say which cells are told to have moved, and are acted on or
    held.
    """
    obeys, _ = _asked(limits, codec, factual, rows, moved, by_hand, max_changes)
    return obeys


def find_beyond(limits: Limits, codec: Codec, factual: Array, rows: Array, by_hand: Array) -> Flags:
    """Return which cells of rows ``(i, c, f)`` are beyond their limits by more than rounding.

    So is an action that leads to an avoided level. ``by_hand (i, c, f)`` says what is acted on.
    """
    _, beyond = _asked(limits, codec, factual, rows, by_hand, by_hand, None)
    return np.moveaxis(beyond, 1, 2) > SHOWN_ROUNDING


def _asked(
    limits: Limits,
    codec: Codec,
    factual: Array,
    rows: Array,
    moved: Array,
    by_hand: Array,
    max_changes: int | None,
) -> tuple[Flags, Floats]:
    n_rows, n_candidates, n_features = rows.shape
    obeys = np.empty((n_rows, n_candidates), np.bool_)
    beyond = np.empty((n_rows, n_features, n_candidates))
    bounds = Bounds(
        np.ascontiguousarray(limits.movable),
        limits.table(factual),
        codec.reach,
        codec.is_number,
        codec.avoided,
        most_changes(max_changes),
    )
    values, moves, acts = map(np.ascontiguousarray, (rows, moved, by_hand))
    write_obeying(values, moves, acts, bounds, beyond, obeys)
    return obeys, beyond


@kernel
def write_obeying(
    rows: Floats,  # (i, c, f)
    moved: Flags,  # (i, c, f)
    by_hand: Flags,  # (i, c, f)
    bounds: Bounds,
    beyond: Floats,  # (i, f, c); written
    obeys: Flags,  # (i, c); written
) -> None:
    """Write which rows obey every limit, and do with each cell what is said of it, ``(i, c)``.

    Of each cell it is written how far it is beyond its limits ``(i, f, c)``; an action that leads
    to an avoided level is infinitely far.
    """
    n_candidates, n_features = rows.shape[1], rows.shape[2]
    acts, count = np.empty(n_candidates, np.bool_), np.empty(n_candidates, np.int64)
    for i in range(len(rows)):
        cells, own, excess = rows[i], bounds.known[i], beyond[i]
        obeys[i], count[:] = True, 0
        for f in range(n_features):
            before, is_number = own[FACTUAL, f], bounds.is_number[f]
            for c in range(n_candidates):
                value, moves, acts[c] = cells[c, f], moved[i, c, f], by_hand[i, c, f]
                is_same = value == before or is_missing(value, is_number)
                obeys[i, c] &= bounds.movable[i, f] or not acts[c]
                obeys[i, c] &= is_same or moves or acts[c]
                obeys[i, c] &= not (is_same and moves and acts[c])
                leads = acts[c] and not is_same and not is_number
                leads = leads and is_level(value, bounds.avoided.shape[1])
                excess[f, c] = np.inf if leads and bounds.avoided[f, int(value)] else 0.0
                count[c] += acts[c]
            add_beyond_limits(cells, f, acts, own, bounds.reach[f], excess, f)
        for c in range(n_candidates):
            total = 0.0
            for f in range(n_features):
                total += excess[f, c]
            obeys[i, c] &= total <= SHOWN_ROUNDING and count[c] <= bounds.max_changes
