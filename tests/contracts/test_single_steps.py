"""A single step that works is advised, or something nearer, whether the feature has causes or not.

The world is small enough to try everything: outages lead to calls and calls to complaints, and a
provider expects the customer to leave who has many of them. Every customer there can be is asked
about.
"""

from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, ProCE, SearchSettings
from proce.causal import StructuralCausalModel
from proce.explanation import Explanations
from proce.methods.calls.options import Options
from proce.methods.pipeline import ProceCall
from proce.objective import CounterfactualProblem
from proce.schema import Categorical, Codec, Continuous, Schema

from ..worlds import QUICK, logistic

STAYS = 1
NUMBERS = ("outages", "calls", "complaints")
GRAPH = CausalGraph([("outages", "calls"), ("calls", "complaints")])
SCHEMA = Schema(
    [
        Continuous("outages", (0, 3), step=1),
        Continuous("calls", (0, 4), step=1),
        Continuous("complaints", (0, 2), step=1),
        Categorical("contract", ("monthly", "yearly"), action="fixed"),
    ]
)
SETTINGS = SearchSettings(
    population_size=40, n_offspring=40, n_generations=15, n_refits=0, autoencoder=QUICK
)


def customers(n: int = 400) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    outages = draw.integers(0, 4, n)
    calls = (outages + draw.integers(-1, 2, n)).clip(0, 4)
    complaints = (calls - 1 + draw.integers(-1, 2, n)).clip(0, 2)
    contract = draw.choice(["monthly", "yearly"], n)
    return pd.DataFrame(
        {"outages": outages, "calls": calls, "complaints": complaints, "contract": contract}
    )


def provider(frame: pd.DataFrame) -> Any:
    """Return the chances that customers leave and stay; complaints count, and calls even more."""
    yearly = (frame["contract"].astype(str) == "yearly").astype(float)
    load = 0.4 * frame["outages"] + 0.9 * frame["calls"] + 0.8 * frame["complaints"]
    return logistic(2.5 - load + 0.7 * yearly)


def everybody_who_leaves() -> pd.DataFrame:
    people = product(range(4), range(5), range(3), ("monthly", "yearly"))
    frame = pd.DataFrame(people, columns=SCHEMA.names)
    return frame[provider(frame)[:, STAYS] < 0.5].reset_index(drop=True)


ROWS = everybody_who_leaves()


@pytest.fixture(scope="module", params=["fitted", "given"])
def graph(request: pytest.FixtureRequest) -> Any:
    """The graph alone, whose equations kernels run, or with equations that are functions."""
    if request.param == "fitted":
        return GRAPH
    codec = Codec.fit(SCHEMA, customers())
    equations = {
        "calls": lambda causes: causes["outages"],
        "complaints": lambda causes: causes["calls"] - 1,
    }
    return StructuralCausalModel.fit(GRAPH, codec.encode(customers()), codec, equations=equations)


@pytest.fixture(scope="module", params=["hard", "soft"])
def explainer(request: pytest.FixtureRequest, graph: Any) -> ProCE:
    mode: Literal["hard", "soft"] = request.param
    return ProCE(provider, SCHEMA, graph=graph, causal=mode, settings=SETTINGS).fit(customers())


@pytest.fixture(scope="module")
def result(explainer: ProCE) -> Explanations:
    return explainer.explain(ROWS, target=STAYS, n=1)


@pytest.fixture(scope="module")
def ways(explainer: ProCE) -> list[tuple[int, str, int]]:
    """Return the row, feature and new value of every single step that what_if calls good."""
    needed = explainer.explain(ROWS[:0], target=STAYS).context.needed[STAYS]
    ways = []
    for row, name, step in product(range(len(ROWS)), NUMBERS, (-1, 1)):
        person, feature = ROWS.iloc[[row]], SCHEMA[name]
        value = int(person[name].iloc[0]) + step
        assert isinstance(feature, Continuous)
        assert feature.range is not None
        if not feature.range[0] <= value <= feature.range[1]:
            continue
        told = explainer.what_if(person, {name: value})
        if told.probabilities[STAYS] >= needed and not told.broken:
            ways.append((row, name, value))
    return ways


def problem_of(explainer: ProCE, row: int) -> CounterfactualProblem:
    call = ProceCall(explainer.fitted_, Options(target=STAYS, n=1), ROWS)
    return call.spec.problem(call.batch(np.array([row])))


def test_every_single_step_that_works_is_found_or_beaten(
    explainer: ProCE, result: Explanations, ways: list[tuple[int, str, int]]
) -> None:
    distances = result.outcomes()["distance"]
    assert {name for _, name, _ in ways} == set(NUMBERS)
    for row, name, value in ways:
        problem, position = problem_of(explainer, row), SCHEMA.position(name)
        wanted, by_hand = problem.batch.factual[:, None].copy(), np.zeros((1, 1, 4), bool)
        wanted[..., position] = problem.codec.encode_value(name, value)
        by_hand[..., position] = True
        realised = problem.realise_by_hand(wanted, by_hand)
        scored = problem.score(realised)
        assert np.array_equal(realised.acted_on, by_hand)
        assert scored.violation.item() <= 0
        assert distances[row] <= scored.losses[0, 0, 2].item() + 1e-9


def test_a_single_step_is_found_where_nothing_else_may_be_done(
    explainer: ProCE, ways: list[tuple[int, str, int]]
) -> None:
    """Calls and complaints have causes; nobody is told that another limit is in the way."""
    for row, name, value in {name: (row, name, value) for row, name, value in ways}.values():
        before = int(ROWS[name][row])
        ranges = {name: (min(before, value), max(before, value))}
        told = explainer.explain(ROWS.iloc[[row]], target=STAYS, vary=[name], ranges=ranges)
        assert told.outcomes()["outcome"].tolist() == ["found"]
        assert told.to_frame()[name].tolist() == [value]


@pytest.mark.parametrize("graph", ["given"], indirect=True)
def test_what_follows_from_a_single_step_of_an_effect_is_told(explainer: ProCE) -> None:
    person = pd.DataFrame({"outages": [2], "calls": [3], "complaints": [2], "contract": "monthly"})
    told = explainer.what_if(person, {"calls": 2})
    assert dict(told.consequences) == {"complaints": (2, 1)}
