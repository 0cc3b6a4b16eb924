"""What is tried of candidates, and what is kept of it: kernels do what tensors do, to the bit."""

from collections.abc import Callable
from types import ModuleType

import pandas as pd
import pytest
import torch

from proce import ProCE
from proce.methods.calls.options import Options
from proce.methods.explaining.proce_call import ProceCall
from proce.methods.searching import polishing, pruning, scan, trials
from proce.methods.searching.trials import Trials, adopt_closer, try_out
from proce.objective import CounterfactualProblem

Lender = Callable[[str], ProCE]
BY_TENSORS: tuple[ModuleType, ...] = (polishing, pruning, scan, trials)


def posed(explainer: ProCE, rows: pd.DataFrame) -> CounterfactualProblem:
    call = ProceCall(explainer.fitted_, Options(), rows)
    return call.terms.problem(call.query(torch.arange(len(call))))


def neighbours(explainer: ProCE, problem: CounterfactualProblem) -> Trials:
    """Return training rows that have the target, done by hand as far as anybody may."""
    near = torch.stack([positions[:6] for positions in problem.query.neighbours])
    candidates = explainer.fitted_.rows[near]
    by_hand = problem.limits.movable[:, None].expand(candidates.shape)
    return try_out(problem, candidates, by_hand)


def check_same(ours: Trials, theirs: Trials) -> None:
    for one, other in zip(ours.columns, theirs.columns, strict=True):
        assert torch.equal(one.double().nan_to_num(nan=-9), other.double().nan_to_num(nan=-9))


@pytest.mark.parametrize("mode", ["hard", "soft", "off"])
def test_candidates_are_improved_alike(
    lender: Lender, rejected: pd.DataFrame, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = lender(mode)
    problem = posed(explainer, rejected)
    tried = neighbours(explainer, problem)

    def improved() -> list[Trials]:
        pruned = pruning.prune(problem, tried)
        fewer = polishing.consolidate(problem, tried)
        polished = polishing.polish(problem, pruned), polishing.polish(problem, fewer)
        return [*scan.scan(problem), pruned, fewer, *polished]

    compiled = improved()
    for module in BY_TENSORS:
        monkeypatch.setattr(module, "use_kernels", lambda device: False)
    for ours, theirs in zip(compiled, improved(), strict=True):
        check_same(ours, theirs)


def of_distances(*columns: list[float]) -> Trials:
    """Return candidates that are feasible, each with its distance as its only cell."""
    distance = torch.tensor(columns, dtype=torch.float64)
    rows, acts = distance[..., None], torch.ones(*distance.shape, 1, dtype=torch.bool)
    nothing = torch.zeros_like(distance)
    return Trials(rows, acts, rows.clone(), nothing, distance, nothing.clone())


@pytest.mark.parametrize("engine", ["numba", "torch"])
def test_the_closest_feasible_variant_takes_the_place_of_a_candidate(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "torch":
        monkeypatch.setattr(trials, "use_kernels", lambda device: False)
    best = of_distances([5.0], [5.0], [5.0])
    variants = of_distances([4.0, 3.0, 3.0, 1.0], [5.0, 6.0, 7.0, 8.0])
    variants.violation[0, 3] = 0.1
    after, replaced = adopt_closer(best, torch.tensor([2, 0]), variants, 1e-9)
    assert after.distance[:, 0].tolist() == [5.0, 5.0, 3.0]
    assert after.rows[:, 0, 0].tolist() == [5.0, 5.0, 3.0]
    assert replaced.tolist() == [2]
    assert best.distance[:, 0].tolist() == [5.0, 5.0, 5.0]
