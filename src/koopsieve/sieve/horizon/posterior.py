"""What the data say of the weights when a given set of observables is in, and what one more or one fewer would change.

For a set of observables the model is Bayesian linear regression target by target, with the paper's Gamma priors on
noise and on each weight's precision; q(β) has a full covariance. The bound of the shared flags is

    Σ_t weight_t·(noise term + weight terms)_t + Σ_i log p(γ_i),

closed form throughout. `newcomers` gives the change of the bound when one flag is turned on, with the weights of all
other observables solved anew (one step of each for the precisions); `horizon_removal` when one is turned off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from koopsieve._types import FloatArray, IndexArray
from koopsieve.identify.linalg.gaussian import inverse_and_log_det
from koopsieve.identify.spike_slab.elbo import noise_term
from koopsieve.identify.spike_slab.equations import update_noise, update_weight_precision
from koopsieve.sieve.horizon.problem import HorizonProblem

_DISTINCT = 1e-8  # less than this of an observable's power is rounding, not something the others lack

_STACKED = 100  # larger matrices are factored one by one, which is then faster

Shapes = tuple[float, float, float, float]  # the prior's a, b, c, d


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


def first_posterior(problem: HorizonProblem, shapes: Shapes, kept: IndexArray, rounds: int) -> HorizonPosterior:
    """Return the posterior of a set, starting from weights of order one and a tenth of each target as noise."""
    targets = len(problem.power)
    alpha, rho = np.ones((targets, len(kept))), 10 * problem.rows / np.maximum(problem.power, 1e-12 * problem.rows)
    return settle_weights(problem, shapes, _solved(problem, shapes, kept, alpha, rho), rounds)


def settle_weights(
    problem: HorizonProblem, shapes: Shapes, posterior: HorizonPosterior, rounds: int
) -> HorizonPosterior:
    """Update q(α) and q(ρ), then q(β), `rounds` times; each update can only raise the bound."""
    a, b, c, d = shapes
    for _ in range(rounds):
        variance = np.einsum("tii->ti", posterior.covariance)
        alpha = update_weight_precision(c, d, posterior.mean, variance)
        a_bar, b_bar = update_noise(a, b, problem.rows, posterior.squared_error)
        posterior = _solved(problem, shapes, posterior.kept, alpha, np.asarray(a_bar / b_bar))
    return posterior


def _solved(
    problem: HorizonProblem, shapes: Shapes, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> HorizonPosterior:
    """Return q(β) given the precisions, and the evidence with q(α) and q(ρ) at their best for it."""
    a, b, c, d = shapes
    mean, covariance, log_det = _weights(problem, kept, alpha, rho)
    squared_error = _squared_error(problem, kept, mean, covariance)
    price = weight_price(c, d, mean, np.einsum("tii->ti", covariance))
    evidence = noise_term(a, b, problem.rows, squared_error) - log_det / 2 + np.sum(price, axis=1)
    return HorizonPosterior(kept, mean, covariance, alpha, rho, squared_error, float(problem.weight @ evidence))


def _weights(
    problem: HorizonProblem, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean ρ̂ΣΦᵀt and covariance Σ = (ρ̂G + diag α̂)⁻¹ of q(β), and log|Σ⁻¹|, per target."""
    A = rho[:, None, None] * problem.gram[:, kept[:, None], kept][problem.group]
    np.einsum("tii->ti", A)[...] += alpha
    covariance, log_det = _inverses(A)
    mean = rho[:, None] * np.einsum("tij,tj->ti", covariance, problem.projected[:, kept])
    return mean, covariance, log_det


def _inverses(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse and log determinant of each of a stack of positive definite matrices."""
    if A.shape[1] > _STACKED:
        parts = [inverse_and_log_det(one) for one in A]
        return np.stack([inverse for inverse, _ in parts]), np.array([log_det for _, log_det in parts])
    scale = 1 / np.sqrt(np.einsum("tii->ti", A))
    scaled = A * scale[:, :, None] * scale[:, None, :]
    try:
        factor = np.linalg.inv(np.linalg.cholesky(scaled))
    except np.linalg.LinAlgError:  # rounding made one of them indefinite
        parts = [inverse_and_log_det(one) for one in A]
        return np.stack([inverse for inverse, _ in parts]), np.array([log_det for _, log_det in parts])
    factor *= scale[:, None, :]
    log_det = -2 * np.sum(np.log(np.einsum("tii->ti", factor)), axis=1)
    return factor.transpose(0, 2, 1) @ factor, log_det


def _squared_error(problem: HorizonProblem, kept: IndexArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return E‖t − Φβ‖² = ‖t‖² − 2μᵀΦᵀt + μᵀGμ + tr(GΣ) per target."""
    grams = problem.gram[:, kept[:, None], kept][problem.group]
    total = problem.power - 2 * np.einsum("ti,ti->t", mean, problem.projected[:, kept])
    second = covariance + mean[:, :, None] * mean[:, None, :]
    total += np.einsum("tij,tij->t", grams, second)
    floor: FloatArray = np.maximum(total, 1e-15 * problem.rows)  # rounding must not make an error negative
    return floor


def weight_price(c: float, d: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return −KL of q(β_i, α_i) from its prior at the best q(α), without ½ log σ²: see `updates.slab_gain`."""
    constant = 0.5 + gammaln(c + 0.5) - gammaln(c) + c * np.log(d)
    price: FloatArray = constant - (c + 0.5) * np.log(d + 0.5 * (mean**2 + variance))
    return price


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


def newcomers(problem: HorizonProblem, shapes: Shapes, posterior: HorizonPosterior) -> Newcomers:
    """Return what each observable would get and give if it came in, the weights of the others solved anew."""
    kept, rho = posterior.kept, posterior.rho[:, None]
    X = problem.gram[:, kept][problem.group]
    gap = problem.projected - (posterior.mean[:, None, :] @ X)[:, 0]
    response = rho[:, :, None] * (posterior.covariance @ X)
    own = np.einsum("gii->gi", problem.gram)[problem.group]
    free = own - np.einsum("tkl,tkl->tl", X, response)  # its power that the others do not explain
    free = np.maximum(free, _DISTINCT * own)
    mean, variance, alpha = _newcomer(shapes, rho, free, gap)
    growth = free * (mean**2 + variance) - 2 * mean * gap
    price = weight_price(shapes[2], shapes[3], mean, variance) + 0.5 * np.log(variance)
    gains: FloatArray = problem.weight @ (noise_gain(problem, shapes, posterior.squared_error, growth) + price)
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
        squared_error=np.maximum(posterior.squared_error + new.growth[:, observable], 1e-6 * posterior.squared_error),
        evidence=np.nan,
    )


def _newcomer(
    shapes: Shapes, rho: FloatArray, free: FloatArray, gap: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the weight an observable would get, and its precision α, found by two rounds."""
    mean, variance = gap / free, 1 / (rho * free)
    for _ in range(2):
        alpha = update_weight_precision(shapes[2], shapes[3], mean, variance)
        variance = 1 / (rho * free + alpha)
        mean = rho * gap * variance
    return mean, variance, alpha


def noise_gain(problem: HorizonProblem, shapes: Shapes, squared_error: FloatArray, growth: FloatArray) -> FloatArray:
    """Return how the noise term changes, at its best q(ρ), when the squared error grows by `growth` (Q, moves)."""
    a_bar, before = update_noise(shapes[0], shapes[1], problem.rows, squared_error)
    after = np.maximum(before[:, None] + growth / 2, 1e-6 * before[:, None])
    change: FloatArray = -np.reshape(a_bar, (-1, 1)) * np.log(after / before[:, None])
    return change
