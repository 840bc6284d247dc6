"""Many small linear systems at once: targets with active sets of similar size are gathered into padded stacks.

A stack fits the processor's cache; `stacks` has the linear algebra.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.standardise import StandardProblem

CACHE = 1 << 17  # numbers per stack


@dataclass(frozen=True, eq=False)
class Batch:
    """Some targets and their active regressors.

    Parameters
    ----------
    targets : array of int, shape (n,)
        Which targets.
    index : array of int, shape (n, k)
        Active regressors of each, padded with any to the length of the longest.
    real : array of bool, shape (n, k)
        False for the padding.
    """

    targets: IndexArray
    index: IndexArray
    real: BoolArray

    def gather(self, values: FloatArray, padding: float) -> FloatArray:
        """Return the entries of a (regressors, targets) array that belong to the active regressors, shape (n, k)."""
        return np.where(self.real, values[self.index, self.targets[:, None]], padding)

    def scatter(self, into: FloatArray | BoolArray, values: FloatArray | BoolArray) -> None:
        """Write (n, k) values back to where they belong."""
        into[self._places] = values[self.real]

    @cached_property
    def _places(self) -> tuple[IndexArray, IndexArray]:
        return self.index[self.real], np.repeat(self.targets, np.count_nonzero(self.real, axis=1))

    def gram(self, problem: StandardProblem) -> FloatArray:
        """Return G over the active regressors, shape (n, k, k); zero in the padding."""
        none = len(problem.gram)  # of `framed_gram`, a row and a column of zeros
        index = self.index if self.real.all() else np.where(self.real, self.index, none)
        flat = index[:, :, None] * (none + 1) + index[:, None, :]  # one index is twice as fast as two
        gram: FloatArray = problem.framed_gram.take(flat)
        return gram

    def with_diagonal(self, gram: FloatArray, ridge: FloatArray) -> FloatArray:
        """Add D to G, in place; the padding becomes an identity of its own."""
        diagonal = np.einsum("nkk->nk", gram)
        diagonal += np.where(self.real, ridge, 1.0)
        return gram

    def system(self, problem: StandardProblem, ridge: FloatArray) -> FloatArray:
        """Return G + D over the active regressors, with D given as a (regressors, targets) array."""
        return self.with_diagonal(self.gram(problem), self.gather(ridge, 1.0))


def batches(
    active: BoolArray, width: int | None = None, first: FloatArray | None = None, numbers: int = CACHE
) -> Iterator[Batch]:
    """Split the targets that have anything active into stacks of similar size.

    Parameters
    ----------
    active : array of bool, shape (p, q)
        Active regressors of each target.
    width : int, optional
        Numbers per target and active regressor in the stack; the number of active regressors itself by default.
    first : array, shape (p, q), optional
        Each target's regressors are put in decreasing order of this; in order of their index by default.
    numbers : int
        Numbers per stack.
    """
    target, regressor = np.nonzero(active.T)
    if first is not None:
        regressor = regressor[np.lexsort((-first[regressor, target], target))]
    size = np.bincount(target, minlength=active.shape[1])
    begin = np.cumsum(size) - size
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 0]
    while order.size:
        k = int(size[order[-1]])
        count = max(numbers // (k * (width or k)), 1)
        targets, order = order[-count:], order[:-count]
        real = np.arange(k) < size[targets, None]
        yield Batch(targets, regressor[np.where(real, begin[targets, None] + np.arange(k), 0)], real)
