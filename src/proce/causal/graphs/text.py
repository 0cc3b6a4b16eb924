"""Graphs as the texts of Graphviz and of DAGitty, both ways.

The language of DAGitty is a dialect of that of Graphviz: one reader goes through the text by
recursive descent, and each dialect says what its kinds of graph, its signs and its attributes
mean. The size of a text, its nesting and its edges are bounded.
"""

import re
from typing import ClassVar, NamedTuple

from proce.arguments import kind_name
from proce.causal.graphs.dag import Dag, Edge, Origin
from proce.errors import GraphError

MAX_EDGES = 100_000
_MAX_CHARACTERS = 1_000_000
_MAX_DEPTH = 20  # of braces
_DEFAULTS = ("graph", "node", "edge")  # words before attributes of all that follow
_READ = ("dir", "confidence", "latent", "unobserved")  # attributes; all others are passed over
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {"graph", "digraph", "subgraph", "node", "edge", "strict", "dag", "pdag", "mag", "pag"}
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_DIRECTIONS = ("forward", "back", "none")
_NOT_CAUSES = {
    "<->": "an unmeasured common cause",
    "<-@": "an end that may be either",
    "@->": "an end that may be either",
    "@-@": "two ends that may be either",
    "@--": "an end that may be either",
    "--@": "an end that may be either",
}
_TOKEN = r"""
      (?P<space>  (?: \s+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* )+ )
    | (?P<edge>   <-> | <-@ | @-> | @-@ | @-- | --@ | -> | <- | -- )
    | (?P<word>   -?[\w.]+ )
    | (?P<sign>   [{}\[\]=;,:+] )
    | (?P<quoted> "(?: [^"\\] | \\. )*+" )
"""


def read_dot(text: str) -> Dag:
    """Read Graphviz text; a node is known by its name, and ``dir=none`` leaves a pair open."""
    return _Dot(text, MAX_EDGES).graph()


def read_dagitty(text: str, max_edges: int = MAX_EDGES) -> Dag:
    """Read DAGitty text: ``dag { age -> income }``; a ``pdag`` may hold ``a -- b``."""
    return _Dagitty(text, max_edges).graph()


def write_dot(dag: Dag) -> str:
    """Return Graphviz text, with confidences; undirected pairs have ``dir=none``."""
    name = {node: _quoted(node.replace("\\", r"\\")) for node in dag.nodes}
    shares = {edge: f' [confidence="{share!r}"]' for edge, share in dag.confidence.items()}
    lines = ["rankdir=LR;"]
    if dag.origin.algorithm is not None:
        lines.append(f"discovered_by={_quoted(dag.origin.algorithm)};")
    lines += [f"{name[node]};" for node in dag.nodes]
    lines += [f"{name[a]} -> {name[b]}{shares.get((a, b), '')};" for a, b in dag.edges]
    lines += [f"{name[a]} -> {name[b]} [dir=none];" for a, b in dag.undirected]
    return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}", ""])


def write_dagitty(dag: Dag) -> str:
    """Return DAGitty text, without confidences; undirected pairs are ``a -- b``."""
    for node in dag.nodes:
        if node.endswith("\\") or _CONTROL_CHARACTER.search(node):
            raise GraphError(
                f"DAGitty text cannot hold the name {node!r}: it has a control character, or ends"
                " in a backslash. Rename the feature, or write JSON."
            )
    name = {node: _quoted(node) for node in dag.nodes}
    lines = [name[node] for node in dag.nodes]
    lines += [f"{name[cause]} -> {name[effect]}" for cause, effect in dag.edges]
    lines += [f"{name[one]} -- {name[other]}" for one, other in dag.undirected]
    return "\n".join(["pdag {" if dag.undirected else "dag {", *lines, "}", ""])


