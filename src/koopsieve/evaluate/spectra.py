"""The spectrum of a model on data: eigenvalues, and how well each eigenfunction keeps its own equation there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories, embedded
from koopsieve.model import BilinearModel, LiftedModel, Model
from koopsieve.model.certificates import eigenpair_residuals
from koopsieve.model.spectrum import ComplexArray, eigenvalues
from koopsieve.regression import compress


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a model, the largest in absolute value first.

    Parameters
    ----------
    of : str
        "A", or "step linearised at the mean state" for a form without such a matrix.
    values : complex array, shape (n,)
    residuals : array, shape (n,), optional
        How far each eigenfunction is from its own equation on the data: see `eigenpair_residuals`. Small where the
        eigenvalue belongs to the plant, near one or above where it belongs to the choice of observables. None for the
        reprojected form, which has no eigenfunctions.
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


def spectrum(model: Model, trajectories: Trajectories, residuals: bool = True) -> Spectrum:
    """Return the spectrum of A, or of the step linearised at the mean state for a form that is not linear.

    Parameters
    ----------
    model : Model
    trajectories : Trajectories
        Where the residuals are measured, and of which the mean is taken.
    residuals : bool
        Whether to measure residuals, which compresses the data.
    """
    data = embedded(trajectories, model.signals.embedding)
    if isinstance(model, LiftedModel):
        if not residuals or not np.isfinite(model.A).all():
            return Spectrum("A", model.eigenvalues, None, model.dt)
        return Spectrum("A", *eigenpair_residuals(model, compress(data, model.dictionary)), model.dt)
    state, acting = (np.concatenate(each).mean(axis=0) for each in (data.states, data.inputs))
    found = model.jacobian(model.start(state[None])[0], acting)
    of = "step linearised at the mean state"
    if not isinstance(model, BilinearModel) or not residuals or not np.isfinite(found.A).all():
        return Spectrum(of, eigenvalues(found.A), None, model.dt)
    return Spectrum(of, *eigenpair_residuals(model, compress(data, model.dictionary.bilinear()), acting), model.dt)
