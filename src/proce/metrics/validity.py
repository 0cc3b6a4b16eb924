"""Whether the class is reached (Eq. 19), and whether effects follow their causes (Eq. 20).

Rows without a counterfactual count as failures: they never leave the denominator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from proce.arrays import Array
from proce.classifier import Classifier
from proce.errors import RuleError
from proce.metrics.means import mean_of
from proce.schema import Rule
from proce.schema.rules.dependence import Mechanism, direction
from proce.schema.rules.rule import changes_of, moves_of
from proce.schema.rules.tree import Junction, Not

Reading = Literal["direction", "strict"]


def target_class_validity(
    classifier: Classifier, rows: Array, found: Array, target: Array
) -> float:
    """Return the share of rows whose counterfactual has the target class (%Tcv / 100, Eq. 19).

    The model is asked about the entries that are given. :func:`~proce.evaluate` asks about the
    frame that people get, which holds a value as it came in where an entry may be off by its last
    bit: at a model that splits just there, the two differ, and what ``evaluate`` says counts.

    Parameters
    ----------
    classifier
        The model, which is asked again.
    rows
        ``(i, f)``, the counterfactual of each row that has one.
    found
        ``(i,)``, whether a row has a counterfactual.
    target
        ``(i,)``, the wanted classes as positions.
    """
    reached = np.zeros_like(found, dtype=np.bool_)
    if bool(found.any()):
        reached[found] = classifier.predict(rows[found]) == target[found]
    return mean_of(reached)


@dataclass(frozen=True, slots=True)
class CausalValidity:
    """%Ccv (Eq. 20) as shares of all rows.

    Attributes
    ----------
    valid
        The share of rows with a counterfactual that breaks no condition.
    triggered
        The share of rows with a counterfactual that triggers some condition.
    satisfied
        Of these, the share whose counterfactual breaks no condition; NaN where there are none.
    """

    valid: float
    triggered: float
    satisfied: float


def causal_constraint_validity(
    rules: Sequence[Rule],
    factual: Array,
    rows: Array,
    found: Array,
    *,
    reading: Reading = "direction",
    mechanisms: Mapping[str, Mechanism] | None = None,
) -> CausalValidity:
    """Return the share of rows whose counterfactual obeys the conditions.

    A condition ``a, b ~> c`` is triggered where every cause moved the same way, and then
    satisfied where c moved that way too. Read strictly, it is always triggered, and c must move
    as the prediction of its mechanism does. In both readings it is not triggered where a cell that
    it names is missing, nor strictly where nothing is predicted. A rule of a search asks for a move
    of 0.002 of the unit range; here any that is not rounding counts. Any other rule is triggered by
    its premise, if it has one, and satisfied where it holds.

    Parameters
    ----------
    rules
        The conditions.
    factual, rows
        ``(i, f)``, the rows before and after.
    found
        ``(i,)``, whether a row has a counterfactual.
    reading
        How conditions with ``~>`` are read.
    mechanisms
        For the strict reading, by effect: the true mechanism, or one fitted for the evaluation.
    """
    states = constraint_states(
        [(rule, mechanisms or {}) for rule in rules], factual, rows, reading=reading
    )
    triggered = found & states.triggered
    satisfied = mean_of(states.satisfied[triggered])
    return CausalValidity(mean_of(found & ~states.broken), mean_of(triggered), satisfied)


@dataclass(frozen=True, eq=False)
class ConstraintStates:
    """Whether each counterfactual triggers some condition, and whether it breaks one.

    Attributes
    ----------
    triggered
        ``(i,)``, whether some condition is triggered.
    broken
        ``(i,)``, whether a triggered condition does not hold.
    """

    triggered: Array
    broken: Array

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
    """Return the states of conditions, each with the mechanisms it needs, for rows ``(i, f)``.

    :func:`causal_constraint_validity` says when a condition is triggered and when it holds.
    """
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
