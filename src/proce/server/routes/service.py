"""What the routes stand on: the desk's answers, the jobs, and what the operator has set."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from fastapi import Depends, HTTPException, Query, Request

_FORBIDDEN = 403

Role = Literal["applicant", "auditor"]


@dataclass(frozen=True)
class Limits:
    """The most that one request may ask for."""

    rows: int = 1_000
    n: int = 20
    rules: int = 100
    seconds: float = 120.0
    body_bytes: int = 4_000_000


@dataclass(frozen=True)
class Settings:
    """What the operator has set."""

    title: str = "ProCE"
    limits: Limits = field(default_factory=Limits)
    token_required: bool = False
    has_rows: bool = False


class Backend(Protocol):
    """The desk behind its workers, the queue and the records."""

    async def ask(self, question: str, **arguments: Any) -> Any:
        """Return what a method of the desk answers."""

    def health(self) -> dict[str, Any]:
        """Return how many workers there are and how long the queue is."""

    async def submit(self, request: dict[str, Any], role: Role) -> dict[str, Any]:
        """Put a request into the queue and return its record."""

    async def wait(self, record_id: str, seconds: float) -> dict[str, Any]:
        """Return a record as it is once it has ended, or after some seconds."""

    async def record(self, record_id: str) -> dict[str, Any] | None:
        """Return a record, or None where there is none."""

    async def results(self, record_id: str, view: Role) -> str | None:
        """Return the JSON text of a record's explanations in a view, where it has any."""

    async def records(self, **filters: Any) -> tuple[int, list[dict[str, Any]]]:
        """Return how many records fit, and some of them."""

    async def cancel(self, record_id: str) -> dict[str, Any]:
        """Cancel what waits or runs and return its record."""

    def events(self, record_id: str) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        """Return the events of a record, the present state first."""

    async def save_view(self, state: dict[str, Any], role: Role) -> str:
        """Keep a state of the page and return its id."""

    async def view(self, view_id: str) -> dict[str, Any] | None:
        """Return a state of the page that was kept, and whose it was; None where none was."""


@dataclass(frozen=True)
class Service:
    """What every route is given."""

    backend: Backend
    settings: Settings


def service_of(request: Request) -> Service:
    """Return the service that an application was made for."""
    service: Service = request.app.state.service
    return service


def role_of(request: Request) -> Role:
    """Return the role of the token; without tokens everybody is an auditor."""
    role: Role = getattr(request.state, "role", "auditor")
    return role


def view_of(
    role: Annotated[Role, Depends(role_of)],
    view: Annotated[
        Role, Query(description="Whose view; the auditor's needs the role of an auditor.")
    ] = "applicant",
) -> Role:
    """Return the view that is asked for, where the role allows it."""
    if view == "auditor" and role != "auditor":
        raise HTTPException(_FORBIDDEN, "The auditor's view needs a token with the auditor's role.")
    return view


ServiceHere = Annotated[Service, Depends(service_of)]
RoleHere = Annotated[Role, Depends(role_of)]
ViewHere = Annotated[Role, Depends(view_of)]
