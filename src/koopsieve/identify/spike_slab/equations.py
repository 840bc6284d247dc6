"""The updates of variational spike and slab, one function per equation, in the paper's symbols (Section 4.1).

Arrays are (regressors, targets), or one row of them; ρ has one entry per target. Notation: w = γ∘μ, g_i = ‖φ_i‖²,
s_i = φ_iᵀ r_i where r_i is the residual without regressor i.

Two families of q are served. *Published* (mean field): q(β_i)q(γ_i)q(α_i)q(π_i). *Paired*, the default: one factor per
regressor, q(β_i, α_i, π_i, γ_i), in which weight and precision have their own posterior when the regressor is in and
keep their prior when it is out. The paired family contains the published one, so its bound is never lower; π_i drops
out, and a regressor that is out still knows the weight it would have if it were in, so that it can come back.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import expit, gammaln, psi

from koopsieve._types import FloatArray

DELTA = 1e-8  # the paper's clip of inclusion probabilities


def missing_power(g: FloatArray, gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return g_i(γ_i(μ_i² + σ_i²) − w_i²), over which E‖t − Φ(γ∘β)‖² exceeds ‖t − Φw‖² in sum."""
    return g * gamma * ((1 - gamma) * mu**2 + sigma2)


def update_noise(
    a: float, b: float, rows: float | FloatArray, squared_error: FloatArray
) -> tuple[float | FloatArray, FloatArray]:
    """Return ā = a + m/2 and b̄ = b + ½·(squared error): eq. (a_b_update).

    The squared error is E‖t − Φ(γ∘β)‖² for the exact bound, ‖t − Φw‖² as published.
    """
    return a + rows / 2, b + squared_error / 2


def update_weight_precision(c: float, d: float, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return α̂ = c̄/d̄ with c̄ = c + ½, d̄ = d + ½(μ² + σ²): eq. (c_d_update)."""
    return (c + 0.5) / (d + 0.5 * (mu**2 + sigma2))


def update_inclusion_shapes(e: float, f: float, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ē = e + γ̂ and f̄ = f + 1 − γ̂: eq. (e_f_update)."""
    return e + gamma, f + 1 - gamma


def published_weights(
    rho: FloatArray, gamma: FloatArray, g: FloatArray, alpha: FloatArray, s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return precision ᾱ = ρ̂γ̂g + α̂ and mean μ̄ = ρ̂γ̂s/ᾱ of q(β): eq. (alpha_mu_update)."""
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
    """Return γ̂ = sigmoid(ρ̂μs − ½ρ̂(μ² + σ²)g + ψ(ē) − ψ(f̄)), clipped: eqs. (eta_defn), (pi_update)."""
    eta = explained(rho, mu, sigma2, g, s) + psi(e_bar) - psi(f_bar)
    clipped: FloatArray = np.clip(expit(eta), DELTA, 1 - DELTA)
    return clipped


def explained(rho: FloatArray, mu: FloatArray, sigma2: FloatArray, g: FloatArray, s: FloatArray) -> FloatArray:
    """Return ρ̂μs − ½ρ̂(μ² + σ²)g: how much log-likelihood the regressor explains when it is in."""
    return rho * (mu * s - 0.5 * (mu**2 + sigma2) * g)


def paired_weights(rho: FloatArray, g: FloatArray, alpha: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of q(β | γ = 1): σ⁻² = ρ̂g + α̂, μ = σ²ρ̂s."""
    sigma2 = paired_variance(rho, g, alpha)
    return rho * s * sigma2, sigma2


def paired_variance(rho: FloatArray, g: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the variance of q(β | γ = 1) alone, in the memory order of α."""
    precision: FloatArray = np.multiply(rho, g, out=np.empty_like(alpha))
    precision += alpha
    return np.reciprocal(precision, out=precision)


def slab_gain(c: float, d: float, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
    """Return −KL of q(β, α | γ = 1) from its prior, at the best q(α): the (negative) price of a weight.

    E log p(β|α)p(α) − E log q(β)q(α) = ½ + ½ log σ² + log Γ(c̄) − log Γ(c) + c log d − c̄ log d̄.
    """
    d_bar = d + 0.5 * (mu**2 + sigma2)
    gain: FloatArray = _slab_constant(c, d) + 0.5 * np.log(sigma2) - (c + 0.5) * np.log(d_bar)
    return gain


@cache
def _slab_constant(c: float, d: float) -> float:
    return float(0.5 + gammaln(c + 0.5) - gammaln(c) + c * np.log(d))
