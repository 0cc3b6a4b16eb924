"""Every public call with every kind of wrong argument at every parameter.

A call succeeds or raises an error of this package that names what is wrong; it raises nothing
else, comes back in any case and changes nothing that it was given. What is public is found by
introspection, so a parameter that is added is tried by itself.
"""

import inspect
import random
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from proce import ProceError

from ..worlds import SCHEMA
from .public_surface import PublicCall, public_calls
from .right_arguments import World, invoke, right_arguments
from .wrong_values import WRONG_VALUES, fault_of

mpl.use("agg")
CALLS = public_calls()
MAX_SECONDS = 600  # of all cases of a call, after which it counts as hanging
N_SAMPLED = 5  # kinds of wrong arguments for each parameter, of the many
# What is passed on by name, and with which names it is tried.
PASSED_ON = {
    "Nearest.explain": ("causal",),
    "ProCE.set_params": ("seed", "settings"),
    "Schema.edit": ("action", "kind", "label", "range"),
    "explain_dask": ("n", "target"),
    "explain_parallel": ("n", "target"),
    "load_dataset": ("n", "seed"),
}
STARTS_PROCESSES = ("explain_dask", "explain_parallel")  # which takes seconds for each call
each_call = pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in a folder of its own, for what is written; end what does not come back."""

    def give_up(*_: Any) -> None:
        raise TimeoutError("the call does not come back")

    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(MAX_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    plt.close("all")


def test_what_is_public_is_found() -> None:
    names = {call.name for call in CALLS}
    assert {"ProCE", "ProCE.explain", "Explanations.receipt", "evaluate", "Schema.edit"} <= names
    assert {"NearestSettings", "SearchSettings", "CausalGraph.discover", "Reasons.letter"} <= names
    assert {"ProCE.set_params", "Ordered", "TrainingSettings", "explain_parallel"} <= names


@each_call
def test_right_arguments_are_taken(call: PublicCall, world: World) -> None:
    if call.name not in STARTS_PROCESSES:
        invoke(call, world, right_arguments(call, world))


@each_call
def test_an_option_that_does_not_exist_is_refused(call: PublicCall, world: World) -> None:
    with pytest.raises((TypeError, ProceError), match="no_such_option"):
        invoke(call, world, right_arguments(call, world) | {"no_such_option": 1})


@each_call
def test_some_wrong_arguments_are_refused_in_words(call: PublicCall, world: World) -> None:
    if call.name not in STARTS_PROCESSES:
        assert_refused_in_words(call, world, n_kinds=N_SAMPLED)


@pytest.mark.parametrize("call", [own for own in CALLS if own.name in STARTS_PROCESSES])
def test_what_is_no_explainer_is_refused_before_a_process_starts(
    call: PublicCall, world: World
) -> None:
    faults = {kind: fault_of_case(call, world, "explainer", kind) for kind in WRONG_VALUES}
    assert {kind: fault for kind, fault in faults.items() if fault is not None} == {}


@pytest.mark.slow
@each_call
def test_every_wrong_argument_is_refused_in_words(call: PublicCall, world: World) -> None:
    assert_refused_in_words(call, world, n_kinds=len(WRONG_VALUES))


def assert_refused_in_words(call: PublicCall, world: World, n_kinds: int) -> None:
    before = fingerprint(world)
    faults = [
        f"{call.name}({name}={kind}): {fault}"
        for name in names_of_parameters(call)
        for kind in random.Random(f"{call.name}.{name}").sample(sorted(WRONG_VALUES), n_kinds)
        if (fault := fault_of_case(call, world, name, kind)) is not None
    ]
    assert faults == []
    assert fingerprint(world) == before


def names_of_parameters(call: PublicCall) -> Iterator[str]:
    for parameter in call.parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            yield from PASSED_ON[call.name]
        else:
            yield parameter.name


def fault_of_case(call: PublicCall, world: World, name: str, kind: str) -> str | None:
    """Return what is wrong with how a call takes a wrong argument, or ``None``."""
    value, arguments, extra = WRONG_VALUES[kind](), right_arguments(call, world), []
    if any(own.name == name and own.kind is own.VAR_POSITIONAL for own in call.parameters):
        extra = [value]
    else:
        arguments[name] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            invoke(call, world, arguments, *extra)
        except Exception as error:
            return fault_of(error, name, value, ProceError)
        finally:
            plt.close("all")
    return None


def fingerprint(world: World) -> list[str]:
    """Return all that a call could change: rows, features, parameters and results."""
    return [
        world.frame.to_csv(),
        SCHEMA.to_json(),
        str(world.explainer.get_params(deep=False)),
        world.result.to_json(view="auditor"),
    ]
