"""Keep a classifier as part of an explainer, or a model in a file of its own.

Estimators of scikit-learn are kept by skops, ONNX models as they are, networks by their weights.
Models that only Python code can make (functions, a network's own class) are handed over again
when the explainer is loaded.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from proce.arguments import kind_name
from proce.arrays import Array
from proce.classifier.accept import as_classifier, is_torch_module
from proce.classifier.adapters.from_function import FunctionClassifier
from proce.classifier.adapters.from_onnx import OnnxClassifier, open_session
from proce.classifier.adapters.from_sklearn import SklearnClassifier, is_boosted
from proce.classifier.classifier import Classifier
from proce.classifier.encoding import EncodingName, InputEncoding
from proce.classifier.networks import TrainedNetwork
from proce.classifier.prediction import Output
from proce.classifier.skops_files import estimator_bytes, estimator_of
from proce.errors import ModelError, PersistenceError, first_line
from proce.files import read_bytes, write_bytes
from proce.paths import path_of
from proce.schema import Codec, Level
from proce.training_settings import TrainingRecord

Kind = Literal["skops", "onnx", "torch", "network", "none"]
_MAX_MODEL_BYTES = 4 * 2**30
_SUFFIXES = ".skops (a scikit-learn estimator) or .onnx"


@dataclass(frozen=True, kw_only=True)
class SavedClassifier:
    """What is kept of a classifier beside the file of its model."""

    kind: Kind  # how the model is kept: ``none`` where it is handed over at loading
    name: str  # the name of the model, for messages
    classes: tuple[Level, ...]  # Those of the classifier
    threshold: float | None
    adapted: bool  # whether the explainer was given a classifier rather than the model itself
    # Those of a network, an ONNX model or a function, where they have a name
    encoding: EncodingName | None = None
    output: Output | None = None
    training: TrainingRecord | None = None  # how one of the paper's networks was trained


def pack_classifier(
    classifier: Classifier, *, adapted: bool, model: bool = True
) -> tuple[SavedClassifier, bytes | None]:
    """Return what is kept of a classifier, and the file of its model where there is one."""
    kind = _kind(classifier) if model else "none"
    encoding = getattr(classifier, "encoding", None)
    own = encoding.kind if isinstance(encoding, InputEncoding) else encoding
    saved = SavedClassifier(
        kind=kind,
        name=_name(classifier),
        classes=classifier.classes,
        threshold=classifier.threshold,
        adapted=adapted,
        encoding=own if isinstance(own, str) else None,  # type: ignore[arg-type]
        output=getattr(classifier, "output", None),
        training=classifier.record if isinstance(classifier, TrainedNetwork) else None,
    )
    if isinstance(classifier, TrainedNetwork) and model:
        return saved, array_bytes(classifier.weights)
    if isinstance(classifier, SklearnClassifier) and kind == "skops":
        return saved, _estimator_bytes(classifier.model)
    if isinstance(classifier, OnnxClassifier) and kind == "onnx":
        return saved, classifier.content
    if kind == "torch":
        from proce.classifier.adapters.from_torch import module_bytes

        return saved, module_bytes(classifier.module)  # type: ignore[attr-defined]
    return saved, None


def load_classifier(saved: SavedClassifier, content: bytes, codec: Codec) -> tuple[Any, Any]:
    """Return the model that was kept, and the classifier around it."""
    if saved.kind == "network":
        network = _network(saved, content, codec)
        return network, network
    if saved.kind == "none" or saved.kind == "torch":
        raise PersistenceError(_absent_model_message(saved))
    model: Any = estimator_of(content) if saved.kind == "skops" else content
    classifier = _adapt(saved, model, codec)
    return classifier if saved.adapted else model, classifier


def adapt_given_model(
    saved: SavedClassifier, content: bytes, codec: Codec, model: Any
) -> tuple[Any, Classifier]:
    """Return the model that a person hands over, and the classifier around it."""
    constructor = isinstance(model, type) or (callable(model) and not is_torch_module(model))
    if saved.kind == "torch" and constructor and not isinstance(model, Classifier):
        from proce.classifier.adapters.from_torch import module_with

        model = module_with(model, content)
    return model, _adapt(saved, model, codec)


def array_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as the content of a safetensors file."""
    from safetensors.numpy import save

    return save({name: np.asarray(part, order="C") for name, part in arrays.items()})


def arrays_of(content: bytes) -> dict[str, Array]:
    """Return the arrays of a safetensors file."""
    from safetensors.numpy import load

    try:
        return load(content)
    except Exception as error:  # of a damaged file; the library raises several
        raise PersistenceError(f"the file of tensors is damaged: {first_line(error)}.") from error


