"""Levels and numbers are read from text in one way."""

from typing import Any

import pytest

from proce.schema.frames.cells import is_number_text, level_named


@pytest.mark.parametrize(
    ("text", "levels", "position"),
    [
        ("true", (False, True), 1),
        ("0", (False, True), 0),
        ("1", (0, 1), 1),
        ("1.0", (0, 1), 1),
        ("1", ("0", "1"), 1),
        ("NA", ("NA", "yes"), 0),
        ("NA", ("no", "yes"), None),
        ("good", (0, 1), 1),
        ("bad", (), None),
    ],
)
def test_a_level_is_named_as_files_have_it_or_by_its_words(
    text: str, levels: tuple[Any, ...], position: int | None
) -> None:
    assert level_named(text, levels, {1: "good"}) == position


@pytest.mark.parametrize("text", ["4", " 4.5 ", "-1e3", "+2"])
def test_a_number_is_written_in_ascii_with_a_point(text: str) -> None:
    assert is_number_text(text)


@pytest.mark.parametrize("text", ["٤", "４", "1_000", "1,5", "four", "", "0x10"])
def test_anything_else_is_no_number(text: str) -> None:
    assert not is_number_text(text)
