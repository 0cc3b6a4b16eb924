"""The options of a call, checked before anything is searched."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from proce.arguments import brief, check_count, is_listed, is_number
from proce.arrays import Array
from proce.classifier import Classifier, position_of
from proce.errors import SchemaError, SearchError, did_you_mean
from proce.objective import Requirement
from proce.schema import Codec, Level
from proce.schema.features.feature import MAX_EFFORT, MIN_EFFORT
from proce.schema.features.levels import shown

Pick = Literal["closest", "balanced", "typical", "first"]
MAX_ROWS_WITH_FRONTS = 1_000  # of a call, unless the caller wants fronts for more


@dataclass(frozen=True, eq=False)
class Options:
    """What one call of ``explain`` asks for; :meth:`proce.ProCE.explain` describes each option."""

    target: Level | None = None
    n: int = 4
    pick: Pick = "closest"
    vary: tuple[str, ...] | None = None
    ranges: Mapping[str, Any] | None = None
    max_changes: int | None = None
    effort: Mapping[str, float] | None = None
    min_probability: float | None = None
    rules: tuple[str, ...] = ()
    max_evaluations: int | None = None
    budget_seconds: float | None = None
    keep_front: bool | None = None
    causal: str | None = None
    robust: float | None = None
    models: Any = None

    def __post_init__(self) -> None:
        check_pick(self.pick)
        check_count("n", self.n, SearchError)
        for name in ("max_changes", "max_evaluations"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), SearchError)
        for name in ("ranges", "effort"):
            _check_mapping(name, getattr(self, name))
        if self.keep_front is not None and not isinstance(self.keep_front, bool | np.bool_):
            raise SearchError(f"keep_front is {brief(self.keep_front)}; expected True or False.")
        if self.causal is not None and not isinstance(self.causal, str):
            raise SearchError(f"causal is {brief(self.causal)}; expected a word such as 'hard'.")
        probability, budget = self.min_probability, self.budget_seconds
        if probability is not None and not (is_number(probability) and 0 < probability <= 1):
            raise SearchError(
                f"min_probability is {probability!r}; expected more than 0, at most 1."
            )
        robust = self.robust
        if robust is not None and not (is_number(robust) and 0 < robust <= 1):
            raise SearchError(
                f"robust is {robust!r}; expected more than 0, at most 1: the share of other models"
                " under which a counterfactual keeps its class, such as 0.95."
            )
        if budget is not None and not (is_number(budget) and budget > 0):
            raise SearchError(
                f"budget_seconds is {budget!r}; expected a positive number of seconds."
            )
        plain = ("target", "n", "ranges", "max_changes", "effort", "min_probability", "robust")
        for name in plain:
            object.__setattr__(self, name, _plain(getattr(self, name)))

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
                f"the model has the classes {shown(classifier.classes)}, and none is 'the other';"
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
                    f" {shown(codec.schema.names)}." + did_you_mean(name, codec.schema.names)
                )
            if not (is_number(weight) and MIN_EFFORT <= weight <= MAX_EFFORT):
                raise SearchError(
                    f"the effort of {name!r} is {weight!r}; expected {MIN_EFFORT:g} (easy) to"
                    f" {MAX_EFFORT:g} (hard), 1 being usual."
                )
            weights[codec.schema.position(name)] = weight
        return weights


def checked_texts(option: str, texts: Iterable[str] | None) -> tuple[str, ...]:
    """Return names or rules as a tuple; a single text in place of a list is refused."""
    if texts is None:
        return ()
    if isinstance(texts, str):
        raise SearchError(f"{option} is {texts!r}; expected a list, such as [{texts!r}].")
    if not is_listed(texts):
        raise SearchError(f"{option} is {brief(texts)}; expected a list of texts.")
    return tuple(texts)


def check_pick(pick: Any) -> None:
    """Refuse a pick that does not exist."""
    if not isinstance(pick, str) or pick not in get_args(Pick):
        known = ", ".join(repr(name) for name in get_args(Pick))
        hint = did_you_mean(pick, get_args(Pick))
        raise SearchError(f"pick is {pick!r}; expected one of {known}.{hint}")


def check_callback(progress: Any) -> None:
    """Refuse a progress callback that cannot be called."""
    if progress is not None and not callable(progress):
        raise SearchError(f"progress is {brief(progress)}; expected a function of a Progress.")


def check_above(name: str, value: Any, bound: float, advice: str = "") -> None:
    """Refuse what is not a finite number above ``bound``."""
    if not (is_number(value) and bound < value < float("inf")):
        raise SearchError(f"{name} is {value!r}; expected a number above {bound:g}{advice}.")


def _check_mapping(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Mapping):
        example = "(0, 100)" if name == "ranges" else "2"
        raise SearchError(f"{name} is {brief(value)}; expected {{name: {example}}}, by feature.")


def none_if_empty(value: Any) -> Any:
    """Return ``None`` for a mapping that says nothing, and all else as it is."""
    return None if isinstance(value, Mapping) and not value else value


def _plain(value: Any) -> Any:
    """Return a value, or the values in a collection, as JSON can hold them."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
