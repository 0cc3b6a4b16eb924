"""Whatever was done to a saved folder, it is refused with our error, or loads as it was.

Most damage is caught by sums; so the sums are made to fit again, and what lies behind them is
tried too: then anything may load, but nothing may crash, hang or run.
"""

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from proce import PersistenceError, ProCE, SearchSettings
from proce.classifier import fit_network
from proce.latent import AutoEncoderSettings
from proce.methods.saving.folder import checksum
from proce.schema import Codec
from proce.training_settings import TrainingSettings

from ...damage import places
from ...worlds import SCHEMA, people, score

QUICK = TrainingSettings(n_epochs=1)
SMALL = SearchSettings(
    population_size=8,
    n_offspring=8,
    n_generations=2,
    n_refits=2,
    autoencoder=AutoEncoderSettings(latent_size=3, hidden_size=4, training=QUICK),
)
ODD: list[Any] = [
    *(None, True, "", "x", "age", "../../etc/passwd", "\ud800", 0, -1, 1, 7, 10**9, 10**30),
    *(10**400, 1e300, -0.5, [], {}, [None], [[]], {"a": 1}),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame = people(60)
    codec = Codec.fit(SCHEMA, frame)
    network = fit_network(codec, frame, (score(frame) > 0).to_numpy(), settings=QUICK)
    explainer = ProCE(
        network,
        SCHEMA,
        graph=[("age", "savings"), ("school", "savings"), ("savings", "debt")],
        rules=["cf.age >= x.age", "age ~> debt"],
        settings=SMALL,
    ).fit(frame)
    return explainer.save(tmp_path_factory.mktemp("fuzz") / "saved")


def flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def truncated(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def longer(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.randbytes(draw.randint(1, 9)) + content[at:]


def filled(content: bytes, draw: random.Random) -> bytes:
    """Return the content with some bytes in a row that make the largest numbers."""
    at = draw.randrange(len(content))
    return content[:at] + b"\xff" * 8 + content[at + 8 :]


def huge(content: bytes, draw: random.Random) -> bytes:
    """Return the content with the length at its beginning, or a number in its text, vast."""
    if draw.random() < 0.3:
        return draw.choice([2**63, 2**40, 10**8, 0]).to_bytes(8, "little") + content[8:]
    digits = [at for at, each in enumerate(content[:2000]) if 48 <= each < 58]
    at = draw.choice(digits or [0])
    return content[:at] + b"9" * draw.randint(1, 30) + content[at + 1 :]


CHANGES: list[Callable[[bytes, random.Random], bytes]] = [flipped, truncated, longer, filled, huge]


def loads_or_is_refused(folder: Path) -> ProCE | None:
    state = torch.random.get_rng_state()
    try:
        return ProCE.load(folder)
    except PersistenceError:
        return None
    finally:
        assert torch.equal(state, torch.random.get_rng_state())


def damaged(saved: Path, folder: Path, draw: random.Random) -> None:
    """Damage one file; nothing else knows of it."""
    shutil.copytree(saved, folder)
    path = draw.choice(sorted(folder.iterdir()))
    content = path.read_bytes()
    path.write_bytes(draw.choice(CHANGES)(content, draw))
    if path.read_bytes() == content:
        path.unlink()


def resealed(saved: Path, folder: Path, draw: random.Random) -> None:
    """Damage the manifest or a file, and make every sum fit again."""
    shutil.copytree(saved, folder)
    record = json.loads((folder / "manifest.json").read_text("utf-8"))
    del record["sha256"]
    if draw.random() < 0.6:
        *way, last = draw.choice(list(places(record)))
        holder = record
        for key in way:
            holder = holder[key]
        if draw.random() < 0.2:
            del holder[last]
        else:
            holder[last] = draw.choice(ODD)
    else:
        field = draw.choice(["tensors", "model_file"])
        path = folder / record[field]["name"]
        content = draw.choice(CHANGES)(path.read_bytes(), draw)
        total = hashlib.sha256(content).hexdigest()
        path = path.rename(folder / f"{path.name.split('-')[0]}-{total[:16]}.safetensors")
        path.write_bytes(content)
        record[field] = {"name": path.name, "size": len(content), "sha256": total}
    text = json.dumps({**record, "sha256": checksum(record)})
    (folder / "manifest.json").write_text(text, "utf-8", errors="surrogatepass")


def says_the_same(one: Path, other: Path) -> bool:
    """Whether only blanks of the manifest differ."""
    files = [{each.name: each.read_bytes() for each in folder.iterdir()} for folder in (one, other)]
    texts = [json.dumps(json.loads(each.pop("manifest.json"))) for each in files]
    return files[0] == files[1] and texts[0] == texts[1]


def run(saved: Path, tmp_path: Path, times: int, seed: int) -> dict[str, int]:
    draw = random.Random(seed)
    counts = {"refused": 0, "loaded": 0}
    for _ in range(times):
        for damage in (damaged, resealed):
            folder = tmp_path / "damaged"
            damage(saved, folder, draw)
            loaded = loads_or_is_refused(folder)
            assert damage is resealed or loaded is None or says_the_same(folder, saved)
            counts["refused" if loaded is None else "loaded"] += 1
            shutil.rmtree(folder)
    return counts


def test_a_folder_as_it_was_saved_loads(saved: Path) -> None:
    assert loads_or_is_refused(saved) is not None


def test_some_damage(saved: Path, tmp_path: Path) -> None:
    counts = run(saved, tmp_path, times=150, seed=0)
    assert counts["refused"] > 200
    assert counts["loaded"] > 5  # what is behind the sums was reached


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_much_damage(seed: int, saved: Path, tmp_path: Path) -> None:
    run(saved, tmp_path, times=1500, seed=seed)


@pytest.mark.slow
def test_every_value_of_the_manifest_by_every_odd_one(saved: Path, tmp_path: Path) -> None:
    text = (saved / "manifest.json").read_text("utf-8")
    folder = tmp_path / "damaged"
    shutil.copytree(saved, folder)
    for *way, last in places(json.loads(text)):
        for odd in ODD:
            record = json.loads(text)
            holder = record
            for key in way:
                holder = holder[key]
            holder[last] = odd
            record.pop("sha256", None)
            resealed_text = json.dumps({**record, "sha256": checksum(record)})
            (folder / "manifest.json").write_text(resealed_text, "utf-8")
            loads_or_is_refused(folder)
