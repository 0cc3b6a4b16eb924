"""Rules of a call: all of them are obeyed, broken ones are named, contradictions refused."""

import pandas as pd
import pytest

from proce.arrays import Array
from proce.errors import RuleError
from proce.methods.calls.call import bind_rules, broken_rules, obey_rules, refuse_contradiction
from proce.schema import Codec, Continuous, Schema

FRAME = pd.DataFrame({"study": [0.0, 5.0, 10.0], "skill": [0.0, 5.0, 10.0], "pay": [0.0, 5, 10]})
CODEC = Codec.fit(Schema([Continuous("study"), Continuous("skill"), Continuous("pay")]), FRAME)
ROWS = CODEC.encode(FRAME)
HERE = ROWS[1:2]


def moved(**raw: float) -> Array:
    """Return the person in the middle with some values changed."""
    return CODEC.encode(FRAME.iloc[[1]].assign(**raw))


def test_a_row_obeys_where_it_obeys_every_rule_with_and_without_an_equation() -> None:
    """Skill is as much as study in all rows: with more study it must rise."""
    texts = ("study ~> skill", "study ~> pay", "cf.pay <= 9")
    rules = bind_rules(texts, CODEC, ROWS, None, seed=0)
    whole = moved(study=8.0, skill=8.0, pay=8.0)
    assert broken_rules(rules, HERE[0], whole[0]) == ()
    for texts_broken, row in [
        (texts[:1], moved(study=8.0, skill=4.0, pay=8.0)),
        (texts[1:2], moved(study=8.0, skill=8.0, pay=4.0)),
        (texts[2:], moved(study=9.5, skill=9.5, pay=9.5)),
    ]:
        assert obey_rules(rules, HERE, row).tolist() == [False]
        assert broken_rules(rules, HERE[0], row[0]) == texts_broken
    assert obey_rules((), ROWS, ROWS).tolist() == [True] * 3


def test_a_rule_with_an_equation_needs_training_rows_to_fit_it_on() -> None:
    with pytest.raises(RuleError, match="was saved without the training rows"):
        bind_rules(["study ~> skill"], CODEC, ROWS[:0], None, seed=0)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["cf.pay > 3", "cf.pay < 1 and cf.pay > 2"], r"no row can obey the rule 'cf\.pay < 1"),
        (["cf.pay > 3", "cf.pay < 1"], "the rules 'cf.pay > 3' and 'cf.pay < 1' .* obey both"),
        (
            ["cf.pay + cf.skill < 5", "cf.pay > 3", "cf.skill > 3", "cf.study > 0"],
            "'cf.pay [+] cf.skill < 5', 'cf.pay > 3' and 'cf.skill > 3' .* obey all of them",
        ),
    ],
)
def test_rules_that_contradict_each_other_are_named(texts: list[str], message: str) -> None:
    with pytest.raises(RuleError, match=message):
        refuse_contradiction(bind_rules(texts, CODEC, ROWS, None, seed=0), ROWS)


def test_rules_that_can_be_obeyed_together_are_not_refused() -> None:
    refuse_contradiction(bind_rules(["cf.pay > 3", "cf.pay < 9"], CODEC, ROWS, None, 0), ROWS)
