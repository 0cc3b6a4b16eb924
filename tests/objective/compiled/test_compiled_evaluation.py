"""Kernels from end to end give what the same kernels give with tensors in between, bit for bit."""

from dataclasses import replace

import pytest
import torch

from proce.causal import StructuralCausalModel
from proce.classifier import TrainedNetwork, fit_network
from proce.objective import CounterfactualProblem, effect_predictors
from proce.schema import Rule
from proce.training import TrainingSettings

from ..conftest import GRAPH
from .test_compiled_terms import RULES


@pytest.fixture(scope="module")
def network(world) -> TrainedNetwork:
    """A network that was trained for an instant."""
    rows = world.random_rows(200)
    label = (rows[:, 2] > 0.5).long().numpy()
    return fit_network(world.codec, rows, label, settings=TrainingSettings(n_epochs=2))


@pytest.fixture(scope="module")
def fitted(world) -> StructuralCausalModel:
    """Equations that were fitted, and so have kernels; those of the world are functions."""
    return StructuralCausalModel.fit(GRAPH, world.random_rows(200), world.codec, seed=0)


@pytest.fixture(scope="module")
def posed(world, network, fitted):
    def pose(mode: str) -> CounterfactualProblem:
        factual = world.random_rows(5)
        problem = world.problem(factual, mode, rules=RULES, max_changes=3)
        query = replace(problem.query, residual=fitted.abduct(factual))
        scm = None if mode == "off" else fitted
        return replace(problem, classifier=network, scm=scm, query=query)

    return pose


@pytest.mark.parametrize("mode", ["hard", "off"])
def test_genes_and_actions_are_evaluated_alike(world, posed, mode):
    problem = posed(mode)
    rows = world.random_rows(100, seed=1).reshape(5, 20, 6)
    genes = world.genes(problem, rows, acting=["skill", "club"])
    quick, everyone = problem.evaluation, torch.arange(5)
    assert quick is not None
    losses, violation = quick.of_genes(genes)
    usual = problem.score(problem.realise(genes))
    assert torch.equal(losses, usual.losses)
    assert torch.equal(violation, usual.violation)
    called = problem(genes, everyone)
    assert torch.equal(called.losses, usual.losses)
    by_hand = torch.rand(rows.shape, generator=torch.Generator().manual_seed(0)) < 0.4
    tried = quick.of_actions(rows, by_hand)
    realised = problem.realise_by_hand(rows, by_hand)
    usual = problem.score(realised, with_prototype=False)
    assert torch.equal(tried.point, realised.point)
    assert torch.equal(tried.by_hand, realised.by_hand)
    assert torch.equal(tried.expected, realised.expected)
    assert torch.equal(tried.losses, usual.losses)
    assert torch.equal(tried.violation, usual.violation)


def test_a_part_is_evaluated_as_in_the_whole(world, posed):
    problem = posed("hard")
    genes = world.genes(problem, world.random_rows(40, seed=1).reshape(5, 8, 6))
    some = torch.tensor([3, 0, 3])
    whole = problem.evaluation.of_genes(genes)
    part = problem.take(some).evaluation.of_genes(genes[some])
    for ours, theirs in zip(part, whole, strict=True):
        assert torch.equal(ours, theirs[some])
    scored = problem.take(some).score(problem.take(some).realise(genes[some]))
    assert torch.equal(scored.losses, whole[0][some])
    assert torch.equal(scored.violation, whole[1][some])


def test_what_has_no_kernel_is_evaluated_in_the_usual_way(world, posed):
    problem = posed("hard")
    assert posed("soft").evaluation is None
    assert posed("paper").evaluation is None
    assert world.problem(problem.query.factual).evaluation is None  # a model of any other kind
    follows = Rule.parse("study ~> skill", world.codec)
    bound = (follows, effect_predictors(follows, world.scm, None))
    assert replace(problem, rules=[bound]).evaluation is None
