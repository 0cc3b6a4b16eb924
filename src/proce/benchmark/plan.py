"""What a run measures: data sets x classifiers x repetitions x variants of methods."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
from typing import Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from proce.datasets.load import LOADERS
from proce.errors import BenchmarkError, did_you_mean
from proce.json_reading import parse_json
from proce.methods.calls.explain_options import Pick

MethodName = Literal[
    "ProCE", "Wachter", "GrowingSpheres", "Certifai", "Dice", "Face", "Cchvae", "Nearest", "Ceiling"
]
Graph = Literal["given", "discovered", "true", "none"]
Setting = Literal["paper", "recourse"]
CLASSIFIERS = ("first", "second", "trees")
_KNOWN: dict[Any, Any] = {"method": MethodName, "graph": Graph, "setting": Setting, "pick": Pick}
_MAX_CELLS = 100_000


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A row of the tables: a method and how it is used."""

    name: str  # the name of the variant in the tables
    # the name of the method's class; or Ceiling, which is none, but shows who can be helped at all
    # in the true equations
    method: MethodName
    # paper for the schema of the paper, in which nearly every feature is free; recourse for a
    # schema in which only what people can act on may be acted on. Recourse is measured on data sets
    # whose true equations are known.
    setting: Setting = "paper"
    # Whether the method is given the rules that %Ccv checks. A published method then also respects
    # one-way features, and drops candidates that break a rule.
    ruled: bool = False
    # causal, graph, margin, pick: options of ProCE; published methods ignore them
    causal: str = "auto"
    graph: Graph = "given"
    margin: float = 0.0
    pick: Pick = "closest"
    # whether ProCE is used as the paper prints it: with its settings and linear equations
    printed: bool = False
    # further settings of the method, by name
    settings: Mapping[str, Any] = field(default_factory=dict)
    # a limit in place of the plan's, for a variant that shows what could be reached
    max_evaluations: int | None = None
    # data sets that the variant is limited to, where it takes too long on others; empty for all
    only_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, known in _KNOWN.items():
            _check_known(name, getattr(self, name), get_args(known))
        for name in self.only_on:
            _check_known("data set", name, LOADERS)

    @property
    def needs_gradient(self) -> bool:
        """Whether the variant can only explain a classifier that has a gradient: a network."""
        dice = self.method == "Dice" and self.settings.get("method") == "gradient"
        return self.method == "Wachter" or dice

    @property
    def slug(self) -> str:
        """The name in letters that a file name may have."""
        return re.sub(r"[^a-z0-9.]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True)
class PlanCell:
    """One variant on one world; a run measures every cell of its plan."""

    dataset: str
    classifier: str
    repetition: int
    variant: Variant

    @property
    def world(self) -> tuple[str, str, int]:
        """The data set, classifier and repetition, which cells of the same world share."""
        return self.dataset, self.classifier, self.repetition

    @property
    def id(self) -> str:
        """The name of the folder that records the cell."""
        return f"{self.dataset}_{self.classifier}_{self.repetition}_{self.variant.slug}"


@dataclass(frozen=True)
class LeftOut:
    """A variant that cannot be used with a data set and a classifier; no cell measures it."""

    dataset: str
    classifier: str
    variant: Variant
    reason: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run, as the file ``plan.json`` in its folder holds it."""

    name: str  # the name of the preset, or of a plan of one's own
    # datasets, classifiers, variants: What the cells of the plan cross. A classifier is one of the
    # paper's two networks, first or second, or trees, gradient-boosted ones.
    datasets: tuple[str, ...]
    classifiers: tuple[str, ...]
    variants: tuple[Variant, ...]
    repetitions: int  # how many times each data set is split anew
    rows: int  # how many factual rows are drawn in each split
    # how many candidates a method may ask the model about for each row
    max_evaluations: int = 50_000
    row_seconds: float = 10.0  # the time that a method has for each row, on average over a cell
    # the time after which a cell is ended from outside and counts as failed
    cell_seconds: float = 900.0
    seed: int = 0  # the seed of all random numbers; repetition r uses seed + r
    # for some data sets, classifiers in place of classifiers
    classifiers_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.datasets, *self.classifiers_of):
            _check_known("data set", name, LOADERS)
        for name in (*self.classifiers, *chain.from_iterable(self.classifiers_of.values())):
            _check_known("classifier", name, CLASSIFIERS)
        for name in ("repetitions", "rows", "max_evaluations"):
            if getattr(self, name) < 1:
                raise BenchmarkError(f"{name} is {getattr(self, name)}; expected 1 or more.")
        n_cells = self.repetitions * len(self.problems()) * len(self.variants)
        if n_cells > _MAX_CELLS:
            raise BenchmarkError(
                f"the plan has {n_cells:,} cells; expected at most {_MAX_CELLS:,}. Take fewer"
                " repetitions, or make several plans."
            )
        for name in ("row_seconds", "cell_seconds"):
            if not getattr(self, name) > 0:
                raise BenchmarkError(f"{name} is {getattr(self, name)}; expected more than 0.")
        slugs = [variant.slug for variant in self.variants]
        if repeated := {slug for slug in slugs if slugs.count(slug) > 1}:
            raise BenchmarkError(
                f"two variants are called {repeated.pop()!r}; give each its own name."
            )

    def problems(self) -> list[tuple[str, str]]:
        """Return every data set with each of its classifiers."""
        return [
            (dataset, classifier)
            for dataset in self.datasets
            for classifier in self.classifiers_of.get(dataset, self.classifiers)
        ]

    def cells(self) -> Iterator[PlanCell]:
        """Yield every cell, world by world; what cannot be measured is in :meth:`left_out`.

        Recourse is asked for on data sets for which it is known what people can act on, and where
        either the true equations are known or the rows are those of borrowers.
        """
        for repetition in range(self.repetitions):
            for dataset, classifier in self.problems():
                for variant in self.variants:
                    if _is_asked(variant, dataset) and not _obstacle(variant, dataset, classifier):
                        yield PlanCell(dataset, classifier, repetition, variant)

    def left_out(self) -> list[LeftOut]:
        """Return the variants that cannot be used with some data set and classifier, and why."""
        return [
            LeftOut(dataset, classifier, variant, reason)
            for dataset, classifier in self.problems()
            for variant in self.variants
            if _is_asked(variant, dataset) and (reason := _obstacle(variant, dataset, classifier))
        ]

    def to_json(self) -> str:
        """Return the plan as text that people can read and edit."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Read a plan from the text that :meth:`to_json` returns, or from an edited one."""
        try:
            record = parse_json(text)
        except ValueError as error:
            raise BenchmarkError(
                f"the plan is not JSON: {error}. Start from a preset's plan.json."
            ) from None
        _check_fields("the plan", record, cls)
        if isinstance(record["variants"], list):
            for variant in record["variants"]:
                _check_fields("a variant", variant, Variant)
        try:
            return TypeAdapter(cls).validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, BenchmarkError):
            raise cause
        if first["loc"][-1] in _KNOWN:
            _check_known(str(first["loc"][-1]), first["input"], get_args(_KNOWN[first["loc"][-1]]))
        field = ".".join(str(part) for part in first["loc"])
        raise BenchmarkError(f"the plan cannot be used: {field}: {first['msg']}.")

    def difference(self, other: "Plan") -> list[str]:
        """Return one text for each field in which this plan and another differ."""
        return [
            f"{name}: {_shorten(getattr(self, name))} here,"
            f" {_shorten(getattr(other, name))} asked for"
            for name in (entry.name for entry in fields(self))
            if getattr(self, name) != getattr(other, name)
        ]


