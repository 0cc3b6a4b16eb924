"""Files: rows as csv, and the manifests of saved explainers."""

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pandas as pd

from fuzzing.seeds import ROOT, texts
from fuzzing.target import Target, one_in
from proce import ProCE
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.classifier.saved import arrays_of
from proce.errors import ProceError
from proce.methods.saving.explainer import _reading, load_causes, load_codec, load_fitted
from proce.methods.saving.folder import MANIFEST_NAME, checksum, read_manifest
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

_SAVED = ROOT / "tests" / "fixtures" / "saved_v1"
_N_SAMPLED = 8  # one in so many accepted files is looked at more closely
_ROWS = (
    'id,age,income,school,job\n1,20,2.5,low,none\n2,40,,high,"wo,rk"\n',
    "id;age;income;school;job\r\n1;20;1e3;low;none\r\n2;;-1;;\r\n",
    'age\tincome\tschool\tjob\n" 20"\t"1"\tlow\tnone\n',
    "age|income|school|job|\n20|1|low|none|\n",
    "\ufeffjob,school,income,age\nnone,low,0.5,33\n",
)


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def csv() -> Target:
    """Return the target of rows as csv: what is accepted can be encoded."""
    frame = pd.DataFrame(
        {
            "age": [20, 40, 60],
            "income": [1.5, None, 7e4],
            "school": ["low", "mid", "high"],
            "job": ["none", "wo,rk", "none"],
        }
    )
    levels = Ordinal("school", ("low", "mid", "high")), Categorical("job", ("none", "wo,rk"))
    codec = Codec.fit(Schema([Continuous("age", step=1), Continuous("income"), *levels]), frame)
    types = TypedColumns.of(codec)
    path = _folder() / "rows.csv"

    def check(content: bytes) -> None:
        path.write_bytes(content)
        source = Source.open(path)
        assert len(source.columns) == len(set(source.columns)), "every column has its own name"
        if one_in(_N_SAMPLED, content):
            with suppress(ProceError):
                Schema.infer(source.table().to_pandas())
        has_id = "id" in source.columns
        rows = Rows.checked(source, types, id_name="id" if has_id else None)
        assert rows.count == sum(len(chunk.table) for chunk in rows.chunks()), "no row is lost"
        if one_in(_N_SAMPLED, content):
            for chunk in rows.chunks():
                codec.encode(chunk.table.to_pandas())

    seeds = [text.encode() for text in _ROWS]
    seeds += [_ROWS[0].encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-32")]
    seeds += [_ROWS[0].replace("rk", "r\xfc").encode("latin-1")]
    seeds += texts("batch/reading", ",b\n", "age,")
    words = (
        b'age income school job id low mid high none "wo,rk" , ; | NA nan 1e400 -inf " ""'.split()
    )
    return Target("csv", check, seeds, [*words, b"\n", b"\r\n", b"\t", b"\xff\xfe", b"\0"])


def manifests() -> Target:
    """Return the target of manifests: what is accepted is put together as far as it goes.

    The tensors and the model are those that were saved; all sums fit again after a change.
    """
    folder = _folder() / "saved"
    shutil.copytree(_SAVED, folder)
    path = folder / MANIFEST_NAME
    whole = ProCE.load(folder)
    saved = read_manifest(folder)
    tensors = arrays_of((folder / saved.tensors.name).read_bytes())
    classifier = whole._fitted().classifier

    def check(content: bytes) -> None:
        path.write_bytes(content)
        manifest = read_manifest(folder)
        if not one_in(_N_SAMPLED, content):
            return
        text = manifest.text()
        with _reading(folder):
            codec = load_codec(manifest, tensors)
            models = load_causes(manifest, tensors, codec, {})
            load_fitted(manifest, tensors, codec, classifier, models)
        path.write_text(text, encoding="utf-8")
        assert read_manifest(folder).text() == text, "a manifest comes back the same"
        if one_in(_N_SAMPLED * 50, content):
            repr(ProCE.load(folder))

    record = json.loads(path.read_text("utf-8"))
    words = b'{ } [ ] , : " null true 1 1e999 NaN'.split()
    return Target("manifests", check, _manifest_seeds(record), words, is_json=True, seal=_sealed)


def _manifest_seeds(record: dict[str, object]) -> list[bytes]:
    """Return the manifest, and two that are shorter and so are read faster."""
    alone = {**record, "scm": None, "mode": "off", "rules": []}
    alone |= {name: [] for name in ("graphs", "mechanisms", "models")}
    alone |= dict.fromkeys(("ensemble", "refits"))
    one = {**record, "ensemble": None, "refits": None}
    return [_sealed(json.dumps(each).encode()) for each in (alone, one, record)]


def _sealed(content: bytes) -> bytes:
    """Return a manifest with the sum that fits what it says."""
    try:
        record = json.loads(content)
        del record["sha256"]
        return json.dumps({**record, "sha256": checksum(record)}).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        return content
