"""What people give beside the rows: a schema, a graph, rules, tiers, ranges, a class, a view."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from proce.errors import GraphError, ProceError, RuleError, SearchError
from proce.files import read_text

if TYPE_CHECKING:
    from proce.causal import CausalGraph
    from proce.schema import Codec, Level, Schema

Parsed = TypeVar("Parsed")


def read_schema(path: Path) -> "Schema":
    """Read the features from a JSON file."""
    from proce.schema import Schema

    return _parse(path, Schema.from_json, read_text(path, "the schema"))


def read_graph(path: Path) -> "CausalGraph":
    """Read a causal graph: DOT from a ``.dot`` file, DAGitty from ``.dagitty``, else JSON."""
    from proce.causal import CausalGraph

    text = read_text(path, "the graph")
    parsers = {".dot": CausalGraph.from_dot, ".dagitty": CausalGraph.from_dagitty}
    return _parse(path, parsers.get(path.suffix.lower(), CausalGraph.from_json), text)


def read_rules(path: Path, codec: "Codec") -> tuple[str, ...]:
    """Read one rule per line; blank lines and comments, which begin with #, are left out."""
    from proce.schema import Rule

    rules = []
    for number, line in enumerate(read_text(path, "the rules").splitlines(), 1):
        text = _without_comment(line).strip()
        if not text:
            continue
        try:
            Rule.parse(text, codec)
        except RuleError as error:
            raise RuleError(f"{path}, line {number}: {error}") from None
        rules.append(text)
    return tuple(rules)


def read_tiers(path: Path) -> list[list[str]]:
    """Read groups of feature names: a line with commas for each, or a JSON list of lists."""
    from proce.json_reading import parse_json

    text = read_text(path, "the tiers")
    if path.suffix.lower() != ".json":
        lines = [_without_comment(line) for line in text.splitlines()]
        tiers = [[name.strip() for name in line.split(",") if name.strip()] for line in lines]
        return [tier for tier in tiers if tier]
    try:
        tiers = parse_json(text)
    except ValueError as error:
        raise GraphError(f"{path} is not JSON: {error}.") from None
    if not isinstance(tiers, list) or not all(_is_list_of_names(tier) for tier in tiers):
        raise GraphError(f'{path} is not of the form [["age", "sex"], ["education"]].')
    return tiers


def split_names(words: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names that are given one by one or separated by commas."""
    # A name of ``known`` may itself hold commas.
    names: list[str] = []
    for word in words:
        names += [word] if word in known else [name.strip() for name in word.split(",")]
    return names


def read_ranges(words: Sequence[str], schema: "Schema") -> "dict[str, tuple[Level, Level]]":
    """Read limits written as ``NAME=LOW:HIGH``."""
    from proce.schema import Continuous

    ranges: dict[str, tuple[Level, Level]] = {}
    for word in words:
        name, equals, limits = word.rpartition("=")
        low, colon, high = limits.partition(":")
        if not (name and equals and colon):
            raise SearchError(f"--range {word!r} is not of the form NAME=LOW:HIGH.")
        feature = schema[name]
        if isinstance(feature, Continuous):
            ranges[name] = (_limit(word, low), _limit(word, high))
        else:
            levels = feature.levels
            ranges[name] = (_value_named(low, levels), _value_named(high, levels))
    return ranges


def read_class(
    word: str | None, classes: Sequence[Any], labels: Mapping[Any, str] | None = None
) -> Any:
    """Return the class that a word on the command line names: ``1`` may be text or a number."""
    return None if word is None else _value_named(word, classes, labels)


def read_class_labels(text: str | None, classes: Sequence[Any]) -> dict[Any, str] | None:
    """Read names of classes written as ``CLASS=WORDS``, separated by commas."""
    if text is None:
        return None
    labels: dict[Any, str] = {}
    for pair in text.split(","):
        name, equals, words = pair.partition("=")
        if not (equals and name.strip()):
            raise SearchError(
                f"--classes {text!r} is not of the form CLASS=WORDS,CLASS=WORDS, such as"
                " 0=rejected,1=approved."
            )
        labels[read_class(name.strip(), classes)] = words
    return labels


def _parse(path: Path, parser: Callable[[str], Parsed], text: str) -> Parsed:
    """Parse the text of a file; an error names the file."""
    try:
        return parser(text)
    except ProceError as error:
        raise type(error)(f"{path}: {error}") from None


def _without_comment(line: str) -> str:
    """Return a line without what follows a # that stands outside quotes."""
    quote = ""
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return line[:position]
    return line


def _is_list_of_names(tier: Any) -> bool:
    return isinstance(tier, list) and all(isinstance(name, str) for name in tier)


def _limit(word: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SearchError(
            f"--range {word!r}: {text!r} is not a number; expected NAME=LOW:HIGH, such as"
            " income=0:50000."
        ) from None


def _value_named(text: str, known: Sequence[Any], labels: Mapping[Any, str] | None = None) -> Any:
    """Return the known value that a text names; else the text itself, which the call refuses."""
    from proce.schema.frames.cells import level_named

    position = level_named(text, known, labels)
    return text if position is None else known[position]


if TYPE_CHECKING:
    from proce.explanation.record.view import View

ViewOption = Annotated[
    str,
    typer.Option(
        metavar="VIEW",
        help="Who reads it: applicant, who is shown no protected feature, or auditor.",
    ),
]


def read_view(view: str) -> "View":
    """Return a view that exists."""
    from proce.explanation.record.view import check_view

    check_view(view)
    return cast("View", view)
