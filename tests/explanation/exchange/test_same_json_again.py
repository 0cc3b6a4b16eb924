"""Whatever numbers a call was given, its JSON is read and written again as the same text."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.errors import SchemaError
from proce.explanation import Diagnosis, Explanations, Outcome
from proce.explanation.record.context import Provenance

from .. import samples
from ..samples import everything, explanation, explanations

WHOLE = st.integers(-(2**53), 2**53) | st.integers(-(10**60), 10**60)
PARTS = st.floats(allow_nan=False, allow_infinity=False)
KINDS = (np.int8, np.int64, np.uint16, np.float32, np.float64, np.bool_)
OF_NUMPY = st.sampled_from(KINDS).flatmap(lambda kind: st.integers(0, 100).map(kind))
PLAIN = st.none() | st.booleans() | WHOLE | PARTS | OF_NUMPY | st.text(max_size=9)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
SHARES = st.sampled_from([0, 1, 0.5, np.int64(1), np.float32(0.25)])
EFFORTS = st.integers(1, 10) | st.floats(0.1, 10) | st.sampled_from([np.int64(2), np.float32(2)])
LIMITS = st.integers(0, 10**6) | st.floats(0, 1e6)


def written(options: Any = None, **context: Any) -> Explanations:
    """Return a result of a call with the given options, and what they led to."""
    result = everything(shared=samples.context(**context))
    own = {**vars(result.provenance), "options": options or {}, "settings": options or {}}
    return Explanations(result.rows, result.layout, Provenance(**own))


def assert_same_again(result: Explanations) -> None:
    text = result.to_json()
    assert Explanations.from_json(text).to_json() == text


@settings(max_examples=30)
@given(options=st.dictionaries(st.text(max_size=8), VALUES, max_size=4))
def test_options_and_settings_of_any_kind(options: dict[str, Any]) -> None:
    assert_same_again(written(options))


@settings(max_examples=30)
@given(effort=EFFORTS, needed=st.tuples(SHARES, SHARES), robust=SHARES | st.none())
def test_whole_numbers_where_parts_of_them_are_possible(
    effort: Any, needed: tuple[Any, Any], robust: Any
) -> None:
    assert_same_again(
        written(
            effort={"savings": effort},
            needed=needed,
            threshold=needed[0],
            robust=robust,
            n_models=3,
        )
    )


@settings(max_examples=30)
@given(low=LIMITS | st.just(-math.inf), high=LIMITS | st.just(math.inf))
def test_limits_that_may_be_infinite(low: Any, high: Any) -> None:
    result = written(ranges={"amount": (low, high)})
    assert_same_again(result)
    back = Explanations.from_json(result.to_json())
    assert back.context.ranges == {"amount": (low, high)}


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("amount", '["a", 5]'),
        ("amount", "[true, 5]"),
        ("amount", "[0, 5, 9]"),
        ("amount", "[]"),
        ("education", '[null, "master"]'),
        ("education", '["school", "PhD"]'),
        ("education", "[0, 1]"),
    ],
)
def test_limits_that_no_call_has_are_refused(name: str, limits: str) -> None:
    text = written(ranges={"amount": (0, 5), "education": ("school", "master")}).to_json()
    before = '["school", "master"]' if name == "education" else "[0, 5]"
    with pytest.raises(SchemaError, match=f"request.ranges.{name} .*expected"):
        Explanations.from_json(text.replace(f'"{name}": {before}', f'"{name}": {limits}'))


@pytest.mark.parametrize("needed", [1, 0.5, None, np.float64(0.5)])
def test_what_a_diagnosis_says_is_needed(needed: Any) -> None:
    told = Diagnosis("none", None, None, needed)
    assert_same_again(explanations(explanation(diagnosis=told, outcome=Outcome.NOT_FOUND)))
