"""The two updates of the triangular factor against each other and against one QR, where regressions are hard."""

import numpy as np
import pytest

from koopsieve.regression import TriangularFactor
from koopsieve.regression.factor import _MAX_LEVERAGE, _MIN_UNEXPLAINED, PendingRows
from koopsieve.regression.qr import expected_leverage, householder_update, solve_right
from tests.problems import assert_same_factor


def overlapping_kernels(rows=6000, centers=80, seed=0):
    """A lifted random walk: condition number about 1e14, columns of very different length."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=(rows, 3)), axis=0) / 20
    z = x[rng.choice(rows, centers)]
    lifted = np.hstack([x, np.exp(-0.01 * ((x[:, None] - z) ** 2).sum(axis=2))])
    lifted *= 10.0 ** rng.uniform(-6, 6, size=lifted.shape[1])
    return lifted[:-1], lifted[1:]


def singular_values(matrix, scale):
    return np.linalg.svd(matrix / scale, compute_uv=False)


@pytest.mark.parametrize("chunk", [500, 1000, 2999])
def test_matrix_products_are_backward_stable_where_the_normal_equations_lose_everything(chunk):
    design, targets = overlapping_kernels()
    factor = TriangularFactor.empty(design.shape[1], targets.shape[1])
    for start in range(0, len(design), chunk):
        factor = factor.absorb(design[start : start + chunk], targets[start : start + chunk])
    scale = np.linalg.norm(design, axis=0)
    expected = singular_values(design, scale)
    assert expected[0] / expected[-1] > 1e12
    np.testing.assert_allclose(singular_values(factor.R, scale), expected, atol=1e-14 * expected[0], rtol=0)
    total = np.einsum("ij,ij->j", targets, targets)
    np.testing.assert_allclose(np.einsum("ij,ij->j", factor.S, factor.S) + factor.leftover, total, rtol=1e-13)


def test_what_is_left_over_is_as_accurate_as_by_householder_but_for_rounding_of_what_is_subtracted():
    design, targets = overlapping_kernels(centers=20)
    Q = np.linalg.qr(design)[0]
    rest = ((targets - Q @ (Q.T @ targets)) ** 2).sum(axis=0)
    factor = plain = TriangularFactor.empty(design.shape[1], targets.shape[1])
    for start in range(0, len(design), 500):
        rows = design[start : start + 500], targets[start : start + 500]
        factor = factor.absorb(*rows)
        plain = by_householder(*rows, plain)
    error, allowed = (np.abs(f.leftover / rest - 1).max() for f in (factor, plain))
    assert error < 4 * (allowed + np.finfo(float).eps / _MIN_UNEXPLAINED)


def by_householder(design, targets, old=None):
    """Return the factor of rows, or of rows under an old one, by Householder alone."""
    old = TriangularFactor.empty(design.shape[1], targets.shape[1]) if old is None else old
    R, S, more = householder_update(old.R, old.S, design, targets)
    return TriangularFactor(R, S, old.leftover_products + more, old.rows + len(design))


def by_products(old, design, targets):
    """Return how many of these rows under an old factor are left as products."""
    return PendingRows.under(old).absorb(design, targets).rows


@pytest.mark.parametrize("shape", [(40, 3, 2), (900, 150, 70), (3000, 100, 1), (500, 5, 0)])
@pytest.mark.parametrize("noise", [1.0, 1e-7])  # the first target: above and below what is subtracted in the end
def test_both_updates_give_the_same(shape, noise):
    rows, p, q = shape
    rng = np.random.default_rng(rows)
    design, targets = rng.normal(size=(2 * rows, p)), rng.normal(size=(2 * rows, q))
    targets[:, :1] = design @ rng.normal(size=(p, min(q, 1))) + noise * targets[:, :1]
    old = by_householder(design[:rows], targets[:rows])
    assert PendingRows.under(old).predicted.tolist() == [noise < 1e-3] * min(q, 1) + [False] * (q - 1)
    assert by_products(old, design[rows:], targets[rows:]) == rows
    one, two = old.absorb(design[rows:], targets[rows:]), by_householder(design[rows:], targets[rows:], old)
    for name in ("R", "S", "leftover_products"):
        mine, theirs = getattr(one, name), getattr(two, name)
        np.testing.assert_allclose(mine, theirs, atol=1e-12 * np.sqrt(rows), rtol=1e-12)
    np.testing.assert_allclose(one.leftover, two.leftover, rtol=1e-8)


def test_rows_that_come_in_pieces_are_folded_in_once():
    rng = np.random.default_rng(7)
    design, targets = rng.normal(size=(3000, 6)), rng.normal(size=(3000, 2))
    pending = PendingRows.under(by_householder(design[:100], targets[:100]))
    for start in range(100, len(design), 50):
        pending = pending.absorb(design[start : start + 50], targets[start : start + 50])
    assert pending.rows == 2900
    assert_same_factor(pending.folded(), by_householder(design, targets))


@pytest.mark.parametrize("exact", [False, True])
def test_targets_that_are_the_next_rows_regressors_need_no_products_of_their_own(exact):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(3001, 6)) * np.logspace(-6, 6, 6)
    if exact:
        rows[:, 2] = 1.0
    pending, whole = (PendingRows.under(TriangularFactor.empty(6, 4), following) for following in (True, False))
    for start in (0, 500, 1700):  # an episode each
        piece = rows[start : start + 900]
        pending, whole = (one.absorb(piece[:-1], piece[1:, :4]) for one in (pending, whole))
    assert pending.rows == whole.rows > 2500
    mine, theirs = pending.folded(), whole.folded()
    np.testing.assert_array_equal(mine.R, theirs.R)
    size = np.sqrt(np.outer(theirs.leftover, theirs.leftover)) + exact
    np.testing.assert_allclose(mine.leftover_products / size, theirs.leftover_products / size, atol=1e-12)


def test_a_prior_says_of_every_regressor_that_it_is_zero():
    rng = np.random.default_rng(6)
    design, targets, size = rng.normal(size=(300, 4)), rng.normal(size=(300, 1)), np.array([1.0, 2.0, 3.0, 1e-3])
    factor = TriangularFactor.prior(size).absorb(design, targets)
    whole = np.vstack([design, np.diag(size)])
    expected = np.linalg.lstsq(whole, np.vstack([targets, np.zeros((4, 1))]))[0]
    np.testing.assert_allclose(np.linalg.solve(factor.R, factor.S), expected, atol=1e-12)
    assert factor.rows == 300


def test_rows_that_outweigh_the_old_ones_are_left_to_householder():
    rng = np.random.default_rng(0)
    old = rng.normal(size=(50, 4))
    old[:, 2] *= 1e-30  # a kernel that the first rows hardly reached
    for smallest in (1.0, 0.0):
        old[:, 2] *= smallest
        first = by_householder(old, rng.normal(size=(50, 1)))
        assert by_products(first, rng.normal(size=(50, 4)), rng.normal(size=(50, 1))) == 0


def rows_of_leverage(leverage, rows=3000, p=40, q=3, seed=3):
    """Old rows, columns from 1 down to 1e-4, and new ones almost all along one direction, each with the same share."""
    rng = np.random.default_rng(seed)
    old = rng.normal(size=(200, p)) * np.logspace(0, -4, p)
    Y = rng.normal(size=(rows, 1)) * rng.normal(size=p) + 1e-3 * rng.normal(size=(rows, p))
    Y *= np.sqrt(leverage / rows) / np.linalg.norm(Y, axis=1, keepdims=True)
    design = np.vstack([old, Y @ np.linalg.qr(old)[1]])
    targets = design @ rng.normal(size=(p, q)) + 1e-3 * rng.normal(size=(len(design), q))
    return design, targets


@pytest.mark.parametrize(("share", "products"), [(1 - 1e-6, True), (1 + 1e-6, False)])
def test_both_sides_of_the_most_leverage_give_the_factor_of_one_qr(share, products):
    """At the limit rounding may change a direction, however weak, by ε·leverage of itself: about 1e-11."""
    design, targets = rows_of_leverage(share * _MAX_LEVERAGE)
    p, old = design.shape[1], by_householder(design[:200], targets[:200])
    assert (by_products(old, design[200:], targets[200:]) == len(design) - 200) == products
    factor = old.absorb(design[200:], targets[200:])
    Q, R = np.linalg.qr(design)
    M = solve_right(R, factor.R)  # the identity but for signs, and rounding relative to each direction
    np.testing.assert_allclose(M.T @ M, np.eye(p), atol=np.finfo(float).eps * _MAX_LEVERAGE)
    flip = np.sign(np.diagonal(R))[:, None]
    np.testing.assert_allclose(flip * factor.S, Q.T @ targets, atol=1e-11 * np.linalg.norm(targets))
    rest = targets - Q @ (Q.T @ targets)
    np.testing.assert_allclose(factor.leftover, (rest**2).sum(axis=0), rtol=1e-10)
    size = np.sqrt(np.outer(factor.leftover, factor.leftover))
    np.testing.assert_allclose(factor.leftover_products / size, rest.T @ rest / size, atol=1e-10)
    assert factor.rows == len(design)


def test_rows_of_which_a_sample_says_nothing_are_still_refused_by_all_of_them():
    rng = np.random.default_rng(4)
    old = TriangularFactor.empty(5, 1).absorb(rng.normal(size=(100, 5)), rng.normal(size=(100, 1)))
    design, targets = rng.normal(size=(200, 5)), rng.normal(size=(200, 1))
    design[33] *= 1e6  # between the rows that are looked at beforehand
    assert expected_leverage(old.R, design) < _MAX_LEVERAGE
    assert by_products(old, design, targets) == 0


def test_a_nearly_singular_factor_does_not_overflow_into_the_answer():
    R = np.diag([1.0, 1e-308])
    old = TriangularFactor(R, np.zeros((2, 1)), np.zeros((1, 1)), 2)
    assert by_products(old, np.ones((3, 2)), np.ones((3, 1))) == 0


def test_solve_right_is_exact_across_blocks():
    rng = np.random.default_rng(1)
    R = np.triu(rng.normal(size=(150, 150))) + 20 * np.eye(150)
    rows = rng.normal(size=(7, 150))
    np.testing.assert_allclose(solve_right(R, rows) @ R, rows, atol=1e-13)


def test_absorbing_writes_to_nothing():
    rng = np.random.default_rng(2)
    design, targets = np.asfortranarray(rng.normal(size=(200, 5))), np.asfortranarray(rng.normal(size=(200, 5)))
    before = design.copy(), targets.copy()
    factor = TriangularFactor.empty(5, 5).absorb(design, targets)
    R = factor.R.copy()
    factor.absorb(design, targets)
    np.testing.assert_array_equal(design, before[0])
    np.testing.assert_array_equal(targets, before[1])
    np.testing.assert_array_equal(factor.R, R)
