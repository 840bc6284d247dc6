"""The multi-step fit as a least-squares problem: simulated windows against measured ones.

Comes in: a structure, windows, and which coefficients are free. Goes out: the loss of any coefficients, and the
Gauss–Newton regression at them as a `TriangularFactor` (D51), folded chunk by chunk. A structure is all that the
simulation sieve knows of a form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import NormalEquations
from koopsieve.sieve.simulation.windows import Windows

_CHUNK = 1 << 18  # entries of the Jacobian held at once: what stays in the cache
_CHUNK_OF_FACTOR = 1 << 21  # … where they are folded into an orthogonal factor, for which few and large ones are best

ABREAST = 32  # windows that compiled structures simulate side by side: no group of them is left half empty


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
    known : dict
        The squared errors at the last θ: where an optimiser ends, its caller asks for them once more.
    """

    structure: Structure
    windows: Windows
    scale: FloatArray
    free: BoolArray
    known: dict[bytes, FloatArray] = field(default_factory=dict)

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

    def squared_errors(self, theta: FloatArray) -> FloatArray:
        """Return the mean squared error over windows in the outputs' own units, shape (T, n)."""
        asked = theta.tobytes()
        if asked not in self.known:
            self.known.clear()
            self.known[asked] = np.mean(self.errors(theta) ** 2, axis=0)
        return self.known[asked]

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error over windows, steps and outputs, in the units of `scale`."""
        return float(np.mean(self.squared_errors(theta) / self.scale**2))

    def factor(self, theta: FloatArray, prior: float) -> TriangularFactor:
        """Return the factor of J against r + Jθ (D51): one row per window, step and output.

        A row for each coefficient says that it is zero, with the weight `prior` relative to the norm of its column.
        """
        factor = TriangularFactor.empty(len(theta), 1)
        for J, residual in self._regression(theta, _CHUNK_OF_FACTOR):
            if not factor.rows:
                factor = TriangularFactor.prior(prior * np.sqrt(np.einsum("ij,ij->j", J, J)), 1)
            factor = factor.absorb(J, (residual + J @ theta)[:, None])
        return factor

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return JᵀJ and Jᵀr of the same rows."""
        products, score = np.zeros((len(theta), len(theta))), np.zeros(len(theta))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no step, see `Curve`
            for J, residual in self._regression(theta, _CHUNK):
                products += J.T @ J
                score += residual @ J
        return NormalEquations(products, score)

    def _regression(self, theta: FloatArray, chunk: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield J (rows, P) and the residuals r (rows,) of some windows at a time."""
        coef, P = self.coef(theta), len(theta)
        most = max(chunk // max(self.scale.size * P, 1), 1)
        most -= most % ABREAST if most > ABREAST else 0
        for first in range(0, self.windows.count, most):
            part = self.windows.take(slice(first, first + most))
            simulated, slopes = self.structure.sensitivities(coef, self.free, part.starts, part.inputs)
            slopes *= (1 / self.scale)[:, :, None]
            yield slopes.reshape(-1, P), ((part.outputs - simulated) / self.scale).ravel()
