"""Rules that contradict each other: said before anything is searched."""

from collections.abc import Sequence

from torch import Tensor

from proce.errors import RuleError
from proce.schema import Rule
from proce.schema.rules.conflict import conflict


def refuse_contradiction(rules: Sequence[Rule], factual: Tensor) -> None:
    """Name the rules that no counterfactual of rows ``(i, f)`` or of others like them can obey."""
    found = conflict(rules, factual)
    if len(found) == 1:
        raise RuleError(
            f"no row can obey the rule '{found[0]}', whatever changes. Drop it, or change it."
        )
    if found:
        texts = [f"'{rule}'" for rule in found]
        raise RuleError(
            f"the rules {', '.join(texts[:-1])} and {texts[-1]} contradict each other: no row can"
            f" obey {'both' if len(texts) == 2 else 'all of them'}. Drop one of them, or change it."
        )
