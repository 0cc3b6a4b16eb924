"""Ways that are far from the row, where what is near leads away from them."""

import numpy as np
import pandas as pd

from proce import ProCE, SearchSettings
from proce.methods.phases.plan import FIRST, Attempt
from proce.schema import Action, Categorical, Continuous, Schema

from ...worlds import QUICK, two_classes

SCHEMA = Schema(
    [Continuous("x"), Continuous("y"), Categorical("member", ("no", "yes"), action=Action.FIXED)]
)


def trapped(frame: pd.DataFrame) -> object:
    """Say yes to members, and to others on an island; nearer to the corner at 1 they have hope."""
    x, y = frame["x"].to_numpy(float), frame["y"].to_numpy(float)
    on_island = (np.abs(x - 0.35) < 0.09) & (np.abs(y - 0.35) < 0.09)
    member = (frame["member"].astype(str) == "yes").to_numpy()
    return two_classes(np.where(on_island | member, 0.9, 0.45 * np.exp(x + y - 2)))


def test_a_way_far_from_the_row_is_found_though_what_is_lacking_leads_away_from_it() -> None:
    """No row that training shows in class 1 is on the island: no prototype shows the way there."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.uniform(0, 1, (400, 2)), columns=["x", "y"])
    frame["member"] = draw.choice(["no", "yes"], 400)
    others = frame[frame["member"] == "no"]
    island = (others[["x", "y"]] - 0.35).abs().max(axis=1) < 0.09
    explainer = ProCE(trapped, SCHEMA, settings=SearchSettings(autoencoder=QUICK))
    corner = pd.DataFrame({"x": [0.97, 0.95], "y": [0.95, 0.97], "member": ["no", "no"]})
    result = explainer.fit(frame.drop(island[island].index)).explain(corner, n=1)
    assert [str(item.outcome) for item in result] == ["found", "found"]


def test_only_the_first_search_starts_near_the_row() -> None:
    assert SearchSettings().start == "mixed"
    assert FIRST.start("mixed") == "mixed"
    assert Attempt(1, with_margin=False).start("mixed") == "anywhere"
    assert FIRST.for_robustness().start("mixed") == "anywhere"
    assert SearchSettings.paper().start == "gaussian"
    assert Attempt(1, with_margin=False).start("gaussian") == "gaussian"
