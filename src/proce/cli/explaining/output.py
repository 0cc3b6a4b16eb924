"""Where explanations go: a file that grows in parts, a terminal or a pipe."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from proce.batch.job import Job
from proce.batch.parts.parts import Parts
from proce.batch.reading.file_types import FileType
from proce.batch.tables import NO_ROWS, Summary, csv_text, outcome_table, table_of, table_writer
from proce.cli.console import is_terminal, note, print_table
from proce.errors import FileError, ModelError, SearchError
from proce.explanation import Explanation, Explanations, Outcome
from proce.explanation.record.view import shown_row
from proce.explanation.words.decision import now_text, then_text
from proce.explanation.words.sentences import Line, common_lines, lines, plain_text
from proce.explanation.words.values import row_label
from proce.files import draft_of, writing
from proce.paths import is_fault
from proce.schema.features.numerals import counted

_MAX_JSON_ROWS = 20_000  # the text of a JSON file is made in memory
_SUMMARY_KINDS = ("action", "doubt")
_MAX_ROWS_IN_SENTENCES = 3  # a terminal shows more rows than these as a table
_MAX_ROWS_SHOWN = 20  # on a terminal


@dataclass
class JobSummary:
    """What is shown when a job has ended."""

    rows: Summary = NO_ROWS
    preview: dict[str, Explanation] = field(default_factory=dict)


def write_file(
    job: Job,
    out: Path,
    request: Mapping[str, Any],
    types: Mapping[str, FileType],
    *,
    restart: bool,
    outcomes: Path | None = None,
) -> JobSummary:
    """Explain chunk by chunk into a file; go on where an earlier run stopped."""
    if out.suffix == ".json" and job.rows.count > _MAX_JSON_ROWS:
        raise SearchError(
            f"{job.rows.count:,} rows are too many for one JSON file, which is made in memory;"
            f" expected at most {_MAX_JSON_ROWS:,}. Write .csv or .parquet."
        )
    opened = Parts.open(out, request, restart=restart, types=types)
    with opened as parts, _kept(parts, job.rows.count):
        if n_done := sum(span.n_rows for span in parts.covered()):
            total = counted(job.rows.count, "row")
            note(f"Going on after {n_done:,} of {total}, from {parts.folder}.")
        job.keep(parts)
        summary = JobSummary(parts.summary())
        parts.put_together(job.rows.count, outcomes)
    if parts.folder.exists():
        note(f"{parts.folder} stays: it holds files that are not ours.")
    return summary


def write_stdout(job: Job, outcomes: Path | None = None) -> JobSummary:
    """Explain chunk by chunk: csv into a pipe; a terminal is shown the first rows at the end."""
    summary = JobSummary()
    terminal, header = is_terminal(), True
    with _outcome_writer(outcomes) as write_outcomes:
        for result in job.explanations():
            write_outcomes(result)
            summary.rows += Summary.of(result)
            if terminal:
                first = result[: _MAX_ROWS_SHOWN - len(summary.preview)]
                summary.preview |= {row_label(item, result.layout): item for item in first}
            else:
                typer.echo(csv_text(table_of(result), header=header), nl=False)
                header = False
    return summary


def exit_code(rows: Summary) -> int:
    """Return the exit code of a job that has ended: 1 where a row was left without an answer."""
    unanswered = (Outcome.NOT_FOUND, Outcome.OUT_OF_TIME, Outcome.FAILED)
    return int(any(rows.tally[outcome] for outcome in unanswered))


def show_summary(summary: JobSummary, *files: Path | str | None) -> None:
    """Show the first rows or reasons, how many rows ended how, and which files were written."""
    _show_preview(summary.preview)
    total = summary.rows.tally.total()
    if summary.preview:
        if n_hidden := total - len(summary.preview):
            note(f"And {counted(n_hidden, 'row')} more; write them all with --out.")
    else:
        for reason in summary.rows.reasons:
            note(reason)
    counts = ", ".join(
        f"{count:,} {outcome.replace('_', ' ')}"
        + (_doubts_text(summary.rows.doubts) if outcome == Outcome.FOUND else "")
        for outcome, count in summary.rows.tally.items()
    )
    written = " and ".join(str(path) for path in files if path is not None)
    where = f" Written to {written}." if written else ""
    note(f"{counted(total, 'row')}{': ' * bool(counts)}{counts}.{where}")


def _doubts_text(counts: Counter[str]) -> str:
    """Return `` (2 of them less robust than asked for, 1 unsure)``; empty where there is none."""
    texts = [
        f"{count:,} {'of them ' * (place == 0)}{doubt}"
        for place, (doubt, count) in enumerate(sorted(counts.items()))
    ]
    return f" ({', '.join(texts)})" if texts else ""


@contextmanager
def _kept(parts: Parts, total: int) -> Iterator[None]:
    """Say what is kept of a job that Ctrl-C or the system ended."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{_describe_kept(parts, total)}") from None
    except (FileError, ModelError) as error:
        is_given_up = isinstance(error, ModelError) and bool(parts.covered())
        if not (is_given_up or is_fault(error)):
            raise
        raise type(error)(f"{error} It happened{_describe_kept(parts, total)}.") from error


def _describe_kept(parts: Parts, total: int) -> str:
    n_done = sum(span.n_rows for span in parts.covered())
    if not n_done:
        return f" before the first of {counted(total, 'row')} was kept"
    return (
        f" after {n_done:,} of {counted(total, 'row')}; they are kept in {parts.folder}: run the"
        " same command again to go on"
    )


@contextmanager
def _outcome_writer(path: Path | None) -> Iterator[Callable[[Explanations], None]]:
    """Yield a function that adds the outcomes of rows to a file, which appears at the end."""
    if path is None:
        yield lambda result: None
        return
    with draft_of(path) as draft, ExitStack() as stack:
        writers: list[Callable[[Any], None]] = []

        def write(result: Explanations) -> None:
            table = outcome_table(result)
            with writing(path, draft):
                if not writers:
                    opened = table_writer(draft, path.suffix, table.schema)
                    writers.append(stack.enter_context(opened))
                writers[0](table)

        yield write
        with writing(path, draft):
            stack.close()


def _show_preview(items: Mapping[str, Explanation]) -> None:
    """Show a few rows in sentences, many as a table; without a terminal there are none."""
    if not items:
        return
    if len(items) == 1:
        typer.echo(str(next(iter(items.values()))))
        return
    told = {label: lines(shown_row(item)) for label, item in items.items()}
    common = common_lines(list(told.values()))
    if len(items) <= _MAX_ROWS_IN_SENTENCES:
        for label, own in told.items():
            text = plain_text([line for line in own if line not in common])
            typer.echo(f"Row {label}\n\n{text}\n")
        typer.echo(plain_text(common))
    else:
        summaries = [(label, *_summarise(items[label], own)) for label, own in told.items()]
        header = ("row", "now", "then", "what to do, or why there is nothing")
        print_table(header, summaries, below=[line.text for line in common])


def _summarise(item: Explanation, sentences: Sequence[Line]) -> tuple[str, str, str]:
    """Return the probability now and then, and the actions or the reason why there are none."""
    now = now_text(item)
    if item.outcome is not Outcome.FOUND:
        return now, "", sentences[0].text
    actions = " ".join(sentence.text for sentence in sentences if sentence.kind in _SUMMARY_KINDS)
    return now, then_text(item), actions
