"""JSON text of other people is read, or refused with a reason."""

import pytest

from proce.errors import SchemaError
from proce.json_reading import is_shallow, parse_json
from proce.schema import Schema


def test_what_a_text_says_is_returned() -> None:
    text = '{"a": [1, 2.5, null, true, "\\u00e9\\ud83d\\ude00"]}'
    assert parse_json(text) == {"a": [1, 2.5, None, True, "é😀"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ('{"NaN": NaN}', r"NaN is not a number of JSON: line 1 column 9 \(char 8\)"),
        ('{"a": "Infinity",\n "b": [-Infinity]}', "-Infinity is not a number .*: line 2 column 8"),
        ("[1, 2.5e999]", "2.5e999 is too large a number: line 1 column 5"),
        ("1" * 5_000, "4300 digits.*: line 1 column 1"),
        ('{"a": {"b": 1}, "b": 1,\n"\\u0061": 2}', "the name 'a' stands twice .*: line 2 column 1"),
        ('[{"a": "\\"", "a": 0}, {"a": ', "the name 'a' stands twice .*: line 1 column 14"),
        ("[" * 100_000, "nested too deep"),
        ('"\\ud800"', "half a character"),
        ('"\ud800"', "half a character"),
        (None, "expected text, got NoneType"),
        (b"{}", "expected text, got bytes"),
    ],
)
def test_anything_else_is_refused_with_a_reason(text: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


def test_values_nest_up_to_a_bound() -> None:
    assert is_shallow([1, {"a": [2]}])
    nested: object = 1
    for _ in range(60):
        nested = {"a": nested}
    assert not is_shallow(nested)


def test_a_schema_with_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(SchemaError, match="the schema is not JSON: Exceeds the limit"):
        Schema.from_json(f'{{"format": {"1" * 5_000}}}')
