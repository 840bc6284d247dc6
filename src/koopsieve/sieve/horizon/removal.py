"""What the horizon sieve loses when observables are taken out, one by one, the weights of the others solved anew.

Taking out i is one Schur complement per target: Σ − Σ_·i Σ_i·/Σ_ii, μ − Σ_·i μ_i/Σ_ii (D38). In a run of removals
only the columns of those that leave are needed on the way, so the matrix itself is updated once, at the end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify import stacks
from koopsieve.identify.spike_slab.equations import slab_gain
from koopsieve.identify.spike_slab.sets import noise_gain, removal_growth
from koopsieve.sieve.horizon.posterior import HorizonPosterior

ALIKE = 1e-2  # gains of the evidence that differ by less are equal: the first is taken, rounding does not choose
MIN_ERROR_AFTER_REMOVALS = 1e-3  # of the squared error: rounding must not take more than this from it


def removal_gains(posterior: HorizonPosterior) -> FloatArray:
    """Return, per observable that is in, how much the evidence rises (mostly: falls) when it is taken out.

    Solving the others anew, the penalised squared error without the term of i itself grows by
    (μ_i²/Σ_ii + α̂_i(μ_i² + Σ_ii) − 1)/ρ̂, and log|Σ| falls by log Σ_ii: (D37).
    """
    return _gains(posterior, np.ones(len(posterior.kept), dtype=bool))


def without(posterior: HorizonPosterior, position: int) -> HorizonPosterior:
    """Return the posterior after one observable is taken out, α and ρ as they were; its evidence is not known (nan)."""
    column = posterior.column(position)
    stay = np.arange(len(posterior.kept)) != position
    return _cut(_marginals_without(posterior, position, column), stay, _over_root(column, position)[:, :, None])


def without_least(posterior: HorizonPosterior, most: int, least_gain: float) -> HorizonPosterior:
    """Take out what the bound needs least, again and again: at most `most`, each of which must gain over `least_gain`.

    Observables with infinite prior log odds stay.
    """
    log_odds = posterior.regressions.prior.log_odds[posterior.kept]
    left, stay = posterior, np.ones(len(posterior.kept), dtype=bool)
    removed_columns = np.empty((*posterior.mean.shape, most))  # each over the root of its pivot
    for step in range(most):
        gains = np.full(stay.size, -np.inf)
        gains[stay] = _gains(left, stay) - log_odds[stay]
        leaving = first_largest(gains) if gains.size else -1
        if leaving < 0 or not gains[leaving] > least_gain:
            break
        past = removed_columns[:, :, :step]
        column = posterior.column(leaving) - (past @ past[:, leaving, :, None])[:, :, 0]
        left, stay[leaving] = _marginals_without(left, leaving, column), False
        removed_columns[:, :, step] = _over_root(column, leaving)
    return posterior if stay.all() else _cut(left, stay, removed_columns[:, :, : np.sum(~stay)])


def first_largest(gains: FloatArray) -> int:
    """Return the place of the first gain that equals the largest."""
    return int(np.argmax(gains >= gains.max() - ALIKE))


def _gains(posterior: HorizonPosterior, stay: BoolArray) -> FloatArray:
    """Return what taking out each of those that are still in would gain: (D37)."""
    problem, prior, kept = posterior.regressions.problem, posterior.regressions.prior, posterior.kept
    mean, variance = posterior.mean[:, stay], posterior.variance[:, stay]
    growth = removal_growth(mean, variance, posterior.alpha[:, stay], posterior.rho[:, None])
    noise = noise_gain(prior, problem.rows, posterior.squared_error[:, None], growth)
    gains: FloatArray = problem.weight @ (noise - slab_gain(prior.slab.at(kept[stay]), mean, variance))
    return gains


def _marginals_without(posterior: HorizonPosterior, i: int, column: FloatArray) -> HorizonPosterior:
    """Return means, variances and errors after i, whose column of the covariance is given, was taken out: (D38).

    Covariances and the set stay as they were, for `_cut` to change once.
    """
    ratio = column / column[:, i, None]
    growth = removal_growth(posterior.mean[:, i], column[:, i], posterior.alpha[:, i], posterior.rho)
    least = MIN_ERROR_AFTER_REMOVALS * posterior.squared_error
    return replace(
        posterior,
        mean=posterior.mean - ratio * posterior.mean[:, i, None],
        variance=posterior.variance - ratio * column,
        squared_error=np.maximum(posterior.squared_error + growth, least),
    )


def _cut(posterior: HorizonPosterior, stay: BoolArray, removed_columns: FloatArray) -> HorizonPosterior:
    """Return the whole posterior of those that stay, given the columns (Q, k, ·) to remove from the covariance."""
    held = None if posterior.held is None else posterior.held[:, stay][:, :, stay]
    if held is not None:
        held -= removed_columns[:, stay] @ removed_columns[:, stay].transpose(0, 2, 1)
    return replace(
        posterior,
        regressions=replace(posterior.regressions, kept=posterior.kept[stay]),
        mean=posterior.mean[:, stay],
        variance=posterior.variance[:, stay] if held is None else stacks.diagonals(held),
        alpha=posterior.alpha[:, stay],
        evidence=np.nan,
        held=held,
    )


def _over_root(column: FloatArray, i: int) -> FloatArray:
    """Return the column over the root of its pivot, so that its outer product is what leaves the covariance."""
    return column / np.sqrt(column[:, i, None])
