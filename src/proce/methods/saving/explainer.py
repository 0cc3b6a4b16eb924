"""Keep a fitted explainer in a folder, and load it: the same answers, and no pickle.

A folder holds ``manifest.json``, a file of arrays and, where it can be kept, the model. The parts
of an explainer are checked against each other when they are put together again.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Ensemble, Mechanism, StructuralCausalModel
from proce.causal.equations.terms import Equation
from proce.causal.models.saved import SavedCauses
from proce.classifier import Classifier, as_classifier
from proce.classifier.adapters.from_sklearn import SklearnClassifier
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.refits import ModelRefits
from proce.classifier.saved import (
    SavedClassifier,
    adapt_given_model,
    array_bytes,
    arrays_of,
    load_classifier,
    pack_classifier,
)
from proce.classifier.skops_files import estimator_bytes, estimator_of
from proce.errors import GraphError, MissingExtraError, PersistenceError, SchemaError, first_line
from proce.latent import AutoEncoder, PrototypeIndex
from proce.methods.calls.call import BoundRule
from proce.methods.calls.method import own_version, versions_in_use
from proce.methods.fitting.fit import checked_class_labels
from proce.methods.fitting.fitted import FittedParts, RowsLeftOut, TrainingFacts
from proce.methods.fitting.typical import N_LOOKS, ClassLooks
from proce.methods.saving.folder import (
    FORMAT,
    Manifest,
    SavedOptions,
    SavedRows,
    SavedRule,
    read_file,
    read_manifest,
    saving_into,
    write_file,
    write_manifest,
)
from proce.objective import EffectPredictor
from proce.paths import path_of
from proce.schema import Codec, Continuous, Level, Rule, Schema
from proce.schema.frames.layout_json import exact_layout_from_json, exact_layout_to_json

_PACKAGES = ("torch", "numpy", "pandas", "scikit-learn", "safetensors", "skops")
_MAX_ANSWER_GAP = 1e-3  # of a probability: what another version of a library may change
_SUFFIX = {"skops": "skops", "onnx": "onnx", "torch": "safetensors", "network": "safetensors"}


def save_explainer(
    fitted: FittedParts,
    parameters: Mapping[str, Any],
    folder: str | Path,
    *,
    rows: bool,
    model: bool,
) -> Path:
    """Write what ``ProCE(**parameters)`` has learned, as :meth:`proce.ProCE.save` describes."""
    folder, threshold = path_of(folder, "folder"), parameters["threshold"]
    models, adapted = parameters["models"], isinstance(parameters["model"], Classifier)
    layout = _layout(fitted.codec)
    classifier, content = pack_classifier(fitted.classifier, adapted=adapted, model=model)
    causes, references = _causes(fitted)
    arrays = fitted_arrays(fitted, causes, rows=rows)
    with_rows = rows and fitted.left_out is None
    with_refits = classifier.kind == "skops"
    arrays |= refit_arrays(fitted.model_refits, rows=with_rows, models=with_refits)
    with saving_into(folder):
        model_file = None
        if content is not None:
            model_file = write_file(folder, "model", _SUFFIX[classifier.kind], content)
        manifest = Manifest(
            format=FORMAT,
            proce=own_version(),
            versions=versions_in_use(_PACKAGES),
            features=json.loads(fitted.codec.schema.to_json()),
            layout=layout,
            options=SavedOptions(
                seed=fitted.seed,
                device=str(parameters["device"]),
                causal=parameters["causal"],
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
                sha256=fitted.facts.training_hash,
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
) -> tuple[dict[str, Any], FittedParts]:
    """Return the parameters and the fitted parts that :func:`save_explainer` wrote."""
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
    return _parameters(manifest, kept, fitted), fitted


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
        raise PersistenceError(
            f"{str(folder)!r} cannot be loaded: {first_line(error)}. It was changed or is damaged;"
            " save the explainer again."
        ) from error


def _content(folder: Path, manifest: Manifest) -> bytes:
    """Return the file of the model; nothing where the model was left out."""
    kind = manifest.model.kind
    if (kind == "none") != (manifest.model_file is None):
        raise PersistenceError(f"{str(folder)!r} names a model of kind {kind!r} without its file.")
    return b"" if manifest.model_file is None else read_file(folder, manifest.model_file)


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


def fitted_arrays(fitted: FittedParts, causes: SavedCauses, *, rows: bool) -> dict[str, Array]:
    """Return everything of fitted parts that is kept as an array, by name."""
    codec = fitted.codec
    latents, predicted = fitted.index.members
    arrays = {
        "codec.low": codec.low,
        "codec.span": codec.span,
        "codec.may_miss": codec.may_miss,
        "codec.seen_low": codec.seen_low,
        "codec.seen_high": codec.seen_high,
        "codec.resolution": codec.resolution,
        "latents": latents,
        "predicted": predicted,
        "answers": fitted.classifier.predict_proba(probe_rows(codec)),
        **{f"autoencoder.{name}": weight for name, weight in fitted.autoencoder.weights.items()},
        **looks_arrays(fitted.looks),
        **{f"equation.{number}": weights for number, weights in causes.weights.items()},
    }
    for number, model in causes.estimators.items():
        arrays[f"trees.{number}"] = np.frombuffer(estimator_bytes(model), dtype=np.uint8).copy()
    if rows and fitted.left_out is None:
        arrays["rows"] = fitted.rows
    return arrays


def load_codec(manifest: Manifest, arrays: dict[str, Array]) -> Codec:
    """Return the codec: the schema, the scale of the features and the training frame's layout."""
    schema = Schema.from_json(json.dumps(manifest.features))
    low, span, may_miss = (arrays[f"codec.{name}"] for name in ("low", "span", "may_miss"))
    names = ("seen_low", "seen_high", "resolution")  # explainers of before have none of these
    seen = {name: arrays[f"codec.{name}"] for name in names if f"codec.{name}" in arrays}
    numbers = (low, span, *seen.values())
    sound = all(column.shape == (len(schema),) for column in (*numbers, may_miss))
    sound = sound and len(seen) in (0, len(names)) and may_miss.dtype == np.bool_
    sound = sound and all(each.dtype == np.float64 for each in numbers)
    sound = sound and all(np.isfinite(each).all() for each in numbers) and bool((span > 0).all())
    if sound and seen:
        sound = bool((seen["seen_low"] <= seen["seen_high"]).all())
        sound = sound and bool((seen["resolution"] >= 0).all())
    if not sound:
        raise PersistenceError("the scale of the features is damaged.")
    try:
        layout = exact_layout_from_json(manifest.layout, schema.columns)
    except SchemaError as error:
        raise PersistenceError(f"the layout of the training frame is damaged: {error}") from None
    return Codec(schema, low, span, may_miss, layout, **seen)


