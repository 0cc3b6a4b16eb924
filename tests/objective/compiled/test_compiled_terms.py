"""The kernels of a score agree with tensors: flags exactly, values but for the order of sums."""

import math
from dataclasses import replace

import pytest
import torch

from proce.compiled import engine
from proce.losses import Loss
from proce.objective import Requirement, effect_predictors
from proce.objective.compiled.compiled_terms import shortfall_of
from proce.schema import Rule

MODES = ("hard", "soft", "paper", "off")
RULES = (
    "cf.skill >= x.skill - 1 or cf.city != x.city",
    "cf.pay / (cf.study - 2) < 4",
    'not (cf.club == "rowing" and cf.degree > x.degree)',
)
REQUIREMENTS = (
    Requirement(None, 0.1),
    Requirement(0.4, 0.15),
    Requirement(0.6, 0.0, min_probability=0.7),
    Requirement(None, 0.0, min_probability=0.55),
)


class ThreeClasses:
    """Says the second class by the pay, and splits the rest by study."""

    classes = ("no", "yes", "maybe")
    threshold = None

    def predict_proba(self, rows):
        pay, study = rows[:, 2].nan_to_num(nan=0.0), rows[:, 0].nan_to_num(nan=0.3)
        return torch.stack([study, 2 * pay, 1 - study], dim=-1).softmax(-1)


def with_missing(rows: torch.Tensor, seed: int) -> torch.Tensor:
    draw = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed))
    empty = torch.tensor([math.nan, math.nan, math.nan, -1.0, -1.0, -1.0], dtype=torch.float64)
    return torch.where(draw < 0.1, empty, rows)


def scores(problem, realised, monkeypatch):
    compiled = problem.score(realised)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "use_kernels", lambda device: False)
        plain = problem.score(realised)
    return compiled, plain


def check_alike(compiled, plain):
    assert torch.equal(compiled.violation > 0, plain.violation > 0)
    assert torch.allclose(compiled.violation, plain.violation, rtol=1e-12, atol=1e-12)
    assert torch.allclose(compiled.losses, plain.losses, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_kernels_give_what_tensors_give(make_world, mode, squared, requirement, monkeypatch):
    world = make_world(study={"range": (1.0, 9.0)}, skill={"action": "increase"})
    factual = with_missing(world.random_rows(7), seed=1)
    problem = world.problem(
        factual,
        mode,
        rules=RULES,
        ranges={"pay": (1.0, 15.0)},
        effort=torch.linspace(0.5, 2, 6).double(),
        squared=squared,
        requirement=requirement,
        max_changes=2,
        effect_weight=3.0,
    )
    follows = Rule.parse("study ~> skill", world.codec)
    problem = replace(
        problem, rules=[*problem.rules, (follows, effect_predictors(follows, world.scm, None))]
    )
    rows = 1.2 * world.random_rows(7 * 30, seed=2).reshape(7, 30, 6) - 0.1
    rows[..., 3:] = world.random_rows(7 * 30, seed=3).reshape(7, 30, 6)[..., 3:]
    rows[:, ::5] = factual[:, None]
    rows = with_missing(rows, seed=4)
    realised = problem.realise(world.genes(problem, rows, acting=["skill", "degree"]))
    compiled, plain = scores(problem, realised, monkeypatch)
    assert (plain.violation > 0).any()
    check_alike(compiled, plain)
    some = torch.tensor([5, 0, 3, 3])
    part = problem.take(some).score(problem.take(some).realise(world.genes(problem, rows[some])))
    whole = problem.score(problem.realise(world.genes(problem, rows)))
    assert torch.equal(part.losses, whole.losses[some])
    assert torch.equal(part.violation, whole.violation[some])


def test_with_three_classes_the_best_other_one_counts(world, monkeypatch):
    factual = with_missing(world.random_rows(5), seed=1)
    problem = world.problem(factual, requirement=Requirement(None, 0.05, min_probability=0.4))
    problem = replace(problem, classifier=ThreeClasses())
    rows = world.random_rows(100, seed=2).reshape(5, 20, 6)
    realised = problem.realise(world.genes(problem, rows))
    compiled, plain = scores(problem, realised, monkeypatch)
    assert 0 < (plain.violation > 0).sum() < plain.violation.numel()
    check_alike(compiled, plain)


def test_a_row_that_is_wrong_in_every_way_lacks_the_sum(world, ann):
    """Pay 5 of 20 is said yes with 1 / (1 + e^2); study goes 0.1 beyond the range of the call.

    Two actions are one too many, and the rule lacks half of the range of pay.
    """
    problem = world.problem(
        ann,
        "off",
        rules=["cf.pay >= 15"],
        ranges={"study": (0, 5)},
        max_changes=1,
        requirement=Requirement(0.5, 0.1),
    )
    row = world.rows((6, 3, 5, "school", "north", "chess"))[None]
    second = 1 / (1 + math.exp(2))
    score = problem.score(problem.realise(row))
    assert score.violation.item() == pytest.approx((0.6 - second) + 0.1 + 0.5 + 1)
    assert score.losses[0, 0, Loss.PREDICTION].item() == pytest.approx(-math.log(second))
    assert score.losses[0, 0, Loss.DISTANCE].item() == pytest.approx(0.4 + 0.1 + 2 * 0.02)


def test_a_model_that_gives_no_number_is_no_reason_to_fail(world, ann, monkeypatch):
    class Silent(ThreeClasses):
        classes = ("no", "yes")

        def predict_proba(self, rows):
            return torch.full((len(rows), 2), math.nan, dtype=torch.float64)

    for requirement in REQUIREMENTS:
        problem = replace(world.problem(ann, requirement=requirement), classifier=Silent())
        realised = problem.realise(world.genes(problem, ann[None]))
        for score in scores(problem, realised, monkeypatch):
            assert math.isnan(score.losses[0, 0, Loss.PREDICTION])
            assert math.isnan(score.violation)


@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_lacking_to_either_class_by_hand(compiled, monkeypatch):
    """At a threshold of 0.6 with a margin of 0.1, a class is reached from 0.7 and below 0.5."""
    monkeypatch.setattr(engine, "use_kernels", lambda device: compiled)
    second = torch.tensor([[0.4, 0.5, 0.8], [0.4, 0.7, 0.8]], dtype=torch.float64)
    chances = torch.stack([1 - second, second], dim=-1)
    lacking = shortfall_of(Requirement(0.6, 0.1), chances, torch.tensor([0, 1]))
    assert lacking[0].tolist() == pytest.approx([0.0, 0.0, 0.3], abs=1e-6)
    assert lacking[1].tolist() == pytest.approx([0.3, 0.0, 0.0], abs=1e-6)
