"""A page says each thing once."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from proce.explanation import Blocker, Explanations, Outcome
from proce.explanation.html.report import page_of_rows
from proce.explanation.record.counterfactuals import ways_text

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, everything, explanation, explanations
from .parsed import Page

_BLOCKS = {"p", "li", "h1", "h2", "h3", "h4", "dt", "dd", "caption", "td", "th", "figcaption"}
_BLOCKS |= {"summary", "text", "span"}
_MIN_WORDS = 4  # shorter ones are names, numbers and labels


class Told(Page):
    """The sentences of a page, by the article that they stand in; all articles see ``page``."""

    def __init__(self, source: str) -> None:
        self.sentences: dict[str, list[str]] = {"page": []}
        self.article = "page"
        self.block: list[str] = []
        super().__init__(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "article":
            self.article = str(dict(attrs)["id"])
            self.sentences[self.article] = []
        if tag in _BLOCKS:
            self._end_block()

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        if tag in _BLOCKS:
            self._end_block()
        if tag == "article":
            self.article = "page"

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        if not {"style", "title"} & set(self.open):
            self.block.append(data)

    def _end_block(self) -> None:
        text = " ".join("".join(self.block).split())
        self.block = []
        parts = re.split(r"(?<=[.!?])\s+", text)
        self.sentences[self.article] += [part for part in parts if len(part.split()) >= _MIN_WORDS]


def repeats(source: str) -> list[str]:
    """Return the sentences that a reader of one article meets twice."""
    told = Told(source).sentences
    common = told.pop("page")
    found: list[str] = []
    for own in [*told.values(), []]:
        counts = Counter([*common, *own])
        found += [sentence for sentence, count in counts.items() if count > 1]
    return found


def full() -> Explanations:
    """Return one applicant with ways, a front, chances and everything that is known of them."""
    item = explanation(
        RAISE_SAVINGS,
        CHANGE_JOB,
        {"ratio": ("action", 0.9), "credit_score": ("consequence", 700)},
        shared=samples.context(n_refits=10, n_graphs=50),
        front=samples.front(RAISE_SAVINGS, CHANGE_JOB),
        refits=[10, 9, 10],
        confidence=[0.99, 0.84, 0.99],
        support=[46, 40, 44],
        notes=("Education is missing and stays so.",),
    )
    return explanations(item)


def blocked(*kinds: str) -> Explanations:
    """Return an applicant for whom nothing was found, with a diagnosis in our own words."""
    blockers = tuple(Blocker(kind, "savings", f"with {kind} lifted", 0.1) for kind in kinds)
    start = "No counterfactual was found. The closest candidate reaches 43%."
    diagnosis = replace(samples.diagnosis(), reason=start + ways_text(blockers), blockers=blockers)
    return explanations(explanation(row=2, diagnosis=diagnosis))


def already() -> Explanations:
    """Return an applicant who has what they want."""
    return explanations(
        explanation(row=1, outcome=Outcome.ALREADY_TARGET, probability=0.7, predicted=1)
    )


@cache
def page_of_full() -> str:
    return page_of_rows(full())


PAGES: Sequence[Callable[[], str]] = (
    page_of_full,
    lambda: page_of_rows(everything()),
    lambda: page_of_rows(everything(), by="sex", at_most=2),
    lambda: page_of_rows(blocked("range", "fixed", "increase", "waits")),
    lambda: page_of_rows(blocked()),
    lambda: page_of_rows(already()),
    lambda: page_of_rows(explanations()),
)


@pytest.mark.parametrize("number", range(len(PAGES)))
def test_no_sentence_is_said_twice(number: int) -> None:
    assert repeats(PAGES[number]()) == []


def test_what_is_said_twice_is_noticed() -> None:
    source = page_of_full()
    sentence = "This describes what the model says at these values; it is not a promise."
    assert repeats(source.replace("</article>", f"<p>{sentence}</p></article>")) == [sentence]


def test_what_would_open_a_way_is_listed_and_not_told_again() -> None:
    page = Page(page_of_rows(blocked("range", "fixed")))
    assert page.text.count("ith range lifted") == page.text.count("ith fixed lifted") == 1


def test_a_page_on_which_nothing_was_found_has_no_picture_of_what_follows() -> None:
    page = Page(page_of_rows(blocked("range")))
    assert "nothing changes" not in page.text
    assert "What causes what" not in page.text
    assert "trade-off" not in page.text


def test_that_what_follows_is_not_something_to_do_is_said_once_for_all_of_it() -> None:
    way = RAISE_SAVINGS | {"education": ("consequence", "bachelor")}
    page = Page(page_of_rows(explanations(explanation(way))))
    assert page.text.count("This would likely also raise") == 2
    assert page.text.count("ot something to do.") == 1
    learned = explanation(way, shared=samples.context(origin="discovered"))
    page = Page(page_of_rows(explanations(learned)))
    told = "If the graph learned from the data is right, not something to do."
    assert page.text.count(told) == page.text.count("not something to do") == 1


def test_the_arrows_of_the_graph_are_listed_once_for_all_rows() -> None:
    page = Page(page_of_rows(everything()))
    assert page.text.count("education affects job.") == 1


def test_what_is_true_of_some_rows_is_not_said_of_all() -> None:
    refits = {"refits": np.array([10]), "shared": samples.context(n_refits=10)}
    sure = {"confidence": np.array([0.99], dtype=np.float64)}
    rows = [explanation(RAISE_SAVINGS, row=row, **refits, **sure) for row in (0, 1)]
    told = Told(page_of_rows(explanations(*rows), at_most=1)).sentences
    assert not [sentence for sentence in told["page"] if "10 of 10 refits" in sentence]
    assert [sentence for sentence in told["row-0"] if "10 of 10 refits" in sentence]
