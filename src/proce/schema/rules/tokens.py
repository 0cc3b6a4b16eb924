"""The text of a rule as words, numbers, quoted names and signs."""

import re
from dataclasses import dataclass

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
        return f"the text {brief(self.text[1:-1])}" if self.kind == "quoted" else brief(self.text)

    def is_sign(self, sign: str) -> bool:
        """Whether this is the given sign, and not a quoted one."""
        return self.kind == "sign" and self.text == sign


def brief(name: str) -> str:
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
            number = brief(text[offset : rest.end()])
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
