"""The bound of the horizon sieve, term by term, from raw data: an oracle with nothing in common with the fast code."""

import numpy as np
from scipy.special import gammaln, psi


def direct_data(states, inputs, lifted, outputs, horizons):
    """Return, per horizon, observables, inputs in between and targets of every window that has all horizons ahead."""
    rows = len(states) - max(horizons)
    found = []
    for h in horizons:
        between = np.hstack([inputs[j : j + rows] for j in range(h)]) if inputs.shape[1] else np.zeros((rows, 0))
        found.append((lifted[:rows], between, states[h : h + rows, outputs]))
    return found


def residual(matrix, between):
    """Return what the inputs leave of the columns of a matrix."""
    if not between.shape[1]:
        return matrix
    return matrix - between @ np.linalg.lstsq(between, matrix, rcond=None)[0]


def bound_of_target(X, t, rows, prior, mean, covariance, alpha, rho_hat):
    """Return E log p(t, β, α, ρ) − E log q for q(β) = N(mean, covariance), q(α) and q(ρ) at their optima for it."""
    a, b, c, d = prior
    k = len(mean)
    error = np.sum((t - X @ mean) ** 2) + np.trace(X @ covariance @ X.T)
    a_bar, b_bar = a + rows / 2, b + error / 2
    c_bar, d_bar = c + 0.5, d + 0.5 * (mean**2 + np.diag(covariance))
    rho, log_rho = a_bar / b_bar, psi(a_bar) - np.log(b_bar)
    precision, log_precision = c_bar / d_bar, psi(c_bar) - np.log(d_bar)
    total = rows / 2 * (log_rho - np.log(2 * np.pi)) - rho / 2 * error
    total += np.sum(0.5 * (log_precision - np.log(2 * np.pi)) - 0.5 * precision * (mean**2 + np.diag(covariance)))
    total += a * np.log(b) - gammaln(a) + (a - 1) * log_rho - b * rho
    total += np.sum(c * np.log(d) - gammaln(c) + (c - 1) * log_precision - d * precision)
    total += 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance)[1] if k else 0.0
    total += a_bar - np.log(b_bar) + gammaln(a_bar) + (1 - a_bar) * psi(a_bar)
    total += np.sum(c_bar - np.log(d_bar) + gammaln(c_bar) + (1 - c_bar) * psi(c_bar))
    return total
