"""The causal graph that people hold: how it is made, read, written, drawn and decided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from proce.arguments import MaybeAxes, brief, checked
from proce.causal.graphs.dag import (
    Dag,
    Edge,
    Origin,
    arrow,
    checked_edge,
    line,
    require_name,
    sorted_pair,
)
from proce.causal.graphs.exchange import read_json, read_networkx, write_json, write_networkx
from proce.causal.graphs.features import cut_edges, cut_sentence, require_features
from proce.causal.graphs.text import read_dagitty, read_dot, write_dagitty, write_dot
from proce.errors import GraphError
from proce.schema import Schema
from proce.schema.features.numerals import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from proce.causal.discovery.resampling import DiscoveryCallback


@dataclass(frozen=True, slots=True)
class PairShares:
    """In which share of the resamples a pair was joined, and in which direction."""

    pair: Edge  # two features, in the order of the graph's nodes
    forward: float  # the share with the edge `pair`, and with the edge the other way round
    backward: float
    undirected: float  # the share in which the pair was joined without a direction

    @property
    def joined(self) -> float:
        """The share in which the pair was joined at all."""
        return self.forward + self.backward + self.undirected


@dataclass(frozen=True, eq=False, repr=False)
class CausalGraph(Dag):
    """Which feature causes which.

    Two graphs are equal where they have the same nodes and the same edges, in any order;
    confidence, origin, undirected pairs and resamples do not count.

    Parameters
    ----------
    edges
        Pairs ``(cause, effect)``.
    nodes
        All features, in the order in which they are listed; ``None`` takes them from the
        edges and the undirected pairs, in the order in which they first appear.
    confidence
        For some edges or all of them, the share in [0, 1] of the resamples that found it.
    origin
        Given by a person, or discovered by which algorithm with which settings.
    undirected
        Pairs that are joined, but which causes which is left for a person to decide
        (``decide``). They are not edges: nothing is propagated along them.
    resamples
        The graphs that were discovered on resampled rows, over the same nodes.

    Examples
    --------
    >>> graph = CausalGraph([("income", "amount"), ("age", "income")])
    >>> graph.order
    ('age', 'income', 'amount')
    >>> graph.parents("amount")
    ('income',)
    """

    resamples: "tuple[CausalGraph, ...]"

    @checked(GraphError)
    def __init__(
        self,
        edges: Iterable[Edge],
        nodes: Iterable[str] | None = None,
        confidence: Mapping[Edge, float] | None = None,
        origin: Origin | None = None,
        undirected: Iterable[Edge] = (),
        resamples: "Iterable[CausalGraph]" = (),
    ) -> None:
        super().__init__(edges, nodes, confidence, origin, undirected, resamples)

    @classmethod
    def _of(cls, dag: Dag) -> "CausalGraph":
        """Return the graph of a record, with its resamples."""
        resamples = [cls._of(resample) for resample in dag.resamples]
        return cls(dag.edges, dag.nodes, dag.confidence, dag.origin, dag.undirected, resamples)

    @classmethod
    def accept(cls, graph: Any) -> "CausalGraph":
        """Return a graph from a graph, a list of edges or a ``networkx.DiGraph``."""
        if isinstance(graph, CausalGraph):
            return graph
        if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
            return cls.from_networkx(graph)
        if isinstance(graph, Iterable) and not isinstance(graph, str | bytes | Mapping):
            return cls(graph)
        raise GraphError(
            f"got {brief(graph)}; expected a CausalGraph, a list of (cause, effect) or a"
            " networkx.DiGraph. Text is read by CausalGraph.from_dot, from_dagitty or from_json."
        )

    @staticmethod
    @checked(GraphError)
    def discover(
        frame: Any,
        schema: Schema | None = None,
        *,
        algorithm: str = "direct_lingam",
        tiers: Sequence[Iterable[str]] | None = None,
        required: Iterable[Edge] = (),
        forbidden: Iterable[Edge] = (),
        alpha: float | None = None,
        bootstrap: int = 0,
        seed: int = 0,
        n_jobs: int = 1,
        progress: "DiscoveryCallback | None" = None,
    ) -> "CausalGraph":
        """Propose a graph from data; a person has to judge it.

        What the algorithm cannot know from these rows is issued as a ``DiscoveryWarning``
        and kept in ``graph.origin.warnings``. Every algorithm assumes that nothing unmeasured
        causes two of the features.

        Parameters
        ----------
        frame
            Rows of the features, and of nothing else where no schema is given. Rows with
            missing values are left out. Ordinal levels count by rank, categorical ones by
            their place in the list of levels.
        schema
            Which columns are features; inferred from the frame where it is ``None``.
        algorithm
            ``"direct_lingam"``: linear equations with noise that is not Gaussian; directs every
            edge. ``"pc"``: tests of conditional independence. ``"ges"``: the best score. The
            last two leave undirected what the data cannot decide.
        tiers
            Groups of names, earlier ones first: no feature is a consequence, however indirect,
            of one in a later group. A feature in no group may stand anywhere. An earlier feature
            that an algorithm for straight lines left out is a cause where a curved fit says so.
        required, forbidden
            Edges ``(cause, effect)`` that are there, and that are not; a forbidden edge may
            still be an indirect influence.
        alpha
            The level of PC's tests (0.01), and of the t-tests by which DirectLiNGAM keeps an
            edge (0.001). GES takes none: it weighs by the BIC.
        bootstrap
            The number of resamples from which the confidence of edges is counted; 50 tell 90%
            from 75%.
        seed
            Of the resamples; the same whatever ``n_jobs``.
        n_jobs
            Processes for the resamples; -1 for as many as there are processors.
        progress
            Called with a ``DiscoveryProgress`` after each search. Returning False, or
            Ctrl-C, ends the bootstrap and keeps what is done.

        Returns
        -------
        CausalGraph
            Over the schema's features, with ``origin``, ``undirected``, and where there was a
            bootstrap ``confidence``, ``resamples`` and ``shares``.
        """
        import warnings

        from proce.causal.discovery.caveats import DiscoveryWarning
        from proce.causal.discovery.discover import discover

        dag = discover(
            frame,
            schema,
            algorithm=algorithm,
            tiers=tiers,
            required=required,
            forbidden=forbidden,
            alpha=alpha,
            bootstrap=bootstrap,
            seed=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
        for warning in dag.origin.warnings:
            warnings.warn(warning, DiscoveryWarning, stacklevel=3)
        return CausalGraph._of(dag)

    @staticmethod
    @checked(GraphError)
    def from_networkx(graph: Any) -> "CausalGraph":
        """Read a ``networkx.DiGraph``, with the ``confidence`` of its edges where they have it."""
        return CausalGraph._of(read_networkx(graph))

    @staticmethod
    @checked(GraphError)
    def from_dot(text: str) -> "CausalGraph":
        """Read Graphviz text: ``digraph { age -> income; }``.

        A node is known by its name, not its label. ``dir=none`` leaves a pair undirected.
        """
        return CausalGraph._of(read_dot(text))

    @staticmethod
    @checked(GraphError)
    def from_dagitty(text: str) -> "CausalGraph":
        """Read DAGitty text: ``dag { age -> income }``; a ``pdag`` may hold ``a -- b``."""
        return CausalGraph._of(read_dagitty(text))

    @staticmethod
    @checked(GraphError)
    def from_json(text: str) -> "CausalGraph":
        """Read what ``to_json`` wrote."""
        return CausalGraph._of(read_json(text))

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph``; undirected pairs stand in ``.graph["undirected"]``."""
        return write_networkx(self)

    def to_dot(self) -> str:
        """Return Graphviz text, with confidences; undirected pairs have ``dir=none``."""
        return write_dot(self)

    def to_dagitty(self) -> str:
        """Return DAGitty text, without confidences; undirected pairs are ``a -- b``."""
        return write_dagitty(self)

    def to_json(self) -> str:
        """Return everything as JSON text, origin and resamples included."""
        return write_json(self)

    @checked(GraphError)
    def plot(self, ax: MaybeAxes = None, *, title: str | None = None) -> "Axes":
        """Draw the graph, layered from left to right by causal depth.

        Where edges have a confidence, the thicker and darker the more certain. Undirected pairs
        are dashed and have no head.

        Parameters
        ----------
        ax
            Where to draw; ``None`` makes a figure large enough to read every name.
        title
            Above the drawing.

        """
        from proce.causal.drawing.plot import plot

        return plot(self, ax, title=title)

    @checked(GraphError)
    def over(self, schema: Schema, label: str | None = None) -> "CausalGraph":
        """Return the graph with the schema's features as its nodes, in their order.

        Parameters
        ----------
        schema
            Must hold every feature that the graph names.
        label
            The name of what the model predicts, for a clear message where the graph has it.
        """
        require_features(self.nodes, schema, label)
        resamples = tuple(resample.over(schema) for resample in self.resamples)
        return replace(self, nodes=schema.names, resamples=resamples)

    @checked(GraphError)
    def cut_edges(self, schema: Schema) -> tuple[Edge, ...]:
        """Return the edges into features that the schema holds fixed: nothing flows along them."""
        return cut_edges(self.edges, schema)

    @checked(GraphError)
    def cut_sentence(self, schema: Schema) -> str:
        """Say which edges are cut because their effect is fixed; empty where none is."""
        return cut_sentence(self.edges, schema)

    @checked(GraphError)
    def decide(self, *edges: Edge) -> "CausalGraph":
        """Return the graph with undirected pairs turned into these edges ``(cause, effect)``."""
        position = {name: number for number, name in enumerate(self.nodes)}
        decided = []
        for edge in map(checked_edge, edges):
            for name in edge:
                require_name(name, self.nodes)
            decided.append(sorted_pair(edge, position))
            if decided[-1] not in self.undirected:
                raise GraphError(
                    f"{arrow(edge)} was not left undirected; the undirected pairs are"
                    f" {', '.join(line(pair) for pair in self.undirected) or 'none'}."
                )
        undecided = tuple(pair for pair in self.undirected if pair not in decided)
        return replace(self, edges=(*self.edges, *edges), undirected=undecided)

    @cached_property
    def shares(self) -> tuple[PairShares, ...]:
        """How often the resamples joined each pair, and in which direction."""
        return pair_shares(self.nodes, self.resamples)

    def __repr__(self) -> str:
        undecided = f", {len(self.undirected)} undirected" if self.undirected else ""
        features, edges = counted(len(self.nodes), "feature"), counted(len(self.edges), "edge")
        return f"CausalGraph({features}, {edges}{undecided}, {self.origin})"

    def __str__(self) -> str:
        """Return one line per edge, then the undirected pairs."""
        percent = {edge: f"  {share:.0%}" for edge, share in self.confidence.items()}
        lines = [arrow(edge) + percent.get(edge, "") for edge in self.edges]
        lines += [f"{line(pair)}  undecided" for pair in self.undirected]
        return "\n".join([repr(self), *lines])


def pair_shares(nodes: Sequence[str], resamples: Sequence[Dag]) -> tuple[PairShares, ...]:
    """Count every pair that was joined in any resample, the most often joined first."""
    position = {name: number for number, name in enumerate(nodes)}
    counts: dict[Edge, list[int]] = {}  # forward, backward, undirected
    for resample in resamples:
        for edge in resample.edges:
            pair = sorted_pair(edge, position)
            counts.setdefault(pair, [0, 0, 0])[edge != pair] += 1
        for edge in resample.undirected:
            counts.setdefault(sorted_pair(edge, position), [0, 0, 0])[2] += 1
    shares = [
        PairShares(pair, *(count / len(resamples) for count in directions))
        for pair, directions in counts.items()
    ]
    shares.sort(key=lambda own: (-own.joined, position[own.pair[0]], position[own.pair[1]]))
    return tuple(shares)
