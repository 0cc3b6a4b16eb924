"""Rules and graphs as texts."""

import json
import math

import numpy as np
import pandas as pd

from fuzzing.seeds import texts
from fuzzing.target import Target, one_in, text_of
from proce.arrays import Floats
from proce.causal import CausalGraph
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema
from proce.schema.rules.rule import conflict

_RULE_WORDS = (
    'cf. x. cf.age x.age cf.income x.job cf.job cf.school x.school cf.car cf["odd name"] '
    "x['odd name'] and or not true false => ~> age , income \"work\" 'none' == != <= >= < > + - * "
    "/ ( ) [ ] . \" ' \\ 0 1 40000 0.5 1e308 1e-320"
)
_GRAPH_WORDS = (
    '{ } [ ] -> <- -- <-> @-> --@ ; , : = + " \\" \\ // /* */ # a b c age income strict graph '
    "subgraph node edge confidence dir none back forward discovered_by latent 0.5"
)
_RULES = (
    b"cf.age >= x.age and cf.income <= 2 * x.income + 1e3 or not cf.job == 'work'",
    b'cf.school > x.school => (cf.age > x.age + 2 or cf.car == true) and x.job != "none"',
    b'-cf["odd name"] / x.income * 3 - 1 < 0.5 <= cf.age',
    b'age, income ~> "odd name"',
)
_N_WRITTEN = 4  # one in so many accepted graphs is written and read again
_N_SAMPLED = 40  # one in so many accepted texts is looked at more closely


def _codec() -> Codec:
    frame = pd.DataFrame(
        {
            "age": [20, 40, 60, None],
            "income": [1e4, 2.5e4, 7e4, 3e4],
            "job": ["none", "work", "work", "none"],
            "school": ["low", "mid", "high", None],
            "car": [True, False, True, True],
            "odd name": [-1.0, 0.0, 1e-9, 3.0],
        }
    )
    features = [
        *(Continuous("age", step=1), Continuous("income")),
        Categorical("job", ("none", "work")),
        Ordinal("school", ("low", "mid", "high")),
        *(Categorical("car", (False, True)), Continuous("odd name")),
    ]
    return Codec.fit(Schema(features), frame)


def rules() -> Target:
    """Return the target of rules: what is accepted can be evaluated, on any rows."""
    codec = _codec()
    draw = np.random.default_rng(0)
    factual = draw.random((5, 6))
    factual[:, 2:5] = factual[:, 2:5].round()
    rows = draw.random((5, 3, 6)) * 3 - 1
    rows[..., 2:5] = rows[..., 2:5].round().clip(0, 1)
    gaps = rows.copy()
    gaps[0, :, :2], gaps[1, :, 2:5] = math.nan, -1

    def check(content: bytes) -> None:
        rule = Rule.parse(text_of(content), codec)
        assert Rule.parse(str(rule), codec).tree == rule.tree, "a rule is read as it is written"
        if rule.dependence is not None:
            mechanisms = {rule.dependence[1]: lambda known: known[..., 0]}
            _check_violation(rule.violation(factual, rows, mechanisms))
            return
        for candidates in (rows, gaps):
            _check_violation(rule.violation(factual, candidates))
        if one_in(_N_SAMPLED, content):
            conflict([rule], factual)

    seeds = [*_RULES, *texts("schema/rules", "cf.", "x.", "~>", "cf[")]
    return Target("rules", check, seeds, _RULE_WORDS.encode().split())


def _check_violation(lacking: Floats) -> None:
    assert bool((np.isfinite(lacking) & (lacking >= 0)).all()), "a violation is a number"


def _check_graph(graph: CausalGraph, content: bytes) -> None:
    """Check that an accepted graph has no cycle, and comes back as it was from what it writes."""
    position = {name: number for number, name in enumerate(graph.order)}
    assert set(position) == set(graph.nodes), "all nodes are in order"
    assert all(position[cause] < position[effect] for cause, effect in graph.edges), "no cycle"
    if not one_in(_N_WRITTEN, content):
        return
    text = graph.to_json()
    again = CausalGraph.from_json(text)
    assert _told(again) == _told(graph), "JSON comes back the same"
    assert again.to_json() == text, "JSON is written the same"
    if one_in(_N_SAMPLED, content):
        again = CausalGraph.from_dot(graph.to_dot())
        assert _told(again)[:4] == _told(graph)[:4], "DOT comes back the same"
        str(graph), graph.to_networkx()
        try:
            written = graph.to_dagitty()
        except GraphError:
            return  # a name that DAGitty cannot hold
        again = CausalGraph.from_dagitty(written)
        assert _told(again)[:3] == _told(graph)[:3], "DAGitty comes back the same"


def _told(graph: CausalGraph) -> tuple[object, ...]:
    return (
        *(graph.nodes, graph.edges, graph.undirected, graph.confidence),
        *(graph.origin, tuple(map(_told, graph.resamples))),
    )


def dagitty() -> Target:
    """Return the target of DAGitty text."""

    def check(content: bytes) -> None:
        _check_graph(CausalGraph.from_dagitty(text_of(content)), content)

    words = f"dag pdag mag {_GRAPH_WORDS}".encode().split()
    return Target("dagitty", check, texts("causal/graphs", "dag {", "dag{", "pdag"), words)


def dot() -> Target:
    """Return the target of Graphviz text."""

    def check(content: bytes) -> None:
        _check_graph(CausalGraph.from_dot(text_of(content)), content)

    words = f"digraph {_GRAPH_WORDS}".encode().split()
    return Target("dot", check, texts("causal/graphs", "digraph"), words)


def graph_json() -> Target:
    """Return the target of graphs as JSON."""

    def check(content: bytes) -> None:
        _check_graph(CausalGraph.from_json(text_of(content)), content)

    edges = [("a", "b"), ("b", "c")]
    whole = CausalGraph(edges, ["a", "b", "c", "d"], {edges[0]: 0.5}, undirected=[("c", "d")])
    found = {"algorithm": "pc", "settings": {"alpha": 0.01}, "warnings": ["few rows"]}
    record = json.loads(whole.to_json())
    record |= {"origin": found, "edited": True}
    record["resamples"] = [{"edges": [[0, 1]], "undirected": [[2, 3]]}]
    seeds = [whole.to_json().encode(), json.dumps(record).encode()]
    seeds += [text for text in texts("causal/graphs", '"nodes"') if text.strip().startswith(b"{")]
    words = b'{ } [ ] , : " null true 1 1e999 NaN "cause" "effect" "nodes" "edges"'.split()
    return Target("graph_json", check, seeds, words, is_json=True)
