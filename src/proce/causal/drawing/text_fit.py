"""How a text of a picture is made to fit: the fonts that have its letters, and its width."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_NO_GLYPH = "□"  # stands for a letter that no font of this computer has
_LEFT_OUT = {"Cc", "Cf", "Cs", "Mn"}  # categories of signs that nobody misses
_NO_LETTERS = {"Cc", "Cs"}
_SLACK = 1.1  # letters on the pixels of a small picture are wider than their outlines
_MAX_CACHED_WIDTHS = 65_536
# Fonts with the letters that the usual one has not, as computers come with them.
_OTHER_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Nirmala UI",
    "Leelawadee UI",
    "Arial Unicode MS",
    "Segoe UI Symbol",
    "Noto Emoji",
)
_leave_letters: ContextVar[bool] = ContextVar("_leave_letters", default=False)


@contextmanager
def fonts_of_the_reader() -> Iterator[None]:
    """Leave every letter as it is, for pictures whose words are drawn where they are read."""
    token = _leave_letters.set(True)
    try:
        yield
    finally:
        _leave_letters.reset(token)


@dataclass(frozen=True)
class Font:
    """The size of a text in points, and how it looks."""

    size: float
    bold: bool = False
    italic: bool = False

    def settings(self, text: str) -> dict[str, Any]:
        """Return a text and its look as arguments for matplotlib; a sign starts no formula."""
        font = self.for_text(text)
        return {
            "s": font.drawable(text),
            "fontsize": font.size,
            "fontweight": "bold" if font.bold else "normal",
            "fontstyle": "italic" if font.italic else "normal",
            "fontfamily": list(_families()),
            "parse_math": False,
            "usetex": False,
        }

    def for_text(self, text: str) -> "Font":
        """Return a font that has the letters of a text: slanted and bold ones have fewer."""
        plain = replace(self, bold=False, italic=False)
        return self if self._lacks(text) <= plain._lacks(text) else plain

    def drawable(self, text: str) -> str:
        """Return a text with a sign in place of each letter that no font has."""
        return _without_controls(text) if _leave_letters.get() else self._replaced(text)

    def width(self, text: str) -> float:
        """Return how wide a line of text is, in points."""
        font = self.for_text(text)
        return self.size * _width(font._replaced(text), font.bold, font.italic, _families())

    def shortened(self, text: str, room: float) -> str:
        """Return a line of text, with its middle left out where it is wider than the room."""
        if self.width(text) <= room:
            return text
        fits, too_long = 1, len(text)
        while too_long - fits > 1:
            length = (fits + too_long) // 2
            if self.width(without_middle(text, length)) <= room:
                fits = length
            else:
                too_long = length
        return without_middle(text, fits)

    def wrapped(self, text: str, room: float, max_lines: int) -> str:
        """Return a text in lines no wider than the room; the last is shortened where it must be."""
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.width(longer) <= room:
                lines[-1] = longer
            else:
                lines += self._pieces(word, room)
        if len(lines) > max_lines:
            rest = " ".join(lines[max_lines - 1 :])
            lines = [*lines[: max_lines - 1], self.shortened(rest, room)]
        return "\n".join(lines)

    def _pieces(self, word: str, room: float) -> list[str]:
        """Return a word, in pieces where it is wider than a line."""
        if self.width(word) <= room:
            return [word]
        pieces = [""]
        for letter in word:
            if pieces[-1] and self.width(pieces[-1] + letter) > room:
                pieces.append("")
            pieces[-1] += letter
        return pieces

    def _lacks(self, text: str) -> int:
        """Return how many letters of a text no font has."""
        if text.isascii() and text.isprintable():
            return 0
        known = _letters(_families(), self.bold, self.italic)
        return sum(ord(letter) not in known for letter in text)

    def _replaced(self, text: str) -> str:
        if not self._lacks(text):
            return text
        known = _letters(_families(), self.bold, self.italic)
        return "".join(
            letter if ord(letter) in known or letter.isspace() else _stand_in(letter)
            for letter in text
        )


def without_middle(text: str, max_length: int) -> str:
    """Return a text with its middle left out where it has more letters than a number."""
    if len(text) <= max_length:
        return text
    end = max_length // 3
    return f"{text[: max(0, max_length - end - 1)].rstrip()}…{text[len(text) - end :].lstrip()}"


def _without_controls(text: str) -> str:
    """Return a text without what is no letter anywhere: control signs and half characters."""
    if text.isprintable():
        return text
    return "".join(
        letter
        for letter in text
        if letter == "\n" or unicodedata.category(letter) not in _NO_LETTERS
    )


def _stand_in(letter: str) -> str:
    return "" if unicodedata.category(letter) in _LEFT_OUT else _NO_GLYPH


def _families() -> tuple[str, ...]:
    """Return the fonts of the settings, and those of this computer that have other letters."""
    from matplotlib import font_manager, rcParams

    installed = _installed(len(font_manager.fontManager.ttflist))
    return (*rcParams["font.family"], *(name for name in _OTHER_FONTS if name in installed))


@lru_cache(maxsize=8)
def _installed(n_fonts: int) -> frozenset[str]:
    """Return the families of the fonts of this computer, of which there are so many."""
    from matplotlib.font_manager import fontManager

    return frozenset(font.name for font in fontManager.ttflist[:n_fonts])


@lru_cache(maxsize=16)
def _letters(families: tuple[str, ...], bold: bool, italic: bool) -> frozenset[int]:
    """Return the letters that one of some fonts has, by their codes."""
    from matplotlib.font_manager import findfont, get_font

    known: set[int] = set()
    for family in families:
        try:
            path = findfont(_properties((family,), bold, italic), fallback_to_default=False)
        except ValueError:  # a font of the settings that this computer has not
            continue
        known |= get_font(path).get_charmap().keys()
    return frozenset(known)


@lru_cache(maxsize=_MAX_CACHED_WIDTHS)
def _width(text: str, bold: bool, italic: bool, families: tuple[str, ...]) -> float:
    """Return how wide a text of one point is, in points."""
    from matplotlib.textpath import text_to_path

    size, properties = 10.0, _properties(families, bold, italic)
    properties.set_size(size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, properties, ismath=False)
    return _SLACK * float(width) / size


def _properties(families: tuple[str, ...], bold: bool, italic: bool) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(
        family=list(families),
        weight="bold" if bold else "normal",
        style="italic" if italic else "normal",
    )
