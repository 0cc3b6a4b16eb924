"""Is the class reached (Eq. 19), and do effects follow their causes (Eq. 20)?

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
Predicted = Callable[[Tensor], Tensor]  # rows (i, f) -> the effect (i,)
_STILL = 1e-9  # on the unit range: less is no movement


def target_class_validity(
    classifier: Classifier, rows: Tensor, found: Tensor, target: Tensor
) -> float:
    """Return the share of rows whose counterfactual has the target class (%Tcv / 100, Eq. 19).

    Parameters
    ----------
    classifier
        Asked again.
    rows
        ``(i, f)``, a counterfactual for each row where there is one.
    found
        ``(i,)``, whether there is.
    target
        ``(i,)``, classes as positions.
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
        Rows with a counterfactual that breaks no condition.
    triggered
        Rows with a counterfactual on which some condition had something to say.
    satisfied
        Of these, the share that breaks none; NaN where there are none.
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
    mechanisms: Mapping[str, Predicted] | None = None,
) -> CausalValidity:
    """Return the share of rows whose counterfactual obeys the conditions.

    A condition ``a, b ~> c`` is triggered where every cause moved the same way, and then
    satisfied where c moved that way too. Read strictly, it is always triggered, and c must move
    as the prediction of its mechanism does. Neither where a cell that it names is missing. Any
    other rule is triggered by its premise, if it has one, and satisfied where it holds.

    Parameters
    ----------
    rules
        The conditions.
    factual, rows
        ``(i, f)``, before and after.
    found
        ``(i,)``, whether a row has a counterfactual.
    reading
        Of the conditions with ``~>``.
    mechanisms
        For the strict reading, by effect: the true one, or one fitted by whoever measures.
    """
    states = constraint_states(
        [(rule, mechanisms or {}) for rule in rules], factual, rows, reading=reading
    )
    valid, triggered = found & ~states.broken, found & states.triggered
    satisfied = float((~states.broken)[triggered].double().mean())
    return CausalValidity(float(valid.double().mean()), float(triggered.double().mean()), satisfied)


@dataclass(frozen=True, eq=False)
class ConstraintStates:
    """What the conditions say of each counterfactual: nothing, that it obeys, or that it does not.

    Attributes
    ----------
    triggered
        ``(i,)``, some condition has something to say.
    broken
        ``(i,)``, a condition that has something to say does not hold.
    """

    triggered: Tensor
    broken: Tensor


def constraint_states(
    rules: Sequence[tuple[Rule, Mapping[str, Predicted]]],
    factual: Tensor,
    rows: Tensor,
    *,
    reading: Reading = "direction",
) -> ConstraintStates:
    """Return what conditions, each with the mechanisms it needs, say of rows ``(i, f)``.

    See :func:`causal_constraint_validity`.
    """
    if reading not in get_args(Reading):
        raise RuleError(f"reading is {reading!r}; expected 'direction' or 'strict'.")
    triggered = torch.zeros(len(rows), dtype=torch.bool)
    broken = triggered.clone()
    for rule, mechanisms in rules:
        if rule.dependence is None:
            holds, spoken = rule.holds(factual, rows), _triggered(rule, factual, rows)
        elif reading == "strict":
            holds, spoken = _strict(rule, factual, rows, mechanisms)
        else:
            holds, spoken = _direction(rule, factual, rows)
        triggered |= spoken
        broken |= spoken & ~holds
    return ConstraintStates(triggered, broken)


def _triggered(rule: Rule, factual: Tensor, rows: Tensor) -> Tensor:
    """Return where a rule without ``~>`` has something to say: its premise is not false."""
    tree = rule.tree
    if isinstance(tree, Junction) and tree.operator == "=>":
        return ~replace(rule, tree=Not(tree.operands[0])).holds(factual, rows)
    return torch.ones_like(factual[:, 0], dtype=torch.bool)


def _direction(rule: Rule, factual: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    causes, effect = rule.dependence or ((), "")
    signs = torch.stack([_moved(rule.codec, name, factual, rows) for name in causes])
    same_way = (signs == signs[0]).all(0) & (signs[0] != 0) & _known(rule, factual, rows)
    return _moved(rule.codec, effect, factual, rows) == signs[0], same_way


def _strict(
    rule: Rule,
    factual: Tensor,
    rows: Tensor,
    mechanisms: Mapping[str, Predicted],
) -> tuple[Tensor, Tensor]:
    _, effect = rule.dependence or ((), "")
    if effect not in mechanisms:
        raise RuleError(
            f"read strictly, rule {rule.text!r} needs the mechanism of {effect!r}, which was not"
            f" given. Give mechanisms={{{effect!r}: ...}}, or reading='direction'."
        )
    predict = mechanisms[effect]
    push = predict(rows) - predict(factual)
    sign = torch.where(push.abs() <= _STILL, 0.0, push.sign())
    return _moved(rule.codec, effect, factual, rows) == sign, _known(rule, factual, rows)


def _known(rule: Rule, factual: Tensor, rows: Tensor) -> Tensor:
    """Return where no cell that a rule reads is missing."""
    read = [rule.codec.schema.position(name) for name in rule.features]
    missing = rule.codec.missing(factual) | rule.codec.missing(rows)
    return ~missing[:, read].any(-1)


def _moved(codec: Codec, name: str, factual: Tensor, rows: Tensor) -> Tensor:
    """Return -1, 0 or 1: where a feature went."""
    at = codec.schema.position(name)
    change = rows[:, at] - factual[:, at]
    return torch.where(change.abs() <= _STILL, 0.0, change.sign())
