"""DirectLiNGAM: entropies by hand, the order of others, causes that are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal.discovery.knowledge import Knowledge
from proce.causal.discovery.lingam import causal_order, entropy, evidence, lingam


def linear_rows(seed: int, n_features: int = 5, n_rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Edges ``[cause, effect]`` in the order of the columns, and rows with uniform noise."""
    rng = np.random.default_rng(seed)
    shape = (n_features, n_features)
    edges = np.triu(rng.random(shape) < 0.5, 1)
    weights = edges * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    noise = rng.uniform(-1, 1, (n_rows, n_features))
    return edges, noise @ np.linalg.inv(np.eye(n_features) - weights)


def nothing(n_features: int) -> Knowledge:
    return Knowledge.of([str(n) for n in range(n_features)])


def test_the_entropy_of_a_gaussian_is_known_and_no_other_is_higher() -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack(
        [rng.normal(size=200_000), rng.uniform(size=200_000), rng.exponential(size=200_000)]
    )
    entropies = entropy((columns - columns.mean(0)) / columns.std(0))
    assert entropies[0] == pytest.approx(0.5 * (1 + np.log(2 * np.pi)), abs=1e-3)
    assert entropies[1] == pytest.approx(np.log(np.sqrt(12)), abs=0.15)  # the exact one
    assert (entropies[1:] < entropies[0] - 0.05).all()


def test_evidence_is_for_the_true_direction_and_against_the_other() -> None:
    rng = np.random.default_rng(1)
    cause = rng.uniform(-1, 1, 5_000)
    z = np.column_stack([cause, cause + rng.uniform(-1, 1, 5_000)])
    ratios = evidence((z - z.mean(0)) / z.std(0), np.arange(2))
    assert ratios[0, 1] > 0.01
    assert ratios[1, 0] == pytest.approx(-ratios[0, 1])


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_that_of_causal_learn(seed: int) -> None:
    from causallearn.search.FCMBased.lingam import DirectLiNGAM

    _, rows = linear_rows(seed)
    shuffled = rows[:, np.random.default_rng(seed).permutation(5)]
    theirs = DirectLiNGAM().fit(shuffled).causal_order_
    assert causal_order(shuffled, nothing(5)) == list(theirs)


@pytest.mark.parametrize("seed", range(4))
def test_the_edges_of_linear_rows_are_found(seed: int) -> None:
    edges, rows = linear_rows(seed, n_rows=3_000)
    assert (lingam(rows, nothing(5), 0.001) == edges).all()


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.permutations(range(5)))
def test_the_order_obeys_what_is_known(seed: int, order: list[int]) -> None:
    """Rows of no structure at all, and an order that is known in full."""
    rows = np.random.default_rng(seed).normal(size=(60, 5))
    known = Knowledge.of([str(n) for n in range(5)], tiers=[[str(n)] for n in order])
    assert causal_order(rows, known) == list(order)


def test_a_forbidden_edge_is_left_out_and_its_ends_keep_their_order() -> None:
    """As a forbidden path it would turn the order round; c would then cause a."""
    rng = np.random.default_rng(3)
    a = rng.uniform(-1, 1, 3_000)
    b = a + rng.uniform(-1, 1, 3_000)
    c = b + rng.uniform(-1, 1, 3_000)
    names = ["a", "b", "c"]
    known = Knowledge.of(names, forbidden=[("a", "c")])
    edges = lingam(np.column_stack([a, b, c]), known, 0.001)
    assert {names[i] + names[j] for i, j in np.argwhere(edges)} == {"ab", "bc"}


def test_required_edges_stay_without_any_evidence() -> None:
    rows = np.random.default_rng(4).uniform(size=(500, 3))
    known = Knowledge.of(["a", "b", "c"], required=[("c", "a")])
    assert np.argwhere(lingam(rows, known, 0.001)).tolist() == [[2, 0]]
