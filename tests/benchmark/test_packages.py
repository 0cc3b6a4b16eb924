"""The judge of other packages sees what is broken, whoever broke it."""

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.datasets import Dataset, load_dataset
from proce.schema import Action

ROOT = Path(__file__).parents[2]
PERSON = {
    "age": 30,
    "sex": "female",
    "education": "bachelor",
    "job": "office",
    "years_employed": 6,
    "income": 40_000,
    "housing": "rents",
    "savings": 4_000,
    "debt": 6_000,
    "credit_score": 650,
    "amount": 12_000,
    "duration": 36,
}


@pytest.fixture(scope="module")
def packages() -> Iterator[dict[str, ModuleType]]:
    names = ("environments", "judge", "table", "task")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield {name: importlib.import_module(f"benchmarks.packages.{name}") for name in names}


@pytest.fixture(scope="module")
def loan() -> Dataset:
    return load_dataset("loan", n=500)


@pytest.fixture(scope="module")
def world(packages: dict[str, ModuleType], loan: Dataset) -> Any:
    """One person, and a model that approves from savings of 10,000 and a score of 640 on."""

    def ask(frame: pd.DataFrame) -> Any:
        enough = (frame["savings"] >= 10_000) & (frame["credit_score"] >= 640)
        return np.where(enough, 0.9, 0.1)

    task = packages["task"]
    schema = loan.recourse_schema.edit(("age", "education"), action=Action.FIXED)
    schema = schema.edit("housing", action=Action.INCREASE).edit("debt", action=Action.DECREASE)
    rows = pd.DataFrame([PERSON]).astype(dict(loan.frame.dtypes.items()))
    features = tuple(task.describe(schema, loan.frame))
    return task.World(loan, features, loan.frame, rows, ask, ((0, {"income": 50_000.0}),))


Judged = Callable[[Any], Any]


@pytest.fixture
def judged(packages: dict[str, ModuleType], world: Any) -> Judged:
    """Judges an answer for that person."""
    return partial(packages["judge"].judge, world, 0)


def advised(**changes: Any) -> dict[str, Any]:
    return {"values": PERSON | changes, "done": None}


def test_advice_that_is_right_is_found_right(judged: Judged, world: Any) -> None:
    verdict = judged(advised(savings=10_000))
    assert verdict.answered
    assert verdict.flips
    assert verdict.broken == ()
    assert verdict.done == ("savings",)
    assert verdict.needless == ()
    assert verdict.works is True
    assert verdict.keeps_promise
    low, high = np.quantile(world.train["savings"].to_numpy(float), [0.01, 0.99])
    assert verdict.distance == pytest.approx(6_000 / (high - low) / 12)


@pytest.mark.parametrize("answer", [None, {"values": None}])
def test_no_answer_is_no_success(
    packages: dict[str, ModuleType], judged: Judged, answer: dict[str, Any] | None
) -> None:
    verdict = judged(answer)
    assert verdict == packages["judge"].Verdict()
    assert not verdict.usable
    assert not verdict.keeps_promise


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"sex": "male"}, "sex: may not be set"),
        ({"age": 31}, "age: may not be set"),
        ({"credit_score": 700}, "credit_score: may not be set"),
        ({"housing": "with family"}, "housing: moves the wrong way"),
        ({"debt": 7_000}, "debt: moves the wrong way"),
        ({"savings": 2_000_000}, "savings: 2e+06 is out of range"),
        ({"job": "pirate"}, "job: unknown level 'pirate'"),
        ({"income": None}, "income: None is no number"),
        ({"income": float("nan")}, "income: nan is no number"),
    ],
)
def test_each_broken_limit_is_named(judged: Judged, changes: dict[str, Any], broken: str) -> None:
    verdict = judged(advised(**({"savings": 10_000} | changes)))
    assert verdict.broken == (broken,)
    assert not verdict.usable


