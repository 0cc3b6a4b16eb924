"""The world of the students, as it is."""

import pytest

from .students import World


@pytest.fixture
def world() -> World:
    return World()
