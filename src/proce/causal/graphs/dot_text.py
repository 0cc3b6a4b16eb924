"""Graphs as the text of Graphviz, both ways.

The text is cut into tokens here and its grammar is read by pydot. pydot sees a number in quotes
in place of each name and value, because by itself it changes some quoted names, takes ``a -- b``
for ``a -> b``, prints its errors, stops at attributes called ``name`` or ``src``, and needs twice
the time for every level of braces.
"""

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

from proce.causal.graphs.dag import Dag
from proce.causal.graphs.tokens import Token, mistake, quoted, tokens_of
from proce.causal.graphs.written import MAX_EDGES, WrittenEdge, dag_of
from proce.errors import GraphError

_MAX_DEPTH = 8  # of braces
_MAX_EFFORT = 40_000  # some seconds: the effort of a sign outside of braces is 1
_EFFORT_PER_NAME = 4
_EFFORT_PER_LEVEL = 3  # pydot reads what is in braces at least twice
_DEFAULTS = ("graph", "node", "edge")  # words before attributes of all that follow
_DIRECTIONS = ("forward", "back", "none")
_EXPECTED = {
    "lbrace": "expected '{'",
    "rbrace": "expected a name, an edge 'a -> b' or '}'",
    "end of text": "expected nothing after the closing brace",
}
_PLACEHOLDER = re.compile(r'"([ \d]+)"')
_parsing = Lock()  # pyparsing keeps its state in the grammar
Part = Mapping[str, Any]  # what pydot says of a node, an edge or a subgraph


def read_dot(text: str) -> Dag:
    """Read Graphviz text; a node is known by its name, and ``dir=none`` leaves a pair open."""
    tokens = tokens_of(text, "DOT")
    _check_kind(tokens, text)
    _check_tokens(tokens, text)
    graph = _parsed(tokens, text)
    reader = _Reader(tokens, text)
    reader.read(graph, {})
    algorithm = reader.attributes(graph["attributes"]).get("discovered_by")
    return dag_of(reader.nodes, reader.edges, algorithm)


def write_dot(dag: Dag) -> str:
    """Return Graphviz text, with confidences; undirected pairs have ``dir=none``."""
    name = {node: quoted(node.replace("\\", r"\\")) for node in dag.nodes}
    shares = {edge: f' [confidence="{share!r}"]' for edge, share in dag.confidence.items()}
    lines = ["rankdir=LR;"]
    if dag.origin.algorithm is not None:
        lines.append(f"discovered_by={quoted(dag.origin.algorithm)};")
    lines += [f"{name[node]};" for node in dag.nodes]
    lines += [f"{name[a]} -> {name[b]}{shares.get((a, b), '')};" for a, b in dag.edges]
    lines += [f"{name[a]} -> {name[b]} [dir=none];" for a, b in dag.undirected]
    return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}", ""])


def _check_kind(tokens: Sequence[Token], text: str) -> None:
    kind = tokens[1] if tokens[0].is_word("strict") else tokens[0]
    if kind.kind != "word":
        what = f"expected the kind of the graph, as in 'digraph {{ a -> b }}'; found {kind}."
        raise mistake("DOT", text, kind.position, what)
    if not kind.is_word("digraph"):
        raise GraphError(
            f"DOT text: this is a {kind.text.lower()!r}; expected a digraph, whose edges say which"
            " feature is the cause."
        )


def _check_tokens(tokens: Sequence[Token], text: str) -> None:
    """Refuse what pydot would misread, report badly, or take too long over."""
    depth, effort = 0, 0
    for token, following in pairwise(tokens):
        what = _wrong_after(token, following)
        if what:
            raise mistake("DOT", text, following.position, f"{what}; found {following}.")
        if token.kind == "edge" and token.text != "->":
            what = f"found {token.text!r} in a digraph; expected '->'."
            raise mistake("DOT", text, token.position, what)
        depth += token.is_sign("{") - token.is_sign("}")
        if depth > _MAX_DEPTH:
            what = f"braces are nested more than {_MAX_DEPTH} deep."
            raise mistake("DOT", text, token.position, what)
        if depth == 0 and token.is_sign("}") and following.kind != "end":
            what = f"{_EXPECTED['end of text']}; found {following}."
            raise mistake("DOT", text, following.position, what)
        level = _EFFORT_PER_LEVEL ** max(0, depth - 1)
        effort += level * (_EFFORT_PER_NAME if token.is_name else 1)
    if effort > _MAX_EFFORT:
        raise GraphError(
            f"the DOT text has {len(tokens) - 1:,} words and signs, too many to be read (those in"
            " braces inside braces count several times). Give the edges as a list, or as JSON."
        )


def _wrong_after(token: Token, following: Token) -> str:
    """Say what should have followed a token, where that can be told from the next one alone."""
    is_name = following.is_name
    if following.kind == "edge" and not (token.is_name or token.is_sign("}")):
        return "expected a name or '}' before this"
    if token.kind == "edge" and not (is_name or following.is_sign("{")):
        return "expected a name or '{'"
    if token.is_sign("[") and not (is_name or following.is_sign("]")):
        return "expected an attribute or ']'"
    if token.is_sign("=") and not is_name:
        return "expected a value"
    if token.is_sign("+") and following.kind != "quoted":
        return "expected quoted text after '+'"
    return ""


