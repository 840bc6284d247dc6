"""The evidence lower bound of variational spike and slab in closed form, per target.

`paired_elbo` is the bound of the default family, `published_elbo` that of the paper's mean-field family; both are
E log p(t|·) + E log p(β|α) + E log p(γ|π) + E log p(α) + E log p(π) + E log p(ρ) + entropies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from koopsieve._types import FloatArray, IndexArray
from koopsieve.identify.spike_slab.equations import slab_gain


def noise_term(a: float, b: float, rows: float | FloatArray, squared_error: FloatArray) -> FloatArray:
    """Return E log p(t|·) + E log p(ρ) + H(q(ρ)) at the best q(ρ)."""
    a_bar, b_bar = a + rows / 2, b + squared_error / 2
    constant = -rows / 2 * np.log(2 * np.pi) + gammaln(a_bar) - gammaln(a) + a * np.log(b)
    return np.asarray(constant - a_bar * np.log(b_bar), dtype=float)


def entropy(gamma: FloatArray) -> FloatArray:
    """Return the entropy of each inclusion flag."""
    return np.asarray(-xlogy(gamma, gamma) - xlog1py(1 - gamma, -gamma), dtype=float)


@dataclass(frozen=True, eq=False)
class Inside:
    """The weights whose flag is on, in one row: which regressor of which target, and the parameters of q.

    A flag that is off adds nothing to sums over regressors, and almost all are off.
    """

    regressor: IndexArray
    target: IndexArray
    gamma: FloatArray
    mu: FloatArray
    sigma2: FloatArray
    targets: int

    @classmethod
    def of(cls, gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> Inside:
        """Pick them out of (regressors, targets) arrays."""
        flags = gamma.T.ravel()
        places = np.flatnonzero(flags != 0)
        target, regressor = np.divmod(places, len(gamma))
        return cls(regressor, target, flags[places], mu.T.ravel()[places], sigma2.T.ravel()[places], gamma.shape[1])

    def total(self, values: FloatArray) -> FloatArray:
        """Add values up, target by target."""
        return np.bincount(self.target, values, minlength=self.targets).astype(float, copy=False)


def paired_elbo(
    prior: tuple[float, float, float, float],
    odds: FloatArray,
    nothing: float,
    rows: float,
    squared_error: FloatArray,
    inside: Inside,
) -> FloatArray:
    """Return the bound of the paired family, with q(ρ) and q(α) at their best.

    Parameters
    ----------
    prior : (a, b, c, d)
        Hyperparameters.
    odds : array, shape (p,)
        log(e_i/f_i); zero for regressors that are always in.
    nothing : float
        Log probability a priori that none of the others is in.
    squared_error : array, shape (q,)
        E‖t − Φ(γ∘β)‖².
    inside : Inside
        Parameters of q.
    """
    a, b, c, d = prior
    gain = inside.gamma * (slab_gain(c, d, inside.mu, inside.sigma2) + odds[inside.regressor]) + entropy(inside.gamma)
    elbo: FloatArray = noise_term(a, b, rows, squared_error) + inside.total(gain) + nothing
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
