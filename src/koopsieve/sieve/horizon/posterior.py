"""The posterior of the weights when a given set of observables is in, and what one more or fewer would change.

For a set of observables the model is Bayesian linear regression target by target, with the paper's Gamma priors on
noise and on each weight's precision; q(β) has a full covariance. The bound of the shared flags is

    Σ_t weight_t·(noise term + weight terms)_t + Σ_i log p(γ_i),

closed form throughout (D35). `newcomers` gives the change of the bound when one flag is turned on, with the weights of
all other observables solved anew (D36).

Taking out i is one Schur complement per target: Σ − Σ_·i Σ_i·/Σ_ii, μ − Σ_·i μ_i/Σ_ii (D38). In a run of removals only
the columns of those that leave are needed on the way, so the matrix itself is updated once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.prior import ProblemPrior
from koopsieve.identify.spike_slab.equations import slab_gain
from koopsieve.identify.spike_slab.sets import (
    MIN_REMAINING_ERROR,
    OutsideRegressors,
    SetPosterior,
    SetRegressions,
    noise_gain,
    removal_growth,
)
from koopsieve.sieve.horizon.horizon_problem import HorizonProblem


@dataclass(frozen=True, eq=False)
class HorizonPosterior:
    """q(β), q(α), q(ρ) of every target, given which observables are in.

    Parameters
    ----------
    kept : array of int, shape (k,)
        The observables that are in.
    mean : array, shape (Q, k)
        Posterior mean of the weights.
    covariance : array, shape (Q, k, k)
        Posterior covariance.
    alpha, rho : array, shape (Q, k) and (Q,)
        The expected precisions of weights and noise for which mean and covariance were solved.
    squared_error : array, shape (Q,)
        E‖t − Φβ‖².
    evidence : float
        The weighted bound, without the flags' prior.
    """

    kept: IndexArray
    mean: FloatArray
    covariance: FloatArray
    alpha: FloatArray
    rho: FloatArray
    squared_error: FloatArray
    evidence: float

    @property
    def variance(self) -> FloatArray:
        """Posterior variance of each weight, shape (Q, k)."""
        return self.by_target.variance

    @property
    def by_target(self) -> SetPosterior:
        """The same as a stack of regressions on one set."""
        unknown = np.full_like(self.rho, np.nan)
        return SetPosterior(self.mean, self.covariance, self.alpha, self.rho, self.squared_error, unknown)


def first_posterior(problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, sweeps: int) -> HorizonPosterior:
    """Return the posterior of a set, starting from weights of order one and a tenth of each target as noise."""
    targets = len(problem.power)
    alpha, rho = np.ones((targets, len(kept))), 10 * problem.rows / np.maximum(problem.power, 1e-12 * problem.rows)
    return settle_weights(problem, prior, solved(problem, prior, kept, alpha, rho), sweeps)


def settle_weights(
    problem: HorizonProblem, prior: ProblemPrior, posterior: HorizonPosterior, sweeps: int
) -> HorizonPosterior:
    """Update q(α) and q(ρ), then q(β), `sweeps` times; each update can only raise the bound."""
    found = _regressions(problem, prior, posterior.kept).settled(posterior.by_target, sweeps)
    return _weighted(problem, posterior.kept, found) if sweeps else posterior


def solved(
    problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> HorizonPosterior:
    """Return q(β) given the precisions, and the evidence with q(α) and q(ρ) at their best for it: (D35)."""
    return _weighted(problem, kept, _regressions(problem, prior, kept).solved(alpha, rho))


def _regressions(problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray) -> SetRegressions:
    gram = problem.gram[:, kept[:, None], kept][problem.group]
    return SetRegressions(prior, gram, problem.projected[:, kept], problem.power, problem.rows, prior.slab.at(kept))


def _weighted(problem: HorizonProblem, kept: IndexArray, found: SetPosterior) -> HorizonPosterior:
    evidence = float(problem.weight @ found.evidence)
    return HorizonPosterior(kept, found.mean, found.covariance, found.alpha, found.rho, found.squared_error, evidence)


@dataclass(frozen=True, eq=False)
class Newcomers:
    """What every observable that is out would get if it came in.

    Parameters
    ----------
    gains : array, shape (L,)
        How much the evidence rises; −inf for those that are in already.
    mean, variance, alpha : array, shape (Q, L)
        Its weight, and the precision of that weight.
    growth : array, shape (Q, L)
        By how much the squared error grows (it is negative: it shrinks).
    response : array, shape (Q, k, L)
        By how much the weights of those that are in fall, per unit of the newcomer's weight.
    """

    gains: FloatArray
    mean: FloatArray
    variance: FloatArray
    alpha: FloatArray
    growth: FloatArray
    response: FloatArray


def newcomers(problem: HorizonProblem, prior: ProblemPrior, posterior: HorizonPosterior) -> Newcomers:
    """Return what each observable would get and give if it came in, the others solved anew: (D36)."""
    kept, rows = posterior.kept, posterior.by_target
    cross, own = problem.gram[:, kept][problem.group], np.einsum("gii->gi", problem.gram)[problem.group]
    gap = problem.projected - (posterior.mean[:, None, :] @ cross)[:, 0]
    candidates = OutsideRegressors.of(rows, cross, own, gap, prior.slab)
    new = candidates.newcomers(_regressions(problem, prior, kept), rows)
    gains: FloatArray = problem.weight @ new.gain
    gains[kept] = -np.inf
    return Newcomers(gains, new.mean, new.variance, new.alpha, new.growth, candidates.response)


def with_newcomer(posterior: HorizonPosterior, new: Newcomers, observable: int) -> HorizonPosterior:
    """Return the posterior after one observable came in, ρ as it was; its evidence is not known (nan)."""
    response = new.response[:, :, observable]
    variance, weight = new.variance[:, observable, None], new.mean[:, observable, None]
    k = len(posterior.kept)
    covariance = np.empty((len(variance), k + 1, k + 1))
    covariance[:, :k, :k] = posterior.covariance + (variance * response)[:, :, None] * response[:, None, :]
    covariance[:, :k, k] = covariance[:, k, :k] = -variance * response
    covariance[:, k, k] = variance[:, 0]
    least = MIN_REMAINING_ERROR * posterior.squared_error
    return HorizonPosterior(
        kept=np.append(posterior.kept, observable),
        mean=np.hstack([posterior.mean - response * weight, weight]),
        covariance=covariance,
        alpha=np.hstack([posterior.alpha, new.alpha[:, observable, None]]),
        rho=posterior.rho,
        squared_error=np.maximum(posterior.squared_error + new.growth[:, observable], least),
        evidence=np.nan,
    )


ALIKE = 1e-2  # gains of the evidence that differ by less are equal: the first is taken, rounding does not choose
MIN_ERROR_AFTER_REMOVALS = 1e-3  # of the squared error: rounding must not take more than this from it


def removal_gains(problem: HorizonProblem, prior: ProblemPrior, posterior: HorizonPosterior) -> FloatArray:
    """Return, per observable that is in, how much the evidence rises (mostly: falls) when it is taken out.

    Solving the others anew, the penalised squared error without the term of i itself grows by
    (μ_i²/Σ_ii + α̂_i(μ_i² + Σ_ii) − 1)/ρ̂, and log|Σ| falls by log Σ_ii: (D37).
    """
    every = np.ones(len(posterior.kept), dtype=bool)
    return _Marginals.of(posterior).gains(problem, prior, every)


def without(posterior: HorizonPosterior, position: int) -> HorizonPosterior:
    """Return the posterior after one observable is taken out, α and ρ as they were; its evidence is not known (nan)."""
    column = posterior.covariance[:, :, position]
    stay = np.arange(len(posterior.kept)) != position
    marginals = _Marginals.of(posterior).without(position, column)
    return marginals.posterior(posterior, stay, _over_root(column, position)[:, :, None])


def without_least(
    problem: HorizonProblem,
    prior: ProblemPrior,
    posterior: HorizonPosterior,
    most: int,
    least_gain: float,
) -> HorizonPosterior:
    """Take out what the bound needs least, again and again: at most `most`, each of which must gain over `least_gain`.

    Observables with infinite prior log odds stay.
    """
    log_odds = prior.log_odds[posterior.kept]
    marginals, stay = _Marginals.of(posterior), np.ones(len(posterior.kept), dtype=bool)
    removed_columns = np.empty((*posterior.mean.shape, most))  # each over the root of its pivot
    for step in range(most):
        gains = np.full(stay.size, -np.inf)
        gains[stay] = marginals.gains(problem, prior, stay) - log_odds[stay]
        leaving = first_largest(gains) if gains.size else -1
        if leaving < 0 or not gains[leaving] > least_gain:
            break
        past = removed_columns[:, :, :step]
        column = posterior.covariance[:, :, leaving] - (past @ past[:, leaving, :, None])[:, :, 0]
        marginals, stay[leaving] = marginals.without(leaving, column), False
        removed_columns[:, :, step] = _over_root(column, leaving)
    return posterior if stay.all() else marginals.posterior(posterior, stay, removed_columns[:, :, : np.sum(~stay)])


def first_largest(gains: FloatArray) -> int:
    """Return the place of the first gain that equals the largest."""
    return int(np.argmax(gains >= gains.max() - ALIKE))


@dataclass(frozen=True, eq=False)
class _Marginals:
    """Each weight's mean and variance, per target (Q, k), and the targets' squared errors; α and ρ stay as they are."""

    kept: IndexArray
    mean: FloatArray
    variance: FloatArray
    squared_error: FloatArray
    alpha: FloatArray
    rho: FloatArray

    @classmethod
    def of(cls, full: HorizonPosterior) -> _Marginals:
        return cls(full.kept, full.mean, full.variance, full.squared_error, full.alpha, full.rho)

    def gains(self, problem: HorizonProblem, prior: ProblemPrior, stay: BoolArray) -> FloatArray:
        """Return what taking out each of those that are still in would gain: (D37)."""
        mean, variance = self.mean[:, stay], self.variance[:, stay]
        growth = removal_growth(mean, variance, self.alpha[:, stay], self.rho[:, None])
        noise = noise_gain(prior, problem.rows, self.squared_error[:, None], growth)
        gains: FloatArray = problem.weight @ (noise - slab_gain(prior.slab.at(self.kept[stay]), mean, variance))
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
        covariance = before.covariance[:, stay][:, :, stay]
        covariance -= removed_columns[:, stay] @ removed_columns[:, stay].transpose(0, 2, 1)
        return HorizonPosterior(
            kept=before.kept[stay],
            mean=self.mean[:, stay],
            covariance=covariance,
            alpha=self.alpha[:, stay],
            rho=self.rho,
            squared_error=self.squared_error,
            evidence=np.nan,
        )


def _over_root(column: FloatArray, i: int) -> FloatArray:
    """Return the column over the root of its pivot, so that its outer product is what leaves the covariance."""
    return column / np.sqrt(column[:, i, None])
