"""The rules of an explainer or of a call: read, bound to equations, and checked for conflicts."""

from collections.abc import Callable, Mapping, Sequence

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.errors import RuleError
from proce.objective import effect_predictors, fit_effect
from proce.schema import Codec, Rule
from proce.schema.rules.conflict import conflict
from proce.schema.rules.rule import obeyed

BoundRule = tuple[Rule, Mapping[str, Callable[[Array], Array]]]


def bind_rules(
    texts: Sequence[str],
    codec: Codec,
    rows: Array,
    scm: StructuralCausalModel | None,
    seed: int,
) -> tuple[BoundRule, ...]:
    """Read rules, and find or fit the equations of those with ``~>``."""

    def fit_on_named_causes(rule: Rule) -> StructuralCausalModel:
        causes, effect = rule.dependence or ((), "")
        if not len(rows):
            raise RuleError(
                f"rule {rule.text!r} needs an equation of {effect!r} that is not in the graph, and"
                " the explainer was saved without the training rows to fit it on. Save it with"
                " rows=True, or give the rule to ProCE before it is fitted."
            )
        return fit_effect(causes, effect, rows, codec, seed)

    rules = [Rule.parse(text, codec) for text in texts]
    return tuple((rule, effect_predictors(rule, scm, fit_on_named_causes)) for rule in rules)


def refuse_contradiction(rules: Sequence[BoundRule], factual: Array) -> None:
    """Raise an error that names the rules which no counterfactual of rows ``(i, f)`` can obey."""
    clashing = conflict([rule for rule, _ in rules], factual)
    if len(clashing) == 1:
        raise RuleError(
            f"no row can obey the rule '{clashing[0]}', whatever changes. Drop it, or change it."
        )
    if clashing:
        texts = [f"'{rule}'" for rule in clashing]
        raise RuleError(
            f"the rules {', '.join(texts[:-1])} and {texts[-1]} contradict each other: no row can"
            f" obey {'both' if len(texts) == 2 else 'all of them'}. Drop one of them, or change it."
        )


def obey_rules(rules: Sequence[BoundRule], factual: Array, rows: Array) -> Array:
    """Return which rows ``(n, f)`` obey all rules, ``(n,)``, given what they were before."""
    passed = obeyed([rule for rule, _ in rules if rule.dependence is None], factual, rows)
    for rule, mechanisms in rules:
        if rule.dependence is not None:
            passed &= rule.holds(factual, rows, mechanisms)
    return passed


def broken_rules(rules: Sequence[BoundRule], factual: Array, row: Array) -> tuple[str, ...]:
    """Return the texts of the rules that a row ``(f,)`` breaks, given what it was before."""
    return tuple(
        bound[0].text for bound in rules if not bool(obey_rules([bound], factual[None], row[None]))
    )
