"""``proce schema``, ``discover`` and ``fit``."""

from pathlib import Path

import pandas as pd
import pytest

from proce import CausalGraph, Explanations, ProCE, Schema
from proce.cli.main import main

FIT = ["fit", "people.csv", "--label", "decision", "--population", "20", "--generations", "5"]


def test_the_schema_is_shown_and_written(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "schema.json"
    assert main(["schema", "people.csv", "--label", "decision", "--out", str(out)]) == 0
    schema = Schema.from_json(out.read_text("utf-8"))
    assert schema.names == ("age", "savings", "debt", "school", "home")
    inferred = Schema.infer(pd.read_csv("people.csv").drop(columns="decision"))
    assert schema == inferred
    assert capsys.readouterr().out == f"{inferred}\n"  # with its scale, which no file holds


def test_the_label_and_columns_that_are_dropped_are_no_features(
    at_desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "people.csv", "--label", "decision", "--drop", "age,home"]) == 0
    words = capsys.readouterr().out.split()
    assert {"savings", "debt", "school"} <= set(words)
    assert not {"age", "home", "decision"} & set(words)


def test_classes_are_named_for_people(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "credit"
    words = [*FIT, "--model", "train:boosting", "--out", str(folder)]
    assert main([*words, "--classes", "yes"]) == 2
    assert "is not of the form CLASS=WORDS" in capsys.readouterr().err
    assert main([*words, "--classes", "yes=approved,no=rejected by us"]) == 0
    assert ProCE.load(folder).classes == {"no": "rejected by us", "yes": "approved"}
    assert main([*words, "--classes", "maybe=x"]) == 2
    assert "unknown class 'maybe'" in capsys.readouterr().err


def test_an_applicant_is_shown_no_protected_feature(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = Schema.infer(pd.read_csv("people.csv").drop(columns="decision"))
    path, folder = tmp_path / "schema.json", tmp_path / "credit"
    path.write_text(schema.edit("home", protected=True).to_json(), "utf-8")
    model = ["--model", "model.skops", "--schema", str(path), "--out", str(folder)]
    assert main([*FIT, *model]) == 0
    rows = tmp_path / "rows.csv"
    pd.read_csv("people.csv").head(4).to_csv(rows, index=False)
    explain = ["explain", str(folder), str(rows), "--target", "yes", "--out"]
    for view, is_told in (("applicant", False), ("auditor", True)):
        out, page = tmp_path / f"{view}.json", tmp_path / f"{view}.html"
        assert main([*explain, str(out), "--view", view]) in (0, 1)
        assert ("home" in out.read_text("utf-8")) is is_told
        assert main(["report", str(out), "--view", view, "--out", str(page)]) == 0
        assert ("home" in page.read_text("utf-8")) is is_told
    capsys.readouterr()
    assert main(["report", str(tmp_path / "applicant.json"), "--view", "auditor"]) == 2
    assert "written for the applicant" in capsys.readouterr().err
    assert main([*explain, str(tmp_path / "x.json"), "--view", "boss"]) == 2


def test_a_graph_is_discovered(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, tiers = tmp_path / "graph.json", tmp_path / "tiers.txt"
    tiers.write_text("# what comes first\nsavings, age\ndebt\n")
    words = ["discover", "people.csv", "--label", "decision", "--tiers", str(tiers)]
    assert main([*words, "--bootstrap", "3", "--out", str(out)]) == 0
    graph = CausalGraph.from_json(out.read_text("utf-8"))
    assert ("savings", "debt") in graph.edges
    assert graph.origin.settings["bootstrap"] == 3
    shown = capsys.readouterr()
    assert "savings -> debt" in shown.out
    assert "may be wrong" in shown.err
    assert "Note: " in shown.err

    assert main(words) == 0
    assert CausalGraph.from_json(capsys.readouterr().out) == graph


@pytest.mark.parametrize("kind", ["mlp", "boosting"])
def test_a_model_is_trained_where_there_is_none(
    kind: str, at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "credit"
    assert main([*FIT, "--model", f"train:{kind}", "--out", str(folder)]) == 0
    shown = capsys.readouterr().err
    assert f"train:{kind} is right in" in shown
    assert "240 rows, 5 features, classes 'no', 'yes', no causal graph" in shown
    rows = pd.read_csv("new.csv").head(3)
    assert len(ProCE.load(folder).explain(rows)) == 3

    out = tmp_path / "r.csv"
    assert main(["explain", str(folder), "new.csv", "--out", str(out)]) in (0, 1)
    assert {*pd.read_csv(out).columns} == {"row", "rank", *rows.columns}


def test_a_graph_can_be_discovered_on_the_way(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", "model.skops", "--graph", "discover", "--out", str(tmp_path / "credit")]
    assert main([*FIT, *words]) == 0
    assert "(discovered by direct_lingam)" in capsys.readouterr().err


def test_without_a_schema_a_model_and_a_label_are_enough(at_desk: Path, tmp_path: Path) -> None:
    assert main([*FIT, "--model", "model.skops", "--out", str(tmp_path / "credit")]) == 0
    assert ProCE.load(tmp_path / "credit").classes_ == ("no", "yes")


def test_an_index_that_was_written_along_is_told(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.csv"
    pd.read_csv("people.csv").to_csv(path)
    words = ["schema", str(path), "--label", "decision"]
    assert main(words) == 2
    assert "a column without a name" in capsys.readouterr().err
    assert main([*words, "--drop", ""]) == 0


def test_refits_of_the_model_are_fitted_once_and_asked_for_by_robust(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, rows, out = (tmp_path / name for name in ("credit", "rows.csv", "out.json"))
    pd.read_csv("new.csv").head(8).to_csv(rows, index=False)
    fit = [*FIT, "--schema", "schema.json", "--model", "model.skops", "--out", str(folder)]
    assert main([*fit, "--models", "5"]) == 0
    loaded = ProCE.load(folder)
    assert loaded.models == 5
    assert loaded.fitted_.model_refits is not None
    assert len(loaded.fitted_.model_refits.kept) == 5
    explain = ["explain", str(folder), str(rows), "--target", "yes", "-n", "1", "--out", str(out)]
    assert main([*explain, "--robust", "0.8"]) in (0, 1)
    result = Explanations.from_json(out.read_text("utf-8"))
    kept = [int(item.robustness[0]) for item in result if len(item)]
    assert kept
    assert all(count >= 4 for count in kept)
    assert main([*explain, "--robust", "2"]) == 2
    assert "robust is 2.0; expected more than 0, at most 1" in capsys.readouterr().err
    assert main([*explain, "--robust", "0.8", "--models", "3"]) in (0, 1)
    assert Explanations.from_json(out.read_text("utf-8")).context.n_models == 3


def test_refits_need_labels_and_a_model_that_can_be_fitted_again(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "credit"), "--models", "2"]
    without = ["fit", "new.csv", "--model", "model.skops", "--schema", "schema.json", *out]
    assert main(without) == 2
    assert "--models 2 fits the model again, which takes labels" in capsys.readouterr().err
    assert main([*FIT, "--model", "train:mlp", *out]) == 2
    told = capsys.readouterr().err
    assert "--models 2 fits the model again, and --model train:mlp is no estimator of" in told
    assert "Leave --models out, or give --model train:boosting or a .skops file." in told
    assert "models=" not in told


def test_what_robust_lacks_is_told_in_flags(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explain = ["explain", "credit", "new.csv", "--target", "yes"]
    for asked in (["--robust", "0.9"], ["--models", "3"]):
        assert main([*explain, *asked]) == 2
        assert capsys.readouterr().err == (
            f"proce: {' '.join(asked)} needs refits of the model, and 'credit' has none: it was"
            " fitted without them. Fit it again with 'proce fit --label COLUMN --models N'.\n"
        )
    network = str(tmp_path / "network")
    assert main([*FIT, "--model", "train:mlp", "--out", network]) == 0
    capsys.readouterr()
    assert main(["explain", network, "new.csv", "--robust", "0.9"]) == 2
    told = capsys.readouterr().err
    assert "no estimator of scikit-learn's kind" in told
    assert told.endswith("Leave --robust out.\n")
