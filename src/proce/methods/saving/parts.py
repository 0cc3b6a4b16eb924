"""The parts of a saved explainer, put together again and checked against each other."""

import json
from collections.abc import Mapping

import numpy as np

from proce.arrays import Array
from proce.causal import Ensemble, Mechanism, StructuralCausalModel
from proce.causal.equations.mechanism import Equation
from proce.causal.models.saved import SavedCauses
from proce.classifier import Classifier
from proce.classifier.skops_files import estimator_of
from proce.errors import PersistenceError, SchemaError
from proce.latent import AutoEncoder, PrototypeIndex
from proce.methods.calls.construction import checked_class_labels
from proce.methods.calls.rules import BoundRule
from proce.methods.fitting.fitted import FittedParts, RowsLeftOut
from proce.methods.saving.looks import load_looks
from proce.methods.saving.manifest import Manifest, SavedRule
from proce.objective import EffectPredictor
from proce.schema import Codec, Continuous, Level, Rule, Schema
from proce.schema.frames.layout_json import exact_layout_from_json


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
    if not sound or not _is_scale(**{"low": low, "span": span, **seen}):
        raise PersistenceError("the scale of the features is damaged.")
    try:
        layout = exact_layout_from_json(manifest.layout, schema.columns)
    except SchemaError as error:
        raise PersistenceError(f"the layout of the training frame is damaged: {error}") from None
    return Codec(schema, low, span, may_miss, layout, **seen)


def _is_scale(
    low: Array,
    span: Array,
    seen_low: Array | None = None,
    seen_high: Array | None = None,
    resolution: Array | None = None,
) -> bool:
    """Whether the numbers could be the scale of features."""
    sound = np.isfinite(low) & np.isfinite(span) & (span > 0)
    if seen_low is not None and seen_high is not None and resolution is not None:
        sound &= np.isfinite(seen_low) & np.isfinite(seen_high) & (seen_low <= seen_high)
        sound &= np.isfinite(resolution) & (resolution >= 0)
    return bool(sound.all())


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
    """Return what the explainer had learned.

    Parameters
    ----------
    manifest, arrays
        The content of the folder.
    codec, classifier, models
        The features, the model and the causal models, which were loaded before.
    """
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
    return FittedParts(
        codec,
        classifier,
        autoencoder,
        PrototypeIndex(latents, predicted, classifier.classes),
        _rows(manifest, arrays, codec),
        None if manifest.scm is None else models[manifest.scm],
        _ensemble(models, manifest.ensemble),
        _ensemble(models, manifest.refits),
        manifest.mode,
        tuple(_rule(rule, models, codec) for rule in manifest.rules),
        manifest.settings,
        manifest.options.seed,
        None if training.kept else RowsLeftOut(training.count, training.sha256),
        _class_labels(manifest, classifier),
        looks=load_looks(arrays, codec, len(classifier.classes)),
        device=manifest.options.device,
    )


def _class_labels(manifest: Manifest, classifier: Classifier) -> dict[Level, str]:
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
