"""Forms of equations and their names."""

import pytest

from proce.causal.equations.families import KINDS, describe
from proce.causal.equations.regression import Form


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("linear", Form("linear")),
        ("log-spline", Form("spline", is_logarithmic=True)),
        ("ordered-quadratic", Form("quadratic", is_ordered=True)),
        (
            "log-sparse-fine-spline",
            Form("fine-spline", is_logarithmic=True, is_sparse=True),
        ),
    ],
)
def test_a_form_and_its_name(kind, form):
    assert Form.of(kind) == form
    assert form.kind == kind


@pytest.mark.parametrize("kind", ["cubic", "boosting", "sparse-log-linear", ""])
def test_what_is_no_form(kind):
    with pytest.raises(ValueError, match="not the name of a form"):
        Form.of(kind)


def test_what_a_form_is_refined_to():
    spline = Form("spline", is_logarithmic=True)
    assert spline.finer == Form("fine-spline", is_logarithmic=True)
    assert spline.finer.sparser == Form("fine-spline", is_logarithmic=True, is_sparse=True)
    assert Form("quadratic").finer is None
    assert Form("linear").sparser is None


def test_the_further_from_a_line_the_more_steps():
    forms = [Form("linear"), Form("quadratic"), Form("spline"), Form("fine-spline")]
    assert [form.n_steps for form in forms] == [0, 1, 2, 3]
    assert Form("spline", is_logarithmic=True).n_steps == 3
    assert Form("spline", is_sparse=True).n_steps == 2


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("linear", "a straight line"),
        ("sparse-quadratic", "squares and products, without needless terms"),
        ("log-fine-spline", "a fine spline of the logarithm"),
        ("ordered-spline", "a spline with thresholds between the levels"),
        ("logistic", "a logistic regression"),
        ("given", "as it was given"),
    ],
)
def test_kinds_in_words(kind, words):
    assert describe(kind) == words


def test_every_kind_has_words_of_its_own():
    words = [describe(kind) for kind in KINDS if kind != "auto"]
    assert all(words)
    assert len(set(words)) == len(words)
    with pytest.raises(ValueError, match="'cubic' is not the name of a kind"):
        describe("cubic")
