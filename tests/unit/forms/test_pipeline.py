"""The stages joined: an exactly discretised linear system is identified, reduced and predicted exactly."""

import numpy as np
import pytest
import scipy.linalg

from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Monomials, States
from koopsieve.evaluate import horizon_nmse
from koopsieve.forms import LinearModel
from koopsieve.identify import LeastSquares
from koopsieve.regression import compress
from koopsieve.sieve.algorithm_2 import reduce


def two_masses(lengths, seed, dt=0.1):
    """Positions and speeds of two coupled masses pushed by two forces held over each sample."""
    K = np.array([[-2.0, 1.0], [1.0, -3.0]])
    continuous = np.block([[np.zeros((2, 2)), np.eye(2)], [K, -0.1 * np.eye(2)]])
    forces = np.vstack([np.zeros((2, 2)), [[1.0, 0.2], [0.0, 0.5]]])
    both = scipy.linalg.expm(dt * np.block([[continuous, forces], [np.zeros((2, 6))]]))
    A, B, rng = both[:4, :4], both[:4, 4:], np.random.default_rng(seed)
    states, inputs = [], []
    for length in lengths:
        x, u = np.empty((length, 4)), rng.normal(size=(length - 1, 2))
        x[0] = rng.normal(size=4)
        for k in range(length - 1):
            x[k + 1] = A @ x[k] + B @ u[k]
        states.append(x)
        inputs.append(u)
    return A, B, states, inputs


def identified(train, recipe):
    dictionary = recipe.fit(train)
    return LinearModel.from_estimate(LeastSquares().identify(compress(train, dictionary)), dictionary)


def test_the_matrices_of_the_discretisation_are_found():
    A, B, states, inputs = two_masses([120, 80], seed=0)
    model = identified(Trajectories.from_arrays(states, inputs, dt=0.1), States())
    np.testing.assert_allclose(model.A, A, atol=1e-11)
    np.testing.assert_allclose(model.B, B, atol=1e-11)
    test = Trajectories.from_arrays(*two_masses([200], seed=1)[2:], dt=0.1)
    for errors in horizon_nmse(model, test, [1, 10, 150]).values():
        assert (errors < 1e-18).all()


def test_positions_with_delays_are_enough():
    """Speeds are not measured: two samples of the positions and of the forces determine the motion."""
    _, _, states, inputs = two_masses([150, 150], seed=2)
    train = embed_delays(Trajectories.from_arrays([x[:, :2] for x in states], inputs), states=1, inputs=1)
    model = identified(train, States())
    _, _, states, inputs = two_masses([200], seed=3)
    test = Trajectories.from_arrays([x[:, :2] for x in states], inputs)
    for data in (test, embed_delays(test, states=1, inputs=1)):
        errors = horizon_nmse(model, data, [1, 10, 100])
        assert list(errors) == ["x1", "x2"]
        assert max(map(max, errors.values())) < 1e-16


def test_observables_that_drive_no_output_go_and_predictions_stay():
    _, _, states, inputs = two_masses([300], seed=4)
    train = Trajectories.from_arrays(states, inputs, dt=0.1)
    dictionary = (States() + Monomials(degree=2)).fit(train)
    statistics = compress(train, dictionary)
    estimate = LeastSquares().identify(statistics)
    kept = reduce(np.minimum(np.abs(estimate.coef), 1.0), dictionary.outputs, threshold=1e-6).retained
    assert kept.tolist() == [0, 1, 2, 3]
    model = LinearModel.from_estimate(estimate, dictionary)
    refitted = LinearModel.from_estimate(LeastSquares().identify(statistics.select(kept)), dictionary.select(kept))
    full = model.rollout(train, horizon=20)[0]
    np.testing.assert_allclose(model.restrict(kept).rollout(train, horizon=20)[0], full, atol=1e-6)
    np.testing.assert_allclose(refitted.rollout(train, horizon=20)[0], full, atol=1e-6)


@pytest.mark.parametrize("horizon", [1, 30])
def test_episodes_are_predicted_apart(horizon):
    _, _, states, inputs = two_masses([60, 40, 10], seed=5)
    together = Trajectories.from_arrays(states, inputs)
    model = identified(together, States())
    apart = [model.rollout(together.subset([i]), horizon)[0] for i in range(3) if len(together.states[i]) > horizon]
    found = [rows for rows in model.rollout(together, horizon) if len(rows)]
    for one, two in zip(apart, found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
