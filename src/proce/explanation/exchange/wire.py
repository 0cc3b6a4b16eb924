"""Explanations as they stand in JSON text: every field in its order, its type, and what may lack.

The same models read and write; a field that was not set is absent from the text. What a value has
to do with another, such as a level with its feature, is checked where it is read. Fields of type
``Any`` with a default are for the person who looks at the text, and nobody else reads them.
"""

import math
from typing import Annotated, Any, Literal, LiteralString

from pydantic import AfterValidator, Discriminator, Field, PlainValidator
from pydantic_core import PydanticCustomError

from proce.json_reading import is_shallow
from proce.schema import Level
from proce.schema.records import StrictRecord, union_tag

_MAX_COUNT = 2**53  # every whole number up to here is a float too
_ONE_TAG, _LIST_TAG = union_tag("one"), union_tag("list")


def _label(value: Any) -> Level:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int | float) and _is_finite(value):
        return value
    raise PydanticCustomError("label", "a text, a finite number or true or false")


def _limit(value: Any) -> Level | None:
    """Return a limit; null stands for one that is infinite."""
    return None if value is None else _label(value)


def _blocker_value(value: Any) -> Level | tuple[str, ...]:
    """Return how far a limit would have to give way: a value, or names."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    return _label(value)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _pair(expected: LiteralString) -> AfterValidator:
    """Refuse lists that are not of two items."""

    def checked(items: list[Any]) -> list[Any]:
        if len(items) != 2:
            raise PydanticCustomError("pair", expected)
        return items

    return AfterValidator(checked)


def _kept(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that are kept as they are, for the reader."""
    if not is_shallow(values):
        raise PydanticCustomError("kept", "values that are not nested so deep")
    return values


def _needed_tag(value: Any) -> str:
    return (_LIST_TAG if isinstance(value, list) else _ONE_TAG).tag


Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=_MAX_COUNT)]
Chance = Annotated[float, Field(ge=0, le=1)]
Label = Annotated[Any, PlainValidator(_label)]
Kept = Annotated[dict[str, Any], AfterValidator(_kept)]
Edge = Annotated[list[str], _pair("a pair of cause and effect")]
Limit = Annotated[Any, PlainValidator(_limit)]
Limits = Annotated[list[Limit], _pair("a pair of limits")]
BlockerValue = Annotated[Any, PlainValidator(_blocker_value)]
Needed = Annotated[
    Annotated[Number, _ONE_TAG] | Annotated[list[Number], _LIST_TAG], Discriminator(_needed_tag)
]


class WireFormat(StrictRecord):
    """The version of the form, which is read before anything else."""

    format: int


class WireScale(StrictRecord):
    """The scale of a feature; ``seen`` and ``resolution`` where they are not as span and step."""

    low: Number | None = None
    span: Number | None = None
    seen: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    resolution: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    may_miss: bool


class WireModel(StrictRecord):
    """The classes, and the probability that each needs as a target; once for all in older texts."""

    classes: list[Label]
    class_labels: list[str | None] | None = None
    needed: Needed
    threshold: Number | None = None
    lead: Number | None = None
    n_models: Count | None = None
    models_are_refits: bool | None = None
    robust: Number | None = None


class WireGraph(StrictRecord):
    """The causal graph, and how many bootstrap graphs and refits were counted."""

    edges: list[Edge]
    origin: str | None = None
    n_graphs: Count
    n_refits: Count | None = None


class WireRequest(StrictRecord):
    """What this call let a person do."""

    vary: list[str] | None = None
    ranges: dict[str, Limits]
    effort: dict[str, Number]
    rules: list[str] | None = None


class WireProvenance(StrictRecord):
    """How the explanations came about; see :class:`proce.explanation.Provenance`."""

    versions: dict[str, str]
    method: str
    seed: int
    settings: Kept
    options: Kept
    mode: str
    graph: str | None = None
    training_rows: Count
    training_hash: str
    elapsed_seconds: Number
    generations: Count
    evaluations: Count


class WireChange(StrictRecord):
    """What became of a feature; its values are read from the rows."""

    feature: str
    kind: Literal["action", "hold", "consequence"]
    before: Any = None
    after: Any = None
    expected: Any = None
    contribution: Number | None = None
    holds_from: Number | None = None
    holds_to: Number | None = None
    open_ends: Literal["low", "high", "both"] | None = None
    rule: str | None = None


class WireLosses(StrictRecord):
    """The losses of a counterfactual; null stands for a loss that is not finite."""

    prediction: Number | None
    prototype: Number | None
    distance: Number | None


class WireCounterfactual(StrictRecord):
    """One counterfactual; its rank is read from its position in the list."""

    rank: Any = None
    probability: Number
    support: Count | None = None
    refits: Count | None = None
    confidence: Chance | None = None
    robustness: Count | None = None
    losses: WireLosses
    changes: list[WireChange]
    steps: list[list[Any]] | None = None
    values: dict[str, Any]


class WireBlocker(StrictRecord):
    """A limit without which a row would have a counterfactual."""

    kind: str
    name: str
    relaxation: str
    distance: Number | None
    value: BlockerValue | None = None


class WireDiagnosis(StrictRecord):
    """Why a row has no counterfactual."""

    reason: str
    closest_miss: dict[str, Any] | None = None
    probability: Number | None = None
    needed: Number | None = None
    broken: list[str]
    blockers: list[WireBlocker]
    searched: Count


class WireFront(StrictRecord):
    """A whole Pareto set: values, losses and, but in older texts, a letter for each cell."""

    values: list[list[Any]]
    losses: list[list[Number | None]]
    changes: list[str] | None = None


class WireRow(StrictRecord):
    """The explanation of one row; null is what the model was not asked, or did not answer."""

    row: Count
    outcome: Literal["found", "not_found", "already_target", "out_of_time", "failed"]
    predicted: Label | None
    target: Label | None
    probability: Number | None
    sentences: Any = None
    factual: dict[str, Any]
    counterfactuals: list[WireCounterfactual]
    margin_met: bool
    diagnosis: WireDiagnosis | None = None
    notes: list[str]
    dropped: Count
    front: WireFront | None = None


class WireCall(WireFormat):
    """What all explanations of a text share; schema and layouts are checked where they are made."""

    # ``training_layout`` is there where the training frame looked otherwise than the explained one;
    # ``withheld`` counts the protected features that were left out for an applicant.

    view: Any = None
    withheld: Count | None = None
    features: dict[str, Any] = Field(alias="schema")
    scale: dict[str, WireScale]
    layout: dict[str, Any]
    training_layout: dict[str, Any] | None = None
    model: WireModel
    graph: WireGraph
    spread: dict[str, list[Number]] | None = None
    request: WireRequest
    provenance: WireProvenance


class WireExplanations(WireCall):
    """A whole text."""

    explanations: list[WireRow]
