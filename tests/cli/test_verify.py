"""``proce verify``: one receipt, or a folder of them, with the model of then or another."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce.classifier.saved import write_model
from proce.cli.main import main

from ..worlds import SCHEMA


@pytest.fixture(scope="module")
def written(desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of receipts, of a dozen people."""
    folder = tmp_path_factory.mktemp("verify")
    pd.read_csv(desk / "new.csv").head(12).to_csv(folder / "few.csv", index=False)
    words = ["explain", str(desk / "credit"), str(folder / "few.csv"), "--target", "yes", "-n", "2"]
    words += ["--receipts", str(folder / "receipts"), "--out", str(folder / "r.csv")]
    assert main(words) == 0
    return folder / "receipts"


@pytest.fixture
def receipts(at_desk: Path, written: Path, tmp_path: Path) -> Path:
    """Return a copy of the receipts, to be spoilt."""
    return Path(shutil.copytree(written, tmp_path / "receipts"))


@pytest.fixture(scope="module")
def strict_model(desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a model that learned to say yes to the very best alone."""
    people = pd.read_csv(desk / "people.csv")
    best = people["savings"] - people["debt"] > 60
    text = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    model = make_pipeline(text, LogisticRegression(C=100))
    model.fit(people[list(SCHEMA.names)], best.map({True: "yes", False: "no"}))
    path: Path = tmp_path_factory.mktemp("strict") / "strict.skops"
    write_model(model, path)
    return path


@pytest.mark.parametrize("model", ["credit", "model.skops"])
def test_receipts_hold_for_the_model_of_then(
    receipts: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(receipts), "--model", model]) == 0
    shown = capsys.readouterr()
    assert shown.out == (
        "The model is the one that they were written for (SHA-256).\n12 receipts: 12 still true.\n"
    )
    assert shown.err == ""


def test_each_receipt_that_is_no_longer_true_has_a_line(
    receipts: Path, strict_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = {}
    for path in receipts.iterdir():
        exit_code = main(["verify", str(path), "--model", str(strict_model)])
        lines = capsys.readouterr().out.splitlines()
        assert lines[-1] == ("Still true." if exit_code == 0 else "No longer true.")
        if exit_code:
            alone[path.name] = "; ".join(line for line in lines if ": no longer " in line)
    assert 0 < len(alone) < 12
    assert main(["verify", str(receipts), "--model", str(strict_model)]) == 1
    *told, models, summary = capsys.readouterr().out.splitlines()
    names = sorted(alone, key=lambda name: int(name[4:-5]))
    assert told == [f"{name}: {alone[name]}" for name in names]
    assert models == "Written for another model: 12 of them."
    n_true = 12 - len(alone)
    assert summary == f"12 receipts: {n_true} still true, {len(alone)} no longer true."


def test_spoilt_receipts_and_other_files_are_told_apart(
    receipts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, cut_off = receipts / "row-3.json", receipts / "row-10.json"
    changed.write_text(changed.read_text("utf-8").replace('"seed": 0', '"seed": 1'))
    cut_off.write_text(cut_off.read_text("utf-8")[:2000])
    (receipts / "notes.txt").write_text("remember the milk")
    (receipts / "inner").mkdir()
    assert main(["verify", str(receipts), "--model", "credit"]) == 1
    shown = capsys.readouterr()
    spoilt = "was changed after it was written: it proves nothing"
    assert shown.out.splitlines() == [
        f"row-3.json: {spoilt}",
        f"row-10.json: {spoilt}",
        "The model is the one that they were written for (SHA-256).",
        "12 receipts: 10 still true, 2 changed.",
    ]
    assert shown.err.splitlines() == [
        "inner: is no receipt",
        "notes.txt: is no receipt",
        "Not receipts: 2 of 14 files.",
    ]


def test_receipts_of_another_model_cannot_be_checked(
    receipts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = pd.read_csv("people.csv")
    model = LogisticRegression().fit(people[["age", "savings", "debt"]], people["savings"] > 50)
    write_model(model, tmp_path / "other.skops")
    assert main(["verify", str(receipts), "--model", str(tmp_path / "other.skops")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert lines[0].startswith("row-0.json: ")
    assert lines[-1] == "12 receipts: 12 could not be checked."