def load_causes(
    manifest: Manifest,
    arrays: dict[str, Array],
    codec: Codec,
    equations: Mapping[str, Mechanism | Equation],
) -> list[StructuralCausalModel]:
    """Return all causal models; ``equations`` has those that a person had given as functions."""
    weights = _numbered(arrays, "equation", len(manifest.mechanisms))
    trees = _numbered(arrays, "trees", len(manifest.mechanisms))
    causes = SavedCauses(
        [json.dumps(graph) for graph in manifest.graphs],
        list(manifest.mechanisms),
        list(manifest.models),
        weights,
        {number: estimator_of(content.tobytes()) for number, content in trees.items()},
    )
    return causes.load(codec, equations)


def _numbered(arrays: dict[str, Array], name: str, count: int) -> dict[int, Array]:
    """Return the arrays ``name.0``, ``name.1``, … that are there, by their numbers."""
    keys = {number: f"{name}.{number}" for number in range(count)}
    return {number: arrays[key] for number, key in keys.items() if key in arrays}


def load_fitted(
    manifest: Manifest,
    arrays: dict[str, Array],
    codec: Codec,
    classifier: Classifier,
    models: list[StructuralCausalModel],
) -> FittedParts:
    """Return what the explainer had learned."""
    training = manifest.training
    prefix = "autoencoder."
    weights = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    if any(weight.dtype != np.float32 for weight in weights.values()):
        raise PersistenceError("the weights of the auto-encoder are damaged.")
    autoencoder = AutoEncoder.of_weights(codec, weights)
    latents, predicted = arrays["latents"], arrays["predicted"]
    known = predicted.dtype == np.int64 and predicted.shape == (training.count,)
    known = known and latents.shape == (training.count, autoencoder.latent_size)
    if not known or latents.dtype != np.float32 or not bool(np.isfinite(latents).all()):
        raise PersistenceError("the latents of the training rows are damaged.")
    if bool(((predicted < 0) | (predicted >= len(classifier.classes))).any()):
        raise PersistenceError("the predicted classes of the training rows are damaged.")
    if manifest.scm is None and manifest.mode != "off":
        raise PersistenceError(f"the mode is {manifest.mode!r}, and there is no causal model.")
    rows = _rows(manifest, arrays, codec)
    left_out = None if training.kept else RowsLeftOut(training.count, training.sha256)
    return FittedParts(
        codec,
        classifier,
        autoencoder,
        PrototypeIndex(latents, predicted, classifier.classes),
        rows,
        TrainingFacts.of(codec, classifier, autoencoder, rows, left_out),
        None if manifest.scm is None else models[manifest.scm],
        _ensemble(models, manifest.ensemble),
        _ensemble(models, manifest.refits),
        manifest.mode,
        tuple(_rule(rule, models, codec) for rule in manifest.rules),
        manifest.settings,
        manifest.options.seed,
        left_out,
        _load_class_labels(manifest, classifier),
        looks=load_looks(arrays, codec, len(classifier.classes)),
        device=manifest.options.device,
    )


def _load_class_labels(manifest: Manifest, classifier: Classifier) -> dict[Level, str]:
    labels = manifest.options.class_labels
    if labels is None:
        return {}
    if len(labels) != len(classifier.classes):
        raise PersistenceError("the names of the classes are damaged.")
    pairs = zip(classifier.classes, labels, strict=True)
    given = {label: words for label, words in pairs if words is not None}
    return checked_class_labels(given, classifier.classes)


