"""The line that shows who can be helped at all, as the answers of a method of its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from proce.arrays import cells_differ
from proce.benchmark.measuring.world import World
from proce.classifier import as_classifier
from proce.explanation import Counterfactuals, Explanations, Outcome, changes_of
from proce.methods.calls.call import Call, call_context
from proce.methods.calls.method import hash_of_rows
from proce.methods.calls.options import Options
from proce.methods.published.recording import losses_by_gower
from proce.metrics.ceiling import find_ways
from proce.objective import CallLimits
from proce.schema import Rule, Schema


def explain_with_truth(
    world: World, schema: Schema, rules: Sequence[str], frame: Any
) -> Explanations:
    """Return for each row of a frame some way to the wanted class in the true world.

    No method can help more people: the search knows the true equations and each person's own
    noise, asks for no margin and does not look for what is near. What the ways cost says nothing.
    """
    codec = replace(world.codec, schema=schema)
    classifier, options = as_classifier(world.model, codec), Options(target=world.data.wanted, n=1)
    limits, requirement = CallLimits.read(codec), options.requirement(classifier, margin=0.0)
    context = call_context(codec, classifier, options, limits, requirement, {})
    call = Call(context, classifier, requirement, options, limits, frame, None)
    rows = call.rows_to_change()
    factual, truth = call.factual[rows], world.equations.with_codec(codec)
    parsed = [Rule.parse(rule, codec) for rule in rules]
    ways = find_ways(factual, call.target[rows], truth, classifier, parsed, keys=rows)
    call.record.finish(rows, Outcome.NOT_FOUND)
    reached, exist = ways.reached[ways.exist], ways.exist
    if bool(exist.any()):
        probabilities = classifier.predict_proba(reached)[:, world.data.wanted].astype(np.float64)
        losses = losses_by_gower(codec, reached, factual[exist], probabilities)
        changes = changes_of(cells_differ(reached, factual[exist]), ways.by_hand[exist])
        call.record.add(Counterfactuals.of(rows[exist], reached, changes, probabilities, losses))
    return call.result(
        method="Ceiling",
        seed=0,
        settings={},
        mode="hard",
        graph="given",
        training_rows=len(world.encoded),
        training_hash=hash_of_rows(world.encoded),
        generations=0,
    )
