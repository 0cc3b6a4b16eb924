"""CERTIFAI: its distance and fitness by hand, and where its search ends."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import MissingExtraError, Progress
from proce.methods import Certifai, CertifaiSettings
from proce.methods.published.certifai import CertifaiDistance, fitness
from proce.schema import Codec, Schema

from ...worlds import SCHEMA, WatchedBank, bank, never, one, people, refused, score

pytest.importorskip("pygad")
TRAINING = people(400)
QUICK = CertifaiSettings(population_size=30, n_generations=20)
PERSON = one(savings=20, debt=40)  # (20 - 40) / 25 - 0.75 < 0


def test_the_distance_and_the_fitness_are_those_of_the_paper() -> None:
    frame = pd.DataFrame(
        {
            "pay": [0.0, 10.0, 20.0, 40.0, 100.0],  # median 20, median deviation 20
            "age": [30.0, 32.0, 33.0, 34.0, 70.0],  # median 33, median deviation 1
            "job": ["a", "b", "c", "a", "b"],
        }
    )
    codec = Codec.fit(Schema.infer(frame), frame)
    distance = CertifaiDistance.of(codec, codec.encode(frame))
    person = codec.encode(frame[:1])
    others = codec.encode(
        pd.DataFrame({"pay": [10.0, 0.0], "age": [33.0, 30.0], "job": ["a", "c"]})
    )
    # two of three features are continuous: 2/3 · (10/20 + 3/1), and 1/3 · one level
    expected = [2 / 3 * 3.5, 1 / 3]
    assert distance(others, person).tolist() == pytest.approx(expected)
    reached = np.array([True, True])
    assert fitness(distance(others, person), reached).tolist() == pytest.approx([3 / 7, 3])
    assert fitness(distance(others, person), ~reached).tolist() == [0, 0]


def test_one_feature_moves_to_the_first_value_that_is_enough() -> None:
    explainer = Certifai(bank, SCHEMA).fit(TRAINING)
    result = explainer.explain(PERSON, n=1, vary=["savings"])
    # the score is above 0 from 40 + 0.75 · 25 = 58.75 on
    assert result.counterfactuals()["savings"].tolist() == [59]


def test_the_search_ends_near_the_nearest_of_all() -> None:
    rows = refused(people(60, seed=5), 4)
    explainer = Certifai(bank, SCHEMA).fit(TRAINING)
    frame = explainer.explain(rows, n=1).counterfactuals()
    codec = explainer.common_.codec
    found = explainer.prepared_(codec.encode(frame), codec.encode(rows))
    # a step of savings or debt is worth the same; a school never pays: 2/5 for 12.5 steps
    short = np.floor(-25 * score(rows).to_numpy()) + 1
    deviation = max(_deviation(TRAINING[name]) for name in ("savings", "debt"))
    assert (short > 0).all()
    assert found.sum() < 1.1 * (3 / 5 * short / deviation).sum()


def _deviation(column: "pd.Series[Any]") -> float:
    return float((column - column.median()).abs().median())


def test_the_whole_population_is_asked_at_once_and_counted() -> None:
    model = WatchedBank()
    explainer = Certifai(model, SCHEMA, QUICK).fit(TRAINING)
    model.frames.clear()
    result = explainer.explain(PERSON, n=1)
    # Without the last check, and the question about the whole frame that is returned.
    assert sum(model.sizes[1:-2]) == result.provenance.evaluations
    assert len(model.sizes) <= QUICK.start_rounds + QUICK.n_generations + 3
    assert max(model.sizes) > 10


def test_several_are_different_and_the_nearest_comes_first() -> None:
    explainer = Certifai(bank, SCHEMA, QUICK).fit(TRAINING)
    result = explainer.explain(PERSON, n=3)
    frame = result.counterfactuals()
    assert len(frame.drop_duplicates()) == 3
    codec = explainer.common_.codec
    distances = explainer.prepared_(codec.encode(frame), codec.encode(PERSON))
    assert distances.tolist() == sorted(distances.tolist())


def test_a_caller_who_stops_gets_what_was_found_by_then() -> None:
    rows = refused(people(60, seed=5), 4)

    def stop(progress: Progress) -> bool:
        return progress.generation < 2

    result = Certifai(bank, SCHEMA, QUICK).fit(TRAINING).explain(rows, n=1, progress=stop)
    outcomes = result.outcomes()["outcome"].tolist()
    assert outcomes == ["found", *["out_of_time"] * 3]
    assert "stopped early" in result[0].notes[0]


def test_where_no_start_is_found_the_note_says_so() -> None:
    result = Certifai(never, SCHEMA, QUICK).fit(TRAINING).explain(PERSON)
    assert result[0].outcome == "not_found"
    assert "None of up to 600 random rows" in result[0].notes[0]


def test_without_pygad_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygad", None)
    with pytest.raises(MissingExtraError, match=r"proce\[bench\]"):
        Certifai(bank, SCHEMA).fit(TRAINING)
