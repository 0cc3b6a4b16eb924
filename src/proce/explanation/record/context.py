"""What all explanations of a call share, how they came about, and how the training rows lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from proce.arrays import Array
from proce.causal.graphs.dag import EDITED, GIVEN
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS
from proce.schema import Codec, Continuous, Feature, Level
from proce.schema.features.numerals import counted
from proce.schema.features.reprs import one_line, quoted_names


@dataclass(frozen=True, repr=False)
class Provenance:
    """The versions, the seed, the settings and the work behind a result."""

    # The versions of this package, of Python and of the packages on which results depend
    versions: Mapping[str, str]
    method: str  # the name of the method
    seed: int  # the seed of everything random
    settings: Mapping[str, Any]  # the settings of the method, as plain values
    options: Mapping[str, Any]  # the options of the call, as plain values
    mode: str  # the causal mode that was used
    graph: str | None  # where the causal graph came from, in words; ``None`` without one
    training_rows: int  # the number of rows that the method was fitted on
    training_hash: str  # the SHA-256 sum of these rows as arrays
    elapsed_seconds: float  # the time that the call took
    generations: int  # the most generations that a row took
    evaluations: int  # the number of candidates that the search evaluated, for all rows together

    def __repr__(self) -> str:
        rows = counted(self.training_rows, "training row")
        return one_line(f"Provenance({self.method}, seed {self.seed}, {self.mode}, {rows})")


N_QUANTILES = 21  # of a number: 0%, 5%, ..., 100%


def spread_of(codec: Codec, rows: Array) -> Mapping[str, tuple[float, ...]]:
    """Return how the rows ``(i, f)`` that a codec was fitted on are distributed, by feature."""
    # A number has 21 quantiles in raw units, from the lowest to the highest in steps of 5%. A
    # feature with levels has the share of each level. Missing cells do not count.
    missing = codec.missing(rows)
    spread: dict[str, tuple[float, ...]] = {}
    for position, feature in enumerate(codec.schema):
        present = rows[~missing[:, position], position]
        if isinstance(feature, Continuous):
            raw = codec.raw_numbers(position, present)
            # Quantiles are values of rows: a value between two of them would have false decimals.
            steps = np.linspace(0, 1, N_QUANTILES)
            spread[feature.name] = tuple(np.quantile(raw, steps, method="nearest").tolist())
        else:
            counts = np.bincount(present.astype(np.int64), minlength=len(feature.levels))
            spread[feature.name] = tuple((counts / len(present)).tolist())
    return spread


def spread_size(feature: Feature) -> int:
    """Return how many numbers describe how a feature is distributed."""
    return N_QUANTILES if isinstance(feature, Continuous) else len(feature.levels)


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """What all explanations of a call share."""

    codec: Codec  # the features and their scale
    classes: tuple[Level, ...]  # the classes of the model
    # For each class, the probability that is wanted where that class is the target; of more than
    # two classes 0 where none was asked for
    needed: tuple[float, ...]
    # The probability from which on a binary model decides for its second class; ``None`` where the
    # likeliest class is the decision
    threshold: float | None = None
    edges: tuple[tuple[str, str], ...] = ()  # the edges ``(cause, effect)`` of the causal graph
    n_graphs: int = 0  # the number of bootstrap graphs, of which ``support`` counts some
    n_refits: int = 0  # the number of refits of the equations, of which ``refits`` counts some
    n_models: int = 0  # the number of other models, of which ``robustness`` counts some
    # Whether these are the model itself, fitted again on resampled rows
    models_are_refits: bool = False
    # The share of these models under which a counterfactual was asked to keep its class
    robust: float | None = None
    # Where the graph came from: ``"given"``, ``"edited"`` by a person since, or what discovered it;
    # ``None`` if not known
    origin: str | None = None
    vary: tuple[str, ...] | None = None  # the names that this call let a person act on
    # The ranges of this call by feature, in raw units or levels
    ranges: Mapping[str, tuple[Level, Level]] = field(default_factory=dict)
    # The efforts of this call by feature: how hard a change is; those of the schema hold for the
    # others. The largest change times its effort is shown first
    effort: Mapping[str, float] = field(default_factory=dict)
    rules: tuple[str, ...] = ()  # the rules of the explainer and of this call, as they were written
    # How the training rows are distributed, by feature, as
    # :func:`proce.explanation.record.context.spread_of` returns it; ``None`` where it is not known
    spread: Mapping[str, tuple[float, ...]] | None = None
    lead: float | None = None  # by how much the target must lead the likeliest other class
    # Words for some of the classes, by class
    class_labels: Mapping[Level, str] = field(default_factory=dict)
    # Who reads what is made of the result: an applicant is shown no protected feature
    view: Literal["applicant", "auditor"] = "applicant"
    withheld: int = 0  # how many protected features were taken out of the record for an applicant

    def __repr__(self) -> str:
        features = counted(len(self.codec.schema), "feature")
        return one_line(
            f"Context({features}, classes {quoted_names(self.classes, 60)}, {self.view}'s view)"
        )

    @property
    def graph_was_learned(self) -> bool:
        """Whether the causal graph was read off data rather than given by a person."""
        return bool(self.edges) and self.origin not in (None, GIVEN, EDITED)

    @property
    def graph_was_edited(self) -> bool:
        """Whether a person has changed the causal graph for this call."""
        return self.origin is not None and self.origin.endswith(EDITED)

    def class_at(self, position: int) -> Level | None:
        """Return the class at a position; ``None`` where the model did not say any."""
        return None if position == UNKNOWN_CLASS else self.classes[position]
