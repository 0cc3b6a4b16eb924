"""How many edges of known graphs are found, with and without knowing tiers.

Run: ``python benchmarks/discovery.py`` (some minutes; ``--wide`` adds 200 features). Prints
the tables of ``docs/causal.md``. Target: a mean F1 of at least 0.95 for DirectLiNGAM on
random linear graphs.
"""

import sys
import time
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from proce.causal import CausalGraph
from proce.causal.discovery.discover import ALGORITHMS
from proce.datasets import load_dataset

N_GRAPHS, N_FEATURES, DEGREE, N_ROWS = 10, 10, 2, 2_000
TIERS = {
    "simple_bn": [["x1", "x2"], ["x3"]],
    "sangiovese": [
        ["SproutN", "BunchN"],
        ["SPAD06", "NDVI06"],
        ["SPAD08", "NDVI08"],
        ["WoodW"],
        ["Anthoc", "Potass", "Brix", "Polyph", "Acid", "pH"],
    ],
    "loan": [
        ["age", "sex", "education"],
        ["job", "years_employed"],
        ["income"],
        ["housing", "savings", "debt"],
        ["credit_score", "amount", "duration"],
    ],
}
Tiers = Sequence[Sequence[str]]


def linear(seed: int, n_features: int) -> tuple[pd.DataFrame, CausalGraph]:
    """Draw a linear graph with uniform noise and rows from it, columns in random order."""
    rng = np.random.default_rng(seed)
    shape = (n_features, n_features)
    edges = np.triu(rng.random(shape) < DEGREE / (n_features - 1), 1)
    weights = edges * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    noise = rng.uniform(-1.0, 1.0, (N_ROWS, n_features))
    rows = noise @ np.linalg.inv(np.eye(n_features) - weights)
    names = [f"x{number}" for number in rng.permutation(n_features)]
    frame = pd.DataFrame(rows, columns=names)[sorted(names)]
    truth = [(names[cause], names[effect]) for cause, effect in np.argwhere(edges)]
    return frame, CausalGraph(truth, names)


def f1(found: CausalGraph, truth: CausalGraph) -> float:
    """Return the F1 of directed edges; a pair left undirected counts as not found."""
    right = len(set(found.edges) & set(truth.edges))
    return 2 * right / (len(found.edges) + len(truth.edges))


def skeleton_f1(found: CausalGraph, truth: CausalGraph) -> float:
    """Return the F1 of joined pairs, whatever their direction."""
    pairs = {frozenset(pair) for pair in (*found.edges, *found.undirected)}
    known = {frozenset(pair) for pair in truth.edges}
    return 2 * len(pairs & known) / (len(pairs) + len(known))


