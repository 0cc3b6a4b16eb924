"""Whether the class is reached (Eq. 19), and whether effects follow their causes (Eq. 20).

Rows without a counterfactual count as failures: they never leave the denominator.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor

from proce.classifier import Classifier
from proce.errors import RuleError
from proce.schema import Codec, Rule
from proce.schema.rules.tree import Junction, Not

Reading = Literal["direction", "strict"]
EffectPredictor = Callable[[Tensor], Tensor]  # rows (i, f) -> the effect (i,)
_MIN_MOVE = 1e-9  # on the unit range; a smaller difference is no movement


def target_class_validity(
    classifier: Classifier, rows: Tensor, found: Tensor, target: Tensor
) -> float:
    """Return the share of rows whose counterfactual has the target class (%Tcv / 100, Eq. 19).

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
    reached = torch.zeros_like(found)
    if bool(found.any()):
        reached[found] = classifier.predict(rows[found]) == target[found]
    return float(reached.double().mean())


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
    factual: Tensor,
    rows: Tensor,
    found: Tensor,
    *,
    reading: Reading = "direction",
    mechanisms: Mapping[str, EffectPredictor] | None = None,
) -> CausalValidity:
    """Return the share of rows whose counterfactual obeys the conditions.

    A condition ``a, b ~> c`` is triggered where every cause moved the same way, and then
    satisfied where c moved that way too. Read strictly, it is always triggered, and c must move
    as the prediction of its mechanism does. In both readings it is not triggered where a cell that
    it names is missing. Any other rule is triggered by its premise, if it has one, and satisfied
    where it holds.

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
    valid, triggered = found & ~states.broken, found & states.triggered
    satisfied = float((~states.broken)[triggered].double().mean())
    return CausalValidity(float(valid.double().mean()), float(triggered.double().mean()), satisfied)


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

    triggered: Tensor
    broken: Tensor


def constraint_states(
    rules: Sequence[tuple[Rule, Mapping[str, EffectPredictor]]],
    factual: Tensor,
    rows: Tensor,
    *,
    reading: Reading = "direction",
) -> ConstraintStates:
    """Return the states of conditions, each with the mechanisms it needs, for rows ``(i, f)``.

    :func:`causal_constraint_validity` says when a condition is triggered and when it holds.
    """
    if reading not in get_args(Reading):
        raise RuleError(f"reading is {reading!r}; expected 'direction' or 'strict'.")
    triggered = torch.zeros(len(rows), dtype=torch.bool)
    broken = triggered.clone()
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


def _premise_met(rule: Rule, factual: Tensor, rows: Tensor) -> Tensor:
    """Return where a rule without ``~>`` is triggered: where its premise, if any, is not false."""
    tree = rule.tree
    if isinstance(tree, Junction) and tree.operator == "=>":
        return ~replace(rule, tree=Not(tree.operands[0])).holds(factual, rows)
    return torch.ones_like(factual[:, 0], dtype=torch.bool)


def _direction(rule: Rule, factual: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return where a rule with ``~>`` holds by direction, and where it is triggered."""
    causes, effect = rule.dependence or ((), "")
    signs = torch.stack([_moved(rule.codec, name, factual, rows) for name in causes])
    same_way = (signs == signs[0]).all(0) & (signs[0] != 0) & _known(rule, factual, rows)
    return _moved(rule.codec, effect, factual, rows) == signs[0], same_way


def _strict(
    rule: Rule,
    factual: Tensor,
    rows: Tensor,
    mechanisms: Mapping[str, EffectPredictor],
) -> tuple[Tensor, Tensor]:
    """Return where a rule with ``~>`` holds by its mechanism, and where it is triggered."""
    _, effect = rule.dependence or ((), "")
    if effect not in mechanisms:
        raise RuleError(
            f"read strictly, rule {rule.text!r} needs the mechanism of {effect!r}, which was not"
            f" given. Give mechanisms={{{effect!r}: ...}}, or reading='direction'."
        )
    predict = mechanisms[effect]
    push = predict(rows) - predict(factual)
    sign = torch.where(push.abs() <= _MIN_MOVE, 0.0, push.sign())
    return _moved(rule.codec, effect, factual, rows) == sign, _known(rule, factual, rows)


def _known(rule: Rule, factual: Tensor, rows: Tensor) -> Tensor:
    """Return where no cell that a rule reads is missing."""
    read = [rule.codec.schema.position(name) for name in rule.features]
    missing = rule.codec.missing(factual) | rule.codec.missing(rows)
    return ~missing[:, read].any(-1)


def _moved(codec: Codec, name: str, factual: Tensor, rows: Tensor) -> Tensor:
    """Return in which direction a feature moved: -1, 0 or 1."""
    position = codec.schema.position(name)
    change = rows[:, position] - factual[:, position]
    return torch.where(change.abs() <= _MIN_MOVE, 0.0, change.sign())
