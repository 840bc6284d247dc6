"""The exact posterior of spike and slab for a dozen regressors, by going through all sets: the judge of averaging.

Every set's evidence is an integral over the noise precision and one precision per weight; given those, the weights are
Gaussian and integrated in closed form. Sets are ranked by a quick bound first; those that can matter get the integral,
by importance sampling over the logarithms of the precisions.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import gammaln, logsumexp

NEGLIGIBLE = 14.0  # nats below the best set beyond which a set cannot matter
DRAWS = 2000


@dataclass(frozen=True)
class Exact:
    """Inclusion, mean and variance of each effective weight γβ; log evidence of all sets together; sets that matter."""

    inclusion: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    log_evidence: float
    sets: int


def exact_posterior(design, target, prior, seed=0):
    """Return the exact posterior of one target on all regressors of the design, in the units given."""
    rows, p = design.shape
    G, b, tt = design.T @ design, design.T @ target, float(target @ target)
    log_odds = np.log(prior.e) - np.log(prior.f)
    ranked = [
        (bound + k * log_odds, chosen) for k, sets in by_size(p) for bound, chosen in quick(G, b, tt, rows, prior, sets)
    ]
    best = max(bound for bound, _ in ranked)
    rng = np.random.default_rng(seed)
    weights, first, second, which = [], [], [], []
    for bound, chosen in ranked:
        if bound > best - NEGLIGIBLE:
            log_z, mean, square = evidence(G, b, tt, rows, prior, np.array(chosen, dtype=int), rng)
            weights.append(log_z + len(chosen) * log_odds)
            for moments, values in ((first, mean), (second, square), (which, np.ones(len(chosen)))):
                moments.append(np.zeros(p))
                moments[-1][list(chosen)] = values
    total = logsumexp(weights)
    share = np.exp(np.array(weights) - total)
    mean, square, inclusion = (share @ np.array(moments) for moments in (first, second, which))
    return Exact(inclusion, mean, square - mean**2, total - p * np.log1p(np.exp(log_odds)), len(weights))


def by_size(p):
    return [(k, list(combinations(range(p), k))) for k in range(p + 1)]


def quick(G, b, tt, rows, prior, sets, sweeps=25):
    """Yield the variational bound of each of some sets of one size, with the set."""
    chosen = np.array(sets, dtype=int).reshape(len(sets), -1)
    k = chosen.shape[1]
    gram, side = G[chosen[:, :, None], chosen[:, None, :]], b[chosen]
    alpha, rho = np.ones((len(sets), k)), np.full(len(sets), 10 * rows / tt)
    for _ in range(sweeps):
        precision = rho[:, None, None] * gram + alpha[:, :, None] * np.eye(k)
        covariance = np.linalg.inv(precision)
        mean = rho[:, None] * np.einsum("nij,nj->ni", covariance, side)
        variance = np.einsum("nii->ni", covariance)
        second = covariance + mean[:, :, None] * mean[:, None, :]
        error = tt - 2 * np.sum(mean * side, axis=1) + np.einsum("nij,nij->n", gram, second)
        error = np.maximum(error, 1e-12 * tt)
        a_bar, b_bar = prior.a + rows / 2, prior.b + error / 2
        d_bar = prior.d + 0.5 * (mean**2 + variance)
        log_det = np.linalg.slogdet(precision)[1] if k else np.zeros(len(sets))
        slab = 0.5 + gammaln(prior.c + 0.5) - gammaln(prior.c) + prior.c * np.log(prior.d)
        bound = -a_bar * np.log(b_bar) - 0.5 * log_det + np.sum(slab - (prior.c + 0.5) * np.log(d_bar), axis=1)
        alpha, rho = (prior.c + 0.5) / d_bar, a_bar / b_bar
    bound += gammaln(a_bar) - gammaln(prior.a) + prior.a * np.log(prior.b) - rows / 2 * np.log(2 * np.pi)
    return zip(bound, sets, strict=True)


def evidence(G, b, tt, rows, prior, chosen, rng, draws=DRAWS):
    """Return log p(t | set), and mean and mean square of its weights, by importance sampling over the precisions."""
    k = len(chosen)
    gram, side = G[np.ix_(chosen, chosen)], b[chosen]
    scale = _typical_square(gram, side, tt, rows, prior)
    a_bar, b_bar = prior.a + rows / 2, prior.b + _error(gram, side, tt, rows, prior) / 2
    rho = rng.gamma(a_bar / 1.5, 1.5 / b_bar, draws)
    log_weight = _log_gamma(rho, prior.a, prior.b) - _log_gamma(rho, a_bar / 1.5, b_bar / 1.5)
    low, high = np.log(0.02 / scale), np.log(50 / np.minimum(prior.d, scale))
    shape, rate = prior.c + 0.5, prior.d + 0.5 * scale
    wide = rng.random((draws, k)) < 0.5
    alpha = np.where(wide, np.exp(low + (high - low) * rng.random((draws, k))), rng.gamma(shape, 1 / rate, (draws, k)))
    alpha = np.maximum(alpha, 1e-200)
    inside = (np.log(alpha) >= low) & (np.log(alpha) <= high)
    uniform = np.where(inside, -np.log(high - low) - np.log(alpha), -np.inf)
    log_weight += np.sum(_log_gamma(alpha, prior.c, prior.d), axis=1)
    log_weight -= np.sum(np.logaddexp(uniform, _log_gamma(alpha, shape, rate)) - np.log(2), axis=1)
    precision = rho[:, None, None] * gram + alpha[:, :, None] * np.eye(k)
    covariance = np.linalg.inv(precision)
    mean = rho[:, None] * np.einsum("nij,j->ni", covariance, side)
    log_det = np.linalg.slogdet(precision)[1] if k else 0.0
    fit = rows / 2 * np.log(rho / (2 * np.pi)) - 0.5 * rho * (tt - mean @ side)
    log_weight += fit + 0.5 * np.sum(np.log(alpha), axis=1) - 0.5 * log_det
    log_z = logsumexp(log_weight) - np.log(draws)
    share = np.exp(log_weight - log_z) / draws
    return log_z, share @ mean, share @ (mean**2 + np.einsum("nii->ni", covariance))


def _typical_square(gram, side, tt, rows, prior, sweeps=25):
    """Return E β² of each weight by a few sweeps of the variational updates: where proposals are centred."""
    return _settled(gram, side, tt, rows, prior, sweeps)[0]


def _error(gram, side, tt, rows, prior, sweeps=25):
    return _settled(gram, side, tt, rows, prior, sweeps)[1]


def _settled(gram, side, tt, rows, prior, sweeps):
    k = len(side)
    alpha, rho = np.ones(k), 10 * rows / tt
    for _ in range(sweeps):
        covariance = np.linalg.inv(rho * gram + np.diag(alpha))
        mean = rho * covariance @ side
        error = max(tt - 2 * mean @ side + np.sum(gram * (covariance + np.outer(mean, mean))), 1e-12 * tt)
        square = mean**2 + np.diag(covariance)
        alpha, rho = (prior.c + 0.5) / (prior.d + 0.5 * square), (prior.a + rows / 2) / (prior.b + error / 2)
    return square, error


def _log_gamma(x, shape, rate):
    return shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x
