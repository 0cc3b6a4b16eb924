"""What genes and actions ask for; kernels and tensors read the same to the last bit."""

import math

import pytest
import torch

from proce.compiled import engine
from proce.objective import AvoidedLevels
from proce.objective.wanted import changed_cells, read_actions, read_genes

STUDY, SKILL, PAY, DEGREE, CITY, CLUB = range(6)


@pytest.fixture(params=["numba", "torch"])
def reader(request, monkeypatch):
    if request.param == "torch":
        monkeypatch.setattr(engine, "use_kernels", lambda device: False)
    return request.param


@pytest.fixture(scope="module")
def closed(make_world):
    """A world in which nobody is sent east, nor out of school."""
    return make_world(city={"avoid": ("east",)}, degree={"avoid": ("none",)})


def test_genes_name_values_and_what_may_be_acted_on(closed, reader):
    ann = closed.rows((2, 3, 7, "school", "north", "chess"))
    problem = closed.problem(ann, vary=["study", "skill", "city", "degree"])
    wanted = closed.rows((6, 9, 19, "none", "east", "rowing"))
    genes = closed.genes(problem, wanted[None], acting=["skill"])
    limits = problem.limits
    rows, acting = read_genes(genes, ann, limits.movable, problem.gene_map, problem.avoided)
    expected = closed.rows((6, 9, 19, "school", "north", "rowing"))  # avoided levels are not taken
    assert torch.equal(rows[0], expected)
    assert acting[0, 0].tolist() == [True, True, False, False, True, False]


def test_who_has_an_avoided_level_keeps_it(closed, reader):
    bob = closed.rows((2, 3, 7, "none", "east", "chess"))
    avoided = AvoidedLevels.of(closed.codec.schema)
    problem = closed.problem(bob)
    by_hand = torch.ones(1, 1, 6, dtype=torch.bool)
    rows, acting = read_actions(bob[None], by_hand, bob, problem.gene_map, avoided)
    assert torch.equal(rows[0], bob)
    assert acting.all()


def test_what_is_not_done_by_hand_is_as_it_was(closed, reader):
    ann = closed.rows((2, None, 7, "school", None, "chess"))
    wanted = closed.rows((6, 9, 19, "doctor", "south", "rowing"))[None]
    by_hand = torch.tensor([[[True, False, False, True, False, False]]])
    problem = closed.problem(ann)
    rows, acting = read_actions(wanted, by_hand, ann, problem.gene_map, problem.avoided)
    expected = closed.rows((6, None, 7, "doctor", None, "chess"))
    assert torch.equal(rows[0].nan_to_num(nan=-9.0), expected.nan_to_num(nan=-9.0))
    assert torch.equal(acting, by_hand)


def test_kernels_read_what_tensors_read(closed, monkeypatch):
    factual = closed.random_rows(6)
    factual[::2, SKILL], factual[1::2, CITY] = math.nan, -1.0
    problem = closed.problem(factual, vary=["study", "city", "skill", "degree", "pay"])
    genes = torch.rand(6, 50, problem.gene_map.n_features + len(problem.gene_map.switched))
    genes = genes.double() * 1.5
    genes[..., DEGREE], genes[..., CITY] = genes[..., DEGREE] * 3 // 1, genes[..., CITY] * 2 // 1
    genes[:, ::7, : len(closed.codec.schema)] = factual[:, None]
    by_hand = torch.rand(6, 50, 6) < 0.5

    def read() -> list[torch.Tensor]:
        parts = (problem.gene_map, problem.avoided)
        rows = read_genes(genes, factual, problem.limits.movable, *parts)
        done = read_actions(genes[..., :6], by_hand, factual, *parts)
        return [*rows, *done, changed_cells(rows[0], factual)]

    compiled = read()
    monkeypatch.setattr(engine, "use_kernels", lambda device: False)
    for ours, theirs in zip(compiled, read(), strict=True):
        assert torch.equal(ours.double().nan_to_num(nan=-9), theirs.double().nan_to_num(nan=-9))
