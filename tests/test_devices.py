"""What was fitted has a twin on a device; what a call makes of either finds the other."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import pytest
import torch
from torch import Tensor, nn

from proce.devices import HOST, Twins

ELSEWHERE = torch.device("meta")  # a device that every machine has


@dataclass(frozen=True, eq=False)
class Part:
    numbers: Tensor
    words: tuple[str, ...] = ("a", "b")

    @cached_property
    def total(self) -> Tensor:
        return self.numbers.sum()


@dataclass(frozen=True, eq=False)
class Collector:
    numbers: Tensor
    seen: dict[str, Tensor] = field(default_factory=dict, init=False)


@dataclass(frozen=True, eq=False)
class Whole:
    part: Part
    same: Part
    by_name: dict[str, Tensor]
    pairs: tuple[tuple[str, Part], ...]
    network: nn.Module
    plain: tuple[int, ...] = (1, 2)


@dataclass(frozen=True, eq=False)
class OfCall:
    part: Part
    rows: Tensor


@pytest.fixture
def whole() -> Whole:
    part = Part(torch.ones(3))
    network = nn.Sequential(nn.Linear(2, 1))
    return Whole(part, part, {"age": torch.zeros(2)}, (("first", part),), network)


def test_all_tensors_of_a_twin_are_on_its_device(whole):
    twin = Twins(whole, ELSEWHERE).twin
    moved = (twin.part.numbers, twin.by_name["age"], twin.pairs[0][1].numbers)
    assert {tensor.device.type for tensor in moved} == {"meta"}
    assert next(twin.network.parameters()).device.type == "meta"
    assert whole.part.numbers.device == HOST
    assert next(whole.network.parameters()).device == HOST


def test_what_is_shared_stays_shared_and_what_holds_no_tensor_stays(whole):
    twin = Twins(whole, ELSEWHERE).twin
    assert twin.part is twin.same is twin.pairs[0][1]
    assert twin.plain is whole.plain
    assert twin.part.words is whole.part.words


def test_what_was_worked_out_is_left_behind(whole):
    assert whole.part.total == 3
    assert "total" not in vars(Twins(whole, ELSEWHERE).twin.part)


def test_what_it_collects_is_not_shared():
    collector = Collector(torch.ones(1))
    twin = Twins(collector, ELSEWHERE).twin
    twin.seen["there"] = twin.numbers
    assert collector.seen == {}


def test_a_call_finds_from_the_original_to_the_twin_and_back(whole):
    twins = Twins(whole, ELSEWHERE)
    here = OfCall(whole.part, torch.ones(2))
    there = twins.there(here)
    assert there.part is twins.twin.part
    assert there.rows.device.type == "meta"
    known = replace(there, rows=torch.ones(2))  # as if a search there had given these rows
    back = twins.here(known)
    assert back.part is whole.part
    assert back.rows.tolist() == [1, 1]


def test_on_the_host_nothing_is_copied(whole):
    twins = Twins(whole, HOST)
    call = OfCall(whole.part, torch.ones(2))
    assert twins.twin is whole
    assert twins.there(call) is call
    assert twins.here(call) is call


def test_new_tensors_are_on_the_device_while_it_is_at_work(whole):
    with Twins(whole, ELSEWHERE).at_work():
        assert torch.zeros(1).device.type == "meta"
    with Twins(whole, HOST).at_work():
        assert torch.zeros(1).device == HOST
