"""Accept any kind of model: the first function that a model meets."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proce.arguments import checked, kind_name
from proce.arrays import Array
from proce.classifier.classifier import Adapter, Classifier
from proce.classifier.encoding import FrameFunction
from proce.classifier.prediction import Output, predict_frame, predict_raw, takes_frames
from proce.errors import ModelError, ModelInterfaceError, ProceError
from proce.schema import Codec, Continuous, Level

_ACCEPTED = (
    "a fitted classifier with predict_proba (scikit-learn, XGBoost, LightGBM, CatBoost, a"
    " pipeline), a torch module, an ONNX file, or a callable from a frame to probabilities"
)


@checked(ModelError)
def as_classifier(
    model: Any,
    codec: Codec,
    threshold: float | None = None,
    *,
    classes: Any = None,
    encoding: str | FrameFunction | None = None,
    output: Output | None = None,
) -> Classifier:
    """Put a model behind one interface; the model itself is never modified.

    The model is tried on a few made-up valid rows first, so that a model that does not fit is
    refused here.

    Parameters
    ----------
    model
        A fitted classifier with ``predict_proba`` (scikit-learn, XGBoost, LightGBM,
        CatBoost, a pipeline); a ``torch.nn.Module``, of which a copy is kept; the path or
        the bytes of an ONNX model; a callable from a frame to probabilities; or what this
        function returned earlier.
    codec
        The codec fitted on the rows that the model was trained on.
    threshold
        A binary model says its second class where its probability reaches this. Default:
        the threshold that the model carries (scikit-learn's threshold classifiers), else
        the likeliest class.
    classes
        The class labels, in the order of the model's columns. Default: the model's own, or
        0, 1, …
    encoding
        For networks and ONNX: ``"one_hot"`` (the default for networks), ``"label"``, or a
        function from a frame to the model's input. ONNX models are by default given the
        columns themselves.
    output
        For networks, ONNX and callables: ``"logit"`` or ``"probability"``. Default: detected
        from its outputs, and for callables ``"probability"``.

    Returns
    -------
    Classifier
        A ``DifferentiableClassifier`` for a network.

    Raises
    ------
    ModelError
        The model is not fitted, fails on valid rows, or was made for other rows.
    ModelInterfaceError
        It has no way to give probabilities.
    ModelOutputError
        It answers with a wrong shape, NaN, wrong sums or unknown classes.
    """
    if output not in (None, "logit", "probability"):
        raise ModelError(f"unknown output {output!r}; expected 'logit' or 'probability'.")
    if isinstance(model, type):
        raise ModelInterfaceError(
            f"got the class {model.__name__} itself; expected a fitted model made from it."
        )
    try:
        return _adapted(model, codec, threshold, classes, encoding, output)
    except ProceError:
        raise
    except Exception as error:  # of the model's own attributes, which are read to know its kind
        raise ModelInterfaceError(
            f"{kind_name(model)} raised {type(error).__name__} ({error}) while it was looked at,"
            f" before any row; expected {_ACCEPTED}. Where it answers rows all the same, give the"
            " function that does."
        ) from error


def _adapted(
    model: Any,
    codec: Codec,
    threshold: float | None,
    classes: Any,
    encoding: str | FrameFunction | None,
    output: Output | None,
) -> Classifier:
    """Return the adapter for the kind of a model."""
    if is_torch_module(model):
        from proce.classifier.adapters.from_torch import from_torch

        return from_torch(
            model, codec, threshold, classes=classes, encoding=encoding, output=output
        )
    if isinstance(model, (str, Path, bytes)):
        from proce.classifier.adapters.from_onnx import from_onnx

        return from_onnx(model, codec, threshold, classes=classes, encoding=encoding, output=output)
    _refuse("encoding", encoding, "networks and ONNX models")
    if _is_estimator(model):
        from proce.classifier.adapters.from_sklearn import from_sklearn

        _refuse("output", output, "networks, ONNX models and callables")
        return from_sklearn(model, codec, threshold, classes=classes)
    if isinstance(model, Classifier):
        _refuse("output", output, "models that are not yet adapted")
        _refuse("classes", classes, "models that are not yet adapted")
        return _check_adapted(model, codec, threshold)
    if callable(model) and not hasattr(model, "predict"):
        from proce.classifier.adapters.from_function import from_function

        return from_function(model, codec, threshold, classes=classes, output=output)
    raise ModelInterfaceError(
        f"{kind_name(model)} offers no way to ask for probabilities; expected {_ACCEPTED}."
    )


def is_torch_module(model: Any) -> bool:
    """Whether a model is a torch module, which there can be only where torch was imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _is_estimator(model: Any) -> bool:
    fits = hasattr(model, "fit") and hasattr(model, "predict")
    return (fits or hasattr(model, "predict_proba")) and not isinstance(model, Classifier)


def _refuse(option: str, value: Any, where: str) -> None:
    if value is not None:
        raise ModelError(f"{option}= is for {where}; leave it out for this model.")


def _check_adapted(model: Classifier, codec: Codec, threshold: float | None) -> Classifier:
    own = getattr(model, "codec", None)
    if own is not None and own is not codec and not same_rows(own.by_range, codec.by_range):
        raise ModelError(
            "the classifier was made for rows of another schema or scale; fit the codec on the"
            " rows that it was made with, or adapt the model again with this codec."
        )
    if threshold is None or threshold == model.threshold:
        return _on_rows_of(model, codec)
    if isinstance(model, Adapter):
        return _on_rows_of(replace(model, threshold=threshold), codec)
    raise ModelError(
        f"the classifier decides with threshold {model.threshold!r}, not {threshold!r}; give it"
        " the threshold when it is made."
    )


def _on_rows_of(model: Classifier, codec: Codec) -> Classifier:
    """Return a classifier that takes rows of the codec, whatever scale it was made on."""
    own = getattr(model, "codec", codec.by_range)
    if own is codec or same_rows(own, codec):
        return model
    if isinstance(model, Adapter):
        return model.with_codec(codec)
    return RescaledClassifier(codec, model)


@dataclass(frozen=True, eq=False)
class RescaledClassifier:
    """A classifier of somebody else's, which is given rows on the range of the training rows."""

    codec: Codec
    inner: Classifier

    @property
    def classes(self) -> tuple[Level, ...]:
        """The class labels of the classifier."""
        return self.inner.classes

    @property
    def threshold(self) -> float | None:
        """The threshold of the classifier."""
        return self.inner.threshold

    def predict_proba(self, rows: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)``."""
        return self.inner.predict_proba(self.codec.on_range(rows))

    def predict(self, rows: Array) -> Array:
        """Return the predicted class of each row, as a position among the classes."""
        return self.inner.predict(self.codec.on_range(rows))

    @property
    def takes_units(self) -> bool:
        """Whether the model itself is given numbers on the unit range."""
        return not takes_frames(self.inner) or self.inner.takes_units

    def predict_frame(self, frame: Any) -> Array:
        """Return the class probabilities ``(n, k)`` of the rows of a frame."""
        return predict_frame(self.inner, frame, self.codec.by_range)

    def predict_raw(self, raw: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` in raw units."""
        return predict_raw(self.inner, raw, self.codec.by_range)


def same_rows(first: Codec, second: Codec) -> bool:
    """Whether both codecs turn the same row into the same array."""
    levels = [
        [(f.name, None if isinstance(f, Continuous) else f.levels) for f in codec.schema]
        for codec in (first, second)
    ]
    scales = [(codec.low, codec.span) for codec in (first, second)]
    same_scale = all(np.array_equal(a, b) for a, b in zip(*scales, strict=True))
    return levels[0] == levels[1] and same_scale
