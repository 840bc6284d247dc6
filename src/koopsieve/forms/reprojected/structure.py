"""The structure of a reprojected model, which the simulation sieve fits: simulation, and its slopes by coefficients.

One step (D49): y[k+1] = Σ_i θ_i p_i(x[k], u[k]), held inside bounds, then the delay line is shifted and lifted anew.
Sensitivity (D50): ∂y[k+1]/∂θ = p(z[k]) + Σ_d ∂f/∂y[k-d]·∂y[k-d]/∂θ, zero for an output that a bound holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.data import Embedding
from koopsieve.dictionary import Dictionary
from koopsieve.dictionary.observables import Program
from koopsieve.regression import TriangularFactor
from koopsieve.regression.factor import refuse_too_large
from koopsieve.sieve.simulation.windows import Episode

_ROWS = 4096  # rows lifted at once
_SAME_LEVEL = (1e-6, 1e-5, 1e-4, 1e-3)  # shares of the range within which values are the same: noise hides no limit
_LEAST_COUNT, _LEAST_SHARE = 10, 0.01  # samples at the extreme value that tell a limit, and their share
_ARRIVAL = 1  # … how many of these shares the last step to a limit is at least; towards a level the record slows down
_ABOVE_NEXT = 5  # … and how many times as many as at the next value: coarse quantisation has many at both


@dataclass(frozen=True, eq=False)
class DictionaryRegressors:
    """Some observables and input terms of a dictionary, p(z) = [φ(x), ψ(x, u)], as functions of z = [x | u]."""

    whole: Dictionary
    terms: IndexArray  # which of its observables and input terms, counted on after one another; increasing
    program: Program | None  # the same terms for the compiled loops

    @classmethod
    def of(cls, dictionary: Dictionary) -> DictionaryRegressors:
        """Return all of them."""
        return cls(dictionary, np.arange(len(dictionary.regressors)), dictionary.program)

    @property
    def size(self) -> int:
        """Number of observables and input terms."""
        return len(self.terms)

    @cached_property
    def dictionary(self) -> Dictionary:
        """The dictionary cut to these terms."""
        return selected(self.whole, self.terms)

    def evaluate(self, z: FloatArray) -> FloatArray:
        """Return their values at points (x, u)."""
        return self.dictionary.evaluate(z)

    def slope_of_sums(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the derivatives of weighted sums of them."""
        return self.dictionary.slope_of_sums(z, weights)

    def select(self, indices: IndexArray) -> DictionaryRegressors:
        """Return some of them."""
        program = None if self.program is None else self.program.select(indices)
        return DictionaryRegressors(self.whole, self.terms[indices], program)


def selected(phi: Dictionary, regressors: IndexArray) -> Dictionary:
    """Return the dictionary cut to some of its observables and input terms, counted on after one another."""
    return phi.select(regressors[regressors < phi.size], regressors[regressors >= phi.size] - phi.size)


def bounds_around(outputs: FloatArray) -> FloatArray:
    """Return the limits of measured outputs (samples, n), or where there are none, their range with its width added.

    Shape (2, n), the low ones first. During a fit they make a bad trial step bad and not infinite. Where the record
    shows a limit of the plant or of its sensor (many samples at the same extreme value, reached without slowing down),
    it is part of the model.
    """
    low, high = outputs.min(axis=0), outputs.max(axis=0)
    lower, upper = (np.array([sign * _limit(sign * column) for column in outputs.T]) for sign in (-1, 1))
    room = high - low
    return np.stack([np.where(np.isfinite(lower), lower, low - room), np.where(np.isfinite(upper), upper, high + room)])


def _limit(values: FloatArray) -> float:
    """Return the value above which the record never is because something holds it there; inf without one."""
    for width in np.multiply(_SAME_LEVEL, np.ptp(values)):
        held = values >= values.max() - width
        below, count, arriving = values[~held], held.sum(), np.flatnonzero(held[1:] & ~held[:-1])
        following = (below >= below.max(initial=-np.inf) - width).sum()
        many = count >= max(_LEAST_COUNT, _LEAST_SHARE * len(values), _ABOVE_NEXT * following)
        if many and arriving.size and np.median(values[arriving + 1] - values[arriving]) >= _ARRIVAL * width:
            return float(np.median(values[held]))
    return np.inf


