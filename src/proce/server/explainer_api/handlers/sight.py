"""What somebody may see of an explainer: an applicant no protected feature, an auditor all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from proce.arrays import Array
from proce.batch.reading.typed import TypedColumns
from proce.errors import RuleError
from proce.explanation.record.view import (
    View,
    Withheld,
    check_view,
    codec_for_applicant,
    protected_names,
)
from proce.explanation.words.cells import plain_column
from proce.schema import Codec, Feature, Level, Rule
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.names import brief, listed, near


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
    def _withheld(self) -> Withheld | None:
        names = protected_names(self.whole.schema)
        return Withheld(self.whole.schema, names) if self.n_withheld else None

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
        return self._withheld is None or not self._withheld.in_text(text)

    def tells_rule(self, text: str) -> bool:
        """Whether a rule reads no feature that the view does not show."""
        return self._withheld is None or not self._withheld.in_rule(text, self.whole)

    def told(self, texts: Sequence[str]) -> list[str]:
        """Return the texts that may be told."""
        return [text for text in texts if self.tells(text) and self._tells_if_rule(text)]

    def _tells_if_rule(self, text: str) -> bool:
        try:
            Rule.parse(text, self.whole)
        except RuleError:
            return True  # a sentence
        return self.tells_rule(text)

    def values(self, raw: Array) -> list[dict[str, Level | None]]:
        """Return rows ``(n, f)`` in raw units and level codes as plain values by feature."""
        by_position = raw.T.tolist()
        columns = [
            plain_column(feature, by_position[self.whole.schema.position(feature.name)])
            for feature in self.features
        ]
        return [dict(zip(self.names, values, strict=True)) for values in zip(*columns, strict=True)]
