"""Refitting one candidate dictionary: the refit that predicts best on validation windows, stabilised if it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.windows import WindowErrors, window_errors
from koopsieve.identify import HorizonLeastSquares, Identifier, LeastSquares
from koopsieve.model import LiftedModel, stabilise
from koopsieve.model.stability import ROUNDING
from koopsieve.regression import RegressionStatistics

LONG = 1000  # steps that a model must predict without overflow
_COST = 0.02  # mean logarithm of the error that stability may cost


@dataclass(frozen=True, eq=False)
class Refitted:
    """A model, its validation errors, the name of the refit, and what was done about stability, in words."""

    model: LiftedModel
    errors: WindowErrors
    refit: str
    status: str


@dataclass(frozen=True, eq=False)
class Refitter:
    """What every candidate is refitted with and judged on.

    Parameters
    ----------
    validation : Trajectories
    horizons : tuple of int
    refits : mapping from name to Identifier
    stable : bool
        Whether to stabilise models where that costs no accuracy.
    emphasis : float
        How much more long horizons count when models are ranked: see `WindowErrors.score`.
    """

    validation: Trajectories
    horizons: tuple[int, ...]
    refits: Mapping[str, Identifier]
    stable: bool = True
    emphasis: float = 0.5

    def __call__(self, statistics: RegressionStatistics, dictionary: Dictionary) -> Refitted:
        """Return the best refit of the dictionary behind the statistics."""
        found = (self._one(name, statistics, dictionary) for name in self.refits)
        return min(found, key=lambda one: one.errors.score(self.emphasis))

    def _one(self, name: str, statistics: RegressionStatistics, dictionary: Dictionary) -> Refitted:
        estimate = self.refits[name].identify(statistics)
        model = LiftedModel.from_estimate(estimate, dictionary)
        plain = Refitted(model, self._errors(model), name, "")
        radius = model.spectral_radius
        if not self.stable or radius <= 1 + ROUNDING:
            return plain
        calmed = stabilise(model, statistics)
        return self._calmer(plain, Refitted(calmed, self._errors(calmed), name, ""), radius)

    def again(self, name: str, statistics: RegressionStatistics, dictionary: Dictionary, stable: bool) -> LiftedModel:
        """Return one of the refits on other statistics, stabilised if that is asked for or it would overflow."""
        model = LiftedModel.from_estimate(self.refits[name].identify(statistics), dictionary)
        radius = model.spectral_radius
        needed = radius > 1 + ROUNDING and (stable or _overflows(radius))
        return stabilise(model, statistics) if self.stable and needed else model

    def _calmer(self, plain: Refitted, calmed: Refitted, radius: float) -> Refitted:
        """Return the stabilised model unless it predicts worse and the other does not overflow."""
        price = calmed.errors.score(self.emphasis) - plain.errors.score(self.emphasis)
        if price <= _COST or _overflows(radius) or np.isnan(price):
            told = f"Stabilised: the spectral radius was {radius:.6f}, now {calmed.model.spectral_radius:.6f}."
            return Refitted(calmed.model, calmed.errors, calmed.refit, told)
        told = (
            f"Not stabilised: the spectral radius is {radius:.6f}, and moving it to 1 would multiply the validation "
            f"error by {np.exp(price):.2f}."
        )
        return Refitted(plain.model, plain.errors, plain.refit, told)

    def _errors(self, model: LiftedModel) -> WindowErrors:
        return window_errors(model, self.validation, self.horizons)


def _overflows(radius: float) -> bool:
    return not LONG * np.log(radius) < np.log(np.finfo(float).max) / 2


def default_refits() -> dict[str, Identifier]:
    """Return least squares one step ahead, and over the horizons."""
    return {"one step": LeastSquares(), "horizons": HorizonLeastSquares()}
