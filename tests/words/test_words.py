"""Many results of all kinds are read by a linter of words: not one slip in any place."""

import re
from collections import Counter

import pytest

from proce.explanation import Explanations
from proce.explanation.words.decision import decision_line, now_text, then_text
from proce.explanation.words.values import value_text
from proce.schema import Continuous

from .linter import sentence_slips, slips, wide_lines
from .made import made
from .surfaces import other_texts_of, sentences_of

QUICK, PAGE_EVERY, MANY = 40, 20, 1_000


def read(seed: int, texts: Counter[str]) -> list[str]:
    """Return the slips in the words about one result, and count the texts that were read."""
    result = made(seed)
    found = []
    for place, text in sentences_of(result):
        texts[place] += 1
        found += [f"{place}: {slip} in {text!r}" for slip in sentence_slips(text)]
    for place, text in other_texts_of(result, with_page=seed % PAGE_EVERY == 0):
        texts[place] += 1
        told = re.sub(r"\n\s+", "\n", text)
        found += [f"{place}: {slip}" for slip in slips(told, is_code=place == "repr")]
    schema = result.context.codec.schema
    for text in (repr(result), repr(schema), str(schema), *map(repr, (*result, *schema))):
        texts["width"] += 1
        found += wide_lines(text)
    return [f"seed {seed}, {slip}" for slip in (*found, *contradictions(result), *off_step(result))]


def contradictions(result: Explanations) -> list[str]:
    """Return the probabilities that read as another decision than the one told beside them."""
    found = []
    for row in result:
        line = decision_line(row)
        if line is None:
            continue
        chances = [(row.probability, now_text(row))]
        chances += [
            (chance, then_text(row, rank))
            for rank, chance in enumerate(row.probabilities.tolist(), 1)
        ]
        for chance, text in chances:
            told = float(text.rstrip("%").split()[-1]) / 100
            words = {"under": -1, "over": 1}.get(text.split()[-2] if " " in text else "", 0)
            side = words or (told > line + 1e-12) - (told < line - 1e-12)
            if chance != line and side != (1 if chance > line else -1) and not words:
                found.append(f"{chance} is told as {text}, where {line} decides")
    return found


def off_step(result: Explanations) -> list[str]:
    """Return the whole numbers that are told with decimals."""
    found = []
    codec = result.context.codec
    for position, feature in enumerate(codec.schema):
        if isinstance(feature, Continuous) and feature.integer:
            for value in result.rows.raw[:, position].tolist():
                text = value_text(feature, value, codec.span[position].item())
                if re.search(r"\d\.\d", text):
                    found.append(f"{feature.name} is told as {text}")
    return found


@pytest.mark.parametrize("block", range(4))
def test_no_slip_is_found_in_the_words_about_results_of_all_kinds(block: int) -> None:
    texts: Counter[str] = Counter()
    found = [slip for seed in range(block, QUICK, 4) for slip in read(seed, texts)]
    assert not found, f"{len(found)} slips, such as\n" + "\n".join(found[:10])
    assert texts.total() > 200


@pytest.mark.slow
def test_nor_in_those_about_many_more() -> None:
    texts: Counter[str] = Counter()
    found = [slip for seed in range(QUICK, MANY) for slip in read(seed, texts)]
    assert not found, f"{len(found)} slips, such as\n" + "\n".join(found[:10])


@pytest.mark.parametrize(
    "text",
    [
        "There are 1 rows.",
        "It adds +1 points.",
        "It is -4 years.",
        "It is nan.",
        "The the end.",
        "It is 0.30000000000000004.",
        "Raise credit_history.",
        "It is (so.",
        "Done..",
        "It is −0 now.",
    ],
)
def test_the_linter_sees_a_slip(text: str) -> None:
    assert list(sentence_slips(text))
    assert not list(sentence_slips('Raise "a  -1 nan" by 1 point (from −3 to 4).'))
