"""What ProCE learns from the training rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, get_args

import numpy as np
import torch
from torch import Tensor

from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.classifier import Classifier, as_classifier
from proce.errors import GraphError, RuleError, SchemaError, SearchError, did_you_mean
from proce.explanation.record.spread import spread_of
from proce.latent import AutoEncoder, PrototypeIndex, fit_autoencoder
from proce.methods.calls.call import hash_of, keys_of
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import checked_texts
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.fitting.settings import SearchSettings
from proce.objective import FeatureDistance, Mode, directions
from proce.schema import Codec, Rule, Schema
from proce.training import Epoch

BoundRule = tuple[Rule, Mapping[str, Callable[[Tensor], Tensor]]]
_ASK_AT_ONCE = 100_000  # rows per call when the training rows are classified


@dataclass(frozen=True)
class RowsLeftOut:
    """What is known of training rows that were not saved with an explainer."""

    count: int
    sha256: str


@dataclass(frozen=True, eq=False)
class Fitted:
    """Everything that an explanation needs beside the row and its options.

    Attributes
    ----------
    codec, classifier, autoencoder, index
        The features, the model, the latent space and the prototypes in it.
    rows
        The training rows ``(n, f)``.
    scm
        The structural causal model, or ``None``.
    ensemble
        One for each graph of a bootstrap, or ``None``.
    refits
        The causal model fitted again on resampled rows, to prefer advice that holds in all.
    mode
        The causal mode in use.
    rules
        Those of the explainer.
    settings, seed
        Of the search.
    left_out
        Where the training rows were not saved: what is known of them. ``rows`` is empty then, a
        search starts from noise alone, and nothing can be fitted anew.
    """

    codec: Codec
    classifier: Classifier
    autoencoder: AutoEncoder
    index: PrototypeIndex
    rows: Tensor
    scm: StructuralCausalModel | None
    ensemble: Ensemble | None
    refits: Ensemble | None
    mode: Mode
    rules: tuple[BoundRule, ...]
    settings: SearchSettings
    seed: int
    left_out: RowsLeftOut | None = None

    @cached_property
    def distance(self) -> FeatureDistance:
        """Distances of single features."""
        return FeatureDistance.of(self.autoencoder)

    @cached_property
    def training_hash(self) -> str:
        """SHA-256 of the training rows."""
        return hash_of(self.rows) if self.left_out is None else self.left_out.sha256

    @property
    def n_rows(self) -> int:
        """How many training rows there were."""
        return len(self.rows) if self.left_out is None else self.left_out.count

    @cached_property
    def spread(self) -> Mapping[str, tuple[float, ...]] | None:
        """How the training rows lie, for pictures; ``None`` where they were not saved."""
        return spread_of(self.codec, self.rows) if self.left_out is None else None

    def bound(self, texts: Sequence[str]) -> tuple[BoundRule, ...]:
        """Read rules, each with the mechanisms it needs."""
        return bound_rules(texts, self.codec, self.rows, self.scm, self.seed)

    def keys(self, factual: Tensor) -> Tensor:
        """Return what the random streams of rows ``(i, f)`` depend on: their values alone."""
        return keys_of(factual)

    def edited(self, name: str, **changes: Any) -> "Fitted":
        """Return the same with a feature of the schema edited; equations and latents stay."""
        codec = replace(self.codec, schema=self.codec.schema.edit(name, **changes))
        scm = None if self.scm is None else replace(self.scm, codec=codec)
        return replace(self, codec=codec, scm=scm)

    def in_mode(self, causal: str) -> "Fitted":
        """Return the same in another causal mode; nothing but refits is fitted anew."""
        mode = resolved_mode(causal, self.scm)
        known = mode != "off"
        refits = self.refits
        if refits is None and self.left_out is None:
            refits = _refits(self.scm, self.rows, mode, self.settings.n_refits, self.seed)
        return replace(
            self,
            scm=self.scm if known else None,
            ensemble=self.ensemble if known else None,
            refits=refits if mode in ("hard", "soft") else None,
            mode=mode,
        )


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
) -> Fitted:
    """Fit every part on the training rows."""
    check_estimator(schema, settings, SearchSettings, seed)
    _check_device(device)
    seed = int(seed)
    codec = Codec.fit(schema or Schema.infer(X), X)
    rows = codec.encode(X).contiguous()
    classifier = as_classifier(model, codec, threshold)
    predicted = predicted_classes(classifier, rows)
    scm, ensemble = fit_causes(graph, X, rows, codec, seed)
    mode = resolved_mode(causal, scm)
    bound = bound_rules(checked_texts("rules", rules), codec, rows, scm, seed)
    refuse_contradiction([rule for rule, _ in bound], rows)
    told = None if progress is None else lambda epoch: progress(_fitting(epoch))
    autoencoder, _ = fit_autoencoder(
        codec, rows, settings.latent, seed=seed, device=device, progress=told
    )
    latents = torch.cat([autoencoder.encode(part) for part in torch.split(rows, _ASK_AT_ONCE)])
    index = PrototypeIndex(latents, predicted, classifier.classes)
    return Fitted(
        codec,
        classifier,
        autoencoder,
        index,
        rows,
        scm if mode != "off" else None,
        ensemble if mode != "off" else None,
        _refits(scm, rows, mode, settings.n_refits, seed),
        mode,
        bound,
        settings,
        seed,
    )


def check_estimator(schema: Any, settings: Any, kind: type, seed: Any) -> None:
    """Refuse what a method cannot be made with."""
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError(
            f"schema is a {type(schema).__name__}; expected proce.Schema([...]), or None to infer"
            " it from the frame."
        )
    if not isinstance(settings, kind):
        raise SearchError(
            f"settings is a {type(settings).__name__}; expected {kind.__name__}(...)."
        )
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise SearchError(f"seed is {seed!r}; expected a whole number from 0 on.")


def predicted_classes(classifier: Classifier, rows: Tensor) -> Tensor:
    """Return the class of each training row, ``(n,)``, asking about some at a time."""
    return torch.cat([classifier.predict(part) for part in torch.split(rows, _ASK_AT_ONCE)])


def _check_device(device: Any) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError):
        raise SearchError(
            f"device is {device!r}, which is not there; expected 'cpu', or 'cuda' on a machine"
            " with such a device."
        ) from None


def fit_causes(
    graph: Any, X: Any, rows: Tensor, codec: Codec, seed: int
) -> tuple[StructuralCausalModel | None, Ensemble | None]:
    """Return the causal model of whatever was given as a graph, and one per bootstrap graph."""
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


def _refits(
    scm: StructuralCausalModel | None, rows: Tensor, mode: Mode, n_refits: int, seed: int
) -> Ensemble | None:
    if scm is None or mode not in ("hard", "soft") or not n_refits or not scm.records:
        return None
    return Ensemble.refit(scm, rows, n_refits, seed)


def resolved_mode(causal: str, scm: StructuralCausalModel | None) -> Mode:
    """Return the mode that is used, given what is known of causes."""
    known = ("auto", *get_args(Mode))
    if causal not in known:
        raise SearchError(
            f"causal is {causal!r}; expected one of {', '.join(map(repr, known))}."
            + did_you_mean(causal, known)
        )
    if causal in ("hard", "soft", "paper") and scm is None:
        raise SearchError(
            f"causal={causal!r} needs a causal graph; give graph=[(cause, effect), ...],"
            " graph='discover', or causal='off'."
        )
    if causal != "auto":
        return cast(Mode, causal)
    if scm is None:
        return "off"
    return "soft" if scm.graph.origin.discovered else "hard"


def bound_rules(
    texts: Sequence[str],
    codec: Codec,
    rows: Tensor,
    scm: StructuralCausalModel | None,
    seed: int,
) -> tuple[BoundRule, ...]:
    """Read rules, and find or fit the mechanisms of those with ``~>``."""

    def fitted_on_its_causes(rule: Rule) -> StructuralCausalModel:
        causes, effect = rule.dependence or ((), "")
        if not len(rows):
            raise RuleError(
                f"rule {rule.text!r} needs an equation of {effect!r} that is not in the graph, and"
                " the explainer was saved without the training rows to fit it on. Save it with"
                " rows=True, or give the rule to ProCE before it is fitted."
            )
        graph = CausalGraph([(cause, effect) for cause in causes])
        return StructuralCausalModel.fit(graph, rows, codec, seed=seed)

    parsed = [Rule.parse(text, codec) for text in texts]
    return tuple((rule, directions(rule, scm, fitted_on_its_causes)) for rule in parsed)


def _fitting(epoch: Epoch) -> Progress:
    return Progress("fit", epoch.number, epoch.n_epochs)
