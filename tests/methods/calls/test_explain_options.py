"""The options of ``explain``: whoever tells of them says what is declared once."""

import inspect
import re
import subprocess
import sys
from typing import Any, get_args

import pytest
import typer

from proce import ProCE
from proce.cli.main import app
from proce.errors import SearchError, UnsupportedOption
from proce.methods import Method, Nearest
from proce.methods.calls.explain_options import (
    EXPLAIN_OPTIONS,
    CausalMode,
    OfferedPick,
    Pick,
    refuse_options,
)
from proce.methods.calls.options import Options
from proce.objective import Mode
from proce.server.routes.explanations import ExplanationRequest

BEYOND = sorted(name for name, option in EXPLAIN_OPTIONS.items() if option.unsupported)


def defaults_of(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def test_signatures_have_the_declared_options_with_their_defaults() -> None:
    declared = {name: option.default for name, option in EXPLAIN_OPTIONS.items()}
    assert defaults_of(ProCE.explain) == declared
    shared = {name: own for name, own in declared.items() if name not in BEYOND}
    assert defaults_of(Nearest.explain) == defaults_of(Method.explain) == shared
    checked = {name: own for name, own in declared.items() if name != "progress"}
    fields = inspect.signature(Options).parameters.values()
    assert {field.name: field.default for field in fields} == checked


def test_the_documentation_of_explain_begins_with_the_declared_help() -> None:
    docs = " ".join((ProCE.explain.__doc__ or "").replace("``", "").split())
    for name, option in EXPLAIN_OPTIONS.items():
        if name in ("ranges", "effort", "causal", "pick", "models", "budget_seconds"):
            assert f" {name} " in docs  # written as code
        else:
            assert f" {name} {option.help.rstrip('.')}" in docs


def test_the_command_line_has_the_declared_help_and_defaults() -> None:
    command = typer.main.get_command(app).commands["explain"]  # type: ignore[attr-defined]
    own = {parameter.name: parameter for parameter in command.params}
    assert sorted(own.keys() & EXPLAIN_OPTIONS.keys()) == sorted(
        {"target", "n", "pick", "vary", "ranges", "max_changes", "min_probability", "rules"}
        | {"causal", "robust", "models"}
    )
    for name in own.keys() & EXPLAIN_OPTIONS.keys() - {"models"}:
        assert own[name].help.startswith(EXPLAIN_OPTIONS[name].help)
        assert own[name].default == EXPLAIN_OPTIONS[name].default or own[name].default is None
    assert (own["n"].default, own["pick"].default) == (4, "closest")


def test_a_request_has_the_declared_help_bounds_and_defaults() -> None:
    fields = ExplanationRequest.model_fields
    offered = {name for name, option in EXPLAIN_OPTIONS.items() if option.in_requests}
    assert fields.keys() == {*offered, "rows", "row_ids", "values", "graph"}
    properties = ExplanationRequest.model_json_schema()["properties"]
    for name in offered:
        option, described = EXPLAIN_OPTIONS[name], properties[name]
        assert described["description"] == option.help
        default = fields[name].get_default(call_default_factory=True)
        assert default == (list(option.default) if name == "rules" else option.default)
        if option.bounds is not None and not option.by_feature:
            own = next(kind for kind in described.get("anyOf", [described]) if "type" in kind)
            assert own.get("minimum") == option.bounds.least
            assert own.get("exclusiveMinimum") == option.bounds.above
            assert own.get("maximum", 1) <= (option.bounds.most or 86_400)


def test_the_words_of_an_option_are_those_that_exist() -> None:
    assert get_args(CausalMode) == ("auto", *get_args(Mode))
    assert set(get_args(OfferedPick)) < set(get_args(Pick))


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("n", 0, "n is 0; expected a whole number from 1 on."),
        ("n", None, "n is None; expected a whole number from 1 on."),
        ("n", 10**12, "n is 1000000000000; expected a whole number from 1 to 1,000,000,000."),
        (
            "pick",
            "closets",
            "pick is 'closets'; expected one of 'closest', 'balanced', 'typical', 'first'."
            " Did you mean 'closest'?",
        ),
        ("pick", ["first"], "pick is ['first']; expected one of 'closest'"),
        ("vary", "age", "vary is 'age'; expected a list, such as ['age']."),
        ("rules", 3, "rules is 3; expected a list of texts."),
        ("ranges", [1], "ranges is [1]; expected {name: (0, 100)}, by feature."),
        ("effort", 2, "effort is 2; expected {name: 2}, by feature."),
        ("max_changes", 1.5, "max_changes is 1.5; expected a whole number from 1 on."),
        ("min_probability", 0, "min_probability is 0; expected more than 0, at most 1."),
        ("robust", True, "robust is True; expected more than 0, at most 1: the share of other"),
        ("budget_seconds", -1, "budget_seconds is -1; expected a positive number of seconds."),
        ("keep_front", 1, "keep_front is 1; expected True or False."),
        ("causal", 3, "causal is 3; expected a word such as 'hard'."),
    ],
)
def test_a_wrong_value_is_refused_in_the_declared_words(name: str, wrong: Any, words: str) -> None:
    with pytest.raises(SearchError, match=f"^{re.escape(words)}"):
        Options(**{name: wrong})


def test_an_empty_mapping_says_nothing_and_texts_become_a_tuple() -> None:
    options = Options(ranges={}, effort={}, vary=iter(["age"]), rules=[])  # type: ignore[arg-type]
    assert (options.ranges, options.effort) == (None, None)
    assert (options.vary, options.rules) == (("age",), ())


@pytest.mark.parametrize("option", BEYOND)
def test_an_option_of_proce_is_named_with_the_method_and_what_to_do(option: str) -> None:
    match = rf"^Nearest cannot honour {option}, .* (Leave it out|Give the rules to the method)"
    with pytest.raises(UnsupportedOption, match=match):
        refuse_options("Nearest", {option: 1})


def test_what_to_do_names_the_method() -> None:
    with pytest.raises(UnsupportedOption, match=r"Face\(\.\.\., reject_by=\[\.\.\.\]\)"):
        refuse_options("Face", {"rules": ["cf.age >= x.age"]})


@pytest.mark.parametrize("option", ["foo", "n"])
def test_an_option_that_no_method_knows_is_a_plain_type_error(option: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'") as caught:
        refuse_options("Nearest", {option: 1})
    assert not isinstance(caught.value, UnsupportedOption)


def test_nothing_given_is_nothing_refused() -> None:
    refuse_options("Nearest", {})


def test_the_declaration_is_read_without_numpy() -> None:
    code = (
        "import sys; import proce.methods.calls.explain_options;"
        " print({'numpy', 'pandas'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
