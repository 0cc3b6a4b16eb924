"""Whether the class is reached (Eq. 19), effects follow causes (Eq. 20), and new models agree.

Rows without a counterfactual count as failures: they never leave the denominator.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array
from proce.classifier import Classifier
from proce.classifier.refits import draw_within_classes
from proce.errors import ModelError, RuleError
from proce.metrics.proximity import mean_of
from proce.schema import Rule
from proce.schema.rules.rule import changes_of, moves_of
from proce.schema.rules.tree import Junction, Mechanism, Not, direction

Reading = Literal["direction", "strict"]


def target_class_validity(
    classifier: Classifier, rows: Array, found: Array, target: Array
) -> float:
    """Return the share of rows whose counterfactual has the target class (%Tcv / 100, Eq. 19)."""
    # The model is asked about the entries that are given. :func:`~proce.evaluate` asks about the
    # frame that people get, which holds a value as it came in where an entry may be off by its last
    # bit: at a model that splits just there, the two differ, and what ``evaluate`` says counts.
    reached = np.zeros_like(found, dtype=np.bool_)
    if bool(found.any()):
        reached[found] = classifier.predict(rows[found]) == target[found]
    return mean_of(reached)


@dataclass(frozen=True, slots=True)
class CausalValidity:
    """%Ccv (Eq. 20) as shares of all rows."""

    valid: float  # the share of rows with a counterfactual that breaks no condition
    triggered: float  # the share of rows with a counterfactual that triggers some condition
    satisfied: float  # Of these, the share whose counterfactual breaks no condition


def causal_constraint_validity(
    rules: Sequence[Rule],
    factual: Array,  # ``(i, f)``, the rows before and after
    rows: Array,
    found: Array,  # ``(i,)``, whether a row has a counterfactual
    *,
    reading: Reading = "direction",
    mechanisms: Mapping[str, Mechanism] | None = None,
) -> CausalValidity:
    """Return the share of rows whose counterfactual obeys the conditions."""
    # A condition ``a, b ~> c`` is triggered where every cause moved the same way, and then
    # satisfied where c moved that way too. Read strictly, it is always triggered, and c must move
    # as the prediction of its mechanism does. In both readings it is not triggered where a cell
    # that it names is missing, nor strictly where nothing is predicted. A rule of a search asks for
    # a move of 0.002 of the unit range; here any that is not rounding counts. Any other rule is
    # triggered by its premise, if it has one, and satisfied where it holds.
    states = constraint_states(
        [(rule, mechanisms or {}) for rule in rules], factual, rows, reading=reading
    )
    triggered = found & states.triggered
    satisfied = mean_of(states.satisfied[triggered])
    return CausalValidity(mean_of(found & ~states.broken), mean_of(triggered), satisfied)


@dataclass(frozen=True, eq=False)
class ConstraintStates:
    """Whether each counterfactual triggers some condition, and whether it breaks one."""

    triggered: Array  # ``(i,)``, whether some condition is triggered
    broken: Array  # ``(i,)``, whether a triggered condition does not hold

    @property
    def satisfied(self) -> Array:
        """1 where no condition is broken, 0 where one is, NaN where none is triggered; ``(i,)``."""
        return np.where(self.triggered, ~self.broken, np.nan)


def constraint_states(
    rules: Sequence[tuple[Rule, Mapping[str, Mechanism]]],
    factual: Array,
    rows: Array,
    *,
    reading: Reading = "direction",
) -> ConstraintStates:
    """Return the states of conditions, each with the mechanisms it needs, for rows ``(i, f)``."""
    # :func:`causal_constraint_validity` says when a condition is triggered and when it holds.
    if reading not in get_args(Reading):
        raise RuleError(f"reading is {reading!r}; expected 'direction' or 'strict'.")
    triggered = np.zeros(len(rows), dtype=np.bool_)
    broken = triggered.copy()
    for rule, mechanisms in rules:
        if rule.dependence is None:
            holds = rule.holds(factual, rows)
            speaks = _premise_met(rule, factual, rows)
        elif reading == "strict":
            holds, speaks = _strict(rule, factual, rows, mechanisms)
        else:
            holds, speaks = _direction(rule, factual, rows)
        triggered |= speaks
        broken |= speaks & ~holds
    return ConstraintStates(triggered, broken)


def _premise_met(rule: Rule, factual: Array, rows: Array) -> Array:
    """Return where a rule without ``~>`` is triggered: where its premise, if any, is not false."""
    tree = rule.tree
    if isinstance(tree, Junction) and tree.operator == "=>":
        return ~replace(rule, tree=Not(tree.operands[0])).holds(factual, rows)
    return np.ones(len(factual), dtype=np.bool_)


def _direction(rule: Rule, factual: Array, rows: Array) -> tuple[Array, Array]:
    """Return where a rule with ``~>`` holds by direction, and where it is triggered."""
    changes = changes_of(rule, factual, rows)
    *causes, effect = direction(changes)
    same_way = (np.stack(causes) == causes[0]).all(0) & (causes[0] != 0)
    return effect == causes[0], same_way & ~np.isnan(changes).any(0)


def _strict(
    rule: Rule,
    factual: Array,
    rows: Array,
    mechanisms: Mapping[str, Mechanism],
) -> tuple[Array, Array]:
    """Return where a rule with ``~>`` holds by its mechanism, and where it is triggered."""
    _, effect = rule.dependence or ((), "")
    if effect not in mechanisms:
        raise RuleError(
            f"read strictly, rule {rule.text!r} needs the mechanism of {effect!r}, which was not"
            f" given. Give mechanisms={{{effect!r}: ...}}, or reading='direction'."
        )
    sign, moved, unknown = moves_of(rule, factual, rows, mechanisms)
    return direction(moved) == sign, ~unknown


Model = TypeVar("Model")


def bootstrap_refits(
    fit: Callable[[NDArray[np.intp], int], Model], label: Any, *, n_refits: int = 5, seed: int = 0
) -> tuple[Model, ...]:
    """Train a model again on resampled training rows, each time with a seed of its own.

    Rows are drawn with replacement within each class, so that no class dies out. ``fit`` gets the
    positions of the drawn rows, and a seed: ``seed + 1``, ``seed + 2`` and so on.

    >>> bootstrap_refits(lambda rows, seed: (rows.tolist(), seed), ["no", "yes"], n_refits=2)
    (([0, 1], 1), ([0, 1], 2))
    """
    if n_refits < 1:
        raise ModelError(f"n_refits is {n_refits!r}; expected a whole number from 1 on.")
    labels = np.asarray(label)
    if labels.ndim != 1 or not labels.size:
        raise ModelError(
            f"the labels have shape {labels.shape}; expected one label for each training row."
        )
    generator = np.random.default_rng(seed)
    return tuple(
        fit(draw_within_classes(labels, generator), seed + number)
        for number in range(1, n_refits + 1)
    )
