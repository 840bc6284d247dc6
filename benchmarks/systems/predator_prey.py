"""Predators and prey with limited food: ẋ = x(1 + u − x/K − y), ẏ = y(x − γ).

Lotka and Volterra's equations with a carrying capacity K, so that populations return after a disturbance; u changes how
fast the prey multiply. The state is (x, y), both positive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.differential_equations import State, integrate

_MAX_STEP = 0.02  # units of time


def lotka_volterra(
    growth: ArrayLike,
    dt: float = 0.1,
    *,
    capacity: float = 8.0,
    mortality: float = 1.0,
    initial: Sequence[float] = (1.0, 1.0),
) -> FloatArray:
    """Simulate prey and predators while the growth of the prey is changed; return (prey, predators), noise-free.

    Parameters
    ----------
    growth : array-like, shape (steps, 1)
        The input u, added to the prey's growth rate 1 and held over each sample.
    dt : float
        Sample time.
    capacity : float
        K, how many prey there is food for.
    mortality : float
        γ, of the predators.
    initial : sequence of float
        Both populations at time zero, positive.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    history = np.asarray(growth, dtype=float)
    if history.ndim != 2 or history.shape[1] != 1:
        raise KoopsieveError(f"growth must have one column. Expected (steps, 1), got {history.shape}.")
    if not all(population > 0 for population in initial):
        raise KoopsieveError(f"Populations must be positive. Got {list(initial)}.")

    def derivative(state: State, u: State) -> State:
        prey, predators = state
        return prey * (1 + u[0] - prey / capacity - predators), predators * (prey - mortality)

    return integrate(derivative, initial, history, dt, _MAX_STEP)
