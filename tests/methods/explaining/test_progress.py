"""Progress: reported while a call works, drawn by a bar that ends with the work."""

import threading
from typing import Any

import pandas as pd
import pytest

from proce import ModelError, ProCE, Progress, progress_bar

from ...worlds import SCHEMA, TINY, bank, one, people, refused


def test_of_a_fit() -> None:
    reports: list[Progress] = []
    ProCE(bank, schema=SCHEMA, settings=TINY).fit(people(), progress=reports.append)
    assert {report.stage for report in reports} == {"fit"}
    assert [report.done for report in reports] == list(range(1, len(reports) + 1))


def test_of_a_call(banker: ProCE) -> None:
    reports: list[Progress] = []
    banker.explain(refused(people(), 3), progress=reports.append)
    searching = [report for report in reports if report.stage == "search"]
    assert {report.total for report in searching} == {3}
    assert searching[-1].done == 3
    assert max(report.generation for report in searching) > 1
    last = searching[-2]
    assert 0.5 < last.best_probability <= 1
    assert last.best_distance > 0
    assert last.front_size >= 1


def test_the_bar_ends_with_the_work(banker: ProCE, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a fit stops early, or a call fails: no thread draws any more."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # a bar is drawn as on a terminal
    before, bar = set(threading.enumerate()), progress_bar()

    def nothing_draws() -> bool:
        started = set(threading.enumerate()) - before
        for thread in started:
            thread.join(timeout=10)
        return not any(thread.is_alive() for thread in started)

    bar(Progress("search", done=1, total=2))
    assert set(threading.enumerate()) - before
    banker.explain(one(), progress=bar)
    assert nothing_draws()
    ProCE(bank, schema=SCHEMA, settings=TINY).fit(people(), progress=bar)
    assert nothing_draws()

    n_answers = 1_000

    def tires(frame: pd.DataFrame) -> Any:
        nonlocal n_answers
        n_answers -= 1
        return bank(frame) if n_answers > 0 else None

    tired = ProCE(tires, schema=SCHEMA, settings=TINY).fit(people())
    n_answers = 4  # enough for the search to begin
    with pytest.raises(ModelError):
        tired.explain(one(), progress=bar)
    assert nothing_draws()


def test_the_library_prints_nothing(banker: ProCE, capfd: pytest.CaptureFixture[str]) -> None:
    banker.explain(one())
    assert capfd.readouterr() == ("", "")


def test_nothing_is_drawn_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    draw = progress_bar()
    for done in range(1, 4):
        draw(Progress("explain", done, 3))
    draw.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == ""


def test_a_terminal_is_drawn_to_on_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # which Rich takes for a terminal
    draw = progress_bar()
    draw(Progress("explain", 3, 3))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "explain" in shown.err
