"""What is shown when a job has ended, and its exit code."""

from collections import Counter

import pytest

from proce.batch.tables import NO_ROWS, Summary
from proce.cli.explaining.output import JobSummary, exit_code, show_summary
from proce.explanation import Explanations, Outcome, unanswered
from proce.explanation.words.values import row_label

from ..explanation.samples import everything, people

REASON = "The model failed on this row: ValueError: no such job."


def summary_of(n_rows: int) -> JobSummary:
    """Return a job of the first applicants, on the first of whom the model broke."""
    whole = everything()
    failed = unanswered(whole[:0], people()[:1], Outcome.FAILED, REASON)
    result = Explanations.join([failed, whole[1:n_rows]])
    return JobSummary(Summary.of(result), {row_label(item, result.layout): item for item in result})


def test_a_row_on_which_the_model_failed_is_told_like_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_summary(summary_of(2), None)
    shown = capsys.readouterr()
    assert f"Row ann\n\n{REASON}\n" in shown.out
    assert "2 rows: 1 failed, 1 already target." in shown.err


def test_among_many_rows_its_probability_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(summary_of(5), None)
    shown = capsys.readouterr()
    assert "not known" in shown.out
    assert "nan" not in shown.out
    assert REASON in " ".join(shown.out.split())
    assert "1 failed" in shown.err


@pytest.mark.parametrize("outcome", Outcome)
def test_the_exit_code_says_whether_somebody_is_left_without_advice(outcome: Outcome) -> None:
    answered = outcome in (Outcome.FOUND, Outcome.ALREADY_TARGET)
    for others, code in ((Counter[str](), 0), (Counter([outcome.value]), int(not answered))):
        tally = Counter(found=2) + others
        assert exit_code(NO_ROWS.model_copy(update={"tally": tally})) == code
