"""How a worker opens its desk: what the first questions need is made ready before they come."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from proce.errors import ProceError

if TYPE_CHECKING:
    from proce.server.desk.desk import Desk

_FIRST_SECONDS = 120.0  # for the first search, which may have to compile

log = logging.getLogger(__name__)


def open_desk(
    folder: Path, rows: Path | None, id_name: str | None, target: str | None = None
) -> "Desk":
    """Open the desk in a worker; the process that asks for it never loads the model.

    The first questions take longer than those that follow, so they are asked here.
    """
    from proce.server.desk.desk import Desk

    desk = Desk.open(folder, rows, id_name, target=target)
    row = {one["name"]: one["typical"] for one in desk.schema("auditor")["features"]}
    try:
        decision = desk.what_if(row=row, view="auditor")["before"]
        others = [one["value"] for one in decision["probabilities"]]
        others.remove(decision["prediction"])
        desk.explain({"rows": [row], "target": others[0], "budget_seconds": _FIRST_SECONDS})
    except ProceError as error:
        log.info("the first questions were not answered: %s", error)
    return desk
