"""Refitting one set of observables in the linear form: the refit that predicts best on validation windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import WindowErrors, window_errors
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.linear.stability import ROUNDING, stabilise
from koopsieve.forms.path import PathPoint
from koopsieve.identify import HorizonLeastSquares, Identifier, LeastSquares
from koopsieve.regression import RegressionStatistics

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
    """What every set is refitted with and judged on.

    Parameters
    ----------
    windows : Trajectories
        Validation data.
    horizons : tuple of int
    refits : mapping from name to Identifier
    stable : bool
        Whether to stabilise models where that costs no accuracy.
    emphasis : float
        How much more long horizons count when refits are ranked: see `WindowErrors.score`.
    """

    windows: Trajectories
    horizons: tuple[int, ...]
    refits: Mapping[str, Identifier]
    stable: bool = True
    emphasis: float = 0.5

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
        plain = Refitted(model, self._errors(model), name, "")
        radius = model.spectral_radius
        if not self.stable or radius <= 1 + ROUNDING:
            return plain
        stabilised = stabilise(model, statistics)
        return self._preferred(plain, Refitted(stabilised, self._errors(stabilised), name, ""), radius)

    def _preferred(self, plain: Refitted, stabilised: Refitted, radius: float) -> Refitted:
        """Return the stabilised model unless it predicts worse and the other does not overflow."""
        price = stabilised.errors.score(self.emphasis) - plain.errors.score(self.emphasis)
        if price <= _STABILITY_PRICE or _overflows(radius) or np.isnan(price):
            told = _stabilised(radius, stabilised.model.spectral_radius)
            return Refitted(stabilised.model, stabilised.errors, stabilised.refit, told)
        told = (
            f"Not stabilised: the spectral radius is {radius:.6f}, and moving it to 1 would multiply the validation "
            f"error by {np.exp(price):.2f}."
        )
        return Refitted(plain.model, plain.errors, plain.refit, told)

    def _errors(self, model: LinearModel) -> WindowErrors:
        return window_errors(model, self.windows, self.horizons)


def _stabilised(before: float, after: float) -> str:
    return f"Stabilised: the spectral radius was {before:.6f}, now {after:.6f}."


def _overflows(radius: float) -> bool:
    return not LONG_RUN * np.log(radius) < np.log(np.finfo(float).max) / 2


def default_refits() -> dict[str, Identifier]:
    """Return least squares one step ahead, and over the horizons."""
    return {"least squares": LeastSquares(), "least squares over horizons": HorizonLeastSquares(tolerance=ROUGH)}
