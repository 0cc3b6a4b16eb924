"""The comparison with other packages holds what its record says, and nothing else."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    table = importlib.import_module("benchmarks.packages.table")
    page = table.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- packages -->") == page.count("<!-- end -->") == 1
    emptied = re.sub(r"(<!-- packages -->\n).*?(<!-- end -->)", r"\1\2", page, flags=re.DOTALL)
    assert len(emptied) < len(page)
    assert table.fill(emptied, table.RECORD) == page