DATASETS_WITH_TRUTH = ("loan", "simple_bn", "sangiovese")
_DATASETS_WITH_RECOURSE = (*DATASETS_WITH_TRUTH, "credit_card", "german_credit")


def _is_asked(variant: Variant, dataset: str) -> bool:
    return variant.setting == "paper" or dataset in _DATASETS_WITH_RECOURSE


def _obstacle(variant: Variant, dataset: str, classifier: str) -> str | None:
    """Return why a variant cannot be used with a data set and a classifier; else ``None``."""
    if variant.needs_gradient and classifier == "trees":
        return "it descends on a gradient, and trees have none"
    if variant.method == "Ceiling" and dataset not in DATASETS_WITH_TRUTH:
        return "it searches in the true equations, and those of collected rows are not known"
    if variant.only_on and dataset not in variant.only_on:
        return "it takes more time there than the plan has"
    return None


def _shorten(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], Variant):
        return f"{len(value)} variants"
    text = str(value)
    return text if len(text) < 60 else text[:57] + "..."


def _check_known(what: str, value: str, known: Any) -> None:
    if value not in known:
        raise BenchmarkError(
            f"unknown {what} {value!r}; expected one of {', '.join(map(str, known))}."
            + did_you_mean(value, known)
        )


def _check_fields(what: str, record: Any, kind: Any) -> None:
    if not isinstance(record, dict):
        raise BenchmarkError(f"{what} is {record!r}; expected an object of fields.")
    known = [entry.name for entry in fields(kind)]
    for name in record:
        if name not in known:
            raise BenchmarkError(
                f"{what} has the unknown field {name!r}; the fields are {', '.join(known)}."
                + did_you_mean(name, known)
            )
    if missing := [name for name in _REQUIRED_FIELDS[kind.__name__] if name not in record]:
        raise BenchmarkError(f"{what} lacks {', '.join(missing)}.")


_REQUIRED_FIELDS = {
    "Plan": ("name", "datasets", "classifiers", "variants", "repetitions", "rows"),
    "Variant": ("name", "method"),
}
