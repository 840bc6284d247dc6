"""Refitting one set of observables in the linear form, the best on validation windows; and models that cannot grow.

To make a model stable, eigenvalues of A outside a circle are moved radially onto it, their eigenvectors kept, and B is
fitted anew (least squares one step ahead) to the A that results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import POSITIVE, FloatArray, IndexArray, KoopsieveError, or_one, real_number
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.term_map import Shifts, shifts
from koopsieve.evaluate import WindowErrors, window_errors
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.path import PathPoint
from koopsieve.identify import HorizonLeastSquares, Identifier, LeastSquares
from koopsieve.identify.stacks import ROUNDING as ROUNDING
from koopsieve.identify.stacks import clip_eigenvalues, spectral_radius
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
    real_number("radius", radius, POSITIVE)
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
    observables = len(statistics.observables)
    scale[:observables] = or_one(np.linalg.norm(statistics.R[:, :observables], axis=0))
    return scale


ROUGH = 1e-4  # of the least squared error: a step of the refit that gains less is not worth its time
LONG_RUN = 1000  # steps that a model must predict without overflow
_STABILITY_PRICE = 0.02  # mean logarithm of the error that stability may cost


@dataclass(frozen=True, eq=False)
class Refitted:
    """A model, its validation errors, the name of the refit, and what was done about stability, in words."""

    model: LinearModel
    errors: WindowErrors
    refit: str
    status: str


@dataclass(frozen=True, eq=False)
class Refitter:
    """What every set is refitted with and judged on."""

    windows: Trajectories  # validation data
    horizons: tuple[int, ...]
    refits: Mapping[str, Identifier]  # from name to Identifier
    stable: bool = True  # whether to stabilise models where that costs no accuracy
    emphasis: float = 0.5  # how much more long horizons count when refits are ranked: see `WindowErrors.score`

    def __call__(self, statistics: RegressionStatistics, dictionary: Dictionary) -> Refitted:
        """Return the best refit of the dictionary behind the statistics."""
        found = (self._one(name, statistics, dictionary) for name in self.refits)
        return min(found, key=lambda one: one.errors.score(self.emphasis))

    def again(
        self, before: PathPoint, statistics: RegressionStatistics, dictionary: Dictionary
    ) -> tuple[LinearModel, str]:
        """Return the same refit on more data, stable if it was or if it would overflow, and what was done, in words."""
        model = LinearModel.from_estimate(self.refits[before.refit].identify(statistics), dictionary)
        radius = model.spectral_radius
        if radius <= 1 + ROUNDING:
            return model, ""
        was_stable = before.model.spectral_radius <= 1 + ROUNDING
        if self.stable and (was_stable or _overflows(radius)):
            return (moved := stabilise(model, statistics)), _stabilised(radius, moved.spectral_radius)
        return model, f"Not stabilised: the spectral radius is {radius:.6f}."

    def _one(self, name: str, statistics: RegressionStatistics, dictionary: Dictionary) -> Refitted:
        model = LinearModel.from_estimate(self.refits[name].identify(statistics), dictionary)
        plain = Refitted(model, window_errors(model, self.windows, self.horizons), name, "")
        if not self.stable or model.spectral_radius <= 1 + ROUNDING:
            return plain
        moved = stabilise(model, statistics)
        return self._preferred(
            plain, replace(plain, model=moved, errors=window_errors(moved, self.windows, self.horizons))
        )

    def _preferred(self, plain: Refitted, stabilised: Refitted) -> Refitted:
        """Return the stabilised model unless it predicts worse and the other does not overflow."""
        price = stabilised.errors.score(self.emphasis) - plain.errors.score(self.emphasis)
        radius = plain.model.spectral_radius
        if price <= _STABILITY_PRICE or _overflows(radius) or np.isnan(price):
            return replace(stabilised, status=_stabilised(radius, stabilised.model.spectral_radius))
        note = (
            f"Not stabilised: the spectral radius is {radius:.6f}, and moving it to 1 would multiply the validation "
            f"error by {np.exp(price):.2f}."
        )
        return replace(plain, status=note)


def _stabilised(before: float, after: float) -> str:
    return f"Stabilised: the spectral radius was {before:.6f}, now {after:.6f}."


def _overflows(radius: float) -> bool:
    return not LONG_RUN * np.log(radius) < np.log(np.finfo(float).max) / 2


def default_refits() -> dict[str, Identifier]:
    """Return least squares one step ahead, and over the horizons."""
    return {"least squares": LeastSquares(), "least squares over horizons": HorizonLeastSquares(tolerance=ROUGH)}
