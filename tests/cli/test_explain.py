"""``proce explain``: csv, Parquet and JSON, options, receipts, exit codes."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from proce import Explanations, ProCE
from proce.batch.tables import NO_ROWS
from proce.cli.explaining.output import JobSummary, show_summary
from proce.cli.main import main

EXPLAIN = ["explain", "credit", "new.csv", "--target", "yes", "-n", "2"]


@pytest.fixture
def expected(at_desk: Path) -> pd.DataFrame:
    """Return what the library says for the same rows."""
    rows = pd.read_csv(at_desk / "new.csv")
    return ProCE.load(at_desk / "credit").explain(rows, target="yes", n=2).to_frame()


def test_a_file_gets_the_answers_of_the_library(
    at_desk: Path,
    expected: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*EXPLAIN, "--out", str(tmp_path / "r.csv")]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "40 rows: " in shown.err
    assert "already target" in shown.err
    assert_frame_equal(pd.read_csv(tmp_path / "r.csv"), expected.reset_index(drop=True))

    parquet = ["explain", "credit", "new.parquet", "--target", "yes", "-n", "2"]
    assert main([*parquet, "--out", str(tmp_path / "r.parquet")]) == 0
    assert "left out: decision" in capsys.readouterr().err
    assert_frame_equal(
        pd.read_parquet(tmp_path / "r.parquet"), pd.read_csv(tmp_path / "r.csv"), check_dtype=False
    )

    assert main([*EXPLAIN, "--out", str(tmp_path / "r.json")]) == 0
    back = Explanations.from_json((tmp_path / "r.json").read_text("utf-8"))
    assert_frame_equal(back.to_frame(), expected.reset_index(drop=True))
    assert {path.name for path in tmp_path.iterdir()} == {"r.csv", "r.parquet", "r.json"}


def test_without_a_file_csv_goes_to_stdout(
    at_desk: Path, expected: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is drawn, and how many rows ended how is one line on stderr."""
    assert main(EXPLAIN) == 0
    shown = capsys.readouterr()
    assert shown.out == expected.to_csv(index=False)
    assert "40 rows: " in shown.err
    assert "\x1b" not in shown.out + shown.err
    assert shown.err.count("\n") == 1


def test_options_reach_the_search(at_desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    words = ["--vary", "savings,age", "--range", "savings=10:90", "--range", "school=none:high"]
    more = ["--max-changes", "1", "--min-probability", "0.7", "--pick", "typical"]
    (tmp_path / "more.txt").write_text("cf.savings >= x.savings")
    rules = ["--rules", str(tmp_path / "more.txt"), "--causal", "soft"]
    assert main([*EXPLAIN, *words, *more, *rules, "--out", str(out)]) in (0, 1)
    record = json.loads(out.read_text("utf-8"))["provenance"]
    assert record["mode"] == "soft"
    assert record["options"] == {
        "target": "yes",
        "n": 2,
        "pick": "typical",
        "vary": ["savings", "age"],
        "ranges": {"savings": [10.0, 90.0], "school": ["none", "high"]},
        "max_changes": 1,
        "min_probability": 0.7,
        "rules": ["cf.savings >= x.savings"],
        "causal": "soft",
    }


def test_ids_come_back_in_every_form(
    at_desk: Path, expected: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pd.read_csv(at_desk / "new.csv")
    rows.insert(0, "customer", [f"C{n:03}" for n in range(len(rows))])
    rows.assign(branch="north").to_csv(tmp_path / "named.csv", index=False)
    words = ["explain", "credit", str(tmp_path / "named.csv"), "--target", "yes", "-n", "2"]
    words += ["--id", "customer"]
    ids = [f"C{n:03}" for n in expected["row"]]
    for name in ("r.csv", "r.parquet"):
        assert main([*words, "--out", str(tmp_path / name)]) == 0
        assert "were left out: branch." in capsys.readouterr().err
    for table in (pd.read_csv(tmp_path / "r.csv"), pd.read_parquet(tmp_path / "r.parquet")):
        assert list(table.columns[:3]) == ["customer", "row", "rank"]
        assert table["customer"].tolist() == ids
        assert table["row"].tolist() == expected["row"].tolist()
    assert main([*words, "--out", str(tmp_path / "r.json")]) == 0
    record = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert record["layout"]["index"]["labels"] == [f"C{n:03}" for n in range(len(rows))]
    result = Explanations.from_json((tmp_path / "r.json").read_text("utf-8"))
    assert list(result.row_labels()) == ids


def test_an_id_that_is_not_there_is_a_wrong_request(
    at_desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*EXPLAIN, "--id", "custmer"]) == 2
    assert "lacks the column 'custmer'" in capsys.readouterr().err
    assert main([*EXPLAIN, "--id", "age"]) == 2
    assert "'age' is a feature" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_file_without_rows_gives_an_empty_result(
    at_desk: Path, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.read_csv(at_desk / "new.csv").head(0).to_csv(tmp_path / "none.csv", index=False)
    out = tmp_path / f"r{suffix}"
    words = ["explain", "credit", str(tmp_path / "none.csv"), "--target", "yes"]
    assert main([*words, "--out", str(out)]) == 0
    assert "0 rows." in capsys.readouterr().err
    if suffix == ".json":
        assert len(Explanations.from_json(out.read_text("utf-8"))) == 0
    else:
        table = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
        assert list(table.columns[:2]) == ["row", "rank"]
        assert len(table) == 0


def test_rows_without_a_counterfactual_are_exit_code_1(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    never = tmp_path / "never.txt"
    never.write_text("cf.savings == x.savings and cf.debt == x.debt and cf.school == x.school")
    words = [*EXPLAIN, "--rules", str(never), "--out", str(tmp_path / "r.csv")]
    assert main(words) == 1
    shown = capsys.readouterr().err
    assert "Row 0: No change was found for which the model says yes." in shown
    assert "not found" in shown
    assert (tmp_path / "r.csv").read_text().startswith("row,rank,age,")


def test_a_receipt_is_written_for_every_row_and_holds(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipts = tmp_path / "receipts"
    assert main([*EXPLAIN, "--receipts", str(receipts), "--out", str(tmp_path / "r.csv")]) == 0
    assert {path.name for path in receipts.iterdir()} == {f"row-{row}.json" for row in range(40)}
    capsys.readouterr()
    receipt = receipts / "row-0.json"
    for model in ("credit", "model.skops"):
        assert main(["verify", str(receipt), "--model", model]) == 0
        shown = capsys.readouterr().out
        assert "the row itself: still " in shown
        assert shown.endswith("Still true.\n")
        assert "The model is the one that the receipt was written for" in shown

    receipt.write_text(receipt.read_text("utf-8").replace('"probability": 0.', '"probability": 1.'))
    assert main(["verify", str(receipt), "--model", "credit"]) == 1
    assert "was changed after it was written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("doubts", "found"),
    [
        ({}, "10 found,"),
        ({"unsure": 1}, "10 found (1 of them unsure),"),
        (
            {"unsure": 1, "less robust than asked for": 2},
            "10 found (2 of them less robust than asked for, 1 unsure),",
        ),
    ],
)
def test_the_summary_counts_advice_that_is_in_doubt(
    doubts: dict[str, int], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Counter(found=10, not_found=2)
    summary = JobSummary(NO_ROWS.model_copy(update={"tally": tally, "doubts": Counter(doubts)}))
    show_summary(summary, None)
    assert capsys.readouterr().err == f"12 rows: {found} 2 not found.\n"
