"""The bilinear form: sets of observables from the sieve, each fitted with the products of inputs and observables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import IndexArray, KoopsieveError
from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.delay_line import shifts, with_delay_line
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.execution import one_blas_thread
from koopsieve.identify import Estimate, Identifier, LeastSquares, SpikeSlab
from koopsieve.model import BilinearModel
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.choice import as_good_at_each
from koopsieve.sieve.forms.search import Episodes, FormSearch, Outcome, Task, compressed, filled, window_length
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.path import PathPoint, SievePath, chosen_point
from koopsieve.sieve.protocol import Candidate, Sieve
from koopsieve.sieve.simulation import LiftedWindows, MultiStepBilinear, draw_windows

MAX_REGRESSORS = 800  # observables, inputs and their products; sets that need more are not tried
MAX_REFINED = 40  # observables of a set that is fitted over many steps; larger ones take too long
WINDOW_ROWS = 10_000  # windows times steps times outputs of that fit
EMPHASIS = 0.5  # how much more long horizons count when the two fits are compared
OVER_WINDOWS = "simulated windows"


@dataclass(frozen=True, eq=False)
class BilinearSearch(FormSearch):
    """Search a bilinear model on the observables of a dictionary.

    The sieve sees the linear evidence: which observables the outputs depend on is asked with the inputs entering
    linearly. Whether the products pay is decided on the validation windows.

    Parameters
    ----------
    sieve : Sieve
        Gives the family of sets; by default `HorizonSieve()`.
    refit : Identifier
        Fits each set; by default least squares one step ahead.
    over_windows : MultiStepBilinear
        Fits the chosen set over many steps, from there; kept if it predicts better on the validation windows,
        and at no horizon worse.
    explain : Identifier
        Says what drives what among the kept observables and their products with the inputs.
    """

    form: ClassVar[str] = "bilinear"

    sieve: Sieve = field(default_factory=HorizonSieve)
    refit: Identifier = field(default_factory=LeastSquares)
    over_windows: MultiStepBilinear = field(default_factory=MultiStepBilinear)
    explain: Identifier = field(default_factory=SpikeSlab)

    def search(self, task: Task) -> Outcome:
        """Sieve on the linear statistics, refit every set with products, choose on validation windows, relearn."""
        if not task.dictionary.signals.inputs:
            raise KoopsieveError('form="bilinear" needs data with inputs, and these have none. Use form="linear".')
        phi = task.dictionary.linear()
        linear, _ = compressed(task, phi, filled(task.horizons))
        with one_blas_thread():
            candidates = self._affordable(self.sieve.path(linear, task.steps, task.progress), phi)
        union = np.unique(np.concatenate([candidate.retained for candidate in candidates]))
        wide = phi.select(union).bilinear()
        learned, both = compressed(task, wide, ())
        with one_blas_thread():
            points = tuple(
                self._point(candidate, learned, phi, wide, union, task)
                for candidate in task.progress(candidates, "Refitting", len(candidates))
            )
            chosen = chosen_point(points, task.max_terms)
            kept = points[chosen].retained
            small = bilinear_subset(both, np.searchsorted(union, kept), wide)
            before = bilinear_subset(learned, np.searchsorted(union, kept), wide)
            refined = self._refined(points[chosen], before, phi.select(kept), task)
            points = (*points[:chosen], refined, *points[chosen + 1 :])
            model = BilinearModel.from_estimate(self.refit.identify(small), phi.select(kept))
            if refined.refit == OVER_WINDOWS:
                parts = (task.learn,) if task.validation is task.learn else (task.learn, task.validation)
                model = self._over_windows(small, phi.select(kept), parts, task)
            everything = tuple(
                BilinearModel.from_estimate(self.refit.identify(one), phi.select(union)) for one in (learned, both)
            )
        return Outcome(
            path=SievePath(self.form, points, task.horizons, chosen, phi.size),
            model=model,
            everything=(everything[0], everything[1]),
            dictionary=phi,
            statistics=both,
            kept=small,
            explain=self.explain,
        )

    def _refined(self, point: PathPoint, statistics: RegressionStatistics, small: Dictionary, task: Task) -> PathPoint:
        """Return the point fitted over many steps if that predicts better, at no horizon worse; else as it is."""
        if small.size > MAX_REFINED or with_delay_line(small) is not small:
            return point
        model = self._over_windows(statistics, small, (task.learn,), task)
        errors, runs = window_errors(model, task.windows, task.horizons), simulation_errors(model, task.windows)
        if not errors.score(EMPHASIS) < point.errors.score(EMPHASIS):
            return point
        if not as_good_at_each(errors.blocks, point.errors.blocks):  # feedback needs the next step, too
            return point
        stays = task.stays_in_range(model)
        if point.in_range and not stays:
            return point
        return replace(point, model=model, errors=errors, runs=runs, refit=OVER_WINDOWS, in_range=stays)

    def _over_windows(
        self, statistics: RegressionStatistics, small: Dictionary, parts: tuple[Trajectories | Stream, ...], task: Task
    ) -> BilinearModel:
        """Fit a set over windows about as long as the longest horizon."""
        n, length = len(small.signals.outputs), window_length(task)
        count = max(1, WINDOW_ROWS // (length * n))
        windows = draw_windows(Episodes(parts), n, length, count, np.random.default_rng(task.seed))
        varying = np.asarray(small.varying)
        lifted = LiftedWindows(small(windows.starts), windows.inputs, windows.outputs, varying)
        fit = self.over_windows.fit(statistics.factor, lifted, np.array(small.outputs), ~shifts(small).free)
        return BilinearModel.from_estimate(Estimate.of(statistics, fit.K), small)

    def _affordable(self, candidates: Sequence[Candidate], phi: Dictionary) -> tuple[Candidate, ...]:
        each = 1 + len(phi.signals.inputs)
        affordable = tuple(one for one in candidates if each * len(one.retained) <= MAX_REGRESSORS)
        if not affordable:
            raise KoopsieveError(
                f"With {len(phi.signals.inputs)} inputs even the smallest set needs over {MAX_REGRESSORS} regressors "
                'in the bilinear form. Use form="linear".'
            )
        return affordable

    def _point(
        self,
        candidate: Candidate,
        statistics: RegressionStatistics,
        phi: Dictionary,
        wide: Dictionary,
        union: IndexArray,
        task: Task,
    ) -> PathPoint:
        kept = np.asarray(candidate.retained)
        small = bilinear_subset(statistics, np.searchsorted(union, kept), wide)
        model = BilinearModel.from_estimate(self.refit.identify(small), phi.select(kept))
        errors = window_errors(model, task.windows, task.horizons)
        names = tuple(phi.names[i] for i in kept)
        runs = simulation_errors(model, task.windows)
        stays = task.stays_in_range(model)
        return PathPoint(kept, names, candidate.elbo, errors, runs, model, "least squares", in_range=stays)


def bilinear_subset(statistics: RegressionStatistics, kept: IndexArray, wide: Dictionary) -> RegressionStatistics:
    """Return the statistics of the bilinear dictionary `wide` cut to some observables and their products."""
    inputs, varying = len(wide.signals.inputs), np.asarray(wide.varying)
    among = np.flatnonzero(np.isin(varying, kept))
    products = inputs + (np.arange(inputs)[:, None] * len(varying) + among).ravel()
    return statistics.select(kept, np.concatenate([np.arange(inputs), products]))
