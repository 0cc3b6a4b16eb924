"""A frame has the columns of a schema, and perhaps others; and perhaps no rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from proce.errors import SchemaError
from proce.schema import Codec, Schema


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_the_schema_does_not_name_are_ignored(library):
    training = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.5]})
    codec = Codec.fit(Schema.infer(training), training)
    frame = library({"id": ["x", "y"], "b": [2.5, 1.0], "when": ["now", "then"], "a": [2, 1]})
    assert codec.raw_of_frame(frame).tolist() == [[2, 2.5], [1, 1]]
    assert np.array_equal(Codec.fit(codec.schema, frame).encode(frame), codec.encode(frame))
    assert Codec.fit(codec.schema, frame).layout.columns == ("b", "a")


def test_a_column_that_is_ignored_may_have_any_name():
    training = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.5]})
    codec = Codec.fit(Schema.infer(training), training)
    assert codec.encode(training.assign(c=1).rename(columns={"c": 7})).shape == (2, 2)


def test_a_frame_without_rows_is_read_but_teaches_nothing():
    training = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    codec = Codec.fit(Schema.infer(training), training)
    for empty in (
        training.head(0),
        pd.DataFrame(columns=["a", "b"]),
        pl.DataFrame(training).head(0),
    ):
        assert codec.encode(empty).shape == (0, 2)
        for learn in (lambda frame: Codec.fit(codec.schema, frame), Schema.infer):
            with pytest.raises(SchemaError, match="has no rows; expected at least one"):
                learn(empty)
