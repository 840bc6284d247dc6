"""Every update maximises the part of the bound it is derived from, with everything else held."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import gamma as gamma_distribution

from koopsieve.identify.prior import Slab
from koopsieve.identify.spike_slab import equations

SEEDS = pytest.mark.parametrize("seed", range(5))


def drawn(seed):
    """Return ρ, g, α, s, c, d of a regressor."""
    return 10.0 ** np.random.default_rng(seed).uniform(-1, 1, 6)


def weight_part(rho, g, alpha, s, mu, sigma2):
    """Return what the bound owes to one weight given that it is in, q(α) held."""
    return rho * (mu * s - 0.5 * (mu**2 + sigma2) * g) - 0.5 * alpha * (mu**2 + sigma2) + 0.5 * np.log(sigma2)


def largest(function, low, high):
    return minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x


@SEEDS
def test_the_weight_is_the_best_one(seed):
    rho, g, alpha, s, *_ = drawn(seed)
    mu, sigma2 = equations.paired_weights(rho, g, np.array([alpha]), s)
    best = largest(lambda x: weight_part(rho, g, alpha, s, x, sigma2[0]), -50, 50)
    np.testing.assert_allclose(mu[0], best, rtol=1e-5)
    best = largest(lambda x: weight_part(rho, g, alpha, s, mu[0], np.exp(x)), -20, 20)
    np.testing.assert_allclose(sigma2[0], np.exp(best), rtol=1e-5)


@SEEDS
def test_the_inclusion_is_the_best_one(seed):
    rho, g, _, s, c, d = drawn(seed)
    mu, sigma2, log_odds, slab = 0.3 * s, 0.2, -1.0, Slab.of(c, d)
    eta = equations.paired_log_odds(rho, mu, sigma2, g, s, slab, log_odds)

    def bound(gamma):
        explained = rho * gamma * (mu * s - 0.5 * (mu**2 + sigma2) * g)
        entropy = -gamma * np.log(gamma) - (1 - gamma) * np.log(1 - gamma)
        return explained + gamma * (equations.slab_gain(slab, mu, sigma2) + log_odds) + entropy

    logit = largest(lambda x: bound(expit(x)), -30, 30)
    np.testing.assert_allclose(expit(eta), expit(logit), atol=1e-6)


@SEEDS
def test_the_slab_gain_is_minus_a_divergence_and_largest_at_the_updated_precision(seed):
    """E log p(β|α)p(α) − E log q(β)q(α), by adding up over a grid of α."""
    *_, s, c, d = drawn(seed)
    mu, sigma2, slab = s, 0.3, Slab.of(c, d)
    grid = np.linspace(0, 1, 200_002)[1:-1]

    def divergence(shape, rate):
        q, p = gamma_distribution(shape, scale=1 / rate), gamma_distribution(c, scale=1 / d)
        alpha = q.ppf(grid)  # equally likely values
        entropy = 0.5 * np.log(2 * np.pi * np.e * sigma2)
        fit = 0.5 * np.log(alpha / (2 * np.pi)) - 0.5 * alpha * (mu**2 + sigma2)
        return np.mean(fit + entropy + p.logpdf(alpha) - q.logpdf(alpha))

    best = c + 0.5, d + 0.5 * (mu**2 + sigma2)
    gain = equations.slab_gain(slab, mu, sigma2)
    np.testing.assert_allclose(gain, divergence(*best), atol=1e-3)
    assert gain <= 0
    assert divergence(best[0], 1.2 * best[1]) < gain
    assert divergence(1.2 * best[0], best[1]) < gain
    np.testing.assert_allclose(equations.update_weight_precision(slab, mu, sigma2), best[0] / best[1])
    without = equations.slab_gain_without_entropy(slab, mu, sigma2)
    np.testing.assert_allclose(gain - without, 0.5 * np.log(sigma2))


@SEEDS
def test_the_expected_squared_error_is_that_of_drawn_weights(seed):
    rng = np.random.default_rng(seed)
    x, t, n = rng.normal(size=(30, 3)), rng.normal(size=30), 200_000
    gamma, mu, sigma2 = rng.uniform(0, 1, 3), rng.normal(size=3), rng.uniform(0.1, 1, 3)
    weights = (rng.random((n, 3)) < gamma) * (mu + np.sqrt(sigma2) * rng.normal(size=(n, 3)))
    G = x.T @ x
    errors = t @ t - 2 * weights @ (x.T @ t) + np.einsum("ni,ij,nj->n", weights, G, weights)
    excess = equations.excess_error(np.diag(G), gamma, mu, sigma2).sum()
    exact = np.sum((t - x @ (gamma * mu)) ** 2) + excess
    assert abs(exact - errors.mean()) < 5 * errors.std() / np.sqrt(n)
