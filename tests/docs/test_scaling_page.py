"""The page of how it grows holds what its file says, and laws are judged by unseen points."""

import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


class Parts(NamedTuple):
    """The modules of the benchmark."""

    laws: ModuleType
    page: ModuleType
    records: ModuleType
    table: ModuleType


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from sizes import laws, page, records, table  # type: ignore[import-not-found]

    return Parts(laws, page, records, table)


def test_the_tables_are_those_of_the_committed_points(parts: Parts) -> None:
    text = parts.page.PAGE.read_text(encoding="utf-8")
    known = parts.records.read(parts.records.RECORDS)[1]
    names = list(parts.page.tables(known))
    for name in names:
        assert text.count(f"<!-- {name} -->") == 1
    own = rf"(<!-- (?:{'|'.join(names)}) -->\n).*?(<!-- end -->)"
    emptied = re.sub(own, r"\1\2", text, flags=re.DOTALL)
    assert len(emptied) < len(text) - 2_000
    assert parts.page.fill(emptied, known) == text


def test_every_committed_point_belongs_to_a_sweep(parts: Parts) -> None:
    head, known = parts.records.read(parts.records.RECORDS)
    assert set(known) <= set(parts.records.points())
    assert {"command", "commit", "versions", "processor", "cores"} == set(head)


def test_the_cost_model_beside_the_points_is_that_of_the_how_to(parts: Parts) -> None:
    text = (ROOT / "docs" / "howto" / "batches.md").read_text(encoding="utf-8")
    assert "0.57 + 0.20 · columns + candidates · (1.1 + 0.044 · columns) / 1000" in text
    assert parts.page.cost_model(20, 3_500) == pytest.approx(4.57 + 6.93)


def test_a_law_finds_the_constants_of_its_points(parts: Parts) -> None:
    sizes = np.array([0, 10, 100, 1_000])
    law = parts.laws.Law.fit(sizes, 3 + 0.5 * sizes + 0.002 * sizes**2)
    assert (law.fixed, law.linear, law.square) == pytest.approx((3, 0.5, 0.002))
    assert law.formula("n") == "3.0 + 0.50 · n + 0.0020 · n²"
    assert law.left_out == pytest.approx([0, 0, 0, 0], abs=1e-9)


def test_what_does_not_grow_is_a_constant(parts: Parts) -> None:
    law = parts.laws.Law.fit([1, 10, 100], [12.0, 12.0, 12.0])
    assert law.formula("n") == "12"
    assert law.judgement == "0% (+0% to +0%)"


def test_a_point_that_is_left_out_is_foretold_by_the_others(parts: Parts) -> None:
    law = parts.laws.Law.fit([1, 2, 3, 4], [1.0, 2.0, 3.0, 8.0])
    assert law.left_out[-1] == pytest.approx(-0.5)  # four by the others


def test_a_table_has_the_shape_that_is_asked_for(parts: Parts) -> None:
    shape = parts.table.Shape(columns=20, levels=7, rules=40, edges=60)
    table = parts.table.Table(shape)
    frame, label = table.people(500, seed=1)
    assert frame.shape == (500, 20)
    assert (len(table.graph), len(table.rules)) == (60, 40)
    assert len(set(table.rules)) == 40
    assert [name for name in frame if name.startswith("level")] == [
        f"level_{place}" for place in (4, 9, 14, 19)
    ]
    assert frame["level_4"].nunique() <= 7
    assert 0.2 < label.mean() < 0.6


def test_edges_can_spare_the_levels(parts: Parts) -> None:
    table = parts.table.Table(parts.table.Shape(levels=50, level_edges=False))
    assert len(table.graph) == 30
    assert all(name.startswith("number") for edge in table.graph for name in edge)


def test_points_are_written_one_by_one_and_read_back(parts: Parts, tmp_path: Path) -> None:
    records, path = parts.records, tmp_path / "points.csv"
    records.begin(path)
    first, second = records.points()[:2]
    values = dict.fromkeys(records.MEASURES, 1.5)
    records.append(path, first, values)
    records.append(path, second, {})  # which took too long
    head, known = records.read(path)
    assert head == records.origin()
    assert list(known) == [first, second]
    assert known[first] == values
    assert np.isnan(known[second]["row_ms"])
