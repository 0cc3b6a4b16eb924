"""Fit every part of ProCE on the training rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.classifier import Classifier, as_classifier, predict_in_blocks
from proce.classifier.refits import ModelRefits, can_refit, read_known_labels, require_same_order
from proce.errors import GraphError, SearchError, did_you_mean
from proce.latent import AutoEncoder, PrototypeIndex, fit_autoencoder
from proce.methods.calls.construction import check_construction, checked_class_labels
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import checked_texts
from proce.methods.calls.rules import bind_rules, refuse_contradiction
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.modes import fit_refits, resolve_mode
from proce.methods.fitting.settings import SearchSettings
from proce.schema import Codec, Schema
from proce.training import Epoch

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
    codec = Codec.fit(schema or Schema.infer(X), X, settings.scale)
    rows = codec.encode(X).contiguous()
    classifier = as_classifier(model, codec, threshold)
    class_labels = checked_class_labels(classes, classifier.classes)
    require_same_order(X, label)
    model_refits = _model_refits(classifier, rows, label, threshold, seed)
    predicted = predict_in_blocks(classifier, rows)
    scm, ensemble = _fit_causes(graph, X, rows, codec, seed)
    mode = resolve_mode(causal, scm)
    bound_rules = bind_rules(checked_texts("rules", rules), codec, rows, scm, seed)
    refuse_contradiction(bound_rules, rows)
    autoencoder = _fit_autoencoder(codec, rows, settings, seed, device, progress)
    latents = torch.cat([autoencoder.encode(block) for block in torch.split(rows, _BLOCK_ROWS)])
    return FittedParts(
        codec=codec,
        classifier=classifier,
        autoencoder=autoencoder,
        index=PrototypeIndex(latents, predicted, classifier.classes),
        rows=rows,
        scm=scm if mode != "off" else None,
        ensemble=ensemble if mode != "off" else None,
        refits=fit_refits(scm, rows, mode, settings.n_refits, seed),
        mode=mode,
        rules=bound_rules,
        settings=settings,
        seed=seed,
        class_labels=class_labels,
        model_refits=model_refits,
        device=device,
    )


def _model_refits(
    classifier: Classifier, rows: Tensor, label: Any, threshold: float | None, seed: int
) -> ModelRefits | None:
    """Return what fits the model again when somebody asks for it; ``None`` without labels."""
    if label is None:
        return None
    labels = read_known_labels(label, classifier, len(rows))
    if not can_refit(classifier):
        return None
    return ModelRefits(classifier, rows, labels, threshold, seed)


def _check_device(device: Any) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError):
        raise SearchError(
            f"device is {device!r}, which is not there; expected 'cpu', or 'cuda' on a machine"
            " with such a device."
        ) from None


def _fit_causes(
    graph: Any, X: Any, rows: Tensor, codec: Codec, seed: int
) -> tuple[StructuralCausalModel | None, Ensemble | None]:
    """Return the causal model of what was given as a graph, and one for each bootstrap graph."""
    if graph is None:
        return None, None
    if isinstance(graph, StructuralCausalModel):
        return graph.with_codec(codec), None
    if isinstance(graph, str):
        if graph != "discover":
            raise GraphError(
                f"graph is {graph!r}; expected 'discover', a CausalGraph, edges (cause, effect), a"
                " networkx.DiGraph, a StructuralCausalModel or None."
                + did_you_mean(graph, ["discover"])
            )
        accepted = CausalGraph.discover(X, codec.schema, seed=seed)
    else:
        accepted = CausalGraph.accept(graph)
    scm = StructuralCausalModel.fit(accepted, rows, codec, seed=seed)
    ensemble = None
    if accepted.resamples:
        ensemble = Ensemble.fit(accepted.resamples, rows, codec, seed=seed)
    return scm, ensemble


def _fit_autoencoder(
    codec: Codec,
    rows: Tensor,
    settings: SearchSettings,
    seed: int,
    device: str,
    progress: ProgressCallback | None,
) -> AutoEncoder:
    def report(epoch: Epoch) -> object:
        return progress and progress(Progress("fit", epoch.number, epoch.n_epochs))

    autoencoder, _ = fit_autoencoder(
        codec, rows, settings.latent, seed=seed, device=device, progress=report
    )
    return autoencoder.cpu()
