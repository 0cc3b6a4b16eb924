"""The variants of a plan, fitted in a world and ready to be compared."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import proce.methods as methods
from proce.arrays import cells_differ
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import Plan, Variant
from proce.causal import CausalGraph, StructuralCausalModel
from proce.classifier import as_classifier
from proce.explanation import Counterfactuals, Explanations, Outcome, changes_of
from proce.methods import SearchSettings
from proce.methods.calls.call import Call, call_context
from proce.methods.calls.method import hash_of_rows
from proce.methods.calls.options import Options
from proce.methods.fitting.fit import fit_parts
from proce.methods.fitting.fitted import FittedParts, in_mode
from proce.methods.pipeline import ProceCall
from proce.methods.published.published import Published, losses_by_gower
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


Explain = Callable[[pd.DataFrame], Explanations]


@dataclass(frozen=True)
class Contender:
    """A variant that is fitted and ready to explain."""

    # explains the rows of a frame with one counterfactual each, within the plan's limits
    explain: Explain
    fit_seconds: float  # how long fitting took; variants that share a fit have the same time


class Contenders:
    """The variants of a plan, each fitted in a world when it is first needed.

    Variants that learn the same from the training rows share one fit: a fit draws from a seed of
    its own, so that a second one would learn the same again.
    """

    def __init__(self, world: World, plan: Plan) -> None:
        self.world, self.plan = world, plan
        self._fits: dict[tuple[Any, ...], tuple[Any, float]] = {}

    def contender(self, variant: Variant) -> Contender:
        """Return a variant that is fitted in this world."""
        if variant.method == "Ceiling":
            schema, rules = self._schema(variant), self._rules(variant)
            return Contender(
                lambda frame: explain_with_truth(self.world, schema, rules, frame), 0.0
            )
        return self._proce(variant) if variant.method == "ProCE" else self._published(variant)

    def _proce(self, variant: Variant) -> Contender:
        settings = _search_settings(variant)
        key = ("ProCE", variant.setting, variant.graph, variant.printed, str(settings.latent))
        found = self._discover(variant)[1] if variant.graph == "discovered" else 0.0
        fitted, seconds = self._fit_once(key, lambda: self._fit_proce(variant, settings))
        fitted = self._in_variant(fitted, variant, settings)
        options = Options(
            target=self.world.data.wanted,
            n=1,
            pick=variant.pick,
            keep_front=False,
            max_evaluations=self._max_evaluations(variant),
            budget_seconds=self._budget_seconds(),
        )
        return Contender(lambda frame: ProceCall(fitted, options, frame).run(), seconds + found)

    def _fit_proce(self, variant: Variant, settings: SearchSettings) -> FittedParts:
        return fit_parts(
            self.world.model,
            self.world.train,
            schema=self._schema(variant),
            graph=self._graph(variant),
            rules=(),
            causal="off" if variant.graph == "none" else "auto",
            settings=settings,
            threshold=None,
            seed=self.world.seed,
            device="cpu",
            progress=None,
        )

    def _in_variant(
        self, fitted: FittedParts, variant: Variant, settings: SearchSettings
    ) -> FittedParts:
        """Return a shared fit with the mode, the settings and the rules of a variant."""
        parts = in_mode(fitted, variant.causal)
        return replace(
            parts,
            settings=settings,
            refits=parts.refits if settings.n_refits else None,
            rules=fitted.bind(self._rules(variant)),
        )

    def _published(self, variant: Variant) -> Contender:
        kind: type[Published[Any]] = getattr(methods, variant.method)
        settings = kind.Settings(**self._limited(variant))
        respect_schema = variant.ruled or variant.setting == "recourse"
        key = (variant.method, variant.setting, str(asdict(settings)))

        def fit() -> Published[Any]:
            method = kind(self.world.model, self._schema(variant), settings, seed=self.world.seed)
            return method.fit(self.world.train)

        method, seconds = self._fit_once(key, fit)
        restricted: Published[Any] = method.restricted(
            respect_schema=respect_schema, reject_by=self._rules(variant)
        )

        def explain(frame: pd.DataFrame) -> Explanations:
            return restricted.explain(
                frame,
                target=self.world.data.wanted,
                n=1,
                max_evaluations=self._max_evaluations(variant),
                budget_seconds=self._budget_seconds(),
            )

        return Contender(explain, seconds)

    def _fit_once(self, key: tuple[Any, ...], fit: Callable[[], Any]) -> tuple[Any, float]:
        if key not in self._fits:
            start = time.perf_counter()
            self._fits[key] = fit(), time.perf_counter() - start
        return self._fits[key]

    def _limited(self, variant: Variant) -> dict[str, Any]:
        """Return the settings of a published method, with the plan's time for a row as a limit."""
        if variant.method == "Dice":  # which has a limit of its own for each row alone
            return {"seconds_per_row": self.plan.row_seconds, **variant.settings}
        return dict(variant.settings)

    def _max_evaluations(self, variant: Variant) -> int | None:
        return variant.max_evaluations or self.plan.max_evaluations

    def _budget_seconds(self) -> float:
        return self.plan.row_seconds * len(self.world.factual)

    def _schema(self, variant: Variant) -> Schema:
        data = self.world.data
        return data.schema if variant.setting == "paper" else data.recourse_schema

    def _rules(self, variant: Variant) -> tuple[str, ...]:
        """Return the rules that a variant is given.

        For recourse every method gets the rules that can be checked without equations.
        """
        rules = self.world.data.rules
        if variant.setting == "recourse":
            return tuple(rule for rule in rules if "~>" not in rule)
        return tuple(rules) if variant.ruled else ()

    def _discover(self, variant: Variant) -> tuple[CausalGraph, float]:
        """Return the graph that LiNGAM finds, once for all variants, and how long that took."""
        train, schema, seed = self.world.train, self._schema(variant), self.world.seed
        key = ("graph", variant.setting)
        return self._fit_once(key, lambda: CausalGraph.discover(train, schema, seed=seed))

    def _graph(self, variant: Variant) -> Any:
        world = self.world
        if variant.graph == "none":
            return None
        if variant.graph == "true":
            return world.equations
        discovered = variant.graph == "discovered"
        graph = self._discover(variant)[0] if discovered else world.data.graph
        if not variant.printed:
            return graph
        return StructuralCausalModel.fit(
            graph, world.encoded, world.codec, mechanism="linear", seed=world.seed
        )


def _search_settings(variant: Variant) -> SearchSettings:
    settings = SearchSettings.paper() if variant.printed else SearchSettings()
    return replace(settings, margin=variant.margin, **variant.settings)
