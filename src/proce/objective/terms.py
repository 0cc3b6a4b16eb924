"""The terms of a score that need no model: distance, limits, and what a probability lacks."""

import math
from typing import NamedTuple

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array, Flags, Floats, Ints
from proce.causal import Actions
from proce.compiled.cells import is_level, is_missing, unit_gap
from proce.compiled.kernel import kernel, part
from proce.losses import Loss, prediction_loss
from proce.objective.distance import DISTANCES, FeatureDistance, cost_of_gap
from proce.objective.limits import SHOWN_ROUNDING, Limits, Requirement, add_shortfall
from proce.schema import Codec

# What is known of each feature of an instance: Limits.table, and its weight.
FACTUAL, _LOWER, _UPPER, _CONSEQUENCE_LOWER, _CONSEQUENCE_UPPER = range(5)
_ACTION_LOWER, _ACTION_UPPER, _WEIGHT = range(5, 8)
_LARGEST = np.finfo(np.float64).max
_cost_of_gap = part(cost_of_gap)


class Terms(NamedTuple):
    """What is asked of the candidates of some rows, as arrays; make it with :meth:`of`."""

    target: Ints  # (i,), the wanted classes
    instances: Floats  # (i, 8, f), the rows, their limits, and the weights of their features
    reach: Floats  # (f,), how far apart two entries of a feature can be
    # tables, table_of: (t,) and (f, 2): the distances of levels, where the table of a feature
    # begins, and how many levels it has; 0 of a number
    tables: Floats
    table_of: Ints
    # whether the distance is a sum of the ways that are gone by hand, from where a feature would
    # otherwise be; else of all differences from the row as it was
    of_actions: bool
    # form, charge: the code of the form of the distance, and what an action or a hold costs beside
    # its way
    form: int
    charge: float
    # (i,), the most actions and holds of a candidate; infinite without such a limit
    max_changes: Floats
    required: Floats  # (i, 5), what is required of the probabilities: `Requirement.line`

    @classmethod
    def of(
        cls,
        factual: Floats,
        target: Ints,
        limits: Limits,
        weights: Floats,
        distance: FeatureDistance,
        form: str,
        of_actions: bool,
        requirement: Requirement,
        max_changes: int | None,
    ) -> "Terms":
        """Lay out the parts of a problem; ``weights`` are ``(f,)`` or ``(i, 1, f)``.

        The ``form`` is a name in ``DISTANCES``.
        """
        tables = distance.levels[form]
        return cls(
            target,
            _instance_table(factual, limits, weights),
            distance.codec.reach,
            tables.distances,
            tables.places,
            of_actions,
            DISTANCES[form].code,
            DISTANCES[form].charge,
            np.full(len(factual), most_changes(max_changes)),
            np.tile(requirement.line, (len(factual), 1)),
        )

    def take(self, rows: Array) -> "Terms":
        """Return the terms of some of the rows, given by position."""
        own = ("target", "instances", "max_changes", "required")
        return self._replace(**{name: getattr(self, name).take(rows, axis=0) for name in own})

    def with_limits(self, factual: Floats, limits: Limits, weights: Floats) -> "Terms":
        """Return the terms of the same rows under other limits."""
        return self._replace(instances=_instance_table(factual, limits, weights))

    def measured(self, realised: Actions) -> tuple[Floats, Floats]:
        """Return the distance ``(i, c)`` of candidates, and how far they are beyond the limits."""
        shape = realised.point.shape[:2]
        distance, excess = np.empty(shape), np.empty(shape)
        expected = realised.expected if self.of_actions else realised.point
        cells = realised.point, expected, realised.acted_on, realised.held
        point, expected, acted_on, held = map(np.ascontiguousarray, cells)
        measure_candidates(point, expected, acted_on, held, self, distance, excess)
        return distance, excess

    def scored(self, realised: Actions, probabilities: Array) -> tuple[Floats, Floats]:
        """Return the losses ``(i, c, 3)`` of candidates, and the violation ``(i, c)``.

        The prototype loss is 0.

        Shapes: probabilities ``(i, c, k)``.
        """
        losses = np.zeros((*realised.point.shape[:2], len(Loss)))
        losses[..., Loss.PREDICTION] = prediction_loss(probabilities, self.target)
        losses[..., Loss.DISTANCE], violation = self.measured(realised)
        answers = np.ascontiguousarray(probabilities)
        add_shortfall(answers, self.target, self.required, violation)
        return losses, violation


def _instance_table(factual: Floats, limits: Limits, weights: Floats) -> Floats:
    """Return rows ``(i, f)``, their bounds and weights as kernels read them, ``(i, 8, f)``."""
    own = np.broadcast_to(weights.reshape(-1, factual.shape[1]), factual.shape)
    return np.concatenate((limits.table(factual), own[:, None]), axis=1)


def most_changes(max_changes: int | None) -> float:
    """Return the most actions and holds of a candidate; infinite without such a limit."""
    return math.inf if max_changes is None else float(max_changes)


