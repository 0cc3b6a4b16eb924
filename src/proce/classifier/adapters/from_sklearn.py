"""Estimators with ``predict_proba``: scikit-learn, XGBoost, LightGBM, CatBoost, pipelines.

They are given frames that look like the training rows, or arrays if they were fitted on arrays.
Raw values go to some boosted trees as the array that they would make of the frame themselves.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.classifier.adapters.model_arrays import ModelArrays
from proce.classifier.adapters.probe import check_answers, probe_rows
from proce.classifier.classifier import Adapter, checked_classes
from proce.classifier.prediction import (
    as_columns,
    check_probabilities,
    count_classes,
    predict_in_layout,
    translate_errors,
)
from proce.errors import ModelError, ModelInterfaceError, did_you_mean
from proce.schema import Codec, Continuous, Layout
from proce.schema.codec import frame_of_raw
from proce.schema.features.levels import level_type, quoted
from proce.schema.frames.frame import count_rows

_BOOSTERS = ("xgboost", "lightgbm", "catboost")
_ADVICE = (
    " It is asked with rows that look like those the codec was fitted on: fit the codec on the"
    " rows that the model was fitted on."
)


@dataclass(frozen=True, eq=False)
class SklearnClassifier(Adapter):
    """A fitted estimator that is given decoded rows."""

    model: Any
    layout: Layout
    as_array: bool

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return _name(self.model)

    @property
    def takes_arrays(self) -> bool:
        """Whether raw values get the same answers as the frame that holds them, but sooner."""
        return self._arrays is not None

    def _probabilities_of_raw(self, raw: Array) -> Array:
        columns = self._columns_by_arrays(raw)
        if columns is None:
            columns = self.columns_of(frame_of_raw(self.codec, raw, self.layout))
        return self._checked(columns)

    def _columns_by_arrays(self, raw: Array) -> Array | None:
        """Return the answer of boosted trees without a frame; ``None`` where that is needed."""
        if self._arrays is None:
            return None
        with translate_errors(self.name, len(raw), _ADVICE):
            answer = self._arrays.answer(raw)
        return None if answer is None else as_columns(answer, len(raw), self.name)

    @cached_property
    def _arrays(self) -> ModelArrays | None:
        """What boosted trees make of rows; ``None`` for other models."""
        return None if self.as_array else ModelArrays.of(self.model, self.codec, self.layout)

    def _probabilities_of_frame(self, frame: Any) -> Array:
        booster = is_boosted(self.model)
        columns = predict_in_layout(
            self.columns_of, frame, self.codec, self.layout, same_levels=booster
        )
        return self._checked(columns)

    def _checked(self, columns: Array) -> Array:
        return check_probabilities(columns, "probability", len(self.classes), self.name)

    def columns_of(self, frame: Any) -> Array:
        """Return the answer of the model for a frame, as columns that nobody has checked yet."""
        inputs, n_rows = frame, count_rows(frame)
        if self.as_array:
            inputs = nw.from_native(frame, eager_only=True).to_numpy()
        with translate_errors(self.name, n_rows, _ADVICE):
            answer = self.model.predict_proba(inputs)
        return as_columns(answer, n_rows, self.name)


def from_sklearn(
    model: Any, codec: Codec, threshold: float | None = None, *, classes: Any = None
) -> SklearnClassifier:
    """Adapt a fitted estimator or pipeline."""
    _refuse_unfitted(model)
    if not hasattr(model, "predict_proba"):
        raise ModelInterfaceError(
            f"{_name(model)} has no predict_proba, so it cannot say how likely a class is. Fit it"
            " inside sklearn.calibration.CalibratedClassifierCV, use a classifier that has it, or"
            " give a callable from a frame to probabilities."
        )
    known = _classes(model, classes)
    layout, as_array = _input_layout(model, codec)
    draft = SklearnClassifier(codec, (0, 1), None, model, layout, as_array)
    draft, columns = _tried(draft)
    if known is None:
        known = checked_classes(range(count_classes(columns)), draft.name)
    if threshold is None:
        threshold = _own_threshold(model, known)
    check_answers(columns, "probability", len(known), draft.name, codec)
    return replace(draft, classes=known, threshold=threshold)


def _tried(draft: SklearnClassifier) -> tuple[SklearnClassifier, Array]:
    """Ask a model about a few rows; one that says nothing of its input may want arrays."""
    rows = probe_rows(draft.codec)
    try:
        return draft, draft.columns_of(draft.codec.decode(rows, draft.layout))
    except ModelError:
        if _fitted_names(draft.model) or hasattr(draft.model, "n_features_in_"):
            raise
        with_arrays = replace(draft, as_array=True)
        try:
            return with_arrays, with_arrays.columns_of(draft.codec.decode(rows, draft.layout))
        except ModelError:
            pass  # the first error says more: people hold frames
        raise


def _name(model: Any) -> str:
    return f"the model {type(model).__name__}"


def _refuse_unfitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    said = getattr(model, "__sklearn_is_fitted__", None)
    is_fitted = not callable(said) or bool(said())
    if is_fitted and hasattr(model, "fit") and hasattr(model, "__sklearn_tags__"):
        try:
            check_is_fitted(model)
        except NotFittedError:
            is_fitted = False
        except Exception:
            pass  # tags that are not scikit-learn's: asking the model shows whether it can answer
    if not is_fitted:
        raise ModelError(f"{_name(model)} is not fitted; call its fit before it is explained.")


def _classes(model: Any, wanted: Any) -> Any:
    """Return the classes: the model's own or those wanted; ``None`` where nobody names them."""
    if not hasattr(model, "classes_"):
        return None if wanted is None else checked_classes(wanted, _name(model))
    known = checked_classes(model.classes_, _name(model))
    if wanted is not None and checked_classes(wanted, "classes=") != known:
        raise ModelError(
            f"classes={wanted!r} are not those of {_name(model)}, which are, in the order of its"
            f" columns, {quoted(known)}. Leave classes= out."
        )
    return known


