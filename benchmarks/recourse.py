"""Does advice work in the true world? The first table of ``docs/quality.md``.

Run: ``python benchmarks/recourse.py [--worlds loan curved] [--seeds 0 1 2 3 4] [--rows 200]``. The
generated data sets and five kinds of random worlds, all with known equations; for the random ones
a seed is another world, for the others another split. Recommended actions are taken in the true
equations, with each person's own noise, and the classifier is asked again. The ceiling is who can
be helped at all by an exhaustive search in the true equations.

Every cell that is done is one line of JSON in ``--out`` and is not run again. ``--table`` prints
the tables of such a file and runs nothing; ``--before FILE`` adds what the advice costs compared
with the same rows in another such file, such as one of an older version.
"""

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import train_test_split

from proce.arrays import Array
from proce.causal import CausalGraph
from proce.classifier import as_classifier, fit_network
from proce.datasets import Dataset, load_dataset
from proce.datasets.worlds import KINDS, random_world
from proce.explanation import Explanations
from proce.methods import ProCE, SearchSettings
from proce.metrics.ceiling import find_ways
from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.recourse import allowed, succeeds, take_actions
from proce.schema import Codec, Rule

GENERATED = ("simple_bn", "sangiovese", "loan")
WORLDS = (*GENERATED, *KINDS)
CLASSIFIERS = ("first", "second")
BOOTSTRAP = 20  # graphs that are discovered
SURE = 0.98
BINS = ((0.0, 0.5), (0.5, 0.85), (0.85, SURE), (SURE, 1.01))


@dataclass(frozen=True)
class Cell:
    """A world with a classifier, and where its graph comes from: ``given`` or ``discovered``."""

    world: str
    classifier: str
    seed: int
    graph: str = "given"


@dataclass(frozen=True)
class Line:
    """What was measured in a cell; the lists have one entry for each rejected person.

    Attributes
    ----------
    cell
        The cell.
    cpu_ms
        What the explanation of one row took, in milliseconds of CPU time.
    fit_cpu_seconds, ceiling_cpu_seconds
        What the fit of the explainer and the ceiling took.
    helpable
        Who can be helped at all.
    found, works
        Who was shown a counterfactual, and for whom its actions lead to the target in truth.
    confidence
        How sure the advice said to be, where it did; else None.
    agreement
        The share of the discovered graphs that agree, where there are some; else None.
    cost
        What the actions cost, on the unit range; None where there are none.
    n_actions
        How many there are.
    """

    cell: Cell
    cpu_ms: float
    fit_cpu_seconds: float
    ceiling_cpu_seconds: float
    helpable: list[bool]
    found: list[bool]
    works: list[bool]
    confidence: list[float | None]
    agreement: list[float | None]
    cost: list[float | None]
    n_actions: list[int | None]


def load_world(name: str, seed: int) -> Dataset:
    """Return a data set; a random world is another one for every seed."""
    return random_world(name, world=seed) if name in KINDS else load_dataset(name)


def measure(cell: Cell, n_rows: int, settings: SearchSettings | None = None) -> Line:
    """Train, explain the rejected rows of the test part, and follow the advice in truth."""
    data = load_world(cell.world, cell.seed)
    train, test, label, _ = train_test_split(
        data.frame, data.label, test_size=0.2, random_state=cell.seed
    )
    codec = Codec.fit(data.recourse_schema, train)
    model = fit_network(codec, train, label, architecture=cell.classifier, seed=cell.seed)
    rejected = test[model.predict(codec.encode(test)) == 0].head(n_rows)
    rules = [rule for rule in data.rules if "~>" not in rule]
    start = time.process_time()
    graph = data.graph if cell.graph == "given" else discovered(data, train, cell.seed)
    explainer = ProCE(
        model, data.recourse_schema, graph, rules, settings=settings, seed=cell.seed
    ).fit(train)
    fit_seconds = time.process_time() - start
    explainer.explain(rejected.head(1), target=1, n=1)  # compiles, so that it is not timed
    start = time.process_time()
    result = explainer.explain(rejected, target=1, n=1)
    cpu_ms = 1000 * (time.process_time() - start) / len(rejected)
    return follow(cell, data, model, rules, result, cpu_ms, fit_seconds)


