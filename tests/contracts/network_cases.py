"""The models of the people's tests once more, as networks on the one-hot encoding.

Column by column, so that a row's answer is the same to the last bit in any batch; in float64, so
that a network and its function agree at the boundary.
"""

import math

import torch
from torch import Tensor, nn

INCOME, HIGH, NURSE, N_COLUMNS = 1, 4, 7, 10  # age, income, school (3), job (3), sex (2), flags


class OnIncome(nn.Module):
    """Reads the income of a row, which it is given on the unit range of the training rows."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor(low, dtype=torch.float64))
        self.register_buffer("span", torch.tensor(high - low, dtype=torch.float64))

    def income(self, inputs: Tensor) -> Tensor:
        return self.low + self.span * inputs[:, INCOME]


class Lender(OnIncome):
    """The lender: income, the highest school, nurses; what is missing counts as nothing."""

    def forward(self, inputs: Tensor) -> Tensor:
        income = self.income(inputs)
        if inputs.shape[1] > N_COLUMNS:  # income was missing in training, and has the first flag
            income = income * (1 - inputs[:, N_COLUMNS])
        return (income - 65) / 8 + inputs[:, HIGH] + inputs[:, NURSE] - 0.7


class ByIncome(OnIncome):
    """Income alone."""

    def forward(self, inputs: Tensor) -> Tensor:
        return (self.income(inputs) - 60) / 8


class Never(nn.Module):
    """No with nine chances in ten, whatever is asked."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs[:, 0] * 0 - math.log(9)
