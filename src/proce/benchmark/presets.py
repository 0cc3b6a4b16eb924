"""The plans that come with the package, by name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proce.benchmark.plan import MethodName, Plan, Variant
from proce.errors import BenchmarkError, did_you_mean

_DATASETS = ("simple_bn", "sangiovese", "adult", "law", "loan")
_CREDIT = ("credit_card", "german_credit")  # collected rows with heavy tails and many levels

_HARD = Variant(name="ProCE", method="ProCE")
_SOFT = Variant(name="ProCE soft", method="ProCE", causal="soft")
_OFF = Variant(name="ProCE off", method="ProCE", causal="off", graph="none")
_PROCE = (
    _HARD,
    _SOFT,
    Variant(name="ProCE typical", method="ProCE", causal="soft", pick="typical"),
    _OFF,
    Variant(name="ProCE through causes", method="ProCE", settings={"effect_weight": 4.0}),
    Variant(name="ProCE as printed", method="ProCE", causal="paper", printed=True),
    Variant(
        name="ProCE as printed, LiNGAM",
        method="ProCE",
        causal="paper",
        printed=True,
        graph="discovered",
    ),
)
_PUBLISHED_NAMES: Mapping[str, MethodName] = {
    "Wachter": "Wachter",
    "Growing Spheres": "GrowingSpheres",
    "CERTIFAI": "Certifai",
    "DiCE": "Dice",
    "FACE": "Face",
    "C-CHVAE": "Cchvae",
    "Nearest": "Nearest",
}
_PUBLISHED = tuple(Variant(name=name, method=method) for name, method in _PUBLISHED_NAMES.items())
_DISCOVERED = Variant(name="ProCE discovered graph", method="ProCE", graph="discovered")
_DICE_GENETIC = Variant(
    name="DiCE genetic",
    method="Dice",
    # It takes a third of a second for a row, or else it may draw candidates without end.
    settings={"method": "genetic", "seconds_per_row": 5.0},
)
_DICE_GRADIENT = Variant(
    name="DiCE gradient",
    method="Dice",
    settings={"method": "gradient"},
    only_on=_DATASETS[:4],  # the paper's; with more columns it takes over 20 seconds a row
)


def _ruled(*variants: Variant) -> tuple[Variant, ...]:
    """Return variants that are given the rules that %Ccv checks."""
    return tuple(replace(it, name=f"{it.name}, rules", ruled=True) for it in variants)


def _recourse(*variants: Variant) -> tuple[Variant, ...]:
    """Return variants that may only act on what people can act on."""
    return tuple(replace(it, name=f"{it.name}, recourse", setting="recourse") for it in variants)


_MARGIN = replace(_HARD, name="ProCE default margin", margin=0.1)  # what users get by default
_CEILING = Variant(name="ceiling, recourse", method="Ceiling", setting="recourse")
_RULED = _ruled(_HARD, _SOFT, *_PUBLISHED)
_QUICK = (
    *(*_PROCE, *_PUBLISHED, *_RULED, *_recourse(_HARD, _SOFT, _OFF, *_PUBLISHED, _MARGIN)),
    _CEILING,
)
_ALL = (*_PROCE, _MARGIN, _DISCOVERED, *_PUBLISHED, _DICE_GENETIC, _DICE_GRADIENT)
_STANDARD = (
    # The gradient method takes no rules: what breaks one is dropped when it is done.
    *(*_ALL, *_RULED, *_ruled(_DICE_GENETIC), *_recourse(*_ALL)),
    _CEILING,
)


def _vary(**values: tuple[Any, ...]) -> tuple[Variant, ...]:
    """Return variants of ``ProCE soft`` that each change one setting to one of its values."""
    return tuple(
        Variant(
            name=f"{name} = {value}",
            method="ProCE",
            causal="soft",
            margin=value if name == "margin" else 0.0,
            settings={} if name == "margin" else {name: value},
        )
        for name, choices in values.items()
        for value in choices
    )


_SENSITIVITY = _vary(
    latent_size=(32, 64, 128, 256, 512),
    n_neighbours=(5, 15, 25, 35, 45),
    population_size=(25, 50, 100, 200),
    n_generations=(10, 25, 50, 100),
    causal_weight=(0.1, 0.3, 1.0, 3.0, 10.0),
    margin=(0.0, 0.05, 0.1, 0.2),
)

_STANDARD_PLAN = Plan(
    name="standard",
    datasets=(*_DATASETS, *_CREDIT),
    classifiers=("first", "second"),
    classifiers_of=dict.fromkeys(_CREDIT, ("first", "trees")),
    variants=_STANDARD,
    repetitions=1,  # which takes nearly two hours on two cores, see docs/benchmark.md
    rows=30,
    row_seconds=30.0,  # DiCE's gradient method takes up to 10
    cell_seconds=2400.0,
)
PRESETS = {
    "smoke": Plan(
        name="smoke",
        datasets=("simple_bn", "loan"),
        classifiers=("first",),
        variants=(_HARD, _SOFT, *_PUBLISHED, _RULED[0]),
        repetitions=1,
        rows=5,
    ),
    "quick": Plan(
        name="quick",
        datasets=_DATASETS,
        classifiers=("first", "second"),
        variants=_QUICK,
        repetitions=3,
        rows=30,
    ),
    "standard": _STANDARD_PLAN,
    "paper": replace(_STANDARD_PLAN, name="paper", repetitions=100, rows=100, cell_seconds=7200.0),
    "sensitivity": Plan(
        name="sensitivity",
        datasets=("simple_bn", "sangiovese", "adult", "law"),
        classifiers=("first",),
        variants=_SENSITIVITY,
        repetitions=3,
        rows=30,
    ),
}


def find_preset(name: str) -> Plan:
    """Return the plan of a preset."""
    if name not in PRESETS:
        raise BenchmarkError(
            f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}."
            + did_you_mean(name, PRESETS)
        )
    return PRESETS[name]
