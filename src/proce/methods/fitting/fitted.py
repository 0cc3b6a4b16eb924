"""What ProCE learned from the training rows, and the other models that advice may have to pass."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any, cast, get_args

import numpy as np

from proce.arguments import brief
from proce.arrays import Array
from proce.causal import Ensemble, StructuralCausalModel
from proce.classifier import Classifier, as_classifier
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.refits import ModelRefits
from proce.errors import ModelError, SearchError, did_you_mean
from proce.explanation.record.context import spread_of
from proce.latent import AutoEncoder, PrototypeIndex
from proce.methods.calls.call import BoundRule, bind_rules
from proce.methods.calls.method import hash_of_rows
from proce.methods.fitting.settings import SearchSettings
from proce.methods.fitting.typical import ClassLooks
from proce.objective import FeatureDistance, GeneMap, Likeness, Mode, Start, gene_map_of
from proce.schema import Codec, Level, Schema
from proce.schema.features.levels import quoted

_N_CELLS = 400_000  # of a generation of all rows that are searched at once on the CPU, about
_MIN_ROWS, _MAX_ROWS = 256, 1_024  # that are searched at once on the CPU
_N_WAY_CELLS = 4_000_000  # of all rows at once, where each has one way for each feature
_N_SAMPLE_ROWS = 1_000  # training rows by which the model is known
_NO_TRAINING_ROWS = (
    "The explainer was saved without its training rows: the search started from noise around the"
    " row alone, and may have missed better ways."
)
_HARD_LABELS = (
    "The model gives no probability between 0 and 1: it cannot say how sure it is, and a way may"
    " end just beyond the decision."
)


@dataclass(frozen=True)
class RowsLeftOut:
    """What is known of training rows that were not saved with an explainer."""

    count: int  # how many rows there were
    sha256: str  # the SHA-256 sum of the rows


@dataclass(frozen=True, eq=False)
class TrainingFacts:
    """What follows from the training rows, the model and the latent space."""

    distance: FeatureDistance  # how far apart two values of a feature are
    training_hash: str  # the SHA-256 sum of the training rows
    # how the training rows are distributed; None where they were not saved
    spread: Mapping[str, tuple[float, ...]] | None
    # is_constant, gives_labels: whether the model answers the same for all of the rows by which it
    # is known, and whether it gives probabilities of 0 and 1 alone
    is_constant: bool
    gives_labels: bool

    @classmethod
    def of(
        cls,
        codec: Codec,
        classifier: Classifier,
        autoencoder: AutoEncoder,
        rows: Array,
        left_out: RowsLeftOut | None = None,
    ) -> "TrainingFacts":
        """Measure the rows ``(n, f)``; the model is known by made-up rows where they are not."""
        sample = rows[:_N_SAMPLE_ROWS] if left_out is None else probe_rows(codec)
        answers = classifier.predict_proba(sample)
        return cls(
            FeatureDistance.of(autoencoder),
            hash_of_rows(rows) if left_out is None else left_out.sha256,
            spread_of(codec, rows) if left_out is None else None,
            bool((answers == answers[0]).all()),
            bool(are_labels(answers).all()),
        )


@dataclass(frozen=True, eq=False)
class FittedParts:
    """Everything that an explanation needs beside the row and its options."""

    # codec, classifier, autoencoder, index: the features, the model, the latent space and the
    # prototypes in it
    codec: Codec
    classifier: Classifier
    autoencoder: AutoEncoder
    index: PrototypeIndex
    rows: Array  # the training rows (n, f)
    facts: TrainingFacts
    scm: StructuralCausalModel | None  # the structural causal model, or None
    ensemble: Ensemble | None  # a causal model for each graph of a bootstrap, or None
    # the causal model fitted again on resampled rows, in most of which advice must work; None
    # without refits
    refits: Ensemble | None
    mode: Mode  # the causal mode in use
    # the rules of the explainer, each with the equations that it needs
    rules: tuple[BoundRule, ...]
    # settings, seed: the settings and the seed of the search
    settings: SearchSettings
    seed: int
    # What is known of the training rows where they were not saved, else None. Without them rows is
    # empty, a search starts from noise alone, and nothing can be fitted anew.
    left_out: RowsLeftOut | None = None
    # words for some of the model's classes, by class
    class_labels: Mapping[Level, str] = field(default_factory=dict)
    # the model fitted again on resampled rows, as often as anybody asks for; None where the labels
    # of the training rows are not known, or the model cannot be fitted again
    model_refits: ModelRefits | None = None
    # what the classes look like, as far as the pick typical asked for it
    looks: ClassLooks = field(default_factory=ClassLooks)
    device: str = "cpu"  # where networks learn

    @property
    def chunk_size(self) -> int:
        """How many rows are searched at once: as the settings say, or by the size of the table."""
        if self.settings.chunk_size is not None:
            return self.settings.chunk_size
        return rows_at_once(self.settings.population_size, len(self.codec.schema))

    @property
    def plain_settings(self) -> dict[str, Any]:
        """The settings as plain values, as a result records them."""
        return asdict(self.settings)

    @property
    def gene_map(self) -> GeneMap:
        """Which gene of a candidate belongs to which feature."""
        return gene_map_of(self.codec, self.scm, self.mode)

    @property
    def n_rows(self) -> int:
        """How many training rows there were."""
        return len(self.rows) if self.left_out is None else self.left_out.count

    def likeness_of(self, classes: set[int]) -> Likeness | None:
        """Return how much rows look like some of the classes; learned when first asked for.

        ``None`` where the training rows were not saved, or a class has hardly any.
        """
        if not self.looks.knows(classes) and self.left_out is None:
            _, predicted = self.index.members
            self.looks.learn(
                classes,
                self.rows,
                predicted,
                self.codec,
                self.settings.autoencoder,
                self.seed,
                self.device,
            )
        return self.looks.likeness(self.codec) if self.looks.knows(classes) else None

    def learn_looks(self) -> None:
        """Learn what every class looks like that has enough training rows."""
        for position in range(len(self.classifier.classes)):
            self.likeness_of({position})

    @property
    def start(self) -> Start:
        """Where searches start: from noise alone where the training rows were not saved."""
        return self.settings.start if self.left_out is None else "gaussian"

    def notes_on(self, probabilities: Array) -> list[tuple[Array, str]]:
        """Return what readers should know, each for the rows at some positions.

        A note on a row depends on what the model says of it in ``probabilities (i,)``, and on no
        other row of the call.
        """
        notes = []
        is_hard = are_labels(probabilities)
        if bool(is_hard.any()) and self.facts.gives_labels:
            notes.append((np.flatnonzero(is_hard), _HARD_LABELS))
        if self.left_out is not None:
            notes.append((np.arange(len(probabilities)), _NO_TRAINING_ROWS))
        return notes

    def bind(self, texts: Sequence[str]) -> tuple[BoundRule, ...]:
        """Read rules, and find or fit the equations that they need."""
        return bind_rules(texts, self.codec, self.rows, self.scm, self.seed)

    def with_schema(self, schema: Schema) -> "FittedParts":
        """Return the same parts under a schema with other limits; nothing is fitted anew."""
        codec = replace(self.codec, schema=schema)
        scm = None if self.scm is None else replace(self.scm, codec=codec)
        return replace(self, codec=codec, scm=scm)


def rows_at_once(population_size: int, n_features: int) -> int:
    """Return how many rows are searched at once on the CPU.

    The ways of one action are several for each feature, and each is as wide as the table: their
    memory grows with the square of the features, so that wide tables have fewer rows at once.
    """
    n_rows = max(_MIN_ROWS, _N_CELLS // (population_size * n_features))
    return max(1, min(_MAX_ROWS, n_rows, _N_WAY_CELLS // n_features**2))


_WITH_CAUSES = ("hard", "soft", "paper")
_WITH_REFITS = ("hard", "soft")


def resolve_mode(causal: Any, scm: StructuralCausalModel | None) -> Mode:
    """Return the mode for an option ``causal=``, which depends on the causal model for ``auto``."""
    known = ("auto", *get_args(Mode))
    if not isinstance(causal, str) or causal not in known:
        raise SearchError(
            f"causal is {brief(causal)}; expected one of {', '.join(map(repr, known))}."
            + did_you_mean(causal, known)
        )
    if causal in _WITH_CAUSES and scm is None:
        raise SearchError(
            f"causal={causal!r} needs a causal graph; give graph=[(cause, effect), ...],"
            " graph='discover', or causal='off'."
        )
    if causal != "auto":
        return cast(Mode, causal)
    if scm is None:
        return "off"
    return "soft" if scm.graph.origin.discovered else "hard"


def in_mode(fitted: FittedParts, causal: Any) -> FittedParts:
    """Return the same parts in another causal mode; nothing but refits is fitted anew."""
    if fitted.scm is None and isinstance(causal, str) and causal in _WITH_CAUSES:
        raise SearchError(
            f"causal={causal!r} needs a causal graph, and this explainer was fitted without one or"
            " with causal='off', which keeps none. Fit it with graph= and another mode."
        )
    mode = resolve_mode(causal, fitted.scm)
    refits = fitted.refits
    if refits is None and fitted.left_out is None:
        settings = fitted.settings
        refits = fit_refits(fitted.scm, fitted.rows, mode, settings.n_refits, fitted.seed)
    return replace(
        fitted,
        scm=fitted.scm if mode != "off" else None,
        ensemble=fitted.ensemble if mode != "off" else None,
        refits=refits if mode in _WITH_REFITS else None,
        mode=mode,
    )


def fit_refits(
    scm: StructuralCausalModel | None, rows: Array, mode: Mode, n_refits: int, seed: int
) -> Ensemble | None:
    """Fit the equations again on resampled rows, in the modes that prefer advice that holds."""
    if scm is None or mode not in _WITH_REFITS or not n_refits or not scm.records:
        return None
    return Ensemble.refit(scm, rows, n_refits, seed)


def are_labels(probabilities: Array) -> Array:
    """Return flags for probabilities that leave no doubt."""
    return (probabilities == 0) | (probabilities == 1)


N_MODELS = 20  # refits where robust= is given and models= is not
_EXPECTED = "a list of fitted models, or how many times the model is fitted again"


def other_models(
    fitted: FittedParts, models: Any, threshold: float | None, *, robust: bool
) -> tuple[Classifier, ...]:
    """Return the other models of a call; none where nobody asks for them."""
    if models is None:
        if not robust:
            return ()
        if fitted.model_refits is None:
            raise SearchError(
                f"robust= needs other models, and there are none: {_why_no_refits(fitted)} Give"
                " models=[...], a list of fitted models."
            )
        models = N_MODELS
    if isinstance(models, Integral) and not isinstance(models, bool):
        return _refits(fitted, int(models))
    if isinstance(models, str | bytes) or not isinstance(models, Sequence):
        raise SearchError(f"models is {models!r}; expected {_EXPECTED}.")
    if not models:
        raise SearchError(f"models is an empty list; expected {_EXPECTED}.")
    return tuple(_adapt(fitted, model, at, threshold) for at, model in enumerate(models))


def _refits(fitted: FittedParts, number: int) -> tuple[Classifier, ...]:
    if number < 1:
        raise SearchError(f"models is {number}; expected {_EXPECTED}, from 1 on.")
    if fitted.model_refits is None:
        raise SearchError(
            f"models is {number}, but the model cannot be fitted again: {_why_no_refits(fitted)}"
            " Or give models=[...], a list of fitted models."
        )
    return fitted.model_refits.first(number)


def _why_no_refits(fitted: FittedParts) -> str:
    from proce.classifier.refits import can_refit

    if not can_refit(fitted.classifier):
        return "the model is no estimator of scikit-learn's kind, which could be fitted again."
    return (
        "to fit the model again takes the labels of the training rows; call fit(X, y), or on the"
        " command line proce fit --label COLUMN --models N."
    )


def _adapt(fitted: FittedParts, model: Any, at: int, threshold: float | None) -> Classifier:
    """Return one of the given models behind the interface of the explained one."""
    try:
        adapted = as_classifier(model, fitted.codec, threshold)
    except ModelError as error:
        error.args = (f"models[{at}]: {error}",)
        raise
    if adapted.classes != fitted.classifier.classes:
        raise ModelError(
            f"models[{at}] has the classes {quoted(adapted.classes)}; the model that is explained"
            f" has {quoted(fitted.classifier.classes)}. Give models of the same classes."
        )
    return adapted
