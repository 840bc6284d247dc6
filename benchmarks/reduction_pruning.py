"""Pruning methods of the literature, each short and literal: lassos, principal angles, quasi-norm sets.

All work on regression statistics. Outputs are always kept and inputs always used, so neither is penalised or pruned:
they are projected out first. These papers mostly have no inputs; that projection is ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy.linalg import null_space, qr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from koopsieve import LinearModel
from koopsieve.dictionary import Dictionary
from koopsieve.regression import RegressionStatistics, TriangularFactor

_ROUNDING = 1e-6  # relative to the largest; conditions weaker than this are rounding of the angles
PENALTIES = np.geomspace(1.0, 1e-4, 40)  # relative to the least that leaves nothing


def row_lassos(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Row-wise ℓ1 pruning over several horizons (Wu and others, arXiv 2601.11901).

    Every output at every horizon has a lasso of its own on the observables now, all with one penalty in standard
    units. An observable stays if one of them uses it; the penalty falls until there are as many as asked for.
    """
    ahead = statistics.multistep
    pairs = [_projected(ahead.at(h), statistics) for h in ahead.horizons]
    rows = [(design, target[:, [j]]) for design, target in pairs for j in range(target.shape[1])]
    highest = max(_least_penalty(*row) for row in rows)
    return _first_in(np.sum([_lasso(*row, highest) for row in rows], axis=0), statistics)


