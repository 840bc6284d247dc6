"""Linear models of a plant whose exact discretisation is known: found, predicted, restricted, handed on, and fast."""

from dataclasses import replace

import control
import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from koopsieve import KoopsieveError, LeastSquares, LinearModel, States, Trajectories, compress, embed_delays, reduce
from koopsieve.dictionary import Constant, Monomials, SquaredExponential
from koopsieve.evaluate import horizon_nmse
from koopsieve.evaluate.rollout import horizon_predictions
from koopsieve.forms.lifted_state import LiftedStateModel, lift, powers_are_cheaper, predictions_by_powers
from tests.reference.pendulum import least_squares_model, simulate_pendulum


def two_masses(lengths, seed, measured=4):
    """Positions and speeds of two coupled masses pushed by two forces held over each sample; the first are measured."""
    K = np.array([[-2.0, 1.0], [1.0, -3.0]])
    continuous = np.block([[np.zeros((2, 2)), np.eye(2)], [K, -0.1 * np.eye(2)]])
    forces = np.vstack([np.zeros((2, 2)), [[1.0, 0.2], [0.0, 0.5]]])
    both = scipy.linalg.expm(0.1 * np.block([[continuous, forces], [np.zeros((2, 6))]]))
    A, B, rng = both[:4, :4], both[:4, 4:], np.random.default_rng(seed)
    states, inputs = [], []
    for length in lengths:
        x, u = np.empty((length, 4)), rng.normal(size=(length - 1, 2))
        x[0] = rng.normal(size=4)
        for k in range(length - 1):
            x[k + 1] = A @ x[k] + B @ u[k]
        states.append(x[:, :measured])
        inputs.append(u)
    return A, B, Trajectories.from_arrays(states, inputs, dt=0.1)


def identified(train, recipe):
    dictionary = recipe.fit(train)
    return LinearModel.from_estimate(LeastSquares().identify(compress(train, dictionary)), dictionary)


def test_the_matrices_of_the_discretisation_are_found():
    A, B, train = two_masses([120, 80], seed=0)
    model = identified(train, States())
    np.testing.assert_allclose(model.A, A, atol=1e-11)
    np.testing.assert_allclose(model.B, B, atol=1e-11)
    assert np.array_equal(model.C, np.eye(4))
    assert (model.output_names, model.input_names) == (("x1", "x2", "x3", "x4"), ("u1", "u2"))
    assert (model.names, model.dt, model.history) == (model.dictionary.names, 0.1, 1)
    for errors in horizon_nmse(model, two_masses([200], seed=1)[2], [1, 10, 150]).values():
        assert (errors < 1e-18).all()
    assert model.condition_number == pytest.approx(np.linalg.cond(model.A.T))
    assert model.coef_condition_number == pytest.approx(np.linalg.cond(np.vstack([model.A.T, model.B.T])))


def test_positions_with_delays_are_enough():
    """Speeds are not measured: two samples of the positions and of the forces determine the motion."""
    train, test = two_masses([150, 150], 2, measured=2)[2], two_masses([200], 3, measured=2)[2]
    model = identified(embed_delays(train, states=1, inputs=1), States())
    for data in (test, embed_delays(test, states=1, inputs=1)):
        errors = horizon_nmse(model, data, [1, 10, 100])
        assert list(errors) == ["x1", "x2"]
        assert max(map(max, errors.values())) < 1e-16


def test_observables_that_drive_no_output_go_and_predictions_stay():
    train = two_masses([300], seed=4)[2]
    dictionary = (States() + Monomials(degree=2)).fit(train)
    statistics = compress(train, dictionary)
    estimate = LeastSquares().identify(statistics)
    kept = reduce(np.minimum(np.abs(estimate.coef), 1.0), dictionary.outputs, threshold=1e-6).retained
    assert kept.tolist() == [0, 1, 2, 3]
    model = LinearModel.from_estimate(estimate, dictionary)
    refitted = LinearModel.from_estimate(LeastSquares().identify(statistics.select(kept)), dictionary.select(kept))
    full = model.rollout(train, horizon=20)[0]
    for smaller in (model.restrict(kept), refitted):
        np.testing.assert_allclose(smaller.rollout(train, horizon=20)[0], full, atol=1e-6)


@pytest.fixture(params=[0, 1, 2], ids="{} inputs".format)
def data(request):
    return simulate_pendulum([30, 6, 2, 25], request.param)


@pytest.fixture
def model(data):
    return least_squares_model(data, States() + Constant() + Monomials(degree=3))


