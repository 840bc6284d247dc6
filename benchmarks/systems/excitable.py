"""Two systems whose states move at very different speeds: FitzHugh–Nagumo (a nerve) and the Oregonator (a reaction).

FitzHugh–Nagumo: v̇ = v − v³/3 − w + u,  ẇ = (v + 0.7 − 0.8w)/12.5.
Oregonator in Tyson's form with light: εẋ = x − x² − (fz + u)(x − q)/(x + q),  ż = x − z. Both rest, or burst again and
again, depending on the input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.differential_equations import State, integrate

_NERVE_STEP = 0.05  # longest steps of the integration, in units of time
_REACTION_STEP = 1e-3


def fitzhugh_nagumo(current: ArrayLike, dt: float = 0.5, *, initial: Sequence[float] = (-1.2, -0.62)) -> FloatArray:
    """Simulate a nerve under a current held over each sample; return (v, w), noise-free.

    Parameters
    ----------
    current : array-like, shape (steps, 1)
        The input u; from about 0.33 to 1.4 the nerve fires periodically.
    dt : float
        Sample time.
    initial : sequence of float
        Voltage v and recovery w at time zero; the default is near rest without current.

    Returns
    -------
    array, shape (steps + 1, 2)
    """

    def derivative(state: State, u: State) -> State:
        v, w = state
        return v - v**3 / 3 - w + u[0], (v + 0.7 - 0.8 * w) / 12.5

    return integrate(derivative, initial, _one_column("current", current), dt, _NERVE_STEP)


def oregonator(
    light: ArrayLike,
    dt: float = 0.05,
    *,
    epsilon: float = 0.05,
    yield_factor: float = 1.4,
    recovery: float = 0.002,
    initial: Sequence[float] = (0.1, 0.1),
) -> FloatArray:
    """Simulate the reaction under light held over each sample; return the concentrations (x, z), noise-free.

    Parameters
    ----------
    light : array-like, shape (steps, 1)
        The input u, not negative: bromide made by light. Much of it stops the oscillation.
    dt : float
        Sample time.
    epsilon : float
        ε, how much faster x moves than z.
    yield_factor : float
        f, bromide made per catalyst.
    recovery : float
        q, below which x does not fall.
    initial : sequence of float
        Concentrations at time zero, positive.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    history = _one_column("light", light)
    if history.size and history.min() < 0:
        raise KoopsieveError(f"light must not be negative. Got {history.min():g}.")
    if not all(concentration > 0 for concentration in initial):
        raise KoopsieveError(f"Concentrations must be positive. Got {list(initial)}.")

    def derivative(state: State, u: State) -> State:
        x, z = state
        inhibited = (yield_factor * z + u[0]) * (x - recovery) / (x + recovery)
        return (x - x * x - inhibited) / epsilon, x - z

    return integrate(derivative, initial, history, dt, _REACTION_STEP)


def _one_column(name: str, values: ArrayLike) -> FloatArray:
    history = np.asarray(values, dtype=float)
    if history.ndim != 2 or history.shape[1] != 1:
        raise KoopsieveError(f"{name} must have one column. Expected (steps, 1), got {history.shape}.")
    return history
