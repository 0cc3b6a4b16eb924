"""How training rows lie: quantiles and shares, by hand; and in the picture of the changes."""

import pandas as pd
import pytest

from proce.explanation.record.context import N_QUANTILES, spread_of
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

from .. import samples
from ..samples import Way, explanation, explanations

SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("home", ("rents", "owns")),
    ]
)


def test_quantiles_of_numbers_are_values_of_rows_and_levels_have_shares() -> None:
    frame = pd.DataFrame(
        {
            "age": range(101),
            "school": ["none"] * 50 + ["high"] * 51,
            "home": ["owns"] * 100 + ["rents"],
        }
    )
    codec = Codec.fit(SCHEMA, frame)
    spread = spread_of(codec, codec.encode(frame))
    assert spread["age"] == tuple(range(0, 101, 5))
    assert spread["school"] == pytest.approx((50 / 101, 0, 51 / 101))
    assert spread["home"] == pytest.approx((1 / 101, 100 / 101))


def test_missing_cells_do_not_count() -> None:
    frame = pd.DataFrame(
        {
            "age": [1.0, None, 3.0, None],
            "school": ["none", None, "high", "high"],
            "home": ["owns", "rents", None, None],
        }
    )
    codec = Codec.fit(SCHEMA, frame)
    spread = spread_of(codec, codec.encode(frame))
    assert (spread["age"][0], spread["age"][-1], len(spread["age"])) == (1, 3, N_QUANTILES)
    assert spread["school"] == pytest.approx((1 / 3, 0, 2 / 3))
    assert spread["home"] == (0.5, 0.5)


def test_the_changes_are_drawn_on_the_spread_of_the_training_rows() -> None:
    way: Way = {"savings": ("action", 60_000), "job": ("action", "office")}
    spread = {
        "savings": tuple(range(0, 2_100, 100)),  # nine of ten: 100 to 1,900, half: 500 to 1,500
        "job": (0.25, 0.75, 0.0),
    }
    ax = explanations(explanation(way, shared=samples.context(spread=spread))).plot_changes()
    ends = [sorted({*each.get_paths()[0].vertices[:, 0]}) for each in ax.collections]
    assert [(each[0], each[-1]) for each in ends] == [
        pytest.approx((100 / 90_000, 1_900 / 90_000)),
        pytest.approx((500 / 90_000, 1_500 / 90_000)),
    ]
    assert {'"service" (25%)', '"office" (75%)'} <= {text.get_text() for text in ax.texts}
    legend = ax.get_xlabel().replace("\n", " ")
    assert "inner band: the middle half, outer: nine of ten" in legend
    assert "in brackets: their share" in legend
    without = explanations(explanation(way)).plot_changes()
    assert not without.collections
    assert "dark" not in without.get_xlabel()
