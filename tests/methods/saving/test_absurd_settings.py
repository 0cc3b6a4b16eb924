"""A folder whose sums are right and whose settings no machine can hold is refused at loading."""

import json
from pathlib import Path

import pytest

from proce import ProCE, SearchSettings
from proce.errors import PersistenceError, SearchError
from proce.methods.saving.manifest import checksum

from ...worlds import bank

ABSURD = ("population_size", "n_offspring", "stop_window", "n_refits", "latent_size")


@pytest.mark.parametrize("name", ABSURD)
def test_settings_that_no_memory_holds_are_refused(
    name: str, banker: ProCE, tmp_path: Path
) -> None:
    with pytest.raises(SearchError, match=f"{name} is 1000000000000; expected .* to "):
        SearchSettings(**{name: 10**12})
    banker.save(tmp_path / "saved")
    path = tmp_path / "saved" / "manifest.json"
    record = json.loads(path.read_text())
    del record["sha256"]
    record["settings"][name] = 10**12
    path.write_text(json.dumps({**record, "sha256": checksum(record)}))
    with pytest.raises(PersistenceError, match=f"manifest.json.*{name} is 1000000000000"):
        ProCE.load(tmp_path / "saved", model=bank)
