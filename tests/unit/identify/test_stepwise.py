"""Backward elimination and forward selection against brute force: every candidate's regression solved from scratch."""

import numpy as np
import pytest

from koopsieve.identify.spike_slab.stepwise import eliminate, select
from koopsieve.identify.standardise import standardise
from tests.problems import sparse_problem, statistics_of

TARGETS, REGRESSORS = 6, 14


def regression(seed, correlation=0.8):
    """Return a problem in standard units and a positive diagonal D for each of its targets."""
    design, targets, _ = sparse_problem(
        seed, rows=60, regressors=REGRESSORS, targets=TARGETS, active=4, correlation=correlation, snr_db=5
    )
    inputs = tuple(f"u{i}" for i in range(REGRESSORS - TARGETS))
    problem = standardise(statistics_of(design, targets, inputs=inputs))
    D = problem.rows * 10.0 ** np.random.default_rng(seed).uniform(-3, -1, (TARGETS, REGRESSORS))
    return problem, D


def penalised_error(problem, j, D, chosen):
    """Return the least ‖t − Φw‖² + wᵀDw over the chosen regressors of target j."""
    chosen = np.asarray(chosen, dtype=int)
    A, b = problem.gram[np.ix_(chosen, chosen)] + np.diag(D[chosen]), problem.projected[chosen, j]
    return problem.target_energy[j] - b @ np.linalg.solve(A, b)


def brute_elimination(problem, j, D, active, cost, a_bar, b_bar):
    """Return what backward elimination takes out of `active`; `cost` is aligned with it."""
    left, gone = list(active), []
    price = dict(zip(active, cost, strict=True))
    for _ in range((len(active) + 1) // 2):
        now = penalised_error(problem, j, D, left)
        gains = {}
        for i in left:
            grown = (penalised_error(problem, j, D, [k for k in left if k != i]) - now) / 2
            gains[i] = price[i] - a_bar * np.log(1 + grown / b_bar), grown
        best = max(gains, key=lambda i: gains[i][0])
        gain, growth = gains[best]
        if gain <= 0:
            break
        left.remove(best)
        gone.append(best)
        b_bar += growth
    return set(gone)


def brute_selection(problem, j, D, active, cost, a_bar, b_bar, most):
    """Return what forward selection adds to `active`; newcomers carry no D, and all costs rise as the noise falls."""
    chosen, ridge, cost, came = list(active), np.where(np.isin(np.arange(REGRESSORS), active), D, 0.0), cost.copy(), []
    for _ in range(most):
        now = penalised_error(problem, j, ridge, chosen)
        gains = {}
        for i in (i for i in range(REGRESSORS) if i not in chosen):
            fall = (now - penalised_error(problem, j, ridge, [*chosen, i])) / 2
            gains[i] = -a_bar * np.log(1 - fall / b_bar) - cost[i], fall
        best = max(gains, key=lambda i: gains[i][0])
        gain, fall = gains[best]
        if gain <= 0:
            break
        chosen.append(best)
        came.append(best)
        cost += 0.5 * np.log(b_bar / (b_bar - fall))
        b_bar -= fall
    return set(came)


@pytest.mark.parametrize("seed", range(8))
def test_elimination_is_that_of_brute_force(seed):
    problem, D = regression(seed)
    rng = np.random.default_rng(seed)
    active = np.stack([np.sort(rng.choice(REGRESSORS, 9, replace=False)) for _ in range(TARGETS)])
    cost = rng.uniform(0, 6, active.shape)
    A = np.stack([problem.gram[np.ix_(a, a)] + np.diag(d[a]) for a, d in zip(active, D, strict=True)])
    b = np.stack([problem.projected[a, j] for j, a in enumerate(active)])
    w = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    a_bar = 30.0
    b_bar = np.array([penalised_error(problem, j, D[j], a) for j, a in enumerate(active)])[:, None] / 2
    found = eliminate(np.linalg.inv(A), w, cost, a_bar, b_bar)
    sizes = found.sum(axis=1)
    for j, a in enumerate(active):
        expected = brute_elimination(problem, j, D[j], a, cost[j], a_bar, float(b_bar[j, 0]))
        assert set(a[found[j]]) == expected
    assert sizes.max() > 1
    assert sizes.max() <= 5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("held", [0, 3])
def test_selection_is_that_of_brute_force(seed, held):
    problem, D = regression(seed, correlation=0.5)
    rng = np.random.default_rng(seed)
    active = np.stack([np.sort(rng.choice(REGRESSORS, held, replace=False)) for _ in range(TARGETS)])
    cost, a_bar = rng.uniform(0, 4, (TARGETS, REGRESSORS)), 30.0
    V, s, b_bar = np.zeros((TARGETS, held, REGRESSORS)), np.empty((TARGETS, REGRESSORS)), np.empty((TARGETS, 1))
    for j, a in enumerate(active):
        A = problem.gram[np.ix_(a, a)] + np.diag(D[j][a])
        V[j] = np.linalg.solve(np.linalg.cholesky(A), problem.gram[a])
        s[j] = problem.projected[:, j] - problem.gram[:, a] @ np.linalg.solve(A, problem.projected[a, j])
        b_bar[j] = penalised_error(problem, j, D[j], a) / 2
    price = cost.copy()
    np.put_along_axis(price, active, np.inf, axis=1)
    found = select(problem, V, s, price, a_bar, b_bar, most=4)
    for j, a in enumerate(active):
        expected = brute_selection(problem, j, D[j], a, cost[j], a_bar, float(b_bar[j, 0]), 4)
        assert set(np.flatnonzero(found[j])) == expected
    assert 1 < found.sum(axis=1).max() <= 4


def test_a_regressor_that_depends_on_the_active_ones_is_never_selected():
    design, targets, _ = sparse_problem(0, rows=60, regressors=4, targets=1, active=4)
    design[:, 3] = design[:, 0]
    problem = standardise(statistics_of(design, targets, inputs=("a", "b", "c")))
    L = np.linalg.cholesky(problem.gram[:1, :1])
    V = np.linalg.solve(L, problem.gram[:1])[None]
    cost = np.array([[np.inf, -50.0, -50.0, -50.0]])
    found = select(problem, V, np.ones((1, 4)), cost, 30.0, np.array([[10.0]]), most=4)
    assert found.tolist() == [[False, True, True, False]]
