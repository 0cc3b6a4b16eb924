"""Options of ``ProCE.explain`` that a published method cannot honour, and what to do instead."""

from collections.abc import Mapping

from proce.errors import UnsupportedOption

_ADVICE = {
    "pick": "Leave it out: its counterfactuals come in the order of its paper.",
    "max_changes": "Leave it out, or name the features that may change with vary=[...].",
    "effort": "Leave it out: its distance knows no effort.",
    "min_probability": "Leave it out, or raise the threshold: {method}(..., threshold=...).",
    "rules": "Give the rules to the method itself: {method}(..., reject_by=[...]).",
    "causal": "Leave it out: it knows no causes.",
    "robust": "Leave it out: it looks at no model but its own.",
    "models": "Leave it out: it looks at no model but its own.",
    "keep_front": "Leave it out: it searches no Pareto front.",
}


def refuse_options(method: str, options: Mapping[str, object]) -> None:
    """Refuse options of a call that a published method does not have.

    Parameters
    ----------
    method
        The name of the method, such as ``Nearest``.
    options
        What was given beyond the options of the method, by name.

    Raises
    ------
    UnsupportedOption
        If an option is one of ``ProCE.explain``.
    TypeError
        If no method knows it.
    """
    for option in options:
        if option not in _ADVICE:
            raise TypeError(f"{method}.explain() got an unexpected keyword argument {option!r}")
        advice = _ADVICE[option].format(method=method)
        raise UnsupportedOption(
            f"{method} cannot honour {option}, which is an option of ProCE. {advice}"
        )
