"""An action that is there because a rule asks for it names that rule."""

from proce import ProCE
from proce.schema import Action

from ...worlds import SCHEMA, SETTINGS, bank, one, people

OLDER = "cf.savings > x.savings => cf.age > x.age"


def test_an_action_that_only_a_rule_wants_names_it() -> None:
    """The bank does not look at the age: it rises for the rule alone."""
    schema = SCHEMA.edit(["debt", "school"], action=Action.FIXED)
    explainer = ProCE(bank, schema=schema, rules=["cf.debt >= 0", OLDER], settings=SETTINGS).fit(
        people()
    )
    result = explainer.explain(one(), n=1)
    told = [sentence for sentence in result[0].sentences() if "age" in sentence.split()[:2]]
    assert told[0].startswith("Raise age from 40 to at least 41")
    assert told[0].endswith(f": the rule '{OLDER}' asks for it.")
    ways = result.rows.counterfactuals
    assert ways.asked_by[0].tolist() == [1, -1, -1, -1, -1]
    assert not any(
        "asks for it" in line for line in result[0].sentences() if "savings" in line[:15]
    )


def test_an_action_that_the_decision_needs_too_names_no_rule() -> None:
    """Without the savings the bank says no: the rule is not what they are there for."""
    explainer = ProCE(bank, schema=SCHEMA, rules=["cf.savings >= 50"], settings=SETTINGS).fit(
        people()
    )
    result = explainer.explain(one(savings=20, debt=40), n=1, vary=["savings"])
    assert len(result[0])
    assert "asks for it" not in str(result[0])
