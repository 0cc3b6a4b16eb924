"""What somebody may see of an explainer: an applicant no protected feature, an auditor all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from proce.arrays import Array
from proce.batch.reading.typed import TypedColumns
from proce.errors import ModelError, ProceError, RuleError
from proce.explanation.record.view import View, codec_for_applicant
from proce.explanation.words.cells import plain_column
from proce.schema import Codec, Feature, Level, Redaction
from proce.server.explainer_api.errors import RequestError, brief, listed, near

Value = TypeVar("Value")
_RULE = "the rules contradict a rule of the explainer that this view does not show."
_MODEL = "the model cannot answer for this row; an auditor can see why."
_OTHER = "this cannot be asked of this explainer; an auditor can see why."


@dataclass(frozen=True, eq=False)
class RoleView:
    """The features that a view shows, and what may not be told in it."""

    whole: Codec  # all features, and those that the view shows
    codec: Codec

    @classmethod
    def of(cls, codec: Codec, view: View) -> "RoleView":
        """Return what a view shows of the features of a codec."""
        return cls(codec, codec if view == "auditor" else codec_for_applicant(codec))

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
        return TypedColumns.of(self.codec).integers & frozenset(self.names)

    @cached_property
    def redaction(self) -> Redaction:
        """What names a feature that the view does not show."""
        return Redaction.of(self.whole.schema) if self.n_withheld else Redaction({})

    def attempt(self, field: str, call: Callable[[], Value]) -> Value:
        """Return what a call returns; its error is told of a field, or of ``rules``."""
        # An applicant is not told the words of the model, which may quote any value, nor those
        # that name a protected feature.
        try:
            return call()
        except RequestError:
            raise
        except ProceError as error:
            is_rule, is_model = isinstance(error, RuleError), isinstance(error, ModelError)
            message = str(error)
            if (is_model and self.n_withheld) or self.redaction.in_text(message):
                message = _RULE if is_rule else _MODEL if is_model else _OTHER
            raise RequestError("rules" if is_rule else field, message) from None

    def feature(self, name: str, field: str) -> Feature:
        """Return a feature by its name, or say that the field names none."""
        if name not in self.codec.schema:
            raise RequestError(
                field,
                f"there is no feature {brief(name)}; the features are {listed(self.names)}."
                + near(name, self.names),
            )
        return self.codec.schema[name]

    def values(self, raw: Array) -> list[dict[str, Level | None]]:
        """Return rows ``(n, f)`` in raw units and level codes as plain values by feature."""
        by_position = raw.T.tolist()
        columns = [
            plain_column(feature, by_position[self.whole.schema.position(feature.name)])
            for feature in self.features
        ]
        return [dict(zip(self.names, values, strict=True)) for values in zip(*columns, strict=True)]
