"""What the page on rules and the docstring show is what happens."""

import doctest
import re
from pathlib import Path

import pandas as pd

from proce.schema import Codec, Schema
from proce.schema.rules import rule

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_the_page_shows_real_output() -> None:
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 20
    assert outcome.failed == 0


def test_the_first_rules_of_the_page_can_be_read() -> None:
    block = re.search(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    numbers = ["age", "hours per week", "debt", "income", "LSAT", "UGPA", "ZFYA", "education"]
    people = pd.DataFrame({name: [20, 40, 60] for name in numbers})
    people = people.assign(job=["Unemployed", "Clerk", "Nurse"], owner=[True, False, True])
    codec = Codec.fit(Schema.infer(people), people)
    lines = block[1].splitlines()
    assert len(lines) > 4
    for line in lines:
        assert rule.Rule.parse(line, codec).text == line


def test_the_docstring_shows_real_output() -> None:
    outcome = doctest.testmod(rule)
    assert outcome.attempted > 5
    assert outcome.failed == 0
