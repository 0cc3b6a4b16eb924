"""Parameters that are set after a fit: some take effect, the others say that they need a fit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proce.methods.calls.construction import changed_parameters, checked_class_labels, require_fit
from proce.methods.calls.explain_options import checked_texts
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.fitting.causes import with_graph
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.modes import in_mode
from proce.schema import Rule

_WITHOUT_FIT = ("causal", "classes", "models", "rules")


def with_parameters(
    fitted: FittedParts, before: Mapping[str, Any], now: Mapping[str, Any]
) -> FittedParts:
    """Return the fitted parts under the parameters that an explainer has now.

    Parameters
    ----------
    fitted
        What was fitted.
    before, now
        The parameters with which it was fitted, and those of today, by name.

    Raises
    ------
    NotFittedError
        A parameter was changed that nothing but a new fit can take up.
    """
    changed = changed_parameters(before, now)
    require_fit("ProCE", [name for name in changed if name not in _WITHOUT_FIT])
    if "rules" in changed:
        fitted = _with_rules(fitted, now["rules"], before)
    if "classes" in changed:
        labels = checked_class_labels(now["classes"], fitted.classifier.classes)
        fitted = replace(fitted, class_labels=labels)
    if "causal" in changed:
        fitted = in_mode(fitted, now["causal"])
    return fitted


def _with_rules(fitted: FittedParts, rules: Any, before: Mapping[str, Any]) -> FittedParts:
    """Return the fitted parts with other rules.

    A rule may need an equation of the graph where the mode does not, and has not kept it.
    """
    texts = checked_texts("rules", rules)
    needs_equation = any(Rule.parse(text, fitted.codec).dependence for text in texts)
    has_graph = fitted.scm is None and before["graph"] is not None
    if needs_equation and has_graph and fitted.left_out is None:
        return with_graph(fitted, before["graph"], before["causal"], texts)
    bound = fitted.bind(texts)
    refuse_contradiction(bound, fitted.rows)
    return fitted.with_causes(rules=bound)
