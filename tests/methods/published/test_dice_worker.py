"""What DiCE's process does when DiCE fails, hangs or dies, and that nothing is left behind."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from proce import ModelError, Progress
from proce.methods import Dice, DiceSettings
from proce.methods.published.dice.worker import make_explainer

from ...worlds import SCHEMA, bank, never, people, refused

pytest.importorskip("dice_ml")
TRAINING = people(300)
ROWS = refused(people(60, seed=5), 3)
QUICK = DiceSettings(sample_size=60, seconds_per_row=20)


@pytest.fixture
def nothing_left_behind() -> Iterator[None]:
    """The thread that keeps a worker ends once its process is gone."""
    yield
    assert "proce-worker" not in {thread.name for thread in threading.enumerate()}


def fails_on_second_row(explainer: Dice, fault: Callable[[], Any]) -> None:
    """Let DiCE fail on the second row alone."""
    view, setup = explainer.prepared_

    def make_faulty(setup: Any, query: Any, *rest: Any) -> Any:
        if query.values["x000"] == int(ROWS["age"].iloc[1]):
            fault()
        return make_explainer(setup, query, *rest)

    explainer.prepared_ = view, replace(setup, make_explainer=make_faulty)


def fail() -> None:
    raise ValueError("no such luck")


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize(
    ("fault", "note"),
    [
        (fail, "DiCE failed: ValueError: no such luck"),
        (lambda: os._exit(3), "DiCE failed: its process ended with exit code 3."),
        (lambda: time.sleep(600), "DiCE took longer than 4 s."),
    ],
    ids=["raises", "dies", "hangs"],
)
def test_a_row_that_fails_does_not_touch_the_others(fault: Callable[[], Any], note: str) -> None:
    settings = DiceSettings(sample_size=60, seconds_per_row=4 if "longer" in note else 20)
    explainer = Dice(bank, SCHEMA, settings).fit(TRAINING)
    expected = explainer.explain(ROWS, n=2)
    fails_on_second_row(explainer, fault)
    result = explainer.explain(ROWS, n=2)
    assert [item.outcome for item in result] == ["found", "not_found", "found"]
    assert note in result[1].notes[0]
    for position in (0, 2):
        alone = slice(position, position + 1)
        same = expected[alone].counterfactuals()
        pd.testing.assert_frame_equal(result[alone].counterfactuals(), same)


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_process_that_dies_once_changes_no_answer(tmp_path: Path) -> None:
    explainer = Dice(bank, SCHEMA, QUICK).fit(TRAINING)
    expected = explainer.explain(ROWS, n=2)
    trace = tmp_path / "died"

    def die_once() -> None:
        if not trace.exists():
            trace.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    fails_on_second_row(explainer, die_once)
    result = explainer.explain(ROWS, n=2)
    assert trace.exists()
    pd.testing.assert_frame_equal(result.counterfactuals(), expected.counterfactuals())


def test_a_search_without_an_end_is_ended() -> None:
    """The genetic method draws until enough rows have the class, however long that takes."""

    settings = DiceSettings(method="genetic", seconds_per_row=1)
    result = Dice(never, SCHEMA, settings).fit(TRAINING).explain(ROWS[:1])
    assert result[0].outcome == "not_found"
    assert "longer than 1 s" in result[0].notes[0]


@pytest.mark.usefixtures("nothing_left_behind")
def test_the_time_of_the_whole_call_binds_too() -> None:
    explainer = Dice(bank, SCHEMA, QUICK).fit(TRAINING)
    explainer.explain(ROWS[:1], n=1)  # imports DiCE, which takes seconds
    fails_on_second_row(explainer, lambda: time.sleep(600))
    outcomes = explainer.explain(ROWS, n=1, budget_seconds=4).outcomes()["outcome"].tolist()
    assert outcomes == ["found", "out_of_time", "out_of_time"]


def test_a_caller_who_stops_gets_what_was_found_by_then() -> None:
    reports: list[Progress] = []

    def stop(progress: Progress) -> bool:
        reports.append(progress)
        return len(reports) < 3

    result = Dice(bank, SCHEMA, QUICK).fit(TRAINING).explain(ROWS, n=1, progress=stop)
    outcomes = result.outcomes()["outcome"].tolist()
    assert outcomes == ["found", "out_of_time", "out_of_time"]


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_model_that_fails_is_an_error_of_the_model() -> None:
    asked: list[int] = []

    def breaks(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        if len(asked) > 4:
            raise RuntimeError("out of order")
        return bank(frame)

    explainer = Dice(breaks, SCHEMA, QUICK).fit(TRAINING)
    with pytest.raises(ModelError, match="out of order"):
        explainer.explain(ROWS)


@pytest.mark.slow
def test_where_the_system_cannot_fork_it_answers_the_same() -> None:
    explainer = Dice(bank, SCHEMA, QUICK).fit(TRAINING)
    expected = explainer.explain(ROWS, n=2)
    explainer.start_method = "spawn"
    result = explainer.explain(ROWS, n=2)
    assert len(expected.counterfactuals())
    pd.testing.assert_frame_equal(result.counterfactuals(), expected.counterfactuals())
