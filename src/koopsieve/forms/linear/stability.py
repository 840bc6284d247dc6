"""A model whose predictions cannot grow without bound, with little change to the one-step fit.

Stage six. Eigenvalues of A outside a circle are moved radially onto it, their eigenvectors kept, and B is fitted anew
(least squares one step ahead) to the A that results.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary.term_map import Shifts, shifts
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.spectra import spectral_radius
from koopsieve.identify.linalg.stacks import ROUNDING as ROUNDING
from koopsieve.identify.linalg.stacks import clip_eigenvalues
from koopsieve.regression import RegressionStatistics


def stabilise(model: LinearModel, statistics: RegressionStatistics, radius: float = 1.0) -> LinearModel:
    """Return the model with no eigenvalue outside the circle of the given radius.

    Parameters
    ----------
    model : LinearModel
    statistics : RegressionStatistics
        What the model was identified from; B is refitted to them.
    radius : float
        Largest absolute eigenvalue allowed. One keeps constants and undamped oscillations, below one all motion dies
        out when inputs cease.

    Returns
    -------
    LinearModel
        The same object if there was nothing to do.

    Raises
    ------
    KoopsieveError
        If the radius is not positive, the matrix is not finite, or the statistics are of other observables.
    """
    if not (np.isfinite(radius) and radius > 0):
        raise KoopsieveError(f"radius must be a positive number. Got {radius}.")
    known, structure = len(statistics.observables), shifts(model.dictionary)
    if not _are_of(statistics, model, structure):
        raise KoopsieveError(
            f"The statistics are not of this model's observables. Expected {list(model.names)[:5]}…, got "
            f"{list(statistics.observables)[:5]}…. Pass statistics.select(retained)."
        )
    if not np.isfinite(model.A).all():
        raise KoopsieveError("The model's A is not finite, so it cannot be stabilised. Identify it again.")
    if model.spectral_radius <= radius * (1 + ROUNDING):
        return model
    A = _with_exact_rows(clip_eigenvalues(model.A, radius, _scale(statistics, len(model.A))), model.A, structure, known)
    A = _contracted(A, radius, structure.delays)
    free = np.flatnonzero(structure.free[:known])
    gap = statistics.S[:, free] - statistics.R[:, :known] @ A[free, :known].T
    input_terms = statistics.R[:, known:]
    B = model.B.copy()
    B[free] = np.linalg.lstsq(input_terms, gap, rcond=None)[0].T
    return replace(model, A=A, B=B, calibration=None)


def _are_of(statistics: RegressionStatistics, model: LinearModel, structure: Shifts) -> bool:
    """Tell whether the model was identified from these statistics: what it has beyond is only carried."""
    known = len(statistics.observables)
    same = statistics.observables == model.names[:known] and statistics.input_terms == model.signals.acting
    return same and not structure.free[known:].any() and not model.A[structure.free, known:].any()


def _with_exact_rows(A: FloatArray, before: FloatArray, structure: Shifts, known: int) -> FloatArray:
    """Return A with the rows of delayed copies as they were, and nothing learned from what is only carried."""
    exact = A.copy()
    exact[:, known:] = 0.0
    exact[structure.targets] = before[structure.targets]
    return exact


def _contracted(A: FloatArray, radius: float, delays: IndexArray) -> FloatArray:
    """Return A with all eigenvalues shrunk alike until none is outside the circle; shifts stay shifts.

    With D = diag(ρ^delay), ρ·D⁻¹AD has the eigenvalues of A times ρ, and a copy from one delay to the next keeps its
    coefficient one.
    """
    reached = spectral_radius(A)
    if reached <= radius * (1 + ROUNDING):
        return A
    shrink = radius / reached
    D = shrink ** delays.astype(float)
    contracted: FloatArray = shrink * A * D / D[:, None]
    return contracted


def _scale(statistics: RegressionStatistics, size: int) -> FloatArray:
    """Return the root mean square of each observable, up to a common factor; one where it is zero or not known."""
    scale = np.ones(size)
    norm = np.linalg.norm(statistics.R[:, : len(statistics.observables)], axis=0)
    scale[: len(norm)] = np.where(norm > 0, norm, 1.0)
    return scale
