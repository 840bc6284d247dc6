"""Equations (16) to (27): the mean-field family, and the updates of variational spike and slab, one function each.

Arrays are (regressors, targets), or one row of them; ρ has one entry per target. Notation: w = γ∘μ, g_i = ‖φ_i‖²,
s_i = φ_iᵀ r_i where r_i is the residual without regressor i. Plain numbers are the paper's equations, (D…) those of
docs/derivation.md.

Two families of q are served. *Published* (mean field, equation 16): q(β_i)q(γ_i)q(α_i)q(π_i). *Paired* (D4), the
default: one factor per regressor, q(β_i, α_i, π_i, γ_i), in which weight and precision have their own posterior when
the regressor is in and keep their prior when it is out. The paired family contains the published one, so its bound is
never lower; π_i drops out, and a regressor that is out still has the weight it would have if it were in, so that it can
come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import expit, psi

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify.prior import Slab

CLIP = 1e-8  # the paper's δ: inclusion probabilities are clipped to [δ, 1 − δ]


def excess_error(g: FloatArray, gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return g_i(γ_i(μ_i² + σ_i²) − w_i²), by which E‖t − Φ(γ∘β)‖² exceeds ‖t − Φw‖² in sum: (D6)."""
    return g * effective_variance(gamma, mu, sigma2)


