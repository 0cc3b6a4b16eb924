"""What a counterfactual must obey, written by a person: ``cf.age >= x.age``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from proce.arguments import brief, checked
from proce.arrays import Array
from proce.errors import RuleError
from proce.schema.codec import Codec
from proce.schema.row_arguments import check_array, takes_rows
from proce.schema.rules.dependence import Dependence, Mechanism
from proce.schema.rules.syntax import parse_syntax
from proce.schema.rules.tree import Condition, FeatureReference, Not
from proce.schema.rules.types import Resolver

if TYPE_CHECKING:  # it imports numba, which takes half a second
    from proce.schema.rules.program import RuleProgram

_NO_MECHANISMS: Mapping[str, Mechanism] = MappingProxyType({})


@dataclass(frozen=True)
class Rule:
    """A condition on a counterfactual ``cf`` and its factual row ``x``.

    Numbers are compared in raw units, ordinal levels by their order, categorical levels for
    being the same. A comparison that needs a missing value is satisfied, and so is its
    negation: a rule never blocks because of a cell that nobody knows. A comparison that divides
    by zero is false.

    Examples
    --------
    >>> import pandas as pd
    >>> from proce.schema import Codec, Schema
    >>> people = pd.DataFrame({"age": [20, 40, 60]})
    >>> codec = Codec.fit(Schema.infer(people), people)
    >>> factual = codec.encode(people)
    >>> rule = Rule.parse("cf.age >= 50 or cf.age > x.age", codec)
    >>> rule.violation(factual, factual + 0.1).tolist()  # four years on
    [0.0, 0.0, 0.0]
    >>> Rule.parse("cf.age >= 50", codec).violation(factual, factual).tolist()
    [0.75, 0.25, 0.0]
    """

    text: str
    codec: Codec = field(repr=False)
    tree: Condition | Dependence = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, codec: Codec) -> "Rule":
        """Read a rule about the features of a codec.

        Parameters
        ----------
        text
            The rule, such as ``cf.job != "Unemployed"`` or ``LSAT, UGPA ~> ZFYA``.
        codec
            Gives the features, their levels and the range that violations are measured on.

        Raises
        ------
        RuleError
            With the position of what cannot be read, is unknown or is of the wrong type.
        """
        if not isinstance(text, str):
            raise RuleError(f"a rule is text such as 'cf.age >= x.age'; got {brief(text)}.")
        tree = parse_syntax(text)
        if not isinstance(codec, Codec):
            raise RuleError(f"codec is {brief(codec)}; expected a Codec.")
        return cls(text.strip(), codec, Resolver(text, codec).resolve(tree))

    def __str__(self) -> str:
        return self.text

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that the rule reads, in the order of the schema."""
        positions = {reference.position for reference in self.tree.references}
        return tuple(self.codec.schema.names[position] for position in sorted(positions))

    @property
    def dependence(self) -> tuple[tuple[str, ...], str] | None:
        """The causes and the effect of a rule with ``~>``; ``None`` for any other rule."""
        tree = self.tree
        return (tree.causes, tree.effect) if isinstance(tree, Dependence) else None

    @checked(RuleError)
    def holds(
        self, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism] = _NO_MECHANISMS
    ) -> Array:
        """Return whether each candidate obeys the rule; see ``violation``."""
        return self.violation(factual, rows, mechanisms) == 0

    @takes_rows(RuleError, "rows")
    @checked(RuleError)
    def surely_holds(self, rows: Array) -> Array:
        """Return which rows ``(i, f)`` obey a rule over ``x`` alone, whatever is missing in them.

        Where :meth:`holds` passes over a comparison that needs a missing value, this does not: such
        a row is known neither to obey nor to break the rule.
        """
        if self.dependence is not None or any(ref.row == "cf" for ref in self.tree.references):
            raise RuleError(
                f"rule {self.text!r} speaks of a counterfactual; expected one over x alone, such as"
                " 'x.age >= 40'."
            )
        assert not isinstance(self.tree, Dependence), "it is refused above"
        from proce.schema.rules.program import RuleProgram

        opposite = RuleProgram.of((Not(self.tree),), self.codec)
        return opposite.violation(rows, rows[:, None])[:, 0] > 0

    @checked(RuleError)
    def violation(
        self, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism] = _NO_MECHANISMS
    ) -> Array:
        """Return how far each candidate is from obeying the rule.

        Parameters
        ----------
        factual
            Encoded rows ``(i, f)``.
        rows
            Their candidates ``(i, c, f)``, or one for each ``(i, f)``.
        mechanisms
            For a rule with ``~>``: by the effect's name, what predicts it from rows ``(…, f)``,
            on the unit range.

        Returns
        -------
        ndarray
            ``(i, c)`` or ``(i,)``: zero exactly where the rule holds, growing with the distance
            to holding, on the unit range of the training rows; always finite.
        """
        before = self._aligned(factual, rows)
        if not isinstance(self.tree, Dependence):
            alone = rows.ndim == 2
            lacking = self.program.violation(factual, rows[:, None] if alone else rows)
            return lacking[:, 0] if alone else lacking
        return self.tree.violation(self._referenced(before, rows), before, rows, mechanisms)

    @cached_property
    def program(self) -> "RuleProgram":
        """A rule without ``~>`` as a kernel runs it."""
        from proce.schema.rules.program import RuleProgram

        assert not isinstance(self.tree, Dependence), "a rule with ~> needs its equation"
        return RuleProgram.of((self.tree,), self.codec)

    def _aligned(self, factual: Array, rows: Array) -> Array:
        """Return the factual rows in a shape that broadcasts to the candidates'."""
        check_array("factual", factual, RuleError)
        check_array("rows", rows, RuleError)
        n_rows, n_features = len(rows) if rows.ndim else 0, len(self.codec.schema)
        sound = rows.ndim in (2, 3) and rows.shape[-1] == n_features
        if not sound or factual.shape != (n_rows, n_features):
            raise RuleError(
                f"rule {self.text!r} was given factual rows {tuple(factual.shape)} and candidates"
                f" {tuple(rows.shape)}; expected (i, {n_features}) and (i, c, {n_features})."
            )
        return factual[:, None, :] if rows.ndim == 3 else factual

    def _referenced(self, before: Array, rows: Array) -> dict[FeatureReference, Array]:
        """Return what the rule reads of the two rows, in raw units."""
        return {
            reference: self._values(reference, before if reference.row == "x" else rows)
            for reference in self.tree.references
        }

    def _values(self, reference: FeatureReference, rows: Array) -> Array:
        from proce.schema.rules.program import read_cells

        position, codec = reference.position, self.codec
        values = rows[..., position].astype(np.float64)
        read_cells(values.reshape(-1), bool(codec.is_number[position]), codec.raw_units[position])
        return values


