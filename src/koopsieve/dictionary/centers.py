"""Where kernels sit and how wide they are: centres by k-means, the median heuristic, and the scale of the states.

k-means is written out here, step by step as scikit-learn's `KMeans` does it, with the same draws: the same centres to
rounding, without the second and the hundred megabytes that it takes to import scikit-learn's clustering.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, magnitude, or_one, real_array, whole_number
from koopsieve.dictionary.observables import frozen
from koopsieve.dictionary.recipes import Domain
from koopsieve.execution import one_blas_thread

_CACHED_ROWS = 1024
_MAX_ROWS = 20_000  # k-means takes up to this many samples at once, and more in batches of this size


def coordinate_scale(domain: Domain, standardize: bool) -> FloatArray:
    """Return what to divide the coordinates by: their standard deviations (one for a constant), or ones."""
    if not standardize:
        return frozen(np.ones(len(domain.names)))
    _, deviation = moments(domain.blocks(), len(domain.names))
    return frozen(or_one(deviation))


def moments(blocks: Iterator[FloatArray], n: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the standard deviation of n coordinates, by one pass; zeros where there are no points."""
    rows, mean, squares, unit = 0, np.zeros(n), np.zeros(n), np.ones(n)
    for block in blocks:  # pairwise merging of moments, which loses no digits to a large mean
        unit = unit if rows else magnitude(block)
        x = block / unit
        here, rows = x.mean(axis=0), rows + len(x)
        squares += ((x - here) ** 2).sum(axis=0) + (here - mean) ** 2 * len(x) * (rows - len(x)) / rows
        mean += (here - mean) * len(x) / rows
    return unit * mean, unit * np.sqrt(squares / max(rows, 1))


def draw_rows(domain: Domain, count: int, rng: np.random.Generator) -> FloatArray:
    """Return `count` points drawn without replacement, in order, by one pass; all of them if there are no more."""
    keys, rows = np.empty(0), np.empty((0, len(domain.names)))
    for x in domain.blocks():
        keys, rows = np.concatenate([keys, rng.random(len(x))]), np.concatenate([rows, x])
        if len(rows) > count:
            kept = np.sort(np.argpartition(keys, count)[:count])
            keys, rows = keys[kept], rows[kept]
    return rows


