"""The end of a report: how the result was made, as names and values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Facts
from proce.explanation.record.context import Context, Provenance
from proce.explanation.words.values import class_text
from proce.schema.features.numerals import counted

_OPTION_WORDS = {"n": "ways, at most", "pick": "recommended", "vary": "may be acted on"}


@dataclass(frozen=True, slots=True)
class ProvenanceFacts:
    """What a report says about the making of a result.

    Attributes
    ----------
    summary
        The method, the causal graph, the seed, the training rows and the effort.
    options
        What the caller asked for.
    settings
        All settings of the method.
    versions
        The versions of the libraries that numbers depend on.
    """

    summary: Facts
    options: Facts
    settings: Facts
    versions: Facts


def provenance_facts(provenance: Provenance, context: Context) -> ProvenanceFacts:
    """Return the provenance of a result as texts, with the words of its context for classes."""
    attempts = counted(provenance.evaluations, "attempt")
    searched = f"{attempts}, in at most {counted(provenance.generations, 'generation')}"
    return ProvenanceFacts(
        summary=(
            ("method", provenance.method),
            ("causal mode", provenance.mode),
            ("causal graph", provenance.graph or "none"),
            ("seed", str(provenance.seed)),
            ("training rows", f"{provenance.training_rows:,}"),
            ("their SHA-256", provenance.training_hash),
            ("searched", searched),
            ("time", f"{provenance.elapsed_seconds:.1f} seconds"),
        ),
        options=_options(provenance.options, context),
        settings=_facts(provenance.settings),
        versions=_facts(provenance.versions),
    )


def _options(options: Mapping[str, Any], context: Context) -> Facts:
    """Return what was asked for, in words."""
    told = dict(options)
    if told.get("target") is not None:
        told["target"] = class_text(context, told["target"])
    return [(_OPTION_WORDS.get(name, name), text) for name, text in _facts(told)]


def _facts(values: Mapping[str, Any]) -> Facts:
    return [(_name_text(name), _value_text(value)) for name, value in values.items()]


def _name_text(name: object) -> str:
    return str(name).replace("_", " ")


def _value_text(value: Any) -> str:
    """Return a value as text; of lists and mappings, all that they hold."""
    if isinstance(value, Mapping):
        pairs = [f"{_name_text(name)} {_value_text(inner)}" for name, inner in value.items()]
        return ", ".join(pairs) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
