"""What the horizon sieve loses when observables are taken out, one by one, the weights of the others solved anew.

Taking out i is one Schur complement per target: Σ − Σ_·i Σ_i·/Σ_ii, μ − Σ_·i μ_i/Σ_ii. In a run of removals only the
columns of those that leave are needed on the way, so the matrix itself is updated once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.sieve.horizon.posterior import HorizonPosterior, Shapes, noise_gain, weight_price
from koopsieve.sieve.horizon.problem import HorizonProblem


def removal_gains(problem: HorizonProblem, shapes: Shapes, posterior: HorizonPosterior) -> FloatArray:
    """Return, per observable that is in, how much the evidence rises (mostly: falls) when it is taken out.

    Solving the others anew, the penalised squared error grows by μ_i²/(ρ̂Σ_ii) and log|Σ| falls by log Σ_ii.
    """
    every = np.ones(len(posterior.kept), dtype=bool)
    return _Marginals.of(posterior).gains(problem, shapes, every)


def without(posterior: HorizonPosterior, position: int) -> HorizonPosterior:
    """Return the posterior after one observable is taken out, α and ρ as they were; its evidence is not known (nan)."""
    column = posterior.covariance[:, :, position]
    stay = np.arange(len(posterior.kept)) != position
    left = _Marginals.of(posterior).without(position, column)
    return left.posterior(posterior, stay, _over_root(column, position)[:, :, None])


def without_least(
    problem: HorizonProblem,
    shapes: Shapes,
    posterior: HorizonPosterior,
    log_odds: FloatArray,
    most: int,
    least_gain: float,
) -> HorizonPosterior:
    """Take out what is missed least, again and again: at most `most`, each of which must gain over `least_gain`.

    `log_odds` are those of the observables that are in; inf for those that must stay.
    """
    left, stay = _Marginals.of(posterior), np.ones(len(posterior.kept), dtype=bool)
    gone = np.empty((*posterior.mean.shape, most))  # the columns that left, each over the root of its pivot
    for step in range(most):
        gains = np.full(stay.size, -np.inf)
        gains[stay] = left.gains(problem, shapes, stay) - log_odds[stay]
        leaving = int(np.argmax(gains)) if gains.size else -1
        if leaving < 0 or not gains[leaving] > least_gain:
            break
        past = gone[:, :, :step]
        column = posterior.covariance[:, :, leaving] - (past @ past[:, leaving, :, None])[:, :, 0]
        left, stay[leaving] = left.without(leaving, column), False
        gone[:, :, step] = _over_root(column, leaving)
    return posterior if stay.all() else left.posterior(posterior, stay, gone[:, :, : np.sum(~stay)])


@dataclass(frozen=True, eq=False)
class _Marginals:
    """Each weight's mean and variance, per target (Q, k), and the targets' squared errors; α and ρ stay as they are."""

    mean: FloatArray
    variance: FloatArray
    squared_error: FloatArray
    alpha: FloatArray
    rho: FloatArray

    @classmethod
    def of(cls, posterior: HorizonPosterior) -> _Marginals:
        variance = np.einsum("tii->ti", posterior.covariance)
        return cls(posterior.mean, variance, posterior.squared_error, posterior.alpha, posterior.rho)

    def gains(self, problem: HorizonProblem, shapes: Shapes, stay: BoolArray) -> FloatArray:
        """Return what taking out each of those that are still in would gain."""
        mean, variance, rho = self.mean[:, stay], self.variance[:, stay], self.rho[:, None]
        growth = mean**2 / (rho * variance) - (1 - self.alpha[:, stay] * variance) / rho
        price = weight_price(shapes[2], shapes[3], mean, variance) + 0.5 * np.log(variance)
        gains: FloatArray = problem.weight @ (noise_gain(problem, shapes, self.squared_error, growth) - price)
        return gains

    def without(self, i: int, column: FloatArray) -> _Marginals:
        """Return them after i, whose column of the covariance is given, was taken out."""
        ratio = column / column[:, i, None]
        mean, variance, rho = self.mean[:, i], column[:, i], self.rho
        growth = mean**2 / (rho * variance) - (1 - self.alpha[:, i] * variance) / rho
        return _Marginals(
            mean=self.mean - ratio * mean[:, None],
            variance=self.variance - ratio * column,
            squared_error=np.maximum(self.squared_error + growth, 1e-3 * self.squared_error),
            alpha=self.alpha,
            rho=rho,
        )

    def posterior(self, before: HorizonPosterior, stay: BoolArray, gone: FloatArray) -> HorizonPosterior:
        """Return the whole posterior of those that stay; `gone` are the columns (Q, k, ·) taken out of `before`."""
        covariance = before.covariance[:, stay][:, :, stay]
        covariance -= gone[:, stay] @ gone[:, stay].transpose(0, 2, 1)
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
