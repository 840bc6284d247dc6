"""The thresholded model of the paper's Section 4.2, and the quantities in which its statements are made.

An estimate and a reduction come in, the coefficients of A_ε go out (equation 31); the controllable subspace is that of
Proposition 3, the number of coefficients that of the end of Section 4.2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
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
