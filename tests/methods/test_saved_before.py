"""A folder that an earlier version saved loads, and gives the answers that were recorded then.

``fixtures/saved_v1`` is of format 1: 150 made-up loan applicants, a pipeline of scikit-learn, a
graph with refits, and a rule with an equation of its own. It is never written again; a later
format gets a folder beside it.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from proce import ProCE

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_format_1() -> None:
    recorded = json.loads((FIXTURES / "saved_v1_answers.json").read_text("utf-8"))
    loaded = ProCE.load(FIXTURES / "saved_v1")
    result = loaded.explain(pd.DataFrame(recorded["rows"]), target=1)
    assert [item.probability for item in result] == pytest.approx(recorded["probabilities"])
    answers = json.loads(result.to_frame().to_json(orient="records"))
    assert answers == recorded["answers"]
    for item, reached in zip(result, recorded["reached"], strict=True):
        assert item.probabilities.tolist() == pytest.approx(reached)
