"""A hidden model's windows as a least-squares problem: simulated outputs against measured ones.

Comes in: a structure, and windows that start from encoded delay lines. Goes out: the loss of any coefficients, its
gradient by adjoints, and the Gauss–Newton regression as a `TriangularFactor` or as products, chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, or_one
from koopsieve.evaluate.judgement import runs_in_range
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.hidden.start import LinearStateSpace
from koopsieve.forms.hidden.structure import BOUND, Aim, HiddenStructure
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.simulation_problem import FLOOR
from koopsieve.sieve.simulation.windows import Windows

_CHUNK = 1 << 22  # entries of the Jacobian held at once
MARGIN = 1.0  # share of the range of simulated states by which they may leave it while fitting


@dataclass(frozen=True, eq=False)
class HiddenProblem:
    """Windows to learn from, and the structure that is fitted to them; all signals are standardised.

    Parameters
    ----------
    structure : HiddenStructure
        With all candidate terms.
    starts : array, shape (W, n)
        Hidden states at the starts.
    inputs : array, shape (W, T, l)
        The inputs that act.
    aim : Aim
        The measured outputs (W, T, outputs), their units, and the burn-in.
    """

    structure: HiddenStructure
    starts: FloatArray
    inputs: FloatArray
    aim: Aim

    @property
    def rows(self) -> int:
        """Number of errors that count."""
        W, T, outputs = self.aim.outputs.shape
        return int(W * (T - self.aim.burn) * outputs)

    def select(self, terms: IndexArray) -> HiddenProblem:
        """Return the problem with only some of the terms."""
        return replace(self, structure=self.structure.select(terms))

    def take(self, windows: IndexArray | slice) -> HiddenProblem:
        """Return the problem of some of the windows."""
        return replace(self, starts=self.starts[windows], inputs=self.inputs[windows], aim=self.aim.take(windows))

    def squared_errors(self, coef: FloatArray) -> FloatArray:
        """Return the mean squared error of every output after the burn-in, shape (outputs,); inf where it overflows."""
        simulated = self.structure.simulate(coef, self.starts, self.inputs)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.mean((simulated - self.aim.outputs)[:, self.aim.burn :] ** 2, axis=(0, 1))
        return np.where(np.isfinite(found), found, np.inf)

    def in_units_left(self, coef: FloatArray) -> HiddenProblem:
        """Return the problem with errors in units of those that `coef` leaves, so that all outputs weigh the same."""
        left = np.maximum(self.squared_errors(coef), FLOOR)
        unit = np.sqrt(np.where(np.isfinite(left), left, 1.0))
        return replace(self, aim=replace(self.aim, unit=unit))

    def loss(self, coef: FloatArray) -> float:
        """Return the mean squared error in units of `aim.unit`."""
        return float(np.mean(self.squared_errors(coef) / self.aim.unit**2))

    def gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its derivatives, shape of `coef`."""
        loss, slope = self.structure.gradient(coef, self.starts, self.inputs, self.aim)
        return loss / self.rows, slope / self.rows

    def factor(self, coef: FloatArray, free: BoolArray, rows: int | None = None) -> TriangularFactor:
        """Return the factor of J against r + Jθ, θ = coef[free] (D51), from about `rows` rows; left out, all."""
        theta = coef[free]
        factor = TriangularFactor.empty(len(theta), 1)
        for J, residual in self._rows(coef, free, rows):
            factor = factor.absorb(J, (residual + J @ theta)[:, None])
        return factor

    def products(self, coef: FloatArray, free: BoolArray, rows: int | None = None) -> tuple[FloatArray, int]:
        """Return JᵀJ of the same Jacobian, and of how many rows; it costs less than a factor."""
        P = int(free.sum())
        products, counted = np.zeros((P, P)), 0
        with np.errstate(over="ignore", invalid="ignore"):
            for J, _ in self._rows(coef, free, rows):
                products += J.T @ J
                counted += len(J)
        return products, counted

    def _rows(self, coef: FloatArray, free: BoolArray, rows: int | None) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield J and r in units of `aim.unit`, some windows at a time.

        Fewer rows come from every second, third, … step of all windows: neighbours in a window are alike.
        """
        burn, (W, T, outputs) = self.aim.burn, self.aim.outputs.shape
        P = int(free.sum())
        stride = 1 if rows is None else max(self.rows // max(rows, 1), 1)
        counted = np.arange(burn + (T - 1 - burn) % stride, T, stride)
        most = max(_CHUNK // max(len(counted) * outputs * P, 1), 1)
        for first in range(0, W, most):
            part = self.take(slice(first, first + most))
            simulated, slopes = self.structure.sensitivities(coef, free, part.starts, part.inputs, counted)
            residual = ((part.aim.outputs[:, counted] - simulated) / self.aim.unit).ravel()
            yield (slopes / self.aim.unit[:, None]).reshape(-1, P), residual


def problem_of(
    space: LinearStateSpace, windows: Windows, burn: int, degree: int, bound: float = BOUND
) -> HiddenProblem:
    """Return the problem of all terms up to a degree, the windows started by the encoder."""
    outputs, inputs = windows.outputs.shape[2], windows.inputs.shape[2]
    structure = HiddenStructure.within(bound, PowerTable.up_to(degree, len(space.A), inputs), outputs)
    aim = Aim(windows.outputs, np.ones(outputs), burn)
    return HiddenProblem(structure, windows.starts @ space.encoder.T, windows.inputs, aim)


def with_linear(terms: PowerTable, rows: FloatArray) -> FloatArray:
    """Return the coefficients of a linear system, all other terms zero."""
    coef = np.zeros((len(rows), terms.size))
    first = np.flatnonzero(terms.degrees == 1)
    coef[:, first] = rows[:, np.argmax(terms.powers[first], axis=1)]
    return coef


def rescaled(problem: HiddenProblem, coef: FloatArray) -> tuple[HiddenProblem, FloatArray, FloatArray]:
    """Return problem and coefficients with every state at unit variance again, and the deviations divided out (D84).

    The model is the same: a diagonal change of basis moves no coefficient to another term.
    """
    unit = state_deviations(problem, coef)
    structure = replace(problem.structure, limits=problem.structure.limits / unit)
    scaled = coef * in_state_units(problem, unit)
    return replace(problem, structure=structure, starts=problem.starts / unit), scaled, unit


def state_deviations(problem: HiddenProblem, coef: FloatArray) -> FloatArray:
    """Return the standard deviation of every simulated state after the burn-in; one where it does not change."""
    n = problem.structure.states
    states = problem.structure.run(coef, problem.starts, problem.inputs)[:, problem.aim.burn :, :n]
    return or_one(np.std(np.clip(states, *problem.structure.limits), axis=(0, 1)))


def in_state_units(problem: HiddenProblem, unit: FloatArray) -> FloatArray:
    """Return what coefficients are multiplied by, shape (n + outputs, m), if states are measured in these units."""
    n, outputs = problem.structure.states, problem.structure.outputs
    products = np.prod(unit ** problem.structure.terms.powers[:, :n], axis=1)
    found: FloatArray = products / np.concatenate([unit, np.ones(outputs)])[:, None]
    return found


def without_unused_states(problem: HiddenProblem, coef: FloatArray) -> tuple[HiddenProblem, FloatArray, IndexArray]:
    """Return problem and coefficients without states that have no row and that nothing reads, and which are left."""
    structure, n = problem.structure, problem.structure.states
    powers = structure.terms.powers
    read = powers[(coef != 0).any(axis=0), :n].any(axis=0)
    kept = np.flatnonzero((coef[:n] != 0).any(axis=1) | read)
    if len(kept) in (0, n):
        return problem, coef, np.arange(n)
    gone = np.setdiff1d(np.arange(n), kept)
    terms = np.flatnonzero(~powers[:, gone].any(axis=1))
    table = PowerTable(np.delete(powers[terms], gone, axis=1), len(kept))
    rows = np.concatenate([kept, np.arange(n, len(coef))])
    held = replace(structure, terms=table, limits=structure.limits[:, kept])
    smaller = replace(problem, structure=held, starts=problem.starts[:, kept])
    return smaller, coef[np.ix_(rows, terms)], kept


def boxed(problem: HiddenProblem, coef: FloatArray, margin: float = MARGIN) -> HiddenProblem:
    """Return the problem with states held where its simulations come, widened by a share of that range (D92).

    Polynomials are not to be trusted far from the data: there a simulation may run away and not return. Windows that
    do so already do not count.
    """
    structure, n = problem.structure, problem.structure.states
    run = structure.run(coef, problem.starts, problem.inputs)[:, problem.aim.burn :]
    measured = problem.aim.outputs.reshape(-1, structure.outputs)
    states = run[runs_in_range(run[:, :, n:], measured)][:, :, :n]
    if not states.size:
        return problem
    low, high = states.min(axis=(0, 1)), states.max(axis=(0, 1))
    room, outer = margin * (high - low), structure.limits
    limits = np.stack([np.maximum(low - room, outer[0]), np.minimum(high + room, outer[1])])
    if not (limits[0] <= limits[1]).all():  # a state is beyond its limits in all windows, or not a number at their end
        return problem
    return replace(problem, structure=replace(structure, limits=limits), starts=np.clip(problem.starts, *limits))
