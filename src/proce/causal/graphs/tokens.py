"""The words, quotes and signs of Graphviz and DAGitty text, and where each of them stands.

The language of DAGitty is a dialect of that of Graphviz, so both are cut into tokens here.
"""

import re
from dataclasses import dataclass
from typing import Literal

from proce.arguments import kind_name
from proce.errors import GraphError

Dialect = Literal["DOT", "DAGitty"]
_MAX_CHARACTERS = 1_000_000
_COMMON = r"""
      (?P<space>  (?: \s+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* )+ )
    | (?P<edge>   <-> | <-@ | @-> | @-@ | @-- | --@ | -> | <- | -- )
    | (?P<word>   -?[\w.]+ )
    | (?P<sign>   [{}\[\]=;,:+] )
"""
_FLAGS = re.VERBOSE | re.DOTALL
# In DAGitty a backslash is special before a quote alone, in Graphviz before a backslash too.
_TOKEN = {
    "DOT": re.compile(_COMMON + r'| (?P<quoted> "(?: [^"\\] | \\. )*+" )', _FLAGS),
    "DAGitty": re.compile(_COMMON + r'| (?P<quoted> "(?: [^"\\] | \\" | \\ )*+" )', _FLAGS),
}
_ESCAPED = {"DOT": re.compile(r'\\(["\\])'), "DAGitty": re.compile(r'\\(")')}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {"graph", "digraph", "subgraph", "node", "edge", "strict", "dag", "pdag", "mag", "pag"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text.

    Attributes
    ----------
    kind
        ``word``, ``quoted``, ``edge``, ``sign``, or ``end`` for the end of the text.
    text
        What the piece says; quotes and backslashes are already taken away.
    position
        Where the piece begins in the text.
    """

    kind: str
    text: str
    position: int

    @property
    def is_name(self) -> bool:
        """Whether the piece can be the name of a node or of an attribute."""
        return self.kind in ("word", "quoted")

    def is_sign(self, sign: str) -> bool:
        """Whether the piece is this sign, and not a quoted name that looks like it."""
        return self.kind == "sign" and self.text == sign

    def is_word(self, *words: str) -> bool:
        """Whether the piece is one of these words, in any case and without quotes."""
        return self.kind == "word" and self.text.lower() in words

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(self.text[:40])


def tokens_of(text: str, dialect: Dialect) -> list[Token]:
    """Cut a text into its tokens, without spaces and comments; the last one is the end."""
    if not isinstance(text, str):
        raise GraphError(f"{dialect} text is {kind_name(text)}; expected a string.")
    if len(text) > _MAX_CHARACTERS:
        raise GraphError(
            f"the {dialect} text has {len(text):,} characters; at most {_MAX_CHARACTERS:,} are"
            " read. Give the edges as a list instead."
        )
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN[dialect].match(text, position)
        if match is None:
            raise mistake(dialect, text, position, _unreadable(text[position]))
        kind, piece = match.lastgroup or "", match[0]
        if kind == "quoted":
            piece = _ESCAPED[dialect].sub(r"\1", piece[1:-1])
        if kind != "space":
            tokens.append(Token(kind, piece, position))
        position = match.end()
    return [*tokens, Token("end", "", len(text))]


def mistake(dialect: Dialect, text: str, position: int, what: str) -> GraphError:
    """Return the error for something wrong at one place of the text."""
    row = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    error = GraphError(f"{dialect} text, line {row}, column {column}: {what}")
    error.position = position
    return error


def quoted(name: str) -> str:
    """Return a name as it is written in a text: in quotes where it needs them."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', r"\"") + '"'


def _unreadable(character: str) -> str:
    if character == '"':
        return "a quote opens here and is never closed."
    if character == "<":
        return "'<' opens a name in HTML, which is not read; write the name in double quotes."
    return f"{character!r} does not belong here; write names with signs in double quotes."
