"""A folder that an earlier version saved loads, and what was recorded then is still true of it.

``fixtures/saved_v1`` is of format 1: 150 made-up loan applicants, a pipeline of scikit-learn, a
graph with refits, and a rule with an equation of its own. It is never written again; a later
format gets a folder beside it.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from proce import ProCE

FIXTURES = Path(__file__).parents[2] / "fixtures"
LATENTS = "1f0b6370b082cfb4e352eb4028383815963f9426f8bd2ecd1360ad3f2ab8dfb2"


def test_rows_have_the_latents_that_they_had() -> None:
    """Those of the folder were made by matrix products; those of kernels stay to the last bit."""
    fitted = ProCE.load(FIXTURES / "saved_v1").fitted_
    latents, predicted = fitted.index.members
    assert fitted.autoencoder.encode(fitted.rows) == pytest.approx(latents, abs=1e-6)
    assert np.array_equal(fitted.classifier.predict(fitted.rows), predicted)
    rows = fitted.rows.copy()
    rows[::7, ::3] = np.where(fitted.codec.is_number, np.nan, -1.0)[::3]
    content = fitted.autoencoder.encode(rows).tobytes()
    assert hashlib.sha256(content).hexdigest() == LATENTS


def test_format_1() -> None:
    """The model says what it said of rows and of counterfactuals, and finds some for all.

    Which alternatives are shown may change with the search; what was true stays true.
    """
    recorded = json.loads((FIXTURES / "saved_v1_answers.json").read_text("utf-8"))
    loaded = ProCE.load(FIXTURES / "saved_v1")
    codec = loaded.fitted_.codec
    assert loaded.fitted_.settings.scale == "range"  # there was no other
    assert codec.by_range is codec
    rows, answers = pd.DataFrame(recorded["rows"]), pd.DataFrame(recorded["answers"])
    result = loaded.explain(rows, target=1)
    assert [item.probability for item in result] == pytest.approx(recorded["probabilities"])
    assert {str(item.outcome) for item in result} == {"found"}
    again = loaded.explain(answers[rows.columns].astype(rows.dtypes), target=1)
    assert {str(item.outcome) for item in again} == {"already_target"}
    reached = [chance for each in recorded["reached"] for chance in each]
    assert [item.probability for item in again] == pytest.approx(reached)
