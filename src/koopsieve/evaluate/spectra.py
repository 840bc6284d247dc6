"""The spectrum of a model on data: eigenvalues, and how well each eigenfunction keeps its own equation there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories, embedded
from koopsieve.model import LiftedModel, Model
from koopsieve.model.spectrum import ComplexArray, eigenvalues

_ROWS = 8192  # samples that are lifted at a time


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a model, the largest in absolute value first.

    Parameters
    ----------
    of : str
        "A", or "step linearised at the mean state" for a form without such a matrix.
    values : complex array, shape (n,)
    residuals : array, shape (n,), optional
        For each left eigenvector w of A: ‖w·φ[k+1] − λ w·φ[k] − w·Bu[k]‖ / ‖w·φ[k]‖ over the data. Small where the
        eigenvalue belongs to the plant, near one or above where it belongs to the choice of observables.
    dt : float
        Sample time.
    """

    of: str
    values: ComplexArray
    residuals: FloatArray | None
    dt: float

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


def spectrum(model: Model, trajectories: Trajectories) -> Spectrum:
    """Return the spectrum of A, or of the step linearised at the mean state for a form that is not linear."""
    data = embedded(trajectories, model.signals.embedding)
    if isinstance(model, LiftedModel):
        values, left = _left_eigenvectors(model.A)
        return Spectrum("A", values, _residuals(model, data, values, left), model.dt)
    state = np.mean(np.concatenate(data.states), axis=0)
    acting = np.concatenate(data.inputs)
    mean = acting.mean(axis=0) if len(acting) else np.zeros(acting.shape[1])
    found = model.jacobian(model.start(state[None])[0], mean)
    return Spectrum("step linearised at the mean state", eigenvalues(found.A), None, model.dt)


def _left_eigenvectors(A: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    if not np.isfinite(A).all():
        return eigenvalues(A), np.zeros(A.shape, dtype=complex)
    values, vectors = np.linalg.eig(A.T)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order].astype(complex), vectors[:, order].astype(complex)


def _residuals(model: LiftedModel, data: Trajectories, values: ComplexArray, left: ComplexArray) -> FloatArray:
    missed, power = np.zeros(len(values)), np.zeros(len(values))
    for x, u in zip(data.states, data.inputs, strict=True):
        for first in range(0, len(u), _ROWS):
            rows = u[first : first + _ROWS]
            seen = model.dictionary(x[first : first + len(rows) + 1]) @ left
            driven = rows @ (model.B.T @ left)
            missed += _squares(seen[1:] - values * seen[:-1] - driven)
            power += _squares(seen[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = np.sqrt(missed / power)
    return np.where(power > 0, ratio, np.nan)


def _squares(values: NDArray[np.complex128]) -> FloatArray:
    total: FloatArray = np.sum(np.abs(values) ** 2, axis=0)
    return total
