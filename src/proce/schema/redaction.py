"""What names a protected feature, in plain values and in texts: one definition for every reader."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from proce.errors import RuleError
from proce.schema.features.naming import spoken_name
from proce.schema.rules.syntax import feature_names

if TYPE_CHECKING:  # pandas is not loaded for names
    from proce.schema.schema import Schema


class Redaction:
    """Takes the protected features out of what an applicant is shown."""

    # A text speaks of a feature where it has one of its names as words of their own, whatever their
    # case and whatever joins them: 'age' is not in 'wage', 'place_of_birth' is in 'Place of birth'.
    # A rule speaks of the features that it reads, not of levels it quotes. `called` says by what
    # else than its name each of them is called, `levels` has the words for their values.

    def __init__(self, called: Mapping[str, Iterable[str]], levels: Iterable[str] = ()) -> None:
        self.names = frozenset(called)
        words = {word for name, others in called.items() for word in (name, *others)}
        words |= {spoken_name(word) for word in words}
        self._spoken = _any_of(words)
        self._spoken_or_levels = _any_of(words | set(levels))

    @classmethod
    def of(cls, schema: "Schema") -> "Redaction":
        """Return the redaction of the protected features of a schema."""
        hidden = [feature for feature in schema if feature.protected]
        return cls({one.name: [one.label] if one.label else [] for one in hidden})

    def __bool__(self) -> bool:
        """Whether anything is protected."""
        return bool(self.names)

    def in_text(self, text: str) -> bool:
        """Whether a text names a protected feature."""
        return _is_in(self._spoken, text)

    def in_error(self, text: str) -> bool:
        """Whether the words of an error name a protected feature, or quote one of its levels."""
        return _is_in(self._spoken_or_levels, text)

    def in_rule(self, text: str) -> bool:
        """Whether a rule reads a protected feature, or a text that is no rule names one."""
        try:
            return not self.names.isdisjoint(feature_names(text))
        except RuleError:
            return self.in_text(text)

    def rules(self, texts: Iterable[str]) -> list[str]:
        """Return the rules that may be told."""
        return [text for text in texts if not self.in_rule(str(text))]

    def kept(self, names: Iterable[Any]) -> list[Any]:
        """Return the names that may be told."""
        return [name for name in names if not (isinstance(name, str) and name in self.names)]

    def items(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by feature without those of protected features."""
        return {name: value for name, value in values.items() if name not in self.names}

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a call without what names a protected feature."""
        return {name: self._option(name, value) for name, value in options.items()}

    def _option(self, name: str, value: Any) -> Any:
        match name, value:
            case "graph", dict():
                return self._graph(value)
            case "rows", list():
                return [self.items(row) if isinstance(row, dict) else row for row in value]
            case "rules", list() | tuple():
                return self.rules(value)
            case _, dict():
                return self.items(value)
            case _, list() | tuple():
                return self.kept(value)
        return value

    def _graph(self, graph: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a graph without edges of protected features; a text that names one is left out."""
        if self.in_text(str(graph.get("dagitty") or "")):
            return None
        edges = graph.get("edges")
        if not isinstance(edges, list):
            return dict(graph)
        return {**graph, "edges": [edge for edge in edges if self.names.isdisjoint(edge)]}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return what finds words that stand by themselves; blanks and underscores join alike."""
    forms = {form for word in words for form in (word, word.replace("\\", "")) if form}
    spoken = "|".join(map(_pattern, sorted(forms, key=len, reverse=True)))
    return re.compile(spoken or r"(?!)", re.IGNORECASE)


def _pattern(word: str) -> str:
    parts = re.split(r"(?<=[^\s_])[\s_]+(?=[^\s_])", word)
    body = r"[\s_]+".join(map(re.escape, parts))
    before, after = re.match(r"\w", word[0]), re.match(r"\w", word[-1])
    return r"(?<!\w)" * bool(before) + body + r"(?!\w)" * bool(after)


def _is_in(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has what is looked for, also where signs of it are escaped."""
    return any(pattern.search(form) for form in {text, text.replace("\\", "")})
