"""Reads texts as a person would stumble over them: each rule is a slip that must not be there."""

import re
from collections.abc import Iterator

_RULES = {
    "double space": r"\S  +\S",
    "1 with a plural": (
        r"(?<![\d.,])1 (rows|points|changes|levels|ways|limits|features|edges|graphs|models|refits"
        r"|months|years|weeks|days|counterfactuals|receipts|candidates|people)\b"
    ),
    "hyphen for a minus": r"(?:^|[\s($€])-(?=[\d.$€])",
    "not a number": r"\b(nan|NaN|None|inf|null|undefined)\b",
    "minus zero": r"[-−]0(?![.\d])|[-−]0\.0+(?!\d)",
    "doubled word": r"(?i)\b([A-Za-z]{2,}) \1\b",
    "doubled stop": r"\.\.|,,|;;|::|,\.|;\.|:\.| \.| ,",
    "raw float": r"\d\.\d{8,}",
    "empty brackets": r"\(\s*\)",
    "words of our trade": r"(?i)\bcandidates?\b|\bgenome\b|\binstance\b|\bPareto\b",
}
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_START = re.compile(r"[A-ZÀ-Þ\d\"“−$€]")


def slips(text: str, *, is_code: bool = False) -> Iterator[str]:
    """Yield what is wrong with a text, in words; what a person wrote stands in quotes.

    Code, which is what an object shows of itself, may have the names of programs.
    """
    plain = _QUOTED.sub('"q"', text)
    for name, pattern in _RULES.items():
        for found in re.finditer(pattern, plain, re.MULTILINE):
            yield f"{name}: …{plain[max(0, found.start() - 30) : found.end() + 20]}…"
    if plain.count("(") != plain.count(")"):
        yield "brackets that do not close"
    for word in [] if is_code else re.findall(r"\b[a-z]+_[a-z_]+\b", plain):
        yield f"a column's name, not its label: {word}"


def sentence_slips(sentence: str) -> Iterator[str]:
    """Yield what is wrong with a text that should be one or more whole sentences."""
    yield from slips(sentence)
    if not _START.match(sentence):
        yield "no capital at the start"
    if not sentence.endswith("."):
        yield "no stop at the end"


def wide_lines(text: str, width: int = 100) -> Iterator[str]:
    """Yield the lines of a text that do not fit a page."""
    for line in text.split("\n"):
        if len(line) > width:
            yield f"{len(line)} characters wide: {line[:40]}…"