def discover(
    frame: pd.DataFrame, algorithm: str, tiers: Tiers | None, **options: object
) -> tuple[CausalGraph, float]:
    """Discover in silence; return the graph and the CPU time."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = CausalGraph.discover(frame, algorithm=algorithm, tiers=tiers, **options)  # type: ignore[arg-type]
    return graph, time.process_time() - start


def random_graphs() -> None:
    """Random linear graphs, in tiers of a third of the true order each."""
    draws = [linear(seed, N_FEATURES) for seed in range(N_GRAPHS)]
    n_edges = np.mean([len(truth.edges) for _, truth in draws])
    print(
        f"{N_GRAPHS} random linear graphs, {N_FEATURES} features, {n_edges:.1f} edges on average,"
        f" {N_ROWS:,} rows\n"
    )
    print("| algorithm | tiers | mean F1 | lowest F1 | mean F1 of pairs | undirected | CPU, s |")
    print("|---|---|---|---|---|---|---|")
    for algorithm in ALGORITHMS:
        for known in (False, True):
            scores, pairs, undirected, seconds = [], [], [], []
            for frame, truth in draws:
                thirds = np.array_split(np.array(truth.order), 3)
                tiers = [third.tolist() for third in thirds] if known else None
                graph, spent = discover(frame, algorithm, tiers)
                scores.append(f1(graph, truth))
                pairs.append(skeleton_f1(graph, truth))
                undirected.append(len(graph.undirected))
                seconds.append(spent)
            print(
                f"| {algorithm} | {'three' if known else 'none'} | {np.mean(scores):.3f} |"
                f" {min(scores):.3f} | {np.mean(pairs):.3f} | {np.mean(undirected):.1f} |"
                f" {np.mean(seconds):.2f} |"
            )


def data_sets() -> None:
    """The data sets whose graph is known."""
    print("\nData sets whose graph is known; the most tiers are those of the true causal depth\n")
    print("| data | algorithm | tiers | edges (true) | undirected | F1 | F1 of pairs | warns of |")
    print("|---|---|---|---|---|---|---|---|")
    for name, tiers in TIERS.items():
        data = load_dataset(name)
        by_depth = depths(data.graph)
        several = [None, tiers] if len(by_depth) == len(tiers) else [None, tiers, by_depth]
        for algorithm in ALGORITHMS:
            for known in several:
                graph, _ = discover(data.frame, algorithm, known, schema=data.schema)
                print(
                    f"| {name} | {algorithm} | {len(known) if known else 'none'} |"
                    f" {len(graph.edges)} ({len(data.graph.edges)}) | {len(graph.undirected)} |"
                    f" {f1(graph, data.graph):.2f} | {skeleton_f1(graph, data.graph):.2f} |"
                    f" {doubts(graph)} |"
                )


def depths(graph: CausalGraph) -> list[list[str]]:
    """Return the features by the longest path that leads to them: all that tiers can say."""
    depth: dict[str, int] = {}
    for name in graph.order:
        depth[name] = max((depth[cause] + 1 for cause in graph.parents(name)), default=0)
    deepest = max(depth.values())
    return [
        [name for name in graph.order if depth[name] == number] for number in range(deepest + 1)
    ]


def doubts(graph: CausalGraph) -> str:
    """Name the kinds of warnings."""
    kinds = {
        "looks Gaussian": "Gaussian noise",
        "A curved fit": "curves",
        "is larger at some": "uneven noise",
        "nearly collinear": "near copies",
        "treated as numbers": "levels",
        "cannot tell": "open directions",
    }
    text = " ".join(graph.origin.warnings)
    return ", ".join(word for part, word in kinds.items() if part in text) or "nothing"


def beside_causal_learn() -> None:
    """Our DirectLiNGAM and that of causal-learn on the same rows."""
    from causallearn.search.FCMBased.lingam import DirectLiNGAM

    print("\nDirectLiNGAM beside causal-learn, one thread\n")
    print("| features | proce, CPU s | causal-learn, CPU s | ratio | F1 | causal-learn F1 |")
    print("|---|---|---|---|---|---|")
    for n_features in (10, 20, 40):
        frame, truth = linear(0, n_features)
        ours, seconds = discover(frame, "direct_lingam", None)
        start = time.process_time()
        weights = DirectLiNGAM().fit(frame.to_numpy()).adjacency_matrix_
        spent = time.process_time() - start
        names = list(frame)
        theirs = CausalGraph([(names[c], names[e]) for e, c in np.argwhere(weights)], names)
        print(
            f"| {n_features} | {seconds:.2f} | {spent:.2f} | {seconds / spent:.2f} |"
            f" {f1(ours, truth):.3f} | {f1(theirs, truth):.3f} |"
        )


def wide() -> None:
    """200 features: what it takes."""
    frame, truth = linear(1, 200)
    print(f"\n200 features, {len(truth.edges)} edges, {N_ROWS:,} rows, one thread\n")
    print("| algorithm | took, s | CPU, s | F1 | F1 of pairs | undirected |")
    print("|---|---|---|---|---|---|")
    for algorithm in ALGORITHMS:
        start = time.perf_counter()
        graph, seconds = discover(frame, algorithm, None)
        took = time.perf_counter() - start
        print(
            f"| {algorithm} | {took:.0f} | {seconds:.0f} |"
            f" {f1(graph, truth):.2f} | {skeleton_f1(graph, truth):.2f} |"
            f" {len(graph.undirected)} |",
            flush=True,
        )


def confidence() -> None:
    """How often an edge is true, by its confidence."""
    edges: list[tuple[float, bool]] = []
    for seed in range(10):
        frame, truth = linear(seed, N_FEATURES)
        graph, _ = discover(frame.head(60), "direct_lingam", None, bootstrap=50)
        edges += [(share, edge in truth.edges) for edge, share in graph.confidence.items()]
    print("\nBootstrap of 50, 60 rows, ten random linear graphs: edges that are true\n")
    print("| confidence | edges | of which true |")
    print("|---|---|---|")
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
        are_true = [true for share, true in edges if low <= share < high]
        right = f"{np.mean(are_true):.0%}" if are_true else "–"
        print(f"| {low:.0%} to {min(high, 1):.0%} | {len(are_true)} | {right} |")


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        random_graphs()
        data_sets()
        confidence()
        beside_causal_learn()
        if "--wide" in sys.argv:
            wide()
