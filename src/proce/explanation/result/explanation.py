"""What one row gets: its counterfactuals, or the reason why there are none."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from os import PathLike
from pathlib import Path
from typing import Any

from torch import Tensor

from proce.explanation.record.context import Context
from proce.explanation.record.diagnosis import Diagnosis

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
        ``(n, f)``, a ``Change`` for each cell.
    probabilities
        ``(n,)``, of the target.
    losses
        ``(n, 3)``: prediction, prototype, distance.
    margin_met
        Whether the counterfactuals keep the margin that was asked for.
    support
        ``(n,)``, in how many of the bootstrap graphs each holds; ``None`` without such graphs.
    refits
        ``(n,)``, in how many refits of the equations the actions of each still reach the target;
        ``None`` without refits.
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
    contributions
        ``(n, f)``, by how much the probability of the target falls when one action is taken back,
        with all that follows; 0 for all other cells. ``None`` where the model was not asked.
    steps
        For each counterfactual the way there ``(s, f)``, the counterfactual last; empty for
        methods that give none.
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
    refits: Tensor | None = None
    front: Front | None = None
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    dropped: int = 0
    miss: Tensor | None = None
    expected: Tensor | None = None
    contributions: Tensor | None = None
    steps: tuple[Tensor, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def needed(self) -> float:
        """The probability of the target that was asked for."""
        return self.context.needed[self.target]

    def sentences(self, rank: int = 1) -> list[str]:
        """Return the counterfactual of a rank in plain words: actions, then consequences."""
        from proce.explanation.words.sentences import sentences

        return sentences(self, rank)

    def path(self, rank: int = 1) -> Any:
        """Return the way to the counterfactual of a rank as a frame: the row, then each step.

        For methods whose counterfactuals are reached step by step, such as FACE. In the library
        and the dtypes of the training frame.
        """
        from proce.explanation.tables.frames import path

        return path(self, rank)

    def save_html(self, path: str | PathLike[str], title: str | None = None) -> Path:
        """Write a report of this row: one HTML file that needs nothing else."""
        from proce.explanation.html.page import save_page_of_row

        return save_page_of_row(self, path, title=title)

    def plot_changes(self, ax: Any = None) -> Any:
        """Draw before and after of the recommended counterfactual; return the axes."""
        from proce.explanation.plots.changes import plot_changes

        return plot_changes(self, ax)

    def plot_front(self, ax: Any = None) -> Any:
        """Draw the Pareto front; return the axes."""
        from proce.explanation.plots.front import plot_front

        return plot_front(self, ax)

    def plot_graph(self, ax: Any = None) -> Any:
        """Draw the causal graph with actions and consequences marked; return the axes."""
        from proce.explanation.plots.graph import plot_graph

        return plot_graph(self, ax)

    def __str__(self) -> str:
        from proce.explanation.words.sentences import lines

        return "\n".join("  " * (each.kind == "consequence") + each.text for each in lines(self))

    def __repr__(self) -> str:
        return f"Explanation(row {self.row}, {self.outcome.value}, {len(self)} counterfactuals)"

    def _repr_html_(self) -> str:
        from proce.explanation.html.notebook import html_of_row

        return html_of_row(self)
