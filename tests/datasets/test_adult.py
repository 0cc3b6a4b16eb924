"""Adult: the published files, DiCE's grouping, and what is missing."""

import gzip

import pandas as pd
import pytest

from proce.datasets import adult, load_dataset
from proce.datasets.adult import GROUPED, RAW
from proce.schema import Action

from .real_files import FOLDER, needs_real_files

TRAIN = b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, Black, \
Male, 2174, 0, 40, United-States, <=50K\n50, ?, 83311, 7th-8th, 4, Married-AF-spouse, ?, Husband, \
White, Female, 0, 0, 13, ?, >50K\n\n"
TEST = b"|1x3 Cross validator\n" + TRAIN.replace(b"50K\n", b"50K.\n")


@pytest.mark.parametrize("content", [TRAIN, TEST])
def test_two_rows_by_hand(content: bytes) -> None:
    table = adult.parse(content)
    assert table["income"].tolist() == ["<=50K", ">50K"]
    rows = adult.grouped(table)[["workclass", "education", "marital_status", "occupation", "race"]]
    assert rows.to_numpy().tolist() == [
        ["Government", "Bachelors", "Single", "White-Collar", "Other"],
        ["Other/Unknown", "School", "Married", "Other/Unknown", "White"],
    ]


@needs_real_files
@pytest.mark.parametrize("part", ["train", "test"])
def test_the_grouped_version_equals_dices_row_for_row(part: str) -> None:
    expected = pd.read_csv(FOLDER / "adult" / f"adult_dice_{part}.csv.gz")
    data = load_dataset("adult", part=part)
    ours = data.frame.astype(dict.fromkeys(data.frame.select_dtypes("category"), str))
    pd.testing.assert_frame_equal(ours.assign(income=data.label), expected)


@needs_real_files
def test_the_parts_follow_each_other() -> None:
    parts = [load_dataset("adult", part=part).frame for part in ("train", "test")]
    whole = load_dataset("adult", part="all")
    assert [len(part) for part in parts] == [32_561, 16_281]
    assert whole.frame.equals(pd.concat(parts, ignore_index=True))
    assert whole.label.index.equals(whole.frame.index)


@needs_real_files
def test_the_full_version_has_all_features_and_its_gaps() -> None:
    data = load_dataset("adult", version="full", part="all")
    assert data.frame.shape == (48_842, 14)
    gaps = data.frame.isna().sum()
    with gzip.open(FOLDER / "adult" / "adult.data.gz") as train:
        marks = train.read().count(b" ?,")
    with gzip.open(FOLDER / "adult" / "adult.test.gz") as test:
        marks += test.read().count(b" ?,")
    assert gaps.sum() == marks
    assert set(gaps[gaps > 0].index) == {"workclass", "occupation", "native_country"}
    ranks = data.frame["education"].cat.codes + 1
    assert (ranks == data.frame["education_num"]).all()


@needs_real_files
def test_every_level_occurs() -> None:
    for version in ("grouped", "full"):
        frame = load_dataset("adult", version=version, part="all").frame
        levels = frame.select_dtypes("category")
        assert len(levels.columns)
        for name in levels:
            assert frame[name].nunique() == len(frame[name].cat.categories)


def test_education_is_ordered_from_school_to_doctorate() -> None:
    assert GROUPED["education"][0] == "School"
    assert GROUPED["education"][-3:] == ("Masters", "Prof-school", "Doctorate")
    assert len(RAW["education"]) == 16


@needs_real_files
def test_nobody_is_told_to_marry() -> None:
    data = load_dataset("adult", version="full")
    moved = {
        feature.name: feature.action
        for feature, before in zip(data.recourse_schema, data.schema, strict=True)
        if feature.action != before.action
    }
    assert moved == {
        "age": Action.WAITS,
        "marital_status": Action.FIXED,
        "relationship": Action.FIXED,
        "education_num": Action.INDIRECT,
    }


@needs_real_files
def test_race_and_gender_are_protected_and_nobody_is_advised_to_become_unknown() -> None:
    schema = load_dataset("adult").recourse_schema
    assert [feature.name for feature in schema if feature.protected] == ["race", "gender"]
    assert schema["workclass"].avoid == ("Other/Unknown",)
