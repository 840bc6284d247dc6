"""A stirred tank reactor in open loop, the plant of `koopsieve.systems.reactor_task`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve.systems.differential_equations import checked_drive, integrate
from koopsieve.systems.plants import reactor_derivative

STEP = 0.01  # minutes


def stirred_tank(drive: ArrayLike, dt: float = 0.05, *, initial: Sequence[float] = (3.0, 1.117)) -> np.ndarray:
    """Simulate the reactor under a flow held over each sample; return (c_A, c_B), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1) or (steps, 2)
        Flow per volume in 1/min, and what is added to the concentration of the feed.
    dt : float
        Sample time in minutes.
    initial : sequence of float
        Concentrations at time zero; the default is at rest with a flow of 4/7.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    return integrate(reactor_derivative, initial, checked_drive(drive, "flow", "feed"), dt, STEP)
