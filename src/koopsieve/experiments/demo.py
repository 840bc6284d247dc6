"""The demonstration: the Lorenz attractor with noise, 23 observables of which few are needed."""

from __future__ import annotations

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.dictionary import SquaredExponential, States
from koopsieve.evaluate import add_noise
from koopsieve.execution import Progress, silent
from koopsieve.identify import STLSQ, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.pipeline import sift
from koopsieve.sieve.result import SieveResult
from koopsieve.systems import lorenz

HORIZONS = (1, 10, 50, 100)
NAMES = ("x", "y", "z")


def demo(seed: int = 0, snr_db: float = 20.0, progress: Progress = silent) -> SieveResult:
    """Simulate Lorenz at 1 kHz, add noise, sift three states and twenty kernels, judge on an unseen trajectory.

    Errors compare predictions that start from noisy test samples with the noise-free trajectory, as in the paper.
    """
    start = np.random.SeedSequence(seed).spawn(4)
    clean, unseen = (Trajectories.from_arrays(lorenz(6.0, 1e-3, seed=s), dt=1e-3, state_names=NAMES) for s in start[:2])
    train = add_noise(clean, snr_db, np.random.default_rng(start[2]))
    test = add_noise(unseen, snr_db, np.random.default_rng(start[3]))
    methods: dict[str, Identifier] = {
        "least squares": LeastSquares(),
        "thresholded least squares": STLSQ(),
        "sparse Bayes": SparseBayes(),
        "spike and slab": SpikeSlab(),
    }
    return sift(
        train,
        States() + SquaredExponential(centers=20, coefficients=[1e-5]),
        form="linear",
        horizons=HORIZONS,
        test=test,
        truth=unseen,
        compare=methods,
        seed=seed,
        progress=progress,
    )
