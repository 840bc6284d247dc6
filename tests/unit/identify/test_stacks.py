"""In-place linear algebra on stacks against numpy's own."""

import numpy as np
import pytest

from koopsieve.identify.linalg import stacks


@pytest.fixture
def A():
    roots = np.random.default_rng(0).normal(size=(4, 9, 6))
    return roots.transpose(0, 2, 1) @ roots


def test_the_factor_is_choleskys(A):
    L = np.tril(stacks.factorise(A.copy()))
    np.testing.assert_allclose(L, np.linalg.cholesky(A), rtol=1e-12, atol=1e-12)


def test_solve_forward_and_inverse_agree_with_numpy(A):
    rng = np.random.default_rng(1)
    one, many = rng.normal(size=(4, 6)), rng.normal(size=(4, 6, 5))
    L = np.linalg.cholesky(A)
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