@dataclass(frozen=True, eq=False)
class ReprojectedStructure:
    """The structure of a reprojected model: everything but its coefficients."""

    regressors: DictionaryRegressors
    outputs: int  # how many there are at one instant, n
    embedding: Embedding  # the delays in x
    bounds: FloatArray  # (2, n): a prediction beyond them is set onto them

    def select(self, terms: IndexArray) -> ReprojectedStructure:
        """Return the structure with only some of the regressors."""
        return replace(self, regressors=self.regressors.select(terms))

    def simulate(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs after each step, shape (W, T, n), (D49).

        Coefficients are (p, n); the starts (W, n_x) are delay lines, the inputs (W, T, l) act in each step.
        """
        if self.regressors.program is not None:
            from koopsieve.forms.reprojected import compiled

            return compiled.simulate(self.regressors.program.flat, *self._compiled(coef), *_plain(starts, inputs))
        x, found = starts, np.empty((*inputs.shape[:2], self.outputs))
        for t in range(inputs.shape[1]):
            u = inputs[:, t]
            y = np.clip(self.regressors.evaluate(np.hstack([x, u])) @ coef, *self.bounds)
            found[:, t] = y
            x = self.embedding.shift(x, y, u)
        return found

    def sensitivities(
        self, coef: FloatArray, free: BoolArray, starts: FloatArray, inputs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (W, T, n) and their derivatives (W, T, n, P) by the P free coefficients, (D50).

        Derivatives are in the order of `coef[free]`; `free` has shape (p, n).
        """
        n, reach = self.outputs, self.embedding.state_delays + 1
        if self.regressors.program is not None:
            from koopsieve.forms.reprojected import compiled

            tables, given = self.regressors.program.flat, _plain(starts, inputs)
            return compiled.sensitivities(tables, free, reach, *self._compiled(coef), *given)
        W, T = inputs.shape[:2]
        found, slopes = np.empty((W, T, n)), np.zeros((W, reach + T, n, int(free.sum())))
        own = own_places(free)
        acting = np.flatnonzero(coef.any(axis=1))  # the others have no part in ∂f/∂x
        moving, weights = self.regressors.select(acting), coef[acting].T
        x = starts
        for t in range(T):
            z = np.hstack([x, inputs[:, t]])
            p = self.regressors.evaluate(z)
            raw = p @ coef
            y = np.clip(raw, *self.bounds)
            inward = moving.slope_of_sums(z, weights)[:, :, : n * reach]  # ∂f_c/∂x_j, the delayed outputs only
            past = inward.reshape(W, n, reach, n)[:, :, ::-1].reshape(W, n, reach * n)  # the oldest first
            slope = past @ slopes[:, t : t + reach].reshape(W, reach * n, -1)
            for c, (rows, places) in enumerate(own):
                slope[:, c, places] += p[:, rows]
            slope[raw != y] = 0.0
            found[:, t], slopes[:, reach + t] = y, slope
            x = self.embedding.shift(x, y, inputs[:, t])
        return found, slopes[:, reach:]

    def linearised(self, coef: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums at points (P, n_x + n_u) before bounds hold them (P, n), and slopes (P, n, n_x + n_u)."""
        if self.regressors.program is not None:
            from koopsieve.forms.reprojected import compiled

            return compiled.sums_and_slopes(self.regressors.program.flat, *_plain(coef, points))
        return self.regressors.evaluate(points) @ coef, self.regressors.slope_of_sums(points, coef.T)

    def _compiled(self, coef: FloatArray) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Return coefficients, bounds and where the samples of the delay line come from, for the compiled loops."""
        return np.ascontiguousarray(coef), *self._bounds_and_sources

    @cached_property
    def _bounds_and_sources(self) -> tuple[FloatArray, IndexArray]:
        width = self.regressors.program.width if self.regressors.program is not None else 0
        n, a, b = self.outputs, self.embedding.state_delays, self.embedding.input_delays
        inputs = (width - n * (1 + a)) // (1 + b)
        return self.bounds, self.embedding.shift_sources(n, inputs)


def _plain(*arrays: FloatArray) -> list[FloatArray]:
    """Return arrays in the one layout that is compiled for: row by row, writable."""
    usual = (array.flags.carray and array.dtype == float for array in arrays)
    return [a if fits else np.require(a, float, ["C", "W"]) for a, fits in zip(arrays, usual, strict=True)]


def own_places(free: BoolArray) -> list[tuple[IndexArray, IndexArray]]:
    """Return, per output, the regressors of its free coefficients and where these are among all free ones."""
    number = np.cumsum(free).reshape(free.shape) - 1
    return [(np.flatnonzero(column), number[column, c]) for c, column in enumerate(free.T)]


def one_step_factor(regressors: DictionaryRegressors, episodes: Iterable[Episode], outputs: int) -> TriangularFactor:
    """Return the factor of the next outputs on all regressors; the rows are lifted and folded piece by piece."""
    factor = TriangularFactor.empty(regressors.size, outputs)
    for states, inputs in episodes:
        for first in range(0, len(inputs), _ROWS):
            rows = slice(first, first + _ROWS)
            z = np.hstack([states[:-1][rows], inputs[rows]])
            factor = factor.absorb(regressors.evaluate(z), states[1:, :outputs][rows])
    refuse_too_large(factor, ("the regressors",))
    return factor