def program_of(rules: Sequence[Rule]) -> "RuleProgram":
    """Return rules of one codec as one program; those with ``~>`` are passed over."""
    from proce.schema.rules.program import NO_RULES, RuleProgram

    return RuleProgram.of([rule.tree for rule in rules], rules[0].codec) if rules else NO_RULES


def obeyed(rules: Sequence[Rule], factual: Array, rows: Array) -> Array:
    """Return which rows ``(n, f)`` obey rules without ``~>``, ``(n,)``.

    ``factual (n, f)`` is what each of them was before.
    """
    return program_of(rules).violation(factual, rows[:, None])[:, 0] == 0


def changes_of(rule: Rule, factual: Array, rows: Array) -> Array:
    """Return what :meth:`Dependence.changes` does, of a rule with ``~>``."""
    assert isinstance(rule.tree, Dependence), "no other rule has an effect"
    return rule.tree.changes(rule._referenced(rule._aligned(factual, rows), rows))


def moves_of(
    rule: Rule, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism]
) -> tuple[Array, Array, Array]:
    """Return what :meth:`Dependence.moves` does, of a rule with ``~>``.

    The arguments are those of :meth:`Rule.violation`.
    """
    assert isinstance(rule.tree, Dependence), "no other rule has an effect"
    before = rule._aligned(factual, rows)
    return rule.tree.moves(rule._referenced(before, rows), before, rows, mechanisms)