def test_restriction_takes_blocks(model):
    kept = model.restrict([0, 1, 3])
    assert kept.names == tuple(model.names[i] for i in (0, 1, 3))
    for name, rows in (("A", np.ix_([0, 1, 3], [0, 1, 3])), ("B", [0, 1, 3])):
        np.testing.assert_array_equal(getattr(kept, name), getattr(model, name)[rows])


@pytest.mark.parametrize(
    "retained, message",
    [
        ([0, 2, 3], r"lose the outputs x2\."),
        ([], r"lose the outputs x1, x2\."),
        *(
            (wrong, "retained must be increasing indices below 10")
            for wrong in ([1, 0], [0, 0, 1], [0, 10], [-1, 0], [0.0, 1.0], [True, True, False, False])
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(model, retained, message):
    with pytest.raises(KoopsieveError, match=message):
        model.restrict(retained)


@pytest.mark.parametrize("chunk", [4, 10**6])
def test_jumping_to_horizons_is_stepping_to_them(model, data, chunk, monkeypatch):
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", chunk * 8 * len(model.A))
    horizons = (1, 2, 5, 24)
    jumped, walked = (
        {(episode, first, h): y for episode, first, h, y in pieces}
        for pieces in (predictions_by_powers(model, data, horizons), horizon_predictions(model, data, horizons))
    )
    assert jumped.keys() == walked.keys()
    for key, predicted in walked.items():
        assert jumped[key].shape == predicted.shape
        np.testing.assert_allclose(jumped[key], predicted, rtol=1e-9, atol=1e-9)
    assert sum(len(y) for (_, _, h), y in walked.items() if h == 5) == 25 + 1 + 20


@pytest.mark.parametrize("steps", [1, 25, 60])
def test_runs_by_blocks_are_runs_step_by_step(model, steps):
    rng = np.random.default_rng(0)
    states, acting = rng.normal(size=(3, 2)), rng.normal(size=(3, steps, model.B.shape[1]))
    stepped = LiftedStateModel.free_runs(model, states, acting)
    np.testing.assert_allclose(model.free_runs(states, acting), stepped, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("growth", [1.0, 30.0, 1e3])
def test_runs_by_blocks_lose_no_digits_where_powers_grow(model, growth):
    size = len(model.A)
    rng = np.random.default_rng(0)
    upper = 0.5 * np.eye(size) + growth * np.triu(rng.normal(size=(size, size)), 1)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]  # triangular, a balanced matrix would show no growth
    steep = replace(model, A=turn @ upper @ turn.T)
    states, acting = rng.normal(size=(3, 2)), rng.normal(size=(3, 60, model.B.shape[1]))
    A, B, C = (np.longdouble(matrix) for matrix in (steep.A, steep.B, steep.C))
    state, exact = np.longdouble(lift(steep.dictionary, states)), []
    for k in range(60):
        state = state @ A.T + acting[:, k] @ B.T
        exact.append(state @ C.T)
    runs = LiftedStateModel.free_runs(steep, states, acting), steep.free_runs(states, acting)
    off = [np.abs(one - np.stack(exact, axis=1)).max() for one in runs]
    assert off[1] <= 100 * off[0]


def test_the_cheaper_way_is_taken(model):
    assert powers_are_cheaper(model, (1, 10, 100))
    assert powers_are_cheaper(model.restrict([0, 1]), range(1, 400)) == (len(model.input_names) == 0)


@pytest.mark.parametrize("inputs", [0, 2])
def test_scipy_and_python_control_simulate_the_same(inputs):
    recipe = States() + SquaredExponential(centers=3, coefficients=[0.5])
    model = least_squares_model(simulate_pendulum([100], inputs), recipe)
    discrete, system = model.to_scipy(), model.to_control()
    assert isinstance(discrete, scipy.signal.dlti)
    assert isinstance(system, control.StateSpace)
    assert discrete.dt == system.dt == model.dt
    assert system.state_labels == [name.replace(".", "·") for name in model.names]
    assert system.output_labels == ["x1", "x2"]
    assert system.input_labels == list(model.input_names)
    np.testing.assert_array_equal(discrete.A, model.A)
    if inputs:
        u, x0 = np.random.default_rng(0).normal(size=(9, 2)), np.array([0.3, 0.1])
        start, predicted = model.dictionary(x0), model.predict(x0, u[:-1], horizon=8)
        judges = (
            scipy.signal.dlsim(discrete, u, x0=start)[1],
            control.forced_response(system, inputs=u.T, initial_state=start).outputs.T,
        )
        for judge in judges:
            np.testing.assert_allclose(predicted, judge[1:], rtol=1e-10, atol=1e-12)
