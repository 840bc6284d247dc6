"""The path: dictionaries from large to small, each refitted and judged, and the smallest that is as good as the best.

Comes in: a sieve, training trajectories and a dictionary. Goes out: a frozen `SievePath`. No prior has to be tuned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.execution import Executor, Progress, one_blas_thread, silent
from koopsieve.identify import HorizonSieve, Identifier
from koopsieve.model import LiftedModel
from koopsieve.path.family import Candidate, Sieve
from koopsieve.path.refits import Refitter, default_refits
from koopsieve.regression import RegressionStatistics, compress


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One dictionary of the path.

    Parameters
    ----------
    retained : array of int
        Increasing indices of the observables kept.
    names : tuple of str
        Their names.
    elbo : float
        The sieve's bound of the evidence for it.
    error, standard_error : array, shape (len(horizons),)
        Mean NMSE over the outputs on the validation windows, and its standard error over blocks of windows.
    model : LiftedModel
        Refitted on the training data.
    refit : str
        Which refit predicted best.
    status : str
        What was done about stability; empty if there was nothing to do.
    """

    retained: IndexArray
    names: tuple[str, ...]
    elbo: float
    error: FloatArray
    standard_error: FloatArray
    model: LiftedModel
    refit: str
    status: str

    @property
    def size(self) -> int:
        """Number of observables kept."""
        return len(self.retained)


