"""A model that refuses missing cells is told apart, and the feature is named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from proce import Codec, ModelError, ProCE, as_classifier
from proce.schema import Schema

from ..worlds import SCHEMA, TINY, bank, one, people, two_classes

NUMBERS = people()[["age", "savings", "debt"]].astype(float)
MODEL = LogisticRegression().fit(NUMBERS, bank(people())[:, 1] > 0.5)
GAPS = NUMBERS.copy()
GAPS.loc[[3, 9], "savings"] = np.nan


def test_the_feature_and_the_row_are_named() -> None:
    codec = Codec.fit(Schema.infer(GAPS), GAPS)
    classifier = as_classifier(MODEL, codec)
    for ask in (
        lambda: classifier.predict_proba(codec.encode(GAPS)),
        lambda: classifier.predict_frame(GAPS),  # type: ignore[attr-defined]
        lambda: ProCE(MODEL, settings=TINY).fit(GAPS),
    ):
        with pytest.raises(ModelError, match=r"'savings' is missing in row 3.*imputer"):
            ask()


def test_a_row_that_lacks_a_value_is_refused_with_its_feature() -> None:
    explainer = ProCE(MODEL, settings=TINY).fit(NUMBERS)
    with pytest.raises(ModelError, match="'debt' is missing in row 0"):
        explainer.explain(NUMBERS.head(1).assign(debt=np.nan))


def test_a_model_that_fails_for_another_reason_keeps_its_error() -> None:
    def broken(frame: pd.DataFrame) -> object:
        if len(frame) != 256:  # it answers when it is tried
            raise ValueError("no luck")
        return two_classes(frame["age"] > 50)

    codec = Codec.fit(Schema.infer(GAPS), GAPS)
    with pytest.raises(ModelError, match=r"no luck\.$"):
        as_classifier(broken, codec).predict_proba(codec.encode(GAPS))


def test_hard_labels_are_noted() -> None:
    def hard(frame: pd.DataFrame) -> object:
        return two_classes(bank(frame)[:, 1] > 0.5)

    result = ProCE(hard, schema=SCHEMA, settings=TINY).fit(people()).explain(one(), n=1)
    assert result[0].outcome == "found"
    assert any("no probability between 0 and 1" in note for note in result[0].notes)
    soft = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()).explain(one(), n=1)
    assert not any("no probability" in note for note in soft[0].notes)
