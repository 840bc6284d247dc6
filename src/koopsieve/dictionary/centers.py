"""Where kernels sit and how wide they are: centres by k-means, the median heuristic, and the scale of the states."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, magnitude, real_array, whole_number
from koopsieve.dictionary.observables import frozen
from koopsieve.dictionary.recipes import Domain

_MAX_ROWS = 20_000  # k-means takes up to this many samples at once, and more in batches of this size


def coordinate_scale(domain: Domain, standardize: bool) -> FloatArray:
    """Return what to divide the coordinates by: their standard deviations (one for a constant), or ones."""
    n = len(domain.names)
    if not standardize:
        return frozen(np.ones(n))
    rows, mean, squares, unit = 0, np.zeros(n), np.zeros(n), np.ones(n)
    for block in domain.blocks():  # pairwise merging of moments, which loses no digits to a large mean
        unit = unit if rows else magnitude(block)
        x = block / unit
        here, rows = x.mean(axis=0), rows + len(x)
        squares += ((x - here) ** 2).sum(axis=0) + (here - mean) ** 2 * len(x) * (rows - len(x)) / rows
        mean += (here - mean) * len(x) / rows
    deviation = unit * np.sqrt(squares / rows)
    return frozen(np.where(deviation > 0, deviation, 1.0))


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
    """Return the given centres in units of `scale`, or find that many by k-means.

    Raises
    ------
    KoopsieveError
        If there are fewer distinct samples than centres, or the centres have the wrong number of columns.
    """
    n = len(domain.names)
    if np.ndim(centers) == 0:
        return frozen(_cluster(whole_number("centers", centers, 1), domain, scale, rng))
    given = real_array("centers", centers)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or not np.isfinite(given).all():
        raise KoopsieveError(f"centers must be finite, one row per centre. Expected (k, {n}), got {given.shape}.")
    return frozen(given / scale)


def _cluster(count: int, domain: Domain, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if count < 1:
        raise KoopsieveError(f"centers must be at least one. Got {count}.")
    rows = draw_rows(domain, _MAX_ROWS, rng.spawn(1)[0]) / scale  # leaves the seed of k-means alone
    distinct = len(np.unique(rows, axis=0))
    if distinct < count:
        raise KoopsieveError(f"k-means needs as many distinct samples as centers. Asked for {count}, found {distinct}.")
    unit = magnitude(rows.ravel()[:, None])  # one for all coordinates: distances keep their proportions
    means = KMeans(count, n_init=1, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what it warns of is refused below
        found: FloatArray = means.fit(rows / unit).cluster_centers_ * unit
    different = len(np.unique(found, axis=0))
    if different < count:
        raise KoopsieveError(
            f"k-means found only {different} different centers of {count}: some samples are so large that the others "
            "look alike beside them. Look for samples that are far too large, or pass standardize=True."
        )
    return found if len(rows) < _MAX_ROWS else _refine(found, domain, scale)


def _refine(centers: FloatArray, domain: Domain, scale: FloatArray) -> FloatArray:
    """Move centres found in a sample to where all data want them, by one pass of mini-batch k-means."""
    from sklearn.cluster import MiniBatchKMeans

    batches = MiniBatchKMeans(len(centers), init=centers, n_init=1, random_state=0, reassignment_ratio=0.0)
    for block in domain.blocks():
        for first in range(0, len(block), _MAX_ROWS):
            batches.partial_fit(block[first : first + _MAX_ROWS] / scale)
    found: FloatArray = batches.cluster_centers_
    return found


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
