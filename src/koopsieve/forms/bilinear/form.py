"""The bilinear form: sets of observables from the sieve, each fitted with the products of inputs and observables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from koopsieve._types import IndexArray, KoopsieveError
from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.term_map import shifts, with_delay_line
from koopsieve.forms.bilinear.model import BilinearModel
from koopsieve.forms.bilinear.multi_step_fit import LiftedWindows, MultiStepBilinear
from koopsieve.forms.form import Candidates, Form, Outcome, short_or_whole
from koopsieve.forms.path import OVER_WINDOWS, PathPoint
from koopsieve.forms.task import Episodes, Task, filled, learning_statistics, window_length, with_validation
from koopsieve.identify import Estimate, LeastSquares
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve.algorithm_2 import Sieve, TermSet
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.simulation import draw_windows

MAX_REGRESSORS = 800  # observables, inputs and their products; sets that need more are not tried
MAX_REFINED = 40  # observables of a set that is fitted over many steps; larger ones take too long
WINDOW_ROWS = 10_000  # windows times steps times outputs of that fit
MAX_LOSS = 1.05  # times the error at any horizon that this fit may cost


@dataclass(frozen=True, eq=False)
class BilinearForm(Form):
    """Bilinear models on the observables of a dictionary.

    The sieve sees the linear evidence: which observables the outputs depend on is asked with the inputs entering
    linearly. Whether the products pay is decided on the validation windows. Sets are fitted by least squares one step
    ahead; the chosen one over many steps too, which is kept if it predicts better on the validation windows.
    """

    model: ClassVar[type[BilinearModel]] = BilinearModel
    needs_inputs: ClassVar[bool] = True

    sieve: Sieve = field(default_factory=HorizonSieve)  # gives the family of sets; by default `HorizonSieve()`

    def candidates(self, task: Task) -> BilinearCandidates:
        """Sieve on the linear statistics, refit every set with products and judge it on the validation windows."""
        if not task.dictionary.signals.inputs:
            raise KoopsieveError('form="bilinear" needs data with inputs, and these have none. Use form="linear".')
        phi = self.observables(task.dictionary)
        linear = learning_statistics(task, phi, filled(task.horizons))

        def search(path_length: int) -> BilinearCandidates:
            sets = self._affordable(self.sieve.path(linear, path_length, task.progress), phi)
            union = np.unique(np.concatenate([one.retained for one in sets]))
            learned = learning_statistics(task, phi.select(union).bilinear(), ())
            found = BilinearCandidates(self, task, phi, (), union, learned)
            points = tuple(found.fitted(one) for one in task.progress(sets, "Refitting", len(sets)))
            return replace(found, points=points)

        return short_or_whole(task, search)

    def _affordable(self, candidates: Sequence[TermSet], phi: Dictionary) -> tuple[TermSet, ...]:
        each = 1 + len(phi.signals.inputs)
        affordable = tuple(one for one in candidates if each * len(one.retained) <= MAX_REGRESSORS)
        if not affordable:
            raise KoopsieveError(
                f"With {len(phi.signals.inputs)} inputs even the smallest set needs over {MAX_REGRESSORS} regressors "
                'in the bilinear form. Use form="linear".'
            )
        return affordable


@dataclass(frozen=True, eq=False)
class BilinearCandidates(Candidates):
    """The path of bilinear models, and what it takes to learn one of them anew."""

    form: BilinearForm
    union: IndexArray  # every observable that is in some set of the path
    learned: RegressionStatistics  # of these, the inputs and their products, on the learning part

    def fitted(self, candidate: TermSet) -> PathPoint:
        """Fit a set one step ahead, and judge it."""
        kept, task = np.asarray(candidate.retained), self.task
        model = self._one_step(self._cut(self.learned, kept), kept)
        errors, runs = task.judged(model)
        names, stays = tuple(self.dictionary.names[i] for i in kept), task.stays_in_range(model)
        return PathPoint(kept, names, candidate.elbo, errors, runs, model, "least squares", in_range=stays)

    def refined(self, chosen: int) -> BilinearCandidates:
        """Fit one set over many steps."""
        better = self._refined(self.points[chosen])
        return replace(self, points=(*self.points[:chosen], better, *self.points[chosen + 1 :]))

    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[BilinearModel, ...]:
        """Fit some sets in the same way to other data."""
        found = compress(data, self._wide, executor=self.task.executor)
        return tuple(self._again(self.points[i], found, (data,)) for i in chosen)

    def relearn(self, chosen: int) -> Outcome:
        """Fit one set in the same way to learning and validation data together."""
        task, point, union = self.task, self.points[chosen], self.union
        both = with_validation(self.learned, task, self._wide, ())
        small = self._cut(both, point.retained)
        model = self._again(point, both, task.parts)
        everything = self._one_step(self.learned, union), self._one_step(both, union)
        return Outcome(
            path=self.path(chosen),
            model=model,
            everything=everything,
            dictionary=self.dictionary,
            statistics=both,
            kept=small,
            always_kept=tuple(name for name in small.regressors if name not in point.names),
        )

    @cached_property
    def _wide(self) -> Dictionary:
        return self.dictionary.select(self.union).bilinear()

    def _cut(self, statistics: RegressionStatistics, kept: IndexArray) -> RegressionStatistics:
        return bilinear_subset(statistics, np.searchsorted(self.union, kept), self._wide)

    def _one_step(self, statistics: RegressionStatistics, kept: IndexArray) -> BilinearModel:
        return BilinearModel.from_estimate(LeastSquares().identify(statistics), self.dictionary.select(kept))

    def _again(
        self, point: PathPoint, statistics: RegressionStatistics, parts: tuple[Trajectories | Stream, ...]
    ) -> BilinearModel:
        """Fit one set in the way that it was fitted before."""
        small = self._cut(statistics, point.retained)
        if point.refit == OVER_WINDOWS:
            return self._over_windows(small, point.retained, parts)
        return self._one_step(small, point.retained)

    def _refined(self, point: PathPoint) -> PathPoint:
        task, small = self.task, self.dictionary.select(point.retained)
        if small.size > MAX_REFINED or with_delay_line(small) is not small:
            return point
        model = self._over_windows(self._cut(self.learned, point.retained), point.retained, (task.learn,))
        errors, runs = task.judged(model)
        if (errors.blocks.mean(axis=1) > MAX_LOSS * point.errors.blocks.mean(axis=1)).any():
            return point  # feedback needs the next step, too
        stays = task.stays_in_range(model)
        return replace(point, model=model, errors=errors, runs=runs, refit=OVER_WINDOWS, in_range=stays)

    def _over_windows(
        self, statistics: RegressionStatistics, kept: IndexArray, parts: tuple[Trajectories | Stream, ...]
    ) -> BilinearModel:
        """Fit a set over windows about as long as the longest horizon."""
        small = self.dictionary.select(kept)
        n, length = len(small.signals.outputs), window_length(self.task)
        count = max(1, WINDOW_ROWS // (length * n))
        windows = draw_windows(Episodes(parts), n, length, count, np.random.default_rng(self.task.seed))
        lifted = LiftedWindows(small(windows.starts), windows.inputs, windows.outputs, np.asarray(small.varying))
        exact = ~shifts(small).free
        fit = MultiStepBilinear().fit(statistics.factor, lifted, np.array(small.outputs), exact)
        return BilinearModel.from_estimate(Estimate.of(statistics, fit.K), small)


def bilinear_subset(statistics: RegressionStatistics, kept: IndexArray, wide: Dictionary) -> RegressionStatistics:
    """Return the statistics of the bilinear dictionary `wide` cut to some observables and their products."""
    inputs, varying = len(wide.signals.inputs), np.asarray(wide.varying)
    among = np.flatnonzero(np.isin(varying, kept))
    products = inputs + (np.arange(inputs)[:, None] * len(varying) + among).ravel()
    return statistics.select(kept, np.concatenate([np.arange(inputs), products]))
