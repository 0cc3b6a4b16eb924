"""The page of results holds what its file says, and nothing else."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_committed_summary() -> None:
    spec = importlib.util.spec_from_file_location("results", ROOT / "benchmarks" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    results = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(results)
    page = results.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- end -->") == 10
    emptied = re.sub(r"(<!-- \w+ -->\n).*?(<!-- end -->)", r"\1\2", page, flags=re.DOTALL)
    assert len(emptied) < len(page) / 2
    assert results.fill(emptied, results.SUMMARY) == page
