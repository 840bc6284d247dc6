"""Regressions on given sets of regressors, stacked: posteriors, evidence, and what a regressor more or fewer changes.

With the flags known, spike and slab is Bayesian linear regression with the paper's Gamma priors on noise and on each
weight's precision; q(β) has a full covariance and the evidence a closed-form bound (D33 to D35). When one regressor
comes in, goes out or is exchanged, the weights of the others follow by rank-one formulas with their precisions held
(D36, D37, D68), the noise at its best. The horizon sieve and the averages over sets both work on these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify import stacks
from koopsieve.identify.prior import ProblemPrior, Slab
from koopsieve.identify.spike_slab.bound import noise_term
from koopsieve.identify.spike_slab.equations import (
    slab_gain,
    slab_gain_without_entropy,
    update_noise,
    update_weight_precision,
)

MIN_SQUARED_ERROR = 1e-15  # per row: rounding must not make an error negative
MIN_REMAINING_ERROR = 1e-6  # of the squared error: one regressor is not trusted to explain more than the rest of it


@dataclass(frozen=True, eq=False)
class SetPosterior:
    """q(β), q(α), q(ρ) of n regressions, each on its own set of k regressors."""

    mean: FloatArray  # (n, k): posterior mean of the weights
    covariance: FloatArray  # (n, k, k): posterior covariance
    # alpha, rho (n, k) and (n,): the expected precisions of weights and noise for which mean and covariance were
    # solved
    alpha: FloatArray
    rho: FloatArray
    squared_error: FloatArray  # (n,): E‖t − Φβ‖²
    evidence: FloatArray  # (n,): the bound, without the flags' prior

    @property
    def variance(self) -> FloatArray:
        """Posterior variance of each weight, shape (n, k)."""
        return stacks.diagonals(self.covariance)


@dataclass(frozen=True, eq=False)
class SetRegressions:
    """n regressions, each on its own set of k regressors, or fewer."""

    prior: ProblemPrior  # its a and b are those of the noise
    # gram, projected, power (n, k, k), (n, k) and (n,): φᵀΦ, Φᵀt and ‖t‖²; zero in the padding
    gram: FloatArray
    projected: FloatArray
    power: FloatArray
    rows: FloatArray  # (n,): number of rows
    slab: Slab  # of the regressors in the sets, shape (n, k), or one for all
    # (n, k): false for the padding of sets that are smaller than k; left out, there is none
    real: BoolArray | None = None
    # tuple of arrays (n, r, k), (n, r) and (n,): columns R of the triangular factor, the target S seen through it, and
    # r₀: the squared residual is then computed as in (D3), which keeps its digits where the fit is good; left out, from
    # the products
    factor: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def solved(self, alpha: FloatArray, rho: FloatArray) -> SetPosterior:
        """Return q(β) given the precisions, and the evidence with q(α) and q(ρ) at their best for it: (D33), (D35)."""
        L = self._factors(alpha, rho)
        log_det = stacks.log_determinant(L)
        covariance = stacks.inverse(L)
        mean, variance = rho[:, None] * (covariance @ self.projected[:, :, None])[:, :, 0], stacks.diagonals(covariance)
        squared_error = self._squared_error(mean, variance, alpha, rho)
        weights = slab_gain_without_entropy(self.slab, mean, variance)
        total = np.sum(weights, axis=1, where=True if self.real is None else self.real)
        evidence = noise_term(self.prior.a, self.prior.b, self.rows, squared_error) - log_det / 2 + total
        return SetPosterior(mean, covariance, alpha, rho, squared_error, evidence)

    def first(self, alpha: float, rho: FloatArray, sweeps: int) -> SetPosterior:
        """Return the posterior after some sweeps from one precision for all weights and given ones of the noise."""
        every = np.full(self.projected.shape, alpha)
        return self._swept(every if self.real is None else np.where(self.real, every, 1.0), rho, sweeps)

    def settled(self, posterior: SetPosterior, sweeps: int) -> SetPosterior:
        """Update q(α) and q(ρ), then q(β), `sweeps` times; each update can only raise the bound."""
        if not sweeps:
            return posterior
        return self.settled_from(posterior.mean, posterior.variance, posterior.squared_error, sweeps)

    def settled_from(
        self, mean: FloatArray, variance: FloatArray, squared_error: FloatArray, sweeps: int
    ) -> SetPosterior:
        """Do the same from the mean and variance of every weight; at least one sweep."""
        return self._swept(*self._precisions(mean, variance, squared_error), sweeps - 1)

    def covariance(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        """Return the covariances of the weights given the precisions: (D33)."""
        return stacks.inverse(self._factors(alpha, rho))

    def _swept(self, alpha: FloatArray, rho: FloatArray, sweeps: int) -> SetPosterior:
        for _ in range(sweeps):
            W = stacks.inverse_root(self._factors(alpha, rho))  # Σ = WᵀW is not formed, which takes half the time
            mean = rho[:, None] * (self.projected[:, None, :] @ W.transpose(0, 2, 1) @ W)[:, 0]
            variance = np.einsum("nij,nij->nj", W, W)
            alpha, rho = self._precisions(mean, variance, self._squared_error(mean, variance, alpha, rho))
        return self.solved(alpha, rho)

    def _factors(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        """Return the Cholesky factors of Σ⁻¹ = ρG + diag α: (D33)."""
        precision = rho[:, None, None] * self.gram
        stacks.diagonals(precision)[...] += alpha
        return stacks.factorise(precision, overwrite=True)

    def _precisions(
        self, mean: FloatArray, variance: FloatArray, squared_error: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the expected precisions of weights and noise, given q(β): equations (19) and (18)."""
        alpha = update_weight_precision(self.slab, mean, variance)
        a_bar, b_bar = update_noise(self.prior.a, self.prior.b, self.rows, squared_error)
        return alpha if self.real is None else np.where(self.real, alpha, 1.0), np.asarray(a_bar / b_bar)

    def _squared_error(self, mean: FloatArray, variance: FloatArray, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        """Return E‖t − Φβ‖² = ‖t − Φμ‖² + tr(GΣ), where ρ·tr(GΣ) = Σ (1 − α_i Σ_ii): (D34)."""
        if self.factor is None:
            total = self.power - 2 * np.einsum("nk,nk->n", mean, self.projected)
            total += np.einsum("nk,nk->n", (mean[:, None, :] @ self.gram)[:, 0], mean)
        else:
            R, S, left = self.factor
            residual = S - (R @ mean[:, :, None])[:, :, 0]
            total = np.einsum("nr,nr->n", residual, residual) + left
        total += np.sum(1 - alpha * variance, axis=1) / rho
        error: FloatArray = np.maximum(total, MIN_SQUARED_ERROR * self.rows)
        return error


def noise_gain(prior: ProblemPrior, rows: FloatArray, squared_error: FloatArray, growth: FloatArray) -> FloatArray:
    """Return how the noise term changes, at its best q(ρ), when the squared error grows: (D17).

    `rows` is (n,), the others (n, …).
    """
    a_bar, before = update_noise(prior.a, prior.b, rows.reshape(-1, *(1,) * (growth.ndim - 1)), squared_error)
    after = np.maximum(before + growth / 2, MIN_REMAINING_ERROR * before)
    change: FloatArray = -a_bar * np.log(after / before)
    return change


MIN_FREE_POWER = 1e-8  # of a regressor's power: what the others leave of it below this is rounding
ENTERING_SWEEPS = 2  # updates of the weight and precision of a regressor that comes in


@dataclass(frozen=True, eq=False)
class Entering:
    """Weights and gains of regressors if they came in, one at a time: arrays of shape (n, …)."""

    gain: FloatArray  # increase of the evidence
    # mean, variance, alpha: mean and variance of its weight, and the precision of that weight
    mean: FloatArray
    variance: FloatArray
    alpha: FloatArray
    growth: FloatArray  # increase of the squared error; it is negative


@dataclass(frozen=True, eq=False)
class OutsideRegressors:
    """c regressors outside n sets of k, as those inside see them: (D36)."""

    response: FloatArray  # (n, k, c): decrease of the weights of those that are in, per unit of the candidate's weight
    gap: FloatArray  # (n, c): products of the candidates with the residual
    free: FloatArray  # (n, c): power of the candidates that those that are in do not explain
    own: FloatArray  # (n, c): power of the candidates
    slab: Slab  # of the candidates, shape (n, c) or (c,), or one for all

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
