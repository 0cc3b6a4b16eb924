"""What an explainer keeps of its fit, and checks of how it was made, as scikit-learn has it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from proce.errors import NotFittedError, SearchError, did_you_mean
from proce.methods.calls.call import refuse_contradiction
from proce.methods.calls.explain_options import checked_texts
from proce.methods.fitting.fit import checked_class_labels, with_graph
from proce.methods.fitting.fitted import FittedParts, in_mode
from proce.schema import Rule, Schema
from proce.schema.codec import with_scales
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import MAX_WIDTH


class FittedEstimator(BaseEstimator):  # type: ignore[misc]
    """The fitted parts of an explainer, and whether they still serve its parameters."""

    causal: str
    rules: Sequence[str]

    def _set_fitted(self, fitted: FittedParts) -> None:
        """Keep the fitted or loaded parts, and set the attributes that scikit-learn expects."""
        self.fitted_ = fitted
        self._parameters = self.get_params(deep=False)
        self._by_mode: dict[str, tuple[FittedParts, FittedParts]] = {}  # of a call, by its mode
        self.feature_names_in_ = np.array(fitted.codec.schema.columns, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.classes_ = fitted.classifier.classes
        self.schema_ = with_scales(fitted.codec)  # print it: where a search looks, and the scale

    def _fitted(self) -> FittedParts:
        """Return the fitted parts under the parameters of today, or say that they need a fit."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                "this ProCE is not fitted yet; call .fit(X) with the rows that the model was"
                " trained on first."
            )
        before = self._parameters
        now = {name: getattr(self, name) for name in before}
        if changed_parameters(before, now):
            self._set_fitted(with_parameters(self.fitted_, before, now))
        fitted: FittedParts = self.fitted_
        return fitted

    def _in_mode(self, causal: str | None) -> FittedParts:
        """Return the fitted parts in the causal mode of a call, which is kept for the next one."""
        fitted = self._fitted()
        if causal is None:
            return fitted
        if causal not in self._by_mode or self._by_mode[causal][0] is not fitted:
            self._by_mode[causal] = fitted, in_mode(fitted, causal)
        return self._by_mode[causal][1]

    def with_graph(self, graph: Any, causal: str | None = None) -> Self:
        """Return a fitted explainer with another graph that answers as if it was fitted with it.

        The equations and their refits are fitted on the same training rows; all else, the latent
        space above all, is shared. This explainer stays as it is.

        Parameters
        ----------
        graph
            What causes what, as for the constructor.
        causal
            How strictly causes are taken, as for the constructor; by default as in this explainer.
        """
        fitted = self._fitted()
        causal = self.causal if causal is None else causal
        parts = with_graph(fitted, graph, causal, self.rules)
        return self._sharing(parts, graph=graph, causal=causal)

    def with_rules(self, rules: Sequence[str]) -> Self:
        """Return a fitted explainer with other rules that answers as if it was fitted with them.

        Everything else is shared, and this explainer stays as it is.

        Parameters
        ----------
        rules
            The rules that every counterfactual must obey, as for the constructor; they take the
            place of those of this explainer.
        """
        fitted, before = self._fitted(), self.get_params(deep=False)
        parts = with_parameters(fitted, before, {**before, "rules": rules})
        return self._sharing(parts, rules=rules)

    def _sharing(self, fitted: FittedParts, **changed: Any) -> Self:
        """Return another explainer around fitted parts, with some parameters of its own."""
        explainer = type(self)(**{**self.get_params(deep=False), **changed})
        explainer._set_fitted(fitted)
        return explainer

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor by name."""
        require_parameters(self, params)
        super().set_params(**params)
        return self

    def __repr__(self) -> str:
        return shown_parameters(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __sklearn_clone__(self) -> Self:
        # scikit-learn would clone the model too, and a clone of it is not trained.
        return type(self)(**self.get_params(deep=False))


_WITHOUT_FIT = ("causal", "classes", "models", "rules")


def with_parameters(
    fitted: FittedParts, before: Mapping[str, Any], now: Mapping[str, Any]
) -> FittedParts:
    """Return the fitted parts under the parameters that an explainer has now."""
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


_MAX_PARAMETER_LENGTH = 80  # characters of a parameter at a prompt


def shown_parameters(method: BaseEstimator) -> str:
    """Return how a method was made: the parameters that are not as by default, in brief."""
    values = method.get_params(deep=False)
    parts = [
        f"{name}={_in_brief(values[name])}"
        for name, parameter in signature(type(method).__init__).parameters.items()
        if name in values and not _same(parameter.default, values[name])
    ]
    line = f"{type(method).__name__}({', '.join(parts)})"
    if len(line) <= MAX_WIDTH:
        return line
    return "\n".join([f"{type(method).__name__}(", *(f"    {part}," for part in parts), ")"])


def _in_brief(value: Any) -> str:
    """Return a parameter on one line; of what is long its kind and its size."""
    try:
        line = " ".join(repr(value).split())
    except Exception:  # a model is the caller's, and so is how it is written
        return f"{type(value).__name__}(…)"
    if len(line) <= _MAX_PARAMETER_LENGTH:
        return line
    if isinstance(value, list | tuple | dict):
        return f"<{type(value).__name__} of {len(value):,}>"
    size = counted(len(value), "feature") if isinstance(value, Schema) else "…"
    return f"{type(value).__name__}({size})"


def require_parameters(method: BaseEstimator, names: Iterable[str]) -> None:
    """Refuse names of parameters that a method does not have."""
    known = method.get_params(deep=True)
    for name in names:
        if name not in known:
            own = method.get_params(deep=False)
            raise SearchError(
                f"{type(method).__name__} has no parameter {name!r}; its parameters are"
                f" {', '.join(own)}." + did_you_mean(name, list(own))
            )


def changed_parameters(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that are not what they were."""
    return [name for name, value in now.items() if not _same(before.get(name), value)]


def require_fit(method: str, changed: Sequence[str]) -> None:
    """Refuse to go on with what was fitted under other values of some parameters."""
    if not changed:
        return
    named = " and ".join(filter(None, [", ".join(changed[:-1]), changed[-1]]))
    raise NotFittedError(
        f"{named} of this {method} {'were' if len(changed) > 1 else 'was'} set after the fit, and"
        " can take effect only by another: call .fit(X) again."
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same; a model is compared as an object."""
    if one is other:
        return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    has_value = isinstance(one, str | int | float | Schema) or is_dataclass(one)
    return has_value and type(one) is type(other) and bool(one == other)
