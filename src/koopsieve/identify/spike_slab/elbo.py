"""The evidence lower bound of variational spike and slab in closed form, per target.

`paired_elbo` is the bound of the default family (D10), `published_elbo` that of the paper's mean-field family
(D11); both are equation (6), written out with the model of equation (17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from koopsieve._types import FloatArray, IndexArray
from koopsieve.identify.prior import ProblemPrior
from koopsieve.identify.spike_slab.equations import slab_gain


def noise_term(a: float, b: float, rows: float | FloatArray, squared_error: FloatArray) -> FloatArray:
    """Return E log p(t|·) + E log p(ρ) + H(q(ρ)) at the best q(ρ): (D8)."""
    a_bar, b_bar = a + rows / 2, b + squared_error / 2
    constant = -rows / 2 * np.log(2 * np.pi) + gammaln(a_bar) - gammaln(a) + a * np.log(b)
    return np.asarray(constant - a_bar * np.log(b_bar), dtype=float)


def entropy(gamma: FloatArray) -> FloatArray:
    """Return the entropy of each inclusion flag."""
    return np.asarray(-xlogy(gamma, gamma) - xlog1py(1 - gamma, -gamma), dtype=float)


@dataclass(frozen=True, eq=False)
class Included:
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
    def of(cls, gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> Included:
        """Pick them out of (regressors, targets) arrays."""
        flags = gamma.T.ravel()
        places = np.flatnonzero(flags != 0)
        target, regressor = np.divmod(places, len(gamma))
        return cls(regressor, target, flags[places], mu.T.ravel()[places], sigma2.T.ravel()[places], gamma.shape[1])

    def total(self, values: FloatArray) -> FloatArray:
        """Add values up, target by target."""
        return np.bincount(self.target, values, minlength=self.targets).astype(float, copy=False)


def paired_elbo(prior: ProblemPrior, rows: float, squared_error: FloatArray, included: Included) -> FloatArray:
    """Return the bound of the paired family, with q(ρ) and q(α) at their best: (D10).

    Parameters
    ----------
    prior : ProblemPrior
        Hyperparameters; regressors that are always in have infinite log odds, and their flags are one.
    rows : float
        m.
    squared_error : array, shape (q,)
        E‖t − Φ(γ∘β)‖².
    included : Included
        Parameters of q.
    """
    slab = slab_gain(prior.slab.at(included.regressor), included.mu, included.sigma2)
    gain = included.gamma * (slab + prior.finite_log_odds[included.regressor]) + entropy(included.gamma)
    elbo: FloatArray = noise_term(prior.a, prior.b, rows, squared_error) + included.total(gain) + prior.log_none_in
    return elbo


def published_elbo(
    prior: ProblemPrior,
    rows: float,
    squared_error: FloatArray,
    gamma: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
) -> FloatArray:
    """Return the bound of the mean-field family, with q(ρ), q(α) and q(π) at their best: (D11)."""
    e, f = (np.reshape(value, (-1, 1)) for value in (prior.e, prior.f))
    flags = betaln(e + gamma, f + 1 - gamma) - betaln(e, f) + entropy(gamma)
    weights = slab_gain(prior.slab.column, mu, sigma2)
    elbo: FloatArray = noise_term(prior.a, prior.b, rows, squared_error) + np.sum(weights + flags, axis=0)
    return elbo