@dataclass(frozen=True, eq=False)
class SievePath:
    """A family of dictionaries of increasing size, with the default choice.

    Parameters
    ----------
    points : tuple of PathPoint
        The smallest first.
    horizons : tuple of int
        Steps ahead at which errors are given.
    chosen : int
        Index of the smallest dictionary whose error is, at every horizon, within one standard error of the best.
    dictionary : Dictionary
        The full one.
    statistics : RegressionStatistics
        Of the training data, for the full dictionary, with horizons.
    validation : Trajectories
        What errors were measured on.
    """

    points: tuple[PathPoint, ...]
    horizons: tuple[int, ...]
    chosen: int
    dictionary: Dictionary
    statistics: RegressionStatistics
    validation: Trajectories

    @property
    def choice(self) -> PathPoint:
        """The chosen point."""
        return self.points[self.chosen]

    @property
    def model(self) -> LiftedModel:
        """The chosen model."""
        return self.choice.model

    @property
    def retained(self) -> IndexArray:
        """Indices of the observables of the chosen dictionary."""
        return self.choice.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the observables of the chosen dictionary."""
        return self.choice.names

    @property
    def sizes(self) -> IndexArray:
        """Number of observables of every point."""
        return np.array([point.size for point in self.points], dtype=np.intp)

    @property
    def elbo(self) -> FloatArray:
        """The sieve's bound of the evidence for every point."""
        return np.array([point.elbo for point in self.points])

    @property
    def error(self) -> FloatArray:
        """NMSE, shape (points, horizons)."""
        return np.stack([point.error for point in self.points])

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the NMSE, shape (points, horizons)."""
        return np.stack([point.standard_error for point in self.points])

    def describe(self) -> str:
        """Say in words what was chosen and why."""
        choice, full = self.choice, self.dictionary.size
        errors = ", ".join(f"{e:.2g} at {h}" for e, h in zip(choice.error, self.horizons, strict=True))
        text = f"{choice.size} of {full} observables kept (refit: {choice.refit}); validation NMSE {errors}."
        if choice.size > full / 4:
            text += " The data ask for this much of the dictionary: with fewer the error is above one standard error."
        return f"{text} {choice.status}".strip()


def sieve_path(
    sieve: Sieve | None,
    train: Trajectories,
    dictionary: Block | Dictionary,
    *,
    validation: Trajectories | None = None,
    horizons: Sequence[int] = (1, 10, 50),
    steps: int = 20,
    refits: Mapping[str, Identifier] | None = None,
    stable: bool = True,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> SievePath:
    """Sift a dictionary from generous to strict, refit and judge every step, and choose.

    Parameters
    ----------
    sieve : HorizonSieve, GraphSieve, or any Sieve; None for HorizonSieve()
        Gives the family of dictionaries.
    train : Trajectories
        What models learn from.
    dictionary : Block or Dictionary
        A recipe is fitted to the training data.
    validation : Trajectories, optional
        What models are judged on. Left out, a quarter of `train` is held out (whole episodes, or the end of a single
        one), so that no window straddles the two.
    horizons : sequence of int
        Steps ahead that matter: models are judged and chosen at these. Evidence and refit also look at some between
        them (see `filled`), so that nothing strange happens there.
    steps : int
        Number of dictionaries on the path, about.
    refits : mapping from name to Identifier, optional
        Each dictionary gets the one that predicts best; by default least squares one step ahead and over the horizons.
    stable : bool
        Move eigenvalues outside the unit circle onto it where that costs no accuracy on the validation windows.
    seed : int
        Fits the dictionary.
    executor, progress
        See `compress`.

    Returns
    -------
    SievePath

    Raises
    ------
    KoopsieveError
        If there are no horizons, they do not fit the data, or `steps` is below 2.
    """
    if steps < 2:
        raise KoopsieveError(f"A path has at least 2 steps. Got {steps}.")
    learn, judge = (train, validation) if validation is not None else train.split(0.75)
    phi = dictionary.fit(learn, seed=seed) if isinstance(dictionary, Block) else dictionary
    wanted = tuple(sorted({int(h) for h in horizons}))
    if not wanted:
        raise KoopsieveError("horizons is empty. Expected at least one number of steps, such as [1, 10, 50].")
    statistics = compress(learn, phi, horizons=filled(wanted), executor=executor, progress=progress)
    refitter = Refitter(judge, wanted, default_refits() if refits is None else refits, stable)
    with one_blas_thread():
        candidates = (HorizonSieve() if sieve is None else sieve).path(statistics, steps)
        points = [
            _point(candidate, statistics, phi, refitter)
            for candidate in progress(candidates, "Refitting", len(candidates))
        ]
    error, spread = np.stack([p.error for p in points]), np.stack([p.standard_error for p in points])
    return SievePath(tuple(points), wanted, choose(error, spread), phi, statistics, judge)


def _point(
    candidate: Candidate, statistics: RegressionStatistics, dictionary: Dictionary, refitter: Refitter
) -> PathPoint:
    kept = dictionary.select(candidate.retained)
    best = refitter(statistics.select(candidate.retained), kept)
    error, spread = best.errors.error, best.errors.standard_error
    return PathPoint(candidate.retained, kept.names, candidate.elbo, error, spread, best.model, best.refit, best.status)


def filled(horizons: Sequence[int]) -> tuple[int, ...]:
    """Return the horizons with 1 and with as many between them as leave no gap wider than about threefold.

    Examples
    --------
    >>> filled([10, 50])
    (1, 3, 10, 22, 50)
    """
    found = sorted({1, *(int(h) for h in horizons)})
    for low, high in pairwise(tuple(found)):
        pieces = int(np.ceil(np.log(high / low) / np.log(3.3)))
        found += [round(low * (high / low) ** (i / pieces)) for i in range(1, pieces)]
    return tuple(sorted(set(found)))


def choose(error: FloatArray, standard_error: FloatArray) -> int:
    """Return the first row that is, in every column, within one standard error of the column's best.

    Where errors at short and long horizons pull in different directions there may be none. Then the standard error of
    the difference counts (root of the sum of squares), and if there is still none, the row that misses least.

    Parameters
    ----------
    error, standard_error : array, shape (points, horizons)
        The smallest dictionary first. A standard error that is not finite counts as zero.
    """
    error = np.where(np.isnan(error), np.inf, error)
    spread = np.where(np.isfinite(standard_error), standard_error, 0.0)
    best, columns = np.argmin(error, axis=0), np.arange(error.shape[1])
    least, doubt = error[best, columns], spread[best, columns]
    within = np.flatnonzero(np.all(error <= least + doubt, axis=1))
    if within.size:
        return int(within[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        miss = np.max(np.log(error) - np.log(least + np.hypot(doubt, spread)), axis=1)
    miss = np.where(np.isnan(miss), np.inf, miss)
    return int(np.argmax(miss <= max(0.0, float(miss.min()))))
