"""C-CHVAE (Pawelczyk, Broelemann and Kasneci 2020, arXiv:1910.09398): search among likely rows.

A conditional variational auto-encoder learns which rows are likely, given the features that never
move. As in the paper, Growing Spheres is run in its latent space: latents are drawn in shells that
grow around the person's own, and the model is asked about the rows decoded from them.
"""

from dataclasses import dataclass, field

import numpy as np

from proce.arguments import check_count, check_fields
from proce.arrays import Floats, blocks
from proce.compiled.streams import Purpose, RowStreams
from proce.errors import SearchError
from proce.latent import VariationalAutoEncoder, VariationalSettings
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import check_above
from proce.methods.published.growing_spheres import Shells, points_in_shells
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task, binding
from proce.schema import MixedDistance
from proce.training_settings import Epoch

_MAX_DECODED_AT_ONCE = 8192  # candidates; bounds memory
_DECIMALS = 6  # of a decoded number: the last digits of a sum depend on what else is summed


@dataclass(frozen=True, slots=True, kw_only=True)
class CchvaeSettings:
    """Settings of C-CHVAE: how densely and how far candidates are drawn, in which latent space.

    Attributes
    ----------
    n_candidates
        How many latents are drawn in each shell.
    step
        How much the shells grow; the latents of all rows together have about unit spread.
    max_rounds
        How many shells are tried, at most.
    network
        The latent space and how it is learned.
    """

    n_candidates: int = 300
    step: float = 0.1
    max_rounds: int = 100
    network: VariationalSettings = field(default_factory=VariationalSettings)

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        for name in ("n_candidates", "max_rounds"):
            check_count(name, getattr(self, name), SearchError)
        check_above("step", self.step, 0, ", such as 0.1")


class Cchvae(Published[CchvaeSettings]):
    """The nearest decoded row of the target class from the first latent shell that has one.

    Features that the schema fixes condition the auto-encoder and never move; all others come
    from the decoder. Further counterfactuals come from further shells.
    """

    Settings = CchvaeSettings

    def _prepare(
        self, common: CommonFit, progress: ProgressCallback | None
    ) -> VariationalAutoEncoder:
        """Return the network, trained on the training rows."""
        from proce.latent.training import fit_variational  # and PyTorch with it

        def report(epoch: Epoch) -> object:
            return progress and progress(Progress("fit", epoch.number, epoch.n_epochs))

        network, _ = fit_variational(
            common.codec,
            common.rows,
            _conditioning_features(common),
            self.settings_.network,
            seed=common.seed,
            progress=report,
        )
        return network

    def _serves(self, before: CommonFit, after: CommonFit) -> bool:
        return _conditioning_features(before) == _conditioning_features(after)

    def _find(self, task: Task) -> Candidates:
        candidates, streams = Candidates.none(task), task.streams
        latents, _ = self.prepared_.posterior(task.factual)  # (i, e)
        distance = MixedDistance.gower(task.common.codec)
        open_rows = np.flatnonzero(task.genome.movable.any(-1))
        for number in range(self.settings_.max_rounds):
            if not len(open_rows) or task.over:
                break
            drawn = self._draw_latents(streams.take(open_rows), number, latents[open_rows])
            rows = task.repair(self._decode(drawn, task.factual[open_rows]), open_rows)
            reached, _ = task.reached(rows, open_rows)
            gaps = distance.mean(rows, task.factual[open_rows][:, None])
            nearest = np.where(reached, gaps, np.inf).argmin(1)
            hit = np.flatnonzero(reached.any(1))
            candidates.add(open_rows[hit], rows[hit, nearest[hit]])
            open_rows = open_rows[
                candidates.incomplete[open_rows] & (task.evaluations_left[open_rows] > 0)
            ]
            task.report(number + 1)
        candidates.unfinished[open_rows] = task.over
        reach = self.settings_.max_rounds * float(self.settings_.step)
        reason = (
            f"No row decoded from within {reach:g} of this row's latent has the target class"
            " within the limits and rules."
        )
        candidates.note_failures(task, lambda _: reason)
        return candidates

    def _draw_latents(self, streams: RowStreams, number: int, centre: Floats) -> Floats:
        """Draw latents ``(a, c, e)`` uniformly in the shell of a round around some ``(a, e)``."""
        n_rows, size = centre.shape
        count, step = self.settings_.n_candidates, float(self.settings_.step)
        draws = streams.uniforms(number, Purpose.SHELL, count * (size + 1))
        draws = draws.reshape(n_rows, count, size + 1)
        inner, outer = (np.full(n_rows, step * turn) for turn in (number, number + 1))
        every_one = np.ones((n_rows, size), np.bool_)
        return centre[:, None] + points_in_shells(draws, Shells(every_one, inner, outer))

    def _decode(self, latents: Floats, factual: Floats) -> Floats:
        """Return the rows ``(a, c, f)`` of latents ``(a, c, e)``, decoded some at a time."""
        size = max(1, _MAX_DECODED_AT_ONCE // latents.shape[1])
        parts = zip(blocks(latents, size), blocks(factual, size), strict=True)
        decoded = [self.prepared_.decode(part, rows[:, None]) for part, rows in parts]
        return np.concatenate(decoded).round(_DECIMALS)


def _conditioning_features(common: CommonFit) -> list[int]:
    """Return the positions of the features that never move, which condition the network."""
    schema = binding(common.codec.schema, common.respect_schema)
    return [position for position, feature in enumerate(schema) if not feature.can_be_acted_on]
