"""Words that a person gave are shown as they are, and never as markup, mathematics or commands."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proce.explanation import Context, Explanations
from proce.explanation.html.report import page_of_row, page_of_rows
from proce.schema import Codec, Continuous, Schema

from ..samples import (
    CHANGE_JOB,
    CODEC,
    RAISE_SAVINGS,
    SCHEMA,
    context,
    diagnosis,
    explanation,
    explanations,
    people,
)
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


def named_by_data() -> Explanations:
    """Return a result whose columns, levels, labels of rows, classes and settings are hostile."""
    evil = "<script>alert('x')</script>\"'\x00{{ 7*7 }}\n{% raw %}"
    frame = people().rename(columns={"education": evil}).set_axis([evil, *"bcde"])
    frame["job"] = frame["job"].astype(str).replace("service", evil)
    codec = Codec.fit(Schema.infer(frame), frame)
    fields: Any = {"codec": codec, "edges": (("savings", evil),), "classes": (evil, "b")}
    common: Any = {"shared": context(**fields)}
    lost = replace(diagnosis(), reason=evil, broken=(evil,))
    item = explanation(CHANGE_JOB | {"savings": ("action", 3_500)}, notes=(evil,), **common)
    made = explanations(item, explanation(row=1, diagnosis=lost, **common), frame=frame)
    how = replace(made.provenance, settings={evil: evil}, options={evil: [evil]})
    return replace(made, provenance=how)


FORMS: dict[str, Callable[[Explanations], str]] = {
    "page": lambda result: page_of_rows(result, title=SCRIPT, by=[SCRIPT, "x"]),
    "page of a row": lambda result: page_of_row(result[0]),
    "notebook": lambda result: result._repr_html_(),
    "notebook of a row": lambda result: result[0]._repr_html_(),
}


@pytest.mark.parametrize("made", [result, named_by_data])
@pytest.mark.parametrize("form", FORMS)
def test_every_word_is_escaped(form: str, made: Callable[[], Explanations]) -> None:
    text = FORMS[form](made())
    page = Page(text)  # every tag is closed
    assert not page.named("script", "em", *(["i", "b"] if "page" in form else []))
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert SCRIPT in page.text
    assert "{{ 7*7 }}" in page.text
    assert "\x00" not in text


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
