"""Models judged on data that nothing was chosen on: errors at the horizons and of free runs, and warnings in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown, number
from koopsieve._display import steps as as_steps
from koopsieve._types import FloatArray
from koopsieve.data import Trajectories
from koopsieve.evaluate.free_runs import simulation_rmse
from koopsieve.evaluate.metrics import horizon_nmse
from koopsieve.regression import DesignDiagnostics, RegressionStatistics, design_diagnostics

if TYPE_CHECKING:
    from koopsieve.forms import Model

MAX_RADIUS_EXCESS = 1e-4  # a spectral radius this little above one is an integrator seen through noise, not growth


@dataclass(frozen=True, eq=False, repr=False)
class Errors(Shown):
    """Errors of one model on data.

    Parameters
    ----------
    nmse : mapping from output to array
        Per horizon.
    simulation_rmse : mapping from output to float
        Of free runs over every episode, in the output's own units; inf if they diverge.
    """

    nmse: Mapping[str, FloatArray]
    simulation_rmse: Mapping[str, float]

    @property
    def mean(self) -> FloatArray:
        """NMSE per horizon, averaged over the outputs."""
        with np.errstate(over="ignore"):  # errors of a model that diverges add up to infinity
            mean: FloatArray = np.mean(list(self.nmse.values()), axis=0)
        return mean

    @property
    def facts(self) -> Facts:
        """The errors as short texts."""
        run = ", ".join(f"{name} {number(rmse)}" for name, rmse in self.simulation_rmse.items())
        return {"NMSE": ", ".join(map(number, self.mean)), "simulation RMSE": run}

    def _facts(self) -> Facts:
        return self.facts


def judge(model: Model, data: Trajectories, horizons: Sequence[int], truth: Trajectories | None = None) -> Errors:
    """Return a model's errors on data, against `truth` where that is known."""
    return Errors(horizon_nmse(model, data, horizons, truth=truth), simulation_rmse(model, data, truth))


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Conditioning, stability and error against horizon of one model.

    Parameters
    ----------
    design : DesignDiagnostics
        Numerical rank and condition number of the scaled design the model was identified from.
    condition_number : float
        κ(Aᵀ).
    spectral_radius : float
        Largest modulus of an eigenvalue of A; above one predictions grow without bound.
    horizons : tuple of int
        Numbers of steps at which errors are known.
    error : mapping from state name to array
        NMSE per horizon.
    """

    design: DesignDiagnostics
    condition_number: float
    spectral_radius: float
    horizons: tuple[int, ...]
    error: Mapping[str, FloatArray]

    @property
    def mean_error(self) -> FloatArray:
        """NMSE per horizon, averaged over the states."""
        with np.errstate(over="ignore"):  # errors of a model that diverges add up to infinity
            mean: FloatArray = np.mean(list(self.error.values()), axis=0)
        return mean

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings; empty if there is none."""
        return tuple(self._growth()) + tuple(self._two_stories())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Rank, conditioning and stability as sentences, followed by the warnings."""
        return tuple(self._design()) + self.warnings

    def _design(self) -> Iterator[str]:
        rank, columns, kappa = self.design.rank, self.design.columns, self.design.condition_number
        yield f"The scaled design has numerical rank {rank} of {columns} and condition number {number(kappa)}."
        if np.isfinite(self.spectral_radius):
            of_a = number(self.condition_number)
            yield f"A has condition number {of_a} and spectral radius {self.spectral_radius:.6f}."
        if rank < columns:
            yield (
                f"The data cannot tell {columns - rank} of the {columns} regressors from combinations of the others; "
                "their coefficients are one choice of many. Reduce the dictionary."
            )

    def _growth(self) -> Iterator[str]:
        if self.spectral_radius > 1 + MAX_RADIUS_EXCESS:
            steps = max(self.horizons, default=100)
            with np.errstate(over="ignore"):
                factor = np.float64(self.spectral_radius) ** steps
            yield (
                f"The spectral radius is {self.spectral_radius:.6f}, so linear predictions grow without bound "
                f"(by {number(float(factor))} over {steps} steps). Reduce the dictionary, or stabilise the model."
            )

    def _two_stories(self) -> Iterator[str]:
        if len(self.horizons) < 2:
            return
        first, last = int(np.argmin(self.horizons)), int(np.argmax(self.horizons))
        errors = self.mean_error
        if errors[first] < 0.1 and not errors[last] < 1:
            yield (
                f"Short and long predictions differ: NMSE {number(errors[first])} at {as_steps(self.horizons[first])}, "
                f"but {number(errors[last])} at {self.horizons[last]}, where predicting the mean would give 1. Judge "
                "the model at the horizon you need."
            )


def diagnose(
    model: Model,
    statistics: RegressionStatistics,
    horizons: tuple[int, ...],
    error: Mapping[str, FloatArray],
) -> Diagnostics:
    """Return the diagnostics of `model`, identified from `statistics`, with its NMSE per state and horizon.

    Condition number and spectral radius are nan for a form that has no matrix A of its own.
    """
    design = design_diagnostics(statistics)
    return Diagnostics(design, model.condition_number, model.spectral_radius, tuple(horizons), error)
