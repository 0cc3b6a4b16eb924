"""What the page on rules and the docstring show is what happens."""

import doctest
from pathlib import Path

from proce.schema.rules import rule

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_the_page_shows_real_output() -> None:
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 20
    assert outcome.failed == 0


def test_the_docstring_shows_real_output() -> None:
    outcome = doctest.testmod(rule)
    assert outcome.attempted > 5
    assert outcome.failed == 0
