"""Many small linear systems at once: targets with active sets of similar size are gathered into padded stacks.

A stack fits the processor's cache; `stacks` has the linear algebra.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.linalg.standardise import StandardProblem

CACHE = 1 << 17  # numbers per stack that the processor's cache holds
STACK = 1 << 15  # numbers per stack: few enough that targets of different sizes need little padding


@dataclass(frozen=True, eq=False)
class Batch:
    """Some targets and their active regressors, padded to the length of the longest.

    Parameters
    ----------
    problem : StandardProblem
        What they belong to.
    targets : array of int, shape (n,)
        Which targets.
    places : array of int, shape (n, k)
        Where the active regressors of each target lie in a (regressors, targets) array, counted target by target.
    real : array of bool, shape (n, k)
        False for the padding, whose places are any.
    """

    problem: StandardProblem
    targets: IndexArray
    places: IndexArray
    real: BoolArray

    @cached_property
    def full(self) -> bool:
        """Whether nothing is padding."""
        return bool(self.real.all())

    @cached_property
    def index(self) -> IndexArray:
        """Active regressors of each target, shape (n, k); any in the padding."""
        index: IndexArray = self.places % len(self.problem.gram)
        return index

    @cached_property
    def padded(self) -> IndexArray:
        """`index` with one more than the last regressor in the padding: the zeros of `StandardProblem.padded_gram`."""
        return self.index if self.full else np.where(self.real, self.index, len(self.problem.gram))

    @cached_property
    def gram(self) -> FloatArray:
        """G over the active regressors, shape (n, k, k), but for its diagonal; zero in the padding."""
        flat = self.padded[:, :, None] * (len(self.problem.gram) + 1) + self.padded[:, None, :]  # faster than two
        gram: FloatArray = self.problem.padded_gram.take(flat)
        return gram

    def system(self, ridge: FloatArray) -> FloatArray:
        """Return G + D over the active regressors; in the padding, an identity. It is valid until the next call."""
        diagonal = self.problem.energy[self.index] + ridge
        np.einsum("nkk->nk", self.gram)[:] = diagonal if self.full else np.where(self.real, diagonal, 1.0)
        return self.gram

    def gather(self, values: FloatArray, padding: float) -> FloatArray:
        """Return the entries of a (regressors, targets) array that belong to the active regressors, shape (n, k)."""
        gathered: FloatArray = values.T.ravel().take(self.places)
        return gathered if self.full else np.where(self.real, gathered, padding)

    def scatter(self, into: FloatArray | BoolArray, values: FloatArray | BoolArray) -> None:
        """Write (n, k) values back to where they belong."""
        if self.full:
            into.T.put(self.places, values)
        else:
            into.T.put(self.places[self.real], values[self.real])

    def gram_rows(self) -> FloatArray:
        """Return the active regressors' rows of G, shape (n, k, p); zero in the padding."""
        rows: FloatArray = self.problem.padded_gram[:, :-1][self.padded]
        return rows

    def later(self, k: int) -> FloatArray:
        """Return G between each target's k-th active regressor and those after it, shape (·, n)."""
        row = self._columns[k] * (len(self.problem.gram) + 1)
        later: FloatArray = self.problem.padded_gram.take(self._columns[k + 1 :] + row)
        return later

    @cached_property
    def _columns(self) -> IndexArray:
        return np.ascontiguousarray(self.padded.T)


def batches(
    problem: StandardProblem,
    active: BoolArray,
    width: int | None = None,
    first: FloatArray | None = None,
    numbers: int = CACHE,
) -> Iterator[Batch]:
    """Split the targets that have anything active (p, q) into stacks of similar size, `numbers` in each.

    `width` is the numbers per target and active regressor in the stack, by default the number of active regressors.
    Each target's regressors are put in decreasing order of `first` (p, q), by default in order of their index.
    """
    p, q = active.shape
    places = np.flatnonzero(active.T)
    target = places // p
    if first is not None:
        places = places[np.lexsort((-first.T.ravel()[places], target))]
    size = np.bincount(target, minlength=q)
    begin = np.cumsum(size) - size
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 0]
    while order.size:
        k = int(size[order[-1]])
        count = max(numbers // (k * (width or k)), 1)
        targets, order = order[-count:], order[:-count]
        real = np.arange(k) < size[targets, None]
        yield Batch(problem, targets, places[np.where(real, begin[targets, None] + np.arange(k), 0)], real)


def posterior(
    problem: StandardProblem, precision: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the weights and log|ρG + Λ| per target; regressors of infinite precision are out.

    `precision` (p, q) is Λ, the prior precision of each weight, `noise` (q,) the noise precision ρ of each target.
    """
    mean, variance = np.zeros_like(precision), np.zeros_like(precision)
    kept = np.isfinite(precision)
    log_det = np.count_nonzero(kept, axis=0) * np.log(noise)
    ridge = precision / noise
    for batch in batches(problem, kept, numbers=STACK):
        L = stacks.factorise(batch.system(batch.gather(ridge, 0.0)))
        log_det[batch.targets] += stacks.log_determinant(L)
        root = stacks.inverse_root(L)
        half = np.matmul(root, batch.gather(problem.projected, 0.0)[:, :, None])
        batch.scatter(mean, np.matmul(half.transpose(0, 2, 1), root)[:, 0])
        batch.scatter(variance, np.einsum("nij,nij->nj", root, root) / noise[batch.targets, None])
    return mean, variance, log_det
