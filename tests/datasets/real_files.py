"""The published files, where ``PROCE_DATA`` says they lie."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PROCE_DATA", ""))

needs_real_files = pytest.mark.skipif(
    not os.environ.get("PROCE_DATA"),
    reason="PROCE_DATA is not set to the folder with the published data files",
)
