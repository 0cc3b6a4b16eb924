"""What is said where nothing is found."""

from proce.methods.diagnosing.diagnosis import ClosestMiss, nearness_text


def test_a_closest_miss_is_told_without_contradiction() -> None:
    def nearness(probability: float, needed: float, is_reached: bool = False) -> str:
        return nearness_text(ClosestMiss({}, probability, is_reached=is_reached), needed)

    assert nearness(0.3, 0.5) == (
        " The closest attempt reaches 30%; the model decides so from 50% on."
    )
    assert "reaches under 1%; the model decides so from 50% on" in nearness(0.0002, 0.5)
    assert "49.97%; the model decides so from 50.00% on" in nearness(0.4997, 0.5)
    assert "likely enough (62%), but is not allowed" in nearness(0.62, 0.6, True)
    assert nearness(0.5, 0.5) == (  # at its threshold a model says the second class
        " The closest attempt reaches 50%; the model decides so only above it."
    )


def test_a_probability_that_was_asked_for_is_not_told_as_the_decision() -> None:
    told = nearness_text(ClosestMiss({}, 0.7), 0.9, was_asked=True)
    assert told == " The closest attempt reaches 70%, where 90% was asked for."
