"""The text of a rule as a tree of syntax; `proce.schema.rules.resolver` looks its names up.

The text is cut into words, numbers, quoted names and signs. Operators bind from the loosest to the
tightest in this order: ``=>``, ``or``, ``and``, ``not``, comparisons, ``+ -``, ``* /``, the sign of
a number. Operands joined by operators that bind equally are one flat node, so only brackets,
``not`` and signs nest, and how deep they may do so is limited.
"""

import math
import re
from dataclasses import dataclass
from typing import Literal

from proce.errors import RuleError

KEYWORDS = ("and", "or", "not", "true", "false")
_WRITE_INSTEAD = {
    "=": "'=='",
    "!": "'not' or '!='",
    "&": "'and'",
    "|": "'or'",
    "~": "'not' or '~>'",
    "≤": "'<='",
    "≥": "'>='",
    "≠": "'!='",
    "→": "'=>'",
    "⇒": "'=>'",
    "∝": "'~>'",
    "“": "'\"'",
    "”": "'\"'",
}
_TOKEN = re.compile(
    r"""
      (?P<space>  \s+ )
    | (?P<number> [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? )
    | (?P<word>   [^\W\d]\w* )
    | (?P<quoted> "(?: [^"\\] | \\. )*" | '(?: [^'\\] | \\. )*' )
    | (?P<sign>   => | ~> | [<>=!]= | [-+*/<>().,\[\]] )
    """,
    re.VERBOSE | re.DOTALL,
)
_RUN = re.compile(r"[\w.]+")
_MAX_SHOWN_CHARACTERS = 120  # characters of a rule in a message
_MAX_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: a number, word, quoted name or sign, or its end."""

    kind: str
    text: str
    offset: int  # in the text, from 0

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return (
            f"the text {quoted_name(self.text[1:-1])}"
            if self.kind == "quoted"
            else quoted_name(self.text)
        )

    def is_sign(self, sign: str) -> bool:
        """Whether this is the given sign, and not a quoted one."""
        return self.kind == "sign" and self.text == sign


def quoted_name(name: str) -> str:
    """Return a name in quotes, cut where it would make a message unreadable."""
    return repr(
        name if len(name) <= _MAX_NAME_CHARACTERS else name[: _MAX_NAME_CHARACTERS - 1] + "…"
    )


def mistake(text: str, offset: int, what: str) -> RuleError:
    """Return the error for something wrong at one place of a rule, on one line."""
    start = 0
    if len(text) > _MAX_SHOWN_CHARACTERS:
        start = max(0, min(offset - _MAX_SHOWN_CHARACTERS // 2, len(text) - _MAX_SHOWN_CHARACTERS))
    end = start + _MAX_SHOWN_CHARACTERS
    shown = "…" * (start > 0) + text[start:end] + "…" * (end < len(text))
    error = RuleError(f"rule {shown!r}, position {offset + 1}: {what}")
    error.position = offset
    return error


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a rule, the last of them its end."""
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise mistake(text, offset, _unreadable(text[offset]))
        kind = match.lastgroup
        if kind == "number" and (rest := _RUN.match(text, match.end())):
            number = quoted_name(text[offset : rest.end()])
            raise mistake(text, offset, f"{number} is not a number; write 40000, 0.5 or 1e6.")
        if kind is not None and kind != "space":
            tokens.append(Token(kind, match[0], offset))
        offset = match.end()
    return [*tokens, Token("end", "", len(text))]


def unquote(text: str, token: Token) -> str:
    """Return what a quoted token of the text stands for."""
    body = token.text[1:-1]
    # Pairs of backslashes are blanked out first: the second of a pair escapes nothing.
    if escape := re.search(r"\\[^\"']", body.replace("\\\\", "  ")):
        offset = token.offset + 1 + escape.start()
        raise mistake(
            text, offset, r"expected a quote or a backslash after '\'; write '\\' for one."
        )
    return re.sub(r"\\(.)", r"\1", body)


