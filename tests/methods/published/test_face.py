"""FACE: its paths keep to what is allowed, they are shown in full, and a dead end says why."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.errors import SchemaError, SearchError
from proce.explanation import Explanations
from proce.methods import Face, FaceSettings
from proce.schema import Continuous, Schema

from ...worlds import SCHEMA, bank, people, refused, two_classes

ROWS = refused(people(20, seed=5), 6)
SETTINGS = FaceSettings(n_neighbours=15)


@pytest.fixture(scope="module")
def fitted() -> Face:
    return Face(bank, SCHEMA, SETTINGS).fit(people())


def test_a_counterfactual_is_a_confident_training_row(fitted: Face) -> None:
    result = fitted.explain(ROWS, n=3)
    frame = result.counterfactuals()
    known = {tuple(row) for row in people().itertuples(index=False)}
    assert len(frame) == 18
    assert {tuple(row) for row in frame.itertuples(index=False)} <= known
    assert (bank(frame)[:, 1] >= 0.75).all()


def test_the_sparsest_rows_are_no_ends() -> None:
    """Of eleven rows on a line the last lies far off; it is the surest, and not the end."""
    frame = pd.DataFrame({"a": [*np.linspace(0, 1, 10), 3.0]})

    def model(rows: Any) -> Any:
        return two_classes(rows["a"] / 3)

    ends = {}
    for least in (0.0, 0.1):
        settings = FaceSettings(n_neighbours=2, confidence=0.9, least_density=least)
        method = Face(model, settings=settings, threshold=0.3).fit(frame)
        ends[least] = method.explain(frame.head(1), target=1).counterfactuals()["a"].tolist()
    assert ends == {0.0: [3.0], 0.1: []}


def test_fixed_features_stay_on_every_step(fitted: Face) -> None:
    paths = [item.path(rank) for item in fitted.explain(ROWS, n=2) for rank in (1, 2)]
    assert len(paths) == 12
    assert [path["home"].nunique() for path in paths] == [1] * 12


def test_one_way_features_may_turn_unless_the_schema_is_respected(fitted: Face) -> None:
    respectful = Face(bank, SCHEMA, SETTINGS, respect_schema=True).fit(people())
    turned = []
    for method in (fitted, respectful):
        paths = [item.path() for item in method.explain(ROWS, n=1) if len(item)]
        assert len(paths) >= 4
        turned.append(any((path["age"].diff() < 0).any() for path in paths))
        turned.append(any((path["debt"].diff() > 0).any() for path in paths))
    assert turned == [True, True, False, False]


def test_limits_of_the_call_hold_on_every_step(fitted: Face) -> None:
    result = fitted.explain(ROWS, n=1, ranges={"age": (30, 60)})
    paths = [item.path() for item in result if len(item)]
    assert paths
    assert all(path["age"][1:].between(30, 60).all() for path in paths)
    varied = fitted.explain(ROWS, n=1, vary=["savings", "debt", "age"])
    paths = [item.path() for item in varied if len(item)]
    assert paths
    assert set(varied.changes()["feature"]) <= {"savings", "debt", "age"}
    assert all(path["school"].nunique() == 1 for path in paths)


def test_rules_turn_down_ends_and_the_next_ones_are_tried(fitted: Face) -> None:
    ruled = Face(bank, SCHEMA, SETTINGS, reject_by=["cf.savings < 60"]).fit(people())
    plain, obeying = fitted.explain(ROWS, n=2), ruled.explain(ROWS, n=2)
    assert (plain.counterfactuals()["savings"] >= 60).any()
    assert (obeying.counterfactuals()["savings"] < 60).all()
    assert len(obeying.counterfactuals()) >= 9
    never = Face(bank, SCHEMA, SETTINGS, reject_by=["cf.age < 0"]).fit(people())
    item = never.explain(ROWS.head(1))[0]
    assert item.outcome == "not_found"
    assert "each breaks a rule of reject_by" in item.notes[-1]


def test_the_path_leads_from_the_person_to_the_counterfactual(fitted: Face) -> None:
    item = fitted.explain(ROWS, n=2)[1]
    path = item.path(2)
    assert list(path.dtypes) == list(ROWS.dtypes)
    assert path.iloc[0].tolist() == ROWS.iloc[1].tolist()
    assert len(path) == len(item.steps[1]) + 1
    assert np.array_equal(item.steps[1][-1], item.rows[1])
    with pytest.raises(SearchError, match="rank is 3; row 1 has the paths 1 to 2"):
        item.path(3)


def test_a_person_among_the_training_rows_is_not_a_step_of_their_own(fitted: Face) -> None:
    result = fitted.explain(refused(people(), 5), n=1)
    assert [len(item) for item in result] == [1] * 5
    for item in result:
        assert not (item.steps[0] == item.factual).all(-1).any()


def test_where_there_is_no_path_asking_for_one_says_so() -> None:
    item = Face(bank, SCHEMA, SETTINGS).fit(people()).explain(ROWS.head(1), target=0)[0]
    with pytest.raises(SearchError, match="row 0 has no path"):
        item.path()


def test_only_the_ends_are_asked_about(fitted: Face) -> None:
    result = fitted.explain(ROWS, n=2)
    assert result.provenance.evaluations == 2 * len(ROWS)
    fewer = fitted.explain(ROWS, n=2, max_evaluations=1)
    assert fewer.provenance.evaluations == len(ROWS)
    assert [len(item) for item in fewer] == [1] * len(ROWS)


def test_evaluations_can_run_out_before_an_end_holds() -> None:
    ruled = Face(bank, SCHEMA, SETTINGS, reject_by=["cf.age < 0"]).fit(people())
    item = ruled.explain(ROWS.head(1), max_evaluations=3)[0]
    assert "raise max_evaluations" in item.notes[-1]


def note_of(method: Face, rows: Any) -> str:
    item = method.explain(rows, target=1)[0]
    assert item.outcome == "not_found"
    return item.notes[-1]


def test_rows_that_nothing_links_have_no_path() -> None:
    settings = FaceSettings(graph="epsilon", n_neighbours=5, epsilon=1e-6)
    note = note_of(Face(bank, SCHEMA, settings).fit(people()), ROWS.head(1))
    assert "No path" in note
    assert "n_neighbours above 5, or epsilon above 1e-06" in note
    islands = pd.DataFrame({"a": [*np.linspace(0, 1, 10), *np.linspace(9, 10, 10)]})

    def model(frame: Any) -> Any:
        return two_classes(frame["a"] / 10)

    note = note_of(Face(model, settings=FaceSettings(n_neighbours=3)).fit(islands), islands.head(1))
    assert note.endswith("more rows are linked with n_neighbours above 3.")


def test_a_model_that_is_never_sure_leaves_no_end() -> None:
    def unsure(frame: Any) -> Any:
        return 0.5 + (bank(frame) - 0.5) / 10

    note = note_of(Face(unsure, SCHEMA, SETTINGS).fit(people()), ROWS.head(1))
    assert "in class 1 with a probability of at least 0.75; let more features move" in note
    tenants = people()["home"].eq(ROWS["home"].iloc[0]).sum()
    assert note.startswith(f"Of the {tenants} training rows that may be reached")


def test_a_row_like_no_training_row_has_nothing_to_walk_over() -> None:
    tenants = people()[people()["home"] == "rents"]
    owner = refused(people()[people()["home"] == "owns"], 1)
    note = note_of(Face(bank, SCHEMA, SETTINGS).fit(tenants), owner)
    assert note.startswith("No training row has the values that must stay")


def test_what_is_missing_is_missing_on_every_step() -> None:
    training, rows = people(), ROWS.astype({"age": float})
    training["age"] = training["age"].where(np.arange(len(training)) % 3 > 0)
    rows.loc[rows.index[0], "age"] = None
    result = Face(bank, SCHEMA, FaceSettings(n_neighbours=15)).fit(training).explain(rows, n=1)
    assert result[0].path()["age"].isna().all()
    assert result[1].path()["age"].notna().all()


def test_no_fixed_number_is_taken_for_a_missing_one() -> None:
    known = np.array([0.0, 1.0, math.nan])[np.arange(90) % 3]
    training = pd.DataFrame({"known": known, "a": np.linspace(0, 1, 90)})
    schema = Schema([Continuous("known", action="fixed"), Continuous("a")])

    def model(frame: Any) -> Any:
        return two_classes(frame["a"])

    face = Face(model, schema, FaceSettings(n_neighbours=5)).fit(training)
    rows = pd.DataFrame({"known": [math.nan, -9.0, -0.0], "a": [0.1, 0.1, 0.1]})
    result = face.explain(rows, n=1)
    assert [len(own) for own in result] == [1, 0, 1]
    assert result[1].notes[-1].startswith("No training row has the values that must stay")


def test_fewer_rows_than_neighbours_are_refused() -> None:
    few = pd.concat([people(15)] * 3)
    with pytest.raises(SearchError, match="has 15 different rows, and n_neighbours is 15"):
        Face(bank, SCHEMA, SETTINGS).fit(few)


def test_paths_come_back_from_json(fitted: Face) -> None:
    result = fitted.explain(ROWS, n=2)
    back = Explanations.from_json(result.to_json())
    assert back.to_json() == result.to_json()
    assert len(back) == len(ROWS)
    for before, after in zip(result, back, strict=True):
        pd.testing.assert_frame_equal(after.path(2), before.path(2))


@pytest.mark.parametrize("steps", [[], [[1]], [[20, 1, 1, "none", "owns"]], None])
def test_a_path_that_does_not_end_at_its_counterfactual_is_refused(
    fitted: Face, steps: Any
) -> None:
    record = json.loads(fitted.explain(ROWS, n=2).to_json())
    record["explanations"][0]["counterfactuals"][1]["steps"] = steps
    with pytest.raises(SchemaError, match=r"counterfactuals\[1\]"):
        Explanations.from_json(json.dumps(record))
