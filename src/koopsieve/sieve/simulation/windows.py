"""Windows: short stretches of record over which a model is simulated from a measured start; and the fit to them.

Embedded episodes, in memory or piece by piece, become a frozen `Windows` of bounded size, whose starts are spread over
the whole record. The multi-step fit compares simulated windows with measured ones as a least-squares problem: a
structure, windows and which coefficients are free give the loss of any coefficients, and the Gauss–Newton regression at
them as a `TriangularFactor` (D51), folded chunk by chunk. A structure is all that the simulation sieve knows of a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.far_terms import back
from koopsieve.sieve.simulation.levenberg_marquardt import NormalEquations

Episode = tuple[FloatArray, FloatArray]  # embedded states (samples, n_x) and the inputs between them (samples - 1, l)
GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Windows:
    """Measured starts, the inputs that follow, and the outputs that were measured."""

    starts: FloatArray  # (W, n_x): the delay line at the start of each window
    inputs: FloatArray  # (W, T, l): the input that acts in each step
    outputs: FloatArray  # (W, T, n): the outputs measured after each step

    @property
    def count(self) -> int:
        """Number of windows W."""
        return len(self.starts)

    @property
    def length(self) -> int:
        """Number of steps T."""
        return int(self.outputs.shape[1])

    def take(self, chosen: IndexArray | slice) -> Windows:
        """Return some of the windows."""
        return Windows(self.starts[chosen], self.inputs[chosen], self.outputs[chosen])

    def shortened(self, length: int) -> Windows:
        """Return the same windows, ended after `length` steps."""
        return Windows(self.starts, self.inputs[:, :length], self.outputs[:, :length])


def draw_windows(
    episodes: Iterable[Episode], outputs: int, length: int, count: int, rng: np.random.Generator
) -> Windows:
    """Draw at most `count` windows of `length` steps, spread over all episodes, in one pass.

    Start number j of all starts gets the key frac(j·golden + offset), and the `count` smallest keys are kept: wherever
    the record ends, what is kept lies evenly over it (three-distance theorem), and no more is ever in memory. Episodes
    are embedded states, whose first columns are the outputs, and the inputs between them. No window crosses from one
    into the next; those shorter than a window are passed over.
    """
    offset, seen, longest = rng.random(), 0, 0
    keys, kept = np.empty(0), None
    for states, inputs in episodes:
        starts = len(states) - length
        longest = max(longest, len(states) - 1)
        if starts <= 0:
            continue
        own = np.modf((seen + np.arange(starts)) * GOLDEN + offset)[0]
        seen += starts
        every = np.concatenate([keys, own])
        chosen = np.sort(np.argsort(every, kind="stable")[:count])
        new = _gather(states, inputs, chosen[chosen >= len(keys)] - len(keys), outputs, length)
        kept = new if kept is None else _joined(kept.take(chosen[chosen < len(keys)]), new)
        keys = every[chosen]
    if kept is None:
        raise KoopsieveError(
            f"A window of {length} steps fits into no episode: the longest has {longest} steps after its delays. "
            "Use shorter windows, fewer delays, or longer episodes."
        )
    return kept


def _gather(states: FloatArray, inputs: FloatArray, starts: IndexArray, outputs: int, length: int) -> Windows:
    steps = starts[:, None] + np.arange(length)
    return Windows(states[starts], inputs[steps], states[steps + 1, :outputs])


def _joined(first: Windows, second: Windows) -> Windows:
    return Windows(
        np.concatenate([first.starts, second.starts]),
        np.concatenate([first.inputs, second.inputs]),
        np.concatenate([first.outputs, second.outputs]),
    )


_CHUNK = 1 << 18  # entries of the Jacobian held at once: what stays in the cache

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
    """The squared error of simulated windows, as a function of the free coefficients."""

    structure: Structure
    windows: Windows  # what was measured
    scale: FloatArray  # (T, n): unit of each output's error after each step
    free: BoolArray  # (p, q): the coefficients that may differ from zero; θ lists them in the order of `coef[free]`
    # the squared errors at every θ so far: they are asked for again where a fit begins and ends
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
            self.known[asked] = np.mean(self.errors(theta) ** 2, axis=0)
        return self.known[asked]

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error over windows, steps and outputs, in the units of `scale`."""
        return float(np.mean(self.squared_errors(theta) / self.scale**2))

    def factor(self, theta: FloatArray, prior: float, turn: FloatArray | None = None) -> TriangularFactor:
        """Return the factor of J against r + Jθ (D51): one row per window, step and output.

        A row for each coefficient says that it is zero, with the weight `prior` relative to the norm of its column.
        With `turn`, coefficients are those that `turn` makes θ of.
        """
        factor, own = TriangularFactor.empty(len(theta), 1), theta if turn is None else back(turn) @ theta
        for J, residual in self._regression(theta, turn):
            factor = factor.absorb(J, (residual + J @ own)[:, None])
        return factor.merge(TriangularFactor.prior(prior * np.linalg.norm(factor.R, axis=0)))

    def normal(self, theta: FloatArray, turn: FloatArray | None = None) -> NormalEquations:
        """Return JᵀJ and Jᵀr of the same rows, J by the coefficients that `turn` makes θ of."""
        products, score = np.zeros((len(theta), len(theta))), np.zeros(len(theta))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no step, see `Curve`
            for J, residual in self._regression(theta, turn):
                products += J.T @ J
                score += residual @ J
        return NormalEquations(products, score)

    def _regression(self, theta: FloatArray, turn: FloatArray | None) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield J (rows, P) and the residuals r (rows,) of some windows at a time."""
        coef, P = self.coef(theta), len(theta)
        most = max(_CHUNK // max(self.scale.size * P, 1), 1)
        most -= most % ABREAST if most > ABREAST else 0
        for first in range(0, self.windows.count, most):
            part = self.windows.take(slice(first, first + most))
            simulated, slopes = self.structure.sensitivities(coef, self.free, part.starts, part.inputs)
            slopes *= (1 / self.scale)[:, :, None]
            J = slopes.reshape(-1, P)
            yield J if turn is None else J @ turn, ((part.outputs - simulated) / self.scale).ravel()


@dataclass(frozen=True, eq=False)
class TurnedFit:
    """A fit by other coefficients, `turn` times which are its own."""

    fit: WindowFit
    turn: FloatArray

    def loss(self, theta: FloatArray) -> float:
        """Return the loss of the fit."""
        return self.fit.loss(self.turn @ theta)

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return JᵀJ and Jᵀr, J by these coefficients."""
        return self.fit.normal(self.turn @ theta, self.turn)
