"""Check what ProCE is made with, and fit every part of it on the training rows."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proce.arguments import brief, kind_name
from proce.arrays import Array, blocks
from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.classifier import Classifier, as_classifier, position_of, predict_in_blocks
from proce.classifier.refits import ModelRefits, can_refit, read_known_labels, require_same_order
from proce.compiled.streams import check_seed
from proce.errors import GraphError, ModelError, SchemaError, SearchError, did_you_mean
from proce.latent import AutoEncoder, PrototypeIndex
from proce.methods.calls.call import BoundRule, bind_rules, refuse_contradiction
from proce.methods.calls.explain_options import checked_texts
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.fitting.fitted import (
    FittedParts,
    TrainingFacts,
    are_labels,
    fit_refits,
    resolve_mode,
)
from proce.methods.fitting.settings import SearchSettings
from proce.objective import Mode
from proce.schema import Codec, Level, Schema
from proce.schema.features.naming import checked_words
from proce.schema.infer import open_features_warning
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
        facts=TrainingFacts.of(codec, classifier, autoencoder, rows),
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
    warning = open_features_warning(schema)
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


@dataclass(frozen=True, eq=False)
class CausalParts:
    """The fields of :class:`~proce.methods.fitting.fitted.FittedParts` of the same names."""

    scm: StructuralCausalModel | None
    ensemble: Ensemble | None
    refits: Ensemble | None
    mode: Mode
    rules: tuple[BoundRule, ...]

    @classmethod
    def fit(
        cls,
        graph: Any,
        causal: str,
        rules: Sequence[str],
        *,
        codec: Codec,
        rows: Array,
        settings: SearchSettings,
        seed: int,
    ) -> "CausalParts":
        """Fit the equations of a graph and their refits, and bind the rules to them."""
        scm, ensemble = _fit_equations(graph, codec, rows, seed)
        mode = resolve_mode(causal, scm)
        bound = bind_rules(checked_texts("rules", rules), codec, rows, scm, seed)
        refuse_contradiction(bound, rows)
        return cls(
            scm=scm if mode != "off" else None,
            ensemble=ensemble if mode != "off" else None,
            refits=fit_refits(scm, rows, mode, settings.n_refits, seed),
            mode=mode,
            rules=bound,
        )


def with_graph(fitted: FittedParts, graph: Any, causal: str, rules: Sequence[str]) -> FittedParts:
    """Return fitted parts with another graph; all that does not depend on it is shared."""
    is_given = isinstance(graph, StructuralCausalModel) and not graph.records
    if fitted.left_out is not None and graph is not None and not is_given:
        raise GraphError(
            "the explainer was saved without the training rows that the equations of a graph are"
            " fitted on. Save it with rows=True, or fit one with this graph."
        )
    parts = CausalParts.fit(
        graph,
        causal,
        rules,
        codec=fitted.codec,
        rows=fitted.rows,
        settings=fitted.settings,
        seed=fitted.seed,
    )
    return replace(fitted, **vars(parts))


def _fit_equations(
    graph: Any, codec: Codec, rows: Array, seed: int
) -> tuple[StructuralCausalModel | None, Ensemble | None]:
    """Return the causal model of what was given as a graph, and one for each bootstrap graph."""
    if graph is None:
        return None, None
    if isinstance(graph, StructuralCausalModel):
        given = graph.with_codec(codec)
        given.check_given(rows)
        return given, None
    if isinstance(graph, str):
        if graph != "discover":
            raise GraphError(
                f"graph is {graph!r}; expected 'discover', a CausalGraph, edges (cause, effect), a"
                " networkx.DiGraph, a StructuralCausalModel or None."
                + did_you_mean(graph, ["discover"])
            )
        accepted = CausalGraph.discover(codec.decode(rows), codec.schema, seed=seed)
    else:
        accepted = CausalGraph.accept(graph)
    scm = StructuralCausalModel.fit(accepted, rows, codec, seed=seed)
    ensemble = None
    if accepted.resamples:
        ensemble = Ensemble.fit(accepted.resamples, rows, codec, seed=seed)
    return scm, ensemble


_log = logging.getLogger(__name__)
_N_ASKED, _MIN_ASKED = 256, 20  # training rows, to see how a model answers
_MAX_DIFFERENCE = 1e-6  # of two answers about the same rows: processors add up in any order


def warn_of_answers(classifier: Classifier, rows: Array) -> None:
    """Warn of a model that answers with labels, or otherwise when it is asked again.

    Shapes: rows ``(n, f)``.
    """
    sample = rows[:_N_ASKED]
    answers = classifier.predict_proba(sample)
    _warn_of_differences(answers, classifier.predict_proba(sample))
    if len(sample) >= _MIN_ASKED and bool(are_labels(answers).all()):
        _log.warning(
            "The model gave probabilities of 0 and 1 alone for %d training rows, as if they were"
            " labels. Nothing then says which change comes nearer to the decision, so that a search"
            " may miss what there is, and every chance that is told is 0%% or 100%%. Give the"
            " model's own probabilities, such as predict_proba, or a calibrated model.",
            len(sample),
        )


def _warn_of_differences(first: Array, second: Array) -> None:
    """Warn of a model whose answers about the same rows, in the same order, are not the same."""
    difference = np.abs(first - second).max(-1)
    n_different = int((difference > _MAX_DIFFERENCE).sum())
    if n_different:
        _log.warning(
            "The model is not repeatable: asked twice about the same %d training rows, it answered"
            " otherwise for %d of them, by up to %.2g in a probability. What is found holds for the"
            " answer that was given last; the next one may be another, so no advice is sure. Take"
            " chance out of the model: fix its seed, switch dropout off, or average its answers.",
            len(first),
            n_different,
            float(difference.max()),
        )


def check_construction(schema: Any, settings: Any, settings_type: type, seed: Any) -> None:
    """Refuse a schema, settings or a seed that a method cannot be made with."""
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError(
            f"schema is {kind_name(schema)}; expected proce.Schema([...]), or None to infer"
            " it from the frame."
        )
    if not isinstance(settings, settings_type):
        raise SearchError(
            f"settings is {kind_name(settings)}; expected {settings_type.__name__}(...)."
        )
    check_seed(seed)


def checked_class_labels(labels: Any, classes: Sequence[Level]) -> dict[Level, str]:
    """Return the words for some of a model's classes, by class, in the order of the classes."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise ModelError(
            f"classes is {brief(labels)}; expected words by class, such as"
            f" {{{classes[0]!r}: 'words'}}."
        )
    words = {
        position_of(label, classes): checked_words(f"classes: the label of {label!r}", text)
        for label, text in labels.items()
    }
    if len(set(words.values())) < len(words):
        raise ModelError("classes gives two classes the same words; give each its own.")
    return {classes[position]: words[position] for position in sorted(words)}
