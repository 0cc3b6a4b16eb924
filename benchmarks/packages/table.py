"""The recorded table and the page that shows it."""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.packages.judge import Following, Verdict

DOCS = Path(__file__).parents[2] / "docs"
PAGE, RECORD = DOCS / "comparison.md", DOCS / "packages.csv"
DASH = "–"
TITLES = {
    "bare": "no graph, no margin",
    "what_if": "what-if",
}
_INSTALLED = ["package", "version", "packages installed", "MB installed", "note"]
_MEASURED = [
    "package",
    "method",
    "lines of code",
    "answered",
    "class reached",
    "limits kept",
    "works in truth",
    "promises kept",
    "actions a row",
    "needless actions",
    "distance",
    "fit, CPU s",
    "a row, CPU s",
]
_OF_TRUTH = ["works in truth", "promises kept"]
_FOLLOWING = [
    "package",
    "lines of code",
    "answered",
    "error",
    "error if nothing followed",
    "fit, CPU s",
    "a row, CPU s",
]
COLUMNS = [
    "data set",
    *_MEASURED,
    "error",
    "error if nothing followed",
    *(column for column in _INSTALLED if column != "package"),
]


def line_of_verdicts(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return what is counted over the rows of one package; rows without an answer count."""
    answered = [verdict for verdict in verdicts if verdict.answered]
    n_rows, n_answered = len(verdicts), len(answered)
    reached = [verdict for verdict in answered if verdict.flips]
    actions = [len(verdict.done) for verdict in reached]
    known = any(verdict.works is not None for verdict in answered)
    line = {
        "answered": f"{n_answered} of {n_rows}",
        "class reached": f"{len(reached)} of {n_answered}",
        "limits kept": f"{sum(not verdict.broken for verdict in answered)} of {n_answered}",
        "actions a row": f"{np.mean(actions):.2f}" if reached else DASH,
        "needless actions": f"{sum(len(v.needless) for v in reached)} of {sum(actions)}",
        "distance": f"{np.mean([v.distance for v in reached]):.4f}" if reached else DASH,
    }
    if known:
        line["works in truth"] = f"{sum(v.works is True for v in answered)} of {n_answered}"
        line["promises kept"] = f"{sum(v.keeps_promise for v in verdicts)} of {n_rows}"
    return line


def line_of_following(told: Sequence[Following]) -> dict[str, str]:
    """Return how well consequences were told over all questions."""
    errors = np.array([following.error for following in told])
    answered = ~np.isnan(errors)
    return {
        "answered": f"{answered.sum()} of {len(told)}",
        "error": f"{errors[answered].mean():.4f}" if answered.any() else DASH,
        "error if nothing followed": f"{np.mean([f.naive for f in told]):.4f}",
    }


def write_record(lines: Sequence[Mapping[str, str]], about: Mapping[str, str], path: Path) -> None:
    """Write the lines, below comments that say where they come from."""
    table = pd.DataFrame(lines).reindex(columns=COLUMNS).fillna(DASH)
    head = "".join(f"# {name}: {text}\n" for name, text in about.items())
    path.write_text(head + table.to_csv(index=False, lineterminator="\n"), "utf-8")


def read_record(path: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the recorded table, all as text, and what the comments say."""
    about, text = {}, path.read_text("utf-8")
    while text.startswith("# "):
        line, text = text.split("\n", 1)
        name, _, value = line.removeprefix("# ").partition(": ")
        about[name] = value
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False), about


def tables_of(record: pd.DataFrame) -> str:
    """Return the tables of the page in Markdown."""
    parts = []
    advice, following = (record[(record["method"] == "what_if") == told] for told in (False, True))
    for name in dict.fromkeys(advice["data set"]):
        shown = advice[advice["data set"] == name]
        unknown = bool((shown[_OF_TRUTH] == DASH).to_numpy().all())
        columns = [c for c in _MEASURED if not (unknown and c in _OF_TRUTH)]
        parts.append(f"**{name}**\n\n{markdown(shown[columns].replace({'method': TITLES}))}")
    if len(following):
        shown = following[_FOLLOWING].rename(columns={"a row, CPU s": "a question, CPU s"})
        parts.append(
            f"**What would follow** ({following['data set'].iloc[0]})\n\n{markdown(shown)}"
        )
    installed = record[_INSTALLED].drop_duplicates("package").drop(columns="note")
    notes = record.groupby("package", sort=False)["note"].agg(_joined)
    installed = installed.assign(note=installed["package"].map(notes))
    parts.append(f"**Installed**\n\n{markdown(installed)}")
    return "\n".join(parts)


def _joined(notes: "pd.Series[str]") -> str:
    """Return the notes of a package, each once."""
    return "; ".join(dict.fromkeys(note for note in notes if note != DASH)) or DASH


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    cells = table.astype(str).replace(r"\|", r"\\|", regex=True).to_numpy().tolist()
    lines = [list(table.columns), ["---"] * table.shape[1], *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill(page: str, path: Path) -> str:
    """Return the page with the text between its marks replaced by the recorded tables."""
    record, about = read_record(path)
    said = f"Recorded with `{about['command']}`, ProCE at {about['commit']}, {about['machine']}."
    block = re.compile(r"(<!-- packages -->\n).*?(<!-- end -->)", re.DOTALL)
    text = f"\n{said}\n\n{tables_of(record)}\n"
    return block.sub(lambda match: f"{match[1]}{text}{match[2]}", page)
