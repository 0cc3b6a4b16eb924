"""The kernels of the last check agree with tensors, exactly."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from proce import ProCE
from proce.compiled import engine
from proce.explanation import Change
from proce.methods.calls.options import Options
from proce.methods.explaining.proce_call import ProceCall
from proce.methods.searching.checking import FrameRows, check_candidates
from proce.objective import AvoidedLevels

from ...worlds import people

N_ROWS, N_CANDIDATES = 12, 400
RULES = ("cf.savings >= x.savings or cf.debt < 50", "cf.age <= 70")


def random_candidates(call: ProceCall, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return owners, rows and what is said to have become of each cell, which may be false."""
    draw = torch.Generator().manual_seed(seed)
    owner = torch.randint(N_ROWS, (N_CANDIDATES,), generator=draw)
    rows = call.factual[owner].clone()
    shape = rows.shape
    levels = torch.randint(-1, 2, shape, generator=draw).double()
    drawn = torch.where(
        call.context.codec.is_number, 1.3 * torch.rand(shape, generator=draw), levels
    )
    moves = torch.rand(shape, generator=draw) < 0.3
    rows[moves] = drawn.double()[moves]
    rows[torch.rand(shape, generator=draw) < 0.01] = 1e6
    rows[:, 0][torch.rand(len(rows), generator=draw) < 0.02] = torch.nan
    rows[:, 3:] = rows[:, 3:].clamp(max=1)
    kinds = torch.where(moves, int(Change.ACTION), 0).to(torch.int8)
    other = torch.randint(0, 4, shape, generator=draw).to(torch.int8)
    return owner, rows, torch.where(torch.rand(shape, generator=draw) < 0.03, other, kinds)


@pytest.mark.parametrize("max_changes", [None, 2])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "Int64"])
def test_kernels_pass_and_show_what_tensors_do(
    banker: ProCE, max_changes: int | None, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people(N_ROWS, seed=5).astype({"savings": dtype})
    options = Options(max_changes=max_changes, rules=RULES, ranges={"debt": (0, 80)})
    call = ProceCall(banker.fitted_, options, frame)
    problem = call.terms.problem(call.query(torch.arange(N_ROWS)))
    avoiding = problem.codec.schema.edit("school", avoid=["basic"])
    problem = replace(problem, codec=replace(problem.codec, schema=avoiding))
    assert problem.avoided.table.any()
    owner, rows, changes = random_candidates(call, seed=1)
    if dtype == "Int64":  # which holds neither halves nor what is far away
        rows[:, 1] = call.factual[owner, 1]
    frame_rows = FrameRows(torch.arange(N_ROWS), call.raw, call.layout)
    compiled = check_candidates(problem, frame_rows, owner, rows, changes)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "use_kernels", lambda device: False)
        plain = check_candidates(problem, frame_rows, owner, rows, changes)
    assert 0 < plain.passed.sum() < N_CANDIDATES
    assert torch.equal(compiled.passed, plain.passed)
    assert torch.equal(compiled.probabilities, plain.probabilities)
    for name in ("rows", "raw", "given", "is_near"):
        first, second = getattr(compiled.shown, name), getattr(plain.shown, name)
        assert torch.equal(first.double().nan_to_num(nan=-9), second.double().nan_to_num(nan=-9))
    assert not compiled.shown.is_near.all()


def test_the_table_of_avoided_levels_has_a_flag_for_each_level(banker: ProCE) -> None:
    schema = banker.fitted_.codec.schema.edit("school", avoid=["none", "high"])
    table = AvoidedLevels.of(schema).table
    assert table[schema.position("school")].tolist() == [True, False, True]
    assert int(table.sum()) == 2
