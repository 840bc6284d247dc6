"""Padded stacks and the linear algebra on them against one target after another; eigenvalues moved into a circle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from koopsieve.identify import stacks
from koopsieve.identify.stacks import batches, clip_eigenvalues, posterior
from koopsieve.identify.standardise import standardise
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


@pytest.fixture
def A():
    roots = np.random.default_rng(0).normal(size=(4, 9, 6))
    return roots.transpose(0, 2, 1) @ roots


def test_factors_solutions_and_inverses_agree_with_numpy(A):
    rng = np.random.default_rng(1)
    one, many = rng.normal(size=(4, 6)), rng.normal(size=(4, 6, 5))
    L = np.linalg.cholesky(A)
    np.testing.assert_allclose(np.tril(stacks.factorise(A.copy())), L, rtol=1e-12, atol=1e-12)
    solved = np.linalg.solve(A, one[:, :, None])[:, :, 0]
    np.testing.assert_allclose(stacks.solve(stacks.factorise(A.copy()), one.copy()), solved, rtol=1e-9)
    forward = stacks.forward(stacks.factorise(A.copy()), many.copy())
    np.testing.assert_allclose(forward, np.linalg.solve(L, many), rtol=1e-9)
    np.testing.assert_allclose(stacks.inverse(stacks.factorise(A.copy())), np.linalg.inv(A), rtol=1e-9)
    root = stacks.inverse_root(stacks.factorise(A.copy()))
    np.testing.assert_allclose(root.transpose(0, 2, 1) @ root, np.linalg.inv(A), rtol=1e-9)
    np.testing.assert_allclose(stacks.log_determinant(L), np.linalg.slogdet(A)[1], rtol=1e-12)


def test_a_matrix_that_rounding_made_indefinite_gets_the_smallest_diagonal_that_helps():
    singular = np.ones((2, 3, 3)) * 1000.0
    singular[0] += np.diag([1.0, 2.0, 3.0])
    L = np.tril(stacks.factorise(singular.copy()))
    np.testing.assert_allclose(L @ L.transpose(0, 2, 1), singular, atol=1e-7)
    np.testing.assert_allclose(L[0], np.linalg.cholesky(singular[0]), rtol=1e-12)


def test_a_matrix_that_is_not_positive_at_all_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        stacks.factorise(-np.eye(3)[None])


@given(seed=st.integers(0, 10**6), size=st.integers(1, 8), radius=st.sampled_from([0.5, 1.0]))
def test_no_eigenvalue_stays_outside_and_those_inside_do_not_move(seed, size, radius):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size, size))
    before, after = np.linalg.eigvals(A), np.linalg.eigvals(clip_eigenvalues(A, radius))
    assert np.max(np.abs(after)) <= radius * (1 + 1e-8)
    for value in before[np.abs(before) < radius]:
        assert np.min(np.abs(after - value)) < 1e-6


def test_a_defective_matrix_is_shrunk():
    A = np.array([[1.5, 1.0], [0.0, 1.5]])
    assert np.max(np.abs(np.linalg.eigvals(clip_eigenvalues(A, 1.0)))) <= 1 + 1e-8


def test_units_do_not_matter():
    rng = np.random.default_rng(0)
    A, scale = rng.normal(size=(4, 4)), 10.0 ** np.array([-6, -2, 3, 6])
    scaled = clip_eigenvalues(A * scale[:, None] / scale, 1.0, scale)
    np.testing.assert_allclose(scaled / scale[:, None] * scale, clip_eigenvalues(A, 1.0), atol=1e-9)


def test_a_matrix_with_all_eigenvalues_inside_is_returned_as_it_is():
    A = np.diag([0.5, -0.9])
    assert clip_eigenvalues(A, 1.0) is A
