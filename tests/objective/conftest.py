"""The students with a feature of every kind, and problems posed in their world.

``skill = study + u``, ``pay = 2 * skill + u``, ``degree = round(study / 4 + u)``, and the logits
of ``club`` are 0 and ``5 - study``: with more study nobody leaves the chess club. All ranges
begin at 0; study and skill end at 10, pay at 20.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import special

from proce.arrays import Array
from proce.causal import CausalGraph, Choice, Ranked, StructuralCausalModel
from proce.latent import AutoEncoder
from proce.latent.training import AutoEncoderModule
from proce.objective import (
    CallLimits,
    CounterfactualProblem,
    FeatureDistance,
    InstanceBatch,
    Requirement,
    gene_map_of,
    genome_of,
)
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema
from proce.training import random_stream

from ..worlds import STUDY_EQUATIONS, STUDY_GRAPH

DEGREES = ("none", "school", "college", "doctor")
CITIES = ("north", "south", "east")
CLUBS = ("chess", "rowing")
GRAPH = CausalGraph(
    [*STUDY_GRAPH.edges, ("study", "degree"), ("study", "club")],
    nodes=("study", "skill", "pay", "degree", "city", "club"),
)


def club_logits(parents):
    return np.stack([np.zeros_like(parents["study"]), 5 - parents["study"]], axis=-1)


EQUATIONS = {
    **STUDY_EQUATIONS,
    "degree": Ranked(lambda parents: parents["study"] / 4, len(DEGREES)),
    "club": Choice(club_logits, len(CLUBS)),
}


def random_autoencoder(codec: Codec, seed: int = 0) -> AutoEncoder:
    """Return an auto-encoder that has learned nothing: its weights are as they are drawn."""
    with random_stream(seed):
        module = AutoEncoderModule(codec, latent_size=3, hidden_size=8)
    return AutoEncoder.of_weights(codec, module.learned_arrays())


class PayClassifier:
    """Says its second class the surer, the higher the pay is."""

    classes = ("no", "yes")
    threshold = None

    def predict_proba(self, rows):
        second = special.expit(8 * (np.nan_to_num(rows[:, 2]) - 0.5))
        return np.stack([1 - second, second], axis=-1)

    def predict(self, rows):
        return self.predict_proba(rows).argmax(-1)


@dataclass(frozen=True)
class World:
    """The fitted parts."""

    codec: Codec
    scm: StructuralCausalModel
    autoencoder: AutoEncoder
    distance: FeatureDistance

    def rows(self, *people) -> Array:
        """Rows from raw numbers and levels; None is missing."""
        names = self.codec.schema.names
        entries = [
            [self._entry(name, value) for name, value in zip(names, person, strict=True)]
            for person in people
        ]
        return np.array(entries, dtype=np.float64)

    def _entry(self, name, value) -> float:
        if value is None:
            return float("nan") if isinstance(self.codec.schema[name], Continuous) else -1.0
        return float(self.codec.encode_value(name, value))

    def random_rows(self, count, seed=0) -> Array:
        """Rows anywhere on the unit range, with any level."""
        draw = np.random.default_rng(seed).random((count, 6))
        n_levels = {3: len(DEGREES), 4: len(CITIES), 5: len(CLUBS)}
        for position, n in n_levels.items():
            draw[:, position] = np.floor(draw[:, position] * n)
        return draw

    def batch(self, factual, target=1, keys=None) -> InstanceBatch:
        n = len(factual)
        return InstanceBatch(
            factual,
            np.full(n, target),
            np.linspace(0, 1, 3 * n).reshape(n, 3),
            np.arange(4) + np.arange(n)[:, None],
            self.scm.abduct(factual),
            np.empty((n, 0, 0)),
            np.arange(n) if keys is None else keys,
        )

    def problem(
        self,
        factual,
        mode="hard",
        *,
        rules=(),
        bound=(),
        vary=None,
        ranges=None,
        effort=None,
        **options,
    ) -> CounterfactualProblem:
        options = {
            "requirement": Requirement(None, 0.0),
            "scm": None if mode == "off" else self.scm,
        } | options
        return CounterfactualProblem.of(
            codec=self.codec,
            classifier=PayClassifier(),
            autoencoder=self.autoencoder,
            distance=self.distance,
            batch=self.batch(factual),
            limits=CallLimits.read(self.codec, vary, ranges).of_rows(self.codec, factual),
            mode=mode,
            gene_map=gene_map_of(self.codec, self.scm, mode),
            rules=[*bound, *((Rule.parse(text, self.codec), {}) for text in rules)],
            effort=np.ones(6) if effort is None else effort,
            **options,
        )

    def genes(self, problem, rows, acting=()) -> Array:
        """Genes for rows ``(i, c, f)``, with the switches of some features on."""
        names = self.codec.schema.names
        on = [float(names[position] in acting) for position in problem.gene_map.switched]
        switches = np.broadcast_to(on, (*rows.shape[:-1], len(on)))
        return np.concatenate([rows, switches], axis=-1)

    def genome(self, problem):
        return genome_of(self.codec, problem.batch.factual, problem.limits, problem.gene_map)


@pytest.fixture(scope="session")
def make_world():
    """Build a world in which some features are declared otherwise, by name."""

    def make(**edits) -> World:
        schema = Schema(
            [
                Continuous("study"),
                Continuous("skill"),
                Continuous("pay"),
                Ordinal("degree", DEGREES),
                Categorical("city", CITIES),
                Categorical("club", CLUBS),
            ]
        )
        for name, changes in edits.items():
            schema = schema.edit(name, **changes)
        frame = pd.DataFrame(
            {
                "study": [0.0, 10.0],
                "skill": [0.0, 10.0],
                "pay": [0.0, 20.0],
                "degree": ["none", "doctor"],
                "city": ["north", "east"],
                "club": ["chess", "rowing"],
            }
        )
        codec = Codec.fit(schema, frame)
        autoencoder = random_autoencoder(codec)
        scm = StructuralCausalModel(GRAPH, EQUATIONS, codec)
        return World(codec, scm, autoencoder, FeatureDistance.of(autoencoder))

    return make


@pytest.fixture(scope="session")
def world(make_world) -> World:
    return make_world()


@pytest.fixture(scope="session")
def ann(world) -> Array:
    """One better than studied for, and one on top in pay."""
    return world.rows((2, 3, 7, "school", "north", "chess"))
