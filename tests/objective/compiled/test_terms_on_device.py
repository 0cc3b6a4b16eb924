"""On a CUDA device the terms of a score are those of the CPU."""

import pytest
import torch

pytest.importorskip("triton")

from proce.causal import Actions
from proce.devices import Twins
from proce.objective import Requirement
from proce.objective.compiled.terms_on_device import TermsOnDevice

from .test_compiled_terms import MODES, REQUIREMENTS, RULES, with_missing


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("requirement", REQUIREMENTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_kernels_of_a_device_give_what_those_of_the_cpu_give(
    make_world, mode, requirement, n_classes, device
):
    world = make_world(study={"range": (1.0, 9.0)}, skill={"action": "increase"})
    factual = with_missing(world.random_rows(7), seed=1)
    requirement = requirement if n_classes == 2 else Requirement(None, 0.1)
    problem = world.problem(factual, mode, rules=RULES, requirement=requirement, max_changes=2)
    rows = with_missing(world.random_rows(7 * 40), seed=2).reshape(7, 40, -1)
    realised = problem.realise_by_hand(rows, torch.rand(rows.shape) < 0.5)
    chances = torch.rand(7, 40, n_classes).double()
    chances[2, 3, 1] = torch.nan
    chances[1, 1] = 1 / n_classes
    twin = Twins(problem, device).twin
    weights = twin.action_weights if mode == "hard" else twin.effort
    there = TermsOnDevice.of(
        *(twin.query, twin.limits, weights, twin.distance),
        *(twin.measure, requirement, [rule for rule, _ in twin.rules], 2),
    )
    expected = problem.terms.score(realised, chances)
    moved = Actions(*(column.to(device) for column in vars(realised).values()))
    given = there.score(moved, chances.to(device))
    for one, other in zip(expected, given, strict=True):
        torch.testing.assert_close(other.cpu(), one, rtol=1e-12, atol=1e-12, equal_nan=True)
