"""What goes wrong in the middle: slow models, failing models, budgets, Ctrl-C."""

import logging
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ModelError, ProCE, Progress

from ...worlds import SCHEMA, SETTINGS, TINY, bank, one, people, refused, two_classes

ENDLESS = replace(SETTINGS, n_generations=100_000, stop_improvement=None)


class Bank:
    """The bank, which does something else once it is armed."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Any = None

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.calls += 1
        answer = bank(frame)
        return answer if self.fault is None else self.fault(self.calls, frame, answer)


def armed(fault: Any, settings: Any = SETTINGS) -> ProCE:
    """Return an explainer whose model does something else from now on, counting from 1."""
    model = Bank()
    explainer = ProCE(model, schema=SCHEMA, settings=settings).fit(people())
    model.calls, model.fault = 0, fault
    return explainer


class TestBudget:
    """With a time limit, what was found by then is returned, and marked."""

    @staticmethod
    def slowly(call: int, frame: pd.DataFrame, answer: Any) -> Any:
        time.sleep(0.01)
        return answer

    def test_a_slow_model(self) -> None:
        result = armed(self.slowly, ENDLESS).explain(refused(people(), 3), budget_seconds=0.5)
        assert (result.outcomes()["outcome"] == "found").all()
        assert (bank(result.counterfactuals())[:, 1] > 0.5).all()
        assert all("ended early" in " ".join(item.notes) for item in result)
        assert result.provenance.generations < 100

    def test_rows_that_were_not_reached(self) -> None:
        settings = replace(ENDLESS, chunk_size=2)
        result = armed(self.slowly, settings).explain(refused(people(), 6), budget_seconds=0.3)
        outcomes = result.outcomes()["outcome"].tolist()
        assert len(outcomes) == 6
        assert outcomes[0] in ("found", "out_of_time")
        assert outcomes[4:] == ["out_of_time", "out_of_time"]

    def test_nothing_found_in_time_is_no_proof_that_there_is_nothing(self) -> None:
        explainer = armed(self.slowly, ENDLESS)
        result = explainer.explain(one(), vary=["age"], budget_seconds=0.2)
        assert result[0].outcome == "out_of_time"
        assert result[0].diagnosis is None

    def test_time_that_ends_before_the_margin_is_given_up(self) -> None:
        """The search ended, but the one without the margin, which would find something, did not."""

        def never_sure_and_slow_at_last(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if call == SETTINGS.n_generations + 2:
                time.sleep(1)
            return two_classes(np.minimum(answer[:, 1], 0.55))

        explainer = armed(never_sure_and_slow_at_last, replace(SETTINGS, stop_improvement=None))
        result = explainer.explain(one(), budget_seconds=0.9)
        assert result[0].outcome == "out_of_time"

    def test_a_budget_that_is_not_needed_leaves_no_trace(self, banker: ProCE) -> None:
        with_budget = banker.explain(one(), budget_seconds=600)
        assert len(with_budget.to_frame())
        pd.testing.assert_frame_equal(with_budget.to_frame(), banker.explain(one()).to_frame())
        assert with_budget[0].notes == ()


class TestFailingModel:
    """The error names the generation, 0 for the scan before it, and the row; nothing hangs."""

    def test_it_raises_for_some_input(self) -> None:
        def refuses_old_people(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if (frame["age"] > 70).any():
                raise ZeroDivisionError("too old")
            return answer

        explainer = armed(refuses_old_people)
        rows = pd.concat([one(debt=30), one(), one(age=68)], ignore_index=True)
        with pytest.raises(ModelError) as error:
            explainer.explain(rows, vary=["age", "savings"])
        text = str(error.value)
        assert text.startswith("generation ")
        assert "row " in text
        assert "ZeroDivisionError: too old" in text
        age = int(text.split("age=")[1].split(",")[0])
        assert age > 70
        assert isinstance(error.value.__cause__, ZeroDivisionError)

    def test_only_the_row_that_it_fails_for_is_named(self) -> None:
        def refuses_high_schools(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if (frame["school"].eq("high") & frame["home"].eq("owns")).any():
                raise ValueError("no such people")
            return answer

        explainer = armed(refuses_high_schools)
        rows = pd.concat([one(), one(), one(home="owns"), one()], ignore_index=True)
        with pytest.raises(
            ModelError, match=r"generation 0 of the search: row 2, a candidate with"
        ):
            explainer.explain(rows, target=1)

    def test_it_answers_nan_for_some_input(self) -> None:
        def nan_without_debt(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            return np.where((frame["debt"] < 10).to_numpy()[:, None], np.nan, answer)

        explainer = armed(nan_without_debt)
        with pytest.raises(ModelError, match=r"generation \d+ of the search: row 0,.*NaN"):
            explainer.explain(one(), vary=["debt"])

    def test_it_raises_once_for_no_reason(self) -> None:
        """No row is at fault, so none is named; the generation is."""

        def fails_the_fourth_time(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if call == 4:
                raise ConnectionError("try again")
            return answer

        with pytest.raises(ModelError, match=r"generation 0 .*try again") as error:
            armed(fails_the_fourth_time).explain(refused(people(), 3))
        assert "row 0" not in str(error.value)

    def test_it_fails_for_the_rows_themselves(self) -> None:
        def nan_for_renters(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            return np.where(frame["home"].eq("rents").to_numpy()[:, None], np.nan, answer)

        rows = pd.concat([one(home="owns"), one()], ignore_index=True)
        with pytest.raises(ModelError, match="row 1 has NaN"):
            armed(nan_for_renters).explain(rows)

    def test_wrong_sums_and_shapes_are_named_too(self) -> None:
        def in_percent(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            return answer if call < 3 else 100 * answer

        with pytest.raises(ModelError, match="generation 0 of the search"):
            armed(in_percent).explain(one())

        def one_row_short(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            return answer if call < 3 else answer[1:]

        with pytest.raises(ModelError, match=r"generation 0 .*shape"):
            armed(one_row_short).explain(one())

    def test_afterwards_the_explainer_is_as_good_as_before(self) -> None:
        def fails_once(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if call == 3:
                raise OSError("gone")
            return answer

        explainer = armed(fails_once)
        with pytest.raises(ModelError):
            explainer.explain(one())
        explainer.model.fault = None
        assert explainer.explain(one())[0].outcome == "found"

    def test_at_fit_it_is_said_at_once(self) -> None:
        def nonsense(frame: pd.DataFrame) -> Any:
            raise RuntimeError("not today")

        with pytest.raises(ModelError, match="not today"):
            ProCE(nonsense, schema=SCHEMA, settings=TINY).fit(people())


class TestInterruption:
    """Ctrl-C in a long run: what was finished is returned."""

    SMALL_CHUNKS = replace(SETTINGS, chunk_size=2)

    def check(self, result: Any) -> None:
        outcomes = result.outcomes()["outcome"].tolist()
        assert outcomes[:2] == ["found", "found"]
        assert outcomes[2:] == ["out_of_time"] * 4
        told = result[2].sentences()[0]
        assert told == "The search was stopped before a change was found for class 1."
        assert (bank(result.counterfactuals())[:, 1] > 0.5).all()

    def test_in_the_model(self, caplog: pytest.LogCaptureFixture) -> None:
        """The first chunk rents, the others own, and the model is interrupted at these."""

        def interrupted(call: int, frame: pd.DataFrame, answer: Any) -> Any:
            if (frame["home"] == "owns").all():
                raise KeyboardInterrupt
            return answer

        explainer = armed(interrupted, self.SMALL_CHUNKS)
        rows = pd.concat([one(), one(debt=30)] + [one(home="owns", debt=60)] * 4)
        with caplog.at_level(logging.WARNING):
            self.check(explainer.explain(rows))
        assert "interrupted: 2 of 6 rows were finished" in caplog.text

    def test_in_the_progress_callback(self) -> None:
        explainer = armed(None, self.SMALL_CHUNKS)

        def interrupted(progress: Progress) -> None:
            if progress.done >= 2:
                raise KeyboardInterrupt

        self.check(explainer.explain(refused(people(), 6), progress=interrupted))

    def test_before_anything_was_finished(self) -> None:
        def interrupted(progress: Progress) -> None:
            raise KeyboardInterrupt

        result = armed(None, self.SMALL_CHUNKS).explain(refused(people(), 3), progress=interrupted)
        assert result.outcomes()["outcome"].tolist() == ["out_of_time"] * 3
        assert len(result.to_frame()) == 0

    def test_while_it_is_found_out_what_blocks(self) -> None:
        def interrupted(progress: Progress) -> None:
            if progress.stage == "diagnose" and progress.generation == 2:
                raise KeyboardInterrupt

        result = armed(None).explain(one(), vary=["age"], progress=interrupted)
        assert result[0].outcome == "not_found"
        assert result[0].diagnosis is not None
        assert "not searched" in result[0].diagnosis.reason

    def test_stopped_by_the_callback(self) -> None:
        explainer = armed(None, self.SMALL_CHUNKS)
        result = explainer.explain(
            refused(people(), 6), progress=lambda progress: progress.done < 2
        )
        outcomes = result.outcomes()["outcome"].tolist()
        assert outcomes[:2] == ["found", "found"]
        assert outcomes[4:] == ["out_of_time"] * 2
