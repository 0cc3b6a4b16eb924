"""Keep a fitted explainer in a folder, and load it: the same answers, and no pickle.

A folder holds ``manifest.json``, a file of arrays and, where it can be kept, the model.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Mechanism
from proce.causal.equations.terms import Equation
from proce.causal.models.saved import SavedCauses
from proce.classifier import Classifier
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.saved import (
    Content,
    SavedClassifier,
    adapt_given_model,
    load_classifier,
    pack_classifier,
)
from proce.errors import GraphError, MissingExtraError, PersistenceError, SchemaError
from proce.methods.calls.method import own_version, versions_in_use
from proce.methods.fitting.fitted import FittedParts
from proce.methods.saving.folder import (
    array_bytes,
    arrays_of,
    fitted_arrays,
    read_file,
    saving_into,
    write_file,
    write_manifest,
)
from proce.methods.saving.manifest import (
    FORMAT,
    Manifest,
    SavedOptions,
    SavedRows,
    SavedRule,
    read_manifest,
)
from proce.methods.saving.parts import (
    load_causes,
    load_codec,
    load_fitted,
    load_refits,
    refit_arrays,
)
from proce.objective import EffectPredictor
from proce.paths import path_of
from proce.schema import Codec
from proce.schema.frames.layout_json import exact_layout_to_json

_PACKAGES = ("torch", "numpy", "pandas", "scikit-learn", "safetensors", "skops")
_MAX_ANSWER_GAP = 1e-3  # of a probability: what another version of a library may change
_SUFFIX = {"skops": "skops", "onnx": "onnx", "torch": "safetensors", "network": "safetensors"}


@dataclass(frozen=True)
class LoadedExplainer:
    """A loaded explainer, taken apart."""

    parameters: dict[str, Any]  # the parameters of ProCE(...) by name
    fitted: FittedParts  # what the explainer had learned


def save_explainer(
    fitted: FittedParts,
    folder: str | Path,
    *,
    rows: bool,
    model: bool,
    adapted: bool,
    device: str,
    causal: str,
    threshold: float | None,
    models: Any = None,
) -> Path:
    """Write a fitted explainer to a folder, as :meth:`proce.ProCE.save` describes."""
    folder = path_of(folder, "folder")
    layout = _layout(fitted.codec)
    classifier, content = pack_classifier(fitted.classifier, adapted=adapted, model=model)
    causes, references = _causes(fitted)
    arrays = fitted_arrays(fitted, causes, rows=rows)
    with_rows = rows and fitted.left_out is None
    with_refits = classifier.kind == "skops"
    arrays |= refit_arrays(fitted.model_refits, rows=with_rows, models=with_refits)
    with saving_into(folder):
        model_file = None
        if classifier.kind != "none":
            inside = content.file if content.weights is None else array_bytes(content.weights)
            model_file = write_file(folder, "model", _SUFFIX[classifier.kind], inside or b"")
        manifest = Manifest(
            format=FORMAT,
            proce=own_version(),
            versions=versions_in_use(_PACKAGES),
            features=json.loads(fitted.codec.schema.to_json()),
            layout=layout,
            options=SavedOptions(
                seed=fitted.seed,
                device=str(device),
                causal=causal,  # type: ignore[arg-type]
                threshold=None if threshold is None else float(threshold),
                class_labels=_class_labels(fitted),
                models=int(models) if isinstance(models, Integral) else None,
            ),
            settings=fitted.settings,
            mode=fitted.mode,
            model=classifier,
            graphs=tuple(json.loads(graph) for graph in causes.graphs),
            mechanisms=tuple(causes.mechanisms),
            models=tuple(causes.models),
            **references,
            training=SavedRows(
                count=fitted.n_rows,
                sha256=fitted.training_hash,
                kept=with_rows,
            ),
            tensors=write_file(folder, "tensors", "safetensors", array_bytes(arrays)),
            model_file=model_file,
        )
        write_manifest(folder, manifest)
    return folder


def load_explainer(
    folder: str | Path,
    model: Any = None,
    equations: Mapping[str, Mechanism | Equation] | None = None,
) -> LoadedExplainer:
    """Read what :func:`save_explainer` wrote; see :meth:`proce.ProCE.load`."""
    folder = path_of(folder, "folder")
    manifest = read_manifest(folder)
    arrays = arrays_of(read_file(folder, manifest.tensors))
    with _reading(folder):
        codec = load_codec(manifest, arrays)
        content = _content(folder, manifest)
        if model is None:
            kept, classifier = load_classifier(manifest.model, content, codec)
            _require_same_answers(classifier, codec, arrays, manifest.model)
    if model is not None:  # an error here is not the folder's fault
        kept, classifier = adapt_given_model(manifest.model, content, codec, model)
        _require_same_answers(classifier, codec, arrays, manifest.model)
    with _reading(folder):
        models = load_causes(manifest, arrays, codec, equations or {})
        fitted = load_fitted(manifest, arrays, codec, classifier, models)
        options = manifest.options
        refits = load_refits(arrays, classifier, fitted.rows, options.threshold, options.seed)
        fitted = replace(fitted, model_refits=refits)
    if fitted.scm is not None:
        fitted.scm.check_given(fitted.rows)
    return LoadedExplainer(_parameters(manifest, kept, fitted), fitted)


def _class_labels(fitted: FittedParts) -> tuple[str | None, ...] | None:
    if not fitted.class_labels:
        return None
    return tuple(fitted.class_labels.get(label) for label in fitted.classifier.classes)


def _layout(codec: Codec) -> dict[str, Any]:
    try:
        return exact_layout_to_json(codec.layout)
    except SchemaError as error:
        raise PersistenceError(f"the explainer cannot be saved: {error}") from None


def _causes(fitted: FittedParts) -> tuple[SavedCauses, dict[str, Any]]:
    """Take all causal models apart; return them, and the manifest's fields that refer to them."""
    causes = SavedCauses()
    rules = []
    scm = None if fitted.scm is None else causes.add(fitted.scm)
    for rule, predictors in fitted.rules:
        scms = [
            predictor.scm
            for predictor in predictors.values()
            if isinstance(predictor, EffectPredictor)
        ]
        rules.append(SavedRule(text=rule.text, model=causes.add(scms[0]) if scms else None))
    ensembles: dict[str, Any] = {}
    for name, ensemble in (("ensemble", fitted.ensemble), ("refits", fitted.refits)):
        members = None if ensemble is None else tuple(map(causes.add, ensemble.members))
        ensembles[name] = members
    return causes, {"scm": scm, "rules": tuple(rules), **ensembles}


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turn any error that a changed folder leads to into one that names the folder."""
    try:
        yield
    except (PersistenceError, MissingExtraError):
        raise
    except GraphError as error:
        raise PersistenceError(f"{str(folder)!r} cannot be loaded: {error}") from error
    except Exception as error:  # values that fit each other in form but not in meaning
        line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise PersistenceError(
            f"{str(folder)!r} cannot be loaded: {line}. It was changed or is damaged; save the"
            " explainer again."
        ) from error


def _content(folder: Path, manifest: Manifest) -> Content:
    kind = manifest.model.kind
    if (kind == "none") != (manifest.model_file is None):
        raise PersistenceError(f"{str(folder)!r} names a model of kind {kind!r} without its file.")
    if manifest.model_file is None:
        return Content()
    content = read_file(folder, manifest.model_file)
    return Content(weights=arrays_of(content)) if kind == "network" else Content(content)


def _require_same_answers(
    classifier: Classifier, codec: Codec, arrays: dict[str, Array], saved: SavedClassifier
) -> None:
    """Refuse a model that does not answer as the one that the explainer was fitted with."""
    answers, now = arrays.get("answers"), classifier.predict_proba(probe_rows(codec))
    if answers is None or answers.shape != now.shape or answers.dtype != now.dtype:
        raise PersistenceError("the answers of the model that was saved are damaged.")
    gap = float(np.nan_to_num(np.abs(answers - now), nan=1.0).max())
    if gap <= _MAX_ANSWER_GAP:
        return
    network = saved.kind == "torch" or saved.name == "an ONNX model"
    raise PersistenceError(
        f"the model does not answer as the one that the explainer was fitted with ({saved.name}):"
        f" probabilities differ by up to {gap:.3g}. Hand that model over, or fit again with this"
        " one." + (" For a network, hand over what makes it, not a new one." if network else "")
    )


def _parameters(manifest: Manifest, model: Any, fitted: FittedParts) -> dict[str, Any]:
    """Return the parameters of ``ProCE(...)`` with which the explainer could be fitted again."""
    scm = fitted.scm
    given = scm is not None and not scm.records
    options = manifest.options
    return {
        "model": model,
        "schema": fitted.codec.schema,
        "graph": None if scm is None else scm if given else scm.graph,
        "rules": tuple(rule.text for rule, _ in fitted.rules),
        "causal": options.causal,
        "settings": fitted.settings,
        "threshold": options.threshold,
        "seed": fitted.seed,
        "device": options.device,
        "classes": fitted.class_labels or None,
        "models": options.models,
    }
