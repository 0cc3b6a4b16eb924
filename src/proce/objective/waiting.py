"""Waiting: time passes for every feature that waits, by the same amount.

One of these features leads: its gene says how much time passes. The others go with it, and count
as what follows, so that waiting is one action with one cost.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.causal import Actions, StructuralCausalModel
from proce.causal.models.propagation import act_without_effects, tolerances_of
from proce.causal.models.scm import split_actions
from proce.causal.programs.kernels import write_drifted
from proce.causal.programs.program import Table
from proce.objective.limits import CallLimits, Limits
from proce.schema import Action, Codec, Continuous, Feature
from proce.schema.features.feature import YEARS_PER_UNIT, time_unit


@dataclass(frozen=True, eq=False)
class Clock:
    """The features that wait, and how time moves them."""

    names: frozenset[str]  # the names of all features that wait
    # The position of the feature that says how much time passes: the one with the longest step, so
    # that the others come to whole steps too. A protected feature never leads.
    lead: int
    others: tuple[int, ...]  # the positions of the other features that wait
    years: Array  # (f,), how many years one unit of an entry is, for features that wait; else 0
    tolerances: Table  # (f,) records of which differences of a feature count

    @classmethod
    def of(cls, codec: Codec) -> "Clock":
        """Return the clock of a codec's features; it stands still where none of them can lead."""
        features = codec.schema.features
        waiting = [p for p, feature in enumerate(features) if feature.action is Action.WAITS]
        tolerances, years = tolerances_of(codec), np.zeros(len(features))
        for position in waiting:
            years[position] = codec.span[position] * YEARS_PER_UNIT[_unit(features[position])]
        leaders = [p for p in waiting if not features[p].protected]
        if not leaders:
            return cls(frozenset(), -1, (), np.zeros_like(years), tolerances)
        lead = max(leaders, key=lambda position: float((years * tolerances["step"])[position]))
        return cls(
            frozenset(codec.schema.names[position] for position in waiting),
            lead,
            tuple(position for position in waiting if position != lead),
            years,
            tolerances,
        )

    def told_by(self, named: Collection[int]) -> "Clock":
        """Return the clock of somebody who names features, one of which leads; the others stand."""
        waiting = (self.lead, *self.others)
        lead = next((position for position in waiting if position in named), self.lead)
        others = tuple(p for p in waiting if p != lead and p not in named)
        return replace(self, lead=lead, others=others)

    def follow(
        self,
        scm: StructuralCausalModel | None,
        codec: Codec,
        factual: Array,
        rows: Array,
        residual: Array | None,
        acting: Array,
    ) -> Actions:
        """Return what follows from what is asked for in rows ``(i, c, f)``, by time and equations.

        Only what is ``acting (i, c, f)`` may be acted on or held. Without equations every change is
        an action.
        """
        rows = self.advance(rows, factual)
        if scm is None:
            return self._as_one_action(act_without_effects(codec, factual, rows))
        return self._as_one_action(split_actions(scm, factual, rows, residual, acting))

    def advance(self, rows: Array, factual: Array) -> Array:
        """Return rows ``(i, c, f)`` in which as much time has passed as the lead says."""
        if not self.others:
            return rows
        own = factual[:, None]
        passed = np.nan_to_num((rows[..., self.lead] - own[..., self.lead]), nan=0.0)
        rows = rows.copy()
        for position in self.others:
            drift = passed * float(self.years[self.lead] / self.years[position])
            before, ended = factual[:, position], rows[..., position]
            write_drifted(self.tolerances[position], before, drift, ended)
        return rows

    def _as_one_action(self, actions: Actions) -> Actions:
        """Return actions in which the other features that wait follow the one that leads."""
        if not self.others:
            return actions
        others = list(self.others)
        acted_on, consequence = actions.acted_on.copy(), actions.consequence.copy()
        expected = actions.expected.copy()
        consequence[..., others] |= acted_on[..., others]
        acted_on[..., others] = False
        expected[..., others] = actions.point[..., others]
        return replace(actions, acted_on=acted_on, consequence=consequence, expected=expected)

    def with_others(self, by_hand: Array) -> Array:
        """Return what is done by hand ``(…, f)``, and all that time moves with it."""
        if not self.others:
            return by_hand
        by_hand = by_hand.copy()
        by_hand[..., list(self.others)] = by_hand[..., [self.lead]]
        return by_hand

    def weigh(self, effort: Array, max_years: float) -> Array:
        """Return efforts ``(f,)`` by which the longest wait costs as much as a whole range."""
        weights = effort.copy()
        weights[self.lead] *= float(self.years[self.lead]) / max_years
        weights[list(self.others)] = 0.0
        return weights

    def open(
        self, limits: Limits, call: CallLimits, codec: Codec, factual: Array, max_years: float
    ) -> Limits:
        """Return limits in which rows ``(i, f)`` may wait, at most so many years.

        No feature leaves its permitted range or that of the call, and the lead none that the
        search would not look at. A row in which the lead is missing does not wait.
        """
        left = np.full_like(factual[:, self.lead], max_years)
        for position in (self.lead, *self.others):
            feature = codec.schema.features[position]
            is_bound = isinstance(feature, Continuous) and feature.range is not None
            if position == self.lead or is_bound or feature.name in call.bounds:
                room = (limits.upper - factual)[:, position] * float(self.years[position])
                left = np.minimum(left, np.nan_to_num(room, nan=np.inf))
        left = np.maximum(left, 0.0)
        known = ~codec.missing(factual)[:, self.lead]
        opened = {name: getattr(limits, name).copy() for name in Limits.__dataclass_fields__}
        opened["movable"][:, self.lead] = known & (left > 0)
        opened["upper"][:, self.lead] = factual[:, self.lead] + left / float(self.years[self.lead])
        for end in ("lower", "upper"):
            opened[f"action_{end}"][:, self.lead] = opened[end][:, self.lead]
        for position in self.others:
            own = factual[:, position]
            # Whole steps: the time of the lead may be rounded up.
            most = own + left / float(self.years[position])
            opened["consequence_upper"][:, position] = most + self.tolerances["step"][position]
        return Limits(**opened)


STILL = Clock(frozenset(), -1, (), np.empty(0), np.empty(0))  # nobody may wait


def _unit(feature: Feature) -> str:
    unit = time_unit(feature.unit)
    assert unit is not None, "the schema lets nothing wait that is not counted in a unit of time"
    return unit
