"""What every equation that is learned from rows can do, whatever its form."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from proce.arrays import Array
from proce.causal.equations.terms import EquationTables, Parents, Terms
from proce.causal.programs.program import Record
from proce.schema import Continuous, Feature

Map = tuple[float, float]  # factor and shift: old = new * factor + shift
SAME: Map = (1.0, 0.0)


class Learned:
    """An equation of terms: called with parents by name, saved, and carried to other units."""

    form: ClassVar[str]  # its name in a saved model
    learned_name: ClassVar[str] = "weights"  # the field that holds what was learned
    is_estimator: ClassVar[bool] = False  # or an array, which is kept in another file
    terms: Terms

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        raise NotImplementedError

    @property
    def learned(self) -> Any:
        """What is learned beside the terms: an array, or an estimator."""
        return getattr(self, self.learned_name)

    def carried(self, maps: Mapping[str, Map], own: Map) -> "Learned":
        """Return the equation with causes, by name, and the effect on other unit ranges."""
        raise NotImplementedError

    def saved(self) -> dict[str, Any]:
        """Return the fields of ``SavedMechanism`` that are neither of its terms nor its noise."""
        return {}

    @classmethod
    def load(cls, terms: Terms, learned: Any, saved: Any, n_logits: int) -> "Learned | None":
        """Return the equation of a ``SavedMechanism``; ``None`` where its parts do not fit.

        ``n_logits`` is the number of levels of a categorical effect, else 0.
        """
        raise NotImplementedError

    def is_flat(self, n_logits: int) -> bool:
        """Whether a kernel can run it; any other is asked for as a function, block by block."""
        return False

    def write(self, tables: EquationTables, record: Record, positions: Mapping[str, int]) -> None:
        """Add a flat equation to tables, and write into the record of its effect where it is."""
        raise NotImplementedError


def carried(equation: Any, maps: Mapping[str, Map], own: Map = SAME) -> Any:
    """Return any equation on the unit range with its causes and its effect on another."""
    if isinstance(equation, Learned):
        return equation.carried(maps, own)
    factor, shift = own
    return lambda parents: (equation(_in_old_units(parents, maps)) - shift) / factor


def _in_old_units(parents: Parents, maps: Mapping[str, Map]) -> dict[str, Array]:
    known = {name: maps.get(name, SAME) for name in parents}
    return {name: values * known[name][0] + known[name][1] for name, values in parents.items()}


def is_flat(equation: Any, n_logits: int, causes: Sequence[Feature]) -> bool:
    """Return whether a kernel can run an equation, whose causes the schema declares so."""
    if not isinstance(equation, Learned) or not equation.is_flat(n_logits):
        return False
    terms, declared = equation.terms, {cause.name: cause for cause in causes}
    numbers = {parent.name for parent in terms.parents if isinstance(parent, Continuous)}
    return (
        {name for name, *_ in (*terms.knots, *terms.ends, *terms.maps)} <= numbers
        and {parent.name for parent in terms.parents} == set(declared)
        and all(_has_same_entries(parent, declared[parent.name]) for parent in terms.parents)
    )


def _has_same_entries(parent: Feature, declared: Feature) -> bool:
    if isinstance(parent, Continuous) or isinstance(declared, Continuous):
        return type(parent) is type(declared)
    return type(parent) is type(declared) and len(parent.levels) == len(declared.levels)
