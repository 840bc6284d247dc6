"""Models judged on data that nothing was chosen on: errors at the horizons and of free runs, and warnings in words.

In a free run a model is started once and given the inputs only, over stretches of a record or over whole episodes. A
model that is good at the horizons asked for may still drift away when it is simulated. These errors show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import Facts, Shown, number
from koopsieve._display import steps as as_steps
from koopsieve._types import BoolArray, FloatArray, magnitude, or_one
from koopsieve.data import Trajectories, embedded
from koopsieve.data.episodes import usual_length
from koopsieve.data.splitting import MEMORIES
from koopsieve.evaluate.metrics import horizon_nmse
from koopsieve.regression import DesignDiagnostics, RegressionStatistics, design_diagnostics

if TYPE_CHECKING:
    from koopsieve.forms import Model

MAX_STRETCHES = 16
MIN_STRETCHES = 4  # that a record is cut into, unless they would be shorter than `MIN_STEPS`
MIN_STEPS, MAX_STEPS = 100, 1000  # of one run
LONGEST_RUN = 5_000  # … where the outputs change so slowly that a thousand steps are less than `MEMORIES`
WITHIN = 1 - 1e-6  # widths of the range: a run that is held at one width has left it, whatever rounding says
RANGE_FACTOR = 1.5  # `stays_in_range` starts and drives the model at this multiple of the deviation from the mean


def free_run(model: Model, state: FloatArray, acting: FloatArray) -> FloatArray:
    """Return the outputs of a run from one state with all delays, one row per row of inputs."""
    run: FloatArray = model.free_runs(state[None], acting[None])[0]
    return run


def simulation_errors(
    model: Model,
    trajectories: Trajectories,
    variance: FloatArray | None = None,
    least: int = MIN_STRETCHES,
    longest: int = MAX_STEPS,
) -> FloatArray:
    """Return the mean squared error of every run relative to the variance, mean over the outputs; inf if it diverges.

    Runs start at places spread evenly over all episodes, at most 16 of them, and are at most `longest` steps long, or
    more where the outputs change slowly (`MEMORIES`): shorter where there are few data, so that there are at least
    `least` of them if each can have 100 steps. `variance` (n_outputs,) is what errors are relative to where these data
    are one part of several; left out, their own.
    """
    data = embedded(trajectories, model.signals.embedding)
    outputs = len(model.output_names)
    places, steps = _stretches(data, least, longest)
    states, acting = _of_stretches(data, places, steps)
    true = np.stack([data.states[e][k + 1 : k + steps + 1, :outputs] for e, k in places])
    seen = np.concatenate([x[:, :outputs] for x in data.states])
    unit = magnitude(seen)
    relative = np.var(seen / unit, axis=0) if variance is None else variance / unit / unit
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (model.free_runs(states, acting) / unit - true / unit) ** 2 / or_one(relative)
        errors: FloatArray = gap.mean(axis=(1, 2))
    return np.where(np.isfinite(errors), errors, np.inf)


def stays_in_range(model: Model, trajectories: Trajectories, factor: float = RANGE_FACTOR) -> bool:
    """Return whether free runs stay bounded with start and inputs at 1.5 times their deviation from the mean.

    Runs are as long as the episodes, at most 1000 steps. Bounded means: no output leaves the range of the data by more
    than the width of that range (D79). A model that fails here is not to be trusted with inputs a little larger than
    those it was learned from. Without inputs the answer is yes. A model that fails with `factor` 1 cannot be simulated.
    """
    data = embedded(trajectories, model.signals.embedding)
    if not data.n_inputs and factor != 1:
        return True
    states, acting = _of_stretches(data, *_stretches(data, least=1))
    seen = np.concatenate([x[:, : len(model.output_names)] for x in data.states])
    with np.errstate(over="ignore", invalid="ignore"):
        for values, every in ((states, data.states), (acting, data.inputs)):
            values += (factor - 1) * (values - np.concatenate(every).mean(axis=0))
        return bool(runs_in_range(model.free_runs(states, acting), seen).all())


def runs_in_range(runs: FloatArray, seen: FloatArray) -> BoolArray:
    """Tell which runs (runs, steps, q) stay within the range of outputs (samples, q), widened by its width (D79)."""
    low, high = seen.min(axis=0), seen.max(axis=0)
    beyond = WITHIN * (high - low)
    inside: BoolArray = ((runs > low - beyond) & (runs < high + beyond)).all(axis=(1, 2))
    return inside


def longest_run(data: Trajectories) -> int:
    """Return how many steps a run has at most: a thousand, or more where the outputs change slowly."""
    return max(MAX_STEPS, min(MEMORIES * data.memory, LONGEST_RUN))


def _stretches(
    data: Trajectories, least: int = MIN_STRETCHES, longest: int = MAX_STEPS
) -> tuple[list[tuple[int, int]], int]:
    """Return (episode, sample) where runs start, spread evenly over all episodes, and their number of steps."""
    lengths = [len(u) for u in data.inputs]
    steps = max(1, min(max(longest, longest_run(data)), usual_length(lengths), max(sum(lengths) // least, MIN_STEPS)))
    places = [(e, k) for e, u in enumerate(data.inputs) for k in range(0, len(u) - steps + 1, steps)]
    chosen = np.unique(np.linspace(0, len(places) - 1, MAX_STRETCHES).round().astype(int))
    return [places[i] for i in chosen], steps


def _of_stretches(data: Trajectories, places: list[tuple[int, int]], steps: int) -> tuple[FloatArray, FloatArray]:
    """Return the states at the starts, and the inputs during the runs."""
    states = np.stack([data.states[e][k] for e, k in places])
    return states, np.stack([data.inputs[e][k : k + steps] for e, k in places])


def simulation_rmse(model: Model, data: Trajectories, truth: Trajectories | None = None) -> dict[str, float]:
    """Return the root mean square error of free runs over every episode, per output.

    A run starts from the first state with all its delays, and is given the measured inputs and nothing else.
    """
    embedding = model.signals.embedding
    measured = embedded(data, embedding)
    reference = measured if truth is None else embedded(truth, embedding)
    total, count = np.zeros(len(model.output_names)), 0
    for x, u, true in zip(measured.states, measured.inputs, reference.states, strict=True):
        run = free_run(model, x[0], u)
        with np.errstate(over="ignore", invalid="ignore"):
            total += np.sum((run - true[1:, : len(total)]) ** 2, axis=0)
        count += len(run)
    rmse = np.sqrt(np.where(np.isnan(total), np.inf, total) / max(count, 1))
    return dict(zip(model.output_names, map(float, rmse), strict=True))


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
        return _mean_over(self.nmse)

    @property
    def facts(self) -> Facts:
        """The errors as short texts."""
        run = ", ".join(f"{name} {number(rmse)}" for name, rmse in self.simulation_rmse.items())
        return {"NMSE": ", ".join(map(number, self.mean)), "simulation RMSE": run}

    def _facts(self) -> Facts:
        return self.facts


def _mean_over(errors: Mapping[str, FloatArray]) -> FloatArray:
    with np.errstate(over="ignore"):  # errors of a model that diverges add up to infinity
        mean: FloatArray = np.mean(list(errors.values()), axis=0)
    return mean


def judge(model: Model, data: Trajectories, horizons: Sequence[int], truth: Trajectories | None = None) -> Errors:
    """Return a model's errors on data, against `truth` where that is known."""
    return Errors(horizon_nmse(model, data, horizons, truth=truth), simulation_rmse(model, data, truth))


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Conditioning, stability and error against horizon of one model."""

    design: DesignDiagnostics  # numerical rank and condition number of the scaled design the model was identified from
    condition_number: float  # κ(Aᵀ)
    spectral_radius: float  # largest modulus of an eigenvalue of A; above one predictions grow without bound
    horizons: tuple[int, ...]  # numbers of steps at which errors are known
    error: Mapping[str, FloatArray]  # from state name to array: NMSE per horizon

    @property
    def mean_error(self) -> FloatArray:
        """NMSE per horizon, averaged over the states."""
        return _mean_over(self.error)

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
                f"(by {number(float(factor))} over {steps} steps). Reduce the dictionary, or stabilise the "
                "model; of a plant that is itself unstable, they do so rightly."
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
