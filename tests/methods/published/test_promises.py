"""What more than one published method promises: limits, budgets, and settings that make sense."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import pandas as pd
import pytest

from proce import SearchError
from proce.latent import VariationalSettings
from proce.methods import (
    Cchvae,
    CchvaeSettings,
    Certifai,
    CertifaiSettings,
    DiceSettings,
    Face,
    FaceSettings,
    GrowingSpheres,
    GrowingSpheresSettings,
    Method,
    Nearest,
    NearestSettings,
    WachterSettings,
)
from proce.training_settings import TrainingSettings

from ...worlds import SCHEMA, bank, people, refused

BRIEF = TrainingSettings(n_epochs=80, batch_size=32, learning_rate=5e-3, patience=20, halve_after=8)
SETTINGS: dict[Any, Any] = {
    Nearest: NearestSettings(sparse=False),
    Face: FaceSettings(n_neighbours=15),
    GrowingSpheres: GrowingSpheresSettings(n_candidates=300, max_rounds=40),
    Certifai: CertifaiSettings(population_size=30, n_generations=20),
    Cchvae: CchvaeSettings(network=VariationalSettings(hidden_size=32, training=BRIEF)),
}
ROWS = refused(people(60, seed=5), 12)
Check = Callable[[pd.DataFrame, pd.DataFrame], bool]


@cache
def fitted(kind: Any, respect_schema: bool = False, reject_by: tuple[str, ...] = ()) -> Method:
    if kind is Certifai and find_spec("pygad") is None:
        pytest.skip("needs pygad")
    options = {"respect_schema": respect_schema, "reject_by": reject_by}
    method: Method = kind(bank, SCHEMA, SETTINGS[kind], **options).fit(people(400))
    return method


def before_and_after(method: Method) -> tuple[pd.DataFrame, pd.DataFrame]:
    frame = method.explain(ROWS, n=1).to_frame()
    assert len(frame) >= 4
    return ROWS.iloc[frame["row"]].reset_index(drop=True), frame.reset_index(drop=True)


@pytest.mark.parametrize(
    ("kind", "budgets"),
    [
        (Nearest, (1, 2, 5, 12)),
        (Certifai, (1, 30, 75)),
        (GrowingSpheres, (1, 50, 1_000)),
        (Cchvae, (1, 3_000)),
    ],
)
def test_evaluations_are_counted_and_kept(kind: Any, budgets: tuple[int, ...]) -> None:
    n_missed = []
    for most in budgets:
        result = fitted(kind).explain(ROWS, n=2, max_evaluations=most)
        assert 0 < result.provenance.evaluations <= most * len(ROWS)
        missed = [item for item in result if item.outcome == "not_found"]
        if kind in (GrowingSpheres, Cchvae):
            assert all("max_evaluations" in " ".join(item.notes) for item in missed)
        n_missed.append(len(missed))
    assert n_missed[0] > n_missed[-1] or kind in (Nearest, Certifai)


@pytest.mark.parametrize("kind", [Nearest, Certifai, Cchvae])
def test_one_way_actions_bind_only_where_the_schema_is_respected(kind: Any) -> None:
    ways = {}
    for respect in (False, True):
        before, after = before_and_after(fitted(kind, respect_schema=respect))
        one_way = (after["age"] >= before["age"]) & (after["debt"] <= before["debt"])
        ways[respect] = bool(one_way.all())
    assert ways == {False: False, True: True}


@pytest.mark.parametrize(
    ("kind", "rule", "obeys"),
    [
        (Nearest, "cf.savings <= x.savings + 20", lambda x, cf: cf.savings <= x.savings + 20),
        (Certifai, "cf.savings <= x.savings + 5", lambda x, cf: cf.savings <= x.savings + 5),
        (GrowingSpheres, "cf.savings <= x.savings", lambda x, cf: cf.savings <= x.savings),
        (Cchvae, "cf.school == x.school", lambda x, cf: cf.school == x.school),
    ],
)
def test_candidates_that_break_a_rule_do_not_count(kind: Any, rule: str, obeys: Check) -> None:
    assert not obeys(*before_and_after(fitted(kind))).all()
    assert obeys(*before_and_after(fitted(kind, reject_by=(rule,)))).all()


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (NearestSettings, {"sparse": 1}, "sparse is 1; expected True or False"),
        (NearestSettings, {"reward": "sparse"}, "Did you mean 'sparsity'"),
        (NearestSettings, {"n_neighbours": 0}, "n_neighbours is 0; expected a whole number from 1"),
        (NearestSettings, {"n_neighbours": True}, "n_neighbours is True"),
        (FaceSettings, {"graph": "tree"}, "graph"),
        (FaceSettings, {"n_neighbours": 0}, "n_neighbours"),
        (FaceSettings, {"epsilon": 0.0}, "epsilon"),
        (FaceSettings, {"confidence": 0.0}, "confidence"),
        (FaceSettings, {"confidence": 1.5}, "confidence"),
        (FaceSettings, {"least_density": 1.0}, "least_density"),
        (FaceSettings, {"bandwidth": -1.0}, "bandwidth"),
        (FaceSettings, {"n_kernels": 0}, "n_kernels"),
        (GrowingSpheresSettings, {"n_candidates": 0}, "n_candidates"),
        (GrowingSpheresSettings, {"n_candidates": 1.5}, "n_candidates"),
        (GrowingSpheresSettings, {"max_rounds": True}, "max_rounds"),
        (GrowingSpheresSettings, {"first_radius": 0}, "first_radius"),
        (GrowingSpheresSettings, {"first_radius": "far"}, "first_radius"),
        (GrowingSpheresSettings, {"first_radius": float("nan")}, "first_radius"),
        (GrowingSpheresSettings, {"first_radius": float("inf")}, "first_radius"),
        (CertifaiSettings, {"population_size": 3}, "population_size"),
        (CertifaiSettings, {"n_generations": 0}, "n_generations"),
        (CertifaiSettings, {"mutation_probability": 1.5}, "mutation_probability"),
        (CertifaiSettings, {"crossover_probability": -0.1}, "crossover_probability"),
        (CertifaiSettings, {"start_rounds": 0}, "start_rounds"),
        (CertifaiSettings, {"patience": 0}, "patience"),
        (CchvaeSettings, {"n_candidates": 0}, "n_candidates is 0; expected a whole number from 1"),
        (CchvaeSettings, {"max_rounds": 2.5}, "max_rounds is 2.5"),
        (CchvaeSettings, {"step": 0}, "step is 0; expected a number above 0"),
        (CchvaeSettings, {"step": "wide"}, "step is 'wide'"),
        (CchvaeSettings, {"network": None}, "network is None; expected a VariationalSettings"),
        (WachterSettings, {"loss": "hinge"}, "loss"),
        (WachterSettings, {"n_steps": 0}, "n_steps"),
        (WachterSettings, {"n_steps": 2.5}, "n_steps"),
        (WachterSettings, {"n_raises": -1}, "n_raises"),
        (WachterSettings, {"n_refinements": True}, "n_refinements"),
        (WachterSettings, {"n_halvings": "many"}, "n_halvings"),
        (WachterSettings, {"step_size": 0}, "step_size"),
        (WachterSettings, {"step_size": float("nan")}, "step_size"),
        (WachterSettings, {"growth": 1.0}, "growth"),
        (WachterSettings, {"growth": float("inf")}, "growth"),
        (DiceSettings, {"method": "kdtree"}, "expected one of 'random', 'genetic', 'gradient'"),
        (DiceSettings, {"seconds_per_row": 0}, "seconds_per_row"),
        (DiceSettings, {"sample_size": 0}, "sample_size is 0"),
        (DiceSettings, {"sample_size": 5, "method": "genetic"}, "is for the method 'random'"),
        (DiceSettings, {"learning_rate": 0.1}, "learning_rate is for the method 'gradient'"),
        (DiceSettings, {"diversity_weight": -1, "method": "genetic"}, "diversity_weight is -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    kind: Any, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(SearchError, match=message):
        kind(**wrong)
