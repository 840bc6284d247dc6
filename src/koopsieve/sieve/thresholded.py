"""The thresholded model of the paper's Section 4.2, and the quantities in which its statements are made.

An estimate and a reduction come in, the coefficients of A_ε go out (equation 31); the controllable subspace is that of
Proposition 3, the number of coefficients that of the end of Section 4.2. `strength` says at which threshold each
observable is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.identify import Estimate
from koopsieve.sieve.algorithm_2 import Reduction

MIN_RELATIVE_DIRECTION = 1e-9  # a direction with less than this of the size of what led to it is rounding


def thresholded(estimate: Estimate, reduction: Reduction) -> Estimate:
    """Return the estimate without the dependencies that were not believed: the paper's A_ε, B unchanged.

    `LinearModel.from_estimate` makes the model of equation (31) from it. Restricted to `reduction.retained` it predicts
    the retained observables exactly as the whole (Proposition 2).

    Parameters
    ----------
    estimate : Estimate
        Of all observables.
    reduction : Reduction
        From `reduce(estimate.inclusion, …)`: its graph holds the dependencies that stay.

    Raises
    ------
    KoopsieveError
        If the two are of different dictionaries.

    Examples
    --------
    >>> from koopsieve.regression import RegressionStatistics, TriangularFactor
    >>> from koopsieve.sieve import reduce
    >>> statistics = RegressionStatistics(TriangularFactor.empty(2, 2), ("x1", "x2"))
    >>> found = Estimate.of(statistics, np.array([[0.9, 0.2], [0.1, 0.8]]), noise_precision=np.ones(2),
    ...                     inclusion=np.array([[1.0, 0.7], [0.05, 1.0]]))
    >>> thresholded(found, reduce(found.inclusion, outputs=[0], threshold=0.1)).coef
    array([[0.9, 0.2],
           [0. , 0.8]])
    """
    L = len(estimate.targets)
    if reduction.adjacency.shape != (L, L):
        raise KoopsieveError(
            f"The reduction is of another dictionary. Expected {L} observables, got {len(reduction.adjacency)}. "
            "Reduce this estimate's own inclusion."
        )
    inputs = np.ones((len(estimate.regressors) - L, L), dtype=bool)
    stays = np.vstack([reduction.adjacency, inputs])
    return replace(
        estimate,
        coef=np.where(stays, estimate.coef, 0.0),
        coef_variance=np.where(stays, estimate.coef_variance, 0.0),
    )


def controllable_subspace(A: ArrayLike, B: ArrayLike) -> FloatArray:
    """Return an orthonormal basis of span{B, AB, …, Aᴸ⁻¹B}, the controllable subspace of φ⁺ = Aφ + Bu.

    Directions are found one power of A at a time and made orthogonal to those before, so that high powers neither
    overflow nor hide the small directions.

    Parameters
    ----------
    A : array, shape (L, L)
    B : array, shape (L, l)

    Returns
    -------
    array, shape (L, r)
        r is the dimension of the subspace.

    Examples
    --------
    The input moves the second coordinate only, and the second moves the first; the third stays out of reach.

    >>> basis = controllable_subspace([[0.9, 0.5, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 0.7]], [[0.0], [1.0], [0.0]])
    >>> np.abs(basis).round(12)
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    A, newest = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    basis = np.zeros((len(A), 0))
    while newest.shape[1] and basis.shape[1] < len(A):
        size = np.linalg.norm(newest, axis=0)
        directions = newest[:, size > 0] / size[size > 0]
        for _ in range(2):  # once more, so that rounding leaves nothing along the basis
            directions = directions - basis @ (basis.T @ directions)
        U, length, _ = np.linalg.svd(directions, full_matrices=False)
        found = U[:, length > MIN_RELATIVE_DIRECTION]
        basis, newest = np.hstack([basis, found]), A @ found
    return basis


def coefficient_count(observables: int, inputs: int = 0) -> int:
    """Return r(r + l), the number of coefficients that a model of r observables and l inputs stores.

    Examples
    --------
    >>> coefficient_count(46, 1), coefficient_count(8, 1)
    (2162, 72)
    """
    return observables * (observables + inputs)


@dataclass(frozen=True, eq=False)
class Strength:
    """Per observable, its strongest path to an output; a path is as strong as its least probable dependency.

    Parameters
    ----------
    value : array, shape (L,)
        Strength of that path: the largest threshold at which the observable is still retained. 1 for outputs, 0 where
        there is no path.
    following : array of int, shape (L,)
        The next observable on the path; −1 for outputs and where there is no path.
    """

    value: FloatArray
    following: IndexArray

    def path(self, observable: int) -> tuple[int, ...]:
        """Return the path from an observable to an output, both included."""
        steps = [int(observable)]
        while self.following[steps[-1]] >= 0:
            steps.append(int(self.following[steps[-1]]))
        return tuple(steps)


def strength(inclusion: ArrayLike, outputs: ArrayLike) -> Strength:
    """Find the strongest path from every observable to an output (Dijkstra's search, with the minimum for the sum).

    For every threshold the observables that `reduce` retains are exactly those at least as strong as the threshold.

    Parameters
    ----------
    inclusion : array, shape (L + l, L) or (L, L)
        Probability that regressor i drives observable j; rows of inputs are ignored.
    outputs : sequence of int
        Indices of the outputs.

    Examples
    --------
    Observable 2 drives 1 surely, 1 drives the output 0 with probability 0.7: both are kept up to a threshold of 0.7.

    >>> found = strength([[0.9, 0.0, 0.0], [0.7, 0.9, 0.0], [0.0, 1.0, 0.0]], outputs=[0])
    >>> found.value, found.path(2)
    (array([1. , 0.7, 0.7]), (2, 1, 0))
    """
    probability = np.asarray(inclusion, dtype=float)
    L = probability.shape[1]
    value, following, steps = np.zeros(L), np.full(L, -1, dtype=np.intp), np.zeros(L, dtype=np.intp)
    value[np.asarray(outputs, dtype=np.intp)] = 1.0
    done = np.zeros(L, dtype=bool)
    while not done.all():
        j = int(np.lexsort((steps, np.where(done, np.inf, -value)))[0])  # the strongest, of equals the nearest
        if value[j] <= 0:
            break
        done[j] = True
        through = np.minimum(probability[:L, j], value[j])
        shorter = (through == value) & (steps[j] + 1 < steps) & (through > 0)
        better = ~done & ((through > value) | shorter)
        value[better], following[better], steps[better] = through[better], j, steps[j] + 1
    return Strength(value, following)
