"""A result has the types of the file that was explained, where all that it can hold fits."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proce import ProCE
from proce.batch.parts.parts import Parts
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.batch.tables import table_of
from proce.schema import Categorical, Continuous, Ordinal, Schema

from ... import worlds
from ..conftest import job_of, rows_of

CATEGORY = pa.dictionary(pa.int8(), pa.string())
ORDERED = pa.dictionary(pa.int8(), pa.string(), ordered=True)


def table(n_rows: int = 21, **types: pa.DataType) -> pa.Table:
    """Return people with some columns in other types."""
    whole = pa.Table.from_pandas(worlds.people(n_rows, seed=1), preserve_index=False)
    types = {"school": pa.string(), "home": pa.string(), **types}
    return whole.cast(pa.schema([f.with_type(types.get(f.name, f.type)) for f in whole.schema]))


def rows_in(explainer: ProCE, rows: pa.Table, path: Path) -> Rows:
    pq.write_table(rows, path)
    return rows_of(explainer, path)


def explained(explainer: ProCE, rows: Rows, out: Path) -> pa.Table:
    """Return what is written of some rows, explained in chunks of 8."""
    with Parts.open(out, {}, types=rows.result_types) as parts:
        job_of(explainer, rows).keep(parts)
        parts.put_together(rows.count)
    return pq.read_table(out)


@pytest.mark.parametrize(
    "types",
    [
        {"age": pa.int8(), "savings": pa.uint8(), "debt": pa.int16()},
        {"age": pa.float32(), "savings": pa.float64(), "debt": pa.uint64()},
        {"school": CATEGORY, "home": pa.large_string()},
    ],
)
def test_a_result_has_the_types_of_the_file_and_the_same_values(
    banker: ProCE, tmp_path: Path, types: dict[str, pa.DataType]
) -> None:
    rows = rows_in(banker, table(**types), tmp_path / "rows.parquet")
    result = explained(banker, rows, tmp_path / "result.parquet")
    assert {name: result.schema.field(name).type for name in types} == types
    usual = rows_in(banker, table(), tmp_path / "usual.parquet")
    expected = explained(banker, usual, tmp_path / "expected.parquet")
    assert result.cast(expected.schema).equals(expected)
    assert len(result)


def test_a_type_that_cannot_hold_what_may_be_advised_is_widened(tmp_path: Path) -> None:
    """Savings may rise to 1,000 here, whatever these rows hold, and half a year is no integer."""
    schema = worlds.SCHEMA.edit("savings", range=(0, 1_000))
    seen = worlds.people(200)
    explainer = ProCE(worlds.bank, schema, settings=worlds.TINY)
    explainer.fit(seen.assign(age=seen["age"] + 0.5))
    kinds = {"savings": pa.int8(), "debt": pa.int8(), "age": pa.int8()}
    rows = rows_in(explainer, table(**kinds), tmp_path / "rows.parquet")
    assert {name: own.kind for name, own in rows.result_types.items()} == {
        "debt": pa.int8(),
        "school": pa.string(),
        "home": pa.string(),
    }
    result = explained(explainer, rows, tmp_path / "result.parquet")
    own = {name: result.schema.field(name).type for name in kinds}
    assert own == {"savings": pa.int64(), "debt": pa.int8(), "age": pa.float64()}


def test_numbers_in_32_bits_are_advised_in_32_bits(tmp_path: Path) -> None:
    """The model says of what is written what is told, to the last bit."""
    seen = worlds.people(200)
    explainer = ProCE(worlds.bank, settings=worlds.TINY)
    explainer.fit(seen.assign(savings=seen["savings"] * 1.01 + 0.1))
    some = table().set_column(1, "savings", pa.array(np.arange(21) * 1.01 + 0.1, pa.float32()))
    rows = rows_in(explainer, some, tmp_path / "rows.parquet")
    result = explained(explainer, rows, tmp_path / "result.parquet")
    assert result.schema.field("savings").type == pa.float32()
    at_once = Rows.checked(rows.source, TypedColumns.of(explainer.fitted_.codec))
    (whole,) = job_of(explainer, at_once).explanations()
    assert result.equals(table_of(whole))
    told = np.concatenate([item.probabilities for item in whole])
    assert len(told)
    assert np.array_equal(worlds.bank(result.to_pandas().astype({"savings": float}))[:, 1], told)


def test_categories_keep_the_order_of_the_levels_and_those_that_are_not_used(
    tmp_path: Path,
) -> None:
    explainer = ProCE(worlds.bank, worlds.SCHEMA, settings=worlds.TINY).fit(worlds.people(200))
    kinds = {"school": ORDERED, "home": ORDERED}
    rows = rows_in(explainer, table(**kinds), tmp_path / "rows.parquet")
    explained(explainer, rows, tmp_path / "result.parquet")
    frame = pd.read_parquet(tmp_path / "result.parquet")
    assert frame["school"].dtype == pd.CategoricalDtype(["none", "basic", "high"], ordered=True)
    assert frame["home"].dtype == pd.CategoricalDtype(["rents", "owns"])  # which has no order


def test_levels_that_are_numbers_or_flags_keep_the_type_of_the_file(tmp_path: Path) -> None:
    schema = Schema(
        [
            Continuous("savings", (0, 100), step=1),
            Ordinal("grade", (1, 2, 300)),
            Categorical("member", (False, True)),
            Categorical("plan", ("x", "y")),
        ]
    )
    draw = np.random.default_rng(0)
    seen = pd.DataFrame(
        {
            "savings": draw.integers(0, 100, 100),
            "grade": draw.choice([1, 2, 300], 100),
            "member": draw.random(100) > 0.5,
            "plan": draw.choice(["x", "y"], 100),
        }
    )

    def model(frame: pd.DataFrame) -> Any:
        return worlds.logistic((frame["savings"] - 50) / 10)

    explainer = ProCE(model, schema, settings=worlds.TINY).fit(seen)
    some = pa.Table.from_pandas(seen.head(9), preserve_index=False)
    for kind, expected in ((pa.int16(), pa.int16()), (pa.float32(), pa.float32())):
        own = some.set_column(1, "grade", some["grade"].cast(kind))
        rows = rows_in(explainer, own, tmp_path / "rows.parquet")
        result = explained(explainer, rows, tmp_path / "result.parquet")
        assert result.schema.field("grade").type == expected
        assert result.schema.field("member").type == pa.bool_()


def test_files_of_a_folder_that_differ_have_the_type_that_holds_both(
    banker: ProCE, tmp_path: Path
) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(table(age=pa.int8(), debt=pa.int32(), home=CATEGORY), folder / "1.parquet")
    pq.write_table(table(age=pa.int16(), debt=pa.float64()), folder / "2.parquet")
    rows = Rows.checked(Source.open(folder), TypedColumns.of(banker.fitted_.codec), chunk_rows=8)
    result = explained(banker, rows, tmp_path / "result.parquet")
    kinds = [result.schema.field(name).type for name in ("age", "debt", "home")]
    assert kinds == [pa.int16(), pa.int64(), pa.string()]


def test_a_csv_file_has_no_types(banker: ProCE, tmp_path: Path) -> None:
    worlds.people(5).to_csv(tmp_path / "rows.csv", index=False)
    rows = Rows.checked(Source.open(tmp_path / "rows.csv"), TypedColumns.of(banker.fitted_.codec))
    assert rows.result_types == {}
