"""Where explanations go: a file that grows in parts, one JSON text, a terminal, a pipe."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from proce.batch.chunks import ExplainTable, Rows, as_table, explain_chunks, explain_to, tally
from proce.batch.parts import Parts, csv_text
from proce.cli.console import Bars, is_terminal, note, print_table
from proce.errors import ProceError, SearchError
from proce.explanation import Explanation, Explanations, Outcome
from proce.explanation.words.values import percent
from proce.files import write_text

IN_ONE_TEXT = 20_000  # rows that a JSON file may hold: it is made in memory
_IN_WORDS = 3  # rows told in sentences on a terminal; more are a table
_IN_TABLE = 20  # rows shown at all
_REASONS = 3  # rows without a counterfactual whose reason is told


@dataclass(frozen=True)
class Job:
    """What is to be explained, and what else is to be done with it.

    Attributes
    ----------
    rows, ask, progress
        The rows, what explains them, and who is told.
    folder
        Of the explainer.
    receipts
        Where a receipt of every row goes.
    untold
        Why the first rows without a counterfactual have none.
    shown
        The first rows, for a person at a terminal.
    """

    rows: Rows
    ask: ExplainTable
    progress: Bars
    folder: Path
    receipts: Path | None = None
    untold: list[str] = field(default_factory=list)
    shown: list[Explanation] = field(default_factory=list)

    def also(self, result: Explanations) -> None:
        """Write receipts where they are wanted, and remember the first reasons."""
        for at, item in enumerate(result):
            if self.receipts is not None:
                receipt = result.receipt(at, model=self.folder)
                receipt.save(self.receipts / f"row-{item.row}.json")
            if item.diagnosis is not None and len(self.untold) < _REASONS:
                self.untold.append(f"Row {item.row}: {item.diagnosis.reason}")


def to_parts(job: Job, out: Path, request: Mapping[str, Any], restart: bool) -> Counter[str]:
    """Explain chunk by chunk into a csv or Parquet file; take up what an earlier run kept."""
    with Parts.open(out, request, restart) as parts:
        if before := parts.tally().total():
            note(f"Going on after {before:,} of {job.rows.count:,} rows, from {parts.folder}.")
        try:
            explain_to(parts, job.rows, job.ask, progress=job.progress, on_result=job.also)
            counts = parts.tally()
            parts.put_together()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted{_kept(parts, job.rows.count)}") from None
        except OSError as error:
            if isinstance(error, ProceError):
                raise
            reason = error.strerror or str(error)
            raise OSError(f"{reason}{_kept(parts, job.rows.count)}") from error
    return counts


def to_json(job: Job, out: Path) -> Counter[str]:
    """Explain all rows at once into one JSON file."""
    if job.rows.count > IN_ONE_TEXT:
        raise SearchError(
            f"{job.rows.count:,} rows are too many for one JSON file, which is made in memory;"
            f" expected at most {IN_ONE_TEXT:,}. Write .csv or .parquet."
        )
    try:
        result = job.ask(job.rows.table(), job.progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; nothing was written") from None
    job.also(result)
    write_text(out, result.to_json())
    return tally(result)


def to_stdout(job: Job) -> Counter[str]:
    """Explain into stdout: words or a table for a person, csv for a program."""
    counts: Counter[str] = Counter()
    person, first = is_terminal(), True
    for result in explain_chunks(job.rows, job.ask, job.progress):
        job.also(result)
        counts += tally(result)
        if person:
            job.shown.extend(result[: _IN_TABLE - len(job.shown)])
        else:
            typer.echo(csv_text(as_table(result.to_frame()), header=first), nl=False)
            first = False
    return counts


def tell(job: Job, counts: Counter[str], out: Path | None) -> None:
    """Show what a person is to see, how the rows ended, and where the result is."""
    _show(job.shown)
    if left := job.rows.count - len(job.shown) if job.shown else 0:
        note(f"And {left:,} rows more; write them all with --out.")
    for each in () if job.shown else job.untold:
        note(each)
    words = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in counts.items())
    total = counts.total()
    where = "" if out is None else f" Written to {out}."
    note(f"{total:,} row{'s' * (total != 1)}: {words}.{where}")


def _kept(parts: Parts, total: int) -> str:
    done = parts.tally().total()
    if not done:
        return f" before the first of {total:,} rows was kept"
    return (
        f" after {done:,} of {total:,} rows; they are kept in {parts.folder}: run the same command"
        " again to go on"
    )


def _show(items: list[Explanation]) -> None:
    """Tell a person: a few rows in words, many as a table."""
    if len(items) <= _IN_WORDS:
        for item in items:
            typer.echo(f"Row {item.row}\n\n{item}\n" if len(items) > 1 else str(item))
        return
    lines = [(str(item.row), *_summary(item)) for item in items]
    print_table(("row", "now", "then", "what to do, or why there is nothing"), lines)


def _summary(item: Explanation) -> tuple[str, str, str]:
    from proce.explanation.words.sentences import lines

    now = percent(item.probability)
    told = lines(item)
    if item.outcome is not Outcome.FOUND:
        return now, "", told[0].text
    actions = " ".join(line.text for line in told if line.kind == "action")
    return now, percent(float(item.probabilities[0])), actions
