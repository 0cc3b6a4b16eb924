"""Explanations as one page that needs nothing else: for an applicant, or for an auditor."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from markupsafe import Markup

from proce.errors import SearchError
from proce.explanation.html.blocks import Figure, FoldedList, fold_after, render, style_string
from proce.explanation.html.overview import Overview, overview_of, row_anchor
from proce.explanation.html.pictures import Gauge, Strip, gauge_of, legend_of, strip_of
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.plots.front import plot_front
from proce.explanation.plots.graph import graph_size, plot_graph
from proce.explanation.record.context import Context, Provenance
from proce.explanation.record.counterfactuals import Change, Outcome
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.record.view import protected_names
from proce.explanation.row_view import (
    Facts,
    RowView,
    StepView,
    WayView,
    row_view,
    row_views,
    texts_of,
)
from proce.explanation.words.instructions import reservation
from proce.explanation.words.sentences import MAX_SHOWN, Line, common_lines
from proce.explanation.words.values import class_text, joined, name_texts
from proce.files import require_place, write_text
from proce.paths import path_of
from proce.schema.features.numerals import counted

NOT_TRIED_AGAIN = "The equations behind the consequences were not tried again on other rows."
ASKED_AGAIN = "The model was asked again about exactly the values shown here."
_TITLE = "What would have changed the decision"
_FOR_AUDITORS = "For an auditor: this page shows protected features, which no applicant is shown."
_FRONT_CAPTION = (
    "Each dot is a way that was found; no dot is better than another in everything. Further left"
    " is nearer to the row as it is, further up is likelier. Ways with a number are told here."
)
_OPTION_WORDS = {"n": "ways, at most", "pick": "recommended", "vary": "may be acted on"}
_MAX_DRAWN_ROWS = 5  # a front and a graph each take a moment to draw, and some room
_MAX_BESIDE = 6  # actions beside the decision; more have the whole width
_MAX_SHOWN_WAYS = 3  # besides the recommended one; more are folded away
_MAX_LISTED_EDGES = 200
_FRONT_SIZE = (PICTURE_WIDTH, 3.6)  # inches
_MAX_GRAPH_SIZE, _MIN_GRAPH_HEIGHT = (PICTURE_WIDTH, 9.0), 2.0


@dataclass(frozen=True, slots=True)
class ReportStep:
    """A change of the recommended way: its sentence, its picture, and what else is known of it."""

    text: str
    strip: Strip | None
    facts: Facts


@dataclass(frozen=True, slots=True)
class RowReport:
    """What a report says about one row, but for what it says once for all rows."""

    view: RowView
    anchor: str
    heading: str
    decision: str  # empty where the outcome says it
    outcome: Sequence[str]  # why there is no counterfactual
    gauge: Gauge | None
    actions: Sequence[ReportStep]
    consequences: FoldedList[ReportStep]
    reservation: str  # of all that follows; empty where a single sentence says it
    cautions: Sequence[str]
    certainty: Sequence[str]
    fixed: Sequence[str]
    notes: Sequence[str]
    other_ways: FoldedList[WayView]
    outdone: str  # which of them are told for being different alone
    front: Figure | None
    graph: Figure | None
    legend: str = ""  # how to read the strips, which a page says once

    @property
    def differences(self) -> Facts:
        """What is different in the candidate that came nearest."""
        diagnosis = self.view.diagnosis
        differences = () if diagnosis is None else diagnosis.differences
        return [(difference.label, difference.after_text) for difference in differences]

    @property
    def is_long(self) -> bool:
        """Whether there is more to do than fits beside the decision."""
        return len(self.actions) > _MAX_BESIDE

    @property
    def strips(self) -> list[Strip]:
        """The pictures of its changes."""
        steps = (*self.actions, *self.consequences.shown, *self.consequences.folded)
        return [step.strip for step in steps if step.strip is not None]

    def way_heading(self, way: WayView) -> str:
        """Return the heading of another way: its rank and the probability of the target."""
        return f"Way {way.rank}: {self.view.target} with {way.reached}"

    def consequences_text(self, way: WayView) -> str:
        """Return what is expected to follow in another way; empty where nothing follows."""
        changes = [step.change for step in way.consequences]
        told = [f"{change.label} {change.before} → {change.after}" for change in changes]
        return f"Expected to follow: {joined(told, MAX_SHOWN)}." if told else ""


@dataclass(frozen=True, slots=True)
class GraphReport:
    """The causal graph in words, which is the same for all rows."""

    summary: str
    arrows: Sequence[str]


@dataclass(frozen=True, slots=True)
class ProvenanceReport:
    """How a result was made, as names and values."""

    summary: Facts
    options: Facts
    settings: Facts
    versions: Facts


@dataclass(frozen=True, slots=True)
class Report:
    """What a report page shows; the overview and the provenance are those of a whole result."""

    title: str
    note: str  # for whom the page is; empty where it is for everybody
    overview: Overview | None
    rows: Sequence[RowReport]
    graph: GraphReport | None
    provenance: ProvenanceReport | None

    @property
    def running_head(self) -> Markup:
        """The title as a string of the style sheet, for the head of every printed page."""
        return Markup(style_string(self.title))


def save_page(path: str | PathLike[str], page: Callable[[], str]) -> Path:
    """Write a page to a file, which is checked before any picture is drawn."""
    place = path_of(path)
    require_place(place, "path")
    write_text(place, page())
    return place


def page_of_rows(
    explanations: ExplainedFrame,
    *,
    title: str | None = None,
    at_most: int = 20,
    by: str | Sequence[Any] | None = None,
    max_drawn: int = _MAX_DRAWN_ROWS,
) -> str:
    """Return the report of explanations; at most so many rows have their front and graph drawn."""
    if at_most < 0:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 0 on.")
    views = row_views(explanations.rows.head(at_most), explanations.layout)
    common = common_lines([view.lines for view in views])
    has_overview = len(explanations) != 1 or by is not None
    rows = _row_reports(views, common, max_drawn, listed=has_overview)
    overview = None
    if has_overview:
        rows, shared = _without_shared(rows)
        texts = [*(line.text for line in common), *shared]
        overview = overview_of(explanations, len(views), by, texts)
    provenance = _provenance(explanations.provenance, explanations.context)
    return _page(explanations.context, title, overview, rows, provenance)


def page_of_row(explanation: ExplainedRow, *, title: str | None = None) -> str:
    """Return the report of one explanation as the text of a page."""
    rows = _row_reports([row_view(explanation)], (), _MAX_DRAWN_ROWS, listed=False)
    return _page(explanation.context, title, None, rows, None)


def _page(
    context: Context,
    title: str | None,
    overview: Overview | None,
    rows: Sequence[RowReport],
    provenance: ProvenanceReport | None,
) -> str:
    is_protected = context.view == "auditor" and protected_names(context.codec.schema)
    note = _FOR_AUDITORS if is_protected else ""
    graph = _graph_report(context) if any(row.view.ways for row in rows) else None
    return render("report.html", Report(title or _TITLE, note, overview, rows, graph, provenance))


def _row_reports(
    views: Sequence[RowView], common: Sequence[Line], max_drawn: int, *, listed: bool
) -> list[RowReport]:
    """Return the reports of rows without what is common; the first with strips explains them."""
    reports: list[RowReport] = []
    n_drawn = 0
    for view in views:
        lines = [line for line in view.lines if line not in common]
        draw = bool(view.ways) and n_drawn < max_drawn
        n_drawn += draw
        reports.append(_row_report(view, lines, draw=draw, listed=listed))
    legend = legend_of([strip for report in reports for strip in report.strips])
    for number, report in enumerate(reports):
        if report.strips:
            reports[number] = replace(report, legend=legend)
            break
    return reports


def _row_report(view: RowView, lines: Sequence[Line], *, draw: bool, listed: bool) -> RowReport:
    """Return what is told of a row; a list of rows shows where one stands that needs no change."""
    row, way, diagnosis = view.row, view.recommended, view.diagnosis
    is_there = row.outcome is Outcome.ALREADY_TARGET
    ran_out = row.outcome is Outcome.OUT_OF_TIME
    actions = [] if way is None else way.actions
    consequences, reserved = _consequences(way, row.context)
    return RowReport(
        view=view,
        anchor=row_anchor(row),
        heading=_heading(view),
        decision="" if is_there else view.decision,
        outcome=texts_of(lines, "outcome") if diagnosis is None else [diagnosis.reason],
        gauge=None if listed and is_there else gauge_of(view),
        actions=[_step(step, step.sentence, row.context) for step in actions],
        consequences=fold_after(MAX_SHOWN, consequences),
        reservation=reserved,
        cautions=texts_of(lines, "caution"),
        certainty=_certainty(view, texts_of(lines, "certainty")),
        fixed=texts_of(lines, "fixed"),
        # That there are other ways is seen, as they are shown.
        notes=[*texts_of(lines, "note"), *(texts_of(lines, "search")[:1] if ran_out else [])],
        other_ways=fold_after(_MAX_SHOWN_WAYS, view.ways[1:]),
        outdone=_outdone_text(view.ways),
        front=_front(view) if draw else None,
        graph=_graph_figure(row) if draw else None,
    )


def _step(step: StepView, text: str, context: Context) -> ReportStep:
    return ReportStep(text, strip_of(step.change, context), step.facts)


def _consequences(way: WayView | None, context: Context) -> tuple[list[ReportStep], str]:
    """Return what is expected to follow, and the reservation that is said once of several."""
    steps = [] if way is None else way.consequences
    if len(steps) < 2:
        return [_step(step, step.sentence, context) for step in steps], ""
    told = reservation(context)
    reserved = f"{told[:1].upper()}{told[1:]}."
    return [_step(step, step.effect, context) for step in steps], reserved


def _heading(view: RowView) -> str:
    ending = {
        Outcome.FOUND: f"from {view.predicted} to {view.target}",
        Outcome.ALREADY_TARGET: f"{view.predicted} already",
        Outcome.NOT_FOUND: f"no way to {view.target} found",
        Outcome.OUT_OF_TIME: "the time ran out",
        Outcome.FAILED: "the model failed",
    }[view.row.outcome]
    return f"Row {view.label}: {ending}"


def _outdone_text(ways: Sequence[WayView]) -> str:
    """Return which ways are told although others are both nearer and likelier; empty for none."""
    ranks = [str(way.rank) for way in ways if way.is_outdone]
    if not ranks:
        return ""
    noun = "way" if len(ranks) == 1 else "ways"
    told = joined(ranks)
    return f"Others are both nearer and likelier than {noun} {told}, told for being different."


def _certainty(view: RowView, assumptions: Sequence[str]) -> list[str]:
    """Return the sentences on how sure the recommended way is, assumptions first."""
    if not view.ways:
        return list(assumptions)
    is_untried = view.row.refits is None and bool(view.row.context.edges)
    return [*assumptions, *([NOT_TRIED_AGAIN] if is_untried else []), ASKED_AGAIN]


def _without_shared(rows: Sequence[RowReport]) -> tuple[list[RowReport], list[str]]:
    """Return the rows without what was done for every way alike, and that, to be said once."""
    found = [row.certainty for row in rows if row.view.ways]
    shared = [
        text
        for text in (NOT_TRIED_AGAIN, ASKED_AGAIN)
        if len(found) > 1 and all(text in texts for texts in found)
    ]
    kept = [
        replace(row, certainty=[text for text in row.certainty if text not in shared])
        for row in rows
    ]
    return kept, shared


def _front(view: RowView) -> Figure | None:
    """Return the trade-off as a picture; ``None`` where a single way leaves none."""
    row = view.row
    n_ways = len(row.front or row)
    if max(n_ways, len(row)) < 2:
        return None
    svg = picture(
        lambda ax: plot_front(row, ax).set_title(""),  # the page has a heading
        _FRONT_SIZE,
        f"{_FRONT_CAPTION} There are {n_ways} of them.",
        f"front-{row.row}",
    )
    return Figure(svg, _FRONT_CAPTION)


def _graph_figure(row: ExplainedRow) -> Figure | None:
    """Return the causal graph with the recommended way marked; ``None`` where none was used."""
    if not row.context.edges:
        return None
    follows = bool((row.changes[0] == Change.CONSEQUENCE).any())
    thick = "along thick ones something follows" if follows else "nothing follows from what is done"
    caption = f"Arrows lead from cause to effect; {thick}."
    svg = picture(
        lambda ax: plot_graph(row, ax).set_title(""),  # the page has a heading
        (PICTURE_WIDTH, max(graph_size(row, _MAX_GRAPH_SIZE)[1], _MIN_GRAPH_HEIGHT)),
        f"{caption} The arrows are listed at the end of the page.",
        f"graph-{row.row}",
    )
    return Figure(svg, caption)


def _graph_report(context: Context) -> GraphReport | None:
    """Return the causal graph in words, but for where it came from, which the caution says."""
    if not context.edges:
        return None
    effects: dict[str, list[str]] = {}
    for edge in context.edges[:_MAX_LISTED_EDGES]:
        cause, effect = name_texts(context, edge)
        effects.setdefault(cause, []).append(effect)
    arrows = [f"{cause} affects {joined(names)}." for cause, names in effects.items()]
    n_more = len(context.edges) - _MAX_LISTED_EDGES
    if n_more > 0:
        arrows.append(f"And {counted(n_more, 'more arrow')}.")
    n_arrows = counted(len(context.edges), "arrow")
    return GraphReport(f"The causal graph has {n_arrows} from cause to effect.", arrows)


def _provenance(provenance: Provenance, context: Context) -> ProvenanceReport:
    attempts = counted(provenance.evaluations, "attempt")
    searched = f"{attempts}, in at most {counted(provenance.generations, 'generation')}"
    options = dict(provenance.options)
    if options.get("target") is not None:
        options["target"] = class_text(context, options["target"])
    return ProvenanceReport(
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
        options=[(_OPTION_WORDS.get(name, name), text) for name, text in _facts(options)],
        settings=_facts(provenance.settings),
        versions=_facts(provenance.versions),
    )


def _facts(values: Mapping[str, Any]) -> Facts:
    return [(str(name).replace("_", " "), _value_text(value)) for name, value in values.items()]


def _value_text(value: Any) -> str:
    """Return a value as text; of lists and mappings, all that they hold."""
    if isinstance(value, Mapping):
        return ", ".join(" ".join(pair) for pair in _facts(value)) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
