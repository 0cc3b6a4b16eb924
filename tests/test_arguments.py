"""Arguments are checked against annotations, and shown briefly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from proce.arguments import MaybeAxes, brief, check_count, check_fields, checked
from proce.errors import SchemaError, SearchError


@dataclass(frozen=True)
class Recipe:
    cups: int = 1
    salt: float | None = None
    stirred: bool = False
    taste: Literal["sweet", "sour"] = "sweet"
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_fields(self, SchemaError)


@checked(SearchError)
def cook(recipe: Recipe, times: int = 1, *, guests: Iterable[str] = (), **rest: Any) -> int:
    return times


@checked(SearchError)
def draw(colours: Mapping[str, str], ax: MaybeAxes = None) -> None:
    pass


def test_what_fits_the_annotation_is_taken() -> None:
    Recipe(np.int64(2), np.float32(0.5), np.bool_(True), "sour", np.array(["a"]))
    assert cook(Recipe(), 3, guests=(name for name in "ab"), other=object()) == 3
    draw({}, ax=None)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("cups", 1.5, "cups is 1.5; expected a whole number"),
        ("cups", True, "cups is True; expected a whole number"),
        ("salt", "a", "salt is 'a'; expected a number or None"),
        ("stirred", 1, "stirred is 1; expected True or False"),
        ("taste", 3, "taste is 3; expected 'sweet' or 'sour'"),
        ("names", "ab", "names is 'ab'; expected a list"),
        ("names", np.array(1), r"names is array\(1\); expected a list"),
    ],
)
def test_a_field_of_another_kind_is_refused(field: str, value: Any, expected: str) -> None:
    with pytest.raises(SchemaError, match=expected):
        Recipe(**{field: value})


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        ((None,), {}, "recipe is None; expected a Recipe"),
        ((Recipe(), "3"), {}, "times is '3'; expected a whole number"),
        ((Recipe(),), {"times": None}, "times is None"),
        ((Recipe(),), {"guests": "ann"}, "guests is 'ann'; expected a list"),
    ],
)
def test_an_argument_of_another_kind_is_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(SearchError, match=expected):
        cook(*arguments, **options)
    with pytest.raises(SearchError, match="ax is 5; expected the axes of a matplotlib figure"):
        draw({}, 5)


def test_a_wrong_name_is_left_to_python() -> None:
    with pytest.raises(TypeError, match="tmies"):
        draw({}, tmies=1)


def test_a_count_has_two_ends() -> None:
    check_count("n", np.int32(7), SearchError)
    with pytest.raises(SearchError, match="n is 0; expected a whole number from 1 on"):
        check_count("n", 0, SearchError)
    with pytest.raises(SearchError, match="n is 11; expected a whole number from 1 to 10"):
        check_count("n", 11, SearchError, maximum=10)


def test_values_are_shown_briefly_and_plain_objects_by_their_type() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert brief("x" * 100) == "'" + "x" * 58 + "…"
    assert brief(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert brief(object()) == "an object of type object"
    assert brief(Mute()) == "an object of type Mute"
    assert brief(int) == "the type int"
