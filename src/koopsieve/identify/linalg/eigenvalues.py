"""Linear algebra that several stages share: eigenvalues brought inside a circle."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray

ROUNDING = 1e-9  # a spectral radius this far above the bound is rounding, not growth


def clip_eigenvalues(A: FloatArray, radius: float, scale: FloatArray | None = None) -> FloatArray:
    """Return A with the eigenvalues outside a circle moved radially onto it, the eigenvectors kept.

    Where the eigenvectors are too nearly dependent to be told apart the whole matrix is shrunk instead.

    Parameters
    ----------
    A : array, shape (n, n)
        Finite.
    radius : float
        Of the circle around zero.
    scale : array, shape (n,), optional
        Size of each coordinate, so that units do not matter; ones by default.

    Returns
    -------
    array, shape (n, n)
        The same object if no eigenvalue lies outside.

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
    reached = _spectral_radius(moved)
    if not reached <= radius * (1 + ROUNDING):
        source, reached = (moved, reached) if reached <= modulus.max() else (balanced, float(modulus.max()))
        moved = source * (radius / reached)
    result: FloatArray = moved * size[:, None] / size
    return result


def _spectral_radius(A: FloatArray) -> float:
    """Return the largest absolute eigenvalue; inf for a matrix that is not finite."""
    return float(np.max(np.abs(np.linalg.eigvals(A)))) if np.isfinite(A).all() else np.inf
