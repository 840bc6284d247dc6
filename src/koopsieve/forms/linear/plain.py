"""The plain linear model: past outputs, past inputs and a constant, nothing lifted.

It is what every other model must beat. Two fits are compared: least squares one step ahead (ARX), and the error of
simulated windows (output error), which noise in the outputs does not bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import BoolArray
from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Constant, Dictionary, Inputs, States
from koopsieve.forms.form import Candidates, Form, Outcome
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.path import PathPoint
from koopsieve.forms.reprojected.form import Learning
from koopsieve.forms.task import Task, learning_statistics, window_length, with_validation
from koopsieve.identify import Estimate, LeastSquares
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.regression.statistics import SomeTargets
from koopsieve.sieve.simulation import SimulationSieve
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt

ONE_STEP, OUTPUT_ERROR = "least squares", "output error"
MIN_STEPS, MAX_STEPS = 100, 300  # of the windows that are simulated, where the record is so long
MAX_FIT_ROWS = 12_000  # windows times steps times outputs
MAX_COEFFICIENTS = 400  # of the output-error fit: its windows tell too little of more, and it would take long
OPTIMISER = LevenbergMarquardt(iterations=8, tolerance=1e-3)  # of the output-error fit


@dataclass(frozen=True, eq=False)
class PlainLinearForm(Form):
    """Linear models of the state and a constant."""

    model: ClassVar[type[LinearModel]] = LinearModel
    linear_in_delays: ClassVar[bool] = True
    plain: ClassVar[bool] = True

    @property
    def fits_per_set(self) -> int:
        """Least squares and output error."""
        return 2

    def candidates(self, task: Task) -> PlainLinearCandidates:
        """Fit the one set in two ways, and judge both on the validation windows."""
        phi = (States() + Constant()).fit(task.learn)
        learned = learning_statistics(task, phi, ())
        found = PlainLinearCandidates(self, task, phi, (), learned)
        simulated = int(acting(phi).sum()) * len(phi.outputs) <= MAX_COEFFICIENTS
        fits = (ONE_STEP, OUTPUT_ERROR) if simulated else (ONE_STEP,)
        return replace(found, points=tuple(found.point(fit) for fit in fits))


@dataclass(frozen=True, eq=False)
class PlainLinearCandidates(Candidates):
    """The plain linear model in its two fits."""

    form: PlainLinearForm
    learned: RegressionStatistics  # of the learning part

    def point(self, fit: str) -> PathPoint:
        """Fit to the learning part in one of the two ways, and judge it."""
        task, phi = self.task, self.dictionary
        model = self._fitted(fit, self.learned, (task.learn,))
        errors, runs = task.judged(model)
        return PathPoint(np.arange(phi.size), phi.names, np.nan, errors, runs, model, fit)

    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[LinearModel, ...]:
        """Fit to other data in the same ways, output error from the coefficients that are known."""
        statistics = compress(data, self.dictionary, executor=self.task.executor)
        points = [(self.points[i].refit, self.points[i].model) for i in chosen]
        starts = [model if isinstance(model, LinearModel) else None for _, model in points]
        return tuple(
            self._fitted(fit, statistics, (data,), start) for (fit, _), start in zip(points, starts, strict=True)
        )

    def relearn(self, chosen: int) -> Outcome:
        """Fit to learning and validation data together in the same way."""
        task, phi = self.task, self.dictionary
        both = with_validation(self.learned, task, phi, ())
        return Outcome(
            path=self.path(chosen),
            model=self._fitted(self.points[chosen].refit, both, task.parts),
            everything=(arx_model(self.learned, phi), arx_model(both, phi)),
            dictionary=phi,
            statistics=both,
            kept=both,
            always_kept=phi.input_term_names,
        )

    def _fitted(
        self,
        fit: str,
        statistics: RegressionStatistics,
        parts: tuple[Trajectories | Stream, ...],
        start: LinearModel | None = None,
    ) -> LinearModel:
        if fit == ONE_STEP:
            return arx_model(statistics, self.dictionary)
        return output_error(self.task, parts, statistics, self.dictionary, start)


def output_error(
    task: Task,
    parts: tuple[Trajectories | Stream, ...],
    statistics: RegressionStatistics,
    phi: Dictionary,
    start: LinearModel | None = None,
) -> LinearModel:
    """Return the linear model whose simulated windows are nearest to the data.

    The fit begins at another model of the same terms, or else at least squares one step ahead.
    """
    every = (States() + Constant() + Inputs()).fit(task.learn) if phi.signals.inputs else phi
    length = min(_window_length(task, (task.learn,)), _window_length(task, parts))
    sieve = SimulationSieve(length=length, rows=MAX_FIT_ROWS)
    learned = Learning.of(replace(task, dictionary=every), parts, sieve)
    free = np.repeat(acting(every)[:, None], len(phi.outputs), axis=1)
    if start is None:
        coef = learned.problem.grown(free, OPTIMISER).coef
    else:
        known = [start.step_terms.index(name) for name in every.regressors]
        theta = start.step_coef[np.ix_(known, start.dictionary.outputs)][free]
        coef = learned.problem.fitted(free, theta, OPTIMISER).coef
    estimate = LeastSquares().identify(statistics)
    places = [every.regressors.index(name) for name in estimate.regressors]
    full = estimate.coef.copy()
    full[:, list(phi.outputs)] = coef[places]
    return LinearModel.from_estimate(Estimate.of(statistics, full), phi)


def _window_length(task: Task, parts: tuple[Trajectories | Stream, ...]) -> int:
    """Return how many steps are simulated: some hundreds, but less than a third of the longest episode."""
    usual = max(MAX_STEPS, window_length(task))
    lengths = [len(u) for part in parts if isinstance(part, Trajectories) for u in part.inputs]
    if not lengths:
        return window_length(task)
    return max(min(usual, max(lengths) // 3), min(MIN_STEPS, max(lengths) // 2), 1)


def arx_model(statistics: RegressionStatistics, phi: Dictionary) -> LinearModel:
    """Return the linear model by least squares one step ahead; inputs within the dead time act on no output."""
    estimate, acts = LeastSquares().identify(statistics), acting(phi)
    if acts.all():
        return LinearModel.from_estimate(estimate, phi)
    coef, outputs, kept = estimate.coef.copy(), np.array(phi.outputs), np.flatnonzero(acts)
    names = tuple(phi.regressors[i] for i in kept)
    fewer = SomeTargets(statistics.factor.select(kept, outputs), phi.signals.outputs, every=names)
    coef[:, outputs] = 0.0
    coef[np.ix_(kept, outputs)] = LeastSquares().identify(fewer).coef
    return LinearModel.from_estimate(Estimate.of(statistics, coef), phi)


def acting(phi: Dictionary) -> BoolArray:
    """Tell which regressors of a plain linear model, states, a constant and inputs, act: those beyond a dead time."""
    signals = phi.signals
    names = (*signals.state_names, *signals.acting)
    late = {name for name, depth in zip(names, signals.depths.tolist(), strict=True) if depth < 0}
    return np.array([name not in late for name in phi.regressors])
