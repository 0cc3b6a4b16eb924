"""Records of JSON checked with pydantic: a wrong value is named by its place in the record."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Tag, ValidationError
from pydantic_core import ErrorDetails

from proce.errors import SchemaError

_MAX_SHOWN = 60  # characters of a wrong value in a message
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "finite_number": "a finite number",
    "float_type": "a finite number",  # pydantic's word for a whole number that no float can hold
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
    "string_unicode": "a text of whole characters",
}


class RecordError(SchemaError):
    """A record with a wrong value."""

    def __init__(self, place: str, value: Any, expected: str) -> None:
        text = repr(value)
        text = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
        super().__init__(f"{place or 'the record'} is {text}; expected {expected}.")
        self.place, self.value, self.expected = place, value, expected

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.place, self.value, self.expected)


class StrictRecord(BaseModel):
    """A record whose fields must have the very types that they are declared with."""

    model_config = ConfigDict(strict=True, frozen=True)

    @classmethod
    def read(cls, record: Any) -> Self:
        """Return a record of plain values checked, or raise `RecordError`."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise record_error(error) from None


def record_error(error: ValidationError) -> RecordError:
    """Return the first thing that pydantic finds wrong with a record."""
    first = error.errors(include_url=False)[0]
    place, kind = [part for part in first["loc"] if not _is_tag(part)], first["type"]
    if kind == "missing":
        return RecordError(_joined(place[:-1]), first["input"], f"an object with {place[-1]!r}")
    return RecordError(_joined(place), first["input"], _expected(kind, first))


def union_tag(name: str) -> Tag:
    """Return a tag for a member of a union; :func:`record_error` leaves it out of places."""
    return Tag(f"<{name}>")


def _expected(kind: str, error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match kind:
        case "literal_error":
            return f"one of {context['expected']}"
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']}"
    return _EXPECTED.get(kind, error["msg"])


def _is_tag(part: int | str) -> bool:
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")


def _joined(place: list[int | str]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".")
