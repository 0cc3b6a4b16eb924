"""Errors of the explainer as those of a request: with the field, and without what is withheld."""

from collections.abc import Callable
from typing import TypeVar

from proce.errors import ModelError, ProceError, RuleError
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.sight import Sight

Value = TypeVar("Value")
_RULE = "the rules contradict a rule of the explainer that this view does not show."
_MODEL = "the model cannot answer for this row; an auditor can see why."
_OTHER = "this cannot be asked of this explainer; an auditor can see why."


def told(field: str, sight: Sight, attempt: Callable[[], Value]) -> Value:
    """Return what an attempt returns; its error is told of a field.

    An applicant is not told the words of the model, which may quote any value, nor those that name
    a protected feature.

    Parameters
    ----------
    field
        What the attempt is about. An error of a rule is told of ``rules``.
    sight
        What the person who asks can see.
    attempt
        What may go wrong.
    """
    try:
        return attempt()
    except RequestError:
        raise
    except ProceError as error:
        is_rule, is_model = isinstance(error, RuleError), isinstance(error, ModelError)
        message = str(error)
        if (is_model and sight.n_withheld) or not sight.tells(message):
            message = _RULE if is_rule else _MODEL if is_model else _OTHER
        raise RequestError("rules" if is_rule else field, message) from None
