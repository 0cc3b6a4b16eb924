"""The options of a call, checked before anything is searched."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arguments import is_number
from proce.arrays import Array
from proce.classifier import Classifier, position_of
from proce.errors import SchemaError, SearchError, did_you_mean
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS, Bounds, Pick
from proce.objective import Requirement
from proce.schema import Codec, Level
from proce.schema.features.levels import quoted

MAX_ROWS_WITH_FRONTS = 1_000  # of a call, unless the caller wants fronts for more
_EFFORTS = EXPLAIN_OPTIONS["effort"].bounds or Bounds()


@dataclass(frozen=True, eq=False)
class Options:
    """What one call of ``explain`` asks for, checked as `EXPLAIN_OPTIONS` declares it."""

    target: Level | None = None
    n: int = 4
    pick: Pick = "closest"
    vary: Iterable[str] | None = None
    ranges: Mapping[str, Any] | None = None
    max_changes: int | None = None
    effort: Mapping[str, float] | None = None
    min_probability: float | None = None
    rules: Sequence[str] = ()
    max_evaluations: int | None = None
    budget_seconds: float | None = None
    keep_front: bool | None = None
    causal: str | None = None
    robust: float | None = None
    models: Any = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            option = EXPLAIN_OPTIONS[name]
            value = option.read(getattr(self, name))
            is_plain = name == "target" or option.by_feature or option.bounds is not None
            object.__setattr__(self, name, _plain(value) if is_plain else value)

    def plain(self) -> dict[str, Any]:
        """Return the options that are set, as values that survive JSON."""
        values = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}
        if isinstance(self.models, Sequence):
            values["models"] = [type(model).__name__ for model in self.models]
        return {name: value for name, value in values.items() if value not in (None, [], {})}

    def keeps_fronts(self, n_rows: int) -> bool:
        """Whether whole Pareto fronts are kept for a call of so many rows."""
        return n_rows <= MAX_ROWS_WITH_FRONTS if self.keep_front is None else self.keep_front

    def requirement(self, classifier: Classifier, margin: float) -> Requirement:
        """Return what counts as reaching the target; ``min_probability`` replaces the margin."""
        own_margin = 0.0 if self.min_probability else margin
        return Requirement(classifier.threshold, own_margin, self.min_probability)

    def targets(self, predicted: Array, classifier: Classifier) -> Array:
        """Return the wanted class of each row, ``(i,)``."""
        if self.target is not None:
            return np.full_like(predicted, position_of(self.target, classifier.classes))
        if len(classifier.classes) != 2:
            raise SearchError(
                f"the model has the classes {quoted(classifier.classes)}, and none is 'the other';"
                " say which is wanted with target=."
            )
        return 1 - predicted

    def effort_weights(self, codec: Codec) -> Array:
        """Return how hard a change of each feature is, ``(f,)``.

        What the call says of a feature replaces what the schema says.
        """
        weights = np.array([feature.effort for feature in codec.schema], dtype=np.float64)
        for name, weight in (self.effort or {}).items():
            if name not in codec.schema:
                raise SchemaError(
                    f"effort names {name!r}, which is not a feature; the features are"
                    f" {quoted(codec.schema.names)}." + did_you_mean(name, codec.schema.names)
                )
            if not _EFFORTS.admit(weight):
                raise SearchError(
                    f"the effort of {name!r} is {weight!r}; expected {_EFFORTS.least:g} (easy) to"
                    f" {_EFFORTS.most:g} (hard), 1 being usual."
                )
            weights[codec.schema.position(name)] = weight
        return weights


def check_above(name: str, value: Any, bound: float, advice: str = "") -> None:
    """Refuse what is not a finite number above ``bound``."""
    if not (is_number(value) and bound < value < float("inf")):
        raise SearchError(f"{name} is {value!r}; expected a number above {bound:g}{advice}.")


def _plain(value: Any) -> Any:
    """Return a value, or the values in a collection, as JSON can hold them."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
