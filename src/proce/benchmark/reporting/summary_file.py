"""The summary of a run as a csv file, whose first line says what it is of.

A file of another version, or of which lines were lost, is refused: tables made of it would be
wrong without looking so.
"""

import io
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from proce import __version__
from proce.benchmark.folder import RunFolder
from proce.benchmark.reporting.summary import COLUMNS
from proce.errors import BenchmarkError
from proce.files import read_text, write_text
from proce.json_reading import parse_json
from proce.paths import path_of

SUMMARY_FORMAT = 2
_FIRST_WORDS = "# summary of a proce benchmark: "


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a summary is of, as its first line has it."""

    # plan, repetitions, rows: the name and the size of the run's plan
    plan: str
    repetitions: int
    rows: int
    # proce, code: the version that the run was made with, and the checksum of its code
    proce: str
    code: str

    @classmethod
    def of(cls, folder: RunFolder) -> "Origin":
        """Return what the summary of a run's folder is of."""
        plan, environment = folder.plan, folder.environment()
        return cls(
            plan=plan.name,
            repetitions=plan.repetitions,
            rows=plan.rows,
            proce=str(dict(environment.get("versions", {})).get("proce", "")),
            code=str(environment.get("code", ""))[:12],
        )


def write_summary(
    path: str | Path, summary: pd.DataFrame, origin: Origin, float_format: str
) -> None:
    """Write a summary with the line that says what it is of."""
    first = {"format": SUMMARY_FORMAT, "lines": len(summary), **asdict(origin)}
    table = summary.to_csv(index=False, float_format=float_format)
    write_text(path_of(path), f"{_FIRST_WORDS}{json.dumps(first)}\n{table}")


def read_summary(path: str | Path) -> tuple[pd.DataFrame, Origin]:
    """Read a summary and what it is of; refuse a file of another version, or with lines lost."""
    first, _, table = read_text(path_of(path), "the summary").partition("\n")
    about = _read_first_line(path, first)
    try:
        summary = pd.read_csv(io.StringIO(table))
    except ValueError as error:  # pandas' own errors of parsing are ValueErrors
        raise BenchmarkError(f"{path} cannot be read as a summary: {error}. {_AGAIN}") from error
    if missing := [name for name in COLUMNS if name not in summary]:
        raise BenchmarkError(f"{path} is no summary of a run: it lacks {', '.join(missing)}.")
    if len(summary) != about.pop("lines"):
        raise BenchmarkError(
            f"{path} has {len(summary):,} lines, not as many as it was written with: lines were"
            f" lost or added. {_AGAIN}"
        )
    return summary, Origin(**about)


_AGAIN = "Make it again with 'proce benchmark tables RUN_FOLDER'."
_KINDS = {field.name: field.type for field in fields(Origin)} | {"lines": int}


def _read_first_line(path: str | Path, line: str) -> dict[str, Any]:
    """Return what the first line of a summary says, but for the format, which is checked."""
    if not line.startswith(_FIRST_WORDS):
        raise BenchmarkError(
            f"{path} is no summary of a run, or one of a version of proce before {__version__}:"
            f" its first line does not begin with {_FIRST_WORDS.strip()!r}. {_AGAIN}"
        )
    try:
        about = parse_json(line.removeprefix(_FIRST_WORDS))
    except ValueError:
        about = None
    if not isinstance(about, dict):
        raise BenchmarkError(f"{path}: its first line is damaged. {_AGAIN}")
    if (number := about.pop("format", None)) != SUMMARY_FORMAT:
        raise BenchmarkError(
            f"{path} has format {number!r}, of proce {about.get('proce', '?')}; proce"
            f" {__version__} reads {SUMMARY_FORMAT}. Use the version that wrote it, or make the run"
            " and its tables again."
        )
    if {name: type(value) for name, value in about.items()} != _KINDS:
        raise BenchmarkError(f"{path}: its first line is damaged. {_AGAIN}")
    return about
