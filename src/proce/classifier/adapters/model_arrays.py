"""Boosted trees asked with arrays: what they make of a frame themselves, without the frame.

Turning a frame into numbers takes LightGBM and HistGradientBoosting longer than their trees do,
unless there are thousands of rows. Here levels become the model's codes by a table. That is done
only where the answers for made-up rows are the same bit for bit, and what is advised is checked on
frames in the end anyway.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array, Floats
from proce.classifier.adapters.probe import probe_rows
from proce.schema import Codec, Continuous, Layout
from proce.schema.codec import frame_of_raw
from proce.schema.round_trip import values_in_frame

_Read = Callable[[pd.DataFrame], tuple[Floats, list[str]]]


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """How rows in raw units become the array that a model makes of their frame."""

    codec: Codec  # the features, and the layout of the frames that the model is given
    layout: Layout
    order: tuple[int, ...]  # the feature of each column of the array, as a position
    # By the position of a feature with levels: what the model makes of each of them, then of a
    # missing one
    codes: Mapping[int, Floats]
    ask: Callable[[Floats], Floats]  # Asks the model about an array

    @classmethod
    def of(cls, model: Any, codec: Codec, layout: Layout) -> "ModelArrays | None":
        """Return the arrays of a model; ``None`` for other models, and where answers differ."""
        try:
            known = _reading_of(model)
            if known is None:
                return None
            read, ask = known
            order, codes = _tables(read, codec, layout)
            arrays = cls(codec, layout, order, codes, ask)
            raw = _probe(codec)
            expected = model.predict_proba(frame_of_raw(codec, raw, layout))
            answer = arrays.answer(raw)
        except Exception:  # a model that is not as these are known is asked with frames
            return None
        return arrays if answer is not None and np.array_equal(answer, expected) else None

    def answer(self, raw: Array) -> Floats | None:
        """Return the probabilities ``(n, k)`` of rows ``(n, f)`` in raw units."""
        # ``None`` where it is not known what a frame would hold of them.
        held = values_in_frame(self.codec, raw, self.layout)
        if held is None:
            return None
        values = held[:, self.order]
        for column, position in enumerate(self.order):
            if position in self.codes:
                values[:, column] = self.codes[position][values[:, column].astype(np.int64)]
        return self.ask(values)


def _reading_of(model: Any) -> tuple[_Read, Callable[[Floats], Floats]] | None:
    """Return how a model reads a frame, and how it is asked about what it reads."""
    kind = type(model).__module__.split(".")[0], type(model).__name__
    if any(name.startswith("pred") for name in {*model.get_params(), *vars(model)}):
        return None  # with options of prediction, or a method that somebody has replaced
    if kind == ("lightgbm", "LGBMClassifier") and not callable(model.objective):
        return partial(_read_by_lightgbm, model), partial(_ask_lightgbm, model)
    if kind == ("sklearn", "HistGradientBoostingClassifier"):
        twin = copy.copy(model)  # the same trees, without what reads frames
        twin._preprocessor = None
        vars(twin).pop("feature_names_in_", None)
        return partial(_read_by_sklearn, model), twin.predict_proba
    return None


def _read_by_lightgbm(model: Any, frame: pd.DataFrame) -> tuple[Floats, list[str]]:
    known = iter(model.booster_.pandas_categorical or ())
    columns = []
    for name, dtype in frame.dtypes.items():
        column = frame[name]
        if isinstance(dtype, pd.CategoricalDtype):
            column = column.cat.set_categories(next(known)).cat.codes
            column = column.where(column >= 0)
        columns.append(column.to_numpy(np.float64))
    return np.stack(columns, axis=1), list(frame.columns)


def _ask_lightgbm(model: Any, values: Floats) -> Floats:
    n_jobs = model.n_jobs
    n_threads = n_jobs if n_jobs is not None and n_jobs > 0 else 0
    result: Floats = model.booster_.predict(values, num_threads=n_threads)
    return result if result.ndim == 2 else np.stack([1.0 - result, result], axis=1)


def _read_by_sklearn(model: Any, frame: pd.DataFrame) -> tuple[Floats, list[str]]:
    names = np.array(frame.columns, dtype=object)
    if model._preprocessor is None:
        return frame.to_numpy(np.float64), names.tolist()
    coded = model.is_categorical_
    values: Floats = model._preprocessor.transform(frame)
    return values, [*names[coded], *names[~coded]]  # the order in which a model puts them


def _tables(read: _Read, codec: Codec, layout: Layout) -> tuple[tuple[int, ...], dict[int, Floats]]:
    """Return the order of a model's columns, and what it makes of each level of a feature."""
    levels = {p: len(f.levels) for p, f in enumerate(codec.schema) if not isinstance(f, Continuous)}
    n_rows = max(levels.values(), default=1)
    raw = np.tile(codec.to_raw(probe_rows(codec)[:1]), (n_rows, 1))
    for position, n_levels in levels.items():
        raw[:, position] = np.arange(n_rows) % n_levels
    values, names = read(frame_of_raw(codec, raw, layout))
    order = tuple(codec.schema.position(name) for name in names)
    codes = {  # the code -1 of a missing level is the last
        position: np.append(values[: levels[position], column], np.nan)
        for column, position in enumerate(order)
        if position in levels
    }
    return order, codes


def _probe(codec: Codec) -> Array:
    """Return valid rows in raw units, some of which lack cells that may be missing."""
    raw = codec.to_raw(probe_rows(codec))
    lacking = raw.copy()
    for position, feature in enumerate(codec.schema):
        if codec.may_miss[position]:
            lacking[position::7, position] = np.nan if isinstance(feature, Continuous) else -1
    return np.concatenate([raw, lacking])
