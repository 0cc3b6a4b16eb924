"""The same model has the same sum, however often it is written."""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proce.classifier.saved import read_model, write_model
from proce.classifier.skops_files import model_sum

ROWS = np.arange(20.0).reshape(10, 2)
LABEL = [0, 1] * 5


def test_a_model_that_is_written_again_has_the_same_sum(tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, LABEL)
    first = write_model(model, tmp_path / "first.skops")
    second = write_model(read_model(first), tmp_path / "second.skops")
    assert first.read_bytes() != second.read_bytes()
    assert model_sum(first) == model_sum(second)


def test_another_model_has_another_sum(tmp_path: Path) -> None:
    paths = [
        write_model(LogisticRegression(C=strength).fit(rows, LABEL), tmp_path / f"{at}.skops")
        for at, (strength, rows) in enumerate([(1, ROWS), (2, ROWS), (1, ROWS**2)])
    ]
    assert len({model_sum(path) for path in paths}) == 3


def test_any_other_file_has_the_sum_of_its_bytes(tmp_path: Path) -> None:
    known = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # printf 1
    for name in ("model.onnx", "damaged.skops"):
        (tmp_path / name).write_text("1")
        assert model_sum(tmp_path / name) == known