def _rows(manifest: Manifest, arrays: dict[str, Array], codec: Codec) -> Array:
    """Return the training rows after a check of their values; none where they were left out."""
    if not manifest.training.kept:
        return np.empty((0, len(codec.schema)), dtype=np.float64)
    rows, expected = arrays["rows"], (manifest.training.count, len(codec.schema))
    sound = rows.shape == expected and rows.dtype == np.float64
    sound = sound and not bool(np.isinf(rows).any())
    for position, feature in enumerate(codec.schema):
        if sound and not isinstance(feature, Continuous):
            codes = rows[:, position]
            whole = (codes == codes.round()) & (codes >= -1) & (codes < len(feature.levels))
            sound = bool(whole.all())
    if not sound:
        raise PersistenceError("the training rows are damaged.")
    return rows


def _rule(saved: SavedRule, models: list[StructuralCausalModel], codec: Codec) -> BoundRule:
    rule = Rule.parse(saved.text, codec)
    if rule.dependence is None:
        return rule, {}
    effect = rule.dependence[1]
    scm = None if saved.model is None else models[saved.model]
    if scm is None or effect not in scm.graph.endogenous:
        raise PersistenceError(f"the rule {saved.text!r} has no equation of {effect!r}.")
    return rule, {effect: EffectPredictor(scm, effect)}


def _ensemble(
    models: list[StructuralCausalModel], members: tuple[int, ...] | None
) -> Ensemble | None:
    return None if members is None else Ensemble(tuple(models[number] for number in members))


_PREFIX = "looks"
_ALL = "all"


def looks_arrays(looks: ClassLooks) -> dict[str, Array]:
    """Return the weights of all auto-encoders that were learned, by name."""
    learned = {_ALL: looks.of_all, **{str(label): own for label, own in looks.by_class.items()}}
    return {
        f"{_PREFIX}.{label}.{number}.{name}": weight
        for label, autoencoders in learned.items()
        for number, autoencoder in enumerate(autoencoders)
        for name, weight in autoencoder.weights.items()
    }


def load_looks(arrays: dict[str, Array], codec: Codec, n_classes: int) -> ClassLooks:
    """Return what had been learned; nothing where the explainer was never asked for it."""
    weights: dict[tuple[str, str], dict[str, Array]] = {}
    for key, weight in arrays.items():
        if key.startswith(f"{_PREFIX}."):
            _, label, number, name = key.split(".", 3)
            weights.setdefault((label, number), {})[name] = weight
    labels = {label for label, _ in weights}
    expected = {(label, str(number)) for label in labels for number in range(N_LOOKS)}
    sound = weights.keys() == expected and labels <= {_ALL, *map(str, range(n_classes))}
    sound = sound and (not labels or _ALL in labels)
    floats = all(part.dtype == np.float32 for own in weights.values() for part in own.values())
    if not sound or not floats:
        raise PersistenceError("what the classes look like is damaged.")
    learned = {
        label: [
            AutoEncoder.of_weights(codec.by_range, weights[label, str(number)])
            for number in range(N_LOOKS)
        ]
        for label in labels
    }
    of_all = learned.pop(_ALL, [])
    return ClassLooks(of_all, {int(label): own for label, own in learned.items()})


_LABELS = "labels"
_REFIT = "model_refit."


def refit_arrays(refits: ModelRefits | None, *, rows: bool, models: bool) -> dict[str, Array]:
    """Return what is kept of refits, by the name of the array."""
    if refits is None:
        return {}
    arrays = {_LABELS: refits.labels} if rows and len(refits.labels) else {}
    for number, refit in enumerate(refits.kept if models else ()):
        assert isinstance(refit, SklearnClassifier), "only such models are fitted again"
        content = np.frombuffer(estimator_bytes(refit.model), dtype=np.uint8)
        arrays[f"{_REFIT}{number}"] = content.copy()
    return arrays


def load_refits(
    arrays: dict[str, Array],
    classifier: Classifier,
    rows: Array,
    threshold: float | None,
    seed: int,
) -> ModelRefits | None:
    """Return the refits of a saved explainer; ``None`` without labels or refits."""
    names = [f"{_REFIT}{number}" for number in range(len(arrays))]
    saved = [arrays[name] for name in names if name in arrays]
    labels = arrays.get(_LABELS, np.empty(0, dtype=np.int64))
    if not isinstance(classifier, SklearnClassifier) or not (len(saved) or len(labels)):
        return None
    known = labels.dtype == np.int64 and labels.shape in ((len(rows),), (0,))
    if not known or bool(((labels < 0) | (labels >= len(classifier.classes))).any()):
        raise PersistenceError("the labels of the training rows are damaged.")
    models = [estimator_of(content.tobytes()) for content in saved]
    kept = [as_classifier(model, classifier.codec, threshold) for model in models]
    if any(refit.classes != classifier.classes for refit in kept):
        raise PersistenceError("the refits of the model are damaged.")
    return ModelRefits(classifier, rows[: len(labels)], labels, threshold, seed, kept)
