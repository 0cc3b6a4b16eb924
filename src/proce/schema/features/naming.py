"""Names for people: words for a column, and a number beside its unit.

All words that a person hands over (labels of features, levels and classes, units) are checked
here, so that whatever prints them can trust that they are short and stand on one line.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

from proce.errors import SchemaError
from proce.schema.features.numerals import MINUS, with_minus

MAX_WORDS_LENGTH = 120  # characters of a label
MAX_UNIT_LENGTH = 24
_MAX_ACRONYM_LENGTH = 5  # a longer word in capitals is no acronym
_SHORT_WORDS = re.compile(  # that stand in capitals in many tables, and are no acronyms
    r"age|area|bill|car|child|city|class|color|cost|count|date|day|debt|fee|"
    r"home|hour|hours|house|job|kids|level|limit|loan|month|name|own|owner|"
    r"pay|price|race|rank|rate|ratio|score|sex|size|state|tax|term|time|"
    r"total|type|value|wage|week|work|year|years",
    re.IGNORECASE,
)
_JOINERS = "\u200c\u200d"  # without these, words of some scripts are misspelt
_REFUSED_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_PARTS = re.compile(
    r"(?<=[a-z\d])(?=[A-Z][a-z])"  # DebtRatio, 59Days
    r"|(?<=[a-z])(?=[A-Z])"  # hasFICO
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # LSATScore
    r"|(?<=[A-Za-z]{2})(?=\d)"  # AMT1, but x1
    r"|(?<=[A-Za-z])\.(?=[A-Za-z])"  # debt.ratio
)
_CURRENCY = re.compile(r"[A-Z]{0,3}(.)")  # $, and US$
_TIGHT = ("%", "‰", "°", "/")  # what follows a number without a blank
_REFUSED_STARTS = tuple("0123456789.,+-−–")


@lru_cache(maxsize=4096)
def spoken_name(name: str) -> str:
    """Return a column's name in words: ``DebtRatio`` is the debt ratio.

    Underscores, capitals inside a word and digits at its end are where words begin. Words are
    written in small letters, but for an acronym: up to five capitals that are no common word, and
    are the whole name or stand beside words that are not in capitals. A name with blanks was
    written for people, and stays as it is.
    """
    if " " in name.strip():
        return name
    words = [word for part in name.split("_") for word in _PARTS.sub(" ", part).split()]
    spelled = [word for word in words if any(char.isalpha() for char in word)]
    shouted = len(spelled) > 1 and all(word.isupper() and len(word) > 1 for word in spelled)
    if shouted:
        return " ".join(words).lower()
    return " ".join(word if _is_acronym(word) else _small(word) for word in words) or name


def checked_words(
    what: str,  # what the words are, for the error: `feature 'age': label`
    text: Any,
    max_length: int = MAX_WORDS_LENGTH,  # how long they may be
) -> str:
    """Return words that a person gave, without blanks around them, or say what is wrong."""
    if not isinstance(text, str) or not text.strip():
        raise SchemaError(f"{what} is {_excerpt(text)}; expected some words, or leave it out.")
    words = text.strip(" ")
    for char in words:
        if (char.isspace() and char != " ") or not is_visible(char):
            raise SchemaError(
                f"{what} holds the character U+{ord(char):04X}, which breaks lines, is invisible or"
                " changes the direction of text; expected one line of visible characters."
            )
    if len(words) > max_length:
        raise SchemaError(
            f"{what} has {len(words):,} characters; expected at most {max_length}. Shorten it."
        )
    return words


def is_visible(char: str) -> bool:
    """Whether a character is seen, or stands for a blank, and leaves the others where they are."""
    if char.isprintable() or char.isspace() or char in _JOINERS:
        return True
    return unicodedata.category(char) not in _REFUSED_CATEGORIES


def checked_unit(name: str, unit: Any) -> str:
    """Return the unit of a feature, or say what is wrong with it."""
    what = f"feature {name!r}: unit"
    words = checked_words(what, unit, MAX_UNIT_LENGTH)
    if _sides(words)[1].lstrip().startswith(_REFUSED_STARTS):
        raise SchemaError(
            f"{what} is {words!r}, which reads as a part of the number; expected a sign or a word,"
            " such as '$', '%' or 'months'."
        )
    return words


def with_unit(number: str, unit: str | None) -> str:
    """Return a number that is written out beside its unit: ``$2,000``, ``5%``, ``12 months``.

    A currency sign stands before the number, after a minus; what follows the sign in the unit
    stands behind: ``$2,000 a year``. ``%``, ``‰``, ``°`` and ``/`` follow the number at once, all
    else after a blank. Beside 1 the first word loses its plural.
    """
    number = with_minus(number)
    if unit is None:
        return number
    before, after = _sides(unit)
    if number.removeprefix(MINUS) == "1":
        after = _singular(after)
    sign = MINUS if number.startswith(MINUS) and before else ""
    return f"{sign}{before}{number.removeprefix(sign)}{after}"


def _sides(unit: str) -> tuple[str, str]:
    """Return what stands before a number, and what behind it, its blank included."""
    before, after = "", unit
    sign = _CURRENCY.match(unit)
    if sign is not None and unicodedata.category(sign[1]) == "Sc":
        before, after = unit[: sign.end()], unit[sign.end() :].lstrip()
    blank = "" if not after or after.startswith(_TIGHT) else " "
    return before, blank + after


def _singular(words: str) -> str:
    """Return words of which the first is no longer an English plural: ``month``, ``day late``."""
    blank, word, rest = re.match(r"( ?)(\S*)(.*)", words, re.DOTALL).groups()  # type: ignore[union-attr]
    plural = len(word) > 3 and word.islower() and word.endswith("s")
    if not plural or word.endswith(("ss", "us", "is")) or not re.search("[aeiouy]", word[:-1]):
        return words
    for ending, single in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(ending):
            return f"{blank}{word.removesuffix(ending)}{single}{rest}"
    return f"{blank}{word[:-1]}{rest}"


def _is_acronym(word: str) -> bool:
    short = word.isupper() and len(word) <= _MAX_ACRONYM_LENGTH
    return short and not _SHORT_WORDS.fullmatch(word)


def _small(word: str) -> str:
    """Return a word in small letters, unless its capitals have a meaning of their own."""
    return word.lower() if word.istitle() or word.isupper() else word


def _excerpt(text: object) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
