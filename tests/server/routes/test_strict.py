"""Bodies are read strictly, and whatever comes is refused in words."""

import json
from contextlib import suppress

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from proce.server.routes.strict import MAX_DEPTH, parse_body


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(alphabet=st.characters(codec="utf-8")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=20,
    ).filter(lambda value: "\0" not in str(value) and "\\x00" not in str(value))
)
def test_json_comes_out_as_it_went_in(value: object) -> None:
    assert parse_body(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(HTTPException):
        parse_body(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b'{"n": }', "column 7"),
        (b'{"n": "\xff\xfe"}', "not UTF-8 (byte 7)"),
        (b'"\\ud800"', "half a character"),
        (b'{"\\uDBFF": 1}', "half a character"),
        (b'"a\\u0000b"', "U+0000"),
        (b'{"n": 1, "n": 2}', "'n' stands twice"),
        (b"9" * 5000, "4300 digits"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested"),
        (b"[" * 1_000_000, "nested"),
        (b'{"a":' * 500_000, "nested"),
    ],
)
def test_a_wrong_body_is_told_what_is_wrong(body: bytes, words: str) -> None:
    with pytest.raises(HTTPException) as refused:
        parse_body(body)
    assert words in refused.value.detail


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "u0000", "a\\"])
def test_letters_that_look_like_the_character_zero_are_text(text: str) -> None:
    assert parse_body(json.dumps([text]).encode()) == [text]


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert parse_body(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_depth_is_counted_to_the_limit() -> None:
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert isinstance(parse_body(deepest), list)
