"""Networks on mixed rows while they are learned: what needs PyTorch."""

import torch
from torch import Tensor, nn

from proce.arrays import Array
from proce.latent.columns import NetworkColumns


class RowModule(nn.Module):
    """A module with the inputs and the outputs of :class:`~proce.latent.columns.NetworkColumns`.

    Parameters
    ----------
    columns
        How rows enter the network, and how its outputs are read.
    """

    _starts: Tensor  # (coded,)

    def __init__(self, columns: NetworkColumns) -> None:
        super().__init__()
        self.columns = columns
        self.register_buffer("_starts", torch.tensor(columns.starts), persistent=False)
        # all features' levels, stacked
        self.embeddings = nn.Embedding(columns.n_embedded, columns.embedding_size)

    def read(self, rows: Array) -> Tensor:
        """Return the cells ``(n, 2f)`` of rows, in the network's precision and on its device."""
        return torch.from_numpy(self.columns.read(rows)).to(self.embeddings.weight)

    def inputs(self, cells: Tensor) -> Tensor:
        """Return the network's inputs for the cells ``(…, 2f)`` of rows."""
        coded = self.columns.coded
        sizes = [len(self.columns.plain), len(coded), len(self.columns.unknown)]
        plain, codes, missing = torch.split(cells, sizes, dim=-1)
        embedded = self.embeddings(codes.long() + self._starts)  # (…, coded, d)
        embedded = embedded * (1 - missing[..., coded, None])
        return torch.cat([plain, embedded.flatten(-2), missing], dim=-1)

    def numbers(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return the numbers ``(…, r)`` in the cells of rows, and which of them are known."""
        places = [self.columns.plain.index(position) for position in self.columns.numbers]
        flags = [len(self.columns.unknown) + position for position in self.columns.numbers]
        return cells[..., places], cells[..., flags] == 0

    def split_outputs(self, outputs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        units, *logits = torch.split(outputs, self.columns.output_sizes, dim=-1)
        return units, dict(zip(self.columns.n_levels, logits, strict=True))

    def learned_arrays(self) -> dict[str, Array]:
        """Return what was learned, as arrays by name."""
        return {name: part.detach().cpu().numpy().copy() for name, part in self.named_parameters()}
