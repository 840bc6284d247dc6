"""The demonstration: the Lorenz attractor with noise, 23 observables of which few are needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import SquaredExponential, States
from koopsieve.evaluate import add_noise, horizon_nmse
from koopsieve.execution import Progress, silent
from koopsieve.sieve import HorizonSieve, SievePath, sieve_path
from koopsieve.systems import lorenz
from koopsieve.workflow import SieveResult, reduce_and_refit

HORIZONS = (1, 10, 50, 100)
NAMES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What the demonstration found.

    Parameters
    ----------
    result : SieveResult
        The paper's method: all observables, and the ancestors of the outputs, with methods I to IV.
    path : SievePath
        The horizon sieve's choice, refitted over the horizons.
    path_error : array
        NMSE of that choice on the same test trajectory, mean of the states.
    """

    result: SieveResult
    path: SievePath
    path_error: FloatArray


def demo(seed: int = 0, snr_db: float = 20.0, progress: Progress = silent) -> Demonstration:
    """Simulate Lorenz at 1 kHz, add noise, sift three states and twenty kernels, judge on an unseen trajectory.

    Errors compare predictions that start from noisy test samples with the noise-free trajectory, as in the paper.
    """
    start = np.random.SeedSequence(seed).spawn(4)
    clean, unseen = (Trajectories.from_arrays(lorenz(6.0, 1e-3, seed=s), dt=1e-3, state_names=NAMES) for s in start[:2])
    train = add_noise(clean, snr_db, np.random.default_rng(start[2]))
    test = add_noise(unseen, snr_db, np.random.default_rng(start[3]))
    dictionary = (States() + SquaredExponential(centers=20, coefficients=[1e-5])).fit(train, seed=seed)
    result = reduce_and_refit(
        train, dictionary, test=test, truth=unseen, threshold=0.01, horizons=HORIZONS, seed=seed, progress=progress
    )
    path = sieve_path(HorizonSieve(), train, dictionary, horizons=HORIZONS, progress=progress)
    error = horizon_nmse(path.model, test, HORIZONS, truth=unseen)
    return Demonstration(result, path, np.mean(list(error.values()), axis=0))
