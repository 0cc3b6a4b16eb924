"""Fit every part of ProCE on the training rows."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from proce.arguments import brief
from proce.arrays import Array, blocks
from proce.classifier import Classifier, as_classifier, predict_in_blocks
from proce.classifier.refits import ModelRefits, can_refit, read_known_labels, require_same_order
from proce.errors import SearchError
from proce.latent import AutoEncoder, PrototypeIndex
from proce.methods.calls.construction import check_construction, checked_class_labels
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.fitting.answers import warn_of_answers
from proce.methods.fitting.causes import CausalParts
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.settings import SearchSettings
from proce.schema import Codec, Schema
from proce.schema.unguarded import unguarded_text
from proce.training_settings import Epoch

_log = logging.getLogger(__name__)
_BLOCK_ROWS = 100_000  # training rows that are encoded at a time


def fit_parts(
    model: Any,
    X: Any,
    *,
    schema: Schema | None,
    graph: Any,
    rules: Sequence[str],
    causal: str,
    settings: SearchSettings,
    threshold: float | None,
    seed: int,
    device: str,
    progress: ProgressCallback | None,
    classes: Mapping[Any, str] | None = None,
    label: Any = None,
) -> FittedParts:
    """Fit every part of ProCE on a frame; the parameters are those of :class:`proce.ProCE`.

    ``label`` is the class of each row, or ``None``.
    """
    check_construction(schema, settings, SearchSettings, seed)
    _check_device(device)
    seed = int(seed)
    codec = Codec.fit(schema or _inferred(X), X, settings.scale)
    rows = np.ascontiguousarray(codec.encode(X))
    classifier = as_classifier(model, codec, threshold)
    class_labels = checked_class_labels(classes, classifier.classes)
    require_same_order(X, label)
    model_refits = _model_refits(classifier, rows, label, threshold, seed)
    predicted = predict_in_blocks(classifier, rows)
    warn_of_answers(classifier, rows)
    causes = CausalParts.fit(
        graph, causal, rules, codec=codec, rows=rows, settings=settings, seed=seed
    )
    autoencoder = _fit_autoencoder(codec, rows, settings, seed, device, progress)
    latents = np.concatenate([autoencoder.encode(block) for block in blocks(rows, _BLOCK_ROWS)])
    return FittedParts(
        codec=codec,
        classifier=classifier,
        autoencoder=autoencoder,
        index=PrototypeIndex(latents, predicted, classifier.classes),
        rows=rows,
        settings=settings,
        seed=seed,
        class_labels=class_labels,
        model_refits=model_refits,
        device=device,
        **vars(causes),
    )


def _inferred(X: Any) -> Schema:
    """Return the features of a frame; warn of those that look as if they should not move."""
    schema = Schema.infer(X)
    warning = unguarded_text(schema)
    if warning is not None:
        _log.warning("%s Give it as ProCE(model, schema=...).", warning)
    return schema


def _model_refits(
    classifier: Classifier, rows: Array, label: Any, threshold: float | None, seed: int
) -> ModelRefits | None:
    """Return what fits the model again when somebody asks for it; ``None`` without labels."""
    if label is None:
        return None
    labels = read_known_labels(label, classifier, len(rows))
    if not can_refit(classifier):
        return None
    return ModelRefits(classifier, rows, labels, threshold, seed)


def _check_device(device: Any) -> None:
    from proce.training import has_device

    if not has_device(device):
        raise SearchError(
            f"device is {brief(device)}, which is not there; expected 'cpu', or 'cuda' on a machine"
            " with such a device."
        )


def _fit_autoencoder(
    codec: Codec,
    rows: Array,
    settings: SearchSettings,
    seed: int,
    device: str,
    progress: ProgressCallback | None,
) -> AutoEncoder:
    from proce.latent.training import fit_autoencoder

    def report(epoch: Epoch) -> object:
        return progress and progress(Progress("fit", epoch.number, epoch.n_epochs))

    autoencoder, _ = fit_autoencoder(
        codec, rows, settings.latent, seed=seed, device=device, progress=report
    )
    return autoencoder
