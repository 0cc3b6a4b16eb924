"""The application: routes, errors and guards put together."""

from fastapi import FastAPI

from proce import __version__
from proce.server.routes import (
    documents,
    explanations,
    log,
    operations,
    page,
    questions,
    reference,
    views,
)
from proce.server.routes.answers import add_error_answers
from proce.server.routes.service import Service


def make_app(service: Service) -> FastAPI:
    """Return the application that answers for a service."""
    app = FastAPI(
        title="ProCE",
        version=__version__,
        description="Counterfactual explanations of the decisions of one model.",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    add_error_answers(app)
    for room in (operations, questions, log, explanations, documents, views, reference, page):
        app.include_router(room.router)
    return app