def _deciding_estimators(model: Any) -> Iterator[Any]:
    """Yield the estimator, and the estimators inside it that decide for it."""
    # Those are the best one of a search, the last step of a pipeline, or what it wraps.
    yield model
    if steps := getattr(model, "steps", None):
        yield from _deciding_estimators(steps[-1][1])
        return
    for attribute in ("best_estimator_", "estimator_", "estimator"):
        if (inner := getattr(model, attribute, None)) is not None:
            yield from _deciding_estimators(inner)
            return


def _is_booster(model: Any) -> bool:
    packages = {base.__module__.split(".")[0] for base in type(model).__mro__}
    return not packages.isdisjoint(_BOOSTERS)


def is_boosted(model: Any) -> bool:
    """Return whether XGBoost, LightGBM or CatBoost decides inside a model."""
    return any(_is_booster(estimator) for estimator in _deciding_estimators(model))


def _input_layout(model: Any, codec: Codec) -> tuple[Layout, bool]:
    """Return the layout of the model's input, and whether the input is an array."""
    transforms = len(getattr(model, "steps", ())) > 1
    boosted = not transforms and is_boosted(model)
    layout = _category_layout(codec) if boosted else codec.layout
    columns = layout.columns
    names = _fitted_names(model)
    n_columns = getattr(model, "n_features_in_", None)
    if names is None:
        if n_columns is not None and n_columns != len(columns):
            raise ModelError(
                f"{_name(model)} was fitted on {n_columns} columns; the rows have {len(columns)}:"
                f" {quoted(columns)}. Give the rows with the columns that the model was fitted on."
            )
        return layout, n_columns is not None
    own = {column: column for column in columns}
    if boosted:  # LightGBM writes underscores for blanks
        own = {column.replace(" ", "_"): column for column in columns} | own
    if absent := [name for name in names if name not in own]:
        raise ModelError(
            f"{_name(model)} was fitted on the column {absent[0]!r}, which the rows do not have;"
            f" they have {quoted(columns)}.{did_you_mean(absent[0], columns)}"
        )
    return _reorder(layout, [own[name] for name in names]), False


def _fitted_names(model: Any) -> list[str] | None:
    """Return the columns that a model was fitted on; ``None`` if it was fitted on an array."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and _is_booster(model):
        names = getattr(model, "feature_names_", None)  # CatBoost
    if names is None or len(names) == 0 or list(names) == [str(i) for i in range(len(names))]:
        return None
    return [str(name) for name in names]


def _reorder(layout: Layout, columns: list[str]) -> Layout:
    if list(layout.columns) == columns:
        return layout
    header = layout.header
    if header is not None:
        header = header.take([layout.columns.index(column) for column in columns])
    return replace(layout, columns=tuple(columns), header=header)


def _category_layout(codec: Codec) -> Layout:
    """Return pandas' layout with text as categories of the schema's levels, in their order."""
    # LightGBM and XGBoost refuse text, and polars' categories end LightGBM's process.
    levels = {
        f.name: pd.CategoricalDtype(list(f.levels))
        for f in codec.schema
        if not isinstance(f, Continuous) and level_type(f.levels[0]) == "text"
    }
    dtypes = {
        column: levels[column]
        if column in levels and not isinstance(dtype, pd.CategoricalDtype)
        else dtype
        if codec.layout.library is nw.Implementation.PANDAS
        else _numpy_dtype(dtype)
        for column, dtype in codec.layout.dtypes.items()
    }
    header = codec.layout.header
    return replace(
        codec.layout,
        library=nw.Implementation.PANDAS,
        dtypes=dtypes,
        header=pd.Index(codec.layout.columns) if header is None else header,
    )


def _numpy_dtype(dtype: Any) -> "np.dtype[Any]":
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_integer():
        return np.dtype(np.int64)
    return np.dtype(np.float32 if dtype == nw.Float32 else np.float64)


def _own_threshold(model: Any, classes: tuple[Any, ...]) -> float | None:
    """Return the threshold that scikit-learn's threshold classifiers carry, if there is one."""
    for estimator in _deciding_estimators(model):
        kind = type(estimator).__name__
        if kind == "FixedThresholdClassifier":
            value, positive = estimator.threshold, estimator.pos_label
            value = 0.5 if value == "auto" else value
        elif kind == "TunedThresholdClassifierCV":
            value, positive = estimator.best_threshold_, estimator._curve_scorer._get_pos_label()
        else:
            continue
        if estimator.response_method == "decision_function":
            raise ModelInterfaceError(
                f"{_name(estimator)} decides by its decision function, not by probabilities. Fit it"
                " with response_method='predict_proba', or give threshold= yourself."
            )
        if positive is None or positive == classes[1]:
            return float(value)
        return math.nextafter(1 - float(value), 1)  # the first class where 1 - p >= its threshold
    return None
