"""What holds for every method, whatever its idea."""

from typing import Any

import pandas as pd
import pytest

from proce import Codec, NotFittedError, ProceError, Progress, UnsupportedOption, as_classifier
from proce.explanation import Explanations
from proce.methods import Method
from proce.schema import Schema

from ..worlds import lender, never
from .method_cases import (
    METHODS,
    NETWORKS,
    SCHEMA,
    Made,
    applicants,
    by_income,
    face,
    lender_of_polars,
    proce,
)

ROWS = applicants(8, seed=3)
REFUSED = ROWS[lender(ROWS)[:, 1] < 0.5]


@pytest.fixture(scope="module", params=METHODS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Made:
    made: Made = request.param
    return made


@pytest.fixture(scope="module")
def before_and_after_fit(make: Made) -> tuple[Method, Method]:
    made = make(lender)
    return made, made.fit(applicants())


@pytest.fixture(scope="module")
def method(before_and_after_fit: tuple[Method, Method]) -> Method:
    return before_and_after_fit[1]


@pytest.fixture(scope="module")
def result(method: Method) -> Explanations:
    return method.explain(ROWS, target=1, n=3)


def values(result: Explanations) -> list[dict[str, Any]]:
    """Return all counterfactuals as plain values, whatever library they are in."""
    frame = result.to_frame()
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    return [{name: str(cell) for name, cell in row.items()} for row in frame.to_dict("records")]


def test_fit_returns_itself_and_explain_one_explanation_a_row(
    before_and_after_fit: tuple[Method, Method], result: Explanations
) -> None:
    assert before_and_after_fit[0] is before_and_after_fit[1]
    assert isinstance(before_and_after_fit[1], Method)
    assert isinstance(result, Explanations)
    assert len(result) == len(ROWS)
    assert [item.row for item in result] == list(range(len(ROWS)))


def test_no_rows_give_an_empty_result(method: Method) -> None:
    result = method.explain(ROWS.head(0), target=1)
    assert len(result) == len(result.to_frame()) == len(result.changes()) == 0
    assert len(Explanations.from_json(result.to_json())) == 0


def test_pieces_of_a_frame_give_together_what_the_frame_gives(
    method: Method, result: Explanations
) -> None:
    pieces = [method.explain(ROWS[first : first + 3], target=1, n=3) for first in (0, 3, 6)]
    joined = Explanations.join(pieces, result.provenance.elapsed_seconds)
    assert joined.to_json() == result.to_json()
    pd.testing.assert_frame_equal(joined.to_frame(), result.to_frame())
    pd.testing.assert_frame_equal(joined.outcomes(), result.outcomes())


def test_columns_that_are_no_features_are_ignored(method: Method, result: Explanations) -> None:
    with_more = ROWS.assign(customer=[f"C{n}" for n in range(len(ROWS))])
    again = method.explain(with_more[["customer", *ROWS.columns]], target=1, n=3)
    pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())


def test_returned_rows_have_the_target_class_when_sent_to_the_model_again(
    result: Explanations,
) -> None:
    frame = result.counterfactuals()
    assert len(frame) > 0
    assert (lender(frame)[:, 1] > 0.5).all()


def test_columns_dtypes_and_labels_are_kept(result: Explanations) -> None:
    frame = result.counterfactuals()
    assert len(frame) > 0
    assert list(frame.columns) == list(ROWS.columns)
    assert frame.dtypes.tolist() == ROWS.dtypes.tolist()
    assert set(frame.index) <= set(ROWS.index)
    assert list(result.to_frame().columns[:2]) == ["row", "rank"]


def test_rows_with_the_target_already_are_left_as_they_are(result: Explanations) -> None:
    outcomes = result.outcomes()
    own = lender(ROWS)[:, 1] > 0.5
    assert own.any()
    assert (outcomes["outcome"] == "already_target").tolist() == own.tolist()
    assert (outcomes["n_counterfactuals"][own] == 0).all()


def test_fixed_features_never_move(result: Explanations) -> None:
    frame = result.to_frame()
    assert len(frame) > 0
    assert (frame["sex"].to_numpy() == ROWS["sex"].iloc[frame["row"]].to_numpy()).all()


def test_unchanged_cells_are_copied(result: Explanations) -> None:
    frame, changes = result.to_frame(), result.changes()
    listed = set(zip(changes["row"], changes["rank"], changes["feature"], strict=True))
    assert listed
    for line in frame.to_dict("records"):
        for name in ROWS.columns:
            if (line["row"], line["rank"], name) not in listed:
                assert line[name] == ROWS[name].iloc[line["row"]]


def test_the_callers_frames_are_untouched(make: Made) -> None:
    training, rows = applicants(), ROWS.copy(deep=True)
    kept = training.copy(deep=True), rows.copy(deep=True)
    make(lender).fit(training).explain(rows, n=1)
    pd.testing.assert_frame_equal(training, kept[0])
    pd.testing.assert_frame_equal(rows, kept[1])


def test_the_same_seed_gives_the_same_answer(make: Made, method: Method) -> None:
    again = make(lender).fit(applicants())
    first, second = (each.explain(ROWS, n=2) for each in (method, again))
    assert values(first)
    assert values(first) == values(second)
    assert first.outcomes().equals(second.outcomes())


def test_a_batch_gives_the_same_as_its_rows_one_by_one(
    method: Method, result: Explanations
) -> None:
    together = values(result)
    assert together
    for position in range(len(ROWS)):
        alone = values(method.explain(ROWS.iloc[[position]], target=1, n=3))
        assert alone == [{**row, "row": "0"} for row in together if row["row"] == str(position)]


