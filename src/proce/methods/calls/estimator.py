"""What scikit-learn expects of an estimator, once for every method."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from proce.classifier import Classifier
from proce.errors import NotFittedError, SearchError, did_you_mean
from proce.schema import Codec, Schema
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import MAX_WIDTH

_MAX_PARAMETER_LENGTH = 80  # characters of a parameter at a prompt


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A method whose parameters are those of its constructor, and what is known of its fit."""

    def _note_fit(self, codec: Codec, classifier: Classifier) -> None:
        """Set the attributes that scikit-learn expects, and remember under which parameters."""
        self._parameters = self.get_params(deep=False)
        self.feature_names_in_ = np.array(codec.schema.columns, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.classes_ = classifier.classes

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call .fit(X) with the rows that the"
                " model was trained on first."
            )

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor by name."""
        known = self.get_params(deep=True)
        for name in params:
            if name not in known:
                own = list(self.get_params(deep=False))
                raise SearchError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are"
                    f" {', '.join(own)}." + did_you_mean(name, own)
                )
        super().set_params(**params)
        return self

    def __repr__(self) -> str:
        """Return how the method was made: the parameters that are not as by default, in brief."""
        values, kind = self.get_params(deep=False), type(self).__name__
        parts = [
            f"{name}={_in_brief(values[name])}"
            for name, parameter in signature(type(self).__init__).parameters.items()
            if name in values and not _same(parameter.default, values[name])
        ]
        line = f"{kind}({', '.join(parts)})"
        if len(line) <= MAX_WIDTH:
            return line
        return "\n".join([f"{kind}(", *(f"    {part}," for part in parts), ")"])

    def __sklearn_is_fitted__(self) -> bool:
        return "_parameters" in vars(self)

    def __sklearn_clone__(self) -> Self:
        # scikit-learn would clone the model too, and a clone of it is not trained.
        return type(self)(**self.get_params(deep=False))


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
