"""Law: the published file."""

import pandas as pd

from proce.datasets import law, load_dataset
from proce.schema import Action

from .real_files import FOLDER, needs_real_files


def test_two_rows_by_hand() -> None:
    table = law.parse(
        b"race,sex,LSAT,UGPA,region_first,ZFYA,sander_index,first_pf\n"
        b"White,1,39,3.1,GL,-0.98,0.78,1\nBlack,2,30.5,2.2,NE,0.58,0.69,0\n"
    )
    assert table["sex"].tolist() == ["female", "male"]
    assert table["LSAT"].tolist() == [39.0, 30.5]


@needs_real_files
def test_the_rows_are_the_published_ones() -> None:
    published = pd.read_csv(FOLDER / "law" / "law_data.csv.gz")
    data = load_dataset("law")
    assert list(data.frame) == ["race", "sex", "LSAT", "UGPA", "ZFYA"]
    for name in ("LSAT", "UGPA", "ZFYA"):
        assert (data.frame[name] == published[name]).all()
    assert (data.frame["race"].astype(str) == published["race"]).all()
    assert ((data.frame["sex"] == "male") == (published["sex"] == 2)).all()
    assert (data.label == published["first_pf"]).all()
    assert len(data.frame) == 21_791


@needs_real_files
def test_first_year_grades_follow() -> None:
    data = load_dataset("law")
    assert data.recourse_schema["ZFYA"].action is Action.INDIRECT
    assert data.graph.parents("ZFYA") == ("race", "sex", "LSAT", "UGPA")
    assert data.graph.roots == ("race", "sex")
