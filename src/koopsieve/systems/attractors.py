"""The Lorenz attractor with its classical parameters (paper, Section 5.1), and what attractors share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import Derivative, State, integrate

Seed = int | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True)
class Attractor:
    """A system of three states without inputs, and the range and transient of random starts.

    Parameters
    ----------
    derivative : callable
    max_step : float
        Longest step of the integration, in seconds.
    low, high : tuple of float
        Bounds of random starts.
    transient : tuple of float
        Seconds until a random start is on the attractor, at least and at most.
    """

    derivative: Derivative
    max_step: float
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    transient: tuple[float, float]

    def samples(self, seconds: float, dt: float, initial: ArrayLike | None, seed: Seed) -> FloatArray:
        """Return the samples, shape (round(seconds / dt) + 1, 3)."""
        if not (seconds > 0 and dt > 0):
            raise KoopsieveError(f"seconds and dt must be positive. Got seconds={seconds}, dt={dt}.")
        start = self._start(np.random.default_rng(seed)) if initial is None else np.asarray(initial, dtype=float)
        if start.shape != (3,):
            raise KoopsieveError(f"initial must hold the three states x, y, z. Got shape {start.shape}.")
        return self._run(start, round(seconds / dt), dt)

    def _start(self, rng: np.random.Generator) -> FloatArray:
        start = rng.uniform(self.low, self.high)
        least, most = self.transient
        seconds = least if least == most else rng.uniform(least, most)
        on_attractor: FloatArray = self._run(start, round(seconds / self.max_step), self.max_step)[-1]
        return on_attractor

    def _run(self, start: FloatArray, steps: int, dt: float) -> FloatArray:
        return integrate(self.derivative, start, np.empty((steps, 0)), dt, self.max_step)


def _lorenz(state: State, _: State) -> State:
    x, y, z = state
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


_LORENZ = Attractor(_lorenz, 1e-3, (-15.0, -15.0, 10.0), (15.0, 15.0, 40.0), (5.0, 5.0))


def lorenz(seconds: float = 6.0, dt: float = 1e-3, *, initial: ArrayLike | None = None, seed: Seed = 0) -> FloatArray:
    """Simulate the Lorenz attractor, σ = 10, ρ = 28, β = 8/3, and return its samples, without noise.

    Parameters
    ----------
    seconds, dt : float
        Duration and sample time.
    initial : array-like, shape (3,), optional
        State at time zero. Without it, a random start is simulated until it is on the attractor.
    seed : int, SeedSequence or Generator
        Random seed of the start; not used when `initial` is given.

    Returns
    -------
    array, shape (round(seconds / dt) + 1, 3)

    Examples
    --------
    >>> lorenz(1.0, 0.01, seed=1).shape
    (101, 3)
    """
    return _LORENZ.samples(seconds, dt, initial, seed)
