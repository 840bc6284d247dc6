"""What one regressor more, one fewer, or one for another changes, for a stack of sets and without solving them anew.

The weights of the others follow by rank-one formulas with their precisions held (D36, D37, D68), the noise at its best.
In come the posteriors of sets, out come the gains in evidence of all moves. The horizon sieve and the averages over
sets both use them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.identify.prior import Slab
from koopsieve.identify.spike_slab.equations import slab_gain, update_weight_precision
from koopsieve.identify.spike_slab.sets import MIN_REMAINING_ERROR, SetPosterior, SetRegressions, noise_gain

MIN_FREE_POWER = 1e-8  # of a regressor's power: what the others leave of it below this is rounding
ENTERING_SWEEPS = 2  # updates of the weight and precision of a regressor that comes in


@dataclass(frozen=True, eq=False)
class Entering:
    """Weights and gains of regressors if they came in, one at a time: arrays of shape (n, …).

    Parameters
    ----------
    gain : array
        Increase of the evidence.
    mean, variance, alpha : array
        Mean and variance of its weight, and the precision of that weight.
    growth : array
        Increase of the squared error; it is negative.
    """

    gain: FloatArray
    mean: FloatArray
    variance: FloatArray
    alpha: FloatArray
    growth: FloatArray


@dataclass(frozen=True, eq=False)
class OutsideRegressors:
    """c regressors outside n sets of k, as those inside see them: (D36).

    Parameters
    ----------
    response : array, shape (n, k, c)
        Decrease of the weights of those that are in, per unit of the candidate's weight.
    gap : array, shape (n, c)
        Products of the candidates with the residual.
    free : array, shape (n, c)
        Power of the candidates that those that are in do not explain.
    own : array, shape (n, c)
        Power of the candidates.
    slab : Slab
        Of the candidates, shape (n, c) or (c,), or one for all.
    """

    response: FloatArray
    gap: FloatArray
    free: FloatArray
    own: FloatArray
    slab: Slab

    @classmethod
    def of(
        cls, posterior: SetPosterior, cross: FloatArray, own: FloatArray, gap: FloatArray, slab: Slab
    ) -> OutsideRegressors:
        """Prepare candidates, given their products with those that are in (n, k, c), themselves and the residual."""
        response = posterior.rho[:, None, None] * (posterior.covariance @ cross)
        return cls(response, gap, own - np.einsum("nkc,nkc->nc", cross, response), own, slab)

    def newcomers(self, regressions: SetRegressions, posterior: SetPosterior) -> Entering:
        """Return what each candidate would get and gain if it came in, shape (n, c): (D36)."""
        free, error = np.maximum(self.free, MIN_FREE_POWER * self.own), posterior.squared_error[:, None]
        return _entering(regressions, posterior.rho[:, None], error, free, self.gap, self.slab)

    def exchanges(self, regressions: SetRegressions, posterior: SetPosterior) -> FloatArray:
        """Return the gain of each candidate in exchange for each that is in, shape (n, k, c): (D68)."""
        growth, gain = removals(regressions, posterior)
        before, inverse = posterior.squared_error[:, None], 1 / (posterior.rho[:, None] * posterior.variance)
        error = np.maximum(before + growth, MIN_REMAINING_ERROR * before)[:, :, None]
        free = self.free[:, None, :] + self.response**2 * inverse[:, :, None]
        free = np.maximum(free, MIN_FREE_POWER * self.own[:, None, :])
        gap = self.gap[:, None, :] + self.response * (posterior.mean * inverse)[:, :, None]
        rho, slab = posterior.rho[:, None, None], self.slab.expanded(-2)
        exchanged: FloatArray = gain[:, :, None] + _entering(regressions, rho, error, free, gap, slab).gain
        return exchanged


def _entering(
    regressions: SetRegressions, rho: FloatArray, error: FloatArray, free: FloatArray, gap: FloatArray, slab: Slab
) -> Entering:
    mean, variance = gap / free, 1 / (rho * free)
    for _ in range(ENTERING_SWEEPS):
        alpha = update_weight_precision(slab, mean, variance)
        variance = 1 / (rho * free + alpha)
        mean = rho * gap * variance
    growth = free * (mean**2 + variance) - 2 * mean * gap
    gain = noise_gain(regressions.prior, regressions.rows, error, growth) + slab_gain(slab, mean, variance)
    return Entering(gain, mean, variance, alpha, growth)


def removals(regressions: SetRegressions, posterior: SetPosterior) -> tuple[FloatArray, FloatArray]:
    """Return the increase of the squared error and of the evidence without each regressor, (n, k): (D37)."""
    growth = removal_growth(posterior.mean, posterior.variance, posterior.alpha, posterior.rho[:, None])
    noise = noise_gain(regressions.prior, regressions.rows, posterior.squared_error[:, None], growth)
    return growth, noise - slab_gain(regressions.slab, posterior.mean, posterior.variance)


def removal_growth(mean: FloatArray, variance: FloatArray, alpha: FloatArray, rho: FloatArray) -> FloatArray:
    """Return the increase of the squared error when a weight is taken out, the others solved anew: (D37)."""
    growth: FloatArray = (mean**2 / variance + alpha * (mean**2 + variance) - 1) / rho
    return growth
