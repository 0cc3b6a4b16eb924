"""Features whose names sound like what nobody can change, or may be told to, in an open schema.

Only a name is read, and nothing is decided: the person who knows the columns is told.
"""

import re

from proce.schema.features.feature import Action, Feature
from proce.schema.features.naming import spoken_name
from proce.schema.schema import Schema

_TIME = re.compile(r"\b(age|aged|seniority|tenure)\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(sex|gender|race|racial|ethnic|ethnicity|nationality|citizenship|religion|religious"
    r"|faith|disability|disabled|marital|married|pregnant|pregnancy|native|birth|birthday|birthplace"
    r"|born|foreign|foreigner|immigrant|skin|orientation)\b",
    re.IGNORECASE,
)
_OPEN = (Action.FREE, Action.INCREASE, Action.DECREASE)


def unguarded_text(schema: Schema) -> str | None:
    """Return which features of a schema should be looked at, and what to do; ``None`` for none."""
    waiting = [f.name for f in schema if _is_open(f) and _TIME.search(_words(f))]
    personal = [
        f.name
        for f in schema
        if _is_open(f) and f.name not in waiting and _PERSON.search(_words(f))
    ]
    names = [name for name in schema.names if name in (*waiting, *personal)]
    if not names:
        return None
    edits = [
        *([f"schema.edit({waiting!r}, action='waits')"] if waiting else []),
        *([f"schema.edit({personal!r}, action='fixed', protected=True)"] if personal else []),
    ]
    return (
        f"No schema says what a person can change, so everything may be advised to, also"
        f" {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}. If"
        f" {'that is' if len(names) == 1 else 'those are'} not to be advised, say so in the schema:"
        f" {' and '.join(edits)}."
    )


def _is_open(feature: Feature) -> bool:
    return feature.action in _OPEN and not feature.protected


def _words(feature: Feature) -> str:
    return f"{spoken_name(feature.name)} {feature.label or ''}"
