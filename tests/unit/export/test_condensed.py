"""Prediction matrices against predictions step by step."""

import numpy as np
import pytest

from koopsieve import LiftedModel, Monomials, States, Trajectories


@pytest.mark.parametrize("inputs", [0, 2])
def test_matrices_give_the_linear_prediction(inputs):
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(5, 2)), rng.normal(size=(4, inputs)))
    phi = (States() + Monomials()).fit(data)
    model = LiftedModel(
        A=0.3 * rng.normal(size=(5, 5)),
        B=rng.normal(size=(5, inputs)),
        C=np.eye(5)[:2],
        dictionary=phi,
    )
    x, u = rng.normal(size=2), rng.normal(size=(7, inputs))
    F, G = model.prediction_matrices(7)
    assert F.shape == (14, 5)
    assert G.shape == (14, 7 * inputs)
    np.testing.assert_allclose((F @ phi(x) + G @ u.ravel()).reshape(7, 2), model.predict(x, u, 7), rtol=1e-10)