def _quoted(name: str) -> str:
    """Return a name as it is written in a text: in quotes where it needs them."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', r"\"") + '"'


class _Token(NamedTuple):
    """A word, quoted name, edge or sign of a text, or its end, and where it stands."""

    # Of what is quoted, `text` is what it says, without quotes and backslashes.

    kind: str
    text: str
    position: int

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")

    def is_sign(self, *signs: str) -> bool:
        """Whether this is one of some signs, and not a quoted name that looks like it."""
        return self.kind == "sign" and self.text in signs

    def is_word(self, word: str) -> bool:
        """Whether this is a word, in any case and without quotes."""
        return self.kind == "word" and self.text.lower() == word

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(self.text[:40])


_Attributes = dict[str, _Token]


class _Reader:
    """Reads a text from its first token to its last; a dialect says what edges mean."""

    dialect: ClassVar[str]
    example: ClassVar[str]
    token: ClassVar[re.Pattern[str]]
    escaped: ClassVar[re.Pattern[str]]
    separators: ClassVar[str]  # between statements
    max_ports: ClassVar[int]  # behind a name: where an edge is drawn at its box
    groups_have_attributes: ClassVar[bool]

    def __init__(self, text: str, max_edges: int) -> None:
        self.text = text
        self.max_edges = max_edges
        self.tokens = self._tokens()
        self.place = 0
        self.n_edges = 0
        self.nodes: dict[str, None] = {}
        self.edges: dict[Edge, None] = {}
        self.undirected: dict[Edge, None] = {}
        self.confidence: dict[Edge, float] = {}
        self.algorithm: str | None = None

    # What a dialect says.

    def check_kind(self, kind: str) -> None:
        """Refuse a kind of graph that is not of causes and effects."""
        raise NotImplementedError

    def check_node(self, names: list[str], attributes: _Attributes) -> None:
        """Refuse nodes that a causal graph cannot hold."""

    def check_edge(self, attributes: _Attributes) -> None:
        """Refuse attributes of edges that leave their direction unclear."""

    def connect(self, one: str, sign: _Token, other: str, attributes: _Attributes) -> None:
        """Keep what stands between two names."""
        raise NotImplementedError

    # From the whole text to its parts.

    def graph(self) -> Dag:
        if self.ahead.is_word("strict"):
            self.take()
        kind = self.take()
        if kind.kind != "word":
            raise self.wrong(kind, f"expected the kind of the graph, as in '{self.example}'")
        self.check_kind(kind.text.lower())
        if self.ahead.is_name:
            self.name("a name")  # of the graph itself
        if not self.skip("{"):
            raise self.wrong(self.ahead, "expected '{'")
        self.statements({}, depth=1)
        if self.ahead.kind != "end":
            raise self.wrong(self.ahead, "expected nothing after the closing brace")
        return Dag(self.edges, self.nodes, self.confidence, Origin(self.algorithm), self.undirected)

    def statements(self, defaults: _Attributes, depth: int) -> list[str]:
        """Read up to the closing brace; return the names that occur."""
        names: dict[str, None] = {}
        while not self.skip("}"):
            if not self.skip(*self.separators):
                names |= dict.fromkeys(self.statement(defaults, depth))
        return list(names)

    def statement(self, defaults: _Attributes, depth: int) -> list[str]:
        start = self.ahead
        if start.kind == "edge":
            raise self.wrong(start, "expected a name or '}' before this")
        # ``edge`` before attributes gives defaults; anywhere else it is the name of a node.
        is_default = start.kind == "word" and start.text in _DEFAULTS
        if is_default and self.tokens[self.place + 1].is_sign("["):
            self.take()
            attributes = self.attributes()
            if start.text == "edge":
                self.check_edge(attributes)
                defaults.update(attributes)
            return []
        if self.opens_group:
            return self.chain(self.group(defaults, depth), defaults, depth, starts_in_group=True)
        name = self.name("a name, an edge 'a -> b' or '}'")
        if not self.skip("="):
            return self.chain(self.node(name), defaults, depth)
        value = self.name("a value")
        if name.text == "discovered_by" and depth == 1:
            self.algorithm = value.text
        return []

    def chain(
        self, first: list[str], defaults: _Attributes, depth: int, starts_in_group: bool = False
    ) -> list[str]:
        """Read what follows a node or a group: nodes and groups that are joined by edges."""
        sides, signs = [first], []
        while self.ahead.kind == "edge":
            signs.append(self.take())
            is_group, what = self.opens_group, "a name or '{'"
            sides.append(self.group(defaults, depth) if is_group else self.node(self.name(what)))
        names = [name for side in sides for name in side]
        if not signs:
            if self.groups_have_attributes or not starts_in_group:
                self.check_node(names, self.attributes())
            return names
        attributes = defaults | self.attributes()
        self.check_edge(attributes)
        for left, sign, right in zip(sides, signs, sides[1:], strict=False):
            self.n_edges += len(left) * len(right)
            if self.n_edges > self.max_edges:
                raise self.wrong(sign, f"there are more than {self.max_edges:,} edges")
            for one in left:
                for other in right:
                    self.connect(one, sign, other, attributes)
        return names

    @property
    def opens_group(self) -> bool:
        return self.ahead.is_sign("{") or self.ahead.is_word("subgraph")

    def group(self, defaults: _Attributes, depth: int) -> list[str]:
        """Read a group in braces, which may be called a subgraph and have a name."""
        start = self.take()
        if start.kind == "word":
            if self.ahead.is_name:
                self.name("a name")
            if not self.skip("{"):
                what = f"{start} is a word of the language; write it in double quotes where it is"
                raise self.mistake(start.position, f"{what} a name.")
        if depth == _MAX_DEPTH:
            opening = self.tokens[self.place - 1].position
            raise self.mistake(opening, f"braces are nested more than {_MAX_DEPTH} deep.")
        return self.statements(dict(defaults), depth + 1)

    def node(self, name: _Token) -> list[str]:
        """Read the ports behind a name."""
        n_ports = 0
        while n_ports < self.max_ports and self.skip(":"):
            self.name("a port")
            n_ports += 1
        self.nodes[name.text] = None
        return [name.text]

    def attributes(self) -> _Attributes:
        """Read all lists in brackets; an attribute without a value is ``true``."""
        attributes: _Attributes = {}
        while self.skip("["):
            while not self.skip("]"):
                key = self.name("an attribute or ']'")
                value = self.name("a value") if self.skip("=") else key._replace(text="true")
                if key.text in _READ:
                    attributes[key.text] = value
                self.skip(",", ";")
        return attributes

    def name(self, expected: str) -> _Token:
        """Read a word or quoted text, with quoted text that is put behind it by ``+``."""
        name = self.take()
        if not name.is_name:
            raise self.wrong(name, f"expected {expected}")
        pieces = [name.text]
        while self.skip("+"):
            piece = self.take()
            if piece.kind != "quoted":
                raise self.wrong(piece, "expected quoted text after '+'")
            pieces.append(piece.text)
        return name._replace(text="".join(pieces))

    def direct(self, edge: Edge, attributes: _Attributes) -> None:
        """Keep an edge, with its confidence where it has one."""
        self.edges[edge] = None
        share = attributes.get("confidence")
        if share is None:
            return
        try:
            self.confidence[edge] = float(share.text)
        except ValueError:
            what = f"the confidence {share.text!r} is not a number; expected 0 to 1."
            raise self.mistake(share.position, what) from None

    def leave_open(self, pair: Edge) -> None:
        """Keep a pair without a direction."""
        if pair[::-1] not in self.undirected:
            self.undirected[pair] = None

    # The tokens.

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.place]

    def take(self) -> _Token:
        token = self.ahead
        self.place += token.kind != "end"
        return token

    def skip(self, *signs: str) -> bool:
        is_there = self.ahead.is_sign(*signs)
        self.place += is_there
        return is_there

    def wrong(self, token: _Token, what: str) -> GraphError:
        return self.mistake(token.position, f"{what}; found {token}.")

    def mistake(self, position: int, what: str) -> GraphError:
        """Return the error for something wrong at one place of the text."""
        row = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        error = GraphError(f"{self.dialect} text, line {row}, column {column}: {what}")
        error.position = position
        return error

    def _tokens(self) -> list[_Token]:
        """Cut the text into its tokens, without spaces and comments; the last one is the end."""
        text = self.text
        if not isinstance(text, str):
            raise GraphError(f"{self.dialect} text is {kind_name(text)}; expected a string.")
        if len(text) > _MAX_CHARACTERS:
            raise GraphError(
                f"the {self.dialect} text has {len(text):,} characters; at most"
                f" {_MAX_CHARACTERS:,} are read. Give the edges as a list instead."
            )
        tokens, position = [], 0
        while position < len(text):
            match = self.token.match(text, position)
            if match is None:
                raise self.mistake(position, _unreadable(text[position]))
            kind, piece = match.lastgroup or "", match[0]
            if kind == "quoted":
                piece = self.escaped.sub(r"\1", piece[1:-1])
            if kind != "space":
                tokens.append(_Token(kind, piece, position))
            position = match.end()
        return [*tokens, _Token("end", "", len(text))]


def _unreadable(character: str) -> str:
    if character == '"':
        return "a quote opens here and is never closed."
    if character == "<":
        return "'<' opens a name in HTML, which is not read; write the name in double quotes."
    return f"{character!r} does not belong here; write names with signs in double quotes."


class _Dot(_Reader):
    """Graphviz: the attribute ``dir`` says which end of ``->`` is the cause."""

    dialect = "DOT"
    example = "digraph { a -> b }"
    token = re.compile(_TOKEN, re.VERBOSE | re.DOTALL)
    escaped = re.compile(r'\\(["\\])')
    separators = ";"
    max_ports = 2
    groups_have_attributes = False

    def check_kind(self, kind: str) -> None:
        if kind != "digraph":
            raise GraphError(
                f"DOT text: this is a {kind!r}; expected a digraph, whose edges say which feature"
                " is the cause."
            )

    def check_edge(self, attributes: _Attributes) -> None:
        given = attributes.get("dir")
        if given is not None and given.text not in _DIRECTIONS:
            expected = ", ".join(_DIRECTIONS)
            what = f"the direction {given.text!r} has no cause; expected {expected}."
            raise self.mistake(given.position, what)

    def connect(self, one: str, sign: _Token, other: str, attributes: _Attributes) -> None:
        if sign.text != "->":
            what = f"found {sign.text!r} in a digraph; expected '->'."
            raise self.mistake(sign.position, what)
        direction = attributes["dir"].text if "dir" in attributes else "forward"
        if direction == "none":
            self.leave_open((one, other))
        else:
            self.direct((other, one) if direction == "back" else (one, other), attributes)


class _Dagitty(_Reader):
    """DAGitty: a backslash is special before a quote alone, and the sign tells the cause."""

    dialect = "DAGitty"
    example = "dag { a -> b }"
    token = re.compile(_TOKEN.replace(r"\\.", r'\\" | \\'), re.VERBOSE | re.DOTALL)
    escaped = re.compile(r'\\(")')
    separators = ";,"
    max_ports = _MAX_CHARACTERS
    groups_have_attributes = True

    def check_kind(self, kind: str) -> None:
        if kind not in ("dag", "pdag"):
            raise GraphError(
                f"DAGitty text: this is a {kind!r}; expected 'dag {{ a -> b }}', or a 'pdag' where"
                " some pairs are left undirected."
            )

    def check_node(self, names: list[str], attributes: _Attributes) -> None:
        mark = attributes.get("latent") or attributes.get("unobserved")
        if mark is not None and names:
            what = f"{names[0]!r} is marked as latent. A graph here is over measured features;"
            hint = "remove it, and know that consequences through it are not seen."
            raise self.mistake(mark.position, f"{what} {hint}")

    def connect(self, one: str, sign: _Token, other: str, attributes: _Attributes) -> None:
        if sign.text in _NOT_CAUSES:
            what = f"{one} {sign.text} {other} stands for {_NOT_CAUSES[sign.text]}, which a causal"
            hint = "graph of features cannot hold; give a direction, or remove the edge."
            raise self.mistake(sign.position, f"{what} {hint}")
        if sign.text == "--":
            self.leave_open((one, other))
        else:
            self.direct((other, one) if sign.text == "<-" else (one, other), attributes)
