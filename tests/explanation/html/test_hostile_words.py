"""Words that a person gave are shown as they are, and never as markup, mathematics or commands."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proce.explanation import Context, Explanations
from proce.schema import Continuous, Schema

from ..samples import CODEC, RAISE_SAVINGS, SCHEMA, context, diagnosis, explanation, explanations
from .parsed import Page

SCRIPT = "<script>alert('x')</script>"
FORMULA = r"$\frac{1}{0}$ & <b>{{ 7*7 }}"
HOSTILE = (
    SCHEMA.edit("savings", label=SCRIPT, unit="<i>&$")
    .edit("amount", label=FORMULA, unit="$ <b>")
    .edit("job", label='" onload="x', labels={"service": SCRIPT, "office": "</svg>"})
)


def shared(schema: Schema = HOSTILE) -> Context:
    labels = {"rejected": "<em>no</em>", "approved": FORMULA}
    return context(codec=replace(CODEC, schema=schema), class_labels=labels)


def result() -> Explanations:
    ways: Any = (RAISE_SAVINGS, {"job": ("action", "office")})
    common: Any = {"shared": shared()}
    return explanations(
        explanation(*ways, row=0, **common), explanation(row=2, diagnosis=diagnosis(), **common)
    )


def test_the_page_escapes_every_word(tmp_path: Path) -> None:
    text = result().save_html(tmp_path / "page.html").read_text("utf-8")
    page = Page(text)  # every tag is closed
    assert not {"script", "em", "i", "b"} & {tag for tag, _ in page.tags}
    assert not any("onload" in attributes for _, attributes in page.tags)
    assert SCRIPT in page.text
    assert "{{ 7*7 }}" in page.text


def test_the_notebook_escapes_every_word() -> None:
    text = result()._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_pictures_are_sound_and_take_no_formula(tmp_path: Path) -> None:
    for number, draw in enumerate(
        (result().plot_changes, result().plot_cohort, result()[0].plot_graph, result().plot_front)
    ):
        ax = draw()
        path = tmp_path / f"{number}.svg"
        ax.figure.savefig(path)
        ET.parse(path)


def test_the_letter_and_the_sentences_hold_the_words_on_one_line() -> None:
    text = result().reasons().letter(0)
    assert SCRIPT in text
    for sentence in result()[0].sentences():
        assert len(sentence.splitlines()) == 1


@pytest.mark.parametrize("name", ["a\x1b[31mb", "x\u202ey", "two\nlines", "y" * 10_000])
def test_a_hostile_column_name_reaches_a_terminal_without_its_power(name: str) -> None:
    """Columns are named by files: what cannot be refused is shown without what nobody can see."""
    from proce.explanation.words.values import name_text

    shown = name_text(Continuous(name))
    assert shown.isprintable()
