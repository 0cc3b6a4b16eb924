"""What the routes stand on: the workers, the jobs, the log, and what the operator has set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse

from proce.schema.redaction import Redaction
from proce.server.guard import Metrics, Role
from proce.server.jobs import Jobs
from proce.server.store import Store, StoreThreads
from proce.server.workers import Workers

_FORBIDDEN = 403


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


@dataclass
class Service:
    """What every route is given."""

    workers: Workers
    jobs: Jobs
    store: Store
    threads: StoreThreads
    settings: Settings
    metrics: Metrics
    redaction: Redaction = field(default_factory=lambda: Redaction({}))
    _ready: bool = False

    async def load(self) -> None:
        """Wait until the workers have loaded the explainer, and learn what is protected."""
        await self.workers.start()
        described = await self.workers.ask("schema", view="auditor")
        self.redaction = _redaction([one for one in described["features"] if one["protected"]])
        self._ready = True

    def is_ready(self) -> bool:
        """Return whether questions are answered."""
        return self._ready


def _redaction(protected: Sequence[Mapping[str, Any]]) -> Redaction:
    """Return the redaction of features that are described as the page gets them."""
    levels = [level for one in protected for level in one["levels"] or ()]
    return Redaction(
        {one["name"]: [one["label"]] for one in protected},
        [str(level[part]) for level in levels for part in ("value", "label")],
    )


def service_of(request: Request) -> Service:
    """Return the service that an application was made for."""
    service: Service = request.app.state.service
    return service


def ready_service_of(request: Request) -> Service:
    """Return the service, once its explainer is loaded."""
    service = service_of(request)
    if not service.is_ready():
        raise HTTPException(503, "The explainer is being loaded.", {"retry-after": "2"})
    return service


def role_of(request: Request) -> Role:
    """Return the role that the guards have found out; the lesser one where they have not."""
    role: Role = getattr(request.state, "role", "applicant")
    return role


def owner_of(request: Request) -> str:
    """Return who asks, among whom turns are taken."""
    owner: str = getattr(request.state, "owner", "")
    return owner


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


class Explainer:
    """The explainer of a service, asked in one view: what most routes are given."""

    def __init__(
        self,
        service: Annotated[Service, Depends(ready_service_of)],
        view: Annotated[Role, Depends(view_of)],
    ) -> None:
        self.service, self.view = service, view

    async def ask(self, method: str, **arguments: Any) -> Response:
        """Return what a method of `ExplainerApi` answers."""
        return JSONResponse(await self.service.workers.ask(method, view=self.view, **arguments))


AnyService = Annotated[Service, Depends(service_of)]
ServiceHere = Annotated[Service, Depends(ready_service_of)]
RoleHere = Annotated[Role, Depends(role_of)]
OwnerHere = Annotated[str, Depends(owner_of)]
ViewHere = Annotated[Role, Depends(view_of)]
ExplainerHere = Annotated[Explainer, Depends()]