def _unreadable(character: str) -> str:
    if character in "\"'":
        return "this quote is never closed."
    if character in _WRITE_INSTEAD:
        return f"{character!r} is not part of a rule; write {_WRITE_INSTEAD[character]}."
    return f"{character!r} is not part of a rule."


MAX_CHARACTERS = 2_000  # characters
MAX_DEPTH = 50  # brackets, "not" and signs within one another

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_BINDING = (
    {"=>": 1, "or": 2, "and": 3, "not": 4}
    | dict.fromkeys(COMPARISONS, 5)
    | {"+": 6, "-": 6, "*": 7, "/": 7}
)
_SIGN_BINDING = 8
_FORM = "A rule with '~>' is 'cause, cause ~> effect', in bare names."


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, without its sign."""

    value: float
    offset: int


@dataclass(frozen=True, slots=True)
class LevelName:
    """A quoted level, or ``true`` or ``false``."""

    value: str | bool
    offset: int


@dataclass(frozen=True, slots=True)
class FeatureName:
    """A feature of the counterfactual or of the factual row."""

    row: Literal["cf", "x"]
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """``not`` or ``-``, and what it applies to."""

    operator: str
    operand: "Node"
    offset: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined by operators that bind equally: ``a + b - c``, ``a and b``, ``a < b < c``."""

    operators: tuple[str, ...]
    operands: tuple["Node", ...]
    offsets: tuple[int, ...]  # of the operators

    @property
    def offset(self) -> int:
        """Where the first operator stands."""
        return self.offsets[0]


@dataclass(frozen=True, slots=True)
class BareName:
    """A feature in a rule with ``~>``."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """``causes ~> effect``."""

    causes: tuple[BareName, ...]
    effect: BareName


Node = Number | LevelName | FeatureName | Prefix | Chain


def parse_syntax(text: str) -> Node | Arrow:
    """Return the tree of a rule's text, or raise `RuleError` where it cannot be read."""
    if len(text) > MAX_CHARACTERS:
        raise RuleError(
            f"a rule of {len(text)} characters is too long; expected at most {MAX_CHARACTERS}."
            " Split it into several rules: all of them must hold."
        )
    tokens = tokenize(text)
    if len(tokens) == 1:
        raise mistake(text, 0, "the rule is empty; expected one such as 'cf.age >= x.age'.")
    parser = _Parser(text, tokens)
    return parser.arrow() if any(token.is_sign("~>") for token in tokens) else parser.whole()


def feature_names(text: str) -> frozenset[str]:
    """Return the names of all features that a rule speaks of, known or not."""
    tree = parse_syntax(text)
    if isinstance(tree, Arrow):
        return frozenset(cause.name for cause in (*tree.causes, tree.effect))
    names: set[str] = set()
    nodes: list[Node] = [tree]
    while nodes:
        match nodes.pop():
            case FeatureName(name=name):
                names.add(name)
            case Prefix(operand=operand):
                nodes.append(operand)
            case Chain(operands=operands):
                nodes.extend(operands)
    return frozenset(names)


