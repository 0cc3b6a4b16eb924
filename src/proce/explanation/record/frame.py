"""An explained frame: its rows, how it looked, and how the explanations came about."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from proce.explanation.record.context import Context
from proce.explanation.record.provenance import Provenance
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.schema import Layout


@dataclass(frozen=True, eq=False)
class ExplainedFrame:
    """Everything that a call of ``explain`` returns, as plain data.

    Attributes
    ----------
    rows
        What is known of each row, in the order of the frame.
    layout
        How the frame looked that was explained.
    provenance
        How the explanations came about.
    """

    rows: ExplainedRows
    layout: Layout
    provenance: Provenance

    @property
    def context(self) -> Context:
        """What all rows share."""
        return self.rows.context

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ExplainedRow]:
        return (ExplainedRow(self.rows, index, self.layout) for index in range(len(self)))

    def labelled(self, labels: Any) -> Self:
        """Return the same explanations with a label for each row, a pandas index."""
        from proce.schema.frames.layout_json import labelled_layout

        places = {row: place for place, row in enumerate(self.rows.positions.tolist())}
        return replace(self, layout=labelled_layout(self.layout, labels, places))

    def row_labels(self) -> Any:
        """Return the label of the row of each counterfactual; ``None`` where rows have none."""
        return self.layout.take(self.rows.counterfactual_positions().tolist()).index
