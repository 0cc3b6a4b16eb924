"""The bootstrap: shares that add up, the same over processes, stopped at any time."""

import multiprocessing
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph, DiscoveryProgress, DiscoveryWarning
from proce.causal.discovery.discover import ALGORITHMS
from proce.causal.discovery.resampling import n_processes
from proce.errors import GraphError

pytestmark = pytest.mark.filterwarnings("ignore::proce.causal.DiscoveryWarning")


def chain(n: int = 400, noise: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a, b, c = rng.uniform(-1, 1, (3, n))
    return pd.DataFrame({"a": a, "b": a + noise * b, "c": rng.normal(size=n) + 0.2 * c})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_confidence_of_an_edge_is_its_share_of_the_resamples(algorithm: str) -> None:
    graph = CausalGraph.discover(chain(), algorithm=algorithm, bootstrap=8, required=[("a", "b")])
    assert len(graph.resamples) == 8
    assert graph.confidence[("a", "b")] == 1.0
    for edge in graph.edges:
        count = sum(edge in resample.edges for resample in graph.resamples)
        assert graph.confidence[edge] == count / 8
    assert ("a", "b") in [shares.pair for shares in graph.shares]
    for shares in graph.shares:
        assert 0 < shares.joined <= 1


def test_the_same_seed_gives_the_same_resamples_and_another_seed_others() -> None:
    frame = chain(60, noise=3.0)

    def edges(seed: int) -> list[tuple[tuple[str, str], ...]]:
        graph = CausalGraph.discover(frame, bootstrap=12, seed=seed, alpha=0.2)
        return [resample.edges for resample in graph.resamples]

    assert edges(1) == edges(1)
    assert edges(1) != edges(2)


@pytest.fixture
def nothing_left_behind() -> Iterator[None]:
    """Tests elsewhere may have processes of their own; those told to end need a moment to do so."""
    earlier = set(multiprocessing.active_children())
    yield
    until = time.monotonic() + 20
    while set(multiprocessing.active_children()) - earlier and time.monotonic() < until:
        time.sleep(0.05)
    assert set(multiprocessing.active_children()) <= earlier


@pytest.mark.usefixtures("nothing_left_behind")
def test_processes_give_what_one_process_gives_and_leave_none_behind() -> None:
    frame = chain(60, noise=3.0)
    one = CausalGraph.discover(frame, bootstrap=6, alpha=0.2)
    reports: list[DiscoveryProgress] = []
    two = CausalGraph.discover(frame, bootstrap=6, alpha=0.2, n_jobs=2, progress=reports.append)
    assert [g.edges for g in two.resamples] == [g.edges for g in one.resamples]
    assert [(report.stage, report.done, report.total) for report in reports] == [
        ("search", 0, 1),
        ("search", 1, 1),
        *[("bootstrap", done, 6) for done in range(1, 7)],
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_left_behind")
def test_processes_can_be_stopped() -> None:
    with pytest.warns(DiscoveryWarning, match="The bootstrap was stopped after 2 of 500"):
        graph = CausalGraph.discover(chain(), bootstrap=500, n_jobs=2, progress=stop_after(2))
    assert len(graph.resamples) == 2


def stop_after(count: int) -> Callable[[DiscoveryProgress], bool]:
    def progress(report: DiscoveryProgress) -> bool:
        return report.stage == "search" or report.done < count

    return progress


def test_a_callback_that_returns_false_ends_the_bootstrap_and_keeps_what_is_done() -> None:
    with pytest.warns(DiscoveryWarning, match="The bootstrap was stopped after 3 of 9 resamples"):
        graph = CausalGraph.discover(chain(), bootstrap=9, progress=stop_after(3))
    assert len(graph.resamples) == 3
    assert graph.origin.settings["bootstrap"] == 3
    assert graph.confidence[("a", "b")] in (0, 1 / 3, 2 / 3, 1)


def test_an_interrupt_ends_the_bootstrap_and_keeps_what_is_done() -> None:
    def progress(report: DiscoveryProgress) -> None:
        if report.stage == "bootstrap" and report.done == 4:
            raise KeyboardInterrupt

    graph = CausalGraph.discover(chain(), bootstrap=9, progress=progress)
    assert len(graph.resamples) == 4
    assert any("stopped after 4 of 9" in text for text in graph.origin.warnings)


def test_a_search_that_is_stopped_has_no_resamples() -> None:
    graph = CausalGraph.discover(chain(), bootstrap=9, progress=lambda _: False)
    assert graph.resamples == ()
    assert graph.confidence == {}
    assert ("a", "b") in graph.edges


def test_an_error_of_the_callback_is_the_callers() -> None:
    def progress(report: DiscoveryProgress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        CausalGraph.discover(chain(), bootstrap=2, progress=progress)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_resamples_of_few_rows_and_rare_levels_are_searched_too(algorithm: str) -> None:
    """A column that does not vary in a resample, or repeats another one there."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(15, 2)), columns=["a", "b"])
    frame["rare"] = [1.0] + [0.0] * 14
    frame["twin"] = [0.0, 1.0] + [0.0] * 13
    frame["other"] = [0.5, 1.0, 0.2] + [0.0] * 12
    graph = CausalGraph.discover(frame, algorithm=algorithm, bootstrap=30)
    assert len(graph.resamples) == 30


def test_numbers_of_processes() -> None:
    assert n_processes(3) == 3
    assert n_processes(-1) >= 1
    with pytest.raises(GraphError, match=r"n_jobs is 1\.5"):
        n_processes(1.5)  # type: ignore[arg-type]


SCRIPT = """
import signal
import warnings
import numpy as np
import pandas as pd
from proce.causal import CausalGraph

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    warnings.simplefilter("ignore")
    frame = pd.DataFrame(np.random.default_rng(0).uniform(size=(500, 8))).rename(columns=str)

    def tell(report):  # in one write, which is not interrupted
        print(f"{report.done}\\n", end="", flush=True)

    graph = CausalGraph.discover(frame, bootstrap=100_000, n_jobs=2, progress=tell)
    print("kept", len(graph.resamples), graph.origin.warnings[-1])
"""


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_and_keeps_what_is_done(tmp_path: Path) -> None:
    script = tmp_path / "discover.py"
    script.write_text(SCRIPT, "utf-8")
    run = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with run:
        assert run.stdout is not None
        while run.stdout.readline().strip() != "20":
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        last = run.stdout.read().splitlines()[-1]
    assert run.returncode == 0
    assert last.startswith("kept ")
    assert "The bootstrap was stopped after" in last
