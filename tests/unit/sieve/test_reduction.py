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
def test_a_chain_whatever_the_rows_of_inputs(outputs, retained):
    for inclusion in (CHAIN, np.vstack([CHAIN, np.ones((2, 4))])):
        reduction = reduce(inclusion, outputs, 0.5)
        assert reduction.retained.tolist() == retained
        assert reduction.outputs == tuple(sorted(set(outputs)))
        assert reduction.retained.dtype == np.intp
        assert reduction.adjacency.shape == (4, 4)


def with_value(value):
    return np.where(np.arange(16).reshape(4, 4) == 9, value, CHAIN)


@pytest.mark.parametrize(
    "inclusion, outputs, threshold, message",
    [
        *((CHAIN, [0], t, "lie between 0 and 1, both excluded") for t in (0.0, 1.0, -0.1, 1.5, np.nan, np.inf)),
        *((CHAIN, none, 0.5, r"no States\(\) block") for none in ([], (), np.array([], dtype=int))),
        *((CHAIN, beyond, 0.5, "from 0 to 3") for beyond in ([4], [-1], [0, 9])),
        *((CHAIN, odd, 0.5, "whole numbers") for odd in ([0.0], ["x1"], [True, False, False, False], [[0]])),
        *((with_value(v), [0], 0.5, "row 2, column 1") for v in (np.nan, np.inf, -0.1, 1.1)),
        *((np.zeros(shape), [0], 0.5, "Expected") for shape in ((3,), (2, 3), (0, 0), (2, 2, 2))),
    ],
)
def test_what_cannot_be_reduced_is_refused(inclusion, outputs, threshold, message):
    with pytest.raises(KoopsieveError, match=message):
        reduce(inclusion, outputs, threshold)


def test_the_restriction_of_the_thresholded_model_predicts_the_outputs_as_the_whole():
    rng = np.random.default_rng(0)
    u, x = rng.normal(size=(300, 1)), np.zeros((301, 3))
    for k in range(300):
        x[k + 1] = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.0], [0.2, 0.0, 0.7]]) @ x[k] + [0.0, 0.3 * u[k, 0], 0.0]
    data = Trajectories.from_arrays(x + 0.01 * rng.normal(size=x.shape), u)
    phi = (States() + Monomials(degree=2)).fit(data)
    found = SpikeSlab().identify(compress(data, phi))
    reduction = reduce(found.inclusion, phi.outputs, threshold=0.1)
    assert len(reduction.discarded) > 0
    whole = LinearModel.from_estimate(thresholded(found, reduction), phi)
    part = whole.restrict(reduction.retained)
    x0, u = data.states[0][10], data.inputs[0][10:40]
    np.testing.assert_allclose(part.predict(x0, u, 30), whole.predict(x0, u, 30), rtol=1e-12, atol=1e-12)
    whole_space = controllable_subspace(whole.A, whole.B)[reduction.retained]
    part_space = controllable_subspace(part.A, part.B)
    np.testing.assert_allclose(part_space @ (part_space.T @ whole_space), whole_space, atol=1e-7)
    with pytest.raises(KoopsieveError, match="another dictionary"):
        thresholded(found, reduce(np.eye(2), [0], threshold=0.5))
