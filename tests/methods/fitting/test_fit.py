"""What an explainer can be made with, and what its user is told of the model."""

import logging
from typing import Any

import numpy as np
import pytest

from proce import ModelOutputError, ProCE, SearchError
from proce.methods.fitting.fitted import rows_at_once

from ...worlds import SCHEMA, TINY, bank, people, refused

FRAME = people(60)


def labels(frame: Any) -> Any:
    return (bank(frame) > 0.5).astype(float)


@pytest.mark.parametrize("device", ["meta", "nonsense", "cpu:x", "", None, 5])
def test_a_device_that_cannot_compute_is_refused(device: Any) -> None:
    with pytest.raises(SearchError, match=r"device is .*expected 'cpu', or 'cuda'"):
        ProCE(bank, SCHEMA, settings=TINY, device=device).fit(FRAME)


@pytest.mark.parametrize("seed", [2**63, 2**64, 10**30, -1, 1.0, None, True])
def test_a_seed_that_does_not_fit_is_refused(seed: Any) -> None:
    with pytest.raises(SearchError, match=r"seed is .*expected a whole number"):
        ProCE(bank, SCHEMA, settings=TINY, seed=seed).fit(FRAME)


def test_the_largest_seed_serves() -> None:
    explainer = ProCE(bank, SCHEMA, [("age", "savings")], settings=TINY, seed=2**63 - 1)
    assert len(explainer.fit(FRAME).explain(refused(FRAME, 1))) == 1


def test_complex_probabilities_are_refused() -> None:
    with pytest.raises(ModelOutputError, match="complex numbers; expected probabilities"):
        ProCE(lambda frame: bank(frame) + 0j, SCHEMA, settings=TINY).fit(FRAME)


def test_of_a_model_that_answers_with_labels_its_user_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        explainer = ProCE(labels, SCHEMA, settings=TINY).fit(FRAME)
        explainer.explain(refused(FRAME, 1))
        explainer.explain(refused(FRAME, 2))
    told = [record.getMessage() for record in caplog.records if "labels" in record.getMessage()]
    assert len(told) == 1
    assert "0 and 1 alone for 60 training rows" in told[0]
    assert "predict_proba" in told[0]


def test_of_a_model_that_gives_chances_nothing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ProCE(bank, SCHEMA, settings=TINY).fit(FRAME)
    assert caplog.records == []


def test_of_a_model_that_is_not_repeatable_its_user_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    generator = np.random.default_rng(0)

    def moody(frame: Any) -> Any:
        return 0.9 * bank(frame)[:, 1] + generator.uniform(0, 0.1, len(frame))

    with caplog.at_level(logging.WARNING):
        explainer = ProCE(moody, SCHEMA, settings=TINY).fit(FRAME)
        explainer.explain(refused(FRAME, 1))
    assert len(caplog.records) == 1
    told = caplog.records[0].getMessage()
    assert "not repeatable: asked twice about the same 60 training rows" in told
    assert "fix its seed" in told


@pytest.mark.parametrize(
    ("n_features", "n_rows"), [(1, 1_024), (8, 500), (20, 256), (125, 256), (300, 44), (5_000, 1)]
)
def test_a_wide_table_has_fewer_rows_searched_at_once(n_features: int, n_rows: int) -> None:
    assert rows_at_once(100, n_features) == n_rows
