"""From a linear start to a full polynomial state space, degree by degree.

1. The linear system is fitted to simulated windows. Subspace states that the outputs hardly see are often not the
   system's; after this they are, and it is put into modal coordinates again (D84).
2. Products of two: Levenberg–Marquardt, whose steps are damped in the common unit of the coefficients (D86).
3. Products of three and more: quasi-Newton steps (D85).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.forms.hidden.fit import HiddenFit, QuasiNewton
from koopsieve.forms.hidden.modal import modal_basis
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.hidden.problem import FreeCoefficients, HiddenProblem
from koopsieve.forms.hidden.start import LinearStateSpace
from koopsieve.forms.hidden.structure import BOUND, Aim, HiddenStructure
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt
from koopsieve.sieve.simulation.windows import Windows

_LINEAR = LevenbergMarquardt(iterations=30, tolerance=1e-3, damping=1e-3)
_QUADRATIC = LevenbergMarquardt(iterations=12, tolerance=1e-2, damping=1e-2, stiffness=0.3)
_ROWS = 16  # of a factor, per coefficient
_FAR = 1e6  # standard deviations at which the states of a linear system are held


@dataclass(frozen=True)
class Growth:
    """How a full polynomial state space is reached.

    Parameters
    ----------
    linear, quadratic : LevenbergMarquardt
        For the linear system, and for products of two.
    higher : QuasiNewton
        For products of three and more.
    """

    linear: LevenbergMarquardt = _LINEAR
    quadratic: LevenbergMarquardt = _QUADRATIC
    higher: QuasiNewton = field(default_factory=QuasiNewton)

    def refined(self, space: LinearStateSpace, windows: Windows, burn: int) -> LinearStateSpace:
        """Return the linear system fitted to simulated windows, in modal coordinates of unit variance.

        Parameters
        ----------
        space : LinearStateSpace
            The start.
        windows : Windows
            Standardised delay lines, inputs and outputs.
        burn : int
            Steps of each window that do not count.
        """
        rows, n = space.rows, len(space.A)
        problem = problem_of(space, windows, burn, degree=1, bound=_FAR)
        moving = FreeCoefficients(problem, with_linear(problem.structure.terms, rows), _linear_only(problem))
        end = moving.placed(self.linear.fit(moving, rows.ravel()).theta)
        rows = end[:, 1:]
        found = LinearStateSpace(space.encoder, rows[:n, :n], rows[:n, n:], rows[n:, :n], rows[n:, n:])
        basis = modal_basis(found.A, found.C)
        states = problem.structure.run(end, problem.starts, problem.inputs)[:, burn:, :n].reshape(-1, n)
        deviation = np.std(states @ np.linalg.inv(basis).T, axis=0)
        return found.changed(basis * np.where(deviation > 0, deviation, 1.0))

    def grown(self, problem: HiddenProblem, space: LinearStateSpace, until: float = np.inf) -> HiddenFit:
        """Return the fit of all terms of the problem, from the linear system on; no round begins after `until`."""
        terms = problem.structure.terms
        coef = with_linear(terms, space.rows)
        low = np.flatnonzero(terms.degrees <= 2)
        part = problem.select(low)
        free = np.ones((len(coef), len(low)), dtype=bool)
        moving = FreeCoefficients(part, coef[:, low], free, rows=_ROWS * free.size)
        coef[:, low] = moving.placed(self.quadratic.fit(moving, coef[:, low].ravel()).theta)
        return self.higher.fit(problem, coef, np.ones(coef.shape, dtype=bool), until)


def problem_of(
    space: LinearStateSpace, windows: Windows, burn: int, degree: int, bound: float = BOUND
) -> HiddenProblem:
    """Return the problem of all terms up to a degree, the windows started by the encoder."""
    outputs, inputs = windows.outputs.shape[2], windows.inputs.shape[2]
    structure = HiddenStructure(PowerTable.up_to(degree, len(space.A), inputs), outputs, bound)
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
    n, terms = problem.structure.states, problem.structure.terms
    states = problem.structure.run(coef, problem.starts, problem.inputs)[:, problem.aim.burn :, :n]
    deviation = np.std(np.clip(states, -problem.structure.bound, problem.structure.bound), axis=(0, 1))
    unit = np.where(deviation > 0, deviation, 1.0)
    scaled = coef * np.prod(unit ** terms.powers[:, :n], axis=1)
    scaled[:n] /= unit[:, None]
    return replace(problem, starts=problem.starts / unit), scaled, unit


def _linear_only(problem: HiddenProblem) -> np.ndarray:
    free = np.ones((problem.structure.states + problem.structure.outputs, problem.structure.terms.size), dtype=bool)
    free[:, 0] = False
    return free
