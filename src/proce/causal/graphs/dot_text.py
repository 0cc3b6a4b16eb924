"""Read the text of Graphviz and of DAGitty, whose language is a dialect of it.

What is read: nodes, chains of edges, groups in braces, attributes, defaults of edges and
comments. The size of the text, its nesting and its edges are bounded.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proce.errors import GraphError

_MOST_CHARACTERS = 1_000_000
_MOST_EDGES = 100_000
_DEEPEST = 20
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
Attributes = dict[str, str]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: ``word``, ``quoted``, ``edge``, ``sign``, or its ``end``."""

    kind: str
    text: str
    at: int

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(self.text[:40])


@dataclass(frozen=True, slots=True)
class WrittenEdge:
    """Two names, the sign between them, the attributes behind them, and where that was."""

    left: str
    sign: str
    right: str
    attributes: Mapping[str, str]
    at: int


@dataclass
class WrittenGraph:
    """What the text says, not yet judged."""

    kind: str = ""
    attributes: Attributes = field(default_factory=dict)
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[WrittenEdge] = field(default_factory=list)


def mistake(dialect: str, text: str, at: int, what: str) -> GraphError:
    """Return the error for something wrong at one place of the text."""
    row = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return GraphError(f"{dialect} text, line {row}, column {column}: {what}")


def read(text: str, dialect: str) -> WrittenGraph:
    """Return what a text in the dialect ``"DOT"`` or ``"DAGitty"`` says."""
    if not isinstance(text, str):
        raise GraphError(f"{dialect} text is a {type(text).__name__}; expected a string.")
    if len(text) > _MOST_CHARACTERS:
        raise GraphError(
            f"the {dialect} text has {len(text):,} characters; at most {_MOST_CHARACTERS:,} are"
            " read. Give the edges as a list instead."
        )
    return _Reader(text, dialect).graph()


def _tokens(text: str, dialect: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = _TOKEN[dialect].match(text, at)
        if found is None:
            ends = text[at] == '"'
            what = "a quote opens here and is never closed." if ends else _unreadable(text[at])
            raise mistake(dialect, text, at, what)
        kind, piece = found.lastgroup or "", found[0]
        if kind == "quoted":
            piece = _ESCAPED[dialect].sub(r"\1", piece[1:-1])
        if kind != "space":
            tokens.append(Token(kind, piece, at))
        at = found.end()
    return [*tokens, Token("end", "", len(text))]


def _unreadable(character: str) -> str:
    if character == "<":
        return "'<' opens a name in HTML, which is not read; write the name in double quotes."
    return f"{character!r} does not belong here; write names with signs in double quotes."


class _Reader:
    """Walks over the tokens once."""

    def __init__(self, text: str, dialect: str) -> None:
        self.text, self.dialect = text, dialect
        self.tokens = _tokens(text, dialect)
        self.place = 0
        self.result = WrittenGraph()

    def graph(self) -> WrittenGraph:
        self.take_word("strict")
        kind = self.take()
        if kind.kind != "word":
            example = "digraph { a -> b }" if self.dialect == "DOT" else "dag { a -> b }"
            raise self.wrong(kind, f"expected the kind of the graph, as in {example!r}")
        self.result.kind = kind.text.lower()
        if self.ahead.kind in ("word", "quoted"):
            self.take()  # the graph's own name
        self.expect("{")
        self.statements({}, depth=1)
        if self.ahead.kind != "end":
            raise self.wrong(self.ahead, "expected nothing after the closing brace")
        return self.result

    def statements(self, edge_defaults: Attributes, depth: int) -> list[str]:
        """Read up to the closing brace; return the names that occur."""
        if depth > _DEEPEST:
            raise self.wrong(self.ahead, f"braces are nested more than {_DEEPEST} deep")
        names: dict[str, None] = {}
        while not self.take_sign("}"):
            if self.take_sign(";") or self.take_sign(","):
                continue
            names |= dict.fromkeys(self.statement(edge_defaults, depth))
        return list(names)

    def statement(self, edge_defaults: Attributes, depth: int) -> list[str]:
        start = self.ahead
        if self.take_default():
            defaults = self.attributes()
            if start.text == "edge":
                edge_defaults.update(defaults)
            return []
        if start.kind in ("word", "quoted") and self.follows("="):
            self.place += 2
            self.result.attributes[start.text] = self.name("a value")
            return []
        sides = [self.side(edge_defaults, depth)]
        signs: list[Token] = []
        while self.ahead.kind == "edge":
            signs.append(self.take())
            sides.append(self.side(edge_defaults, depth))
        attributes = self.attributes()
        names = [name for side in sides for name in side]
        for name in names:
            self.result.nodes.setdefault(name, {})
        if not signs:
            for name in names:
                self.result.nodes[name].update(attributes)
        for left, sign, right in zip(sides, signs, sides[1:], strict=False):
            if len(self.result.edges) + len(left) * len(right) > _MOST_EDGES:
                raise self.wrong(sign, f"there are more than {_MOST_EDGES:,} edges")
            written = edge_defaults | attributes
            self.result.edges += [
                WrittenEdge(a, sign.text, b, written, sign.at) for a in left for b in right
            ]
        return names

    def side(self, edge_defaults: Attributes, depth: int) -> list[str]:
        """Read a name, or a group in braces."""
        if self.take_word("subgraph") and self.ahead.kind in ("word", "quoted"):
            self.take()
        if self.take_sign("{"):
            return self.statements(dict(edge_defaults), depth + 1)
        name = self.name("a name or '}'")
        while self.take_sign(":"):  # the side of a box at which the edge is drawn
            self.name("a port")
        return [name]

    def attributes(self) -> Attributes:
        found: Attributes = {}
        while self.take_sign("["):
            while not self.take_sign("]"):
                key = self.name("an attribute or ']'")
                found[key] = self.name("a value") if self.take_sign("=") else "true"
                _ = self.take_sign(",") or self.take_sign(";")
        return found

    def name(self, expected: str) -> str:
        token = self.take()
        if token.kind not in ("word", "quoted"):
            raise self.wrong(token, f"expected {expected}")
        text = token.text
        while token.kind == "quoted" and self.take_sign("+"):
            token = self.take()
            if token.kind != "quoted":
                raise self.wrong(token, "expected quoted text after '+'")
            text += token.text
        return text

    @property
    def ahead(self) -> Token:
        return self.tokens[self.place]

    def follows(self, sign: str) -> bool:
        """Whether a sign, not a quoted name, stands behind the next token."""
        behind = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return behind.kind == "sign" and behind.text == sign

    def take(self) -> Token:
        token = self.ahead
        self.place += token.kind != "end"
        return token

    def take_sign(self, sign: str) -> bool:
        found = self.ahead.kind == "sign" and self.ahead.text == sign
        self.place += found
        return found

    def take_word(self, word: str) -> bool:
        found = self.ahead.kind == "word" and self.ahead.text.lower() == word
        self.place += found
        return found

    def take_default(self) -> bool:
        """Step over ``edge`` in ``edge [color=red]``, but not where it is a node's name."""
        found = (
            self.ahead.kind == "word"
            and self.ahead.text in ("graph", "node", "edge")
            and self.follows("[")
        )
        self.place += found
        return found

    def expect(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise self.wrong(self.ahead, f"expected {sign!r}")

    def wrong(self, token: Token, what: str) -> GraphError:
        return mistake(self.dialect, self.text, token.at, f"{what}; found {token}.")