def test_what_keeps_the_limits_in_the_right_direction_is_not_blamed(judged: Judged) -> None:
    answer = advised(savings=10_000, debt=5_000, housing="owns", job="technical")
    assert judged(answer).broken == ()


def test_numbers_are_rounded_to_their_step_before_the_model_is_asked(judged: Judged) -> None:
    assert judged(advised(savings=9_951.0)).flips  # is 10,000 on steps of 100
    assert not judged(advised(savings=9_949.9)).flips
    near = judged(advised(savings=10_000, income=40_000.4))
    assert near.done == ("savings",)  # 40 cents are no change


def test_an_action_that_can_be_left_out_is_needless(judged: Judged) -> None:
    verdict = judged(advised(savings=10_000, duration=48))
    assert verdict.needless == ("duration",)


def test_a_consequence_is_not_something_done(judged: Judged) -> None:
    answer = advised(savings=10_000, credit_score=660, debt=5_500) | {"done": ["savings"]}
    verdict = judged(answer)
    assert verdict.broken == ()  # the score followed; nobody set it
    assert verdict.done == ("savings",)
    assert verdict.needless == ()
    alone = judged(advised(savings=10_000))
    assert verdict.distance == alone.distance


def test_what_the_model_says_now_is_not_what_it_says_once_all_has_followed(judged: Judged) -> None:
    # Nothing is to be done about the score, and following from nothing it stays where it is.
    nothing = advised(savings=10_000) | {"done": []}
    verdict = judged(nothing)
    assert verdict.flips
    assert verdict.works is False
    assert not verdict.keeps_promise


def test_the_true_answer_has_no_error_and_the_factual_one_the_naive_error(
    packages: dict[str, ModuleType], world: Any
) -> None:
    judge = packages["judge"]
    (question,) = world.questions
    before = world.rows
    after = before.assign(income=50_000)
    reached = judge.followed(world, before, after, ("income",))
    assert reached["savings"].iloc[0] > before["savings"].iloc[0]
    true = {"values": reached.iloc[0].to_dict()}
    assert judge.judge_following(world, question, true).error == 0
    same = judge.judge_following(world, question, {"values": PERSON})
    assert same.error == same.naive > 0
    assert np.isnan(judge.judge_following(world, question, None).error)


def test_rows_without_an_answer_stay_in_every_share(packages: dict[str, ModuleType]) -> None:
    verdict = packages["judge"].Verdict
    good = verdict(True, True, (), ("savings",), (), 0.1, True)
    illegal = verdict(True, True, ("sex: may not be set",), ("sex", "debt"), ("debt",), 0.3, True)
    line = packages["table"].line_of_verdicts([good, illegal, verdict()])
    assert line == {
        "answered": "2 of 3",
        "class reached": "2 of 2",
        "limits kept": "1 of 2",
        "actions a row": "1.50",
        "needless actions": "1 of 3",
        "distance": "0.2000",
        "works in truth": "2 of 2",
        "promises kept": "1 of 3",
    }


def test_only_what_a_user_writes_is_counted(
    packages: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environments = packages["environments"]
    (tmp_path / "with_it.py").write_text(
        "import os\n\n\ndef explainer():\n    # user code begins\n    one = 1\n\n    # why\n"
        "    two = 2\n    # user code ends\n    three = 3\n\n\ndef what_if():\n"
        "    # user code begins\n    four = 4\n    # user code ends\n\n\nif True:\n    pass\n"
    )
    monkeypatch.setattr(environments, "ADAPTERS", tmp_path)
    assert environments.lines_of_code("with_it.py", what_if=False) == 2
    assert environments.lines_of_code("with_it.py", what_if=True) == 1


def test_the_reason_is_the_last_error_of_a_log(
    packages: dict[str, ModuleType], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text("ImportError: first\n  File x\nValueError: the   last\nbye\n")
    assert packages["environments"].last_error(log) == "ValueError: the last"
    assert packages["environments"].last_error(tmp_path / "none") == "no word of why"
