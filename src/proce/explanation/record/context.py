"""What all explanations of a call share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proce.causal.graphs.dag import EDITED, GIVEN
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.schema import Codec, Level
from proce.schema.features.brief import cut, named
from proce.schema.features.numerals import counted


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """What all explanations of a call share.

    Attributes
    ----------
    codec
        The features and their scale.
    classes
        The classes of the model.
    class_labels
        Words for some of the classes, by class.
    needed
        For each class, the probability that is wanted where that class is the target; of more than
        two classes 0 where none was asked for.
    lead
        By how much the target must lead the likeliest other class; ``None`` for two classes.
    threshold
        The probability from which on a binary model decides for its second class; ``None`` where
        the likeliest class is the decision.
    edges
        The edges ``(cause, effect)`` of the causal graph; empty without one.
    n_graphs
        The number of bootstrap graphs, of which ``support`` counts some; 0 without them.
    n_refits
        The number of refits of the equations, of which ``refits`` counts some; 0 without them.
    n_models
        The number of other models, of which ``robustness`` counts some; 0 without them.
    models_are_refits
        Whether these are the model itself, fitted again on resampled rows.
    robust
        The share of these models under which a counterfactual was asked to keep its class.
    origin
        Where the graph came from: ``"given"``, ``"edited"`` by a person since, or what discovered
        it; ``None`` if not known.
    vary
        The names that this call let a person act on; ``None`` for all that the schema permits.
    ranges
        The ranges of this call by feature, in raw units or levels.
    effort
        The efforts of this call by feature: how hard a change is; those of the schema hold for the
        others. The largest change times its effort is shown first.
    rules
        The rules of the explainer and of this call, as they were written.
    view
        Who reads what is made of the result: an applicant is shown no protected feature.
    withheld
        How many protected features were taken out of the record for an applicant.
    spread
        How the training rows are distributed, by feature, as
        :func:`proce.explanation.record.spread.spread_of` returns it; ``None`` where it is not
        known.
    """

    codec: Codec
    classes: tuple[Level, ...]
    needed: tuple[float, ...]
    threshold: float | None = None
    edges: tuple[tuple[str, str], ...] = ()
    n_graphs: int = 0
    n_refits: int = 0
    n_models: int = 0
    models_are_refits: bool = False
    robust: float | None = None
    origin: str | None = None
    vary: tuple[str, ...] | None = None
    ranges: Mapping[str, tuple[Level, Level]] = field(default_factory=dict)
    effort: Mapping[str, float] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    spread: Mapping[str, tuple[float, ...]] | None = None
    lead: float | None = None
    class_labels: Mapping[Level, str] = field(default_factory=dict)
    view: Literal["applicant", "auditor"] = "applicant"
    withheld: int = 0

    def __repr__(self) -> str:
        features = counted(len(self.codec.schema), "feature")
        return cut(f"Context({features}, classes {named(self.classes, 60)}, {self.view}'s view)")

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
