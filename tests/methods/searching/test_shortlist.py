"""What is said where nothing is found."""

from proce.methods.diagnosing.diagnosis import ClosestMiss, nearness_text


def test_a_closest_miss_is_told_without_contradiction() -> None:
    def nearness(probability: float, needed: float) -> str:
        return nearness_text(ClosestMiss({}, probability), needed)

    assert nearness(0.3, 0.5) == " The closest candidate reaches 30%, where 50% is needed."
    assert "reaches under 1%, where 50% is needed" in nearness(0.0002, 0.5)
    assert "49.97%, where 50.00% is needed" in nearness(0.4997, 0.5)
    assert "likely enough (62%), but is not allowed" in nearness(0.62, 0.6)
