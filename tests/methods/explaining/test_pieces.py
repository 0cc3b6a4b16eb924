"""Pieces of a frame that are explained one by one give together what the frame gives at once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proce import Explanations, ProCE, Schema
from proce.schema import Action, Continuous

from ...worlds import SCHEMA, TINY, bank, lenient_bank, logistic, people, score, two_classes

Explain = Callable[[Any], Explanations]


def assert_same(explain: Explain, frame: Any, sizes: tuple[int, ...] = (1, 5)) -> Explanations:
    """Every table, every sentence and the JSON are the same, and so is the work but its time."""
    whole = explain(frame)
    for size in sizes:
        firsts = range(0, len(frame), size)
        pieces = Explanations.join(explain(frame[first : first + size]) for first in firsts)
        took = whole.provenance.elapsed_seconds
        timed = replace(pieces, provenance=replace(pieces.provenance, elapsed_seconds=took))
        assert timed.to_json() == whole.to_json()
        for table in ("to_frame", "outcomes", "changes", "summary"):
            first, second = (getattr(result, table)() for result in (pieces, whole))
            if isinstance(first, pd.DataFrame):
                pd.testing.assert_frame_equal(first, second)
            else:
                assert first.equals(second)
    return whole


def endings(result: Explanations) -> set[str]:
    return set(result.outcomes()["outcome"])


def with_missing_cells() -> pd.DataFrame:
    frame = people(120).astype({"savings": float, "debt": float, "school": object})
    frame.loc[::5, "savings"] = None
    frame.loc[::7, "debt"] = None
    frame.loc[3::11, "school"] = None
    return frame.set_axis([f"p{n}" for n in range(len(frame))])


@pytest.fixture(scope="module")
def lenient() -> ProCE:
    graph = [("savings", "debt")]
    settings = replace(TINY, n_refits=2)
    return ProCE(lenient_bank, schema=SCHEMA, graph=graph, settings=settings).fit(
        with_missing_cells()
    )


def test_mixed_rows_with_missing_cells_and_fronts(lenient: ProCE) -> None:
    frame = with_missing_cells().head(12)
    whole = assert_same(lambda rows: lenient.explain(rows, target=1, n=3), frame)
    assert endings(whole) >= {"found", "already_target"}
    assert any(item.front is not None for item in whole)
    assert any("Missing" in note for item in whole for note in item.notes)


def test_frames_of_polars(lenient: ProCE) -> None:
    frame = pl.from_pandas(with_missing_cells().head(6), include_index=False)

    def lender(rows: Any) -> Any:
        return lenient_bank(rows.to_pandas())

    explainer = ProCE(lender, schema=SCHEMA, settings=TINY)
    explainer.fit(pl.from_pandas(with_missing_cells(), include_index=False))
    assert_same(lambda rows: explainer.explain(rows, target=1, n=2), frame, (2,))


def test_rows_that_are_blocked_and_diagnosed(lenient: ProCE) -> None:
    frame = with_missing_cells().head(12)
    options: dict[str, Any] = {"target": 1, "n": 2, "vary": ["age", "savings"]}
    options |= {"ranges": {"savings": (0, 40)}, "max_changes": 1}
    whole = assert_same(lambda rows: lenient.explain(rows, **options), frame, (1, 5))
    assert endings(whole) >= {"not_found", "already_target"}
    assert any(item.diagnosis is not None and item.diagnosis.blockers for item in whole)


def test_the_other_class_of_each_row(lenient: ProCE) -> None:
    whole = assert_same(lambda rows: lenient.explain(rows, n=1), with_missing_cells().head(8), (3,))
    assert set(whole.outcomes()["target"]) == {0, 1}


def test_advice_that_survives_other_models() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    models = [lambda rows, by=by: logistic(score(rows) - by) for by in (0.2, 0.9)]
    options: dict[str, Any] = {"target": 1, "n": 2, "robust": 1.0, "models": models}
    assert_same(lambda rows: explainer.explain(rows, **options), people().head(8), (3,))


@pytest.mark.slow
def test_the_rules_and_causes_of_the_loan(
    lender: Callable[[str], ProCE], rejected: pd.DataFrame
) -> None:
    assert_same(lambda rows: lender("hard").explain(rows, target=1, n=2), rejected, (1, 5))
    assert_same(lambda rows: lender("paper").explain(rows, target=1, n=2), rejected.head(5), (2,))


def test_a_note_on_hard_labels_is_about_the_row_alone() -> None:
    """The model is unsure of the old, whom the training rows do not have."""

    def strict(rows: pd.DataFrame) -> Any:
        return two_classes(np.where(rows["age"] > 80, bank(rows)[:, 1], score(rows) > 0))

    explainer = ProCE(strict, schema=SCHEMA, settings=TINY).fit(people())
    frame = people().head(4).assign(age=[30, 85, 40, 88])
    whole = assert_same(lambda rows: explainer.explain(rows, n=1), frame, (1, 3))
    told = [any("no probability between 0 and 1" in note for note in item.notes) for item in whole]
    assert told == [True, False, True, False]


def test_typical_ways_do_not_depend_on_a_class_that_is_rare() -> None:
    """Of the class 2 there are too few training rows to learn what it looks like."""
    frame = people().assign(debt=[*range(0, 99, 33), *people()["debt"][3:]])

    def model(rows: pd.DataFrame) -> Any:
        rare = 8.0 * (rows["age"] > 78) - 4
        scores = np.stack([-score(rows), score(rows), rare], axis=1)
        return np.exp(scores) / np.exp(scores).sum(1, keepdims=True)

    old = frame[frame["age"] == 79].head(2)
    young = frame[(score(frame) < 0) & (frame["age"] < 60)].head(4)
    rows = pd.concat([young, old])
    explainer = ProCE(model, schema=SCHEMA, settings=TINY).fit(frame)
    options: dict[str, Any] = {"target": 1, "n": 1, "pick": "typical"}
    whole = assert_same(lambda part: explainer.explain(part, **options), rows, (1, 3))
    could_not = ["could not be learned" in " ".join(item.notes) for item in whole]
    assert could_not == [False] * 4 + [True] * 2


def test_waiting_is_the_same_in_pieces() -> None:
    schema = Schema([Continuous("age", (18, 90), step=1, action=Action.WAITS), SCHEMA["savings"]])
    frame = people()[["age", "savings"]]

    def model(rows: pd.DataFrame) -> Any:
        return logistic((rows["age"] - 60) / 5 + rows["savings"] / 50)

    explainer = ProCE(model, schema=schema, settings=TINY).fit(frame)
    assert_same(lambda rows: explainer.explain(rows, target=1, n=2), frame.head(10), (1, 4))


def test_many_features_of_which_other_ones_are_missing_in_each_row() -> None:
    draw = np.random.default_rng(0)
    names = [f"x{number}" for number in range(16)]
    weights = dict(zip(names, draw.normal(size=16) / 4, strict=True))
    frame = pd.DataFrame(draw.uniform(0, 1, (200, 16)), columns=names)
    frame = frame.mask(draw.random(frame.shape) < 0.25)

    def model(rows: pd.DataFrame) -> Any:
        terms = [weights[name] * (rows[name].fillna(0.5) - 0.5) for name in names]
        return logistic(8 * sum(terms) - 1)  # one by one, so that the last bit is a row's own

    schema = Schema([Continuous(name, (0, 1)) for name in names])
    explainer = ProCE(model, schema, settings=TINY).fit(frame)
    assert_same(lambda rows: explainer.explain(rows, target=1, n=2), frame.head(10), (1, 4))
