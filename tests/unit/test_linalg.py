"""Eigenvalues brought inside a circle."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from koopsieve._linalg import clip_eigenvalues


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
