"""Where kernels sit and how wide they are: centres by k-means, the median heuristic, and the scale of the states."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary.observables import Samples, frozen

_MOST_ROWS = 20_000  # k-means needs no more samples than this to place centres


def state_scale(samples: Samples, standardize: bool) -> FloatArray:
    """Return what to divide the states by: their standard deviations (one for a constant), or ones."""
    n = len(samples.state_names)
    if not standardize:
        return frozen(np.ones(n))
    rows = sum(len(x) for x in samples.states)
    mean = np.sum([x.sum(axis=0) for x in samples.states], axis=0) / rows
    deviation = np.sqrt(np.sum([((x - mean) ** 2).sum(axis=0) for x in samples.states], axis=0) / rows)
    return frozen(np.where(deviation > 0, deviation, 1.0))


def find_centers(centers: int | ArrayLike, samples: Samples, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the given centres in units of `scale`, or find that many by k-means.

    Raises
    ------
    KoopsieveError
        If there are fewer distinct samples than centres, or the centres have the wrong number of columns.
    """
    n = len(samples.state_names)
    if isinstance(centers, (int, np.integer)):
        return frozen(_cluster(int(centers), samples, scale, rng))
    given = np.asarray(centers, dtype=float)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or not np.isfinite(given).all():
        raise KoopsieveError(f"centers must be finite, one row per centre. Expected (k, {n}), got {given.shape}.")
    return frozen(given / scale)


def _cluster(count: int, samples: Samples, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    from sklearn.cluster import KMeans

    if count < 1:
        raise KoopsieveError(f"centers must be at least one. Got {count}.")
    rows = np.concatenate(samples.states)
    if len(rows) > _MOST_ROWS:
        rows = rows[np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))]
    rows = rows / scale
    distinct = len(np.unique(rows, axis=0))
    if distinct < count:
        raise KoopsieveError(f"k-means needs as many distinct samples as centers. Asked for {count}, found {distinct}.")
    found: FloatArray = KMeans(count, n_init=1, random_state=int(rng.integers(2**31))).fit(rows).cluster_centers_
    return found


def median_coefficient(centers: FloatArray) -> FloatArray:
    """Return c with exp(−c·d²) = exp(−1/2) at the median distance d between centres."""
    from scipy.spatial.distance import pdist

    squares = pdist(centers, "sqeuclidean")
    median = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
    return frozen([0.5 / median])
