"""A continuous stirred tank reactor with the van de Vusse reaction, whose yield has a turning point.

A → B → C and 2A → D:  ċ_A = u·(c_f − c_A) − k₁c_A − k₃c_A²,  ċ_B = k₁c_A − k₂c_B − u·c_B, with the flow per volume u as
input. At rest the product B is largest at one flow and falls on both sides of it: the gain from flow to product changes
its sign there, and below it the product first moves the wrong way. Concentrations are in mol/l, time in minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

_MAX_STEP = 0.01  # minutes


@dataclass(frozen=True)
class StirredTank:
    """Rates of the three reactions (1/min, 1/min, l/(mol·min)) and the concentration of A in the feed (mol/l)."""

    rates: tuple[float, float, float] = (5 / 6, 5 / 3, 1 / 6)
    feed: float = 10.0

    def derivative(self, state: Any, drive: Any, maths: Any = np) -> Any:
        """Return the time derivative of (c_A, c_B) under the flow per volume.

        A second entry of `drive`, if given, is added to the concentration of the feed. `maths` is not used here.
        """
        a, b = state
        flow, richer = drive[0], drive[1] if len(drive) > 1 else 0.0
        k1, k2, k3 = self.rates
        return flow * (self.feed + richer - a) - k1 * a - k3 * a * a, k1 * a - k2 * b - flow * b


def stirred_tank(
    drive: ArrayLike,
    dt: float = 0.05,
    *,
    reactor: StirredTank | None = None,
    initial: Sequence[float] = (3.0, 1.117),
) -> FloatArray:
    """Simulate the reactor under a flow held over each sample; return (c_A, c_B), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1) or (steps, 2)
        Flow per volume in 1/min, and what is added to the concentration of the feed.
    dt : float
        Sample time in minutes.
    reactor : StirredTank, optional
    initial : sequence of float
        Concentrations at time zero; the default is at rest with a flow of 4/7.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    history = np.asarray(drive, dtype=float)
    if history.ndim != 2 or history.shape[1] not in (1, 2):
        raise KoopsieveError(f"drive must have the columns flow and, if wanted, feed. Got shape {history.shape}.")
    plant = StirredTank() if reactor is None else reactor

    def derivative(state: State, held: State) -> State:
        a, b = plant.derivative(state, held)
        return a, b

    return integrate(derivative, initial, history, dt, _MAX_STEP)
