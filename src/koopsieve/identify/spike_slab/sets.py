"""Regressions on given sets of regressors, stacked: their posteriors and their evidence.

With the flags known, spike and slab is Bayesian linear regression with the paper's Gamma priors on noise and on each
weight's precision; q(β) has a full covariance and the evidence a closed-form bound (D33 to D35). The horizon sieve and
the averages over sets both work on these; `moves` has what one regressor more, fewer, or exchanged would change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.prior import ProblemPrior, Slab
from koopsieve.identify.spike_slab.bound import noise_term
from koopsieve.identify.spike_slab.equations import slab_gain_without_entropy, update_noise, update_weight_precision

MIN_SQUARED_ERROR = 1e-15  # per row: rounding must not make an error negative
MIN_REMAINING_ERROR = 1e-6  # of the squared error: one regressor is not trusted to explain more than the rest of it


@dataclass(frozen=True, eq=False)
class SetPosterior:
    """q(β), q(α), q(ρ) of n regressions, each on its own set of k regressors.

    Parameters
    ----------
    mean : array, shape (n, k)
        Posterior mean of the weights.
    covariance : array, shape (n, k, k)
        Posterior covariance.
    alpha, rho : array, shape (n, k) and (n,)
        The expected precisions of weights and noise for which mean and covariance were solved.
    squared_error : array, shape (n,)
        E‖t − Φβ‖².
    evidence : array, shape (n,)
        The bound, without the flags' prior.
    """

    mean: FloatArray
    covariance: FloatArray
    alpha: FloatArray
    rho: FloatArray
    squared_error: FloatArray
    evidence: FloatArray

    @property
    def variance(self) -> FloatArray:
        """Posterior variance of each weight, shape (n, k)."""
        return stacks.diagonals(self.covariance)


@dataclass(frozen=True, eq=False)
class SetRegressions:
    """n regressions, each on its own set of k regressors, or fewer.

    Parameters
    ----------
    prior : ProblemPrior
        Its a and b are those of the noise.
    gram, projected, power : array, shape (n, k, k), (n, k) and (n,)
        ΦᵀΦ, Φᵀt and ‖t‖²; zero in the padding.
    rows : array, shape (n,)
        Number of rows.
    slab : Slab
        Of the regressors in the sets, shape (n, k), or one for all.
    real : array of bool, shape (n, k), optional
        False for the padding of sets that are smaller than k; left out, there is none.
    factor : tuple of arrays, shape (n, r, k), (n, r) and (n,), optional
        Columns R of the triangular factor, the target S seen through it, and r₀: the squared residual is then computed
        as in (D3), which keeps its digits where the fit is good; left out, from the products.
    """

    prior: ProblemPrior
    gram: FloatArray
    projected: FloatArray
    power: FloatArray
    rows: FloatArray
    slab: Slab
    real: BoolArray | None = None
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
        alpha, rho = self._precisions(posterior.mean, posterior.variance, posterior.squared_error)
        return self._swept(alpha, rho, sweeps - 1)

    def _swept(self, alpha: FloatArray, rho: FloatArray, sweeps: int) -> SetPosterior:
        for _ in range(sweeps):
            mean, variance = self._marginals(alpha, rho)
            alpha, rho = self._precisions(mean, variance, self._squared_error(mean, variance, alpha, rho))
        return self.solved(alpha, rho)

    def _factors(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        """Return the Cholesky factors of Σ⁻¹ = ρG + diag α: (D33)."""
        precision = rho[:, None, None] * self.gram
        stacks.diagonals(precision)[...] += alpha
        return stacks.factorise(precision, overwrite=True)

    def _marginals(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each weight: Σ = WᵀW is not formed, which takes half the time."""
        W = stacks.inverse_root(self._factors(alpha, rho))
        mean = rho[:, None] * (self.projected[:, None, :] @ W.transpose(0, 2, 1) @ W)[:, 0]
        return mean, np.einsum("nij,nij->nj", W, W)

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
