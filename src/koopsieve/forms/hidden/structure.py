"""Simulation of a polynomial state space over many windows at once, and how it depends on the coefficients.

One step (D80): x[k+1] = Θψ(x[k], v[k]), held inside a box, y[k+1] = Γψ(x[k], v[k]). Sensitivities forwards (D81): the
Jacobian of every output, for Gauss–Newton. Adjoints backwards (D82): the gradient of the squared error, at the price
of about three simulations whatever the number of coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.forms.hidden.power_table import PowerTable

_CHUNK = 1 << 22  # numbers held at once: terms of a gradient, entries of a Jacobian
BOUND = 12.0  # standard deviations at which a state is held while fitting


@dataclass(frozen=True, eq=False)
class HiddenStructure:
    """Everything of a polynomial state space but its coefficients.

    Coefficients are one matrix (n + outputs, m): the rows of Θ, then those of Γ.

    Parameters
    ----------
    terms : PowerTable
        ψ(x, v) of m terms; it knows the number of states n.
    outputs : int
        How many there are.
    limits : array, shape (2, n)
        Between which states are held.
    """

    terms: PowerTable
    outputs: int
    limits: FloatArray

    @classmethod
    def within(cls, bound: float, terms: PowerTable, outputs: int) -> HiddenStructure:
        """Return the structure whose states, of about unit variance, are held between ±bound."""
        return cls(terms, outputs, bound * np.outer([-1.0, 1.0], np.ones(terms.states)))

    @property
    def states(self) -> int:
        """Number of states n."""
        return self.terms.states

    def select(self, terms: IndexArray) -> HiddenStructure:
        """Return the structure with only some of the terms."""
        return replace(self, terms=self.terms.select(terms))

    def held(self, states: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return states (n, W) within the limits, written into `out` if that is given."""
        low, high = self.limits[:, :, None]
        held: FloatArray = np.minimum(np.maximum(states, low, out=out), high, out=out)  # half the time of `clip`
        return held

    def simulate(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs after each step, shape (W, T, outputs).

        Parameters
        ----------
        coef : array, shape (n + outputs, m)
        starts : array, shape (W, n)
            Hidden states.
        inputs : array, shape (W, T, l)
            The input that acts in each step.
        """
        return self.run(coef, starts, inputs)[:, :, self.states :]

    def run(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return states and outputs after each step, shape (W, T, n + outputs), the states before they are held."""
        n, weights, points = self.states, self.terms.spread(coef), self._points(starts, inputs)
        found = np.empty((inputs.shape[1], len(coef), len(starts)))
        terms = np.empty((len(self.terms.closed), len(starts)))
        with np.errstate(over="ignore", invalid="ignore"):  # a bad trial step overflows, and its loss shows it
            for t in range(len(found)):
                np.matmul(weights, self.terms.values(points[t], out=terms), out=found[t])
                self.held(found[t, :n], out=points[t + 1, :n])
        return found.transpose(2, 0, 1)

    def gradient(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray, aim: Aim) -> tuple[float, FloatArray]:
        """Return what `aim` makes of all windows, and its derivatives, shape of `coef`, by adjoints (D82)."""
        loss, found = 0.0, np.zeros((len(coef), len(self.terms.closed)))
        width = max(_CHUNK // max(len(self.terms.closed) * inputs.shape[1], 1), 1)
        for part in _parts(len(starts), width):
            own, slope = self._adjoint(coef, starts[part], inputs[part], aim.take(part))
            loss, found = loss + own, found + slope
        return loss, found[:, self.terms.columns]

    def _adjoint(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray, aim: Aim) -> tuple[float, FloatArray]:
        n, W, steps = self.states, len(starts), inputs.shape[1]
        weights, slopes, points = self.terms.spread(coef), self.terms.slopes(coef), self._points(starts, inputs)
        terms, following = np.empty((steps, len(self.terms.closed), W)), np.empty((steps, len(coef), W))
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(steps):
                np.matmul(weights, self.terms.values(points[t], out=terms[t]), out=following[t])
                self.held(following[t, :n], out=points[t + 1, :n])
            inside = (following[:, :n] >= self.limits[0][:, None]) & (following[:, :n] <= self.limits[1][:, None])
            loss, following[:, n:] = aim.pull(following[:, n:])
            slope = np.matmul(slopes, terms[:, : slopes.shape[1]]).reshape(steps, len(coef), n, W)
            back = np.zeros((n, W))
            for t in range(steps - 1, -1, -1):
                np.multiply(back, inside[t], out=following[t, :n])
                slope[t] *= following[t, :, None]
                back = slope[t].sum(axis=0)
            found = np.matmul(following, terms.transpose(0, 2, 1))[::-1].sum(axis=0)
        return loss, found

    def sensitivities(
        self, coef: FloatArray, free: BoolArray, starts: FloatArray, inputs: FloatArray, counted: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return outputs (W, c, outputs) and their derivatives (W, c, outputs, P) after the `counted` steps (D81).

        Parameters
        ----------
        coef, starts, inputs
            As for `simulate`.
        free : array of bool, shape (n + outputs, m)
            The coefficients that may move; derivatives are in the order of `coef[free]`, which is row by row.
        counted : array of int, shape (c,)
            Increasing numbers of the steps that are wanted, from 0.
        """
        n, W, P = self.states, len(starts), int(free.sum())
        weights, slopes, points = self.terms.spread(coef), self.terms.slopes(coef), self._points(starts, inputs)
        low, own = slopes.shape[1], self._own(free)
        found, jacobian = np.empty((W, len(counted), self.outputs)), np.empty((W, len(counted), self.outputs, P))
        place = {int(step): i for i, step in enumerate(counted)}
        S, following = np.zeros((W, n, P)), np.empty((W, len(coef), P))
        for t in range(int(counted[-1]) + 1):
            terms = self.terms.values(points[t])
            slope = (slopes @ terms[:low]).reshape(len(coef), n, W).transpose(2, 0, 1)
            np.matmul(np.ascontiguousarray(slope), S, out=following)
            for i, (columns, places) in enumerate(own):
                following[:, i, places] += terms[columns].T
            raw = weights @ terms
            if t in place:
                found[:, place[t]], jacobian[:, place[t]] = raw[n:].T, following[:, n:]
            x = self.held(raw[:n], out=points[t + 1, :n])
            S[:] = following[:, :n]
            S[(x != raw[:n]).T] = 0.0
        return found, jacobian

    def start_sensitivities(
        self, coef: FloatArray, starts: FloatArray, inputs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return outputs (W, T, outputs) and their derivatives by the hidden start (W, T, outputs, n)."""
        n, (W, steps, _) = self.states, inputs.shape
        weights, slopes, points = self.terms.spread(coef), self.terms.slopes(coef), self._points(starts, inputs)
        found, jacobian = np.empty((W, steps, self.outputs)), np.empty((W, steps, self.outputs, n))
        S = np.broadcast_to(np.eye(n), (W, n, n)).copy()
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(steps):
                terms = self.terms.values(points[t])
                slope = (slopes @ terms[: slopes.shape[1]]).reshape(len(coef), n, W).transpose(2, 0, 1)
                following, raw = slope @ S, weights @ terms
                found[:, t], jacobian[:, t] = raw[n:].T, following[:, n:]
                x = self.held(raw[:n], out=points[t + 1, :n])
                S = following[:, :n]
                S[(x != raw[:n]).T] = 0.0
        return found, jacobian

    def _points(self, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return room for the states before each step and after the last (T + 1, n + l, W): starts and inputs are in.

        Windows are last, as `PowerTable` takes points.
        """
        points = np.empty((inputs.shape[1] + 1, self.states + inputs.shape[2], len(starts)))
        points[0, : self.states], points[:-1, self.states :] = starts.T, inputs.transpose(1, 2, 0)
        return points

    def _own(self, free: BoolArray) -> list[tuple[IndexArray, slice]]:
        """Return, per row, where its free terms stand among all values, and where they are among all free ones."""
        ends = np.cumsum(free.sum(axis=1)).tolist()
        return [
            (self.terms.columns[row], slice(end - int(row.sum()), end)) for row, end in zip(free, ends, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Aim:
    """What a fit lowers: squared errors of the outputs after a burn-in.

    Parameters
    ----------
    outputs : array, shape (W, T, outputs)
        As measured.
    unit : array, shape (outputs,)
        Of the errors of each output.
    burn : int
        Steps at the start of a window that do not count: the hidden start is not exact.
    """

    outputs: FloatArray
    unit: FloatArray
    burn: int

    def take(self, chosen: IndexArray | slice) -> Aim:
        """Return that of some windows."""
        return replace(self, outputs=self.outputs[chosen])

    def pull(self, simulated: FloatArray) -> tuple[float, FloatArray]:
        """Return the sum of squares for outputs (T, outputs, W), and its derivatives by them."""
        gap = (simulated - self.outputs.transpose(1, 2, 0)) / self.unit[:, None]
        gap[: self.burn] = 0.0
        return float(np.sum(gap**2)), 2 * gap / self.unit[:, None]


def _parts(count: int, width: int) -> Iterator[slice]:
    for first in range(0, count, width):
        yield slice(first, first + width)
