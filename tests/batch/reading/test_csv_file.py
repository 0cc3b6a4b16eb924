"""csv files in every dress: encodings, separators, quotes, line ends, and what is broken."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.batch.reading.csv_dialect import dialect_of, records
from proce.batch.reading.csv_file import CsvFile
from proce.errors import FileError

TEXT = "name,age,job\nZoë,31,office\nJosé,44,field\n"
MARK_LE, MARK_BE = b"\xff\xfe", b"\xfe\xff"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.csv"


def cells(path: Path, separator: str | None = None) -> list[list[str]]:
    """Return the header and the rows of a csv file as its cells."""
    file = CsvFile.open(path, separator)
    rows = [row for _, batch in file.batches(file.columns, 10) for row in batch.to_pylist()]
    return [list(file.columns), *(list(row.values()) for row in rows)]


def complaint(path: Path, content: bytes, separator: str | None = None) -> str:
    """Return what is said of a file that cannot be read, from the file's name on."""
    path.write_bytes(content)
    with pytest.raises(FileError) as error:
        cells(path, separator)
    return str(error.value).removeprefix(f"'{path}'")


@pytest.mark.parametrize(
    ("encoding", "mark", "words"),
    [
        ("utf-8", b"", None),
        ("utf-8-sig", b"", None),
        ("utf-16-le", MARK_LE, "UTF-16"),
        ("utf-16-be", MARK_BE, "UTF-16"),
        ("utf-16-le", b"", "UTF-16"),
        ("utf-16-be", b"", "UTF-16"),
        ("utf-32", b"", "UTF-32"),
        ("latin-1", b"", "Latin-1"),
    ],
)
def test_letters_are_read_whatever_the_encoding(
    path: Path, encoding: str, mark: bytes, words: str | None
) -> None:
    path.write_bytes(mark + TEXT.encode(encoding))
    expected = [["name", "age", "job"], ["Zoë", "31", "office"], ["José", "44", "field"]]
    assert cells(path) == expected
    notes = CsvFile.open(path).notes
    assert [words in note for note in notes if words] == ([True] if words else [])
    assert bool(notes) == (words is not None)
    assert CsvFile.open(path).table().column("name").to_pylist() == ["Zoë", "José"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_letters_beyond_ascii_do_not_hide_utf_16(path: Path, encoding: str) -> None:
    path.write_bytes("имя,возраст\nЗоя,31\nĀnna,44\n".encode(encoding))
    assert cells(path) == [["имя", "возраст"], ["Зоя", "31"], ["Ānna", "44"]]


def test_latin_1_is_noticed_beyond_the_first_block(path: Path) -> None:
    path.write_bytes(TEXT.encode() + b"x,1,office\n" * 200_000 + "Inés,1,field\n".encode("latin-1"))
    assert cells(path)[-1] == ["Inés", "1", "field"]
    assert "about byte 2,200,045" in CsvFile.open(path).notes[0]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(path: Path, separator: str) -> None:
    path.write_text(TEXT.replace(",", separator))
    assert dialect_of(path).separator == separator
    assert cells(path)[1:] == [["Zoë", "31", "office"], ["José", "44", "field"]]


def test_a_separator_can_be_given(path: Path) -> None:
    path.write_text("name:age\nAnn:31\n")
    assert cells(path, ":") == [["name", "age"], ["Ann", "31"]]
    path.write_text("name\tage\nAnn\t31\n")
    assert cells(path, "\\t") == [["name", "age"], ["Ann", "31"]]
    with pytest.raises(FileError, match="single sign"):
        CsvFile.open(path, "::")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'name;age\n"Doe, Jane, Dr";31\n', [["name", "age"], ["Doe, Jane, Dr", "31"]]),
        (b'a,b\n"x,y",2\n', [["a", "b"], ["x,y", "2"]]),
        (b'a,b\n"Ann\nLee",31\nBob,44\n', [["a", "b"], ["Ann\nLee", "31"], ["Bob", "44"]]),
        (b'a,b\n"say ""hi""",2\n', [["a", "b"], ['say "hi"', "2"]]),
        (b'a,b\n5" pipe,2\n', [["a", "b"], ['5" pipe', "2"]]),
        (b'"a, x","b ""q"""\n1,2\n', [["a, x", 'b "q"'], ["1", "2"]]),
        (b'"a\nx",b\n1,2\n', [["a\nx", "b"], ["1", "2"]]),
        (b'\xef\xbb\xbf"a",b\n1,2\n', [["a", "b"], ["1", "2"]]),
        (b"a,b\r\n1,2\r\n3,4\r\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        (b"a,b\r1,2\r3,4\r", [["a", "b"], ["1", "2"], ["3", "4"]]),
        (b'a,b\r\n"x\r\ny",2\r\n', [["a", "b"], ["x\r\ny", "2"]]),
        (b"a,b\n1,2", [["a", "b"], ["1", "2"]]),
        (b"a,b\n1,2\n\n3,4\n\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        (b"\n\na,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        (b'a,b\n"",\n', [["a", "b"], ["", ""]]),
        (b"a,b\n", [["a", "b"]]),
        (b"a,b", [["a", "b"]]),
        (b"\n\na;b", [["a", "b"]]),
        ("a,b".encode("utf-16"), [["a", "b"]]),
        ("a;b\nx\u2028y;1\nu\x85v;2\n".encode(), [["a", "b"], ["x\u2028y", "1"], ["u\x85v", "2"]]),
        (b"[a],{b}\n1,2\n", [["[a]", "{b}"], ["1", "2"]]),
        (b"a,b\nNA, 007 \n", [["a", "b"], ["NA", " 007 "]]),
    ],
)
def test_cells_are_read_as_they_are_meant(
    path: Path, content: bytes, expected: list[list[str]]
) -> None:
    path.write_bytes(content)
    assert cells(path) == expected


