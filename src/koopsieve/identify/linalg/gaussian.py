"""Gaussian posteriors of weights: the linear algebra that sparse Bayes and spike and slab share.

Comes in: a problem in standard units and diagonal precisions. Goes out: posterior means, variances and log
determinants, target by target on that target's own active regressors.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from koopsieve._types import FloatArray
from koopsieve.identify.linalg.batches import Batch, batches
from koopsieve.identify.linalg.standardise import StandardProblem

STACK = 1 << 15  # numbers per stack: few enough that targets of different sizes need little padding


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
    mean, variance = np.zeros_like(precision), np.zeros_like(precision)
    kept = np.isfinite(precision)
    log_det = np.count_nonzero(kept, axis=0) * np.log(noise)
    ridge = precision / noise
    for batch in batches(problem, kept, numbers=STACK):
        root, extra = _roots(batch, batch.gather(ridge, 0.0))
        log_det[batch.targets] += extra
        side = batch.gather(problem.projected, 0.0)
        found = np.matmul(root, np.matmul(side[:, None, :], root).transpose(0, 2, 1))[:, :, 0]
        batch.scatter(mean, found)
        batch.scatter(variance, np.einsum("nij,nij->ni", root, root) / noise[batch.targets, None])
    return mean, variance, log_det


def _roots(batch: Batch, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return W with WWᵀ = (G + D)⁻¹, shape (n, k, k), and log|G + D|, over each target's active regressors."""
    stack = batch.system(ridge)
    lost = []
    for number, A in enumerate(stack):
        # LAPACK works in place on the transpose of a row-major matrix, so that the stack becomes its own inverse root.
        factor, info = lapack.dpotrf(A.T, lower=1, clean=1, overwrite_a=1)
        if info == 0:
            lapack.dtrtri(factor, lower=1, overwrite_c=1)
        else:
            lost.append(number)
            A[:] = np.eye(len(A))
    log_det = -2 * np.sum(np.log(np.einsum("nii->ni", stack)), axis=1)
    for number in lost:
        root, log_det[number] = whitening(batch.only(number).system(ridge[[number]])[0])
        stack[number] = root.T
    return stack, log_det


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
