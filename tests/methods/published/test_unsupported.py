"""An option that a method cannot honour is refused, with what to do instead."""

import pytest

from proce.errors import UnsupportedOption
from proce.methods.published.unsupported import refuse_options

OF_PROCE = (
    "pick",
    "max_changes",
    "effort",
    "min_probability",
    "rules",
    "keep_front",
    "causal",
    "robust",
    "models",
)


@pytest.mark.parametrize("option", OF_PROCE)
def test_an_option_of_proce_is_named_with_the_method_and_what_to_do(option: str) -> None:
    match = rf"^Nearest cannot honour {option}, .* (Leave it out|Give the rules to the method)"
    with pytest.raises(UnsupportedOption, match=match):
        refuse_options("Nearest", {option: 1})


def test_what_to_do_names_the_method() -> None:
    with pytest.raises(UnsupportedOption, match=r"Face\(\.\.\., reject_by=\[\.\.\.\]\)"):
        refuse_options("Face", {"rules": ["cf.age >= x.age"]})


def test_an_option_that_no_method_knows_is_a_plain_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'") as caught:
        refuse_options("Nearest", {"foo": 1})
    assert not isinstance(caught.value, UnsupportedOption)


def test_nothing_given_is_nothing_refused() -> None:
    refuse_options("Nearest", {})
