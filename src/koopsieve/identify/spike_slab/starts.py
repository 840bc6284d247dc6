"""Where the updates of spike and slab start: nothing in, everything in, a greedy selection, or an earlier answer.

The bound has many local optima; each target is inferred from several starts and the best ending is kept.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from scipy.linalg import cho_solve

from koopsieve._types import FloatArray
from koopsieve.identify.estimate import Estimate
from koopsieve.identify.linalg import stacks
from koopsieve.identify.linalg.standardise import StandardProblem
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.bound import Posterior
from koopsieve.identify.spike_slab.rules import Rules

MIN_RESUMED_INCLUSION = 0.1  # of a regressor in an earlier answer, for it to be in at the start
MAX_STARTING_REGRESSORS = 64  # per target, in a dense or greedy start


class Start(Enum):
    """Where the updates may start."""

    ZERO = "Nothing is in."
    RIDGE = "Everything is in, with ridge weights."
    GREEDY = "What forward selection takes in."


def begin(rules: Rules, problem: StandardProblem, kind: Start, nothing: Posterior | None = None) -> Posterior:
    """Return a start; `nothing` is the empty state, for callers that need it more than once."""
    if kind is Start.RIDGE:
        return dense(rules, problem)
    nothing = empty(rules, problem) if nothing is None else nothing
    return rules.add(problem, nothing, most=MAX_STARTING_REGRESSORS) if kind is Start.GREEDY else nothing


def empty(rules: Rules, problem: StandardProblem) -> Posterior:
    """Return the state with nothing in but what is always in; each regressor has the weight it would have alone."""
    shape = problem.S.shape
    always = np.broadcast_to(np.isinf(rules.log_odds), shape)
    mu = problem.projected / np.maximum(problem.energy, 1.0)[:, None]
    sigma2 = np.tile(1 / (problem.energy + 1.0), (shape[1], 1)).T
    gamma = np.array(always, dtype=float, order="F")
    return rules.solve(problem, rules.posterior(problem, mu, sigma2, gamma))


def dense(rules: Rules, problem: StandardProblem, ridge: float = 1e-10) -> Posterior:
    """Return the ridge weights with everything in, or each target's `MAX_STARTING_REGRESSORS` most significant ones.

    A weight's significance is w_i²/C_ii, C = (G + ridge)⁻¹: what the squared error grows by without it (D19).
    """
    ridged = problem.gram + ridge * problem.rows * np.eye(len(problem.gram))
    L = stacks.factorise(ridged[None])
    w = np.asfortranarray(cho_solve((L[0], True), problem.projected))
    growth = w**2 / np.diagonal(stacks.inverse(L)[0])[:, None]
    held = (problem.energy[:, None] > 0) & (growth >= _least_allowed(growth))
    rho = problem.rows / (problem.squared_residual(w) + 1e-24 * problem.rows)
    sigma2 = equations.paired_variance(rho, problem.energy[:, None], rules.alpha(w, np.zeros_like(w)))
    gamma = np.where(held | np.isinf(rules.log_odds), 1.0, 0.0)
    return rules.drop(problem, rules.solve(problem, rules.posterior(problem, w, sigma2, gamma)))


def resume(rules: Rules, problem: StandardProblem, start: Estimate) -> Posterior:
    """Return an earlier answer as a start, without what is improbable in it."""
    probable = (start.inclusion >= MIN_RESUMED_INCLUSION) & (start.coef != 0)
    coef, gamma = np.asfortranarray(start.coef * probable), np.asfortranarray(start.inclusion * probable)
    w = coef * problem.column_scale[:, None] / problem.target_scale
    mu = np.divide(w, gamma, out=np.zeros_like(w), where=gamma > 0)
    rho = start.noise_precision * problem.target_scale**2
    sigma2 = equations.paired_variance(rho, problem.energy[:, None], rules.alpha(mu, np.zeros_like(mu)))
    return rules.posterior(problem, mu, sigma2, gamma)


def _least_allowed(growth: FloatArray) -> FloatArray:
    """Return each target's smallest growth that is still among its `MAX_STARTING_REGRESSORS` largest."""
    surplus = len(growth) - MAX_STARTING_REGRESSORS
    if surplus <= 0:
        return np.full(growth.shape[1], -np.inf)
    smallest: FloatArray = np.partition(growth, surplus, axis=0)[surplus]
    return smallest
