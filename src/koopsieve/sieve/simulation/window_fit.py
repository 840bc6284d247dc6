"""The multi-step fit as a least-squares problem: simulated windows against measured ones.

Comes in: a structure, windows, and which coefficients are free. Goes out: the loss of any coefficients, and the
Gauss–Newton regression at them as a `TriangularFactor` (D51), folded chunk by chunk. A structure is all that the
simulation sieve knows of a form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.windows import Windows

_CHUNK = 1 << 21  # entries of the Jacobian held at once


class Structure(Protocol):
    """A model but for its coefficients (p, q): a row per term, a column per sum of terms."""

    @property
    def outputs(self) -> int:
        """Number of outputs n."""
        ...

    def select(self, terms: IndexArray) -> Self:
        """Return the structure with only some (increasing) of the p terms; the others are not computed any more."""
        ...

    def simulate(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs after each step, shape (W, T, n), from starts (W, n_x) under inputs (W, T, l)."""
        ...

    def sensitivities(
        self, coef: FloatArray, free: BoolArray, starts: FloatArray, inputs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the outputs and their derivatives (W, T, n, P) by the P free coefficients, in the order of coef[free].

        `free` is an array of bool in the shape of `coef`.
        """
        ...


@dataclass(frozen=True, eq=False)
class WindowFit:
    """The squared error of simulated windows, as a function of the free coefficients.

    Parameters
    ----------
    structure : Structure
    windows : Windows
        What was measured.
    scale : array, shape (T, n)
        Unit of each output's error after each step.
    free : array of bool, shape (p, q)
        The coefficients that may differ from zero; θ lists them in the order of `coef[free]`.
    """

    structure: Structure
    windows: Windows
    scale: FloatArray
    free: BoolArray

    def coef(self, theta: FloatArray) -> FloatArray:
        """Return the coefficient matrix (p, q) of the free coefficients (P,)."""
        coef = np.zeros(self.free.shape)
        coef[self.free] = theta
        return coef

    def errors(self, theta: FloatArray) -> FloatArray:
        """Return measured less simulated outputs in their own units, shape (W, T, n)."""
        return self.windows.outputs - self.structure.simulate(
            self.coef(theta), self.windows.starts, self.windows.inputs
        )

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error over windows, steps and outputs, in the units of `scale`."""
        return float(np.mean((self.errors(theta) / self.scale) ** 2))

    def factor(self, theta: FloatArray) -> TriangularFactor:
        """Return the factor of J against r + Jθ (D51): one row per window, step and output."""
        coef, P = self.coef(theta), len(theta)
        factor = TriangularFactor.empty(P, 1)
        for part in self._chunks(P):
            simulated, slopes = self.structure.sensitivities(coef, self.free, part.starts, part.inputs)
            J = (slopes / self.scale[:, :, None]).reshape(-1, P)
            residual = ((part.outputs - simulated) / self.scale).ravel()
            factor = factor.absorb(J, (residual + J @ theta)[:, None])
        return factor

    def _chunks(self, P: int) -> Iterator[Windows]:
        most = max(_CHUNK // max(self.scale.size * P, 1), 1)
        for first in range(0, self.windows.count, most):
            yield self.windows.take(slice(first, first + most))