class _Parser:
    """Precedence climbing: two calls for each level of nesting."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._token_index = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._expression(loosest=1)
        if self._next.kind != "end":
            advice = "A number is written as in 40000." if self._next.is_sign(",") else ""
            raise self._unexpected("an operator or the end", advice)
        return node

    def arrow(self) -> Arrow:
        causes = [self._bare_name()]
        while self._next.is_sign(","):
            self._take()
            causes.append(self._bare_name())
        if not self._next.is_sign("~>"):
            raise self._unexpected("',' or '~>'", _FORM)
        self._take()
        effect = self._bare_name()
        if self._next.kind != "end":
            raise self._unexpected("the end", _FORM)
        return Arrow(tuple(causes), effect)

    @property
    def _next(self) -> Token:
        return self._tokens[self._token_index]

    def _take(self) -> Token:
        token = self._next
        self._token_index += 1
        return token

    def _expression(self, loosest: int) -> Node:
        """Read an operand, and whatever is joined to it at least this tightly."""
        node = self._operand()
        while (binding := self._binding()) >= loosest:
            operators: list[Token] = []
            operands = [node]
            while self._binding() == binding:
                operators.append(self._take())
                operands.append(self._expression(binding + 1))
            node = Chain(
                tuple(operator.text for operator in operators),
                tuple(operands),
                tuple(operator.offset for operator in operators),
            )
        return node

    def _binding(self) -> int:
        """Return how tightly the next token joins two operands; 0 where it does not."""
        token = self._next
        if token.kind not in ("sign", "word") or token.text == "not":
            return 0
        return _BINDING.get(token.text, 0)

    def _operand(self) -> Node:
        token = self._next
        match token.kind, token.text:
            case "number", digits:
                self._take()
                return Number(self._finite(digits, token.offset), token.offset)
            case "quoted", _:
                return LevelName(unquote(self._text, self._take()), token.offset)
            case "word", "true" | "false":
                return LevelName(self._take().text == "true", token.offset)
            case "word", "cf" | "x":
                return self._feature()
            case ("word", "not") | ("sign", "-" | "("):
                return self._nested()
        raise self._unexpected("a feature, a number or a level", self._advice(token))

    def _advice(self, token: Token) -> str:
        """Say what a token that is no operand was probably meant to be."""
        if token.is_sign("."):
            return "A number starts with a digit, as in 0.5."
        if token.kind != "word" or token.text in KEYWORDS:
            return ""
        if token.text.lower() in (*KEYWORDS, "cf", "x"):
            return f"Did you mean '{token.text.lower()}'?"
        if self._tokens[self._token_index + 1].text in (".", "["):
            return "A feature is written cf.name (the counterfactual) or x.name (the factual)."
        return f"A feature is written cf.{token.text} or x.{token.text}, a level in quotes."

    def _nested(self) -> Node:
        opening = self._take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            what = f"brackets, 'not' and '-' nest more than {MAX_DEPTH} deep; split the rule."
            raise mistake(self._text, opening.offset, what)
        if opening.text == "(":
            node = self._expression(loosest=1)
            self._close(")", "')' or an operator")
        else:
            binding = _BINDING["not"] + 1 if opening.text == "not" else _SIGN_BINDING
            node = Prefix(opening.text, self._expression(binding), opening.offset)
        self._depth -= 1
        return node

    def _feature(self) -> FeatureName:
        row: Literal["cf", "x"] = "cf" if self._take().text == "cf" else "x"
        bracketed = f'Any other name is written {row}["name"].'
        if self._next.is_sign("["):
            self._take()
            quoted = self._next
            if quoted.kind != "quoted":
                raise self._unexpected("a feature name in quotes")
            name = unquote(self._text, self._take())
            self._close("]", "']'")
            return FeatureName(row, name, quoted.offset)
        if not self._next.is_sign("."):
            raise self._unexpected(f"'.' or '[' after '{row}'")
        self._take()
        if self._next.kind != "word":
            raise self._unexpected("a feature name of letters, digits and '_'", bracketed)
        word = self._take()
        if self._next.is_sign("."):
            raise self._unexpected("a feature name of letters, digits and '_'", bracketed)
        return FeatureName(row, word.text, word.offset)

    def _bare_name(self) -> BareName:
        token = self._next
        if token.kind not in ("quoted", "word"):
            raise self._unexpected("a feature name", _FORM)
        self._take()
        name = token.text if token.kind == "word" else unquote(self._text, token)
        return BareName(name, token.offset)

    def _close(self, bracket: str, expected: str) -> None:
        if not self._next.is_sign(bracket):
            raise self._unexpected(expected)
        self._take()

    def _finite(self, digits: str, offset: int) -> float:
        value = float(digits)
        if not math.isfinite(value):
            raise mistake(
                self._text, offset, "this number is too large; expected less than 1.8e308."
            )
        return value

    def _unexpected(self, expected: str, advice: str = "") -> RuleError:
        what = f"expected {expected}, got {self._next}."
        return mistake(self._text, self._next.offset, f"{what} {advice}".rstrip())
