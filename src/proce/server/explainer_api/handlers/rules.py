"""Rules as they are typed: each read by itself, with the place of what is wrong."""

from collections.abc import Sequence
from typing import Any

from proce.errors import RuleError
from proce.schema import Rule
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.sight import Sight

MAX_RULES = 100  # of a request


def check_rules(texts: Sequence[str], sight: Sight) -> dict[str, Any]:
    """Return for each rule whether it can be read, and where it cannot be.

    ``position`` is how many characters stand before the mistake.
    """
    refuse_many(texts, "rules")
    return {"rules": [_checked(text, sight) for text in texts]}


def refuse_many(texts: Sequence[str], field: str) -> None:
    """Refuse more rules than a person would write."""
    if len(texts) > MAX_RULES:
        raise RequestError(
            field,
            f"there are {len(texts):,} rules; at most {MAX_RULES} are read. Join rules with 'and'.",
        )


def read_rule(text: Any, sight: Sight, field: str) -> Rule:
    """Return a rule over the features that a view shows, or say what is wrong with it."""
    try:
        return Rule.parse(text, sight.codec)
    except RuleError as error:
        wrong = RequestError(field, str(error))
        wrong.position = error.position
        raise wrong from None


def _checked(text: Any, sight: Sight) -> dict[str, Any]:
    try:
        read_rule(text, sight, "")
    except RequestError as error:
        return {"text": text, "ok": False, "error": error.message, "position": error.position}
    return {"text": text, "ok": True, "error": None, "position": None}
