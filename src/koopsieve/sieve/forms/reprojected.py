"""The reprojected form: observables and drives sifted by simulation, fitted over many steps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Stream, Trajectories
from koopsieve.data.holding_out import sample
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.identify import Identifier, SpikeSlab
from koopsieve.model import ReprojectedModel
from koopsieve.regression import TriangularFactor
from koopsieve.regression.statistics import SomeTargets
from koopsieve.sieve.forms.search import Episodes, FormSearch, Outcome, Task, window_length
from koopsieve.sieve.path import PathPoint, SievePath, chosen_point
from koopsieve.sieve.simulation import (
    FitStatus,
    Point,
    Reprojected,
    SimulationProblem,
    SimulationSieve,
    box_around,
)
from koopsieve.sieve.simulation.one_step import one_step_theta

MAX_SAMPLED_ROWS = 200_000  # of a stream, to see between which values its signals lie
REFIT = "simulated windows"


@dataclass(frozen=True, eq=False)
class ReprojectedSearch(FormSearch):
    """Search a reprojected model: which observables and drives the outputs need when they are simulated.

    Parameters
    ----------
    sieve : SimulationSieve
        Its windows are made about as long as the longest horizon.
    explain : Identifier
        Says, one step ahead, how probable each kept term is.
    """

    form: ClassVar[str] = "reprojected"

    sieve: SimulationSieve = field(default_factory=SimulationSieve)
    explain: Identifier = field(default_factory=SpikeSlab)

    def search(self, task: Task) -> Outcome:
        """Sift by simulation, choose on validation windows and free runs, fit once more to all data."""
        phi, sieve = task.dictionary, self._sieve(task)
        learned = Learning.of(task, (task.learn,), sieve)
        both = learned if task.validation is task.learn else Learning.of(task, (task.learn, task.validation), sieve)
        found = _largest_last(sieve.path(learned.problem, task.progress).points)
        points = tuple(_path_point(point, learned, task) for point in task.progress(found, "Judging", len(found)))
        chosen = chosen_point(points, task.max_terms)
        final = sieve.refit(both.problem, found[chosen])
        kept, outputs = points[chosen].retained, np.arange(len(phi.signals.outputs))
        small = _statistics(both.problem.one_step.select(kept, outputs), selected(phi, kept))
        return Outcome(
            path=SievePath(self.form, points, task.horizons, chosen, len(phi.regressors)),
            model=both.model(final),
            everything=(learned.everything(), both.everything()),
            dictionary=phi,
            statistics=_statistics(both.problem.one_step, phi),
            kept=small,
            explain=self.explain,
            status="" if final.status is FitStatus.SETTLED else final.status.value,
        )

    def look(self, task: Task) -> PathPoint:
        """Return the best of a few sets that one-step selection nests: a fast look at a dictionary."""
        sieve = self._sieve(task)
        learned = Learning.of(task, (task.learn,), sieve)
        points = tuple(
            _path_point(point, learned, task) for point in _largest_last(sieve.rough_path(learned.problem).points)
        )
        return points[chosen_point(points)]

    def _sieve(self, task: Task) -> SimulationSieve:
        """Return the sieve with windows that suit the horizons, and no sets that are larger than asked for."""
        most = self.sieve.largest
        if task.max_terms is not None:
            most = min(most, task.max_terms * len(task.dictionary.signals.outputs))
        return replace(self.sieve, length=window_length(task), largest=most)


@dataclass(frozen=True, eq=False)
class Learning:
    """What is learned from: windows and the one-step regression, and between which values the signals lie.

    Parameters
    ----------
    problem : SimulationProblem
    dictionary : Dictionary
    region : array, shape (2, n + l)
        Least and largest value of every state and input.
    """

    problem: SimulationProblem
    dictionary: Dictionary
    region: FloatArray

    @classmethod
    def of(cls, task: Task, parts: tuple[Trajectories | Stream, ...], sieve: SimulationSieve) -> Learning:
        """Read the parts of the data."""
        phi, signals = task.dictionary, task.dictionary.signals
        seen = [sample(part, MAX_SAMPLED_ROWS, sieve.length, task.seed) for part in parts]
        points = np.concatenate([block for part in seen for block in part.acted_blocks()])
        n = len(signals.outputs)
        model = Reprojected(DictionaryRegressors(phi), n, signals.embedding, box_around(points[:, :n]))
        problem = sieve.problem(model, Episodes(parts), np.random.default_rng(task.seed))
        return cls(problem, phi, np.stack([points.min(axis=0), points.max(axis=0)]))

    def model(self, point: Point) -> ReprojectedModel:
        """Return the model of a point."""
        return self._model(point.coef, point.retained)

    def everything(self) -> ReprojectedModel:
        """Return the model with all terms, by least squares one step ahead."""
        free = np.ones(self.problem.one_step.S.shape, dtype=bool)
        coef = one_step_theta(self.problem.one_step, free).reshape(free.shape)
        return self._model(coef, np.arange(len(coef)))

    def _model(self, coef: FloatArray, kept: IndexArray) -> ReprojectedModel:
        box = self.problem.model.box
        return ReprojectedModel(coef[kept], selected(self.dictionary, kept), self.region, np.stack([box.low, box.high]))


@dataclass(frozen=True, eq=False)
class DictionaryRegressors:
    """Observables and drives of a dictionary as the simulation wants them."""

    dictionary: Dictionary

    @property
    def size(self) -> int:
        """Number of observables and drives."""
        return len(self.dictionary.regressors)

    def evaluate(self, z: FloatArray) -> FloatArray:
        """Return their values at points (x, u)."""
        return self.dictionary.evaluate(z)

    def slope_of_sums(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the derivatives of weighted sums of them."""
        return self.dictionary.slope_of_sums(z, weights)

    def select(self, indices: IndexArray) -> DictionaryRegressors:
        """Return some of them."""
        return DictionaryRegressors(selected(self.dictionary, indices))


def selected(phi: Dictionary, regressors: IndexArray) -> Dictionary:
    """Return the dictionary cut to some of its observables and drives, counted on after one another."""
    return phi.select(regressors[regressors < phi.size], regressors[regressors >= phi.size] - phi.size)


def _largest_last(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the points by their number of regressors; of those with the same the one that fits best."""
    best: dict[int, Point] = {}
    for point in points:
        size = len(point.retained)
        if size not in best or point.loss < best[size].loss:
            best[size] = point
    return tuple(best[size] for size in sorted(best) if size)


def _path_point(point: Point, learned: Learning, task: Task) -> PathPoint:
    model = learned.model(point)
    errors, runs = window_errors(model, task.windows, task.horizons), simulation_errors(model, task.windows)
    names = tuple(learned.dictionary.regressors[i] for i in point.retained)
    stays = task.stays_in_range(model)
    return PathPoint(point.retained, names, np.nan, errors, runs, model, REFIT, point.status.value, stays)


def _statistics(one_step: TriangularFactor, phi: Dictionary) -> SomeTargets:
    """Return the one-step regression of the outputs on observables and drives."""
    outputs = tuple(range(len(phi.signals.outputs)))
    return SomeTargets(one_step, phi.signals.outputs, phi.drive_names, None, outputs, phi.signals, every=phi.regressors)
