"""A rule that cannot be read says where, what was expected, and what is near."""

import pandas as pd
import pytest

from proce.errors import RuleError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema
from proce.schema.rules.syntax import MAX_DEPTH

SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Continuous("capital.gain"),
        Continuous("and"),
        Continuous("größe"),
        Ordinal("education", ("School", "HS", "PhD")),
        Ordinal("grade", (-1, 0, 1)),
        Ordinal("turn", ("f", "m")),
        Categorical("bit", (0, 1)),
        Categorical("job", ("Clerk", 'the "boss"', "it's \\ complicated", "caf\u00e9\nbar")),
        Categorical("owner", (False, True)),
        Categorical("sex", ("f", "m")),
    ]
)
TRAINING = pd.DataFrame(
    {
        "age": [20, 60],
        "capital.gain": [0.0, 1.0],
        "and": [0.0, 1.0],
        "größe": [0.0, 1.0],
        "education": ["School", "PhD"],
        "grade": [-1, 1],
        "turn": ["f", "m"],
        "bit": [0, 1],
        "job": ["Clerk", 'the "boss"'],
        "owner": [False, True],
        "sex": ["f", "m"],
    }
)
CODEC = Codec.fit(SCHEMA, TRAINING)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        # What cannot be read.
        ("", 1, "the rule is empty"),
        (" \n ", 1, "the rule is empty"),
        ("cf.age >", 9, "expected a feature, a number or a level, got the end"),
        ("cf.age > 3)", 11, "expected an operator or the end, got ')'"),
        ("(cf.age > 3", 12, "expected ')' or an operator, got the end"),
        ("cf.age > > 3", 10, "expected a feature, a number or a level, got '>'"),
        ("cf.age > 3 not x.age > 3", 12, "expected an operator or the end, got 'not'"),
        ("cf.age > 'a' 'b'", 14, "expected an operator or the end, got the text 'b'"),
        ("cf.age < 3 <= 4", 12, "this comparison names no feature"),
        ("18 < 20 < cf.age", 4, "this comparison names no feature"),
        ("18 < cf.age < cf.education", 9, "expected a level of 'education', got"),
        ("'f' < cf.turn < 'x'", 17, "'turn' has no level 'x'"),
        ("'f' == cf.sex < 'm'", 15, "'sex' has no order, so '<' says nothing"),
        ("1 < (2 < cf.age < 4) < 5", 8, "expected a number, got a condition"),
        ("cf.age = 3", 8, "'=' is not part of a rule; write '=='"),
        ("cf.age ≥ 3", 8, "write '>='"),
        ("cf.age > 3 && x.age > 3", 12, "write 'and'"),
        ("!cf.age > 3", 1, "write 'not' or '!='"),
        ("cf.age > 3 # old", 12, "'#' is not part of a rule"),
        ("age > 3", 1, "A feature is written cf.age or x.age"),
        ("cg.age > 3", 1, "written cf.name (the counterfactual) or x.name (the factual)"),
        ("CF.age > 3", 1, "Did you mean 'cf'?"),
        ("NOT cf.age > 3", 1, "Did you mean 'not'?"),
        ("cf.owner == True", 13, "Did you mean 'true'?"),
        ("cf.owner == False", 13, "Did you mean 'false'?"),
        ("cf > 3", 4, "expected '.' or '[' after 'cf', got '>'"),
        ("cf.3 > 3", 4, "expected a feature name of letters, digits and '_', got '3'"),
        ("cf.capital.gain > 3", 11, 'Any other name is written cf["name"]'),
        ("cf[age] > 3", 4, "expected a feature name in quotes, got 'age'"),
        ("cf['age' > 3", 10, "expected ']', got '>'"),
        ("cf.job == 'Clerk", 11, "this quote is never closed"),
        (r"cf.job == 'a\n'", 13, "expected a quote or a backslash"),
        (r"'a\n' ~> age", 3, "expected a quote or a backslash"),
        ("cf.age > .5", 10, "as in 0.5"),
        ("cf.age > 40,000", 12, "as in 40000"),
        ("cf.age > 1_000", 10, "'1_000' is not a number"),
        ("cf.age > 1.5.2", 10, "'1.5.2' is not a number"),
        ("cf.age > 3years", 10, "'3years' is not a number"),
        ("cf.age > 1e+3years", 10, "'1e+3years' is not a number"),
        ("cf.age > 1e999", 10, "this number is too large"),
        # What is unknown.
        ("cf.agee >= 3", 4, "unknown feature 'agee'; the features are 'age', 'capital.gain'"),
        ("cf.agee >= 3", 4, "Did you mean 'age'?"),
        (f"cf.{'e' * 41} > 3", 4, f"unknown feature '{'e' * 39}…'; the features are"),
        (f"cf.{'e' * 40} > 3", 4, f"unknown feature '{'e' * 40}'; the features are"),
        ("cf.age > 3 and x['Age'] > 3", 18, "Did you mean 'age'?"),
        ("cf.education > 'Phd'", 16, "has no level 'Phd'; its levels are 'School', 'HS', 'PhD'"),
        ("cf.education > 'Phd'", 16, "Did you mean 'PhD'?"),
        ("cf.grade > 0.5", 12, "'grade' has no level 0.5; its levels are -1, 0, 1"),
        ("cf.grade > 2 - 4", 14, "'grade' has no level -2"),
        # What has the wrong type.
        ("cf.age > 'old'", 10, "expected a number, got the level 'old'"),
        ("cf.age + true > 1", 10, "expected a number, got the level true"),
        ("cf.education + 1 > 2", 4, "expected a number, got cf.education, which is ordinal"),
        ("-cf.job > 2", 5, "expected a number, got cf.job, which is categorical"),
        ("cf.age > (cf.age > 3)", 18, "expected a number, got a condition"),
        ("cf.age > not cf.age", 10, "expected a number, got a condition"),
        ("cf.age > 3 + (x.age > 3 and x.age < 5)", 25, "expected a number, got a condition"),
        ("cf.job < 'Clerk'", 8, "'job' has no order, so '<' says nothing; write == or !="),
        ("cf.job == cf.sex", 14, "'sex' is categorical with other levels than 'job'"),
        ("cf.education == cf.sex", 20, "'sex' is categorical with other levels than 'education'"),
        ("cf.bit == cf.owner", 14, "'owner' is categorical with other levels than 'bit'"),
        ("cf.turn == cf.sex", 15, "'sex' is categorical with other levels than 'turn'"),
        ("cf.job == cf.age", 14, "expected a level of 'job', got cf.age, which is continuous"),
        ("cf.age == cf.job", 4, "expected a level of 'job', got cf.age, which is continuous"),
        ("cf.grade > cf.grade - 1", 21, "expected a level of 'grade', got a number"),
        ("cf.grade > (cf.age > 1)", 20, "expected a level of 'grade', got a condition"),
        ("cf.owner == 1", 13, "'owner' has no level 1; its levels are False, True"),
        ("cf.owner == 'true'", 13, "'owner' has no level 'true'"),
        ("cf.grade == true", 13, "'grade' has no level true"),
        ("cf.grade == '1'", 13, "'grade' has no level '1'"),
        (
            "cf.owner",
            4,
            "expected a comparison, got cf.owner, which is categorical. Write cf.owner ==",
        ),
        ("cf.age", 4, "expected a comparison, got cf.age, which is continuous"),
        ("cf.age => x.age", 4, "For 'at least' write '>='"),
        ("cf.age > 1 and 3", 16, "expected a comparison, got a number"),
        ("not x['capital.gain']", 7, "got x['capital.gain'], which is continuous"),
        ("true or cf.age > 1", 1, "expected a comparison, got the level true"),
        # What says nothing.
        ("1 < 2", 3, "names no feature"),
        ("cf.age > 1 or 'a' == 'a'", 19, "names no feature"),
        ("cf.age > 1 / (3 - 3)", 17, "this divides by zero"),
        ("cf.age / 0 > 1", 10, "this divides by zero"),
        ("cf.age > 1e308 * 10", 18, "too large"),
        # What is wrong with '~>'.
        ("age ~> job", 8, "'job' has no order, so it has no direction"),
        ("age, ~> grade", 6, "expected a feature name, got '~>'"),
        ("age ~> ", 8, "expected a feature name, got the end"),
        ("age ~> grade, education", 13, "expected the end, got ','"),
        ("age grade ~> education", 5, "expected ',' or '~>', got 'grade'"),
        ("cf.age ~> grade", 3, "in bare names"),
        ("cf.age > 1 and age ~> grade", 3, "'cause, cause ~> effect'"),
        ("age, grad ~> education", 6, "Did you mean 'grade'?"),
        ("age, sex, age ~> grade", 11, "'age' is named twice"),
        ("age, grade ~> grade", 6, "'grade' is its own cause"),
    ],
)
def test_a_mistake_is_explained_where_it_stands(text: str, position: int, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        Rule.parse(text, CODEC)
    explained = str(caught.value)
    assert explained.startswith(f"rule {text!r}, position {position}: ")
    assert message in explained
    assert "\n" not in explained
    assert explained == explained.strip()
    assert caught.value.position == position - 1


@pytest.mark.parametrize("text", [None, 3, b"cf.age > 3", ["cf.age > 3"]])
def test_only_text_is_a_rule(text: object) -> None:
    with pytest.raises(RuleError, match=r"a rule is text such as 'cf\.age >= x\.age'; got"):
        Rule.parse(text, CODEC)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        'cf["capital.gain"] > 0',
        "cf['age']>=x['age']",
        "cf.and > 0 and x.and > 0",
        "cf.größe > 0",
        "cf . age\n>\tx . age",
        "cf.grade == -1 or -1 == cf.grade",
        "cf.job == 'the \"boss\"'",
        'cf.job == "the \\"boss\\""',
        "cf.job == 'it\\'s \\\\ complicated'",
        "cf.job == 'caf\u00e9\nbar'",
        "x.age > 3",
        "and, 'größe', \"capital.gain\" ~> grade",
        "not (not (cf.age > 3))",
        "cf.age>3 and(x.age<4)or not(x.age==5)",
        "cf.age > 1e-3 and cf.age > 1E+3 and cf.age > 007",
    ],
)
def test_a_rule_may_be_written_in_many_ways(text: str) -> None:
    assert Rule.parse(text, CODEC).text == text


