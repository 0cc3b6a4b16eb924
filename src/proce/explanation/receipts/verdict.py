"""Ask the model again about a receipt's row and its counterfactuals."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from proce.classifier import Classifier, ask_frame, decide
from proce.errors import ModelError
from proce.explanation.receipts.receipt import ReceiptRecord, require_answer
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.words.values import class_words, percents
from proce.losses import target_probability
from proce.schema import Codec, Level
from proce.schema.features.levels import shown

_ROUNDING = 1e-6  # of a probability: another machine may add in another order


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said of a row then, and what it says now.

    Attributes
    ----------
    rank
        The rank of the counterfactual; 0 for the row itself.
    then, now
        The class that the model said then, and says now.
    chance_then, chance_now
        The probability of the target then and now.
    class_labels
        Words for some of the classes.
    """

    rank: int
    then: Level
    now: Level
    chance_then: float
    chance_now: float
    class_labels: Mapping[Level, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the model still says the same class."""
        return self.then == self.now

    def __str__(self) -> str:
        subject = f"counterfactual {self.rank}" if self.rank else "the row itself"
        still = "still" if self.holds else f"no longer {self._words(self.then)}, but"
        moved = abs(self.chance_now - self.chance_then) > _ROUNDING
        if moved:
            now, then = percents(self.chance_now, self.chance_then)
        else:
            (now,) = (then,) = percents(self.chance_now)
        past = f"; it was {then}" if moved else ", as it was"
        return f"{subject}: {still} {self._words(self.now)} (target {now}{past})"

    def _words(self, label: Level) -> str:
        return class_words(label, self.class_labels)


@dataclass(frozen=True)
class Verdict:
    """Whether an explanation is still true of a model.

    Attributes
    ----------
    answers
        The answers about the row itself, and about each of its counterfactuals.
    """

    answers: tuple[Answer, ...]

    @property
    def holds(self) -> bool:
        """Whether the model says of the row and of every counterfactual what it said then."""
        return all(answer.holds for answer in self.answers)


def verify(receipt: ReceiptRecord, classifier: Classifier, codec: Codec) -> Verdict:
    """Send a receipt's row and counterfactuals to a model again.

    Parameters
    ----------
    receipt
        The receipt of the explanation.
    classifier, codec
        The model, and the codec of the rows that it takes.
    """
    (verdict,) = verify_rows(receipt.result, classifier, codec)
    return verdict


def verify_rows(
    result: ExplainedFrame, classifier: Classifier, codec: Codec
) -> tuple[Verdict, ...]:
    """Send explained rows and their counterfactuals to a model again, all in one question.

    Parameters
    ----------
    result
        The explanations of the rows.
    classifier, codec
        As for :func:`verify`.
    """
    rows, ways = result.rows, result.rows.counterfactuals
    for row in result:
        require_answer(row)
    classes, labels = result.context.classes, result.context.class_labels
    if classifier.classes != classes:
        raise ModelError(
            f"the model's classes are {shown(classifier.classes)}; the receipt was written for a"
            f" model of the classes {shown(classes)}. Give the model that it was written for."
        )
    owner = np.concatenate([np.arange(len(rows)), ways.owner])  # the rows first, then their ways
    lines = np.concatenate([rows.factual, ways.rows])
    layout = result.layout.without_index()
    frame = result.context.codec.rebuild(lines, layout, rows.factual[owner], rows.raw[owner])
    chances = ask_frame(classifier, frame, codec)
    columns = zip(
        owner.tolist(),
        np.concatenate([np.zeros_like(rows.target), ways.ranks()]).tolist(),
        np.concatenate([rows.predicted, rows.target[ways.owner]]).tolist(),
        decide(chances, classifier.threshold).tolist(),
        np.concatenate([rows.probability, ways.probabilities]).tolist(),
        target_probability(chances, rows.target[owner]).tolist(),
        strict=True,
    )
    answers: list[list[Answer]] = [[] for _ in range(len(rows))]
    for row, rank, then, now, chance_then, chance_now in columns:
        own = Answer(rank, classes[then], classes[now], chance_then, chance_now, labels)
        answers[row].append(own)
    return tuple(Verdict(tuple(own)) for own in answers)
