"""An applicant is shown no protected feature anywhere; an auditor is shown everything."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest

from proce.errors import SchemaError, SearchError
from proce.explanation import Blocker, Context, Diagnosis, Explanations
from proce.schema import Codec, Schema

from ...explained import with_columns
from ..samples import (
    CODEC,
    EDGES,
    RAISE_SAVINGS,
    SCHEMA,
    asked_by,
    context,
    everything,
    explanation,
    explanations,
    people,
)

HIDDEN = SCHEMA.edit("sex", protected=True, label="gender at birth").edit(
    ["credit_score", "owns_car"], protected=True
)
LEAK = re.compile(r"sex|gender|female|credit.score|owns.car", re.IGNORECASE)
RULES = ("cf.sex == x.sex", "cf.amount >= 3000", "cf.owns_car == x.owns_car")
DIAGNOSIS = Diagnosis(
    reason="No counterfactual was found for approved. It breaks the rule 'cf.sex == x.sex'."
    ' There is one if gender at birth were not fixed, but "male" or with 3 changes'
    " or without the rule 'cf.sex == x.sex'.",
    closest_miss={"savings": 99_000.0, "sex": "male"},
    probability=0.43,
    needed=0.6,
    broken=("cf.sex == x.sex", "cf.amount >= 3000"),
    blockers=(
        Blocker("fixed", "sex", 'if gender at birth were not fixed, but "male"', 0.1),
        Blocker("max_changes", "", "with 3 changes", 0.2),
        Blocker("rule", "cf.sex == x.sex", "without the rule 'cf.sex == x.sex'", 0.3),
    ),
    searched=7,
)


def shared(schema: Schema = HIDDEN, codec: Codec = CODEC) -> Context:
    return context(
        codec=replace(codec, schema=schema),
        edges=(*EDGES, ("sex", "savings"), ("owns_car", "amount")),
        vary=("savings", "sex"),
        ranges={"credit_score": (300, 800), "amount": (0, 9_000)},
        effort={"sex": 2.0},
        rules=RULES,
        spread=dict.fromkeys(("sex", "owns_car"), (0.5, 0.5)),
    )


def result(schema: Schema = HIDDEN) -> Explanations:
    """Return results of which every part speaks of protected features."""
    common: Any = {"shared": shared(schema)}
    items = [
        explanation(RAISE_SAVINGS, row=0, asked_by=asked_by(savings=1, amount=0), **common),
        explanation(row=2, diagnosis=DIAGNOSIS, notes=("Missing: sex.", "A note."), **common),
    ]
    made = explanations(*items)
    options = {"vary": ["savings", "sex"], "effort": {"sex": 2.0}, "rules": list(RULES)}
    return replace(made, provenance=replace(made.provenance, options=options))


def page(shown: Explanations, tmp_path: Path, **options: Any) -> str:
    return shown.save_html(tmp_path / "report.html", **options).read_text("utf-8")


def picture_texts(draw: Callable[[], Any]) -> str:
    ax = draw()
    texts = [
        text.get_text() for text in ax.figure.findobj(lambda artist: hasattr(artist, "get_text"))
    ]
    plt.close(ax.figure)
    return "\n".join(texts)


FORMS: dict[str, Callable[[Explanations, Path], str]] = {
    "sentences": lambda shown, _: "\n".join(str(item) for item in shown),
    "notebook": lambda shown, _: shown._repr_html_() + shown[0]._repr_html_(),
    "page": page,
    "page of a row": lambda shown, path: shown[0].save_html(path / "row.html").read_text("utf-8"),
    "json": lambda shown, _: shown.to_json(),
    "reasons": lambda shown, _: shown.reasons().to_json() + shown.reasons().frame().to_string(),
    "letters": lambda shown, _: shown.reasons().letter(0) + shown.reasons().letter(1),
    "changes": lambda shown, _: shown.changes().to_string(),
    "outcomes": lambda shown, _: shown.outcomes().to_string(),
    "summary": lambda shown, _: shown.summary().to_string(),
    "diagnosis": lambda shown, _: repr(shown[1].diagnosis),
    "plot of changes": lambda shown, _: picture_texts(shown.plot_changes),
    "plot of the graph": lambda shown, _: picture_texts(shown[0].plot_graph),
    "plot of many": lambda shown, _: picture_texts(shown.plot_cohort),
}
FOR_APPLICANTS_ALONE = ("reasons", "letters")


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_an_applicant_what_is_protected(form: str, tmp_path: Path) -> None:
    text = FORMS[form](result(), tmp_path)
    assert text
    assert not LEAK.findall(text)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in FOR_APPLICANTS_ALONE])
def test_every_form_shows_an_auditor_what_is_protected(form: str, tmp_path: Path) -> None:
    assert LEAK.search(FORMS[form](result().seen_by("auditor"), tmp_path))


def test_a_view_can_be_asked_for_where_something_is_written(tmp_path: Path) -> None:
    shown = result()
    assert LEAK.search(page(shown, tmp_path, view="auditor"))
    assert LEAK.search(shown.to_json(view="auditor"))
    assert LEAK.search(shown[1].sentences(view="auditor")[0])
    assert not LEAK.search(page(shown.seen_by("auditor"), tmp_path, view="applicant"))
    with pytest.raises(SearchError, match="view is 'boss'; expected 'applicant' or 'auditor'"):
        shown.to_json(view="boss")  # type: ignore[arg-type]


def test_what_is_not_protected_stays() -> None:
    shown = result()
    assert shown.changes()["feature"].tolist() == ["savings", "amount"]
    assert shown[1].diagnosis is not None
    assert shown[1].diagnosis.broken == ("cf.amount >= 3000",)
    assert shown[1].diagnosis.reason == (
        "No counterfactual was found for approved. There is one with 3 changes."
    )
    assert "A note." in str(shown[1])


def test_a_rule_that_asks_for_an_action_is_still_the_right_one() -> None:
    text = str(result()[0])
    assert "cf.amount >= 3000" in text  # the second rule is the first that is told


def test_rows_for_the_model_are_whole_in_every_view() -> None:
    for shown in (result(), result().seen_by("auditor")):
        assert list(shown.counterfactuals().columns) == list(people().columns)
        assert "sex" in shown.to_frame().columns


def test_json_for_an_applicant_is_read_back_without_what_was_withheld(tmp_path: Path) -> None:
    shown = result()
    again = Explanations.from_json(shown.to_json())
    assert again.context.withheld == 3
    assert again.to_json() == shown.to_json()
    assert [str(item) for item in again] == [str(item) for item in shown]
    assert "sex" not in again.counterfactuals().columns
    with pytest.raises(SearchError, match="written for the applicant"):
        page(again, tmp_path, view="auditor")
    with pytest.raises(SearchError, match="a receipt holds the whole row"):
        again.receipt()
    whole = Explanations.from_json(shown.to_json(view="auditor"))
    assert whole.context.codec.schema == HIDDEN
    assert not LEAK.search(str(whole[0]))  # who reads it is shown the applicant's view again


def test_a_receipt_holds_the_whole_row() -> None:
    shown = result()
    assert LEAK.search(shown.receipt().to_json())


def test_without_protected_features_both_views_are_the_same(tmp_path: Path) -> None:
    shown = everything()
    assert shown.to_json(view="auditor") == shown.to_json()
    assert "withheld" not in shown.to_json()


def test_groups_by_a_protected_feature_are_for_an_auditor(tmp_path: Path) -> None:
    shown = result()
    for ask in (shown.summary, shown.plot_groups, lambda by: page(shown, tmp_path, by=by)):
        with pytest.raises(SearchError, match="by names 'sex', which is protected"):
            ask("sex")
    assert LEAK.search(shown.seen_by("auditor").summary("sex").to_string())


def test_reason_codes_may_name_a_protected_feature() -> None:
    codes = {"sex": ("S1", "never"), "savings": ("A1", "Savings are low")}
    assert "A1" in result().reasons(codes=codes).to_json()


def test_one_hot_columns_and_polars_frames_lose_their_columns() -> None:
    frame = pl.from_pandas(people().reset_index(drop=True))
    made = everything(frame=frame, shared=shared())
    text = made.to_json()
    assert not LEAK.search(text)
    assert "sex" not in Explanations.from_json(text).to_frame().columns


def test_a_front_and_paths_lose_the_columns_too() -> None:
    item = everything(shared=shared())[0]
    path = np.stack([item.factual, item.rows[0]])
    item = with_columns(item, steps=(path, item.rows[1:2]))
    record = explanations(item)
    assert not LEAK.search(record.to_json())
    assert Explanations.from_json(record.to_json())[0].front is not None


def test_a_schema_of_nothing_but_protected_features_is_refused() -> None:
    with pytest.raises(SchemaError, match="every feature is protected"):
        SCHEMA.edit(SCHEMA.names, protected=True)


def test_a_feature_whose_name_holds_a_protected_one_is_shown() -> None:
    rules = ("cf.savings >= x.savings", "cf.saving >= 1")
    common: Any = {"shared": shared(SCHEMA.edit("sex", protected=True, label="saving"))}
    common["shared"] = replace(common["shared"], rules=rules)
    made = explanations(explanation(row=0, notes=("Savings grow.", "A saving."), **common))
    made = replace(made, provenance=replace(made.provenance, options={"rules": list(rules[:1])}))
    shown = made.to_json()
    assert "cf.savings >= x.savings" in shown
    assert "Savings grow." in shown
    assert "A saving." not in shown
