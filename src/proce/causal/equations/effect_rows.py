"""The rows that the equation of one effect is learned from."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal.equations.regression import NONE, Terms
from proce.causal.graph import CausalGraph
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Feature
from proce.schema.bulk import bulk_ends

_MIN_POSITIVE_SHARE = 0.5  # of the rows: a number that is zero more often is not an amount


@dataclass(frozen=True, eq=False)
class EffectRows:
    """An effect and its causes, in the rows where none of them is missing.

    Attributes
    ----------
    feature, causes
        The effect and its parents.
    parents, target
        Their values ``(i,)``, numbers on the unit range.
    origin
        Where the effect is 0 in raw units, on the unit range.
    zeros
        The same of the numbers among the causes, by name.
    terms
        The straight terms, with the ends beyond which no curve was learned.
    """

    feature: Feature
    causes: tuple[Feature, ...]
    parents: dict[str, Tensor]
    target: Tensor
    origin: float
    zeros: dict[str, float]
    terms: Terms

    @classmethod
    def of(cls, name: str, graph: CausalGraph, rows: Tensor, codec: Codec) -> "EffectRows":
        """Return what there is to learn of an effect from training rows ``(i, f)``.

        Rows with an outlier in the effect or a cause are left out, or a few of them would bend
        the equation.
        """
        feature = codec.schema[name]
        causes = tuple(codec.schema[cause] for cause in graph.parents(name))
        positions = [codec.schema.position(used.name) for used in (feature, *causes)]
        low, high = bulk_ends(codec)[:, positions].to(rows)
        present = ~codec.missing(rows)[:, positions].any(-1)
        present &= ~((rows[:, positions] < low) | (rows[:, positions] > high)).any(-1)
        target, *parents = rows[present][:, positions].double().unbind(-1)
        numbers = [cause.name for cause in causes if isinstance(cause, Continuous)]
        return cls(
            feature=feature,
            causes=causes,
            parents={cause.name: values for cause, values in zip(causes, parents, strict=True)},
            target=target,
            origin=_origin(name, codec),
            zeros={number: _origin(number, codec) for number in numbers},
            terms=Terms(causes, ends=_ends(causes, codec)),
        )

    @property
    def is_amount(self) -> bool:
        """Whether the effect is above zero in most rows and never below."""
        if not isinstance(self.feature, Continuous):
            return False
        positive_share = float((self.target > self.origin + NONE).double().mean())
        never_below = bool((self.target >= self.origin - NONE).all())
        return never_below and positive_share > _MIN_POSITIVE_SHARE

    @property
    def comparable(self) -> Tensor:
        """Flags ``(i,)`` of the rows on which all forms have a likelihood.

        An amount of zero has none under multiplicative noise. Elsewhere zero is a value like any
        other.
        """
        if self.is_amount:
            return self.target > self.origin + NONE
        return torch.ones_like(self.target, dtype=torch.bool)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note where parents are combinations of each other."""
        columns = Terms(self.causes)(self.parents)
        n_categorical = sum(isinstance(cause, Categorical) for cause in self.causes)
        centred = columns - columns.mean(0)
        expected = columns.shape[1] - n_categorical  # levels of a feature always add up to one
        rank = int(torch.linalg.matrix_rank(centred, rtol=1e-9)) if len(columns) else 0
        if rank >= expected:
            return ()
        names = ", ".join(cause.name for cause in self.causes)
        return (
            f"the parents {names} are collinear: what each does by itself cannot be told apart",
        )

    def refuse_too_few(self) -> None:
        """Raise a GraphError where there are fewer rows than weights."""
        size = Terms(self.causes).size
        if len(self.target) <= size:
            names = ", ".join(cause.name for cause in self.causes)
            raise GraphError(
                f"{len(self.target)} complete rows are too few for the {size} weights of the"
                f" equation of {self.feature.name!r} ({names}); give more rows, or remove edges"
                " into it."
            )

    def refuse_constant(self) -> None:
        """Raise a GraphError where the effect never changes."""
        if len(self.target) and not bool((self.target != self.target[0]).any()):
            raise GraphError(
                f"{self.feature.name!r} has the same value in all {len(self.target)} complete"
                " rows, so its equation cannot be learned; give other rows, or remove the edges"
                " into it."
            )


def _origin(name: str, codec: Codec) -> float:
    position = codec.schema.position(name)
    return -float(codec.low[position] / codec.span[position])


def _ends(causes: tuple[Feature, ...], codec: Codec) -> tuple[tuple[str, float, float], ...]:
    """Return the values of causes with outliers beyond which no curve was learned."""
    ends = bulk_ends(codec).T.tolist()
    named = [(cause.name, *ends[codec.schema.position(cause.name)]) for cause in causes]
    return tuple((name, low, high) for name, low, high in named if high - low < math.inf)
