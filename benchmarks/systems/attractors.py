"""The Rössler attractor with its classical parameters."""

from __future__ import annotations

from numpy.typing import ArrayLike

from koopsieve._types import FloatArray
from koopsieve.systems.differential_equations import Attractor, Seed, State


def _rossler(state: State, _: State) -> State:
    x, y, z = state
    return -y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)


_ROSSLER = Attractor(_rossler, 0.01, (-5.0, -5.0, 0.0), (5.0, 5.0, 1.0), (60.0, 120.0))


def rossler(seconds: float = 100.0, dt: float = 0.1, *, initial: ArrayLike | None = None, seed: Seed = 0) -> FloatArray:
    """Simulate the Rössler attractor, ẋ = −y − z, ẏ = x + 0.2y, ż = 0.2 + z(x − 5.7).

    The parameters are those of `koopsieve.systems.lorenz`.
    """
    return _ROSSLER.samples(seconds, dt, initial, seed)