@kernel
def measure_candidates(
    point: Floats,  # (i, c, f)
    expected: Floats,  # (i, c, f)
    acted_on: Flags,  # (i, c, f)
    held: Flags,  # (i, c, f)
    terms: Terms,
    distance: Floats,  # (i, c); written
    excess: Floats,  # (i, c); written
) -> None:
    """Write the distance of candidates, and how far they are beyond their limits, ``(i, c)`` each.

    Both are sums over the features. A feature is looked at in all candidates of an instance before
    the next one.
    """
    n_candidates, n_features = point.shape[1], point.shape[2]
    by_hand, count = np.empty(n_candidates, np.bool_), np.empty(n_candidates, np.int64)
    for i in range(len(point)):
        cells, own = point[i], terms.instances[i]
        distance[i], excess[i], count[:] = 0.0, 0.0, 0
        for f in range(n_features):
            weight = own[_WEIGHT, f]
            for c in range(n_candidates):
                by_hand[c] = acted_on[i, c, f] or held[i, c, f]
                count[c] += by_hand[c]
            add_beyond_limits(cells, f, by_hand, own, terms.reach[f], excess, i)
            is_number = terms.table_of[f, 1] == 0  # the tables of levels hold costs
            for c in range(n_candidates):
                if terms.of_actions and not by_hand[c]:
                    continue
                base = expected[i, c, f] if terms.of_actions else own[FACTUAL, f]
                gap = _gap(point[i, c, f], base, f, terms)
                cost = min(_cost_of_gap(gap, terms.form), _LARGEST) if is_number else gap
                distance[i, c] += weight * cost
        for c in range(n_candidates):
            distance[i, c] += terms.charge * count[c]
            excess[i, c] += max(count[c] - terms.max_changes[i], 0.0)


@part
def add_beyond_limits(
    cells: Floats,  # (c, f)
    f: int,
    by_hand: Flags,  # (c,)
    own: Floats,  # (7 or more, f), the row and its limits
    reach: float,
    excess: Floats,  # (…, c); added to, on the unit range
    place: int,
) -> None:
    """Add how far a feature of candidates is beyond its limits, at a place of ``excess (…, c)``.

    What is done ``by_hand (c,)`` is bound by the limits of actions, all else by those of
    consequences. What is held may lie outside of the permitted range. What nobody knows obeys.
    """
    before, lower, upper = own[FACTUAL, f], own[_LOWER, f], own[_UPPER, f]
    for c in range(len(by_hand)):
        value, acts = cells[c, f], by_hand[c]
        below = own[_ACTION_LOWER if acts else _CONSEQUENCE_LOWER, f] - value
        above = value - own[_ACTION_UPPER if acts else _CONSEQUENCE_UPPER, f]
        beyond = (below if below > above else above) / reach
        if beyond > MIN_DIFFERENCE and below == below and above == above:
            is_held = acts and value == before and lower <= value <= upper
            excess[place, c] += 0.0 if is_held else min(beyond, _LARGEST)


@part
def _gap(value: float, other: float, f: int, terms: Terms) -> float:
    """Return how far apart two entries of a feature are, on the unit range or by its table."""
    n_levels = terms.table_of[f, 1]
    if n_levels == 0:
        gap = unit_gap(value, other, terms.reach[f])
        return 0.0 if np.isnan(gap) else min(gap, _LARGEST)
    ours = min(np.int64(value), n_levels - 1) if value > 0 else 0
    theirs = min(np.int64(other), n_levels - 1) if other > 0 else 0
    return float(terms.tables[terms.table_of[f, 0] + theirs * n_levels + ours])


class Bounds(NamedTuple):
    """What binds rows, as arrays."""

    movable: Flags  # (i, f), whether a feature may be acted on
    known: Floats  # (i, 7, f), the rows as they are, and their limits: `Limits.table`
    # reach, is_number, avoided: (f,), (f,) and (f, l), as the codec has them
    reach: Floats
    is_number: Flags
    avoided: Flags
    max_changes: float  # the most actions and holds of a row; infinite without such a limit


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
    obeys, _ = _held_against(limits, codec, factual, rows, moved, by_hand, max_changes)
    return obeys


def find_beyond(limits: Limits, codec: Codec, factual: Array, rows: Array, by_hand: Array) -> Flags:
    """Return which cells of rows ``(i, c, f)`` are beyond their limits by more than rounding.

    So is an action that leads to an avoided level. ``by_hand (i, c, f)`` says what is acted on.
    """
    _, beyond = _held_against(limits, codec, factual, rows, by_hand, by_hand, None)
    return np.moveaxis(beyond, 1, 2) > SHOWN_ROUNDING


def _held_against(
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
    """Write which rows ``(i, c)`` obey all limits, and how far cells ``(i, c, f)`` are beyond them.

    A row must also do with each cell what is said of it: move it, act on it or leave it. A cell may
    be off by rounding; an action that leads to an avoided level is infinitely far beyond.
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
                leads = acts[c] and not is_same and is_avoided(value, bounds.avoided[f])
                excess[f, c] = np.inf if leads else 0.0
                count[c] += acts[c]
            add_beyond_limits(cells, f, acts, own, bounds.reach[f], excess, f)
            for c in range(n_candidates):
                obeys[i, c] &= excess[f, c] <= SHOWN_ROUNDING
        for c in range(n_candidates):
            obeys[i, c] &= count[c] <= bounds.max_changes


@part
def is_avoided(value: float, avoided: Flags) -> bool:
    """Return whether no action may lead to a value of a feature, by its levels ``(l,)``."""
    return is_level(value, len(avoided)) and avoided[np.int64(value)]
