"""Regressions on sets and what one move changes, against brute force: every set solved from scratch."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve.identify import SpikeSlabPrior
from koopsieve.identify.spike_slab.neighbourhood import SetSpace
from koopsieve.identify.standardise import standardise
from tests.problems import sparse_problem, statistics_of
from tests.reference.exact_inclusion import quick

P, ROWS = 9, 120
PRIOR = SpikeSlabPrior(c=0.05, d=1e-3, e=1.0, f=4.0)


def space_of(seed, correlation=0.7, always=()):
    design, targets, _ = sparse_problem(seed, ROWS, P, P, active=4, correlation=correlation, snr_db=6)
    problem = standardise(statistics_of(design, targets))
    prior = replace(PRIOR, always=always).on(tuple(f"o{i + 1}" for i in range(P)), problem.rows)
    return SetSpace.of(prior, problem, np.full(P, 5.0)), problem


def settled_value(problem, target, chosen):
    """Return the log probability of a set after many sweeps, by code that has nothing in common with the fast one."""
    G, b, tt = problem.gram, problem.projected[:, target], float(problem.target_energy[target])
    ((bound, _),) = quick(G, b, tt, problem.rows, PRIOR, [tuple(sorted(chosen))], sweeps=200)
    return bound + len(chosen) * np.log(PRIOR.e / PRIOR.f)


def padded(sets):
    most = max(map(len, sets))
    return np.array([[*chosen, *[P] * (most - len(chosen))] for chosen in sets])


SETS = [(0, 3, 5), (2,), (), (1, 4, 6, 8), (0, 1, 2, 3, 4, 5, 6, 7, 8)]


@pytest.mark.parametrize("seed", range(3))
def test_values_of_sets_of_different_sizes_in_one_stack(seed):
    space, problem = space_of(seed)
    target = np.arange(len(SETS))
    found = space.around(target, padded(SETS))
    expected = [settled_value(problem, j, chosen) for j, chosen in zip(target, SETS, strict=True)]
    np.testing.assert_allclose(found.value, expected, atol=0.05)
    for row, chosen in enumerate(SETS):
        alone = space.around(target[[row]], np.array([chosen], dtype=int).reshape(1, -1))
        np.testing.assert_allclose(found.value[row], alone.value[0], atol=1e-9)
        np.testing.assert_allclose(found.posterior.mean[row, : len(chosen)], alone.posterior.mean[0], atol=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_moves_are_estimated_nearly_and_never_too_high(correlation):
    chosen, errors = [0, 3, 5], []
    for seed in range(6):
        space, problem = space_of(seed, correlation)
        found = space.around(np.array([seed]), np.array([chosen]))
        now = settled_value(problem, seed, chosen)
        assert np.all(found.moves[0, :, chosen] == -np.inf)
        for j in range(4):
            for i in set(range(P + 1)) - set(chosen):
                after = {*(c for k, c in enumerate(chosen) if k != j), *({i} - {P})}
                exact = settled_value(problem, seed, after) - now
                assert found.moves[0, j, i] <= exact + 0.05
                if -8 < exact < 8:
                    errors.append(found.moves[0, j, i] - exact)
    assert len(errors) > 50
    assert np.median(errors) > -0.2
    assert np.quantile(errors, 0.1) > -2.0


def test_gains_of_moves_do_not_depend_on_padding_or_on_the_order_of_candidates():
    space, _ = space_of(0)
    target, order = np.array([2]), np.random.default_rng(0).permutation(P)
    plain = space.around(target, np.array([[0, 3, 5]]))
    loose = space.around(target, np.array([[0, 3, 5, P, P]]), order[None])
    turned = loose.moves[:, [0, 1, 2, 5]][:, :, [*np.argsort(order), P]]
    np.testing.assert_allclose(turned, plain.moves, atol=1e-9)
    assert np.all(loose.moves[:, [3, 4]] == -np.inf)


def test_what_is_always_in_never_leaves_and_what_is_zero_never_comes():
    design, targets, _ = sparse_problem(0, ROWS, P, P, active=4)
    design[:, 8] = 0.0
    problem = standardise(statistics_of(design, targets))
    prior = replace(PRIOR, always=("o1",)).on(tuple(f"o{i + 1}" for i in range(P)), problem.rows)
    prior = replace(prior, log_odds=np.where(np.arange(P) == 8, -1e30, prior.log_odds))
    found = SetSpace.of(prior, problem, np.ones(P)).around(np.array([0]), np.array([[0, 2]]))
    assert np.all(found.moves[0, 0] == -np.inf)
    assert np.all(found.moves[0, 1:, 8] < -1e29)
    assert np.isfinite(found.moves[0, 1, P])


@pytest.mark.parametrize("seed", range(5))
def test_a_climb_ends_where_no_single_move_gains(seed):
    space, problem = space_of(seed)
    target = np.arange(P)
    ends = space.climbed(target, np.full((P, 1), P))
    for j in range(P):
        chosen = {i for i in ends[j].tolist() if i < P}
        value = settled_value(problem, j, chosen)
        for i in range(P):
            assert settled_value(problem, j, chosen ^ {i}) <= value + 0.3
            for k in chosen - {i}:
                if i not in chosen:
                    assert settled_value(problem, j, (chosen - {k}) | {i}) <= value + 0.3
