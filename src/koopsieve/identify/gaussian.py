"""Gaussian posteriors of weights: the linear algebra that sparse Bayes and spike and slab share.

Comes in: a problem in standard units and diagonal precisions. Goes out: posterior means, variances and log
determinants, target by target on that target's own active regressors.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from koopsieve._types import FloatArray
from koopsieve.identify.standardise import StandardProblem


def posterior(
    problem: StandardProblem, precision: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the weights and log|ρG + Λ| per target; regressors of infinite precision are out.

    Parameters
    ----------
    problem : StandardProblem
        p regressors, q targets.
    precision : array, shape (p, q)
        Λ, prior precision of each weight.
    noise : array, shape (q,)
        ρ, noise precision of each target.
    """
    mean, variance = np.zeros(precision.shape), np.zeros(precision.shape)
    log_det = np.zeros(len(noise))
    projected = problem.R.T @ problem.S
    for j in range(len(noise)):
        kept = np.flatnonzero(np.isfinite(precision[:, j]))
        if kept.size:
            A = noise[j] * problem.gram[np.ix_(kept, kept)]
            A[np.diag_indices_from(A)] += precision[kept, j]
            inverse, log_det[j] = inverse_and_log_det(A)
            variance[kept, j] = np.diagonal(inverse)
            mean[kept, j] = inverse @ (noise[j] * projected[kept, j])
    return mean, variance, log_det


def inverse_and_log_det(A: FloatArray) -> tuple[FloatArray, float]:
    """Invert a positive semidefinite matrix; directions lost to rounding get the smallest eigenvalue that counts."""
    scale = 1 / np.sqrt(np.diagonal(A))
    scaled = A * scale[:, None] * scale
    factor, info = lapack.dpotrf(scaled, lower=1)
    if info == 0:
        inverse, _ = lapack.dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        log_det = 2 * np.sum(np.log(np.diagonal(factor)))
    else:
        values, vectors = np.linalg.eigh(scaled)
        values = np.maximum(values, len(A) * np.finfo(float).eps * values[-1])
        inverse, log_det = (vectors / values) @ vectors.T, np.sum(np.log(values))
    return inverse * scale[:, None] * scale, float(log_det - 2 * np.sum(np.log(scale)))


def active_weights(
    problem: StandardProblem,
    gamma: FloatArray,
    mu: FloatArray,
    alpha: FloatArray,
    rho: FloatArray,
    least: float,
) -> FloatArray:
    """Solve for the means of all regressors with γ ≥ `least` at once, the others held.

    With w = γ∘μ the bound is largest where (G + D)w = Φᵀt over the active regressors, D = ((1 − γ)g + α/ρ)/γ.
    """
    solved = mu.copy()
    w = gamma * mu
    correlation = problem.R.T @ problem.gap(w)
    for j in range(mu.shape[1]):
        active = np.flatnonzero(gamma[:, j] >= least)
        if active.size:
            A = problem.gram[np.ix_(active, active)]
            right = correlation[active, j] + A @ w[active, j]
            present = gamma[active, j]
            A[np.diag_indices_from(A)] += ((1 - present) * problem.energy[active] + alpha[active, j] / rho[j]) / present
            solved[active, j] = solve_positive(A, right) / present
    return solved


def solve_positive(A: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a symmetric positive semidefinite system; where rounding made it indefinite, in the least-squares sense."""
    _, solution, info = lapack.dposv(A, right, lower=1)
    if info != 0:
        solution = np.linalg.lstsq(A, right, rcond=len(A) * np.finfo(float).eps)[0]
    result: FloatArray = solution
    return result
