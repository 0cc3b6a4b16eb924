"""``proce explain`` on odd files: read as they are meant, or refused in one line with the place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from proce import Explanations
from proce.cli.main import main

ASK = ["--target", "yes", "-n", "1"]
IDS = ["007", "7", "", "12345678901234567890", 'O"Neil, Zoë', "7"]
BIG_IDS = [2**62 + 1, 7, None, 0, -1, 7]


@pytest.fixture(scope="module")
def rows(desk: Path) -> pd.DataFrame:
    """Return six people to whom the model says no."""
    seen = pd.read_parquet(desk / "new.parquet")
    return seen[seen["decision"] == "no"].head(6).drop(columns="decision").reset_index(drop=True)


@pytest.fixture(scope="module")
def expected(desk: Path, rows: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the result for these people in a plain file."""
    folder = tmp_path_factory.mktemp("plain")
    rows.to_csv(folder / "rows.csv", index=False)
    words = ["explain", str(desk / "credit"), str(folder / "rows.csv"), *ASK]
    assert main([*words, "--out", str(folder / "r.csv")]) == 0
    return (folder / "r.csv").read_bytes()


def explained(path: Path, out: Path, *words: str) -> bytes:
    """Return the csv file that the command writes for a file of rows."""
    assert main(["explain", "credit", str(path), *ASK, *words, "--out", str(out)]) == 0
    return out.read_bytes()


def quoted(text: str) -> str:
    """Return a csv text with quotes around every cell."""
    return "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split("\n"))


DRESSES: dict[str, Callable[[str], bytes]] = {
    "UTF-16 and semicolons": lambda text: text.replace(",", ";").encode("utf-16"),
    "UTF-16 BE, CRLF, no last line end": lambda text: (
        text.rstrip("\n").replace("\n", "\r\n").encode("utf-16-be")
    ),
    "quotes": lambda text: b"\xef\xbb\xbf" + quoted(text.rstrip("\n")).encode("utf-8"),
    "separators at the end": lambda text: text.replace("\n", ",,\n").encode(),
    "cells of lines": lambda text: "".join(
        f'{line},"a ""b"",\r\n{number}"\n' if number else f'{line},"no, te\n"\n'
        for number, line in enumerate(text.splitlines())
    ).encode(),
    "a long cell": lambda text: text.replace("\n", f",{'x' * 200_000}\n").encode(),
}


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_a_csv_file_in_another_dress_has_the_same_result(
    dress: Callable[[str], bytes],
    at_desk: Path,
    rows: pd.DataFrame,
    expected: bytes,
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(dress(rows.to_csv(index=False)))
    assert explained(path, tmp_path / "r.csv") == expected


def test_a_folder_of_unlike_files_has_the_result_of_one(
    at_desk: Path,
    rows: pd.DataFrame,
    expected: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    small = rows.head(2).astype({"age": "int8", "savings": "float32", "home": "category"})
    small.to_parquet(folder / "part-0.parquet", index=False)
    rows.head(0).to_parquet(folder / "part-1.parquet", index=False)
    rows[2:4][rows.columns[::-1]].assign(note="x").to_parquet(folder / "part-2.parquet")
    wide = {"age": pa.uint16(), "school": pa.large_string(), "savings": pa.float64()}
    table = pa.Table.from_pandas(rows[4:], preserve_index=False)
    fields = [field.with_type(wide.get(field.name, field.type)) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields)), folder / "part-3.parquet")
    (folder / "_SUCCESS").touch()
    assert explained(folder, tmp_path / "r.csv") == expected
    shown = capsys.readouterr().err
    assert "4 Parquet files of rows were read as one table." in shown
    assert "were left out: note." in shown.replace("__index_level_0__, ", "")


