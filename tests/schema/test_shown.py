"""Frames of raw values: entries that give them back, and columns that can hold them."""

import numpy as np
import pandas as pd

from proce.schema import Codec, Continuous, Layout, Schema
from proce.schema.round_trip import converted, exact_entries

SCHEMA = Schema([Continuous("whole", step=1), Continuous("real")])
TRAINING = pd.DataFrame({"whole": [0, 9], "real": [0.1, 0.8]})
CODEC = Codec.fit(SCHEMA, TRAINING)


def test_entries_are_found_that_give_more_values_back_to_the_last_bit() -> None:
    draw = np.random.default_rng(0).random(500)
    raw = np.stack([np.full_like(draw, np.nan), 0.4 + 0.4 * draw], axis=-1)
    plain, exact = CODEC.to_unit(raw), exact_entries(CODEC, raw)
    missed, still_missed = (
        int((CODEC.to_raw(entries) != raw)[:, 1].sum()) for entries in (plain, exact)
    )
    assert still_missed < missed  # some have no such entry
    assert np.isnan(exact[:, 0]).all()
    assert (np.abs(plain - exact)[:, 1] < 1e-12).all()


def test_a_column_keeps_the_dtype_that_holds_its_values_and_becomes_doubles_otherwise() -> None:
    layout = Layout.of(TRAINING.astype({"whole": "int32", "real": "float32"}))
    halves = pd.DataFrame({"whole": [1.5, 2.0], "real": [0.25, np.nan]})
    told = converted(CODEC, halves, layout)
    assert told.dtypes.tolist() == [np.dtype("float64"), np.dtype("float32")]
    assert told["whole"].tolist() == [1.5, 2.0]
    wholes = pd.DataFrame({"whole": [1.0, 2.0], "real": [0.1, np.nan]})
    told = converted(CODEC, wholes, layout)
    assert told.dtypes.tolist() == [np.dtype("int32"), np.dtype("float64")]
    assert told["real"].tolist()[0] == 0.1
