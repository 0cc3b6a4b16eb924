"""Bad input: what was wrong, what was expected, what to do."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from proce import (
    GraphError,
    ModelError,
    ProCE,
    ProceError,
    RuleError,
    Schema,
    SchemaError,
    SearchError,
    SearchSettings,
)

from ...worlds import SCHEMA, TINY, bank, one, people


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (one().drop(columns="debt"), "lacks the column 'debt'; expected 'age', 'savings'"),
        (one().rename(columns={"debt": "debts"}), "lacks the column 'debt'.* mean 'debts'"),
        (one(school="collage"), "'school': row 0 has the unknown level 'collage'; known levels"),
        (one(savings="much"), "'savings': the column holds text; expected numbers"),
        (one(school=3), "'school': row 0 has 3, a number, but the levels are text"),
        (one(savings=np.inf), "'savings': row 0 is inf; expected finite numbers"),
        ([[1, 2, 3]], "got a list; expected a data frame"),
        (None, "got None; expected a data frame"),
    ],
)
def test_rows_that_do_not_fit(banker: ProCE, rows: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        banker.explain(rows)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": 7}, ModelError, "unknown class 7; the model's classes are 0, 1"),
        ({"target": "1"}, ModelError, "unknown class '1'.*give the label as that type"),
        ({"n": 0}, SearchError, "n is 0; expected a whole number from 1 on"),
        ({"n": -1}, SearchError, "n is -1"),
        ({"n": 1.5}, SearchError, "n is 1.5"),
        ({"n": True}, SearchError, "n is True"),
        ({"pick": "close"}, SearchError, "pick is 'close'.*Did you mean 'closest'"),
        ({"vary": ["saving"]}, SchemaError, "'saving', which is not a feature.*mean 'savings'"),
        ({"vary": ["home"]}, SchemaError, "'home', which is fixed; these can be acted on"),
        ({"vary": []}, SchemaError, "vary is empty; name some of"),
        ({"vary": "savings"}, SearchError, r"vary is 'savings'; expected a list"),
        ({"ranges": {"saving": (0, 1)}}, SchemaError, "unknown feature 'saving'"),
        ({"ranges": {"savings": (9, 1)}}, SchemaError, "is empty; write the lower limit first"),
        ({"ranges": {"savings": 9}}, SchemaError, r"is 9; expected \(low, high\)"),
        ({"ranges": {"savings": (0, "many")}}, SchemaError, "is a number; got 'many'"),
        ({"ranges": {"savings": (None, 5)}}, SchemaError, r"expected \(low, high\)"),
        ({"ranges": {"school": ("none", "phd")}}, SchemaError, "unknown level 'phd'"),
        ({"ranges": {"home": ("owns", "rents")}}, SchemaError, "no order; use a rule instead"),
        ({"ranges": [("savings", 0, 1)]}, SearchError, "ranges is .* by feature"),
        ({"max_changes": 0}, SearchError, "max_changes is 0"),
        ({"effort": {"saving": 2}}, SchemaError, "effort names 'saving'"),
        ({"effort": {"savings": 0}}, SearchError, r"effort of 'savings' is 0; expected 0.1"),
        ({"effort": {"savings": "hard"}}, SearchError, "effort of 'savings' is 'hard'"),
        ({"effort": {"savings": np.nan}}, SearchError, "effort of 'savings' is nan"),
        ({"min_probability": 0}, SearchError, "min_probability is 0"),
        ({"min_probability": 60}, SearchError, "min_probability is 60; expected more than 0"),
        ({"min_probability": "high"}, SearchError, "min_probability is 'high'"),
        ({"rules": "cf.age > 3"}, SearchError, "rules is 'cf.age > 3'; expected a list"),
        ({"rules": ["cf.aeg > 3"]}, RuleError, "position 4: unknown feature 'aeg'.*mean 'age'"),
        ({"rules": ["cf.age >"]}, RuleError, "position"),
        ({"rules": [3]}, RuleError, "a rule is text"),
        ({"budget_seconds": 0}, SearchError, "budget_seconds is 0"),
        ({"budget_seconds": "1"}, SearchError, "budget_seconds is '1'"),
        ({"max_evaluations": 0}, SearchError, "max_evaluations is 0"),
        ({"progress": "bar"}, SearchError, "progress is 'bar'; expected a function"),
    ],
)
def test_options_that_cannot_be_meant(
    banker: ProCE, options: Any, error: type[ProceError], message: str
) -> None:
    with pytest.raises(error, match=message):
        banker.explain(one(), **options)


def test_options_are_checked_even_where_there_is_nothing_to_do(banker: ProCE) -> None:
    """Every row has the target already; a slip is said all the same."""
    row = one(savings=90, debt=0)
    for options in ({"vary": ["saving"]}, {"effort": {"home_": 2}}, {"rules": ["cf.x"]}):
        with pytest.raises(ProceError):
            banker.explain(row, target=1, **options)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (
            {"graph": [("age", "shoe")]},
            GraphError,
            "the graph names 'shoe', which is not a feature",
        ),
        ({"graph": [("age", "debt"), ("debt", "age")]}, GraphError, "cycle: age -> debt -> age"),
        ({"graph": "discovr"}, GraphError, "graph is 'discovr'.*Did you mean 'discover'"),
        ({"graph": 3}, GraphError, "got 3; expected a CausalGraph"),
        ({"causal": "hrad"}, SearchError, "causal is 'hrad'.*Did you mean 'hard'"),
        ({"causal": "hard"}, SearchError, "causal='hard' needs a causal graph"),
        ({"causal": "soft"}, SearchError, "causal='soft' needs a causal graph"),
        ({"rules": "cf.age > 3"}, SearchError, "rules is 'cf.age > 3'; expected a list"),
        ({"rules": ["cf.aeg > 3"]}, RuleError, "unknown feature 'aeg'"),
        ({"settings": {"n_generations": 5}}, SearchError, "settings is a dict; expected SearchSe"),
        ({"schema": {"age": "int"}}, SchemaError, "schema is a dict; expected proce.Schema"),
        ({"schema": Schema.infer(people()[["age"]])}, ModelError, "KeyError: 'home'"),
        ({"threshold": 1.5}, ModelError, "threshold is 1.5; expected a number between 0 and 1"),
        ({"seed": "one"}, SearchError, "seed is 'one'; expected a whole number"),
        ({"seed": -1}, SearchError, "seed is -1"),
        ({"device": "gpu"}, SearchError, "device is 'gpu'"),
        ({"model": None}, ModelError, "None offers no way to ask for probabilities"),
        ({"model": LogisticRegression()}, ModelError, "is not fitted; call its fit"),
        ({"model": LogisticRegression}, ModelError, "the class LogisticRegression itself"),
    ],
)
def test_an_explainer_that_cannot_be_fitted(
    parameters: Any, error: type[ProceError], message: str
) -> None:
    made = {"model": bank, "schema": SCHEMA, "settings": TINY} | parameters
    with pytest.raises(error, match=message):
        ProCE(**made).fit(people())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (people().head(0), "has no rows"),
        (people().assign(age=30), "'age' is 30.0 in all 300 rows"),
        (people().drop(columns="age"), "lacks the column 'age'"),
        (people().assign(age=None), "'age'"),
        (people().to_numpy(), "got an ndarray; expected a data frame"),
    ],
)
def test_training_rows_that_do_not_fit(rows: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        ProCE(bank, schema=SCHEMA, settings=TINY).fit(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population_size": 0}, "population_size is 0"),
        ({"n_neighbours": 0}, "n_neighbours is 0"),
        ({"margin": 0.5}, "margin is 0.5; expected 0 or more, and under 0.5"),
        ({"margin": -0.1}, "margin is -0.1"),
        ({"causal_weight": -1}, "causal_weight is -1"),
        ({"start": "middle"}, "start is 'middle'"),
        ({"chunk_size": 0}, "chunk_size is 0"),
        ({"chunk_size": 2.5}, "chunk_size is 2.5; expected a whole number"),
        ({"chunk_size": True}, "chunk_size is True; expected a whole number"),
        ({"chunk_size": "8"}, "chunk_size is '8'; expected a whole number"),
        ({"n_refits": -1}, "n_refits is -1; expected a whole number, 0 .* or at least 2"),
        ({"n_refits": 2.5}, "n_refits is 2.5; expected a whole number"),
        ({"n_refits": 20.0}, "n_refits is 20.0; expected a whole number"),
        ({"n_refits": True}, "n_refits is True; expected a whole number"),
        ({"n_refits": "20"}, "n_refits is '20'; expected a whole number"),
        ({"n_refits": 1}, "n_refits is 1; .* at least 2: one alone says nothing of a chance"),
    ],
)
def test_settings_that_cannot_be_searched_with(settings: Any, message: str) -> None:
    with pytest.raises(SearchError, match=message):
        SearchSettings(**settings)


def test_a_wrong_rule_is_said_before_anything_is_learned() -> None:
    reports: list[Any] = []
    with pytest.raises(RuleError):
        ProCE(bank, schema=SCHEMA, rules=["cf.nothing > 1"], settings=TINY).fit(
            people(), progress=reports.append
        )
    assert reports == []


def test_few_training_rows_are_enough_to_be_told_something() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people(12))
    result = explainer.explain(pd.concat([one(), one(savings=90, debt=0)]))
    assert len(result) == 2
    assert set(result.outcomes()["outcome"]) <= {"found", "not_found"}
