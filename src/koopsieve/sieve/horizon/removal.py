"""What the horizon sieve loses when observables are taken out, one by one, the weights of the others solved anew.

Taking out i is one Schur complement per target: Σ − Σ_·i Σ_i·/Σ_ii, μ − Σ_·i μ_i/Σ_ii (D38). In a run of removals
only the columns of those that leave are needed on the way, so the matrix itself is updated once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify import stacks
from koopsieve.identify.spike_slab.equations import slab_gain
from koopsieve.identify.spike_slab.sets import noise_gain, removal_growth
from koopsieve.sieve.horizon.posterior import HorizonPosterior, TargetRegressions

ALIKE = 1e-2  # gains of the evidence that differ by less are equal: the first is taken, rounding does not choose
MIN_ERROR_AFTER_REMOVALS = 1e-3  # of the squared error: rounding must not take more than this from it


def removal_gains(posterior: HorizonPosterior) -> FloatArray:
    """Return, per observable that is in, how much the evidence rises (mostly: falls) when it is taken out.

    Solving the others anew, the penalised squared error without the term of i itself grows by
    (μ_i²/Σ_ii + α̂_i(μ_i² + Σ_ii) − 1)/ρ̂, and log|Σ| falls by log Σ_ii: (D37).
    """
    every = np.ones(len(posterior.kept), dtype=bool)
    return _Marginals.of(posterior).gains(every)


def without(posterior: HorizonPosterior, position: int) -> HorizonPosterior:
    """Return the posterior after one observable is taken out, α and ρ as they were; its evidence is not known (nan)."""
    column = posterior.column(position)
    stay = np.arange(len(posterior.kept)) != position
    marginals = _Marginals.of(posterior).without(position, column)
    return marginals.posterior(posterior, stay, _over_root(column, position)[:, :, None])


def without_least(posterior: HorizonPosterior, most: int, least_gain: float) -> HorizonPosterior:
    """Take out what the bound needs least, again and again: at most `most`, each of which must gain over `least_gain`.

    Observables with infinite prior log odds stay.
    """
    log_odds = posterior.regressions.prior.log_odds[posterior.kept]
    marginals, stay = _Marginals.of(posterior), np.ones(len(posterior.kept), dtype=bool)
    removed_columns = np.empty((*posterior.mean.shape, most))  # each over the root of its pivot
    for step in range(most):
        gains = np.full(stay.size, -np.inf)
        gains[stay] = marginals.gains(stay) - log_odds[stay]
        leaving = first_largest(gains) if gains.size else -1
        if leaving < 0 or not gains[leaving] > least_gain:
            break
        past = removed_columns[:, :, :step]
        column = posterior.column(leaving) - (past @ past[:, leaving, :, None])[:, :, 0]
        marginals, stay[leaving] = marginals.without(leaving, column), False
        removed_columns[:, :, step] = _over_root(column, leaving)
    return posterior if stay.all() else marginals.posterior(posterior, stay, removed_columns[:, :, : np.sum(~stay)])


def first_largest(gains: FloatArray) -> int:
    """Return the place of the first gain that equals the largest."""
    return int(np.argmax(gains >= gains.max() - ALIKE))


@dataclass(frozen=True, eq=False)
class _Marginals:
    """Each weight's mean and variance, per target (Q, k), and the targets' squared errors; α and ρ stay as they are."""

    regressions: TargetRegressions
    mean: FloatArray
    variance: FloatArray
    squared_error: FloatArray
    alpha: FloatArray
    rho: FloatArray

    @classmethod
    def of(cls, full: HorizonPosterior) -> _Marginals:
        return cls(full.regressions, full.mean, full.variance, full.squared_error, full.alpha, full.rho)

    def gains(self, stay: BoolArray) -> FloatArray:
        """Return what taking out each of those that are still in would gain: (D37)."""
        problem, prior, kept = self.regressions.problem, self.regressions.prior, self.regressions.kept
        mean, variance = self.mean[:, stay], self.variance[:, stay]
        growth = removal_growth(mean, variance, self.alpha[:, stay], self.rho[:, None])
        noise = noise_gain(prior, problem.rows, self.squared_error[:, None], growth)
        gains: FloatArray = problem.weight @ (noise - slab_gain(prior.slab.at(kept[stay]), mean, variance))
        return gains

    def without(self, i: int, column: FloatArray) -> _Marginals:
        """Return them after i, whose column of the covariance is given, was taken out: (D38)."""
        ratio = column / column[:, i, None]
        growth = removal_growth(self.mean[:, i], column[:, i], self.alpha[:, i], self.rho)
        return replace(
            self,
            mean=self.mean - ratio * self.mean[:, i, None],
            variance=self.variance - ratio * column,
            squared_error=np.maximum(self.squared_error + growth, MIN_ERROR_AFTER_REMOVALS * self.squared_error),
        )

    def posterior(self, before: HorizonPosterior, stay: BoolArray, removed_columns: FloatArray) -> HorizonPosterior:
        """Return the whole posterior of those that stay, given the columns (Q, k, ·) removed from that of `before`."""
        held = None if before.held is None else before.held[:, stay][:, :, stay]
        if held is not None:
            held -= removed_columns[:, stay] @ removed_columns[:, stay].transpose(0, 2, 1)
        return HorizonPosterior(
            regressions=replace(before.regressions, kept=before.kept[stay]),
            mean=self.mean[:, stay],
            variance=self.variance[:, stay] if held is None else stacks.diagonals(held),
            alpha=self.alpha[:, stay],
            rho=self.rho,
            squared_error=self.squared_error,
            evidence=np.nan,
            held=held,
        )


def _over_root(column: FloatArray, i: int) -> FloatArray:
    """Return the column over the root of its pivot, so that its outer product is what leaves the covariance."""
    return column / np.sqrt(column[:, i, None])
