"""The program of causal models: all their equations as flat tables."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from proce.causal.equations.mechanism import Linked, Mechanism, OfLevels
from proce.causal.equations.polynomial import Polynomial, add_equation, polynomial_of
from proce.causal.equations.tables import EquationTables
from proce.causal.graph import CausalGraph
from proce.causal.programs.program import EFFECT, Link, Program, Record, Table
from proce.schema import Categorical, Codec, Continuous, Feature


def assemble(
    models: Sequence[Mapping[str, Mechanism]],
    graph: CausalGraph,
    codec: Codec,
    follows: Container[str],
    noise: Mapping[str, slice],
    tolerances: Table,
) -> Program:
    """Return the program of several models' equations.

    An effect whose equation is not known as weights in every model is asked for as a function.

    Parameters
    ----------
    models
        The mechanisms of each model, by name.
    graph, codec
        The causes, and how rows and raw units correspond.
    follows
        The features that their causes move.
    noise
        Where the noise of each effect stands in a residual.
    tolerances
        Which differences count.
    """
    positions = {name: codec.schema.position(name) for name in graph.nodes}
    names = [name for name in graph.order if name in graph.endogenous]
    compiled = {
        name: all(_is_flat(name, model[name], graph.parents(name), codec) for model in models)
        for name in names
    }
    tables, effects = EquationTables(), np.zeros((len(models), len(names)), EFFECT)
    for model, mechanisms in enumerate(models):
        for place, name in enumerate(names):
            mechanism: Any = mechanisms[name]
            if compiled[name]:
                effects[model, place] = mechanism.record
                _write(effects[model, place], mechanism, positions, tables)
            record = effects[model, place]
            record["position"] = positions[name]
            record["noise"], record["is_cut"] = noise[name].start, name not in follows
    return tables.program(effects, tolerances)


def _write(
    record: Record, mechanism: Any, positions: Mapping[str, int], tables: EquationTables
) -> None:
    """Write where the equation of an effect stands, which is added to the tables."""
    add_equation(tables, record, mechanism.equation, positions)
    record["thresholds"] = tables.put(mechanism.ends)


def _is_flat(name: str, mechanism: Mechanism, causes: Sequence[str], codec: Codec) -> bool:
    """Return whether a mechanism can be written as flat tables, of rows on the unit range."""
    if not isinstance(mechanism, Linked) or mechanism.units != "unit":
        return False
    if isinstance(codec.schema[name], Categorical) and not isinstance(mechanism, OfLevels):
        return False
    polynomial = polynomial_of(mechanism.equation)
    if type(polynomial) is not Polynomial:
        return False
    terms, shape = polynomial.terms, [polynomial.terms.size]
    if mechanism.link == Link.CHOICE:
        shape.append(mechanism.noise_size)
    numbers = {parent.name for parent in terms.parents if isinstance(parent, Continuous)}
    scaled = {name for name, *_ in (*terms.knots, *terms.ends, *terms.maps)}
    return (
        list(polynomial.weights.shape) == shape
        and scaled <= numbers
        and {parent.name for parent in terms.parents} == set(causes)
        and all(_is_same(parent, codec.schema[parent.name]) for parent in terms.parents)
    )


def _is_same(parent: Feature, declared: Feature) -> bool:
    """Return whether a feature of an equation has the entries that the schema's has."""
    if isinstance(parent, Continuous) or isinstance(declared, Continuous):
        return type(parent) is type(declared)
    return type(parent) is type(declared) and len(parent.levels) == len(declared.levels)
