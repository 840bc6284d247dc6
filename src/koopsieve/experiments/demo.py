"""The demonstration: a spring that hardens, pushed by a force; only its position is measured, with noise."""

from __future__ import annotations

from koopsieve.data import Embedding, Trajectories
from koopsieve.dictionary import Constant, Inputs, Monomials, States
from koopsieve.dictionary.points import STATES_AND_INPUTS
from koopsieve.execution import Progress, silent
from koopsieve.pipeline import sift
from koopsieve.sieve.result import SieveResult
from koopsieve.systems.bench import SAMPLE_TIME, bench_record

HORIZONS = (1, 10, 50)
SAMPLES, TEST_SAMPLES = 2400, 2000
NOISE = 0.01  # of the position, which moves by about 0.6


def demo(
    seed: int = 0,
    noise: float = NOISE,
    progress: Progress = silent,
    *,
    samples: int = SAMPLES,
    form: str = "auto",
    delays: int = 2,
) -> SieveResult:
    """Sift all products, up to degree three, of the last samples of position and force; judge on another record.

    Parameters
    ----------
    seed : int
        Another seed is another pair of records of the same plant.
    noise : float
        Standard deviation of the measurement noise.
    progress : Progress
    samples : int
        Of the record that is learned from.
    form : str
        Of the model; by default all three are tried.
    delays : int
        Past samples of position and force among the candidates.
    """
    train, test = record(samples, 2 * seed, noise), record(TEST_SAMPLES, 2 * seed + 1, noise)
    return sift(
        train,
        States() + Constant() + Inputs() + Monomials(3, of=STATES_AND_INPUTS),
        form=form,
        delays=Embedding(delays, delays),
        horizons=HORIZONS,
        test=test,
        seed=seed,
        progress=progress,
    )


def record(samples: int, seed: int, noise: float) -> Trajectories:
    """Return one record of the bench."""
    force, position = bench_record(samples, seed=seed, noise=noise)
    return Trajectories.from_arrays(position, force, dt=SAMPLE_TIME, state_names="position", input_names="force")
