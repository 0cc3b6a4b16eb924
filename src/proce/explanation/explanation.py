"""What a person gets: for each row its counterfactuals, or the reason why there are none."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any, overload

from torch import Tensor

from proce.explanation.diagnosis import Diagnosis
from proce.explanation.provenance import Provenance
from proce.schema import Codec, Layout, Level

OBJECTIVES = ("prediction", "prototype", "distance")


class Outcome(StrEnum):
    """How the search for a row ended."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    ALREADY_TARGET = "already_target"
    OUT_OF_TIME = "out_of_time"


class Change(IntEnum):
    """What became of a feature in a counterfactual."""

    NONE = 0
    ACTION = 1
    HOLD = 2
    CONSEQUENCE = 3


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
        The probability of the target that was asked for.
    edges
        Of the causal graph, as ``(cause, effect)``; empty without one.
    n_graphs
        How many bootstrap graphs ``support`` counts; 0 without them.
    origin
        Where the graph came from: ``"given"``, or what discovered it; ``None`` if not known.
    vary
        The names that this call let a person act on; ``None`` for all that the schema does.
    ranges
        Of this call, by name, in raw units or levels.
    effort
        Of this call, by name: how hard a change is. Orders what a person is told.
    """

    codec: Codec
    classes: tuple[Level, ...]
    needed: float
    edges: tuple[tuple[str, str], ...] = ()
    n_graphs: int = 0
    origin: str | None = None
    vary: tuple[str, ...] | None = None
    ranges: Mapping[str, tuple[Level, Level]] = field(default_factory=dict)
    effort: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Front:
    """The whole Pareto set of a row: valid, rule-abiding, none better than another in all.

    Attributes
    ----------
    rows
        ``(p, f)``, in the entries of a codec.
    losses
        ``(p, 3)``: prediction, prototype, distance.
    """

    rows: Tensor
    losses: Tensor

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Explanation:
    """One row, what was asked for it and what was found.

    Attributes
    ----------
    context
        What it shares with the other rows of the call.
    row
        Its position in the frame that was explained.
    factual, raw
        ``(f,)``, the row in the entries of the codec, and in raw units as it came in.
    predicted, target
        Classes, as positions.
    probability
        Of the target, for the row as it is.
    outcome
        How the search ended.
    rows
        ``(n, f)``, the counterfactuals, the recommended one first.
    changes
        ``(n, f)``, a :class:`Change` for each cell.
    probabilities
        ``(n,)``, of the target.
    losses
        ``(n, 3)``: prediction, prototype, distance.
    margin_met
        Whether the counterfactuals keep the margin that was asked for.
    support
        ``(n,)``, in how many of the bootstrap graphs each holds; ``None`` without such graphs.
    front
        The whole Pareto set, where it was kept.
    diagnosis
        For ``not_found``: what blocks.
    notes
        What the reader should know, such as cells that are missing and so stay as they are.
    dropped
        How many candidates failed the last check on the model itself.
    miss
        ``(f,)``, for ``not_found`` the candidate that came nearest.
    expected
        ``(n, f)``, where each feature would be if it were neither acted on nor held; read for
        holds only. ``None`` where it is not known.
    """

    context: Context
    row: int
    factual: Tensor
    raw: Tensor
    predicted: int
    target: int
    probability: float
    outcome: Outcome
    rows: Tensor
    changes: Tensor
    probabilities: Tensor
    losses: Tensor
    margin_met: bool = True
    support: Tensor | None = None
    front: Front | None = None
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    dropped: int = 0
    miss: Tensor | None = None
    expected: Tensor | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def sentences(self, rank: int = 1) -> list[str]:
        """Return the counterfactual of a rank in plain words: actions, then consequences."""
        from proce.explanation.rendering import sentences

        return sentences(self, rank)

    def plot_graph(self, ax: Any = None) -> Any:
        """Draw the causal graph with actions and consequences marked; return the axes."""
        from proce.explanation.graph_plot import plot_graph

        return plot_graph(self, ax)

    def __str__(self) -> str:
        from proce.explanation.rendering import lines

        return "\n".join("  " * (each.kind == "consequence") + each.text for each in lines(self))

    def __repr__(self) -> str:
        return f"Explanation(row {self.row}, {self.outcome.value}, {len(self)} counterfactuals)"

    def _repr_html_(self) -> str:
        from proce.explanation.notebook import explanation_html

        return explanation_html(self)


@dataclass(frozen=True, eq=False)
class Explanations:
    """The explanations of a frame's rows, in its order; has a length, slices and iterates.

    Attributes
    ----------
    context
        What all rows share.
    items
        One a row.
    layout
        How the frame looked that was explained.
    provenance
        How the explanations came about.
    """

    context: Context
    items: tuple[Explanation, ...]
    layout: Layout
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.items)

    @overload
    def __getitem__(self, key: int) -> Explanation: ...

    @overload
    def __getitem__(self, key: slice) -> "Explanations": ...

    def __getitem__(self, key: int | slice) -> "Explanation | Explanations":
        if isinstance(key, slice):
            return replace(self, items=self.items[key])
        return self.items[key]

    def to_frame(self) -> Any:
        """Return all counterfactuals: row, rank, then the columns of the frame explained.

        In its library, dtypes and, for pandas, index labels. A column of that name renames
        ours to ``_row`` or ``_rank``.
        """
        from proce.explanation.tables import to_frame

        return to_frame(self)

    def counterfactuals(self) -> Any:
        """Return all counterfactuals in the columns of the frame, ready for the model."""
        from proce.explanation.tables import counterfactuals

        return counterfactuals(self)

    def best(self) -> Any:
        """Return the recommended counterfactual of every row that has one."""
        from proce.explanation.tables import counterfactuals

        firsts = [replace(e, rows=e.rows[:1], changes=e.changes[:1]) for e in self.items]
        return counterfactuals(replace(self, items=tuple(firsts)))

    def outcomes(self) -> Any:
        """Return one line per row, found or not."""
        from proce.explanation.tables import outcomes

        return outcomes(self)

    def changes(self) -> Any:
        """Return one line per change: row, rank, feature, before, after, kind."""
        from proce.explanation.tables import changes

        return changes(self)

    def reasons(self, at_most: int = 4) -> Any:
        """Return the principal reasons of each row in order, as a draft for a notice."""
        from proce.explanation.tables import reasons

        return reasons(self, at_most)

    def to_json(self) -> str:
        """Return everything as JSON text; :meth:`from_json` reads it back."""
        from proce.explanation.exchange import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Explanations":
        """Read explanations from JSON text."""
        from proce.explanation.exchange import from_json

        return from_json(text)

    def plot_changes(self, ax: Any = None) -> Any:
        """Draw before and after of the recommended counterfactual; return the axes."""
        from proce.explanation.plots import plot_changes

        return plot_changes(self, ax)

    def plot_front(self, ax: Any = None) -> Any:
        """Draw the Pareto front of the first row that has one; return the axes."""
        from proce.explanation.front_plot import plot_front

        return plot_front(self, ax)

    def __repr__(self) -> str:
        counts = Counter(item.outcome.value for item in self.items)
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        return f"Explanations({len(self)} rows{': ' if told else ''}{told})"

    def _repr_html_(self) -> str:
        from proce.explanation.notebook import to_html

        return to_html(self)
