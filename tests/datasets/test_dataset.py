"""What all data sets have in common, and how one is asked for."""

import pickle

import pandas as pd
import pytest

from proce.causal import CausalGraph
from proce.datasets import Dataset, load_dataset
from proce.errors import DatasetError
from proce.schema import Action, Codec, Continuous, Rule, Schema

from .real_files import needs_real_files

GENERATED = ["loan", "simple_bn", "sangiovese"]
COLLECTED = ["adult", "law", "credit_card", "german_credit"]
ALL = [*GENERATED, *(pytest.param(name, marks=needs_real_files) for name in COLLECTED)]
PROTECTED = {"race", "sex", "gender", "personal_status_sex", "foreign_worker"}


@pytest.mark.parametrize("name", ALL)
def test_a_data_set_fits_its_own_description(name: str) -> None:
    data = load_dataset(name)
    assert data.name == name
    assert tuple(data.frame.columns) == data.schema.names == data.recourse_schema.names
    assert len(data.frame) == len(data.label)
    assert set(data.label.unique()) == {0, 1}
    assert data.label.name not in data.frame
    assert set(data.graph.nodes) == set(data.schema.names)
    codec = Codec.fit(data.schema, data.frame)
    decoded = codec.decode(codec.encode(data.frame))
    numbers = data.frame.select_dtypes("number")
    pd.testing.assert_frame_equal(decoded[numbers.columns], numbers, rtol=0, atol=1e-9)
    assert decoded.drop(columns=numbers).equals(data.frame.drop(columns=numbers))


@pytest.mark.parametrize("name", ALL)
def test_all_is_free_but_what_nobody_can_change(name: str) -> None:
    for feature in load_dataset(name).schema:
        name = feature.name.lower()
        if name in PROTECTED:
            assert feature.action is Action.FIXED
        else:
            assert feature.action is (Action.INCREASE if name == "age" else Action.FREE)


@pytest.mark.parametrize("name", ALL)
def test_the_rules_can_be_read(name: str) -> None:
    data = load_dataset(name)
    codec = Codec.fit(data.schema, data.frame)
    rules = [Rule.parse(text, codec) for text in data.rules]
    assert rules
    for causes, effect in (rule.dependence for rule in rules if rule.dependence is not None):
        assert set(causes) <= set(data.graph.parents(effect))


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_data_set_is_the_same_twice_and_can_be_drawn_anew(name: str) -> None:
    data, again = load_dataset(name, n=200, seed=1), load_dataset(name, n=200, seed=1)
    pd.testing.assert_frame_equal(data.frame, again.frame)
    pd.testing.assert_series_equal(data.label, again.label)
    other = data.sample(300, seed=2)
    assert other.frame.shape == (300, data.frame.shape[1])
    pd.testing.assert_frame_equal(other.frame, load_dataset(name, n=300, seed=2).frame)
    assert not other.frame.head(200).equals(data.frame)


@pytest.mark.parametrize("name", GENERATED)
def test_a_data_set_can_be_sent_to_another_process(name: str) -> None:
    data = load_dataset(name, n=100, seed=0)
    sent = pickle.loads(pickle.dumps(data))  # noqa: S301
    pd.testing.assert_frame_equal(sent.frame, data.frame)
    assert sent.truth.graph == data.graph


@needs_real_files
def test_a_collected_data_set_cannot_be_drawn_anew() -> None:
    with pytest.raises(DatasetError, match=r"'law' was collected.*its 21,791 rows"):
        load_dataset("law").sample(10, seed=0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("laon", {}, r"unknown data set 'laon'.*'sangiovese'.*Did you mean 'loan'\?"),
        ("loan", {"sed": 1}, r"no option 'sed'; its options are n, seed\. Did you mean 'seed'\?"),
        ("law", {"n": 10}, r"'law' has no option 'n'; it has none\."),
        ("loan", {"n": 0}, "n is 0; expected a whole number from 2 on"),
        ("loan", {"n": 2.5}, r"n is 2\.5; expected"),
        ("simple_bn", {"n": True}, "n is True; expected"),
        ("sangiovese", {"seed": -1}, "seed is -1; expected a whole number from 0 on"),
        ("simple_bn", {"label": "treshold"}, r"label is 'treshold'.*Did you mean 'threshold'\?"),
        ("sangiovese", {"treatment": "T9a"}, "treatment is 'T9a'; expected one of 'T1a'"),
        ("adult", {"version": "dice"}, "version is 'dice'; expected one of 'grouped', 'full'"),
        ("adult", {"part": "tests"}, r"part is 'tests'.*Did you mean 'test'\?"),
    ],
)
def test_a_wrong_request_gets_a_clear_error(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(DatasetError, match=message):
        load_dataset(name, **options)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([0, None, 1], "the label of row 1 is missing"),
        ([1, 1, 1], r"the 3 rows have the labels \[1\]; expected both 0 and 1"),
        ([0, 1, 2], r"have the labels \[0, 1, 2\]"),
    ],
)
def test_labels_must_be_both_classes_and_nothing_else(label: list[int], message: str) -> None:
    schema = Schema([Continuous("a")])
    with pytest.raises(DatasetError, match=message):
        Dataset(
            name="toy",
            frame=pd.DataFrame({"a": [1.0, 2.0, 3.0]}),
            label=pd.Series(label, name="y"),
            class_names=("no", "yes"),
            schema=schema,
            recourse_schema=schema,
            graph=CausalGraph([], ["a"]),
            rules=(),
        )
