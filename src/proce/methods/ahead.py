"""Compile what a search needs, on made-up rows: what is compiled is kept on disk.

Run: ``python -m proce.methods.ahead``, as `proce.cli.first_use` does beside a first command.
"""

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import Actions, Additive, CausalGraph, StructuralCausalModel
from proce.causal.models.propagation import act_without_effects
from proce.methods.phases.choosing import Criteria, Pool, choose, find_fronts
from proce.methods.phases.polish import write_scaled_changes
from proce.methods.phases.scan import move_beside
from proce.objective import CallLimits, FeatureDistance, GeneMap, Requirement, judge_draws
from proce.objective.genes import read_genes
from proce.objective.terms import Terms, obey_limits
from proce.schema import Codec, Rule, Schema
from proce.schema.round_trip import values_in_frame
from proce.schema.rules.rule import program_of
from proce.search import Evaluation, GeneKind, Genome, NSGA2Settings, nsga2


def compile_rules(codec: Codec, rows: Array) -> None:
    """Ask three people for a rule, and read their rows."""
    wishes = np.repeat(rows[::-1, None], 2, axis=1)
    program_of([Rule.parse("cf.amount >= x.amount", codec)]).violation(rows, wishes)
    codec.to_raw(rows)


def compile_limits(codec: Codec, rows: Array) -> None:
    """Ask what three people may become, and whether somebody's wishes keep to it."""
    wishes = np.repeat(rows[::-1, None], 2, axis=1)
    limits, moved = CallLimits.read(codec).of_rows(codec, rows), wishes != rows[:, None]
    obey_limits(limits, codec, rows, wishes, moved, moved)
    read_genes(wishes, rows, limits.movable, GeneMap(rows.shape[1]), codec.avoided)
    requirement, probabilities, target = (
        Requirement(0.5, 0.1),
        np.full((3, 2, 2), 0.5),
        np.zeros(3, "i8"),
    )
    distance, weights = FeatureDistance.of_tables(codec, {}), np.ones(rows.shape[1])
    terms = Terms.of(
        rows, target, limits, weights, distance, "absolute", True, requirement, max_changes=None
    )
    nothing = np.zeros_like(moved)
    terms.scored(Actions(wishes, moved, nothing, nothing, wishes, nothing), probabilities)
    judge_draws(requirement.odds_beyond(probabilities, target)[None])


def compile_moves(codec: Codec, rows: Array) -> None:
    """Move wishes on and back again, and see what follows and what a frame would hold."""
    wishes, moved = rows[:, None].copy(), np.zeros((len(rows), 1, rows.shape[1]), np.bool_)
    places, values = np.zeros((len(rows), 1), np.int64), np.ones((len(rows), 1))
    move_beside(wishes, moved, values, places, moved[..., 0].copy(), wishes.copy(), moved.copy())
    drawn = np.empty((len(rows), 2, rows.shape[1]))
    write_scaled_changes(wishes, moved, wishes, np.ones((1, 2)), values, drawn)
    graph = CausalGraph([("amount", "income")])
    equation = Additive(lambda parents: parents["amount"])
    model = StructuralCausalModel(graph, {"income": equation}, codec)
    model.propagate(wishes, np.zeros((len(rows), model.residual_size)), moved)
    values_in_frame(codec, codec.to_raw(rows), codec.layout)


def compile_search_and_choice() -> None:
    """Search the plane for points near two corners, and choose among them."""
    start = np.full((1, 3), 0.5)
    kinds = np.array([GeneKind.REAL, GeneKind.GRID, GeneKind.LEVEL])
    genome = Genome.of(
        np.zeros((1, 3)), np.ones((1, 3)), start, kind=kinds, step=np.array([0.0, 0.1, 0.0])
    )
    settings = NSGA2Settings(population_size=8, n_generations=16)
    result = nsga2(_near_two_corners, genome, np.zeros((1, 8, 3)), settings, seed=0)
    genes, losses, violation, _ = result.population
    pool = Pool(genes, genes != start, losses, violation)
    choose(pool, "closest", 2, Criteria(2.0, np.ones(3)))
    find_fronts(genes, losses, violation <= 0)


def _near_two_corners(genes: Array, instances: Array) -> Evaluation:
    losses = np.stack([genes.sum(-1), (1 - genes).sum(-1), genes[..., 0]], axis=-1)
    return Evaluation(losses, np.zeros(genes.shape[:2]))


def main() -> None:
    """Compile, in an order in which the command beside comes to little that is not yet there."""
    # The search comes early: it takes longest. What is needed before the search can be had, and
    # what the command compiles at the same moment, comes last.
    frame = pd.DataFrame(
        {"amount": [1.0, 2.0, 4.0], "income": [9.0, 3.0, 5.0], "level": ["low", "high", "low"]}
    )
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = np.ascontiguousarray(codec.encode(frame))
    compile_rules(codec, rows)
    compile_search_and_choice()
    compile_moves(codec, rows)
    compile_limits(codec, rows)
    act_without_effects(codec, rows, rows[:, None])


if __name__ == "__main__":
    main()