def effective_variance(gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return the variance γ_i(μ_i² + σ_i²) − w_i² of the effective weight γ_iβ_i: (D6)."""
    return gamma * ((1 - gamma) * mu**2 + sigma2)


def update_noise(
    a: float, b: float, rows: float | FloatArray, squared_error: FloatArray
) -> tuple[float | FloatArray, FloatArray]:
    """Return ā = a + m/2 and b̄ = b + ½·(squared error): equation (18).

    The squared error is E‖t − Φ(γ∘β)‖² for the exact bound (D7), ‖t − Φw‖² as published.
    """
    return a + rows / 2, b + squared_error / 2


def update_precision_shapes(
    c: float | FloatArray, d: float | FloatArray, mu: FloatArray, sigma2: FloatArray
) -> tuple[float | FloatArray, FloatArray]:
    """Return c̄ = c + ½ and d̄ = d + ½(μ² + σ²): equation (19)."""
    return c + 0.5, d + 0.5 * (mu**2 + sigma2)


def update_weight_precision(slab: Slab, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return α̂ = c̄/d̄: equation (19)."""
    c_bar, d_bar = update_precision_shapes(slab.c, slab.d, mu, sigma2)
    return c_bar / d_bar


def update_inclusion_shapes(
    e: float | FloatArray, f: float | FloatArray, gamma: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ē = e + γ̂ and f̄ = f + 1 − γ̂: equation (20)."""
    return e + gamma, f + 1 - gamma


def published_weights(
    rho: FloatArray, gamma: FloatArray, g: FloatArray, alpha: FloatArray, s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return precision ᾱ = ρ̂γ̂g + α̂ and mean μ̄ = ρ̂γ̂s/ᾱ of q(β): equation (22)."""
    precision = rho * gamma * g + alpha
    return precision, rho * gamma * s / precision


def published_inclusion(
    rho: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
    g: FloatArray,
    s: FloatArray,
    e_bar: FloatArray,
    f_bar: FloatArray,
) -> FloatArray:
    """Return γ̂ = sigmoid(ρ̂μs − ½ρ̂(μ² + σ²)g + ψ(ē) − ψ(f̄)), clipped: equations (26) and (27)."""
    eta = explained(rho, mu, sigma2, g, s) + psi(e_bar) - psi(f_bar)
    clipped: FloatArray = np.clip(expit(eta), CLIP, 1 - CLIP)
    return clipped


def explained(rho: FloatArray, mu: FloatArray, sigma2: FloatArray, g: FloatArray, s: FloatArray) -> FloatArray:
    """Return ρ̂μs − ½ρ̂(μ² + σ²)g: how much log-likelihood the regressor explains when it is in (equation 26)."""
    return rho * (mu * s - 0.5 * (mu**2 + sigma2) * g)


def paired_weights(rho: FloatArray, g: FloatArray, alpha: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of q(β | γ = 1): σ⁻² = ρ̂g + α̂, μ = σ²ρ̂s: (D13)."""
    sigma2 = paired_variance(rho, g, alpha)
    return rho * s * sigma2, sigma2


def paired_variance(rho: FloatArray, g: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the variance of q(β | γ = 1) alone, in the memory order of α: (D13)."""
    precision: FloatArray = np.multiply(rho, g, out=np.empty_like(alpha))
    precision += alpha
    return np.reciprocal(precision, out=precision)


def paired_log_odds(
    rho: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
    g: FloatArray,
    s: FloatArray,
    slab: Slab,
    log_odds: FloatArray,
) -> FloatArray:
    """Return η: what the regressor explains, the gain of its slab, and its prior log odds: (D14)."""
    return explained(rho, mu, sigma2, g, s) + slab_gain(slab, mu, sigma2) + log_odds


def slab_gain(slab: Slab, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return −KL of q(β, α | γ = 1) from its prior at the best q(α), which is not positive: (D9)."""
    gain: FloatArray = 0.5 * np.log(sigma2) + slab_gain_without_entropy(slab, mu, sigma2)
    return gain


def slab_gain_without_entropy(slab: Slab, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return the slab gain without ½ log σ², for weights whose joint entropy is counted elsewhere: (D9).

    ½ + log Γ(c̄) − log Γ(c) + c log d − c̄ log d̄.
    """
    d_bar = slab.d + 0.5 * (mu**2 + sigma2)
    gain: FloatArray = slab.constant - (slab.c + 0.5) * np.log(d_bar)
    return gain


@dataclass(frozen=True, eq=False)
class MeanField:
    """The parameters of every factor of q, which are the state of Algorithm 1 and, at its end, its output.

    Parameters
    ----------
    mean, precision : array, shape (p, q)
        Of q(β), Gaussian.
    inclusion : array, shape (p, q)
        Of q(γ), Bernoulli.
    c_bar, d_bar : array, shape (p, q)
        Shape and rate of q(α), Gamma.
    e_bar, f_bar : array, shape (p, q)
        Shapes of q(π), Beta.
    a_bar, b_bar : array, shape (q,)
        Shape and rate of q(ρ), Gamma.
    diverged : array of bool, shape (q,)
        Targets whose next update left the range of floats, so that they stayed where they were.
    """

    mean: FloatArray
    precision: FloatArray
    inclusion: FloatArray
    c_bar: FloatArray
    d_bar: FloatArray
    e_bar: FloatArray
    f_bar: FloatArray
    a_bar: FloatArray
    b_bar: FloatArray
    diverged: BoolArray

    @property
    def weights(self) -> FloatArray:
        """The effective weights γ̂∘μ."""
        return self.inclusion * self.mean

    @property
    def expected_noise_precision(self) -> FloatArray:
        """ρ̂ = ā/b̄."""
        return self.a_bar / self.b_bar

    @property
    def expected_weight_precision(self) -> FloatArray:
        """α̂ = c̄/d̄."""
        return self.c_bar / self.d_bar

    @property
    def beta(self) -> Any:
        """q(β) as a `scipy.stats` distribution over arrays: `.mean()`, `.var()`, `.interval(0.95)`, …."""
        return _distribution("norm", self.mean, 1 / np.sqrt(self.precision))

    @property
    def gamma(self) -> Any:
        """q(γ) as a `scipy.stats` distribution."""
        return _distribution("bernoulli", self.inclusion)

    @property
    def alpha(self) -> Any:
        """q(α) as a `scipy.stats` distribution."""
        return _distribution("gamma", self.c_bar, scale=1 / self.d_bar)

    @property
    def pi(self) -> Any:
        """q(π) as a `scipy.stats` distribution."""
        return _distribution("beta", self.e_bar, self.f_bar)

    @property
    def rho(self) -> Any:
        """q(ρ) as a `scipy.stats` distribution."""
        return _distribution("gamma", self.a_bar, scale=1 / self.b_bar)

    def rows(self, block: slice) -> MeanField:
        """Return the same with some of the regressors."""
        return MeanField(**{name: value[block] if value.ndim == 2 else value for name, value in _arrays(self).items()})

    def changed(self, updated: Mapping[str, FloatArray]) -> MeanField:
        """Return the state with some arrays replaced; targets where that is not finite stay, marked as diverged.

        A residual whose square overflows makes b̄ infinite and ρ̂ zero, as in any literal program: the target then starts
        over.
        """
        after = {**_arrays(self), **updated}
        fine = np.isfinite(after["a_bar"] / after["b_bar"])
        for name in ("mean", "precision", "inclusion"):
            fine = fine & np.isfinite(after[name]).all(axis=0)
        kept = {name: np.where(fine, value, getattr(self, name)) for name, value in after.items()}
        return MeanField(**{**kept, "diverged": ~fine})


def _arrays(state: MeanField) -> dict[str, Any]:
    return {each.name: getattr(state, each.name) for each in fields(MeanField)}


def _distribution(kind: str, *shapes: FloatArray, **options: FloatArray) -> Any:
    from scipy import stats  # takes half a second to import

    return getattr(stats, kind)(*shapes, **options)
