"""Which lines pass once some of them were shortened: those of all rows at once as one by one."""

import torch

from proce.explanation import Fronts
from proce.methods.searching.needed import passed_when_shortened
from proce.methods.searching.shortlist import Shortlist


def shortlist_of(owner: torch.Tensor, rows: torch.Tensor, missing: torch.Tensor) -> Shortlist:
    nothing, fronts = rows[:, :0], Fronts.empty(rows.shape[1])
    return Shortlist(owner, rows, nothing, nothing, nothing, missing, fronts, nothing)


def test_lines_that_were_shortened_pass_as_they_would_one_by_one() -> None:
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        owner = torch.randint(6, (24,), generator=generator).sort().values
        rows, new = torch.randint(3, (2, 24, 1), generator=generator).double()
        rows[rows == 2], new[new == 2] = torch.nan, torch.nan
        missing = torch.where(torch.rand(24, generator=generator) < 0.2, torch.inf, 0.0)
        passed = torch.rand(24, generator=generator) < 0.8
        replaced = torch.nonzero(torch.rand(24, generator=generator) < 0.6).flatten()
        after = rows.index_copy(0, replaced, new[replaced])
        expected, current = passed.clone(), rows.clone()
        for line in replaced.tolist():
            current[line] = new[line]
            is_shown = any(
                other != line
                and expected[other]
                and owner[other] == owner[line]
                and torch.equal(current[other].nan_to_num(-9.0), current[line].nan_to_num(-9.0))
                for other in range(24)
            )
            expected[line] = bool(missing[line].isfinite()) and not is_shown
        told = passed_when_shortened(
            shortlist_of(owner, rows, missing),
            shortlist_of(owner, after, missing),
            passed,
            replaced,
        )
        assert told.tolist() == expected.tolist()