def read_model(path: str | Path) -> Any:
    """Read a model from a file of its own."""
    path = path_of(path)
    _refuse_other_files(path)
    content = read_bytes(path, _MAX_MODEL_BYTES)
    try:
        if path.suffix == ".skops":
            return estimator_of(content)
        open_session(content)
    except (PersistenceError, ModelError) as error:
        raise PersistenceError(f"the model file {str(path)!r} cannot be used: {error}") from error
    return content


def write_model(model: Any, path: str | Path) -> Path:
    """Write a model to a file of its own, whole or not at all; :func:`read_model` reads it."""
    path = path_of(path)
    _refuse_other_files(path)
    if path.suffix == ".skops":
        content = _estimator_bytes(model)
    elif isinstance(model, bytes):
        content = model
    elif isinstance(model, str | Path):
        content = read_bytes(Path(model), _MAX_MODEL_BYTES)
    else:
        raise PersistenceError(
            f"{kind_name(model)} cannot be written as ONNX; give the path or the bytes of an"
            " ONNX model, or write an estimator to a file that ends in .skops."
        )
    write_bytes(path, content)
    return path


def _kind(classifier: Classifier) -> Kind:
    if isinstance(classifier, TrainedNetwork):
        return "network"
    if isinstance(classifier, SklearnClassifier):
        return "none" if is_boosted(classifier.model) else "skops"
    if isinstance(classifier, OnnxClassifier):
        return "none" if callable(classifier.encoding) else "onnx"
    if _is_torch_classifier(classifier):
        encoding = classifier.encoding  # type: ignore[attr-defined]
        return "torch" if isinstance(encoding, InputEncoding) else "none"
    return "none"


def _is_torch_classifier(classifier: Classifier) -> bool:
    """Whether a classifier is around a torch module; its adapter was loaded then."""
    adapter = sys.modules.get("proce.classifier.adapters.from_torch")
    return adapter is not None and isinstance(classifier, adapter.TorchClassifier)


def _name(classifier: Classifier) -> str:
    if isinstance(classifier, OnnxClassifier):
        return "an ONNX model"
    inner = getattr(classifier, "model", None)
    if isinstance(classifier, FunctionClassifier):
        inner = classifier.function
    elif _is_torch_classifier(classifier):
        inner = classifier.module  # type: ignore[attr-defined]
    named = classifier if inner is None else inner
    return str(getattr(named, "__name__", type(named).__name__))


def _estimator_bytes(model: Any) -> bytes:
    try:
        return estimator_bytes(model)
    except PersistenceError as error:
        raise PersistenceError(
            f"the model {type(model).__name__} cannot be saved: {error} Leave it out with"
            " save(folder, model=False), and hand it over at loading: load(folder, model=...)."
        ) from error


def _network(saved: SavedClassifier, content: bytes, codec: Codec) -> TrainedNetwork:
    if saved.encoding is None or saved.training is None:
        raise PersistenceError("the network was saved without its encoding or its weights.")
    weights = arrays_of(content)
    return TrainedNetwork.of(
        codec, weights, saved.classes, saved.threshold, saved.encoding, saved.training
    )


def _adapt(saved: SavedClassifier, model: Any, codec: Codec) -> Classifier:
    options: dict[str, Any] = {"classes": saved.classes, "output": saved.output}
    if is_torch_module(model) or isinstance(model, str | Path | bytes):
        options["encoding"] = saved.encoding
    elif isinstance(model, Classifier) or hasattr(model, "classes_"):
        options = {}
    elif hasattr(model, "predict_proba"):
        del options["output"]
    classifier = as_classifier(model, codec, saved.threshold, **options)
    if classifier.classes != saved.classes or classifier.threshold != saved.threshold:
        raise PersistenceError(
            f"the model has the classes {classifier.classes} and the threshold"
            f" {classifier.threshold}; the explainer was fitted on one with {saved.classes} and"
            f" {saved.threshold}. Hand that model over, or fit again."
        )
    return classifier


def _absent_model_message(saved: SavedClassifier) -> str:
    if saved.kind == "torch":
        return (
            f"the folder holds the weights of the network {saved.name}, but not its code; give"
            " load(folder, model=...) the network, or a function without arguments that makes one"
            " for the weights."
        )
    return (
        f"the folder does not hold the model ({saved.name}): it was left out, or is of a kind that"
        " is not saved (functions; XGBoost, LightGBM and CatBoost). In Python hand it over with"
        " load(folder, model=...); the command line takes explainers of .skops and .onnx models."
    )


def _refuse_other_files(path: Path) -> None:
    if path.suffix in (".skops", ".onnx"):
        return
    pickled = path.suffix in (".pkl", ".pickle", ".joblib", ".pt", ".pth")
    raise PersistenceError(
        f"the model file {str(path)!r} does not end in {_SUFFIXES}."
        + (" Pickles can run any code when they are read, so they are not." if pickled else "")
    )
