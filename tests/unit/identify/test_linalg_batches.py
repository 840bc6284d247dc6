"""Stacks of padded systems, and the Gaussian posterior on them, against one target after another."""

import numpy as np
import pytest

from koopsieve.identify.linalg.batches import batches
from koopsieve.identify.linalg.gaussian import posterior
from koopsieve.identify.linalg.standardise import standardise
from tests.problems import sparse_problem, statistics_of

P, Q = 9, 7


@pytest.fixture
def problem():
    design, targets, _ = sparse_problem(0, rows=50, regressors=P, targets=Q, correlation=0.6)
    return standardise(statistics_of(design, targets, inputs=("u1", "u2")))


@pytest.fixture
def active():
    flags = np.random.default_rng(1).random((P, Q)) < 0.5
    flags[:, 3] = False  # a target without any
    flags[:, 5] = True
    return flags


def values(seed):
    return np.asfortranarray(np.random.default_rng(seed).uniform(1, 2, (P, Q)))


@pytest.mark.parametrize("numbers", [1, 40, 10_000])
def test_every_target_with_anything_active_is_in_one_stack(problem, active, numbers):
    found = list(batches(problem, active, numbers=numbers))
    targets = np.concatenate([batch.targets for batch in found])
    assert sorted(targets) == [j for j in range(Q) if active[:, j].any()]
    for batch in found:
        for row, j in enumerate(batch.targets):
            assert batch.index[row][batch.real[row]].tolist() == np.flatnonzero(active[:, j]).tolist()
    assert (len(found) == len(targets)) == (numbers == 1)


def test_regressors_come_in_the_order_asked_for(problem, active):
    first = values(0)
    for batch in batches(problem, active, first=first):
        for row, j in enumerate(batch.targets):
            chosen = batch.index[row][batch.real[row]]
            assert set(chosen) == set(np.flatnonzero(active[:, j]))
            assert np.all(np.diff(first[chosen, j]) < 0)


def test_systems_rows_and_entries_are_those_of_each_target(problem, active):
    ridge, entries = values(2), values(3)
    (batch,) = batches(problem, active)
    system, rows = batch.system(batch.gather(ridge, 0.0)), batch.gram_rows()
    gathered = batch.gather(entries, -1.0)
    assert not batch.full
    for row, j in enumerate(batch.targets):
        a = np.flatnonzero(active[:, j])
        k, rest = len(a), system.shape[1] - len(a)
        np.testing.assert_allclose(system[row, :k, :k], problem.gram[np.ix_(a, a)] + np.diag(ridge[a, j]))
        np.testing.assert_array_equal(system[row, k:, k:], np.eye(rest))
        np.testing.assert_array_equal(system[row, :k, k:], 0.0)
        np.testing.assert_array_equal(rows[row, :k], problem.gram[a])
        np.testing.assert_array_equal(rows[row, k:], 0.0)
        np.testing.assert_array_equal(gathered[row, :k], entries[a, j])
        np.testing.assert_array_equal(gathered[row, k:], -1.0)


def test_later_is_the_gram_matrix_beyond_the_diagonal(problem, active):
    (batch,) = batches(problem, active)
    for k in range(batch.real.shape[1]):
        later = batch.later(k)
        for row in range(len(batch.targets)):
            for place in range(k + 1, batch.real.shape[1]):
                both = batch.real[row, k] and batch.real[row, place]
                entry = problem.gram[batch.index[row, k], batch.index[row, place]] if both else 0.0
                assert later[place - k - 1, row] == entry


@pytest.mark.parametrize("numbers", [1, 10_000])
def test_scattering_puts_back_what_was_gathered_and_nothing_else(problem, active, numbers):
    before, new = values(4), values(5)
    into = before.copy(order="F")
    for batch in batches(problem, active, numbers=numbers):
        batch.scatter(into, batch.gather(new, np.nan))
    np.testing.assert_array_equal(into, np.where(active, new, before))


def test_the_posterior_is_that_of_each_target_alone(problem, active):
    noise = np.random.default_rng(7).uniform(0.5, 20.0, Q)
    precision = np.asfortranarray(np.where(active, values(6), np.inf))
    mean, variance, log_det = posterior(problem, precision, noise)
    for j in range(Q):
        a = np.flatnonzero(active[:, j])
        A = noise[j] * problem.gram[np.ix_(a, a)] + np.diag(precision[a, j])
        expected = np.zeros((2, P))
        expected[0, a] = noise[j] * np.linalg.solve(A, problem.projected[a, j])
        expected[1, a] = np.diag(np.linalg.inv(A))
        np.testing.assert_allclose(mean[:, j], expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(variance[:, j], expected[1], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(log_det[j], np.linalg.slogdet(A)[1] if a.size else 0.0, rtol=1e-9)


def test_the_posterior_of_copies_is_finite_and_shares_the_weight():
    design, targets, _ = sparse_problem(0, rows=50, regressors=4, targets=4, correlation=0.0)
    design[:, 1] = design[:, 0]
    problem = standardise(statistics_of(design, targets))
    mean, variance, log_det = posterior(problem, np.full((4, 4), 1e-30, order="F"), np.full(4, 1e20))
    assert all(np.isfinite(part).all() for part in (mean, variance, log_det))
    alone = posterior(problem, np.asfortranarray([[1e-30], [np.inf], [1e-30], [1e-30]] * np.ones(4)), np.full(4, 1e20))
    np.testing.assert_allclose(mean[0] + mean[1], alone[0][0], rtol=1e-4, atol=1e-4)
