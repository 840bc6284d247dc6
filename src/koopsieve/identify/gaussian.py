"""Gaussian posteriors of weights: the linear algebra that sparse Bayes and spike and slab share.

Comes in: a problem in standard units and diagonal precisions. Goes out: posterior means, variances and log
determinants, target by target on that target's own active regressors.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from koopsieve._types import FloatArray
from koopsieve.identify.batches import batches, solve
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
    for j in range(len(noise)):
        kept = np.flatnonzero(np.isfinite(precision[:, j]))
        if kept.size:
            A = noise[j] * problem.gram[kept[:, None], kept]
            np.einsum("ii->i", A)[:] += precision[kept, j]
            root, log_det[j] = whitening(A)
            variance[kept, j] = np.einsum("ij,ij->j", root, root)
            mean[kept, j] = root.T @ (root @ (noise[j] * problem.projected[kept, j]))
    return mean, variance, log_det


def whitening(A: FloatArray) -> tuple[FloatArray, float]:
    """Return W with WᵀW = A⁻¹, and log|A|; directions lost to rounding get the smallest eigenvalue that counts."""
    scale = 1 / np.sqrt(np.diagonal(A))
    scaled = A * scale[:, None] * scale
    factor, info = lapack.dpotrf(scaled, lower=1, clean=1)
    if info == 0:
        root, _ = lapack.dtrtri(factor, lower=1)
        log_det = 2 * np.sum(np.log(np.diagonal(factor)))
    else:
        values, vectors = np.linalg.eigh(scaled)
        values = np.maximum(values, len(A) * np.finfo(float).eps * values[-1])
        root, log_det = vectors.T / np.sqrt(values)[:, None], np.sum(np.log(values))
    return root * scale, float(log_det - 2 * np.sum(np.log(scale)))


def inverse_and_log_det(A: FloatArray) -> tuple[FloatArray, float]:
    """Invert a positive semidefinite matrix; directions lost to rounding get the smallest eigenvalue that counts."""
    root, log_det = whitening(A)
    return root.T @ root, log_det


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
    seen = problem.correlation(w)
    for batch in batches(gamma >= least):
        present, held = batch.gather(gamma, 1.0), batch.gather(w, 0.0)
        ratio = batch.gather(alpha, 0.0) / rho[batch.targets, None]
        ridge = ((1 - present) * problem.energy[batch.index] + ratio) / present
        gram = batch.gram(problem)
        # (G + D)w = Φᵀt − (what the others explain) = Φᵀ(t − Φw) + Gw over the active regressors
        side = batch.gather(seen, 0.0) + np.matmul(gram, held[:, :, None])[:, :, 0]
        batch.scatter(solved, solve(batch.with_diagonal(gram, ridge), side) / present)
    return solved
