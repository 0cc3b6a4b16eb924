"""Parameters that are set after a fit: some take effect, the others say that they need a fit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proce.methods.calls.construction import changed_parameters, checked_class_labels, require_fit
from proce.methods.calls.options import checked_texts
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.modes import in_mode

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
        rules = fitted.bind(checked_texts("rules", now["rules"]))
        refuse_contradiction(rules, fitted.rows)
        fitted = replace(fitted, rules=rules)
    if "classes" in changed:
        labels = checked_class_labels(now["classes"], fitted.classifier.classes)
        fitted = replace(fitted, class_labels=labels)
    if "causal" in changed:
        fitted = in_mode(fitted, now["causal"])
    return fitted
