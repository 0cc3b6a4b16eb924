"""What each class looks like, learned when the pick ``typical`` first asks for it."""

from collections.abc import Mapping, Sequence
from threading import Lock

from proce.arrays import Array
from proce.latent import AutoEncoder, AutoEncoderSettings
from proce.latent.judges import judge_settings
from proce.objective import Likeness
from proce.schema import Codec

MIN_CLASS_ROWS = 50  # training rows of a class from which its looks are learned
N_LOOKS = 2  # auto-encoders of each class; a search finds what is odd about a single one
# Training borrows PyTorch's global random stream: two threads that learn wait for each other.
_LEARNING = Lock()


class ClassLooks:
    """Auto-encoders of all training rows and of each predicted class, none until asked for.

    All copies of fitted parts share one, so that whatever is learned is learned once.
    """

    def __init__(
        self,
        of_all: Sequence[AutoEncoder] = (),
        by_class: Mapping[int, Sequence[AutoEncoder]] | None = None,
    ) -> None:
        self.of_all = tuple(of_all)
        self.by_class = dict(by_class or {})

    def knows(self, classes: set[int]) -> bool:
        """Whether everything about these classes was learned."""
        return len(self.of_all) > 0 and classes <= self.by_class.keys()

    def learn(
        self,
        classes: set[int],
        rows: Array,
        predicted: Array,
        codec: Codec,
        settings: AutoEncoderSettings,
        seed: int,
        device: str,
    ) -> None:
        """Learn what is not known of some classes, where all of them have enough rows."""
        ranged, codec, settings = codec.on_range(rows), codec.by_range, judge_settings(settings)
        parts = {label: ranged[predicted == label] for label in sorted(classes)}
        if any(len(part) < MIN_CLASS_ROWS for part in parts.values()):
            return

        from proce.latent.training import fit_autoencoder
        from proce.training import present_device

        present = present_device(device)

        def fit(part: Array) -> tuple[AutoEncoder, ...]:
            seeds = range(seed + 1, seed + 1 + N_LOOKS)
            fits = (fit_autoencoder(codec, part, settings, seed=s, device=present) for s in seeds)
            return tuple(autoencoder for autoencoder, _ in fits)

        with _LEARNING:
            for label, part in parts.items():
                if label not in self.by_class:
                    self.by_class[label] = fit(part)
            self.of_all = self.of_all or fit(ranged)

    def likeness(self, codec: Codec) -> Likeness:
        """Return how candidates in the entries of a codec are measured."""
        assert self.of_all, "something was learned"
        return Likeness(codec, self.by_class, self.of_all)