def find_centers(centers: int | ArrayLike, domain: Domain, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the given centres in units of `scale`, or find that many by k-means."""
    n = len(domain.names)
    if np.ndim(centers) == 0:
        return frozen(_cluster(whole_number("centers", centers, 1), domain, scale, rng))
    given = real_array("centers", centers)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or not np.isfinite(given).all():
        raise KoopsieveError(f"centers must be finite, one row per centre. Expected (k, {n}), got {given.shape}.")
    return frozen(given / scale)


def _cluster(count: int, domain: Domain, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    rows = draw_rows(domain, _MAX_ROWS, rng.spawn(1)[0]) / scale  # leaves the seed of k-means alone
    distinct = len(np.unique(rows, axis=0))
    if distinct < count:
        raise KoopsieveError(f"k-means needs as many distinct samples as centres. Asked for {count}, found {distinct}.")
    unit = magnitude(rows.ravel()[:, None])  # one for all coordinates: distances keep their proportions
    with one_blas_thread():  # so that the number of threads does not decide which of two centres is nearer
        found = k_means(rows / unit, count, int(rng.integers(2**31))) * unit
    different = len(np.unique(found, axis=0))
    if different < count:
        raise KoopsieveError(
            f"k-means found only {different} different centres of {count}: some samples are so large that the others "
            "look alike beside them. Look for samples that are far too large, or pass standardize=True."
        )
    return found if len(rows) < _MAX_ROWS else _refine(found, domain, scale)


def k_means(rows: FloatArray, count: int, seed: int) -> FloatArray:
    """Return the centres of `count` clusters, from a careful start, after at most 300 rounds of Lloyd's algorithm."""
    mean = rows.mean(axis=0)
    x = rows - mean
    tolerance = 1e-4 * np.var(rows, axis=0).mean()
    centers, before = _spread_start(x, count, np.random.RandomState(seed)), np.full(len(x), -1)
    for _ in range(300):
        nearest = _nearest(x, centers)
        if np.array_equal(nearest, before):
            break
        moved = _means(x, nearest, centers)
        shift, centers, before = float(((moved - centers) ** 2).sum()), moved, nearest
        if shift <= tolerance:
            break
    found: FloatArray = centers + mean
    return found


def _spread_start(x: FloatArray, count: int, random: np.random.RandomState) -> FloatArray:
    """Return samples far from each other: of a few drawn by their squared distances, the one that lowers these most."""
    trials, norms = 2 + int(np.log(count)), np.einsum("ij,ij->i", x, x)
    chosen = [int(random.choice(len(x), p=np.full(len(x), 1 / len(x))))]
    away = _squared_distances(x[chosen], x, norms)[0]
    for _ in range(1, count):
        drawn = np.searchsorted(np.cumsum(away), random.uniform(size=trials) * away.sum())
        each = _squared_distances(x[np.minimum(drawn, len(x) - 1)], x, norms)
        np.minimum(each, away, out=each)
        best = int(np.argmin(each.sum(axis=1)))
        away = each[best]
        chosen.append(min(int(drawn[best]), len(x) - 1))
    return x[chosen]


def _squared_distances(points: FloatArray, x: FloatArray, norms: FloatArray) -> FloatArray:
    squares: FloatArray = points @ x.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", points, points)[:, None]
    squares += norms
    return np.maximum(squares, 0.0, out=squares)


def _nearest(x: FloatArray, centers: FloatArray) -> IndexArray:
    """Return the nearest centre of every row; rows are taken in parts that fit the cache: half the time."""
    found, half = np.empty(len(x), dtype=np.intp), 0.5 * np.einsum("ij,ij->i", centers, centers)
    for first in range(0, len(x), _CACHED_ROWS):
        rows = slice(first, first + _CACHED_ROWS)
        np.argmax(x[rows] @ centers.T - half, axis=1, out=found[rows])
    return found


def _means(x: FloatArray, nearest: IndexArray, centers: FloatArray) -> FloatArray:
    """Return the mean of the rows of every centre; one without rows goes to the row that is farthest from its own."""
    count = np.bincount(nearest, minlength=len(centers))
    empty = np.flatnonzero(count == 0)
    if len(empty):
        away = ((x - centers[nearest]) ** 2).sum(axis=1)
        nearest = nearest.copy()
        nearest[np.argsort(-away, kind="stable")[: len(empty)]] = empty
        count = np.bincount(nearest, minlength=len(centers))
    means: FloatArray = _sums(x, nearest, len(centers)) / np.maximum(count, 1)[:, None]
    return means


def _sums(x: FloatArray, nearest: IndexArray, centers: int) -> FloatArray:
    """Return the sums of the rows of every centre."""
    return np.stack([np.bincount(nearest, column, minlength=centers) for column in x.T], axis=1)


def _refine(centers: FloatArray, domain: Domain, scale: FloatArray) -> FloatArray:
    """Move centres found in a sample to where all data want them, by one pass of mini-batch k-means."""
    count = np.zeros(len(centers))
    for block in domain.blocks():
        for first in range(0, len(block), _MAX_ROWS):
            x = block[first : first + _MAX_ROWS] / scale
            nearest = _nearest(x, centers)
            here = np.bincount(nearest, minlength=len(centers))
            together = centers * count[:, None] + _sums(x, nearest, len(centers))
            together /= np.maximum(count + here, 1)[:, None]
            centers, count = np.where((here > 0)[:, None], together, centers), count + here
    return centers


def median_coefficient(centers: FloatArray) -> FloatArray:
    """Return c with exp(−c·d²) = exp(−1/2) at the median distance d between centres."""
    from scipy.spatial.distance import pdist

    unit = float(magnitude(centers.ravel()[:, None])[0])
    squares = pdist(centers / unit, "sqeuclidean")
    if not (squares > 0).any():
        return frozen([0.5])
    with np.errstate(over="ignore"):
        coefficient = 0.5 / float(np.median(squares[squares > 0])) / np.float64(unit) / unit
    if not np.isfinite(coefficient):
        raise KoopsieveError(
            f"The samples lie only {unit:.3g} apart, too near for a kernel to tell them apart. Scale the data, or pass "
            "standardize=True."
        )
    return frozen([coefficient])
