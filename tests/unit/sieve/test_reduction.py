"""What `reduce` and the thresholded model refuse, small cases worked by hand, and predictions of the restriction."""

import numpy as np
import pytest

from koopsieve import KoopsieveError, LinearModel, Monomials, SpikeSlab, States, Trajectories, compress, reduce
from koopsieve.sieve import controllable_subspace, thresholded

CHAIN = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1]], dtype=float)  # 0 → 1 → 2 ← 3 ⟲


def test_the_probability_at_the_threshold_counts():
    assert reduce([[0.0, 0.0], [0.25, 0.0]], [0], 0.25).retained.tolist() == [0, 1]
    assert reduce([[0.0, 0.0], [0.2499, 0.0]], [0], 0.25).retained.tolist() == [0]


@pytest.mark.parametrize("outputs, retained", [([0], [0]), ([1], [0, 1]), ([2], [0, 1, 2, 3]), ([3, 0, 3], [0, 3])])
def test_a_chain(outputs, retained):
    reduction = reduce(CHAIN, outputs, 0.5)
    assert reduction.retained.tolist() == retained
    assert reduction.outputs == tuple(sorted(set(outputs)))
    assert reduction.retained.dtype == np.intp


def test_rows_of_inputs_are_ignored():
    with_inputs = np.vstack([CHAIN, np.ones((2, 4))])
    assert reduce(with_inputs, [1], 0.5).retained.tolist() == [0, 1]
    assert reduce(with_inputs, [1], 0.5).adjacency.shape == (4, 4)


def test_everything_may_be_kept():
    reduction = reduce(np.ones((3, 3)), [0], 0.5)
    assert reduction.discarded.size == 0
    assert [c.tolist() for c in reduction.components] == [[0, 1, 2]]


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, 1.5, np.nan, np.inf])
def test_a_threshold_outside_is_refused(threshold):
    with pytest.raises(KoopsieveError, match=r"strictly between 0 and 1|must be a number"):
        reduce(CHAIN, [0], threshold)


@pytest.mark.parametrize("outputs", [[], (), np.array([], dtype=int)])
def test_no_outputs_is_refused(outputs):
    with pytest.raises(KoopsieveError, match=r"no States\(\) block"):
        reduce(CHAIN, outputs, 0.5)


@pytest.mark.parametrize("outputs", [[4], [-1], [0, 9]])
def test_outputs_that_do_not_exist_are_refused(outputs):
    with pytest.raises(KoopsieveError, match="from 0 to 3"):
        reduce(CHAIN, outputs, 0.5)


@pytest.mark.parametrize("outputs", [[0.0], ["x1"], [True, False, False, False], [[0]]])
def test_outputs_that_are_not_indices_are_refused(outputs):
    with pytest.raises(KoopsieveError, match="whole numbers"):
        reduce(CHAIN, outputs, 0.5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.1])
def test_what_is_no_probability_is_refused(value):
    inclusion = CHAIN.copy()
    inclusion[2, 1] = value
    with pytest.raises(KoopsieveError, match="row 2, column 1"):
        reduce(inclusion, [0], 0.5)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 0), (2, 2, 2)])
def test_a_wrong_shape_is_refused(shape):
    with pytest.raises(KoopsieveError, match="Expected"):
        reduce(np.zeros(shape), [0], 0.5)


def identified():
    rng = np.random.default_rng(0)
    u, x = rng.normal(size=(300, 1)), np.zeros((301, 3))
    for k in range(300):
        x[k + 1] = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.0], [0.2, 0.0, 0.7]]) @ x[k] + [0.0, 0.3 * u[k, 0], 0.0]
    data = Trajectories.from_arrays(x + 0.01 * rng.normal(size=x.shape), u)
    phi = (States() + Monomials(degree=2)).fit(data)
    return data, phi, SpikeSlab().identify(compress(data, phi))


def test_the_restriction_of_the_thresholded_model_predicts_the_outputs_as_the_whole():
    data, phi, found = identified()
    reduction = reduce(found.inclusion, phi.outputs, threshold=0.1)
    assert len(reduction.discarded) > 0
    whole = LinearModel.from_estimate(thresholded(found, reduction), phi)
    part = whole.restrict(reduction.retained)
    x0, u = data.states[0][10], data.inputs[0][10:40]
    np.testing.assert_allclose(part.predict(x0, u, 30), whole.predict(x0, u, 30), rtol=1e-12, atol=1e-12)
    whole_space = controllable_subspace(whole.A, whole.B)[reduction.retained]
    part_space = controllable_subspace(part.A, part.B)
    np.testing.assert_allclose(part_space @ (part_space.T @ whole_space), whole_space, atol=1e-7)


def test_a_reduction_of_another_dictionary_is_refused():
    _, _, found = identified()
    with pytest.raises(KoopsieveError, match="another dictionary"):
        thresholded(found, reduce(np.eye(2), [0], threshold=0.5))
