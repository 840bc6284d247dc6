"""Linear algebra of many small systems at once, and eigenvalues brought inside a circle.

Stacks are of positive definite matrices, shape (n, k, k), and are worked on in place but for `factorise`. LAPACK works
column by column, so it is given the transpose of a row-major matrix.

`batches` gathers targets with active sets of similar size into padded stacks, each of which fits the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.standardise import StandardProblem

ROUNDING = 1e-9  # a spectral radius this far above the bound is rounding, not growth
FIRST_JITTER = np.finfo(float).eps  # of the diagonal, times the size: added where rounding made a matrix indefinite


def factorise(A: FloatArray, overwrite: bool = False) -> FloatArray:
    """Return the Cholesky factors of A; where rounding made one indefinite, its diagonal is raised until it has one.

    Above the diagonal anything may stand. With `overwrite` they may take the place of A.
    """
    if A.shape[1] == 0:  # which LAPACK refuses
        return A
    L = np.ascontiguousarray(A) if overwrite else np.array(A, order="C")  # row-major, or LAPACK works on a copy
    for one, own in zip(L, diagonals(A).copy(), strict=True):
        if lapack.dpotrf(one.T, lower=0, clean=0, overwrite_a=1)[1]:
            np.fill_diagonal(one, own)  # all that LAPACK overwrote: it reads and writes one triangle
            one[...] = _jittered_cholesky(np.triu(one, 1) + np.triu(one).T)
    return L


def _jittered_cholesky(A: FloatArray) -> FloatArray:
    """Return the factor of A, or of the first matrix that has one when its diagonal grows by more and more."""
    raised, jitter = A, FIRST_JITTER * len(A)
    while True:
        try:
            return np.asarray(np.linalg.cholesky(raised), dtype=float)
        except np.linalg.LinAlgError:
            if not jitter < 1:  # not rounding: the matrix is not positive at all
                raise
            raised, jitter = A + jitter * np.diag(np.diagonal(A)), 10 * jitter


def solve(L: FloatArray, right: FloatArray) -> FloatArray:
    """Turn the right-hand sides, shape (n, k), into the solutions of LLᵀx = right."""
    for factor, side in zip(L, right, strict=True):
        lapack.dpotrs(factor.T, side, lower=0, overwrite_b=1)
    return right


def forward(L: FloatArray, right: FloatArray) -> FloatArray:
    """Turn the right-hand sides, shape (n, k, p), into L⁻¹·right."""
    for factor, side in zip(L, right, strict=True):
        blas.dtrsm(1.0, factor.T, side.T, side=1, lower=0, overwrite_b=1)
    return right


def inverse_root(L: FloatArray) -> FloatArray:
    """Turn the factors into W = L⁻¹, for which WᵀW = (LLᵀ)⁻¹."""
    if L.shape[1] == 0:  # which LAPACK refuses
        return L
    for factor in L:
        lapack.dtrtri(factor.T, lower=0, overwrite_c=1)
    L *= np.tri(L.shape[1])
    return L


def inverse(L: FloatArray) -> FloatArray:
    """Turn the factors into (LLᵀ)⁻¹."""
    if L.shape[1] == 0:  # which LAPACK refuses
        return L
    for factor in L:
        lapack.dpotri(factor.T, lower=0, overwrite_c=1)
    np.copyto(L, L.transpose(0, 2, 1), where=~np.tri(L.shape[1], dtype=bool))
    return L


def diagonals(A: FloatArray) -> FloatArray:
    """Return the diagonal of each, shape (n, k)."""
    diagonal: FloatArray = np.einsum("nkk->nk", A)
    return diagonal


def log_determinant(L: FloatArray) -> FloatArray:
    """Return log|LLᵀ| of each."""
    log_det: FloatArray = 2 * np.sum(np.log(diagonals(L)), axis=1)
    return log_det


def clip_eigenvalues(A: FloatArray, radius: float, scale: FloatArray | None = None) -> FloatArray:
    """Return A with the eigenvalues outside a circle moved radially onto it, the eigenvectors kept.

    Where the eigenvectors are too nearly dependent to be separated the whole matrix is shrunk instead; where no
    eigenvalue lies outside, A itself is returned. With the `scale` (n,) of each coordinate units do not matter.

    Examples
    --------
    >>> clip_eigenvalues(np.diag([2.0, 0.5]), radius=1.0)
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    size = np.ones(len(A)) if scale is None else scale
    balanced = A / size[:, None] * size
    values, vectors = np.linalg.eig(balanced)
    modulus = np.abs(values)
    if not modulus.size or modulus.max() <= radius:
        return A
    clipped = values * np.minimum(1, radius / np.maximum(modulus, radius))
    try:
        moved = np.real(np.linalg.solve(vectors.T, (vectors * clipped).T).T)
    except np.linalg.LinAlgError:
        moved = balanced
    reached = spectral_radius(moved)
    if not reached <= radius * (1 + ROUNDING):
        source, reached = (moved, reached) if reached <= modulus.max() else (balanced, float(modulus.max()))
        moved = source * (radius / reached)
    result: FloatArray = moved * size[:, None] / size
    return result


def spectral_radius(A: FloatArray) -> float:
    """Return the largest absolute eigenvalue; inf for a matrix that is not finite."""
    return float(np.max(np.abs(np.linalg.eigvals(A)))) if np.isfinite(A).all() else np.inf


CACHE = 1 << 17  # numbers per stack that the processor's cache holds
STACK = 1 << 15  # numbers per stack: few enough that targets of different sizes need little padding


@dataclass(frozen=True, eq=False)
class Batch:
    """Some targets and their active regressors, padded to the length of the longest."""

    problem: StandardProblem  # what they belong to
    targets: IndexArray  # (n,): which targets
    # (n, k): where the active regressors of each target lie in a (regressors, targets) array, counted target by target
    places: IndexArray
    real: BoolArray  # (n, k): false for the padding, whose places are any

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
        L = factorise(batch.system(batch.gather(ridge, 0.0)))
        log_det[batch.targets] += log_determinant(L)
        root = inverse_root(L)
        half = np.matmul(root, batch.gather(problem.projected, 0.0)[:, :, None])
        batch.scatter(mean, np.matmul(half.transpose(0, 2, 1), root)[:, 0])
        batch.scatter(variance, np.einsum("nij,nij->nj", root, root) / noise[batch.targets, None])
    return mean, variance, log_det
