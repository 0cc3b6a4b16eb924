"""One loaded explainer and its rows, and every question that can be asked of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proce.explanation.record.view import View
from proce.methods import ProCE
from proce.schema import Level
from proce.schema.features.naming import spoken_name
from proce.server.explainer_api.handlers.explaining import (
    ExplainCall,
    Report,
    base_row,
    check_call,
    check_rules,
    explain_call,
    read_call,
)
from proce.server.explainer_api.handlers.graphs import Graphs
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.rows import RowTable, page_of
from proce.server.explainer_api.handlers.values import class_at, class_named, parse_row, row_of
from proce.server.explainer_api.handlers.what_if import try_changes
from proce.server.explainer_api.presenters.cohort import cohort_of
from proce.server.explainer_api.presenters.explainer import describe, describe_graph
from proce.server.explainer_api.presenters.results import (
    Results,
    csv_of,
    letter_of,
    row_at,
)
from proce.server.explainer_api.presenters.ways import ways_of

Request = Mapping[str, Any] | None


class ExplainerApi:
    """One loaded explainer, the rows of a file, and what was asked of them a moment ago."""

    # Answers are plain values of JSON; a wrong field raises a RequestError. One thread at a time.

    def __init__(
        self,
        explainer: ProCE,
        table: RowTable | None = None,
        title: str = "",
        target: Any = None,
    ) -> None:
        self.table = table
        self.title = title
        self._graphs = Graphs(explainer)
        self._fitted = explainer.fitted_
        self.target = None if target is None else self._wanted_class(target)
        self._results = Results()
        codec = self._fitted.codec
        self._role_views = {view: RoleView.of(codec, view) for view in ("applicant", "auditor")}

    @classmethod
    def open(
        cls,
        folder: str | Path,
        rows: str | Path | None = None,
        id_name: str | None = None,
        title: str | None = None,
        target: Any = None,
    ) -> "ExplainerApi":
        """Load an explainer, and the rows of a file."""
        explainer = ProCE.load(folder)
        fitted = explainer.fitted_
        table = None
        if rows is not None:
            table = RowTable.open(Path(rows), fitted.codec, fitted.classifier, id_name)
        return cls(explainer, table, title or spoken_name(Path(folder).resolve().name), target)

    @property
    def n_rows(self) -> int:
        """How many rows can be browsed."""
        return 0 if self.table is None else len(self.table)

    def schema(self, view: View = "applicant") -> dict[str, Any]:
        """Return what the explainer is about: classes, features, rules."""
        described = describe(self._fitted, self._role(view), self.title, self.n_rows)
        return {**described, "default_target": self.target}

    def graph(self, view: View = "applicant") -> dict[str, Any]:
        """Return the causal graph of the explainer, with its equations in words."""
        return describe_graph(self._graphs, self._role(view))

    def check_graph(
        self,
        dagitty: str | None = None,
        edges: Sequence[Sequence[str]] | None = None,
        view: View = "applicant",
    ) -> dict[str, Any]:
        """Return whether a graph can be used, and its canonical form, or what is wrong with it."""
        return self._graphs.check({"dagitty": dagitty, "edges": edges}, self._role(view))

    def rows(
        self,
        *,
        offset: int = 0,
        limit: int = 50,
        prediction: Any = None,
        where: str | None = None,
        sort: str | None = None,
        descending: bool = False,
        view: View = "applicant",
    ) -> dict[str, Any]:
        """Return a page of the rows of the file; :func:`page_of` describes the parameters."""
        if self.table is None:
            return {"total": 0, "rows": []}
        return page_of(
            self.table,
            self._role(view),
            offset=offset,
            limit=limit,
            prediction=prediction,
            where=where,
            sort=sort,
            descending=descending,
        )

    def parse_row(self, text: str, view: View = "applicant") -> dict[str, Any]:
        """Return the values of a pasted line of csv."""
        return parse_row(text, self._role(view))

    def what_if(
        self,
        *,
        row: Mapping[str, Any] | None = None,
        row_id: int | None = None,
        changes: Mapping[str, Any] | None = None,
        target: Any = None,
        graph: Mapping[str, Any] | None = None,
        view: View = "applicant",
    ) -> dict[str, Any]:
        """Return the decision on a row before and after some changes, and what follows."""
        role, classes = self._role(view), self._fitted.classifier.classes
        base = None if row_id is None else base_row(row_id, self.table, "row_id")
        raw = row_of(role, row or {}, "row", base)
        target = self.target if target is None else target
        wanted = None if target is None else class_at(target, classes, "target")
        edited = None if graph is None else self._graphs.read(graph, role)
        explainer = role.attempt("graph", lambda: self._graphs.explainer_for(edited))
        return try_changes(explainer, role, raw, changes or {}, wanted)

    def check_rules(self, rules: Sequence[str], view: View = "applicant") -> dict[str, Any]:
        """Return for each rule whether it can be read, and after how many characters it cannot."""
        return check_rules(rules, self._role(view))

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Refuse an explanation that cannot be made; nothing is searched or fitted."""
        request, role, call = self._call(request)
        check_call(self._graphs.explainer, call, role)
        return request

    def explain(self, request: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Explain the rows of a request; :func:`finish` describes the answer."""
        _, role, call = self._call(request)
        explainer = role.attempt("graph", lambda: self._graphs.explainer_for(call.graph))
        return role.attempt("rows", lambda: explain_call(explainer, call, progress))

    def ways(
        self,
        document: str,
        request: Request = None,
        row: int = 0,
        view: View = "applicant",
    ) -> dict[str, Any]:
        """Return everything that a page draws for one row of a result."""
        shown = self._results.read(document, view)
        asked = self._role(view).redaction.options(request or {})
        return ways_of(shown, row_at(shown, row), asked)

    def cohort(
        self,
        document: str,
        request: Request = None,
        by: str | None = None,
        view: View = "applicant",
    ) -> dict[str, Any]:
        """Return an overview of all rows of a result, in groups by a feature where one is named."""
        return cohort_of(self._results.read(document, view), request or {}, by)

    def report(self, document: str, view: View = "applicant") -> str:
        """Return the report of a result as an HTML page."""
        return self._results.report(document, view)

    def letter(self, document: str, row: int | None = None, view: View = "applicant") -> str:
        """Return the draft of a letter about one row of a result, or about its rows."""
        return letter_of(self._results.read(document, view), row)

    def csv(self, document: str, view: View = "applicant") -> str:
        """Return the counterfactuals of a result as csv."""
        return csv_of(self._results.read(document, view))

    def _wanted_class(self, target: Any) -> Level:
        """Return the class that people want, which the operator may have named by its words."""
        classes, labels = self._fitted.classifier.classes, self._fitted.class_labels
        return classes[class_named(target, classes, "the wanted class", labels)]

    def _role(self, view: View) -> RoleView:
        return self._role_views[view]

    def _call(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], RoleView, ExplainCall]:
        """Return a request with the target that the operator has set, and what it asks for."""
        request = {name: value for name, value in request.items() if value is not None}
        if self.target is not None:
            request.setdefault("target", self.target)
        role = self._role(request.get("view", "auditor"))
        return request, role, read_call(request, role, self._graphs, self.table)
