"""For every parameter of every public call an argument that is right, in a small world."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import proce
from proce import methods
from proce.arrays import Floats

from ..worlds import SCHEMA, TINY, bank, people, refused
from .public_surface import PublicCall

EDGES = [("age", "savings"), ("savings", "debt")]


@dataclass
class World:
    """A bank with a fitted explainer and all that can be had from it."""

    folder: Path
    frame: pd.DataFrame = field(default_factory=lambda: people(60))

    @cached_property
    def explainer(self) -> proce.ProCE:
        return self.new_explainer().fit(self.frame)

    def new_explainer(self) -> proce.ProCE:
        return proce.ProCE(bank, SCHEMA, EDGES, settings=TINY)

    @cached_property
    def rows(self) -> pd.DataFrame:
        return refused(self.frame, 2)

    @cached_property
    def result(self) -> proce.Explanations:
        return self.explainer.explain(self.rows)

    @cached_property
    def codec(self) -> proce.Codec:
        return self.explainer.fitted_.codec

    @cached_property
    def scm(self) -> proce.StructuralCausalModel:
        scm = self.explainer.fitted_.scm
        assert scm is not None
        return scm

    @cached_property
    def levelled(self) -> proce.StructuralCausalModel:
        graph = proce.CausalGraph([("age", "school")])
        return proce.StructuralCausalModel.fit(graph, self.units, self.codec)

    @cached_property
    def with_path(self) -> proce.Explanation:
        face = methods.Face(bank, SCHEMA, methods.FaceSettings(n_neighbours=10)).fit(self.frame)
        return face.explain(self.rows)[0]

    @cached_property
    def units(self) -> Floats:
        return self.codec.encode(self.frame)

    @cached_property
    def saved(self) -> Path:
        return self.explainer.save(self.folder / "saved")

    @cached_property
    def receipt(self) -> Path:
        return self.result.receipt().save(self.folder / "receipt.json")

    @cached_property
    def nearest(self) -> methods.Nearest:
        return methods.Nearest(bank, SCHEMA).fit(self.frame)

    @cached_property
    def dataset(self) -> proce.Dataset:
        return proce.load_dataset("loan", n=50)

    @cached_property
    def dask_rows(self) -> Any:
        return pytest.importorskip("dask.dataframe").from_pandas(self.rows, npartitions=1)

    @cached_property
    def evaluation(self) -> proce.Evaluation:
        return proce.evaluate(self.result)


def instance_of(name: str, world: World) -> Any:
    """Return an object with a method, given the name of its class."""
    if name == "ProCE.fit":
        return world.new_explainer()
    if name == "Rule.surely_holds":
        return proce.Rule.parse("x.age >= 40", world.codec)
    if name == "StructuralCausalModel.chance":
        return world.levelled
    if name == "Explanation.path":
        return world.with_path
    if name == "ProCE.set_params":
        return world.new_explainer()
    if name.endswith(".fit"):
        return methods.Nearest(bank, SCHEMA)
    return {
        "CausalGraph": lambda: proce.CausalGraph(EDGES, undirected=[("age", "debt")]),
        "Codec": lambda: world.codec,
        "Dataset": lambda: world.dataset,
        "Evaluation": lambda: world.evaluation,
        "Explanation": lambda: world.result[0],
        "Explanations": lambda: world.result,
        "ProCE": lambda: world.explainer,
        "Reasons": lambda: world.result.reasons(),
        "Receipt": lambda: world.result.receipt(),
        "Rule": lambda: proce.Rule.parse("cf.age >= x.age", world.codec),
        "Schema": lambda: SCHEMA,
        "StructuralCausalModel": lambda: world.scm,
    }.get(name.split(".")[0], lambda: world.nearest)()


def invoke(call: PublicCall, world: World, arguments: Mapping[str, Any], *extra: Any) -> Any:
    """Call something with arguments by name; methods are fitted too, as they check then."""
    own = [instance_of(call.name, world)] if call.needs_instance else []
    made = call.function(*own, *extra, **arguments)
    return made.fit(world.frame) if call.name in ("ProCE", "Nearest") else made


def right_arguments(call: PublicCall, world: World) -> dict[str, Any]:
    """Return an argument for each parameter that needs one; those with defaults keep them."""
    needed = [
        parameter.name
        for parameter in call.parameters
        if parameter.default is inspect.Parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    needed += _NEEDED_TOO.get(call.name, ())
    return {name: right_argument(call, name, world) for name in needed}


def right_argument(call: PublicCall, parameter: str, world: World) -> Any:
    """Return a right argument for a parameter; a KeyError where none is known yet."""
    own = _OWN.get(f"{call.name}.{parameter}")
    return (own or _BY_NAME[parameter])(world)


_NEEDED_TOO = {"ProCE.load": ("model",), "explain_parallel": ("n_jobs",)}
_BY_NAME: dict[str, Any] = {
    "X": lambda world: world.rows,
    "acted_on": lambda world: np.ones(world.units[:2].shape, dtype=bool),
    "actions": lambda world: {"savings": 50.0},
    "changes": lambda world: {"savings": 50},
    "codec": lambda world: world.codec,
    "codes": lambda world: np.zeros(2, dtype=np.int64),
    "edges": lambda world: EDGES,
    "explainer": lambda world: world.explainer,
    "factual": lambda world: world.units[:2],
    "features": lambda world: SCHEMA.features,
    "first_row": lambda world: 3,
    "folder": lambda world: world.folder / "again",
    "frame": lambda world: world.rows,
    "graph": lambda world: proce.CausalGraph(EDGES),
    "index": lambda world: 0,
    "labels": lambda world: ["a", "b"],
    "layout": lambda world: world.result.layout,
    "levels": lambda world: ("a", "b"),
    "mechanisms": lambda world: world.scm.mechanisms,
    "model": lambda world: bank,
    "name": lambda world: "savings",
    "n_jobs": lambda world: 1,
    "names": lambda world: "savings",
    "path": lambda world: world.folder / "page.html",
    "pieces": lambda world: [world.result],
    "position": lambda world: 1,
    "n_levels": lambda world: 3,
    "predict": lambda world: lambda parents: 0.0,
    "score": lambda world: lambda parents: 0.0,
    "thresholds": lambda world: np.array([-1.0, 1.0]),
    "provenance": lambda world: world.result.provenance,
    "raw": lambda world: world.codec.to_raw(world.units[:2]),
    "record": lambda world: world.result.rows,
    "residual": lambda world: world.scm.abduct(world.units[:2]),
    "result": lambda world: world.result,
    "row": lambda world: world.rows.head(1),
    "rows": lambda world: world.units[:2],
    "rules": lambda world: ["cf.age >= x.age"],
    "schema": lambda world: SCHEMA,
    "seed": lambda world: 0,
    "unit": lambda world: world.units[:2, 1],
    "view": lambda world: "auditor",
}
_OWN: dict[str, Any] = {
    "CausalGraph.discover.frame": lambda world: world.frame[["age", "savings", "debt"]],
    "CausalGraph.from_dagitty.text": lambda world: "dag { age -> savings }",
    "CausalGraph.from_dot.text": lambda world: "digraph { age -> savings }",
    "CausalGraph.from_json.text": lambda world: proce.CausalGraph(EDGES).to_json(),
    "CausalGraph.from_networkx.graph": lambda world: proce.CausalGraph(EDGES).to_networkx(),
    "Codec.fit.frame": lambda world: world.frame,
    "Nearest.fit.X": lambda world: world.frame,
    "Nearest.restricted.reject_by": lambda world: ["cf.age >= x.age"],
    "Nearest.restricted.respect_schema": lambda world: True,
    "explain_dask.ddf": lambda world: world.dask_rows,
    "StructuralCausalModel.actions.rows": lambda world: world.units[:2, None],
    "StructuralCausalModel.chance.name": lambda world: "school",
    "StructuralCausalModel.fit.rows": lambda world: world.units,
    "Codec.low": lambda world: world.codec.low,
    "Codec.span": lambda world: world.codec.span,
    "Codec.may_miss": lambda world: world.codec.may_miss,
    "Codec.encode_value.value": lambda world: 3.0,
    "Dataset.name": lambda world: "mine",
    "Dataset.frame": lambda world: world.dataset.frame,
    "Dataset.label": lambda world: world.dataset.label,
    "Dataset.class_names": lambda world: ("no", "yes"),
    "Dataset.recourse_schema": lambda world: SCHEMA,
    "Dataset.rules": lambda world: (),
    "Dataset.sample.n": lambda world: 50,
    "Evaluation.frame": lambda world: world.evaluation.frame,
    "Evaluation.n_asked": lambda world: 2,
    "Evaluation.n_without": lambda world: 0,
    "Evaluation.left_out": lambda world: {},
    "Explanations.__getitem__.key": lambda world: 0,
    "Explanations.plot_groups.by": lambda world: "home",
    "Explanations.from_json.text": lambda world: world.result.to_json(),
    "Explanations.rows": lambda world: world.result.rows,
    "ProCE.fit.X": lambda world: world.frame,
    "ProCE.load.folder": lambda world: world.saved,
    "Progress.stage": lambda world: "fit",
    "Progress.done": lambda world: 1,
    "Progress.total": lambda world: 2,
    "Reasons.letter.row": lambda world: 1,
    "Receipt.from_json.text": lambda world: world.receipt.read_text(),
    "Receipt.load.path": lambda world: world.receipt,
    "Receipt.save.path": lambda world: world.folder / "other.json",
    "Rule.text": lambda world: "cf.age >= x.age",
    "Rule.parse.text": lambda world: "cf.age >= x.age",
    "Rule.tree": lambda world: proce.Rule.parse("cf.age >= x.age", world.codec).tree,
    "Schema.infer.frame": lambda world: world.frame,
    "Schema.from_json.text": lambda world: SCHEMA.to_json(),
    "WhatIf.after": lambda world: 1,
    "WhatIf.before": lambda world: 0,
    "WhatIf.broken": lambda world: (),
    "WhatIf.consequences": lambda world: {},
    "WhatIf.probabilities": lambda world: {},
    "load_dataset.name": lambda world: "simple_bn",
}
