"""The terms of a score that need no model, where the rows live: on the host or on a CUDA device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.causal import Actions
from proce.compiled import engine
from proce.compiled.gpu.engine import use_triton
from proce.objective.compiled.compiled_terms import (
    MEASURES,
    CompiledTerms,
    Measure,
    required,
    stack_parts,
)
from proce.objective.distance import ACTION_CHARGE, FeatureDistance, FlatTables
from proce.objective.limits import Limits
from proce.objective.query import Query
from proce.objective.requirement import Requirement
from proce.schema import Rule


def has_kernels(device: torch.device) -> bool:
    """Return whether kernels score candidates of this device."""
    return engine.use_kernels(device) or use_triton(device)


def lay_out_terms(
    query: Query,
    limits: Limits,
    weights: Tensor,
    distance: FeatureDistance,
    measure: Measure,
    requirement: Requirement,
    rules: Sequence[Rule],
    max_changes: int | None,
) -> "CompiledTerms | TermsOnDevice":
    """Lay out the parts of a problem where its rows live; see :class:`CompiledTerms`."""
    kind = TermsOnDevice if query.factual.is_cuda else CompiledTerms
    return kind.of(query, limits, weights, distance, measure, requirement, rules, max_changes)


@dataclass(frozen=True, eq=False)
class TermsOnDevice:
    """What the kernels of a CUDA device read of a problem; see :mod:`proce.objective.gpu.terms`.

    Attributes
    ----------
    factual, target, instances, measure
        As :class:`CompiledTerms` has them, as tensors on the device.
    measured
        The reach of the features, the tables of their levels, and where each of them begins.
    bounds, requirement
        ``(2,)`` and ``(5,)``: the charge per action and the most of them; what is required.
    rules
        The rules that need no equation; tensors compute them.
    """

    factual: Tensor
    target: Tensor
    instances: Tensor
    measure: Measure
    measured: tuple[Tensor, Tensor, Tensor]
    bounds: Tensor
    requirement: Tensor
    rules: tuple[Rule, ...]

    @classmethod
    def of(
        cls,
        query: Query,
        limits: Limits,
        weights: Tensor,
        distance: FeatureDistance,
        measure: Measure,
        requirement: Requirement,
        rules: Sequence[Rule],
        max_changes: int | None,
    ) -> "TermsOnDevice":
        """Lay out the parts of a problem; the parameters are those of :class:`CompiledTerms`."""
        device = query.factual.device
        is_squared = measure == "squared"
        tables: FlatTables = distance.flat_squared if is_squared else distance.flat_absolute
        flat = (distance.codec.reach.to(device), *(torch.from_numpy(t).to(device) for t in tables))
        charge = 0.0 if is_squared else ACTION_CHARGE
        most = math.inf if max_changes is None else float(max_changes)
        return cls(
            query.factual,
            query.target,
            stack_parts(query.factual, limits, weights),
            measure,
            (flat[0], flat[1], flat[2]),
            torch.tensor([charge, most], dtype=torch.float64, device=device),
            torch.from_numpy(required(requirement)).to(device),
            tuple(rules),
        )

    def take(self, instances: Tensor) -> "TermsOnDevice":
        """Return the terms of some of the rows, given by position."""
        return replace(
            self,
            factual=self.factual[instances],
            target=self.target[instances],
            instances=self.instances[instances],
        )

    def score(self, realised: Actions, chances: Tensor) -> tuple[Tensor, Tensor]:
        """Return losses ``(i, c, 3)`` and the violation ``(i, c)`` of realised rows.

        The prototype loss is 0, and so is the distance without a measure.
        """
        from proce.objective.gpu.terms import score_on_device

        losses, violation = score_on_device(
            (realised.point, realised.expected, realised.acted_on, realised.held),
            chances,
            self.target,
            self.instances,
            self.measured,
            MEASURES.index(self.measure),
            self.bounds,
            self.requirement,
        )
        for rule in self.rules:
            violation += rule.violation(self.factual, realised.point)
        return losses, violation
