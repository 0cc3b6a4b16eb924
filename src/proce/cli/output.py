"""Where explanations go: a file that grows in parts, one JSON file, a terminal or a pipe."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from proce.batch.in_process import ExplainTable, explain_chunks, explain_to
from proce.batch.parts import Parts, csv_text
from proce.batch.reading.rows import Rows
from proce.batch.tables import doubts, table_of, tally
from proce.cli.console import ProgressBars, is_terminal, note, print_table
from proce.errors import ProceError, SearchError
from proce.explanation import Explanation, Explanations, Outcome
from proce.explanation.result.shown import shown_row
from proce.explanation.words.sentences import Line, common_lines, lines, plain_text
from proce.explanation.words.values import percent
from proce.files import write_text

_MAX_JSON_ROWS = 20_000  # the text of a JSON file is made in memory
_SUMMARY_KINDS = ("action", "doubt")
_MAX_ROWS_IN_SENTENCES = 3  # a terminal shows more rows than these as a table
_MAX_ROWS_SHOWN = 20  # on a terminal
_MAX_REASONS = 3  # rows without a counterfactual whose reason is shown


@dataclass(frozen=True)
class Job:
    """The rows to explain, and what is done with each explanation.

    Attributes
    ----------
    rows
        The rows of the file.
    explain
        Explains the rows of a table.
    progress
        The bars that show how far the job has come.
    folder
        The folder of the explainer, which receipts name as their model.
    receipts
        The folder for a receipt of every row, or ``None`` for no receipts.
    """

    rows: Rows
    explain: ExplainTable
    progress: ProgressBars
    folder: Path
    receipts: Path | None = None

    def write_receipts(self, result: Explanations) -> None:
        """Write a receipt of each row, if there is a folder for them."""
        if self.receipts is None:
            return
        for position, item in enumerate(result):
            receipt = result.receipt(position, model=self.folder)
            receipt.save(self.receipts / f"row-{item.row}.json")


@dataclass
class JobSummary:
    """What is shown when a job has ended, gathered chunk by chunk.

    Attributes
    ----------
    counts
        How many rows ended with which outcome.
    doubts
        How many of the rows that were found have advice that is not robust, or unsure.
    reasons
        Why the first rows without a counterfactual have none.
    preview
        The first explanations, where a person reads them on a terminal.
    """

    counts: Counter[str] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    preview: list[Explanation] = field(default_factory=list)

    def add_reasons(self, result: Explanations) -> None:
        """Remember why rows have no counterfactual, for the first few of them."""
        for item in result:
            if item.diagnosis is not None and len(self.reasons) < _MAX_REASONS:
                self.reasons.append(f"Row {item.row}: {item.diagnosis.reason}")


def write_parts(job: Job, out: Path, request: Mapping[str, Any], restart: bool) -> JobSummary:
    """Explain chunk by chunk into a csv or Parquet file; go on where an earlier run stopped."""
    summary = JobSummary()

    def record_chunk(result: Explanations) -> None:
        job.write_receipts(result)
        summary.add_reasons(result)

    with Parts.open(out, request, restart) as parts:
        if n_done := parts.tally().total():
            note(f"Going on after {n_done:,} of {job.rows.count:,} rows, from {parts.folder}.")
        try:
            explain_to(parts, job.rows, job.explain, progress=job.progress, on_result=record_chunk)
            summary.counts, summary.doubts = parts.tally(), parts.doubts()
            parts.put_together()
        except KeyboardInterrupt:
            kept = _describe_kept(parts, job.rows.count)
            raise KeyboardInterrupt(f"interrupted{kept}") from None
        except OSError as error:
            if isinstance(error, ProceError):
                raise
            reason = error.strerror or str(error)
            raise OSError(f"{reason}{_describe_kept(parts, job.rows.count)}") from error
    return summary


def write_json(job: Job, out: Path) -> JobSummary:
    """Explain all rows at once into one JSON file."""
    if job.rows.count > _MAX_JSON_ROWS:
        raise SearchError(
            f"{job.rows.count:,} rows are too many for one JSON file, which is made in memory;"
            f" expected at most {_MAX_JSON_ROWS:,}. Write .csv or .parquet."
        )
    try:
        table = job.rows.table()
        result = job.rows.labelled(job.explain(table, job.progress), table)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; nothing was written") from None
    job.write_receipts(result)
    write_text(out, result.to_json())
    summary = JobSummary(tally(result), doubts(result))
    summary.add_reasons(result)
    return summary


def write_stdout(job: Job) -> JobSummary:
    """Explain chunk by chunk: csv into a pipe; a terminal is shown the first rows at the end."""
    summary = JobSummary()
    terminal, header = is_terminal(), True
    for result in explain_chunks(job.rows, job.explain, job.progress):
        job.write_receipts(result)
        summary.add_reasons(result)
        summary.counts += tally(result)
        summary.doubts += doubts(result)
        if terminal:
            summary.preview.extend(result[: _MAX_ROWS_SHOWN - len(summary.preview)])
        else:
            typer.echo(csv_text(table_of(result), header=header), nl=False)
            header = False
    return summary


def show_summary(summary: JobSummary, out: Path | None) -> None:
    """Show the first rows or reasons, how many rows ended how, and where the result is."""
    _show_preview(summary.preview)
    total = summary.counts.total()
    if summary.preview:
        if n_hidden := total - len(summary.preview):
            note(f"And {n_hidden:,} rows more; write them all with --out.")
    else:
        for reason in summary.reasons:
            note(reason)
    counts = ", ".join(
        f"{count:,} {outcome.replace('_', ' ')}"
        + (_doubts_text(summary.doubts) if outcome == Outcome.FOUND else "")
        for outcome, count in summary.counts.items()
    )
    where = "" if out is None else f" Written to {out}."
    note(f"{total:,} row{'s' * (total != 1)}{': ' * bool(counts)}{counts}.{where}")


def _doubts_text(counts: Counter[str]) -> str:
    """Return `` (2 of them less robust than asked for, 1 unsure)``; empty where there is none."""
    texts = [
        f"{count:,} {'of them ' * (place == 0)}{doubt}"
        for place, (doubt, count) in enumerate(sorted(counts.items()))
    ]
    return f" ({', '.join(texts)})" if texts else ""


def _describe_kept(parts: Parts, total: int) -> str:
    n_done = parts.tally().total()
    if not n_done:
        return f" before the first of {total:,} rows was kept"
    return (
        f" after {n_done:,} of {total:,} rows; they are kept in {parts.folder}: run the same"
        " command again to go on"
    )


def _show_preview(items: list[Explanation]) -> None:
    """Show a few rows in sentences, many as a table; without a terminal there are none."""
    if not items:
        return
    if len(items) == 1:
        typer.echo(str(items[0]))
        return
    told = [lines(shown_row(item)) for item in items]
    common = common_lines(told)
    if len(items) <= _MAX_ROWS_IN_SENTENCES:
        for item, own in zip(items, told, strict=True):
            text = plain_text([line for line in own if line not in common])
            typer.echo(f"Row {item.row}\n\n{text}\n")
        typer.echo(plain_text(common))
    else:
        summaries = [
            (str(item.row), *_summarise(item, own)) for item, own in zip(items, told, strict=True)
        ]
        header = ("row", "now", "then", "what to do, or why there is nothing")
        print_table(header, summaries, below=[line.text for line in common])


def _summarise(item: Explanation, sentences: Sequence[Line]) -> tuple[str, str, str]:
    """Return the probability now and then, and the actions or the reason why there are none."""
    now = percent(item.probability)
    if item.outcome is not Outcome.FOUND:
        return now, "", sentences[0].text
    actions = " ".join(sentence.text for sentence in sentences if sentence.kind in _SUMMARY_KINDS)
    return now, percent(float(item.probabilities[0])), actions
