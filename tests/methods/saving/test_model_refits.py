"""Refits of the model come back with a saved explainer, or are fitted again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from proce import ModelError, PersistenceError, ProCE, Schema
from proce.arrays import Floats
from proce.methods.saving.explainer import load_refits

from ...worlds import SCHEMA, TINY, people, score

FRAME = people(150)[["age", "savings", "debt"]]
LABEL = np.where(score(people(150)) + np.random.default_rng(0).normal(0, 1, 150) > 0, 1, 0)
NUMBERS = Schema([SCHEMA[name] for name in FRAME])


@pytest.fixture(scope="module")
def explainer() -> ProCE:
    model = LogisticRegression().fit(FRAME, LABEL)
    made = ProCE(model, NUMBERS, settings=TINY, models=3, seed=4).fit(FRAME, LABEL)
    made.explain(FRAME.head(2), n=1)
    return made


def answers(explainer: ProCE, n: int) -> Floats:
    fitted = explainer.fitted_
    assert fitted.model_refits is not None
    rows = fitted.codec.encode(FRAME)
    return np.stack([model.predict_proba(rows) for model in fitted.model_refits.first(n)])


def test_refits_come_back_and_more_can_be_fitted(explainer: ProCE, tmp_path: Path) -> None:
    loaded = ProCE.load(explainer.save(tmp_path / "saved"))
    refits = loaded.fitted_.model_refits
    assert loaded.models == 3
    assert refits is not None
    assert len(refits.kept) == 3
    assert np.array_equal(answers(loaded, 4), answers(explainer, 4))


def test_without_rows_those_that_were_made_are_there(explainer: ProCE, tmp_path: Path) -> None:
    n_made = len(explainer.fitted_.model_refits.kept)
    loaded = ProCE.load(explainer.save(tmp_path / "saved", rows=False))
    assert np.array_equal(answers(loaded, n_made), answers(explainer, n_made))
    with pytest.raises(ModelError, match="without its training rows"):
        answers(loaded, n_made + 1)


def test_without_the_model_the_refits_are_fitted_again(explainer: ProCE, tmp_path: Path) -> None:
    folder = explainer.save(tmp_path / "saved", model=False)
    loaded = ProCE.load(folder, model=explainer.model)
    refits = loaded.fitted_.model_refits
    assert refits is not None
    assert not refits.kept
    assert np.array_equal(answers(loaded, 2), answers(explainer, 2))


def test_without_labels_nothing_is_kept(tmp_path: Path) -> None:
    model = LogisticRegression().fit(FRAME, LABEL)
    explainer = ProCE(model, NUMBERS, settings=TINY).fit(FRAME)
    folder = explainer.save(tmp_path / "saved")
    assert ProCE.load(folder).fitted_.model_refits is None
    assert '"models": null' not in (folder / "manifest.json").read_text("utf-8")


@pytest.mark.parametrize("labels", [np.zeros(150), np.zeros(7, np.int64), np.full(150, 9)])
def test_damaged_labels_are_refused(explainer: ProCE, labels: Any) -> None:
    fitted = explainer.fitted_
    with pytest.raises(PersistenceError, match="labels of the training rows are damaged"):
        load_refits({"labels": labels}, fitted.classifier, fitted.rows, None, 0)
