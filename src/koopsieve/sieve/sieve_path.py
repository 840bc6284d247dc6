"""The path: dictionaries from large to small, each refitted and judged, and the smallest that is as good as the best.

Comes in: a sieve, training trajectories and a dictionary. Goes out: a frozen `SievePath`. No prior has to be tuned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.execution import Executor, Progress, one_blas_thread, silent
from koopsieve.identify import Identifier
from koopsieve.model import LiftedModel
from koopsieve.model.stability import ROUNDING
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve.choice import choose
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.path import PathPoint, SievePath
from koopsieve.sieve.protocol import Candidate, Sieve
from koopsieve.sieve.refits import Refitter, default_refits


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
    relearn: bool = True,
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
    relearn : bool
        Once it is chosen, refit the dictionary on training and validation data together, so that the model has learned
        from everything there is. The errors that the path gives are always those of models that have not seen the
        validation data.
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
        candidates = (HorizonSieve() if sieve is None else sieve).path(statistics, steps, progress)
        points = tuple(
            _point(candidate, statistics, phi, refitter)
            for candidate in progress(candidates, "Refitting", len(candidates))
        )
        chosen = choose(np.stack([point.blocks for point in points]))
        model = points[chosen].model
        if relearn:
            more = compress(judge, phi, horizons=filled(wanted), executor=executor, progress=progress)
            model = _relearned(points[chosen], statistics.merge(more), refitter)
    return SievePath(points, wanted, chosen, model, phi, statistics, judge)


def _point(
    candidate: Candidate, statistics: RegressionStatistics, dictionary: Dictionary, refitter: Refitter
) -> PathPoint:
    kept = dictionary.select(candidate.retained)
    best = refitter(statistics.select(candidate.retained), kept)
    return PathPoint(
        candidate.retained,
        kept.names,
        candidate.elbo,
        best.errors.error,
        best.errors.standard_error,
        best.errors.blocks,
        best.model,
        best.refit,
        best.status,
    )


def _relearned(point: PathPoint, statistics: RegressionStatistics, refitter: Refitter) -> LiftedModel:
    """Return the point's model refitted on more data, stable if it was."""
    stable = point.model.spectral_radius <= 1 + ROUNDING
    return refitter.again(point.refit, statistics.select(point.retained), point.model.dictionary, stable)


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
