"""The terms of a score that need no model, for all candidates in two kernels.

:mod:`proce.objective.problem` says what the terms are and computes them with tensors where there
are no kernels. Here is what the kernels read of a problem, laid out once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal import Actions
from proce.compiled import engine
from proce.compiled.arrays import as_array
from proce.losses import Loss
from proce.objective.distance import ACTION_CHARGE, FeatureDistance
from proce.objective.limits import Limits
from proce.objective.query import Query
from proce.objective.requirement import Requirement
from proce.schema import Rule
from proce.schema.rules.program import RuleProgram

Floats = NDArray[np.float64]
Measure = Literal["none", "actions", "absolute", "squared"]
MEASURES: tuple[Measure, ...] = ("none", "actions", "absolute", "squared")  # as the kernel has it


@dataclass(frozen=True, eq=False)
class CompiledTerms:
    """What the kernels read of a problem; see :mod:`proce.objective.kernels.terms`.

    Attributes
    ----------
    factual, target
        ``(i, f)`` and ``(i,)``, the rows and the wanted classes.
    instances
        ``(i, 8, f)``, the rows, the weights of the features and the limits.
    distance, measure
        How features are compared, and what the distance of a candidate is.
    max_changes
        The most actions and holds of a candidate; infinite where there is no such limit.
    required
        ``(5,)``, what is required of the probabilities.
    program
        The rules that need no equation.
    """

    factual: Floats
    target: NDArray[np.int64]
    instances: Floats
    distance: FeatureDistance
    measure: Measure
    max_changes: float
    required: Floats
    program: RuleProgram

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
    ) -> "CompiledTerms":
        """Lay out the parts of a problem; ``weights`` are ``(f,)`` or ``(i, 1, f)``."""
        factual = query.factual.contiguous()
        return cls(
            factual.numpy(),
            query.target.numpy(),
            stack_parts(factual, limits, weights).numpy(),
            distance,
            measure,
            math.inf if max_changes is None else float(max_changes),
            required(requirement),
            RuleProgram.of(tuple(rules)),
        )

    def take(self, instances: Tensor) -> "CompiledTerms":
        """Return the terms of some of the rows, given by position."""
        rows = instances.numpy()
        return replace(
            self,
            factual=self.factual[rows],
            target=self.target[rows],
            instances=self.instances[rows],
        )

    def score(self, realised: Actions, chances: Tensor) -> tuple[Tensor, Tensor]:
        """Return losses ``(i, c, 3)`` and the violation ``(i, c)`` of realised rows.

        The prototype loss is 0, and so is the distance without a measure.

        Parameters
        ----------
        realised
            The candidates as a person would see them.
        chances
            ``(i, c, k)``, the class probabilities that the model gives them.
        """
        compares = self.measure == "actions"  # else nothing looks at what was expected
        losses, violation = self.score_arrays(
            as_array(realised.point),
            as_array(realised.expected if compares else realised.point),
            as_array(realised.acted_on),
            as_array(realised.held),
            as_array(chances.double()),
        )
        return torch.from_numpy(losses), torch.from_numpy(violation)

    def score_arrays(
        self,
        point: Floats,
        expected: Floats,
        acted_on: NDArray[np.bool_],
        held: NDArray[np.bool_],
        chances: Floats,
    ) -> tuple[Floats, Floats]:
        """Return what :meth:`score` returns, of contiguous arrays."""
        from proce.objective.kernels.terms import score_candidates

        losses, violation = np.zeros((*point.shape[:2], len(Loss))), np.zeros(point.shape[:2])
        self.program.add_violation(self.factual, point, violation)
        is_squared = self.measure == "squared"
        tables = self.distance.flat_squared if is_squared else self.distance.flat_absolute
        score_candidates(
            point,
            expected,
            acted_on,
            held,
            chances,
            self.target,
            self.instances,
            self.distance.flat_reach,
            *tables,
            MEASURES.index(self.measure),
            0.0 if is_squared else ACTION_CHARGE,
            self.max_changes,
            self.required,
            losses,
            violation,
        )
        return losses, violation


def shortfall_of(requirement: Requirement, chances: Tensor, target: Tensor) -> Tensor:
    """Return :meth:`Requirement.shortfall` ``(i, c)``, by a kernel where there are kernels."""
    if chances.dtype != torch.float64 or not engine.use_kernels(chances.device):
        return requirement.shortfall(chances, target)
    from proce.objective.kernels.terms import add_shortfall

    lacking = np.zeros(chances.shape[:2])
    losses = np.empty((*chances.shape[:2], len(Loss)))
    add_shortfall(
        chances.contiguous().numpy(), target.numpy(), required(requirement), losses, lacking
    )
    return torch.from_numpy(lacking)


def stack_parts(factual: Tensor, limits: Limits, weights: Tensor) -> Tensor:
    """Return rows, the weights of their features, and their limits, ``(i, 8, f)``."""
    parts = (
        factual,
        weights.reshape(-1, factual.shape[1]).expand_as(factual),
        limits.lower,
        limits.upper,
        limits.consequence_lower,
        limits.consequence_upper,
        limits.action_lower,
        limits.action_upper,
    )
    return torch.stack([part.to(factual) for part in parts], dim=1)


def required(requirement: Requirement) -> Floats:
    """Return a requirement as the kernel reads it, ``(5,)``."""
    threshold = math.nan if requirement.threshold is None else requirement.threshold
    least = requirement.min_probability
    return np.array(
        [
            threshold,
            min(1.0, threshold + requirement.margin),
            max(0.0, threshold - requirement.margin),
            2 * requirement.margin,
            -math.inf if least is None else least,
        ]
    )
