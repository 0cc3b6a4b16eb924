"""Pictures are drawn without a screen, and closed after each test."""

from collections.abc import Iterator

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")
