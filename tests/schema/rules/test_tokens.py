"""Signs that are no part of a rule, and what a message says and leaves unsaid."""

import pytest

from proce.errors import RuleError
from proce.schema import Rule
from proce.schema.rules.syntax import MAX_DEPTH

from .test_syntax import CODEC

INSTEAD = {
    "=": "'=='",
    "!": "'not' or '!='",
    "&": "'and'",
    "|": "'or'",
    "~": "'not' or '~>'",
    "≤": "'<='",
    "≥": "'>='",
    "≠": "'!='",
    "→": "'=>'",
    "⇒": "'=>'",
    "∝": "'~>'",
    "“": "'\"'",
    "”": "'\"'",
}


def explained(text: str) -> str:
    with pytest.raises(RuleError) as caught:
        Rule.parse(text, CODEC)
    return str(caught.value).split(": ", 1)[1]


@pytest.mark.parametrize(("sign", "instead"), INSTEAD.items())
def test_a_sign_of_another_language_is_answered_with_that_of_rules(sign: str, instead: str) -> None:
    assert explained(f"cf.age {sign} 3") == f"{sign!r} is not part of a rule; write {instead}."


def test_no_advice_is_given_where_there_is_none() -> None:
    assert explained("cf.age > and") == "expected a feature, a number or a level, got 'and'."
    assert explained("cf.age 3") == "expected an operator or the end, got '3'."


def test_brackets_that_are_closed_again_do_not_let_others_be_deeper() -> None:
    shallow = "(cf.age > 1) and " * MAX_DEPTH
    deep = "(" * (MAX_DEPTH + 1) + "cf.age > 1" + ")" * (MAX_DEPTH + 1)
    assert f"nest more than {MAX_DEPTH} deep" in explained(shallow + deep)