def _parsed(tokens: Sequence[Token], text: str) -> Part:
    """Return what pydot reads, with the positions of tokens in place of names and values."""
    from pyparsing import ParseBaseException

    pieces = list(_pieces(tokens))
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece) + 1)
    try:
        with _parsing:
            graph = _grammar().parse_string(
                "".join(f"{piece} " for piece in pieces), parse_all=True
            )[0]
    except ParseBaseException as error:
        token = tokens[bisect_right(starts, error.loc) - 1]
        expected = _EXPECTED.get(error.msg.removeprefix("Expected "), "this cannot be read")
        raise mistake("DOT", text, token.position, f"{expected}; found {token}.") from None
    except RecursionError:
        raise GraphError("DOT text: braces are nested too deep to be read here.") from None
    parts: Part = graph.obj_dict
    return parts


@cache
def _grammar() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydot calls pyparsing by its former names
        from pydot.dot_parser import GraphParser
    return GraphParser.parser


def _pieces(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the text that pydot reads, a piece for each token but the end."""
    in_body = in_brackets = False
    previous = tokens[-1]
    for position, (token, following) in enumerate(pairwise(tokens)):
        in_body |= token.is_sign("{")
        in_brackets = (in_brackets or token.is_sign("[")) and not token.is_sign("]")
        keyword = _is_keyword(previous, token, following) if in_body else _opens(token)
        if token.is_name and not keyword:
            yield f'" {position}"'
        elif in_brackets and token.is_sign(";"):
            yield ","  # pydot does not know the semicolon between attributes
        else:
            yield token.text
        previous = token


def _opens(token: Token) -> bool:
    """Whether a word before the first brace belongs to the language."""
    return token.is_word("strict", "digraph")


def _is_keyword(previous: Token, token: Token, following: Token) -> bool:
    """Whether a word in braces belongs to the language; ``edge`` can be a name as well."""
    if token.is_word("subgraph"):
        return True
    is_end = previous.kind == "edge" or previous.is_sign("=") or previous.is_sign(":")
    is_default = token.kind == "word" and token.text in _DEFAULTS and following.is_sign("[")
    return is_default and not is_end


class _Reader:
    """Collects nodes and edges from what pydot read, in the order of the text."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.nodes: dict[str, None] = {}
        self.edges: list[WrittenEdge] = []
        self._tokens = tokens
        self._text = text

    def read(self, graph: Part, edge_defaults: Mapping[str, str]) -> list[str]:
        """Read the parts of a graph or of a group in braces; return the names that occur."""
        names: dict[str, None] = {}
        for part in _parts(graph):
            kind = part["type"]
            if kind == "node" and part["name"] == "edge":
                edge_defaults = {**edge_defaults, **self._edge_attributes(part)}
            elif kind == "node" and part["name"] not in _DEFAULTS:
                names[self._node(part["name"])] = None
            elif kind == "edge":
                names |= dict.fromkeys(self._edge(part, edge_defaults))
            elif kind == "subgraph":
                names |= dict.fromkeys(self.read(part, edge_defaults))
        return list(names)

    def _edge(self, part: Part, edge_defaults: Mapping[str, str]) -> list[str]:
        attributes = {**edge_defaults, **self._edge_attributes(part)}
        left, right = (
            [self._node(end)] if isinstance(end, str) else self.read(end, edge_defaults)
            for end in part["points"]
        )
        if len(self.edges) + len(left) * len(right) > MAX_EDGES:
            raise GraphError(f"DOT text: there are more than {MAX_EDGES:,} edges.")
        self.edges += [
            _written_edge(cause, effect, attributes) for cause in left for effect in right
        ]
        return [*left, *right]

    def _node(self, placeholder: str) -> str:
        name = self._name(placeholder)
        self.nodes[name] = None
        return name

    def attributes(self, placeholders: Mapping[str, str | None]) -> dict[str, str]:
        """Return attributes with their names and values; one without a value is ``"true"``."""
        return {
            self._name(key): "true" if value is None else self._name(value)
            for key, value in placeholders.items()
        }

    def _edge_attributes(self, part: Part) -> dict[str, str]:
        attributes = self.attributes(part["attributes"])
        direction = attributes.get("dir")
        if direction not in (None, *_DIRECTIONS):
            what = f"the direction {direction!r} has no cause; expected {', '.join(_DIRECTIONS)}."
            place = next(
                token
                for key, value in part["attributes"].items()
                if self._name(key) == "dir"
                for token in self._tokens_of(value or key)
            )
            raise mistake("DOT", self._text, place.position, what)
        return attributes

    def _name(self, placeholder: str) -> str:
        return "".join(token.text for token in self._tokens_of(placeholder))

    def _tokens_of(self, placeholder: str) -> list[Token]:
        """Return the tokens that pydot saw the numbers of; a port behind a name is left out."""
        match = _PLACEHOLDER.match(placeholder)
        if match is None:
            raise GraphError(
                f"DOT text: {placeholder!r} is a word of the language; write it in double quotes"
                " where it is a name."
            )
        return [self._tokens[int(number)] for number in match[1].split()]


def _parts(graph: Part) -> list[Part]:
    """Return the nodes, edges and subgraphs of a graph in the order of the text."""
    shelves = [graph[kind].values() for kind in ("nodes", "edges", "subgraphs")]
    parts = [part for shelf in shelves for same_name in shelf for part in same_name]
    return sorted(parts, key=lambda part: int(part["sequence"]))


def _written_edge(left: str, right: str, attributes: Mapping[str, str]) -> WrittenEdge:
    direction = attributes.get("dir", "forward")
    names = (right, left) if direction == "back" else (left, right)
    return WrittenEdge(names, direction != "none", attributes.get("confidence"))
