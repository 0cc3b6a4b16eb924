"""A folder whose sums are right and whose settings no machine can hold is refused at loading."""

import json
from pathlib import Path

import pytest

from proce import ProCE, SearchSettings
from proce.errors import PersistenceError, SearchError
from proce.methods.saving.manifest import checksum

from ...worlds import SCHEMA, TINY, bank, people

ABSURD = ("population_size", "n_offspring", "stop_window", "n_refits", "latent_size")


@pytest.mark.parametrize("name", ABSURD)
def test_settings_that_no_memory_holds_are_refused(
    name: str, banker: ProCE, tmp_path: Path
) -> None:
    with pytest.raises(SearchError, match=f"{name} is 1000000000000; expected .* to "):
        SearchSettings(**{name: 10**12})
    folder = saved_with(banker, tmp_path, "settings", name, 10**12)
    with pytest.raises(PersistenceError, match=f"manifest.json.*{name} is 1000000000000"):
        ProCE.load(folder, model=bank)


def saved_with(banker: ProCE, tmp_path: Path, part: str, name: str, value: object) -> Path:
    """Return a saved explainer of which one field is another, with the right sum of all."""
    path = banker.save(tmp_path / "saved") / "manifest.json"
    record = json.loads(path.read_text())
    del record["sha256"]
    record[part][name] = value
    path.write_text(json.dumps({**record, "sha256": checksum(record)}))
    return path.parent


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("tensors", "size", 10**12, "is not the file that was saved: its length"),
        ("options", "threshold", 5.0, "manifest.json.*threshold"),
    ],
)
def test_a_length_or_a_threshold_that_cannot_be_is_refused(
    part: str, name: str, value: object, message: str, banker: ProCE, tmp_path: Path
) -> None:
    folder = saved_with(banker, tmp_path, part, name, value)
    with pytest.raises(PersistenceError, match=message):
        ProCE.load(folder, model=bank)


def test_an_explainer_with_the_largest_seed_is_saved_and_loaded(tmp_path: Path) -> None:
    explainer = ProCE(bank, SCHEMA, settings=TINY, seed=2**63 - 1).fit(people(60))
    assert ProCE.load(explainer.save(tmp_path / "saved"), model=bank).seed == 2**63 - 1
