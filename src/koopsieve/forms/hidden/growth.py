"""From a linear start to a full polynomial state space, degree by degree; and how many states it should have.

1. The linear system is fitted to simulated windows. Subspace states that the outputs hardly see are often not the
   system's; after this they are, and it is put into modal coordinates again (D84).
2. Products of two: Levenberg–Marquardt, whose steps are damped in the common unit of the coefficients (D86).
3. Products of three and more: steps that L-BFGS polishes (D85).

More and more states are tried, each with a short fit of all products, on held-out data. Linear models do not tell. On
the Wiener–Hammerstein record three states simulate as well as six while everything is linear; and an oscillator with a
hardening spring gains from states that it does not have.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, or_one
from koopsieve.forms.hidden.encoder import encoded
from koopsieve.forms.hidden.fit import FreeCoefficients, HiddenFit, QuasiNewton, fitted
from koopsieve.forms.hidden.learning import HiddenLearning, plain_encoder
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.hidden.problem import HiddenProblem, problem_of, with_linear
from koopsieve.forms.hidden.start import LinearStateSpace, modal_basis
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt
from koopsieve.sieve.simulation.windows import Windows

_LINEAR = LevenbergMarquardt(iterations=30, tolerance=1e-3, damping=1e-3)
_QUADRATIC = LevenbergMarquardt(iterations=12, tolerance=1e-2, damping=1e-2, stiffness=0.3)
_HIGHER = LevenbergMarquardt(iterations=8, tolerance=0.02, damping=1e-2, polish=QuasiNewton(iterations=40))
_ROWS = 10  # of a Gauss–Newton regression, per coefficient
SHRINKAGE_WHILE_GROWING = 1.0  # less than later, so that products can come in
_FAR = 1e6  # standard deviations at which the states of a linear system are held
MAX_STATES = 8  # that are tried
MAX_COEFFICIENTS = 1000  # of the model with all terms
ROWS_PER_COEFFICIENT = 4  # of the model with all terms
AS_GOOD = 1.05  # times the least error: fewer states are as good
PATIENCE = 2  # numbers of states without a gain after which no more are tried
SHORT_ROUNDS = 4  # of the fits that decide, at most; two do not tell five states from six


@dataclass(frozen=True)
class Growth:
    """How a full polynomial state space is reached.

    Parameters
    ----------
    linear, quadratic : LevenbergMarquardt
        For the linear system, and for products of two.
    higher : LevenbergMarquardt
        For products of three and more.
    """

    linear: LevenbergMarquardt = _LINEAR
    quadratic: LevenbergMarquardt = _QUADRATIC
    higher: LevenbergMarquardt = _HIGHER

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
        return found.changed(basis * or_one(deviation))

    def with_squares(self, problem: HiddenProblem, coef: FloatArray) -> FloatArray:
        """Return the coefficients with those of degree two fitted, from a linear system on."""
        free = np.broadcast_to(problem.structure.terms.degrees <= 2, coef.shape)
        return fitted(self.quadratic, problem, coef, free, _ROWS, shrinkage=SHRINKAGE_WHILE_GROWING).coef

    def with_all(self, problem: HiddenProblem, coef: FloatArray) -> HiddenFit:
        """Return the fit of all terms of the problem."""
        free = np.ones(coef.shape, dtype=bool)
        return fitted(self.higher, problem, coef, free, _ROWS, shrinkage=SHRINKAGE_WHILE_GROWING)


@dataclass(frozen=True, eq=False)
class HiddenStart:
    """A linear start, the problem of all terms, and a fit of them.

    Parameters
    ----------
    space : LinearStateSpace
    problem : HiddenProblem
    fit : HiddenFit
        Of the linear system itself where there are no products.
    error : float
        On held-out data, in standard deviations of the outputs; nan where it was not asked for.
    """

    space: LinearStateSpace
    problem: HiddenProblem
    fit: HiddenFit
    error: float = np.nan

    def restarted(self, learned: HiddenLearning) -> HiddenStart:
        """Return the same with windows that start where simulations of its fit come."""
        problem = learned.restarted(self.problem, self.fit.coef, plain_encoder(self.space))
        return replace(self, problem=problem)

    @property
    def degree(self) -> int:
        """Highest degree of a term."""
        return int(self.problem.structure.terms.degrees.max())

    @property
    def has_products(self) -> bool:
        """Whether any term is a product."""
        return self.degree > 1


def find_start(
    learned: HiddenLearning,
    held_out: HiddenLearning,
    growth: Growth,
    degree: int,
    states: int | None,
    until: float = np.inf,
) -> HiddenStart:
    """Return the start with as many states as asked for, or as held-out data prefer.

    Parameters
    ----------
    learned, held_out : HiddenLearning
        In the same units.
    growth : Growth
    degree : int
        Highest degree of products.
    states : int, optional
    until : float
        No further number of states is tried after it, in seconds of `time.perf_counter`.
    """
    known = len(learned.subspace.directions[0])
    tried = range(1, min(MAX_STATES, known) + 1) if states is None else [min(states, known)]
    rounds = min(SHORT_ROUNDS, max(growth.higher.iterations - 1, 1))  # some are left for the full shrinkage
    short = replace(growth, higher=replace(growth.higher, iterations=rounds))
    found: list[HiddenStart] = []
    best = 0
    for place, n in enumerate(tried):
        if found and affordable_degree(degree, n, learned) < found[best].degree:
            break  # products of lower degree in more states fit as well, but run away more often
        space = learned.re_encoded(growth.refined(learned.subspace.state_space(n), learned.windows, learned.burn))
        start = _grown(space, learned, short, degree)
        found.append(replace(start, error=held_out_error(start, learned, held_out)))
        if AS_GOOD * found[place].error < found[best].error:
            best = place
        if place - best >= PATIENCE or time.perf_counter() > until:
            break
    return found[best]


def affordable_degree(degree: int, states: int, learned: HiddenLearning) -> int:
    """Return the highest degree for which the data have rows enough; 1 means no products."""
    for one in range(degree, 1, -1):
        size = PowerTable.count(one, states + learned.inputs) * (states + learned.outputs)
        if size <= min(MAX_COEFFICIENTS, learned.rows * learned.outputs // ROWS_PER_COEFFICIENT):
            return one
    return 1


def _grown(space: LinearStateSpace, learned: HiddenLearning, growth: Growth, degree: int) -> HiddenStart:
    problem = learned.problem(space, affordable_degree(degree, len(space.A), learned))
    coef = with_linear(problem.structure.terms, space.rows)
    start = HiddenStart(space, problem, HiddenFit(coef, problem.loss(coef), (), settled=True))
    if not start.has_products:
        return start
    coef = growth.with_squares(problem, coef)
    problem = learned.restarted(problem, coef, plain_encoder(space))
    return HiddenStart(space, problem, growth.with_all(problem, coef))


def held_out_error(start: HiddenStart, learned: HiddenLearning, held_out: HiddenLearning) -> float:
    """Return the geometric mean over outputs of the root mean square error on held-out windows."""
    model = learned.solution(start.problem, start.fit.coef, plain_encoder(start.space))
    windows, structure = held_out.windows, model.problem.structure
    simulated = structure.simulate(model.coef, encoded(model.encoder, windows.starts), windows.inputs)
    with np.errstate(over="ignore", invalid="ignore"):
        squared = np.mean((simulated - windows.outputs)[:, held_out.burn :] ** 2, axis=(0, 1))
    return float(np.exp(0.5 * np.mean(np.log(np.clip(np.nan_to_num(squared, nan=1e300), 1e-300, 1e300)))))


def _linear_only(problem: HiddenProblem) -> BoolArray:
    free = np.ones((problem.structure.states + problem.structure.outputs, problem.structure.terms.size), dtype=bool)
    free[:, 0] = False
    return free