def test_a_model_is_fitted_on_a_folder(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = pd.read_csv("people.csv")
    (tmp_path / "people").mkdir()
    people[:100].to_parquet(tmp_path / "people" / "0.parquet", index=False)
    people[100:].astype({"age": "int16"}).to_parquet(tmp_path / "people" / "1.parquet", index=False)
    assert main(["schema", "people.csv", "--label", "decision"]) == 0
    whole = capsys.readouterr().out
    assert main(["schema", str(tmp_path / "people"), "--label", "decision"]) == 0
    assert capsys.readouterr().out == whole


def spoilt(text: str, row: int, old: str, new: str) -> str:
    """Return a csv text with something else in one of its rows, the first of them 0."""
    lines = text.splitlines(keepends=True)
    assert old in lines[row + 1]
    lines[row + 1] = lines[row + 1].replace(old, new)
    return "".join(lines)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: spoilt(text, 3, ",", ",,"), "rows.csv', line 5: 9 cells, where the header"),
        (lambda text: text + "31,2,3,nine,owns\n", "feature 'school': row 6 (the first is 0) has"),
        (lambda text: text + "31,two,3,none,owns\n", "'savings': row 6 (the first is 0) is 'two'"),
    ],
)
def test_a_broken_csv_file_is_refused_by_its_place(
    spoil: Callable[[str], str],
    words: str,
    at_desk: Path,
    rows: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "rows.csv"
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes(spoil(rows.to_csv(index=False)).encode(encoding))
        out = tmp_path / "r.csv"
        assert main(["explain", "credit", str(path), *ASK, "--out", str(out)]) == 2
        assert words in capsys.readouterr().err.splitlines()[-1]
        assert {each.name for each in tmp_path.iterdir()} == {"rows.csv"}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda file: pd.read_parquet(file).astype({"debt": str}).to_parquet(file),
            "part-1.parquet: feature 'debt': the file holds values of type",
        ),
        (
            lambda file: pd.read_parquet(file).replace("rents", "squats").to_parquet(file),
            "part-1.parquet: feature 'home': row ",
        ),
    ],
)
def test_the_file_of_a_folder_that_is_wrong_is_named(
    spoil: Callable[[Path], Any],
    words: str,
    at_desk: Path,
    rows: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    for number in range(3):
        rows[2 * number :][:2].assign(home="rents").to_parquet(folder / f"part-{number}.parquet")
    spoil(folder / "part-1.parquet")
    out = tmp_path / "r.csv"
    assert main(["explain", "credit", str(folder), *ASK, "--out", str(out)]) == 2
    assert words in capsys.readouterr().err.splitlines()[-1]
    assert {each.name for each in tmp_path.iterdir()} == {"rows"}


def results(path: Path, folder: Path) -> dict[str, Any]:
    """Return what the command writes for rows with an id, by the name of the file."""
    words = ["explain", "credit", str(path), *ASK, "--id", "customer"]
    for suffix in ("csv", "parquet", "json"):
        kind = "csv" if suffix == "csv" else "parquet"
        out = ["--out", str(folder / f"r.{suffix}"), "--outcomes", str(folder / f"o.{kind}")]
        assert main([*words, *out]) == 0
    as_text = pacsv.ConvertOptions(column_types={"customer": pa.string()}, strings_can_be_null=True)
    tables: dict[str, Any] = {}
    for name in ("r", "o"):
        tables[f"{name}.csv"] = pacsv.read_csv(folder / f"{name}.csv", convert_options=as_text)
        tables[f"{name}.parquet"] = pq.read_table(folder / f"{name}.parquet")
    tables["r.json"] = Explanations.from_json((folder / "r.json").read_text("utf-8"))
    return tables


def test_ids_of_a_csv_file_keep_their_text_in_every_file(
    at_desk: Path, rows: pd.DataFrame, tmp_path: Path
) -> None:
    rows.assign(customer=IDS).to_csv(tmp_path / "rows.csv", index=False)
    tables = results(tmp_path / "rows.csv", tmp_path)
    wanted = [name or None for name in IDS]
    for name in ("r.csv", "r.parquet", "o.csv", "o.parquet"):
        table = tables[name]
        assert table.column_names[:2] == ["customer", "row"]
        assert table["customer"].to_pylist() == [wanted[row] for row in table["row"].to_pylist()]
        assert table["customer"].type == pa.string()
    assert tables["o.csv"]["row"].to_pylist() == list(range(6))
    labels = tables["r.json"].layout.take(range(6)).index
    assert [None if pd.isna(label) else label for label in labels] == wanted
    record = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert record["layout"]["index"]["labels"] == wanted


def test_whole_numbers_of_any_length_stay_ids(
    at_desk: Path, rows: pd.DataFrame, tmp_path: Path
) -> None:
    table = pa.Table.from_pandas(rows, preserve_index=False)
    pq.write_table(table.append_column("customer", pa.array(BIG_IDS)), tmp_path / "rows.parquet")
    tables = results(tmp_path / "rows.parquet", tmp_path)
    for name in ("r.parquet", "o.parquet"):
        written = tables[name]["customer"]
        assert written.type == pa.int64()
        assert written.to_pylist() == [BIG_IDS[row] for row in tables[name]["row"].to_pylist()]
    texts = [None if name is None else str(name) for name in BIG_IDS]
    assert tables["o.csv"]["customer"].to_pylist() == texts
    record = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert record["layout"]["index"]["labels"] == BIG_IDS


def test_messages_name_the_id_beside_the_row(
    at_desk: Path, rows: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = rows.assign(customer=[f"C{row:03}" for row in range(6)])
    named.to_csv(tmp_path / "rows.csv", index=False)
    never = tmp_path / "never.txt"
    never.write_text("cf.savings == x.savings and cf.debt == x.debt and cf.school == x.school")
    words = ["explain", "credit", str(tmp_path / "rows.csv"), *ASK, "--id", "customer"]
    out = ["--out", str(tmp_path / "r.csv")]
    assert main([*words, *out, "--rules", str(never)]) == 1
    assert "Row C000: No change was found for which the model says yes." in capsys.readouterr().err
    wrong = named.astype({"savings": str}).assign(savings=["1", "2", "3", "4", "many", "6"])
    wrong.to_csv(tmp_path / "rows.csv", index=False)
    assert main([*words, *out]) == 2
    message = capsys.readouterr().err
    assert "row 4 (the first is 0, customer is 'C004') is 'many'; expected a number" in message


@pytest.mark.parametrize("n_rows", [2, 6])
def test_a_terminal_shows_the_id_beside_the_row(
    n_rows: int,
    at_desk: Path,
    rows: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = rows.assign(customer=[f"C{row:03}" for row in range(6)])
    named.head(n_rows).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr("proce.cli.explaining.output.is_terminal", lambda: True)
    words = ["explain", "credit", str(tmp_path / "rows.csv"), *ASK, "--id", "customer"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert [f"C{row:03}" in shown for row in range(6)] == [row < n_rows for row in range(6)]
