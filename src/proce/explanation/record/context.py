"""What all explanations of a call share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proce.schema import Codec, Level


@dataclass(frozen=True, eq=False)
class Context:
    """What all explanations of a call share.

    Attributes
    ----------
    codec
        The features and their scale.
    classes
        The model's labels.
    needed
        By class: the probability that was asked for where that class is the target.
    threshold
        Where a binary model says its second class; ``None``: the likeliest class.
    edges
        Of the causal graph, as ``(cause, effect)``; empty without one.
    n_graphs
        How many bootstrap graphs ``support`` counts; 0 without them.
    n_refits
        How many times the equations were fitted again, which ``refits`` counts; 0 without.
    origin
        Where the graph came from: ``"given"``, or what discovered it; ``None`` if not known.
    vary
        The names that this call let a person act on; ``None`` for all that the schema does.
    ranges
        Of this call, by name, in raw units or levels.
    effort
        Of this call, by name: how hard a change is. Orders what a person is told.
    spread
        How the training rows lie, by name; see ``proce.explanation.record.spread.spread_of``.
        ``None`` where it is not known.
    """

    codec: Codec
    classes: tuple[Level, ...]
    needed: tuple[float, ...]
    threshold: float | None = None
    edges: tuple[tuple[str, str], ...] = ()
    n_graphs: int = 0
    n_refits: int = 0
    origin: str | None = None
    vary: tuple[str, ...] | None = None
    ranges: Mapping[str, tuple[Level, Level]] = field(default_factory=dict)
    effort: Mapping[str, float] = field(default_factory=dict)
    spread: Mapping[str, tuple[float, ...]] | None = None

    @property
    def graph_was_learned(self) -> bool:
        """Whether the causal graph was read off data rather than given by a person."""
        return bool(self.edges) and self.origin not in (None, "given")