def group_lasso(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Group lasso one step ahead: an observable's weights on all outputs are zero together or not at all."""
    outputs = np.array(statistics.outputs)
    design, target = _projected(statistics.factor.only(outputs), statistics)
    return _first_in(_lasso(design, target, _least_penalty(design, target)), statistics)


def _projected(factor: TriangularFactor, statistics: RegressionStatistics) -> tuple[np.ndarray, np.ndarray]:
    """Return the other observables and the targets in standard units, outputs and inputs projected out of both."""
    L, outputs = len(statistics.observables), np.array(statistics.outputs)
    always = [*range(L, len(factor.R)), *outputs]
    R = qr(np.hstack([factor.R[:, always], factor.R[:, _others(statistics)], factor.S]), mode="r")[0]
    first, last = len(always), len(always) + L - len(outputs)
    design, target = R[first:last, first:last], R[first:last, last:]
    size = np.linalg.norm(design, axis=0)
    whole = np.sqrt(np.sum(factor.S**2, axis=0) + factor.leftover)
    return design / np.where(size > 1e-9 * size.max(), size, np.inf), target / whole


def _least_penalty(design: np.ndarray, target: np.ndarray) -> float:
    """Return the least penalty at which all weights are zero."""
    return float(np.linalg.norm(design.T @ target, axis=1).max() / len(design))


def _lasso(design: np.ndarray, target: np.ndarray, highest: float) -> np.ndarray:
    """Return the size of every regressor's weights, (penalties, regressors), along the lasso or group lasso path."""
    single = target.shape[1] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nearly equal kernels; their order of entry is what counts
        settings = {"alphas": PENALTIES * highest, "tol": 1e-3, "max_iter": 300}
        weights = lasso_path(design, target[:, 0] if single else target, **settings)[1]
    return np.abs(weights).T if single else np.linalg.norm(weights, axis=0).T


def _first_in(strength: np.ndarray, statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Return a function of the size: those in at the first penalty that lets enough in, the strongest if too many."""
    outputs, others = np.array(statistics.outputs), _others(statistics)

    def pick(size: int) -> np.ndarray:
        wanted = size - len(outputs)
        enough = np.flatnonzero((strength > 0).sum(axis=1) >= wanted)
        level = strength[enough[0] if len(enough) else -1]
        before = strength[max(enough[0] - 1, 0)] > 0 if len(enough) else level > 0
        order = np.lexsort((-level, ~before))  # who was in before stays
        return np.sort(np.concatenate([outputs, others[order[:wanted]]]))

    return pick


def worst_predicted_out(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Take out, again and again, the observable that the others and itself predict worst one step ahead.

    The pruning by the largest angle between a space and its image (Shah and Cortés, arXiv 2603.29001), made to take
    out observables instead of directions: the angle of one observable's next value with the space of all that is left.
    """
    now, then = lifted_pair(statistics)
    left, order = np.arange(now.shape[1]), []
    size = np.sum(then**2, axis=0)
    while len(left) > len(statistics.outputs):
        basis = _orthonormal(now[:, left])
        missed = 1 - np.sum((basis.T @ then[:, left]) ** 2, axis=0) / size[left]  # squared sine of the angle
        missed[np.isin(left, statistics.outputs)] = -np.inf
        order.append(left[worst := int(np.argmax(missed))])
        left = np.delete(left, worst)

    def pick(size: int) -> np.ndarray:
        return np.setdiff1d(np.arange(now.shape[1]), order[: now.shape[1] - size])

    return pick


def single_principal_vectors(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Take out, one by one, the direction at the largest angle to the image of the space (Shah and Cortés).

    Returns a function of the size to a basis (L, size) of what is left.
    """
    now, then = lifted_pair(statistics)
    C = orthonormal_on(now)
    bases = {C.shape[1]: C}
    while C.shape[1] > 1:
        *_, right = principal_vectors(now @ C, then @ C)
        C = C @ null_space(right[-1:] @ (then @ C))
        bases[C.shape[1]] = C
    return lambda size: bases[min(size, max(bases))]


def tunable_decomposition(statistics: RegressionStatistics) -> Callable[[int], np.ndarray]:
    """Tunable symmetric subspace decomposition (Haseli and Cortés, Automatica 2023), its accuracy set by the size.

    Returns a function of the size to a basis (L, at most size): the largest that halving an interval finds.
    """
    now, then = lifted_pair(statistics)
    start = orthonormal_on(now)
    basis = cache(lambda accuracy: invariant_within(now, then, start, accuracy))

    def pick(size: int) -> np.ndarray:
        low, high = 0.0, 1.0
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if basis(middle).shape[1] <= size else (low, middle)
        return basis(low) if low > 0 else start[:, :0]

    return pick


def invariant_within(now: np.ndarray, then: np.ndarray, start: np.ndarray, accuracy: float) -> np.ndarray:
    """Return a basis of what is left of span(start) once all angles to its image have sines of at most `accuracy`.

    Every round keeps the combinations whose values now and then both lie in the principal directions that are near
    enough: the symmetric intersection.
    """
    C = start
    while C.shape[1]:
        cosines, left, right = principal_vectors(now @ C, then @ C)
        far = np.sqrt(1 - np.clip(cosines, 0, 1) ** 2) > accuracy
        if not far.any():
            return C
        C = C @ null_space(np.vstack([left[far] @ (now @ C), right[far] @ (then @ C)]), rcond=_ROUNDING)
    return C


def principal_vectors(now: np.ndarray, then: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cosines, falling, and the principal vectors of both column spaces, one per row."""
    A, B = np.linalg.qr(now)[0], np.linalg.qr(then)[0]
    U, cosines, Vt = np.linalg.svd(A.T @ B)
    return cosines, (A @ U).T, (B @ Vt.T).T


def lifted_pair(statistics: RegressionStatistics) -> tuple[np.ndarray, np.ndarray]:
    """Return few rows with the same products as the observables now and one step later, inputs projected out."""
    L, inputs = len(statistics.observables), len(statistics.input_terms)
    values, vectors = np.linalg.eigh(statistics.factor.leftover_products)
    rest = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    R = np.vstack([statistics.R, np.zeros((L, L + inputs))])
    whole = np.hstack([R[:, L:], R[:, :L], np.vstack([statistics.S, rest])])
    triangle = qr(whole, mode="r")[0][inputs:]
    return triangle[:, inputs : inputs + L], triangle[:, inputs + L :]


def projected_model(statistics: RegressionStatistics, dictionary: Dictionary, basis: np.ndarray) -> LinearModel:
    """Return EDMD in the span of a basis (L, r), the outputs read out by least squares."""
    L, rank = basis.shape
    R, S = statistics.R, statistics.S
    V = basis @ np.linalg.inv(np.linalg.qr(R[:, :L] @ basis, mode="r"))  # orthonormal on the data
    design = np.hstack([R[:, :L] @ V, R[:, L:]])
    coef = np.linalg.lstsq(design, S @ V, rcond=None)[0]
    read = np.linalg.lstsq(R[:, :L] @ V, R[:, list(dictionary.outputs)], rcond=None)[0]
    back = np.linalg.pinv(V)
    A, B = (V @ coef[:rank] @ back).T, (coef[rank:] @ back).T
    return LinearModel(A, B, (V @ read).T, dictionary)


def quasi_norm_sets(powers: np.ndarray, size: int, exponents: Sequence[float]) -> dict[float, np.ndarray]:
    """Return, for every q, the largest set {α : (Σ α_i^q)^(1/q) ≤ p} of at most so many monomials (pqEDMD).

    Sets that lack a state are left out: nothing could be read from them.
    """
    found = {}
    for q in exponents:
        norm = np.round(np.sum(powers.astype(float) ** q, axis=1, where=powers > 0) ** (1 / q), 9)
        levels = [p for p in np.unique(norm) if np.sum(norm <= p) <= size]
        if levels and levels[-1] >= 1:
            found[q] = np.flatnonzero(norm <= levels[-1])
    return found


def orthonormal_on(now: np.ndarray) -> np.ndarray:
    """Return combinations (L, rank) that are orthonormal on the data; what is lost in rounding is left out."""
    scale = np.linalg.norm(now, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    _, values, Vt = np.linalg.svd(now / scale, full_matrices=False)
    sound = values > 1e-8 * values[0]
    return (Vt[sound].T / values[sound]) / scale[:, None]


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(columns, axis=0)
    U, values, _ = np.linalg.svd(columns / np.where(size > 0, size, 1.0), full_matrices=False)
    return U[:, values > 1e-10 * values[0]]


def _others(statistics: RegressionStatistics) -> np.ndarray:
    return np.setdiff1d(np.arange(len(statistics.observables)), statistics.outputs)
