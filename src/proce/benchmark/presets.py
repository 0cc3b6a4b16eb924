"""The plans that a name stands for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proce.benchmark.plan import MethodName, Plan, Variant
from proce.errors import BenchmarkError, did_you_mean

DATASETS = ("simple_bn", "sangiovese", "adult", "law", "loan")

PROCE = (
    Variant(name="ProCE", method="ProCE"),
    Variant(name="ProCE soft", method="ProCE", causal="soft"),
    Variant(name="ProCE typical", method="ProCE", causal="soft", pick="typical"),
    Variant(name="ProCE off", method="ProCE", causal="off", graph="none"),
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
OTHERS: Mapping[str, MethodName] = {
    "Wachter": "Wachter",
    "Growing Spheres": "GrowingSpheres",
    "CERTIFAI": "Certifai",
    "DiCE": "Dice",
    "FACE": "Face",
    "C-CHVAE": "Cchvae",
    "Nearest": "Nearest",
}
PUBLISHED = tuple(Variant(name=name, method=method) for name, method in OTHERS.items())
RULED = tuple(
    replace(each, name=f"{each.name}, rules", ruled=True)
    for each in (PROCE[0], PROCE[1], *PUBLISHED)
)
RECOURSE = tuple(
    replace(each, name=f"{each.name}, recourse", setting="recourse")
    for each in (PROCE[0], PROCE[1], PROCE[3], *PUBLISHED)
)
MARGIN = Variant(name="ProCE, recourse, margin 0.1", method="ProCE", setting="recourse", margin=0.1)
# What can be reached at all: the true equations, ten times the candidates, no early stop. The
# margin is for what nobody knows: the part of a person's noise that a level hides.
CEILING = Variant(
    name="ceiling, recourse",
    method="ProCE",
    setting="recourse",
    graph="true",
    margin=0.1,
    max_evaluations=100_000,
    settings={
        "population_size": 200,
        "n_offspring": 200,
        "n_generations": 250,
        "stop_improvement": None,
    },
)


def _varied(**values: tuple[Any, ...]) -> tuple[Variant, ...]:
    """Return ``ProCE soft`` with one setting at a time at each of its values."""
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


SENSITIVITY = _varied(
    latent_size=(32, 64, 128, 256, 512),
    n_neighbours=(5, 15, 25, 35, 45),
    population_size=(25, 50, 100, 200),
    n_generations=(10, 25, 50, 100),
    causal_weight=(0.1, 0.3, 1.0, 3.0, 10.0),
    margin=(0.0, 0.05, 0.1, 0.2),
)

_EVERYTHING = (*PROCE, *PUBLISHED, *RULED, *RECOURSE, MARGIN, CEILING)
PRESETS = {
    "smoke": Plan(
        name="smoke",
        datasets=("simple_bn", "loan"),
        classifiers=("first",),
        variants=(PROCE[0], PROCE[1], *PUBLISHED, RULED[0]),
        repetitions=1,
        rows=5,
    ),
    "quick": Plan(
        name="quick",
        datasets=DATASETS,
        classifiers=("first", "second"),
        variants=_EVERYTHING,
        repetitions=3,
        rows=30,
    ),
    "paper": Plan(
        name="paper",
        datasets=DATASETS,
        classifiers=("first", "second"),
        variants=_EVERYTHING,
        repetitions=100,
        rows=100,
    ),
    "sensitivity": Plan(
        name="sensitivity",
        datasets=("simple_bn", "sangiovese", "adult", "law"),
        classifiers=("first",),
        variants=SENSITIVITY,
        repetitions=3,
        rows=30,
    ),
}


def preset(name: str) -> Plan:
    """Return the plan of a name."""
    if name not in PRESETS:
        raise BenchmarkError(
            f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}."
            + did_you_mean(name, PRESETS)
        )
    return PRESETS[name]
