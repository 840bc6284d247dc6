"""For the tests and benchmarks of simulation: delay lines, and regressors (monomials, squared exponentials, both)."""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np


def embedded(outputs, inputs, output_delays, input_delays):
    """Return the delay lines of one record, in the column order of `embed_delays`, and the inputs between them."""
    lost = max(output_delays, input_delays)
    lagged = [outputs[lost - d : len(outputs) - d] for d in range(output_delays + 1)]
    lagged += [inputs[lost - d : len(outputs) - d] for d in range(1, input_delays + 1)]
    return np.hstack(lagged), inputs[lost : len(outputs) - 1]


class Sums:
    """The derivatives of weighted sums, from those of the summands."""

    program = None

    def slope_of_sums(self, z, weights):
        return weights @ self.gradient(z, np.arange(z.shape[1]))


@dataclass(frozen=True, eq=False)
class Polynomial(Sums):
    """Products of columns; `factors` (p, degree) holds the columns of each, the number of columns meaning "one"."""

    factors: np.ndarray
    columns: int

    @classmethod
    def up_to(cls, degree, columns, constant=True):
        first = 0 if constant else 1
        sets = [c for d in range(first, degree + 1) for c in combinations_with_replacement(range(columns), d)]
        factors = np.full((len(sets), max(degree, 1)), columns)
        for row, members in zip(factors, sets, strict=True):
            row[: len(members)] = members
        return cls(factors, columns)

    @property
    def size(self):
        return len(self.factors)

    def evaluate(self, z):
        values = self._with_one(z)
        product = values[self.factors[:, 0]]
        for column in self.factors.T[1:]:
            product *= values[column]
        return product.T

    def gradient(self, z, columns):
        values = self._with_one(z)
        found = np.zeros((len(columns), self.size, len(z)))
        for d, chosen in enumerate(self.factors.T):
            rest = np.ones((self.size, len(z)))
            for e, other in enumerate(self.factors.T):
                if e != d:
                    rest *= values[other]
            for j, column in enumerate(columns):
                hit = chosen == column
                found[j, hit] += rest[hit]
        return found.transpose(2, 1, 0)

    def select(self, indices):
        return Polynomial(self.factors[indices], self.columns)

    def _with_one(self, z):
        return np.vstack([z.T, np.ones(len(z))])


@dataclass(frozen=True, eq=False)
class Kernels(Sums):
    """exp(−c·‖z − centre‖²), the columns of z first divided by `scale`."""

    centres: np.ndarray
    coefficient: float
    scale: np.ndarray

    @property
    def size(self):
        return len(self.centres)

    def evaluate(self, z):
        z, centres = z / self.scale, self.centres / self.scale
        squared = np.sum(z**2, axis=1)[:, None] - 2 * z @ centres.T + np.sum(centres**2, axis=1)
        return np.exp(-self.coefficient * np.maximum(squared, 0))

    def gradient(self, z, columns):
        away = (z[:, None, columns] - self.centres[:, columns]) / self.scale[columns] ** 2
        return -2 * self.coefficient * self.evaluate(z)[:, :, None] * away

    def select(self, indices):
        return Kernels(self.centres[indices], self.coefficient, self.scale)


@dataclass(frozen=True, eq=False)
class Joined(Sums):
    """One family of regressors after the other."""

    parts: tuple

    @property
    def size(self):
        return sum(part.size for part in self.parts)

    def evaluate(self, z):
        return np.concatenate([part.evaluate(z) for part in self.parts], axis=1)

    def gradient(self, z, columns):
        return np.concatenate([part.gradient(z, columns) for part in self.parts], axis=1)

    def select(self, indices):
        indices, first, parts = np.asarray(indices), 0, []
        for part in self.parts:
            parts.append(part.select(indices[(indices >= first) & (indices < first + part.size)] - first))
            first += part.size
        return Joined(tuple(part for part in parts if part.size))
