"""Eigenvalues and modes: how outputs move when left alone, and how well each eigenfunction keeps its own equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from koopsieve._types import ComplexArray, FloatArray
from koopsieve.data import Trajectories, embedded
from koopsieve.regression import compress
from koopsieve.uncertainty.certificates import eigenpair_residuals

if TYPE_CHECKING:
    from koopsieve.forms.lifted_state import LiftedStateModel
    from koopsieve.forms.model import Model


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a model, the largest in absolute value first.

    Parameters
    ----------
    values : complex array, shape (n,)
    residuals : array, shape (n,), optional
        How far each eigenfunction is from its own equation on the data: see `eigenpair_residuals`. Small where the
        eigenvalue belongs to the plant, near one or above where it belongs to the choice of observables. None where
        they were not asked for, and for a model that carries no observables, which has no eigenfunctions.
    dt : float
        Sample time.
    at_mean : bool
        Whether they are those of the step linearised at the mean state, and not of an A that is the same everywhere.
    """

    values: ComplexArray
    residuals: FloatArray | None
    dt: float
    at_mean: bool = False

    @property
    def of(self) -> str:
        """What they are eigenvalues of."""
        return "step linearised at the mean state" if self.at_mean else "A"

    @property
    def frequencies(self) -> FloatArray:
        """Oscillations per unit of time, not negative."""
        found: FloatArray = np.abs(np.angle(self.values)) / (2 * np.pi * self.dt)
        return found

    @property
    def time_constants(self) -> FloatArray:
        """Time in which a mode falls to 1/e; inf for one that does not decay."""
        modulus = np.abs(self.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(modulus < 1, -self.dt / np.log(modulus), np.inf)


def spectrum(model: Model, trajectories: Trajectories, residuals: bool = True) -> Spectrum:
    """Return the spectrum of the step at the mean state, which for a linear model is that of A.

    Parameters
    ----------
    model : Model
    trajectories : Trajectories
        Where the residuals are measured, and of which the mean is taken.
    residuals : bool
        Whether to measure residuals, which compresses the data.
    """
    data, at_mean = embedded(trajectories, model.signals.embedding), not model.step_is_linear
    state, acting = (np.concatenate(each).mean(axis=0) for each in (data.states, data.inputs))
    A = model.jacobian(model.start(state[None])[0], acting).A
    if not residuals or not model.carries_observables or not np.isfinite(A).all():
        return Spectrum(eigenvalues(A), None, model.dt, at_mean)
    lifted = cast("LiftedStateModel", model)
    found = eigenpair_residuals(lifted, compress(data, model.step_dictionary), acting)
    return Spectrum(*found, model.dt, at_mean)


@dataclass(frozen=True, eq=False)
class Modes:
    """The Koopman modes: y[k] = Σ_i shapes[:, i]·eigenvalues[i]ᵏ·weight_i, with weights set by the start.

    Parameters
    ----------
    eigenvalues : complex array, shape (L,)
        Of A, the largest in absolute value first.
    shapes : complex array, shape (n_outputs, L)
        One unit of each mode in the outputs: C times the eigenvectors, which have unit length.
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


def modes(A: FloatArray, C: FloatArray, dt: float) -> Modes:
    """Return the modes of a linear system; all nan if its matrix is not finite."""
    if not np.isfinite(A).all():
        return Modes(np.full(len(A), complex(np.nan, np.nan)), np.full(C.shape, complex(np.nan, np.nan)), dt)
    found: tuple[Any, Any] = np.linalg.eig(A)
    values, vectors = (one.astype(complex) for one in found)
    order = np.argsort(-np.abs(values), kind="stable")
    return Modes(values[order], C @ vectors[:, order], dt)


def eigenvalues(A: FloatArray) -> ComplexArray:
    """Return the eigenvalues, the largest in absolute value first; all nan if the matrix is not finite."""
    if not np.isfinite(A).all():
        return np.full(len(A), complex(np.nan, np.nan))
    values: ComplexArray = np.linalg.eigvals(A).astype(complex)
    return values[np.argsort(-np.abs(values), kind="stable")]


def spectral_radius(A: FloatArray) -> float:
    """Return the largest absolute eigenvalue; inf if the matrix is not finite."""
    return float(np.abs(eigenvalues(A)[0])) if np.isfinite(A).all() else np.inf
