"""Sangiovese: vines and their grapes, from a published conditional linear Gaussian network.

The parameters stand in ``sangiovese.json``, whose authors and licence (CC BY-SA 3.0) are named
in ``sangiovese.NOTICE.txt``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Additive, CausalGraph, StructuralCausalModel, generate
from proce.causal.equations.terms import Parents
from proce.datasets.dataset import Dataset, check_choice, check_draw, generated_frame, label_column
from proce.json_reading import parse_json
from proce.schema import Action, Categorical, Codec, Continuous, Feature, Schema

FEATURES = (
    "SproutN",
    "BunchN",
    "WoodW",
    "SPAD06",
    "NDVI06",
    "SPAD08",
    "NDVI08",
    "Acid",
    "Potass",
    "Brix",
    "pH",
    "Anthoc",
    "Polyph",
)
ACTIONABLE = ("Treatment", "SproutN", "BunchN")
MIXTURE = "mixture"


def load_sangiovese(treatment: str = "T2a", n: int = 11_569, seed: int = 0) -> Dataset:
    """Draw the Sangiovese data: is the weight of the grapes above zero, on the network's scale?

    In ``recourse_schema`` a grower sets the number of sprouts and of bunches by thinning, and
    chooses the treatment; wood, leaf indices and the composition of the grapes are indirect,
    because they follow from these.
    """
    network = _network()
    check_choice("sangiovese", "treatment", treatment, (*network["treatments"], MIXTURE))
    check_draw("sangiovese", n, seed)
    rng = np.random.default_rng(seed)
    schema, graph = _schema(treatment), _graph(treatment)
    treated = _treatments(treatment, n, rng)
    # The equation of a node without causes is its intercept, of its treatment, and its noise.
    equations = {name: Regression.of(name, treatment) for name in (*FEATURES, "GrapeW")}
    noise = {
        name: rng.normal(size=(n, 1)) * equation.sd_under(treated)[:, None]
        for name, equation in equations.items()
    }
    mechanisms = {name: Additive(equations[name]) for name in graph.endogenous}
    roots = {"Treatment": treated} | {
        name: equations[name]({"Treatment": treated}) + noise[name][:, 0]
        for name in graph.roots
        if name in equations
    }
    values = generate(graph, mechanisms, schema, roots, noise)
    weight = equations["GrapeW"](values | {"Treatment": treated}) + noise["GrapeW"][:, 0]
    frame = generated_frame(values, schema)
    indirect = [name for name in schema.names if name not in ACTIONABLE]
    return Dataset(
        name="sangiovese",
        frame=frame,
        label=label_column("heavy_grapes", weight > 0),
        class_names=("light grapes", "heavy grapes"),
        schema=schema,
        recourse_schema=schema.edit(indirect, action=Action.INDIRECT),
        graph=graph,
        rules=("SproutN ~> BunchN",),
        truth=StructuralCausalModel(graph, mechanisms, Codec.fit(schema, frame)),
        sampler=partial(load_sangiovese, treatment),
    )


@dataclass(frozen=True)
class Regression:
    """A linear equation whose parameters are one number each, or one for every treatment."""

    intercept: Array  # the intercept, and the standard deviation of the noise
    sd: Array
    coefficients: Mapping[str, Array]  # the slope of each cause, by name

    @classmethod
    def of(cls, name: str, treatment: str) -> "Regression":
        """Return the equation of a node under one treatment, or under their mixture."""
        node = _network()["nodes"][name]
        parameter = partial(_parameter, treatment=treatment)
        slopes = {cause: parameter(slope) for cause, slope in node["coefficients"].items()}
        return cls(parameter(node["intercept"]), parameter(node["sd"]), slopes)

    def __call__(self, parents: Parents) -> Array:
        """Return what the causes lead to, without noise."""
        under = partial(_under, treatment=parents.get("Treatment"))
        total = under(self.intercept)
        for cause, slope in self.coefficients.items():
            total = total + under(slope) * parents[cause]
        return total

    def sd_under(self, treatment: Array) -> Array:
        """Return the standard deviation of the noise of rows with these treatments."""
        return np.broadcast_to(_under(self.sd, treatment), (len(treatment),))


def _parameter(published: float | list[float], treatment: str) -> Array:
    """Return a published parameter of one treatment, or of all of them for the mixture."""
    if isinstance(published, list) and treatment != MIXTURE:
        published = published[_network()["treatments"].index(treatment)]
    return np.array(published, dtype=np.float64)


def _under(parameter: Array, treatment: Array | None) -> Array:
    """Return a parameter for rows with these treatments."""
    if parameter.ndim == 0 or treatment is None:
        return parameter
    return parameter[treatment.astype(np.int64)]


@cache
def _network() -> dict[str, Any]:
    text = files("proce.datasets").joinpath("sangiovese.json").read_text("utf-8")
    network: dict[str, Any] = parse_json(text)
    return network


def _treatments(treatment: str, n: int, rng: np.random.Generator) -> Array:
    levels = _network()["treatments"]
    if treatment != MIXTURE:
        return np.full(n, float(levels.index(treatment)))
    chances = np.array(_network()["probabilities"])
    return rng.choice(len(levels), n, p=chances / chances.sum()).astype(np.float64)


def _schema(treatment: str) -> Schema:
    features: list[Feature] = [Continuous(name) for name in FEATURES]
    if treatment == MIXTURE:
        features.insert(0, Categorical("Treatment", tuple(_network()["treatments"])))
    return Schema(features)


def _graph(treatment: str) -> CausalGraph:
    nodes = _network()["nodes"]
    edges = [(cause, name) for name in FEATURES for cause in nodes[name]["coefficients"]]
    if treatment != MIXTURE:
        return CausalGraph(edges, FEATURES)
    treated = [name for name in FEATURES if isinstance(nodes[name]["intercept"], list)]
    names = ("Treatment", *FEATURES)
    return CausalGraph([*(("Treatment", name) for name in treated), *edges], names)