def test_a_row_that_cannot_be_explained_is_an_outcome(make: Made) -> None:
    result = make(never).fit(applicants()).explain(ROWS)
    assert result.outcomes()["outcome"].tolist() == ["not_found"] * len(ROWS)
    assert len(result.to_frame()) == 0


def test_a_missing_cell_is_no_obstacle(make: Made) -> None:
    training, rows = applicants(), REFUSED.copy()
    training.loc[training.index[::9], ["income", "school"]] = None
    rows.loc[rows.index[0], "income"] = None
    rows.loc[rows.index[1], "school"] = None
    result = make(lender).fit(training).explain(rows, target=1, n=1)
    assert len(result) == len(rows)
    assert len(result.counterfactuals()) > 0
    assert (lender(result.counterfactuals())[:, 1] > 0.5).all()


def test_polars_comes_back_as_polars(make: Made) -> None:
    polars = pytest.importorskip("polars")
    rows = polars.from_pandas(REFUSED)
    result = make(lender_of_polars).fit(polars.from_pandas(applicants())).explain(rows, n=1)
    assert isinstance(result.to_frame(), polars.DataFrame)
    assert len(result.counterfactuals()) > 0
    assert result.counterfactuals().schema == rows.schema


def test_n_is_the_most(method: Method) -> None:
    for n in (1, 2):
        counts = [len(item) for item in method.explain(REFUSED, n=n)]
        assert 0 < max(counts) <= n


@pytest.mark.parametrize(
    "options",
    [
        {"vary": ["age", "income", "job"]},
        {"ranges": {"income": (50, 90)}},
        {"max_evaluations": 1_000},
        {"budget_seconds": 60},
        {"progress": lambda progress: None},
    ],
    ids=lambda options: next(iter(options)),
)
def test_an_option_is_honoured_or_refused(method: Method, options: dict[str, Any]) -> None:
    try:
        result = method.explain(REFUSED, n=2, **options)
    except UnsupportedOption:
        return
    after, changes = result.counterfactuals(), result.changes()
    assert len(after) > 0
    assert (lender(after)[:, 1] > 0.5).all()
    if "vary" in options:
        assert set(changes["feature"]) <= set(options["vary"])
    if "ranges" in options:
        assert after["income"].between(50, 90).all()


def test_only_what_may_vary_changes(make: Made, method: Method) -> None:
    result = method.explain(REFUSED, n=2, vary=["income"])
    assert set(result.changes()["feature"]) <= {"income"}
    # FACE walks over training rows, of which none differs from a person in income alone.
    assert len(result.counterfactuals()) > 0 or make is face


def test_evaluations_are_bounded(make: Made, method: Method) -> None:
    result = method.explain(REFUSED, n=2, max_evaluations=200)
    n_searches = 2 if make is proce else 1  # ProCE searches again without the margin
    assert 0 < result.provenance.evaluations <= n_searches * 200 * len(REFUSED)


def test_progress_is_told_and_can_stop(method: Method) -> None:
    reports: list[Progress] = []

    def stop(progress: Progress) -> bool:
        reports.append(progress)
        return False

    result = method.explain(REFUSED, progress=stop)
    assert reports
    assert all(isinstance(report, Progress) for report in reports)
    assert len(result) == len(REFUSED)


def test_when_time_is_up_that_is_the_outcome(method: Method) -> None:
    result = method.explain(REFUSED, n=1, budget_seconds=1e-9)
    assert set(result.outcomes()["outcome"]) == {"out_of_time"}


def test_provenance_says_how_it_came_about(method: Method, result: Explanations) -> None:
    record = result.provenance
    assert record.method == type(method).__name__
    assert record.training_rows == 200
    assert record.options["n"] == 3
    assert record.elapsed_seconds > 0


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (ROWS.drop(columns="age"), {}),
        (ROWS.assign(school="academy"), {}),
        (ROWS.assign(income="much"), {}),
        (ROWS, {"n": 0}),
        (ROWS, {"target": "maybe"}),
        (ROWS, {"vary": ["shoe"]}),
        (ROWS, {"vary": ["sex"]}),
        (ROWS, {"ranges": {"shoe": (1, 2)}}),
    ],
)
def test_bad_input_is_refused_with_a_reason(method: Method, rows: Any, options: Any) -> None:
    with pytest.raises(ProceError) as error:
        method.explain(rows, **options)
    assert len(str(error.value)) > 20


def test_before_fit_nothing_is_explained(make: Made) -> None:
    with pytest.raises(NotFittedError):
        make(lender).explain(ROWS)


def test_continuous_columns_only_and_an_inferred_schema(make: Made) -> None:
    frame = applicants()[["age", "income"]]
    result = make(by_income, schema=None).fit(frame).explain(frame.head(4), n=1)
    target = result.outcomes()["target"]
    rows = result.to_frame()["row"]
    assert len(rows) > 0
    assert (by_income(result.counterfactuals()).argmax(1) == target.iloc[rows]).all()


def test_the_schema_knows_what_is_asked() -> None:
    """The people of these tests fit their schema: otherwise nothing above is tested."""
    assert list(SCHEMA.names) == list(ROWS.columns)
    assert 0 < len(REFUSED) < len(ROWS)


@pytest.mark.parametrize("model", NETWORKS, ids=lambda model: model.__name__)
def test_a_network_says_what_its_function_says(model: Any) -> None:
    """Methods that need a gradient are tried on the same models."""
    frame = applicants()[["age", "income"]] if model is by_income else applicants()
    if model is not by_income:
        frame.loc[frame.index[::9], ["income", "school"]] = None
    codec = Codec.fit(Schema.infer(frame) if model is by_income else SCHEMA, frame)
    answer = as_classifier(NETWORKS[model], codec).predict_proba(codec.encode(frame))
    plain = lender if model is lender_of_polars else model
    assert answer == pytest.approx(plain(frame), abs=1e-7)