def test_separators_at_the_end_of_lines_make_no_columns(path: Path) -> None:
    """Spreadsheets write columns that once held something."""
    for ends in (",", ",,"):
        path.write_text(f"a,b{ends}\n1,2{ends}\n")
        assert cells(path) == [["a", "b"], ["1", "2"]]
        file = CsvFile.open(path)
        assert file.table().column_names == ["a", "b"]
        assert file.notes == (
            f"Columns without a name at the end of the lines were left out: {len(ends)} of"
            " people.csv.",
        )
    path.write_text(",a\n0,1\n")
    assert cells(path) == [["", "a"], ["0", "1"]]


def test_long_cells_are_read(path: Path) -> None:
    """A cell longer than the blocks of the search for the separator, and many such cells."""
    cell = "x" * 1_500_000
    path.write_text(f"a;b\n{cell};1\n" + "y;2\n" * 3 + f'"{cell}\n;";3\n')
    assert cells(path) == [
        ["a", "b"],
        [cell, "1"],
        *[["y", "2"]] * 3,
        [f"{cell}\n;", "3"],
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n1,2,3\n", ", line 3: 3 cells, where the header has 2. Put quotes around"),
        (b"a,b\r\n1,2\r\n\r\n3\r\n", ", line 4: 1 cell, where the header has 2. Complete the line"),
        (b'a,b\n"x\ny\nz",2\n\n3,4,5\n', ", line 6: 3 cells"),
        (b"a;b\n1;2\n3;4\n5;6;7\n", ", line 4: 3 cells, where the header has 2"),
        (b"a,b\n1,2,\n", ", line 2: 3 cells"),
        (b'a,b\n1,2\n3,"x\n4,5\n6,7\n', ", line 3: a quote is opened in this record and never"),
        (b'a,b\n1,2\n"x,3\n4,5\n', ", line 3: a quote is opened"),
        (b"a,b\n1,\0\n", " is not csv: it is not text, with a NUL at about byte 6."),
        (b"a,b\n\0\0\n", " is not csv: it is not text, with a NUL at about byte 4."),
        ("a,b\n1,\0\n".encode("utf-16-le"), " is not csv: it is not text"),
        (b'{\n "nodes": [1,\n 2]}', " is not csv: it is JSON; write the rows as csv or Parquet."),
        (b'[{"a": 1}]', " is not csv: it is JSON"),
        (b"\xef\xbb\xbf", " is empty; expected a header and rows."),
        (b"\n\n", " is empty; expected a header and rows."),
        ("a,b\n1,2\n".encode("utf-16") + b"3", " begins as UTF-16 and goes on as something else"),
    ],
)
def test_what_is_broken_is_named_by_its_place(path: Path, content: bytes, words: str) -> None:
    assert complaint(path, content).startswith(words)


def test_a_line_is_named_far_below_too(path: Path) -> None:
    text = "a,b\n" + '"x\ny",2\n' * 100_000 + "1,2,3\n"
    assert complaint(path, text.encode()).startswith(", line 200002: 3 cells")
    assert complaint(path, text.encode("utf-16")).startswith(", line 200002: 3 cells")


def test_a_record_that_is_far_too_long_is_named(path: Path) -> None:
    content = b"a,b\n1,2\n" + b"x" * 20_000_000 + b",3\n"
    assert complaint(path, content).startswith(", line 3: a record is longer than 4 MB.")


@given(body=st.text(st.sampled_from('ab,,"\n\né\r'), max_size=16))
def test_cells_are_those_that_python_reads(
    body: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A file is refused only for a wrong number of cells, or a quote that is never closed."""
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_text(f"h,k\n{body}", newline="")
    read = [record for record in csv.reader(io.StringIO(f"h,k\n{body}", newline="")) if record]
    try:
        found = cells(path, ",")
    except FileError:
        assert any(len(record) != 2 for record in read) or body.count('"') % 2
    else:
        assert found == read


LETTERS = st.text(st.sampled_from('ab",\n é'), max_size=6)


@given(table=st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=5))
def test_records_are_told_apart_as_they_were_written(table: list[tuple[str, str]]) -> None:
    """Every record is quoted whole, so its lines are those of its own line ends."""
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in record) for record in table]
    found = list(records(io.StringIO("\n".join(quoted)), ","))
    assert [record.n_cells for record in found] == [2] * len(table)
    lines = [1]
    for text in quoted[:-1]:
        lines.append(lines[-1] + text.count("\n") + 1)
    assert [record.line for record in found] == lines
    assert [record.n_characters for record in found] == [len(text) for text in quoted]
    assert all(record.is_closed for record in found)
