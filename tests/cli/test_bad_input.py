"""Whatever is wrong is said in one line, with exit code 2 and no traceback."""

import json
from pathlib import Path

import pytest

from proce.cli.main import main


def complaint(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a wrong request gets."""
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    last = shown.err.splitlines()[-1]
    assert last.startswith("proce: ")
    assert "Traceback" not in shown.err
    return last


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("new.csv --target yse", "unknown class 'yse'"),
        ("new.csv --vary savngs", "'savngs', which is not a feature"),
        ("new.csv --range savings", "not of the form NAME=LOW:HIGH"),
        ("new.csv --range savings=1:x", "'x' is not a number"),
        ("new.csv --range savngs=1:2", "Did you mean 'savings'?"),
        ("new.csv --range savings=9:1", "which is empty"),
        ("new.csv --pick best", "pick is 'best'"),
        ("new.csv --causal strong", "causal is 'strong'"),
        ("new.csv --min-probability 2", "min_probability is 2.0"),
        ("new.csv --max-changes 0", "'--max-changes'"),
        (
            "new.csv --engine dusk",
            "expected local or dask. Did you mean 'dask'?",
        ),
        ("new.csv --scheduler tcp://127.0.0.1:1", "add --engine dask"),
        (
            "new.parquet --engine dask --scheduler tcp://127.0.0.1:1 --workers 2 --out r",
            "a scheduler has workers of its own",
        ),
        ("new.csv --engine dask", "name it with --out"),
        ("new.csv --engine dask --out r", "which is no Parquet file"),
        ("none --engine dask --out r", "there is no such file or folder"),
        ("new.parquet --engine dask --out new.csv", "is a file; a cluster writes a folder"),
        ("new.parquet --engine dask --out r --separator ;", "--separator is for csv"),
        ("new.parquet --engine dask --out r --receipts q", "cannot be written by a cluster"),
        ("new.parquet --engine dask --out r --id age", "'age' is a feature"),
        ("new.csv --out none/r.csv", "does not exist; make it first"),
        ("new.csv --out r.xlsx", "must end in .csv, .parquet or .json"),
        ("new.csv --out /proc/r.csv", "cannot be written"),
        ("new.csv --out credit/../new.csv", "--out and ROWS are both"),
        ("new.parquet --outcomes new.parquet", "--outcomes and ROWS are both"),
        ("credit --out credit/r.csv", "lies in the folder 'credit', which is ROWS"),
        ("new.csv --outcomes credit/r.csv", "lies in the folder 'credit', which is FOLDER"),
        ("credit --receipts credit/r", "lies in the folder 'credit', which is ROWS"),
        ("new.csv --rules none.txt", "the rules 'none.txt' cannot be read"),
        ("none.csv", "No such file"),
        ("model.skops", "a zip file"),
        ("graph.json", "is not csv: it is JSON"),
    ],
)
def test_explain(
    words: str, message: str, at_desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in complaint(["explain", "credit", *words.split()], capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--model train:mpl", "Did you mean 'train:mlp'?"),
        ("--model model.pkl", "Pickles can run any code"),
        ("--model none.skops", "No such file"),
        ("--model fake.skops", "not a skops file"),
        ("--model fake.onnx", "not an ONNX model"),
        ("--model train:mlp --label decison", "Did you mean 'decision'?"),
        ("--model train:mlp --graph none.json", "the graph 'none.json' cannot be read"),
        ("--model train:mlp --graph schema.json", "schema.json: the graph has no list of nodes"),
        ("--model train:mlp --schema graph.json", "graph.json: the schema is not of the form"),
        ("--model train:mlp --population 0", "population_size is 0"),
        ("--model train:mlp --out none/credit", "does not exist; make it first"),
        ("--out credit2", "Missing option '--model'"),
    ],
)
def test_fit(words: str, message: str, at_desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fake.skops", "fake.onnx"):
        Path(name).write_text("hello")
    usual = ["--label", "decision"] if "--label" not in words else []
    out = ["--out", "unwanted"] if "--out" not in words else []
    assert message in complaint(["fit", "people.csv", *words.split(), *usual, *out], capsys)
    assert not Path("unwanted").exists()


def test_labels_are_needed_to_train(at_desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", "people.csv", "--model", "train:mlp", "--out", "unwanted"]
    assert "name their column with --label" in complaint(words, capsys)


def test_a_wrong_rule_is_named_by_its_line(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text('# one\ncf.age >= x.age\n\n  cf.home != "#"   # quoted\ncf.agee > 3 # typo\n')
    message = complaint(["explain", "credit", "new.csv", "--rules", str(rules)], capsys)
    assert "rules.txt, line 4: " in message  # there is no level '#'
    rules.write_text("# one\ncf.age >= x.age\n\ncf.agee > 3 # typo\n")
    message = complaint(["explain", "credit", "new.csv", "--rules", str(rules)], capsys)
    assert "rules.txt, line 4: rule 'cf.agee > 3', position 4: unknown feature 'agee'" in message


@pytest.mark.parametrize(
    ("tiers", "name", "message"),
    [
        ("age, savngs\ndebt\n", "tiers.txt", "savngs"),
        ("[1]", "tiers.json", "not of the form"),
        ("[", "tiers.json", "is not JSON"),
    ],
)
def test_tiers(
    tiers: str,
    name: str,
    message: str,
    at_desk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_text(tiers)
    words = ["discover", "people.csv", "--label", "decision", "--tiers", str(tmp_path / name)]
    assert message in complaint(words, capsys)


def test_a_folder_that_is_no_explainer(at_desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no folder" in complaint(["explain", "none", "new.csv"], capsys)
    assert "manifest.json" in complaint(["explain", ".", "new.csv"], capsys)


def test_a_folder_from_the_future(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = tmp_path / "later"
    later.mkdir()
    for path in Path("credit").iterdir():
        (later / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((later / "manifest.json").read_text("utf-8"))
    (later / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    assert "format 99" in complaint(["explain", str(later), "new.csv"], capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("report new.csv", "new.csv: the explanations are not JSON"),
        ("report none.json", "cannot be read"),
        ("verify schema.json --model credit", "this is not a receipt"),
        ("verify new.csv --model credit", "not JSON"),
        ("verify credit --model credit", "'credit' holds no receipts"),
        ("verify none.json --model none", "the model 'none' does not exist"),
        ("verify none.json --model credit", "the receipt 'none.json' cannot be read"),
    ],
)
def test_what_is_no_explanation(
    words: str, message: str, at_desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in complaint(words.split(), capsys)
