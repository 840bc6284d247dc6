"""Fourier observables: sines and cosines of the states, on a grid of frequencies or at random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from koopsieve._types import POSITIVE, FloatArray, check_fields, positive_numbers, real_number, whole_number
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.centers import coordinate_scale, draw_rows, median_coefficient
from koopsieve.dictionary.observables import WAVE, Observables, Program, frozen, program
from koopsieve.dictionary.recipes import STATES, Block, Domain, Fitted

_SINE = -np.pi / 2  # the phase that makes a sine of a cosine


@dataclass(frozen=True, eq=False)
class Waves(Observables):
    """cos(x·ω_i + phase_i), ω of shape (size, n) in radians per unit."""

    frequencies: FloatArray
    phases: FloatArray
    per_column = ("frequencies", "phases")

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Evaluate all waves with one product."""
        out[:] = points @ self.frequencies.T
        out += self.phases
        np.cos(out, out=out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return −sin(x·ω + phase)·ω."""
        slope = -np.sin(points @ self.frequencies.T + self.phases)
        return slope[:, :, None] * self.frequencies

    def program(self, width: int) -> Program:
        """Return an atom per wave."""
        return program(width, WAVE + np.arange(self.size)[:, None], waves=(self.frequencies, self.phases))

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the cosine, or the sine that it is a quarter turn on."""
        from sympy import Add, cos, sin

        omega, phase = self.frequencies[column].tolist(), float(self.phases[column])
        angle = Add(*(w * x for w, x in zip(omega, point, strict=False) if w))
        return sin(angle, evaluate=False) if phase == _SINE else cos(angle + phase, evaluate=False)

    def fits(self, width: int) -> bool:
        """Tell whether there are frequencies and a phase per name."""
        return self.frequencies.shape == (self.size, width) and self.phases.shape == (self.size,)


@dataclass(frozen=True, repr=False)
class Fourier(Block):
    """sin(2πf·x) and cos(2πf·x) for every state x and every frequency f.

    Parameters
    ----------
    frequencies : sequence of float
        In cycles per unit of the state.
    of : {"states", "states and inputs"}
        Of what the waves are functions.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> Fourier(frequencies=[0.5]).fit(Trajectories.from_arrays([[0.0], [1.0]])).names
    ('sin(2pi 0.5 x1)', 'cos(2pi 0.5 x1)')
    """

    frequencies: Sequence[float] = (1.0,)
    of: str = STATES

    def __post_init__(self) -> None:
        positive_numbers("frequencies", self.frequencies)

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Lay out the grid."""
        domain = Domain(samples, self.of)
        n = len(domain.names)
        grid = [(f, d, wave) for f in self.frequencies for d in range(n) for wave in ("sin", "cos")]
        names = tuple(f"{wave}(2pi {f:.4g} {domain.names[d]})" for f, d, wave in grid)
        omega = np.array([2 * np.pi * f * np.eye(n)[d] for f, d, _ in grid])
        phases = frozen([_SINE if wave == "sin" else 0.0 for *_, wave in grid])
        return domain.fitted(Waves(names, frozen(omega), phases))


@dataclass(frozen=True, repr=False)
class RandomFourier(Block):
    """Random waves cos(x·ω + phase) that approximate the kernel exp(−c·‖x − x'‖²) (Rahimi and Recht, 2007).

    Parameters
    ----------
    features : int
        Number of waves.
    coefficient : float, optional
        The kernel's c in the data's own units unless `standardize` is set; left out, the median heuristic.
    standardize : bool
        Divide every state by its standard deviation first.
    label : str
        What the waves are called in names.
    of : {"states", "states and inputs"}
        Of what the waves are functions.
    """

    features: int = 50
    coefficient: float | None = None
    standardize: bool = False
    label: str = "w"
    of: str = STATES

    def __post_init__(self) -> None:
        whole_number("features", self.features, 1)
        if self.coefficient is not None:
            real_number("coefficient", self.coefficient, POSITIVE)
        check_fields(self, flags=("standardize",))

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Draw frequencies and phases."""
        domain = Domain(samples, self.of)
        scale = coordinate_scale(domain, self.standardize)
        c = self.coefficient
        if c is None:
            c = float(median_coefficient(draw_rows(domain, 500, rng) / scale)[0])
        omega = rng.normal(scale=np.sqrt(2 * c), size=(self.features, len(scale))) / scale
        phases = rng.uniform(0, 2 * np.pi, self.features)
        names = tuple(f"cos({self.label}{i + 1} {domain.symbol})" for i in range(self.features))
        return domain.fitted(Waves(names, frozen(omega), frozen(phases)))
