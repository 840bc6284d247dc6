"""The thresholded model: what it refuses, and that its restriction predicts as the library's models do."""

import numpy as np
import pytest

from koopsieve import KoopsieveError, LinearModel, Monomials, SpikeSlab, States, Trajectories, compress, reduce
from koopsieve.sieve import controllable_subspace, thresholded


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
