"""The methods of a plan, fitted in a world and ready to be compared."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import proce.methods as methods
from proce.benchmark.plan import Plan, Variant
from proce.benchmark.world import World
from proce.causal import CausalGraph, StructuralCausalModel
from proce.explanation import Explanations
from proce.methods import SearchSettings
from proce.methods.calls.options import Options
from proce.methods.explaining.proce_call import ProceCall
from proce.methods.fitting.fit import fit_parts
from proce.methods.fitting.fitted import Fitted
from proce.methods.fitting.modes import resolve_mode
from proce.methods.published.published import Published
from proce.schema import Schema

Explain = Callable[[Any], Explanations]


@dataclass(frozen=True)
class Contender:
    """A method ready to explain.

    Attributes
    ----------
    explain
        From a frame to explanations, one counterfactual a row, within the plan's limits.
    fit_seconds
        What learning took; the same for variants that differ only in what they are asked.
    """

    explain: Explain
    fit_seconds: float


class Contenders:
    """Fits the methods of a world.

    Variants that learn the same thing share it: every fit has its own seed and so would give it
    again.

    Parameters
    ----------
    world
        Where they compete.
    plan
        Whose limits they share.
    """

    def __init__(self, world: World, plan: Plan) -> None:
        self.world, self.plan = world, plan
        self._fits: dict[tuple[Any, ...], tuple[Any, float]] = {}

    def of(self, variant: Variant) -> Contender:
        """Return a variant, fitted."""
        return self._proce(variant) if variant.method == "ProCE" else self._published(variant)

    def _proce(self, variant: Variant) -> Contender:
        settings = _search_settings(variant)
        key = ("ProCE", variant.setting, variant.graph, variant.printed, str(settings.latent))
        fitted, seconds = self._once(key, lambda: self._fit_proce(variant, settings))
        fitted = self._as_asked(fitted, variant, settings)
        options = Options(
            target=1,
            n=1,
            pick=variant.pick,
            keep_front=False,
            **self._limits(variant),
        )
        return Contender(lambda frame: ProceCall(fitted, options, frame).run(), seconds)

    def _fit_proce(self, variant: Variant, settings: SearchSettings) -> Fitted:
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

    def _as_asked(self, fitted: Fitted, variant: Variant, settings: SearchSettings) -> Fitted:
        """Return the parts of a fit under the mode, the settings and the rules of a variant."""
        mode = resolve_mode(variant.causal, fitted.scm)
        return replace(
            fitted,
            mode=mode,
            settings=settings,
            refits=fitted.refits if mode in ("hard", "soft") and settings.n_refits else None,
            rules=fitted.bind(self._rules(variant)),
        )

    def _published(self, variant: Variant) -> Contender:
        kind: type[Published[Any]] = getattr(methods, variant.method)
        settings = kind.Settings(**variant.settings)
        bound = variant.ruled or variant.setting == "recourse"
        key = (variant.method, variant.setting, str(asdict(settings)))

        def fit() -> Published[Any]:
            made = kind(self.world.model, self._schema(variant), settings, seed=self.world.seed)
            return made.fit(self.world.train)

        method, seconds = self._once(key, fit)
        asked = method.restricted(respect_schema=bound, reject_by=self._rules(variant))
        limits = self._limits(variant)
        return Contender(lambda frame: asked.explain(frame, target=1, n=1, **limits), seconds)

    def _once(self, key: tuple[Any, ...], fit: Callable[[], Any]) -> tuple[Any, float]:
        if key not in self._fits:
            began = time.perf_counter()
            self._fits[key] = fit(), time.perf_counter() - began
        return self._fits[key]

    def _limits(self, variant: Variant) -> dict[str, Any]:
        rows = len(self.world.factual)
        return {
            "max_evaluations": variant.max_evaluations or self.plan.max_evaluations,
            "budget_seconds": self.plan.row_seconds * rows,
        }

    def _schema(self, variant: Variant) -> Schema:
        data = self.world.data
        return data.schema if variant.setting == "paper" else data.recourse_schema

    def _rules(self, variant: Variant) -> tuple[str, ...]:
        """Return the rules that a variant is given.

        For recourse all get the limits that no equation is needed for.
        """
        rules = self.world.data.rules
        if variant.setting == "recourse":
            return tuple(rule for rule in rules if "~>" not in rule)
        return tuple(rules) if variant.ruled else ()

    def _graph(self, variant: Variant) -> Any:
        world = self.world
        if variant.graph == "none":
            return None
        if variant.graph == "true":
            return world.equations
        if variant.graph == "discovered":
            graph = CausalGraph.discover(world.train, self._schema(variant), seed=world.seed)
        else:
            graph = world.data.graph
        if not variant.printed:
            return graph
        return StructuralCausalModel.fit(
            graph, world.encoded, world.codec, mechanism="linear", seed=world.seed
        )


def _search_settings(variant: Variant) -> SearchSettings:
    start = SearchSettings.paper() if variant.printed else SearchSettings()
    return replace(start, margin=variant.margin, **variant.settings)
