"""The posterior of the weights when a given set of observables is in, and what one more would change.

For a set of observables the model is Bayesian linear regression target by target, with the paper's Gamma priors on
noise and on each weight's precision; q(β) has a full covariance. The bound of the shared flags is

    Σ_t weight_t·(noise term + weight terms)_t + Σ_i log p(γ_i),

closed form throughout (D35). `newcomers` gives the change of the bound when one flag is turned on, with the
weights of all other observables solved anew (D36); `removal` when one is turned off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.prior import ProblemPrior, Slab
from koopsieve.identify.spike_slab.elbo import noise_term
from koopsieve.identify.spike_slab.equations import (
    slab_gain,
    slab_gain_without_entropy,
    update_noise,
    update_weight_precision,
)
from koopsieve.sieve.horizon.problem import HorizonProblem

MIN_FREE_POWER = 1e-8  # of an observable's power: what the others leave of it below this is rounding
MIN_SQUARED_ERROR = 1e-15  # per row: rounding must not make an error negative
MIN_REMAINING_ERROR = 1e-6  # of the squared error: one observable is not trusted to explain more than the rest of it
NEWCOMER_SWEEPS = 2  # updates of a newcomer's weight and precision


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
        variance: FloatArray = np.einsum("tii->ti", self.covariance)
        return variance


def first_posterior(problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, sweeps: int) -> HorizonPosterior:
    """Return the posterior of a set, starting from weights of order one and a tenth of each target as noise."""
    targets = len(problem.power)
    alpha, rho = np.ones((targets, len(kept))), 10 * problem.rows / np.maximum(problem.power, 1e-12 * problem.rows)
    return settle_weights(problem, prior, solved(problem, prior, kept, alpha, rho), sweeps)


def settle_weights(
    problem: HorizonProblem, prior: ProblemPrior, posterior: HorizonPosterior, sweeps: int
) -> HorizonPosterior:
    """Update q(α) and q(ρ), then q(β), `sweeps` times; each update can only raise the bound."""
    slab = prior.slab.at(posterior.kept)
    for _ in range(sweeps):
        alpha = update_weight_precision(slab, posterior.mean, posterior.variance)
        a_bar, b_bar = update_noise(prior.a, prior.b, problem.rows, posterior.squared_error)
        posterior = solved(problem, prior, posterior.kept, alpha, np.asarray(a_bar / b_bar))
    return posterior


def solved(
    problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> HorizonPosterior:
    """Return q(β) given the precisions, and the evidence with q(α) and q(ρ) at their best for it: (D35)."""
    mean, covariance, log_det = _weights(problem, kept, alpha, rho)
    squared_error = _squared_error(problem, kept, mean, covariance)
    weights = slab_gain_without_entropy(prior.slab.at(kept), mean, np.einsum("tii->ti", covariance))
    evidence = noise_term(prior.a, prior.b, problem.rows, squared_error) - log_det / 2 + np.sum(weights, axis=1)
    return HorizonPosterior(kept, mean, covariance, alpha, rho, squared_error, float(problem.weight @ evidence))


def _weights(
    problem: HorizonProblem, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean ρ̂ΣΦᵀt and covariance Σ = (ρ̂G + diag α̂)⁻¹ of q(β), and log|Σ⁻¹|, per target: (D33)."""
    precision = rho[:, None, None] * problem.gram[:, kept[:, None], kept][problem.group]
    np.einsum("tii->ti", precision)[...] += alpha
    L = stacks.factorise(precision)
    log_det = stacks.log_determinant(L)
    covariance = stacks.inverse(L)
    mean = rho[:, None] * np.einsum("tij,tj->ti", covariance, problem.projected[:, kept])
    return mean, covariance, log_det


def _squared_error(problem: HorizonProblem, kept: IndexArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return E‖t − Φβ‖² = ‖t‖² − 2μᵀΦᵀt + μᵀGμ + tr(GΣ) per target: (D34)."""
    grams = problem.gram[:, kept[:, None], kept][problem.group]
    total = problem.power - 2 * np.einsum("ti,ti->t", mean, problem.projected[:, kept])
    second = covariance + mean[:, :, None] * mean[:, None, :]
    total += np.einsum("tij,tij->t", grams, second)
    error: FloatArray = np.maximum(total, MIN_SQUARED_ERROR * problem.rows)
    return error


@dataclass(frozen=True, eq=False)
class Newcomers:
    """What every observable that is out would get if it came in, per target: (Q, L) arrays.

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
    kept, rho = posterior.kept, posterior.rho[:, None]
    X = problem.gram[:, kept][problem.group]
    gap = problem.projected - (posterior.mean[:, None, :] @ X)[:, 0]
    response = rho[:, :, None] * (posterior.covariance @ X)
    own = np.einsum("gii->gi", problem.gram)[problem.group]
    free = own - np.einsum("tkl,tkl->tl", X, response)  # its power that the others do not explain
    free = np.maximum(free, MIN_FREE_POWER * own)
    mean, variance, alpha = _newcomer(prior.slab, rho, free, gap)
    growth = free * (mean**2 + variance) - 2 * mean * gap
    noise = noise_gain(problem, prior, posterior.squared_error, growth)
    gains: FloatArray = problem.weight @ (noise + slab_gain(prior.slab, mean, variance))
    gains[kept] = -np.inf
    return Newcomers(gains, mean, variance, alpha, growth, response)


def with_newcomer(posterior: HorizonPosterior, new: Newcomers, observable: int) -> HorizonPosterior:
    """Return the posterior after one observable came in, ρ as it was; its evidence is not known (nan)."""
    response, variance = new.response[:, :, observable], new.variance[:, observable, None]
    k = len(posterior.kept)
    covariance = np.empty((len(variance), k + 1, k + 1))
    covariance[:, :k, :k] = posterior.covariance + (variance * response)[:, :, None] * response[:, None, :]
    covariance[:, :k, k] = covariance[:, k, :k] = -variance * response
    covariance[:, k, k] = variance[:, 0]
    weight = new.mean[:, observable, None]
    return HorizonPosterior(
        kept=np.append(posterior.kept, observable),
        mean=np.hstack([posterior.mean - response * weight, weight]),
        covariance=covariance,
        alpha=np.hstack([posterior.alpha, new.alpha[:, observable, None]]),
        rho=posterior.rho,
        squared_error=np.maximum(
            posterior.squared_error + new.growth[:, observable], MIN_REMAINING_ERROR * posterior.squared_error
        ),
        evidence=np.nan,
    )


def _newcomer(
    slab: Slab, rho: FloatArray, free: FloatArray, gap: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the weight an observable would get, and its precision α, found by a few sweeps."""
    mean, variance = gap / free, 1 / (rho * free)
    for _ in range(NEWCOMER_SWEEPS):
        alpha = update_weight_precision(slab, mean, variance)
        variance = 1 / (rho * free + alpha)
        mean = rho * gap * variance
    return mean, variance, alpha


def noise_gain(
    problem: HorizonProblem, prior: ProblemPrior, squared_error: FloatArray, growth: FloatArray
) -> FloatArray:
    """Return how the noise term changes, at its best q(ρ), when the squared error grows: (D17).

    `growth` is (Q, moves).
    """
    a_bar, before = update_noise(prior.a, prior.b, problem.rows, squared_error)
    after = np.maximum(before[:, None] + growth / 2, MIN_REMAINING_ERROR * before[:, None])
    change: FloatArray = -np.reshape(a_bar, (-1, 1)) * np.log(after / before[:, None])
    return change
