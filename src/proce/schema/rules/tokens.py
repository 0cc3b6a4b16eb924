"""The text of a rule as words, numbers, quoted names and signs."""

import re
from dataclasses import dataclass

from proce.errors import RuleError

KEYWORDS = ("and", "or", "not", "true", "false")
_INSTEAD = {
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
_LONGEST_SHOWN = 120  # characters of a rule in a message
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: a number, word, quoted name or sign, or its end."""

    kind: str
    text: str
    at: int  # counts from 0

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return f"the text {brief(self.text[1:-1])}" if self.kind == "quoted" else brief(self.text)

    def is_sign(self, sign: str) -> bool:
        """Whether this is the given sign, and not a quoted one."""
        return self.kind == "sign" and self.text == sign


def brief(name: str) -> str:
    """Return a name in quotes, cut where it would make a message unreadable."""
    return repr(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def mistake(text: str, at: int, what: str) -> RuleError:
    """Return the error for something wrong at one place of a rule, on one line."""
    start = 0
    if len(text) > _LONGEST_SHOWN:
        start = max(0, min(at - _LONGEST_SHOWN // 2, len(text) - _LONGEST_SHOWN))
    end = start + _LONGEST_SHOWN
    shown = "…" * (start > 0) + text[start:end] + "…" * (end < len(text))
    return RuleError(f"rule {shown!r}, position {at + 1}: {what}")


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a rule, the last of them its end."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise mistake(text, at, _unreadable(text[at]))
        kind = found.lastgroup
        if kind == "number" and _RUN.match(text, found.end()):
            run = _RUN.match(text, at)
            number = brief(run[0] if run else found[0])
            raise mistake(text, at, f"{number} is not a number; write 40000, 0.5 or 1e6.")
        if kind is not None and kind != "space":
            tokens.append(Token(kind, found[0], at))
        at = found.end()
    return [*tokens, Token("end", "", len(text))]


def unquote(text: str, token: Token) -> str:
    """Return what a quoted token of the text stands for."""
    body = token.text[1:-1]
    # Pairs of backslashes are blanked out first: the second of a pair escapes nothing.
    if odd := re.search(r"\\[^\"']", body.replace("\\\\", "  ")):
        at = token.at + 1 + odd.start()
        raise mistake(text, at, r"expected a quote or a backslash after '\'; write '\\' for one.")
    return re.sub(r"\\(.)", r"\1", body)


def _unreadable(character: str) -> str:
    if character in "\"'":
        return "this quote is never closed."
    if character in _INSTEAD:
        return f"{character!r} is not part of a rule; write {_INSTEAD[character]}."
    return f"{character!r} is not part of a rule."