def discovered(data: Dataset, train: Any, seed: int) -> CausalGraph:
    """Discover a graph from the rows and the order in which things happen, as an expert knows it.

    The tiers are the generations of the true graph: what comes first, what may follow from that,
    and so on.
    """
    depth: dict[str, int] = {}
    for name in data.graph.order:
        depth[name] = max((1 + depth[cause] for cause in data.graph.parents(name)), default=0)
    tiers = [
        [name for name in depth if depth[name] == generation]
        for generation in range(max(depth.values()) + 1)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what discovery cannot know is what is measured here
        return CausalGraph.discover(
            train, data.recourse_schema, tiers=tiers, bootstrap=BOOTSTRAP, seed=seed
        )


def follow(
    cell: Cell,
    data: Dataset,
    model: Any,
    rules: Sequence[str],
    result: Explanations,
    cpu_ms: float,
    fit_seconds: float,
) -> Line:
    """Take the recommended actions in the true world, and compare with who can be helped."""
    codec = result.context.codec.by_range
    classifier, truth = as_classifier(model, codec), data.truth.with_codec(codec)
    columns = CounterfactualColumns.of(result).on_range(result.context.codec)
    first, n = columns.rank == 1, len(result)
    columns, told = columns.take(first), result.rows.counterfactuals.take(first)
    taken = take_actions(columns, truth)
    works = succeeds(columns, taken, classifier) & allowed(codec, columns)
    start = time.process_time()
    ways = find_ways(
        result.context.codec.on_range(result.rows.factual),
        result.rows.target,
        truth,
        classifier,
        [Rule.parse(rule, codec) for rule in rules],
    )
    ceiling_seconds = time.process_time() - start
    owner, n_graphs = columns.owner.tolist(), result.context.n_graphs
    worked = [bool(work) for work in spread(owner, works.tolist(), n)]
    return Line(
        cell=cell,
        cpu_ms=cpu_ms,
        fit_cpu_seconds=fit_seconds,
        ceiling_cpu_seconds=ceiling_seconds,
        # Whoever a method truly helps can be helped, whatever the search for the ceiling missed.
        helpable=[way or work for way, work in zip(ways.exist.tolist(), worked, strict=True)],
        found=[done is not None for done in spread(owner, owner, n)],
        works=worked,
        confidence=spread(owner, chances(told.confidence), n),
        agreement=spread(
            owner, [s / n_graphs if n_graphs else None for s in told.support.tolist()], n
        ),
        cost=spread(owner, taken.cost.tolist(), n),
        n_actions=spread(owner, columns.by_hand.sum(-1).tolist(), n),
    )


def chances(confidence: Array) -> list[float | None]:
    """Return how likely advice says that it works; None where it says nothing."""
    return [None if math.isnan(chance) else chance for chance in confidence.tolist()]


def spread(owner: Sequence[int], values: Sequence[Any], n: int) -> list[Any]:
    """Return values at the positions of their owners, and None for all others."""
    placed: list[Any] = [None] * n
    for position, value in zip(owner, values, strict=True):
        placed[position] = value
    return placed


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells that are asked for; graphs are discovered for the first classifier alone."""
    for seed in arguments.seeds:
        for world in arguments.worlds:
            for classifier in arguments.classifiers:
                yield Cell(world, classifier, seed)
            if arguments.discovered:
                yield Cell(world, arguments.classifiers[0], seed, "discovered")


def read(path: Path) -> list[Line]:
    """Return the lines of a file; a line that was cut off while it was written is left out."""
    lines = []
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            record = json.loads(text)
        except json.JSONDecodeError:
            continue
        lines.append(Line(**record | {"cell": Cell(**record["cell"])}))
    return lines


def run(arguments: argparse.Namespace) -> None:
    """Measure every cell that is not in the file yet."""
    done = {line.cell for line in read(arguments.out)}
    todo = [cell for cell in cells(arguments) if cell not in done]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for number, cell in enumerate(todo, 1):
        start = time.process_time()
        line = measure(cell, arguments.rows)
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")
        print(
            f"[{number}/{len(todo)}] {cell.world}, {cell.classifier}, seed {cell.seed},"
            f" {cell.graph}: helps {sum(line.works)} of {sum(line.helpable)} who can be helped,"
            f" breaks {broken(line)} of {sum(line.found)};"
            f" {time.process_time() - start:.0f} s of CPU",
            flush=True,
        )


def broken(line: Line) -> int:
    """Return how many people were shown advice that does not work."""
    return sum(found and not works for found, works in zip(line.found, line.works, strict=True))


@dataclass
class Tally:
    """Counts over the cells of one row of the table."""

    rows: int = 0
    helpable: int = 0
    works: int = 0
    found: int = 0
    broken: int = 0
    cpu_ms: list[float] = field(default_factory=list)
    told: list[tuple[float, bool]] = field(default_factory=list)
    cost: list[tuple[float, float]] = field(default_factory=list)

    def add(self, line: Line, before: Line | None) -> None:
        """Count a cell; ``before`` is the same cell of another run."""
        self.rows += len(line.works)
        self.helpable += sum(line.helpable)
        self.works += sum(line.works)
        self.found += sum(line.found)
        self.broken += broken(line)
        self.cpu_ms.append(line.cpu_ms)
        for told, works, found in zip(line.confidence, line.works, line.found, strict=True):
            if found and told is not None:
                self.told.append((told, works))
        if before is not None:
            pairs = zip(line.cost, before.cost, strict=False)  # a run may have fewer rows
            self.cost += [(now, then) for now, then in pairs if None not in (now, then)]


def tables(lines: Sequence[Line], before: Sequence[Line]) -> str:
    """Return the tables in Markdown: what worked, then whether the told chances are right."""
    earlier = {line.cell: line for line in before}
    tallies: dict[tuple[str, str, str], Tally] = {}
    for line in lines:
        key = (line.cell.world, line.cell.classifier, line.cell.graph)
        tallies.setdefault(key, Tally()).add(line, earlier.get(line.cell))
    order = sorted(tallies, key=lambda key: (key[2] != "given", WORLDS.index(key[0]), key[1]))
    text = [
        "| world | classifier | graph | rows | ceiling | success | of the ceiling |"
        " broken promises | sure (.98) and broken | cost to before | CPU a row, ms |",
        "|" + "---|" * 11,
    ]
    text += [summary(key, tallies[key]) for key in order]
    return "\n".join([*text, "", *calibration(order, tallies)])


def summary(key: tuple[str, ...], tally: Tally) -> str:
    """Return one row of the first table."""
    sure = [works for told, works in tally.told if told >= SURE]
    ratio = sum(now for now, _ in tally.cost) / sum(then for _, then in tally.cost or [(0, np.nan)])
    cells = (
        *key,
        tally.rows,
        f"{tally.helpable / tally.rows:.1%}",
        f"{tally.works / tally.rows:.1%}",
        f"{tally.works / max(1, tally.helpable):.1%}",
        f"{tally.broken / max(1, tally.found):.1%}",
        f"{sum(not works for works in sure)} of {len(sure)}",
        f"{ratio:.3f}" if tally.cost else "–",
        f"{np.mean(tally.cpu_ms):.0f}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def calibration(order: Sequence[tuple[str, ...]], tallies: dict[Any, Tally]) -> Iterator[str]:
    """Yield the rows of the second table: what was told against what came true."""
    yield "| world | graph | told | rows | mean told | came true |"
    yield "|" + "---|" * 6
    for world, graph in dict.fromkeys((key[0], key[2]) for key in order):
        told = [pair for key in order if key[::2] == (world, graph) for pair in tallies[key].told]
        yield from calibration_rows(world, graph, told)
    for graph in dict.fromkeys(key[2] for key in order):
        everybody = [pair for key in order if key[2] == graph for pair in tallies[key].told]
        yield from calibration_rows("all", graph, everybody)


def calibration_rows(world: str, graph: str, told: Sequence[tuple[float, bool]]) -> Iterator[str]:
    """Yield a row for each bin of chances in which somebody was told one."""
    for low, high in BINS:
        inside = [(chance, works) for chance, works in told if low <= chance < high]
        if inside:
            name = f"{low:g} to {high:g}" if high <= 1 else f"{low:g} and more"
            told_mean, came_true = np.mean(inside, axis=0)
            cells = (world, graph, name, len(inside), f"{told_mean:.3f}", f"{came_true:.3f}")
            yield "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Parse, measure and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--classifiers", nargs="+", choices=CLASSIFIERS, default=CLASSIFIERS)
    parser.add_argument("--seeds", nargs="+", type=int, default=range(5))
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--discovered", action="store_true", help="also with discovered graphs")
    parser.add_argument("--out", type=Path, default=Path("runs/recourse.jsonl"))
    parser.add_argument("--table", action="store_true", help="print the tables of --out alone")
    parser.add_argument("--before", type=Path, help="a file of an older version, for the cost")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments)
    before = [] if arguments.before is None else read(arguments.before)
    print(tables(read(arguments.out), before))


if __name__ == "__main__":
    main()
