"""Other ways to choose observables, each brought to the size asked for (or the nearest below that it can reach)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from swept_graph_sieve import SweptGraphSieve

from koopsieve import STLSQ, LeastSquares, SparseBayes, reduce
from koopsieve.identify.estimate import Estimate
from koopsieve.regression import RegressionStatistics


def random_subset(statistics: RegressionStatistics, size: int, rng: np.random.Generator) -> np.ndarray:
    """The outputs and a random choice of the others."""
    outputs = np.array(statistics.outputs)
    others = np.setdiff1d(np.arange(len(statistics.observables)), outputs)
    return np.sort(np.concatenate([outputs, rng.choice(others, size - len(outputs), replace=False)]))


def largest_coefficients(statistics: RegressionStatistics, size: int) -> np.ndarray:
    """The outputs and the observables with the largest least-squares weight on them, in standard units."""
    outputs = np.array(statistics.outputs)
    strength = _strength(LeastSquares().identify(statistics), statistics)[:, outputs].sum(axis=1)
    strength[outputs] = np.inf
    return np.sort(np.argsort(-strength, kind="stable")[:size])


def matching_pursuit(statistics: RegressionStatistics, size: int) -> np.ndarray:
    """Simultaneous orthogonal matching pursuit on all outputs and horizons, inputs projected out.

    Targets are weighted by one over their residual after the full regression.
    """
    ahead = statistics.multistep
    L = len(ahead.observables)
    designs, targets, norms = [], [], []
    for h in ahead.horizons:
        factor = ahead.at(h)
        inputs = len(factor.R) - L
        R = np.linalg.qr(np.hstack([factor.R[:, L:], factor.R[:, :L], factor.S]), mode="r")
        design, target = R[inputs : L + inputs, inputs : L + inputs], R[inputs : L + inputs, L + inputs :]
        left = factor.leftover + np.sum(
            (target - design @ np.linalg.lstsq(design, target, rcond=1e-12)[0]) ** 2, axis=0
        )
        designs.append(design.copy())
        targets.append(target / np.sqrt(left))
        norms.append(np.linalg.norm(design, axis=0))
    chosen: list[int] = []
    for forced in np.array(statistics.outputs):
        _pursue(designs, targets, chosen, int(forced))
    while len(chosen) < size:
        score = np.zeros(L)
        for design, target, norm in zip(designs, targets, norms, strict=True):
            left = np.linalg.norm(design, axis=0)
            fresh = left > 1e-6 * norm
            score[fresh] += np.sum((design[:, fresh].T @ target) ** 2, axis=1) / left[fresh] ** 2
        score[chosen] = -1
        _pursue(designs, targets, chosen, int(np.argmax(score)))
    return np.sort(chosen)


def _pursue(designs: list[np.ndarray], targets: list[np.ndarray], chosen: list[int], new: int) -> None:
    chosen.append(new)
    for design, target in zip(designs, targets, strict=True):
        q = design[:, new] / np.linalg.norm(design[:, new])
        target -= np.outer(q, q @ target)
        design -= np.outer(q, q @ design)


@dataclass(frozen=True, eq=False)
class GraphRival:
    """Edges of some strength and the ancestors of the outputs, with the threshold that keeps at most the size asked."""

    strength: np.ndarray
    outputs: np.ndarray

    def __call__(self, size: int) -> np.ndarray:
        peak = self.strength.max()
        levels = np.unique(np.clip(self.strength / (peak if peak > 0 else 1.0), 0, 1 - 1e-9))
        low, high = 0, len(levels) - 1  # the set shrinks as the threshold grows
        while low < high:
            middle = (low + high) // 2
            if len(self._kept(levels[middle])) <= size:
                high = middle
            else:
                low = middle + 1
        return self._kept(levels[low])

    def _kept(self, level: float) -> np.ndarray:
        peak = self.strength.max()
        scaled = np.clip(self.strength / (peak if peak > 0 else 1.0), 0, 1)
        return reduce(scaled, self.outputs, float(np.clip(level, 1e-12, 1 - 1e-12))).retained


def graph_of_stlsq(statistics: RegressionStatistics) -> GraphRival:
    estimate = STLSQ(threshold=0.02, relative=True, max_sweeps=3).identify(statistics)
    return GraphRival(_strength(estimate, statistics), np.array(statistics.outputs))


def graph_of_sparse_bayes(statistics: RegressionStatistics) -> GraphRival:
    return GraphRival(
        _strength(SparseBayes(max_sweeps=60).identify(statistics), statistics), np.array(statistics.outputs)
    )


def graph_of_spike_slab(statistics: RegressionStatistics, steps: int) -> Callable[[int], np.ndarray]:
    """The paper's sieve swept over its prior odds; of the sets it gives, the largest not above the size asked."""
    sets = [candidate.retained for candidate in SweptGraphSieve().path(statistics, steps)]

    def at_most(size: int) -> np.ndarray:
        fitting = [kept for kept in sets if len(kept) <= size]
        return max(fitting, key=len) if fitting else np.array(statistics.outputs)

    return at_most


def leading_directions(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Truncated SVD: the leading singular directions of the scaled observables, as a function of how many."""
    L = len(statistics.observables)
    scale = np.linalg.norm(statistics.R[:, :L], axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    directions = np.linalg.svd(statistics.R[:, :L] / scale, full_matrices=False)[2].T / scale[:, None]
    return lambda size: directions[:, :size]


def _strength(estimate: Estimate, statistics: RegressionStatistics) -> np.ndarray:
    """|coefficient|·rms(observable)/rms(target) among the observables."""
    L = len(statistics.observables)
    size = np.linalg.norm(statistics.R[:, :L], axis=0)
    target = np.sqrt(np.sum(statistics.S**2, axis=0) + statistics.leftover)
    return np.abs(estimate.coef[:L]) * size[:, None] / np.where(target > 0, target, 1.0)
