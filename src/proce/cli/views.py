"""``--view``: who reads what a command writes."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

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
