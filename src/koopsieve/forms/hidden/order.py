"""How many hidden states: more and more are tried, each with a short fit of all products, on held-out data.

Linear models do not tell. On the Wiener–Hammerstein record three states simulate as well as six while everything is
linear; and an oscillator with a hardening spring gains from states that it does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve.forms.hidden.fit import HiddenFit
from koopsieve.forms.hidden.growth import Growth, with_linear
from koopsieve.forms.hidden.learning import HiddenLearning
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.hidden.problem import HiddenProblem
from koopsieve.forms.hidden.start import LinearStateSpace

MAX_STATES = 8  # that are tried
MAX_COEFFICIENTS = 1000  # of the model with all terms
ROWS_PER_COEFFICIENT = 4  # of the model with all terms
AS_GOOD = 1.05  # times the least error: fewer states are as good
PATIENCE = 2  # numbers of states without a gain after which no more are tried
SHORT_ROUNDS = 2  # of the fits that decide


@dataclass(frozen=True, eq=False)
class HiddenStart:
    """A linear start, the problem of all terms, and a fit of them.

    Parameters
    ----------
    space : LinearStateSpace
    problem : HiddenProblem
    fit : HiddenFit
        Of the linear system itself where there are no products.
    """

    space: LinearStateSpace
    problem: HiddenProblem
    fit: HiddenFit

    @property
    def has_products(self) -> bool:
        """Whether any term is a product."""
        return bool(self.problem.structure.terms.degrees.max() > 1)


def find_start(
    learned: HiddenLearning, held_out: HiddenLearning, growth: Growth, degree: int, states: int | None
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
    """
    known = len(learned.subspace.directions[0])
    tried = range(1, min(MAX_STATES, known) + 1) if states is None else [min(states, known)]
    short = replace(growth, higher=replace(growth.higher, rounds=SHORT_ROUNDS))
    found: list[tuple[float, HiddenStart]] = []
    best = 0
    for place, n in enumerate(tried):
        space = growth.refined(learned.subspace.state_space(n), learned.windows, learned.burn)
        start = _grown(space, learned, short, degree)
        found.append((_error(start, held_out), start))
        if AS_GOOD * found[place][0] < found[best][0]:
            best = place
        if place - best >= PATIENCE:
            break
    return found[best][1]


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
    return replace(start, fit=growth.grown(problem, space)) if start.has_products else start


def _error(start: HiddenStart, held_out: HiddenLearning) -> float:
    """Return the geometric mean over windows and outputs of the squared error, so that one window does not decide."""
    problem = held_out.problem(start.space, int(start.problem.structure.terms.degrees.max()))
    simulated = problem.structure.simulate(start.fit.coef, problem.starts, problem.inputs)
    with np.errstate(over="ignore", invalid="ignore"):
        squared = np.mean((simulated - problem.aim.outputs)[:, problem.aim.burn :] ** 2, axis=1)
    return float(np.exp(0.5 * np.mean(np.log(np.clip(np.nan_to_num(squared, nan=1e300), 1e-300, 1e300)))))
