"""Eigenvalues and modes of a lifted model: how the outputs move when left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray
from koopsieve.export.protocols import LinearPredictor

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Modes:
    """The Koopman modes: y[k] = Σ_i shapes[:, i]·eigenvalues[i]ᵏ·weight_i, with weights set by the start.

    Parameters
    ----------
    eigenvalues : complex array, shape (L,)
        Of A, the largest in absolute value first.
    shapes : complex array, shape (n_outputs, L)
        What one unit of each mode looks like in the outputs: C times the eigenvectors, which have unit length.
    dt : float
        Sample time.
    """

    eigenvalues: ComplexArray
    shapes: ComplexArray
    dt: float

    @property
    def frequencies(self) -> FloatArray:
        """Oscillations per unit of time, from −1/(2·dt) to 1/(2·dt)."""
        frequencies: FloatArray = np.angle(self.eigenvalues) / (2 * np.pi * self.dt)
        return frequencies

    @property
    def growth_rates(self) -> FloatArray:
        """Exponential growth per unit of time; negative for a mode that dies out, −inf for one that does at once."""
        with np.errstate(divide="ignore"):
            rates: FloatArray = np.log(np.abs(self.eigenvalues)) / self.dt
        return rates


def modes(system: LinearPredictor) -> Modes:
    """Return the modes of a model; all nan if its matrix is not finite."""
    values, vectors = _decomposition(system.A)
    order = np.argsort(-np.abs(values), kind="stable")
    return Modes(values[order], system.C @ vectors[:, order], system.signals.dt)


def _decomposition(A: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    if not np.isfinite(A).all():
        return np.full(len(A), complex(np.nan, np.nan)), np.full(A.shape, complex(np.nan, np.nan))
    found: tuple[NDArray[Any], NDArray[Any]] = np.linalg.eig(A)
    return found[0].astype(complex), found[1].astype(complex)


def eigenvalues(A: FloatArray) -> ComplexArray:
    """Return the eigenvalues, the largest in absolute value first; all nan if the matrix is not finite."""
    if not np.isfinite(A).all():
        return np.full(len(A), complex(np.nan, np.nan))
    values: ComplexArray = np.linalg.eigvals(A).astype(complex)
    return values[np.argsort(-np.abs(values), kind="stable")]


def spectral_radius(A: FloatArray) -> float:
    """Return the largest absolute eigenvalue; inf if the matrix is not finite."""
    return float(np.abs(eigenvalues(A)[0])) if np.isfinite(A).all() else np.inf
