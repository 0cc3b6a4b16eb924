"""Graphs as the text of DAGitty, both ways.

What is read: nodes, chains of edges, groups in braces, attributes, defaults of edges and
comments. The size of the text, its nesting and its edges are bounded.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proce.causal.graphs.dag import Dag
from proce.causal.graphs.tokens import Token, mistake, quoted, tokens_of
from proce.causal.graphs.written import MAX_EDGES, WrittenEdge, dag_of
from proce.errors import GraphError

_MAX_DEPTH = 20  # of braces
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_REFUSED_SIGNS = {
    "<->": "an unmeasured common cause",
    "<-@": "an end that may be either",
    "@->": "an end that may be either",
    "@-@": "two ends that may be either",
    "@--": "an end that may be either",
    "--@": "an end that may be either",
}
Attributes = dict[str, str]


def read_dagitty(text: str, max_edges: int = MAX_EDGES) -> Dag:
    """Read DAGitty text: ``dag { age -> income }``; a ``pdag`` may hold ``a -- b``.

    Parameters
    ----------
    text
        The text.
    max_edges
        How many edges it may write.
    """
    written = _Reader(text, max_edges).graph()
    if written.kind not in ("dag", "pdag"):
        raise GraphError(
            f"DAGitty text: this is a {written.kind!r}; expected 'dag {{ a -> b }}', or a 'pdag'"
            " where some pairs are left undirected."
        )
    for name, attributes in written.nodes.items():
        if "latent" in attributes or "unobserved" in attributes:
            raise GraphError(
                f"DAGitty text: {name!r} is marked as latent. A graph here is over measured"
                " features; remove it, and know that consequences through it are not seen."
            )
    edges = [_written_edge(connection, text) for connection in written.connections]
    return dag_of(written.nodes, edges, written.attributes.get("discovered_by"))


def write_dagitty(dag: Dag) -> str:
    """Return DAGitty text, without confidences; undirected pairs are ``a -- b``."""
    for node in dag.nodes:
        if node.endswith("\\") or _CONTROL_CHARACTER.search(node):
            raise GraphError(
                f"DAGitty text cannot hold the name {node!r}: it has a control character, or ends"
                " in a backslash. Rename the feature, or write JSON."
            )
    name = {node: quoted(node) for node in dag.nodes}
    lines = [name[node] for node in dag.nodes]
    lines += [f"{name[cause]} -> {name[effect]}" for cause, effect in dag.edges]
    lines += [f"{name[one]} -- {name[other]}" for one, other in dag.undirected]
    return "\n".join(["pdag {" if dag.undirected else "dag {", *lines, "}", ""])


@dataclass(frozen=True, slots=True)
class _Connection:
    """Two names, the sign between them, the attributes behind them, and where the sign stands."""

    left: str
    sign: str
    right: str
    attributes: Mapping[str, str]
    position: int


@dataclass
class _WrittenGraph:
    """What the text says, not yet judged."""

    kind: str = ""
    attributes: Attributes = field(default_factory=dict)
    nodes: dict[str, Attributes] = field(default_factory=dict)
    connections: list[_Connection] = field(default_factory=list)


def _written_edge(connection: _Connection, text: str) -> WrittenEdge:
    left, sign, right = connection.left, connection.sign, connection.right
    if sign in _REFUSED_SIGNS:
        what = (
            f"{left} {sign} {right} stands for {_REFUSED_SIGNS[sign]}, which a causal"
            " graph of features cannot hold; give a direction, or remove the edge."
        )
        raise mistake("DAGitty", text, connection.position, what)
    names = (right, left) if sign == "<-" else (left, right)
    return WrittenEdge(names, sign != "--", connection.attributes.get("confidence"))


class _Reader:
    """Reads the tokens of a text from the first to the last."""

    def __init__(self, text: str, max_edges: int) -> None:
        self.text = text
        self.max_edges = max_edges
        self.tokens = tokens_of(text, "DAGitty")
        self.position = 0
        self.result = _WrittenGraph()

    def graph(self) -> _WrittenGraph:
        self.skip_word("strict")
        kind = self.take()
        if kind.kind != "word":
            raise self.wrong(kind, "expected the kind of the graph, as in 'dag { a -> b }'")
        self.result.kind = kind.text.lower()
        if self.ahead.is_name:
            self.take()  # the graph's own name
        if not self.skip_sign("{"):
            raise self.wrong(self.ahead, "expected '{'")
        self.statements({}, depth=1)
        if self.ahead.kind != "end":
            raise self.wrong(self.ahead, "expected nothing after the closing brace")
        return self.result

    def statements(self, edge_defaults: Attributes, depth: int) -> list[str]:
        """Read up to the closing brace; return the names that occur."""
        if depth > _MAX_DEPTH:
            raise self.wrong(self.ahead, f"braces are nested more than {_MAX_DEPTH} deep")
        names: dict[str, None] = {}
        while not self.skip_sign("}"):
            if self.skip_sign(";") or self.skip_sign(","):
                continue
            names |= dict.fromkeys(self.statement(edge_defaults, depth))
        return list(names)

    def statement(self, edge_defaults: Attributes, depth: int) -> list[str]:
        start, following = self.ahead, self.following
        # ``edge`` before attributes gives defaults; anywhere else it is the name of a node.
        gives_defaults = start.kind == "word" and start.text in ("graph", "node", "edge")
        if gives_defaults and following.is_sign("["):
            self.take()
            defaults = self.attributes()
            if start.text == "edge":
                edge_defaults.update(defaults)
            return []
        if start.is_name and following.is_sign("="):
            self.position += 2
            self.result.attributes[start.text] = self.name("a value")
            return []
        return self.chain(edge_defaults, depth)

    def chain(self, edge_defaults: Attributes, depth: int) -> list[str]:
        """Read a node, or nodes and groups that are joined by edges."""
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
                self.result.nodes[name].update(attributes)
        for left, sign, right in zip(sides, signs, sides[1:], strict=False):
            self.connect(left, sign, right, edge_defaults | attributes)
        return names

    def connect(
        self, left: list[str], sign: Token, right: list[str], attributes: Attributes
    ) -> None:
        connections = self.result.connections
        if len(connections) + len(left) * len(right) > self.max_edges:
            raise self.wrong(sign, f"there are more than {self.max_edges:,} edges")
        connections += [
            _Connection(one, sign.text, other, attributes, sign.position)
            for one in left
            for other in right
        ]

    def side(self, edge_defaults: Attributes, depth: int) -> list[str]:
        """Read a name, or a group in braces."""
        if self.skip_word("subgraph") and self.ahead.is_name:
            self.take()
        if self.skip_sign("{"):
            return self.statements(dict(edge_defaults), depth + 1)
        name = self.name("a name or '}'")
        while self.skip_sign(":"):  # the side of a box at which the edge is drawn
            self.name("a port")
        return [name]

    def attributes(self) -> Attributes:
        attributes: Attributes = {}
        while self.skip_sign("["):
            while not self.skip_sign("]"):
                key = self.name("an attribute or ']'")
                attributes[key] = self.name("a value") if self.skip_sign("=") else "true"
                _ = self.skip_sign(",") or self.skip_sign(";")
        return attributes

    def name(self, expected: str) -> str:
        token = self.take()
        if not token.is_name:
            raise self.wrong(token, f"expected {expected}")
        text = token.text
        while token.kind == "quoted" and self.skip_sign("+"):
            token = self.take()
            if token.kind != "quoted":
                raise self.wrong(token, "expected quoted text after '+'")
            text += token.text
        return text

    @property
    def ahead(self) -> Token:
        return self.tokens[self.position]

    @property
    def following(self) -> Token:
        """The token behind the next one."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.ahead
        self.position += token.kind != "end"
        return token

    def skip_sign(self, sign: str) -> bool:
        is_there = self.ahead.is_sign(sign)
        self.position += is_there
        return is_there

    def skip_word(self, word: str) -> bool:
        is_there = self.ahead.is_word(word)
        self.position += is_there
        return is_there

    def wrong(self, token: Token, what: str) -> GraphError:
        return mistake("DAGitty", self.text, token.position, f"{what}; found {token}.")