def test_length_and_depth_are_limited() -> None:
    fits = "cf.age > 0" + " " * 1990
    assert Rule.parse(fits, CODEC).text == "cf.age > 0"
    with pytest.raises(RuleError, match="2001 characters is too long; expected at most 2000"):
        Rule.parse(fits + " ", CODEC)
    assert Rule.parse("(" * 50 + "cf.age > 0" + ")" * 50, CODEC).features == ("age",)
    assert Rule.parse(" and ".join(["(cf.age > 0)"] * 60), CODEC).features == ("age",)
    for opening in ("(", "not ", "-", "not (", "(-"):
        with pytest.raises(RuleError, match="nest more than 50 deep; split the rule"):
            Rule.parse(opening * 300, CODEC)


@pytest.mark.parametrize("operator", [" and ", " or ", "=>"])
def test_long_chains_are_not_deep(operator: str) -> None:
    text = operator.join(["cf.age>0"] * 120)
    row = CODEC.encode(TRAINING)
    assert Rule.parse(text, CODEC).holds(row, row).all()


@pytest.mark.parametrize("operator", ["<=", ">=", "=="])
def test_a_comparison_may_go_on_for_as_long_as_a_rule(operator: str) -> None:
    row = CODEC.encode(TRAINING)
    assert Rule.parse(operator.join(["cf.age", "x.age"] * 120), CODEC).holds(row, row).all()


def test_nested_comparisons_are_refused_as_quickly_as_others() -> None:
    text = "1"
    for _ in range(45):
        text = f"1<({text})<1"
    with pytest.raises(RuleError, match="names no feature"):
        Rule.parse(text, CODEC)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_long_arithmetic_is_not_deep(operator: str) -> None:
    text = f"cf.age{f'{operator}1' * 990} > -1000"
    row = CODEC.encode(TRAINING)
    assert Rule.parse(text, CODEC).holds(row, row).all()


def test_a_long_rule_is_shown_around_the_mistake() -> None:
    text = "cf.age > 0 and " * 60 + "cf.agee > 0" + " and cf.age > 0" * 60
    with pytest.raises(RuleError) as caught:
        Rule.parse(text, CODEC)
    explained = str(caught.value)
    assert "position 904: unknown feature 'agee'" in explained
    assert "and cf.agee > 0 and" in explained
    assert len(explained) < 500


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
