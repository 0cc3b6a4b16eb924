"""How a worker opens its explainer: what the first questions need is made ready before."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from proce.errors import ProceError

if TYPE_CHECKING:
    from proce.server.explainer_api.api import ExplainerApi

_FIRST_SECONDS = 120.0  # for the first search, which may have to compile

log = logging.getLogger(__name__)


def open_explainer_api(
    folder: Path, rows: Path | None, *, id_name: str | None, title: str, target: str | None
) -> "ExplainerApi":
    """Open the explainer in a worker; the process that asks for it never loads the model."""
    # The first questions take longer than those that follow, so they are asked here.
    from proce.server.explainer_api.api import ExplainerApi

    api = ExplainerApi.open(folder, rows, id_name, title, target)
    row = {one["name"]: one["typical"] for one in api.schema("auditor")["features"]}
    try:
        decision = api.what_if(row=row, view="auditor")["before"]
        others = [one["value"] for one in decision["probabilities"]]
        others.remove(decision["prediction"])
        api.explain({"rows": [row], "target": others[0], "budget_seconds": _FIRST_SECONDS})
    except ProceError as error:
        log.info("the first questions were not answered: %s", error)
    return api
