"""A model whose predictions cannot grow without bound, with little change to the one-step fit.

Stage six. Eigenvalues of A outside a circle are moved radially onto it, their eigenvectors kept, and B is fitted anew
(least squares one step ahead) to the A that results.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from koopsieve._linalg import ROUNDING as ROUNDING
from koopsieve._linalg import clip_eigenvalues
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.model.lifted import LiftedModel
from koopsieve.regression import RegressionStatistics


def stabilise(model: LiftedModel, statistics: RegressionStatistics, radius: float = 1.0) -> LiftedModel:
    """Return the model with no eigenvalue outside the circle of the given radius.

    Parameters
    ----------
    model : LiftedModel
    statistics : RegressionStatistics
        What the model was identified from; B is refitted to them.
    radius : float
        Largest absolute eigenvalue allowed. One keeps constants and undamped oscillations, below one all motion dies
        out when inputs cease.

    Returns
    -------
    LiftedModel
        The same object if there was nothing to do.

    Raises
    ------
    KoopsieveError
        If the radius is not positive, the matrix is not finite, or the statistics are of other observables.
    """
    if not (np.isfinite(radius) and radius > 0):
        raise KoopsieveError(f"radius must be a positive number. Got {radius}.")
    if statistics.observables != model.names:
        raise KoopsieveError(
            f"The statistics are not of this model's observables. Expected {list(model.names)[:5]}…, got "
            f"{list(statistics.observables)[:5]}…. Pass statistics.select(retained)."
        )
    if not np.isfinite(model.A).all():
        raise KoopsieveError("The model's A is not finite, so it cannot be stabilised. Identify it again.")
    if model.spectral_radius <= radius * (1 + ROUNDING):
        return model
    A = clip_eigenvalues(model.A, radius, _scale(statistics))
    L = len(A)
    gap = statistics.S - statistics.R[:, :L] @ A.T
    B: FloatArray = np.asarray(np.linalg.lstsq(statistics.R[:, L:], gap, rcond=None)[0].T, dtype=float)
    left = statistics.leftover + np.sum((gap - statistics.R[:, L:] @ B.T) ** 2, axis=0)
    return replace(model, A=A, B=B, noise_variance=left / max(statistics.rows, 1.0))


def _scale(statistics: RegressionStatistics) -> FloatArray:
    """Return the root mean square of each observable, up to a common factor; one where it is zero."""
    norm = np.linalg.norm(statistics.R[:, : len(statistics.observables)], axis=0)
    return np.where(norm > 0, norm, 1.0)
