"""What somebody may see of an explainer: an applicant no protected feature, an auditor all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from proce.arrays import Array
from proce.batch.reading.typed import TypedColumns
from proce.explanation.record.view import View, check_view, codec_for_applicant
from proce.explanation.words.cells import plain_column
from proce.schema import Codec, Feature, Level, Redaction
from proce.server.desk.asked.names import brief, listed, near
from proce.server.desk.errors import RequestError


@dataclass(frozen=True, eq=False)
class Sight:
    """The features that a view shows, and what may not be told in it.

    Attributes
    ----------
    view
        Who looks.
    whole, codec
        All features, and those that the view shows.
    """

    view: View
    whole: Codec
    codec: Codec

    @classmethod
    def of(cls, codec: Codec, view: View) -> "Sight":
        """Return what a view shows of the features of a codec."""
        check_view(view)
        return cls(view, codec, codec if view == "auditor" else codec_for_applicant(codec))

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the view shows."""
        return self.codec.schema.features

    @property
    def names(self) -> tuple[str, ...]:
        """The names of these features."""
        return self.codec.schema.names

    @property
    def n_withheld(self) -> int:
        """How many features the view does not show."""
        return len(self.whole.schema) - len(self.codec.schema)

    @cached_property
    def whole_numbers(self) -> frozenset[str]:
        """The features that were whole numbers in all training rows."""
        return TypedColumns.of(self.codec).whole & frozenset(self.names)

    @cached_property
    def _redaction(self) -> Redaction:
        return Redaction.of(self.whole.schema) if self.n_withheld else Redaction({})

    def feature(self, name: str, field: str) -> Feature:
        """Return a feature by its name, or say that the field names none."""
        if name not in self.codec.schema:
            raise RequestError(
                field,
                f"there is no feature {brief(name)}; the features are {listed(self.names)}."
                + near(name, self.names),
            )
        return self.codec.schema[name]

    def tells(self, text: str) -> bool:
        """Whether a text speaks of no feature that the view does not show."""
        return not self._redaction.in_text(text)

    def tells_rule(self, text: str) -> bool:
        """Whether a rule reads no feature that the view does not show."""
        return not self._redaction.in_rule(text)

    def told(self, texts: Sequence[str]) -> list[str]:
        """Return the sentences and rules that may be told."""
        return self._redaction.rules(texts)

    def options(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request without what the view does not show."""
        return self._redaction.options(request)

    def values(self, raw: Array) -> list[dict[str, Level | None]]:
        """Return rows ``(n, f)`` in raw units and level codes as plain values by feature."""
        by_position = raw.T.tolist()
        columns = [
            plain_column(feature, by_position[self.whole.schema.position(feature.name)])
            for feature in self.features
        ]
        return [dict(zip(self.names, values, strict=True)) for values in zip(*columns, strict=True)]
