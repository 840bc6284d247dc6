"""The evidence lower bound of variational spike and slab in closed form, per target.

`paired_elbo` is the bound of the default family, `published_elbo` that of the paper's mean-field family; both are
E log p(t|·) + E log p(β|α) + E log p(γ|π) + E log p(α) + E log p(π) + E log p(ρ) + entropies.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from koopsieve._types import FloatArray
from koopsieve.identify.updates import slab_gain


def noise_term(a: float, b: float, rows: float | FloatArray, squared_error: FloatArray) -> FloatArray:
    """Return E log p(t|·) + E log p(ρ) + H(q(ρ)) at the best q(ρ)."""
    a_bar, b_bar = a + rows / 2, b + squared_error / 2
    constant = -rows / 2 * np.log(2 * np.pi) + gammaln(a_bar) - gammaln(a) + a * np.log(b)
    return np.asarray(constant - a_bar * np.log(b_bar), dtype=float)


def entropy(gamma: FloatArray) -> FloatArray:
    """Return the entropy of each inclusion flag."""
    return np.asarray(-xlogy(gamma, gamma) - xlog1py(1 - gamma, -gamma), dtype=float)


def paired_elbo(
    prior: tuple[float, float, float, float],
    log_odds: FloatArray,
    rows: float,
    squared_error: FloatArray,
    gamma: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
) -> FloatArray:
    """Return the bound of the paired family, with q(ρ) and q(α) at their best.

    Parameters
    ----------
    prior : (a, b, c, d)
        Hyperparameters.
    log_odds : array, shape (p, 1)
        log(e_i/f_i); inf for regressors that are always in.
    squared_error : array, shape (q,)
        E‖t − Φ(γ∘β)‖².
    gamma, mu, sigma2 : array, shape (p, q)
        Parameters of q.
    """
    a, b, c, d = prior
    known = np.isinf(log_odds)
    odds = np.where(known, 0.0, log_odds)
    i, j = np.nonzero(gamma)  # a flag that is off adds nothing but its prior
    inside = gamma[i, j] * (slab_gain(c, d, mu[i, j], sigma2[i, j]) + odds[i, 0]) + entropy(gamma[i, j])
    flags = np.bincount(j, inside, minlength=gamma.shape[1]) - np.sum(np.logaddexp(0, odds), where=~known)
    elbo: FloatArray = noise_term(a, b, rows, squared_error) + flags
    return elbo


def published_elbo(
    prior: tuple[float, float, float, float, float, float],
    rows: float,
    squared_error: FloatArray,
    gamma: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
) -> FloatArray:
    """Return the bound of the published mean-field family, with q(ρ), q(α) and q(π) at their best."""
    a, b, c, d, e, f = prior
    flags = betaln(e + gamma, f + 1 - gamma) - betaln(e, f) + entropy(gamma)
    elbo: FloatArray = noise_term(a, b, rows, squared_error) + np.sum(slab_gain(c, d, mu, sigma2) + flags, axis=0)
    return elbo
