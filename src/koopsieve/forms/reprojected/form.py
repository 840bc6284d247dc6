"""The reprojected form: observables and input terms sifted by simulation, fitted over many steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Stream, Trajectories
from koopsieve.data.splitting import sample
from koopsieve.dictionary import Dictionary
from koopsieve.forms.form import Candidates, Form, Outcome
from koopsieve.forms.path import OVER_WINDOWS, PathPoint
from koopsieve.forms.reprojected.model import ReprojectedModel
from koopsieve.forms.reprojected.structure import (
    DictionaryRegressors,
    ReprojectedStructure,
    bounds_around,
    one_step_factor,
    selected,
)
from koopsieve.forms.task import Episodes, Task, window_length
from koopsieve.regression import TriangularFactor
from koopsieve.regression.statistics import SomeTargets
from koopsieve.sieve.simulation import FitStatus, FittedSet, SimulationProblem, SimulationSieve
from koopsieve.sieve.simulation.simulation_problem import one_step_theta

MAX_SAMPLED_ROWS = 200_000  # of a stream, to see between which values its signals lie
FINAL_ROWS = 30_000  # windows times steps times outputs that the chosen set is fitted to; a search has fewer


@dataclass(frozen=True, eq=False)
class ReprojectedForm(Form):
    """Reprojected models: which observables and input terms the outputs need when they are simulated."""

    model: ClassVar[type[ReprojectedModel]] = ReprojectedModel
    sifts: ClassVar[type[SimulationProblem]] = SimulationProblem
    uses_input_terms: ClassVar[bool] = True

    # its windows are made about as long as the longest horizon
    sieve: SimulationSieve = field(default_factory=SimulationSieve)

    def candidates(self, task: Task) -> ReprojectedCandidates:
        """Sift by simulation, and judge every set on validation windows and free runs."""
        sieve = self._sieve(task)
        learned = Learning.of(task, (task.learn,), sieve)
        judged = cache(lambda one: _path_point(one, learned, task))

        def hopeless(sets: Sequence[FittedSet], larger: Sequence[FittedSet]) -> bool:
            points = [judged(one) for one in sets]
            most = np.inf if task.max_terms is None else task.max_terms
            others = [point for point in map(judged, larger) if point.size <= most]
            return task.worse(points, others) if larger else task.beaten(points)

        found = _largest_last(sieve.path(learned.problem, task.path_length, task.progress, hopeless))
        points = tuple(judged(one) for one in task.progress(found, "Judging", len(found)))
        return ReprojectedCandidates(self, task, task.dictionary, points, found, learned, sieve)

    def rough_candidates(self, task: Task) -> tuple[PathPoint, ...]:
        """Return a few sets that one-step selection nests, fitted and judged: fast, to compare dictionaries."""
        sieve = self._sieve(task)
        learned = Learning.of(task, (task.learn,), sieve)
        found = _largest_last(sieve.rough_path(learned.problem))
        return tuple(_path_point(one, learned, task) for one in found)

    def _sieve(self, task: Task) -> SimulationSieve:
        """Return the sieve with windows as asked for, or as suit the horizons, and no larger sets than asked for."""
        length, most = self.sieve.length, self.sieve.largest
        if task.max_terms is not None:
            most = min(most, task.max_terms * len(task.dictionary.signals.outputs))
        return replace(self.sieve, length=window_length(task) if length is None else length, largest=most)


@dataclass(frozen=True, eq=False)
class ReprojectedCandidates(Candidates):
    """The path of reprojected models, and what it takes to learn one of them anew."""

    form: ReprojectedForm
    found: tuple[FittedSet, ...]  # what the sieve gave, point by point
    learned: Learning  # the learning part
    sieve: SimulationSieve  # with windows that suit the horizons

    @property
    def total(self) -> int:
        """Number of observables and input terms."""
        return len(self.dictionary.regressors)

    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[ReprojectedModel, ...]:
        """Fit some sets to other data, from their coefficients; where there are many data, to half as many windows.

        These models are compared with each other, and none of them is kept. But the fits must settle: they begin with
        coefficients that have seen the fold, and what is left of those favours large sets.
        """
        sieve = replace(self.sieve, rows=max(self.sieve.rows // 2, 1))
        other = Learning.of(self.task, (data,), sieve)
        return tuple(other.model(sieve.refit(other.problem, self.found[i], rounds=1)) for i in chosen)

    def relearn(self, chosen: int) -> Outcome:
        """Fit one set once more, to learning and validation data together."""
        task, phi, learned = self.task, self.dictionary, self.learned
        sieve = replace(self.sieve, rows=max(self.sieve.rows, FINAL_ROWS))
        both = Learning.of(task, task.parts, sieve)
        final = sieve.refit(both.problem, self.found[chosen])
        kept, outputs = self.points[chosen].retained, np.arange(len(phi.signals.outputs))
        return Outcome(
            path=self.path(chosen),
            model=both.model(final),
            everything=(learned.everything(), both.everything()),
            dictionary=phi,
            statistics=_statistics(both.problem.one_step, phi, both.region),
            kept=_statistics(both.problem.one_step.select(kept, outputs), selected(phi, kept), both.region),
            status="" if final.status is FitStatus.SETTLED else final.status.value,
        )


@dataclass(frozen=True, eq=False)
class Learning:
    """What is learned from: windows and the one-step regression, and between which values the signals lie."""

    problem: SimulationProblem
    dictionary: Dictionary
    region: FloatArray  # (2, n + l): least and largest value of every state and input
    limits: FloatArray  # (2, n_outputs): where outputs are held

    @classmethod
    def of(cls, task: Task, parts: tuple[Trajectories | Stream, ...], sieve: SimulationSieve) -> Learning:
        """Read the parts of the data."""
        phi, signals = task.dictionary, task.dictionary.signals
        seen = [sample(part, MAX_SAMPLED_ROWS, sieve.steps, task.seed) for part in parts]
        visited = np.concatenate([block for part in seen for block in part.acted_blocks()])
        n = len(signals.outputs)
        bounds = bounds_around(visited[:, :n])
        structure = ReprojectedStructure(DictionaryRegressors.of(phi), n, signals.embedding, bounds)
        one_step = one_step_factor(structure.regressors, Episodes(parts), n)
        constant = None if phi.constant is None else phi.names.index(phi.constant)
        problem = sieve.problem(structure, one_step, Episodes(parts), np.random.default_rng(task.seed), constant)
        return cls(problem, phi, np.stack([visited.min(axis=0), visited.max(axis=0)]), bounds)

    def model(self, found: FittedSet) -> ReprojectedModel:
        """Return the model of a set."""
        return self._model(found.coef, found.retained)

    def everything(self) -> ReprojectedModel:
        """Return the model with all terms, by least squares one step ahead."""
        free = np.ones(self.problem.one_step.S.shape, dtype=bool)
        coef = one_step_theta(self.problem.one_step, free, self.problem.far).reshape(free.shape)
        return self._model(coef, np.arange(len(coef)))

    def _model(self, coef: FloatArray, kept: IndexArray) -> ReprojectedModel:
        return ReprojectedModel(coef[kept], selected(self.dictionary, kept), self.region, self.limits)


def _largest_last(sets: tuple[FittedSet, ...]) -> tuple[FittedSet, ...]:
    """Return the sets by their number of terms; of those with the same the one that fits best."""
    best: dict[int, FittedSet] = {}
    for one in sets:
        size = len(one.retained)
        if size not in best or one.loss < best[size].loss:
            best[size] = one
    return tuple(best[size] for size in sorted(best) if size)


def _path_point(found: FittedSet, learned: Learning, task: Task) -> PathPoint:
    model = learned.model(found)
    errors, runs = task.judged(model)
    names = tuple(learned.dictionary.regressors[i] for i in found.retained)
    stays = task.stays_in_range(model)
    return PathPoint(found.retained, names, found.elbo, errors, runs, model, OVER_WINDOWS, found.status.value, stays)


def _statistics(one_step: TriangularFactor, phi: Dictionary, region: FloatArray) -> SomeTargets:
    """Return the one-step regression of the outputs on observables and input terms."""
    return SomeTargets(
        one_step,
        phi.signals.outputs,
        phi.input_term_names,
        outputs=tuple(range(len(phi.signals.outputs))),
        signals=phi.signals,
        region=region,
        every=phi.regressors,
    )
