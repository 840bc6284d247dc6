"""Spectrum, uncertainty and the way to other libraries."""

from dataclasses import replace
from types import SimpleNamespace

import control
import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import SquaredExponential, States
from koopsieve.forms import LinearModel
from tests.reference.pendulum import least_squares_model, simulate_pendulum


@pytest.fixture(params=[0, 2], ids="{} inputs".format)
def model(request):
    data = simulate_pendulum([100], request.param)
    return least_squares_model(data, States() + SquaredExponential(centers=3, coefficients=[0.5]))


def linear(A, dt):
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(5, len(A))), dt=dt)
    dictionary = States().fit(data)
    estimate = SimpleNamespace(coef=A.T, noise_precision=np.ones(len(A)), regressors=dictionary.names)
    return LinearModel.from_estimate(estimate, dictionary)


def test_spectrum_of_a_known_oscillator():
    """x'' = −(2π·1.5)² x, damped with rate 0.3, sampled at 20 Hz."""
    rate, omega = -0.3, 2 * np.pi * 1.5
    model = linear(scipy.linalg.expm(0.05 * np.array([[rate, omega], [-omega, rate]])), dt=0.05)
    assert model.spectral_radius == pytest.approx(np.exp(0.05 * rate))
    np.testing.assert_allclose(np.abs(model.eigenvalues), np.exp(0.05 * rate))
    np.testing.assert_allclose(np.sort(model.modes.frequencies), [-1.5, 1.5])
    np.testing.assert_allclose(model.modes.growth_rates, rate)


def test_modes_rebuild_the_free_motion(model):
    unforced = replace(model.dictionary, signals=replace(model.signals, inputs=()), input_families=())
    free = replace(model, B=np.zeros((len(model.A), 0)), dictionary=unforced)
    modes, x0 = free.modes, np.array([0.4, -0.2])
    values, vectors = np.linalg.eig(free.A)
    vectors = vectors[:, np.argsort(-np.abs(values), kind="stable")]
    weights = np.linalg.solve(vectors, free.dictionary(x0))
    rebuilt = np.stack([modes.shapes @ (modes.eigenvalues**h * weights) for h in range(1, 7)])
    np.testing.assert_allclose(rebuilt, free.predict(x0, horizon=6), atol=1e-9)
    assert (np.diff(np.abs(modes.eigenvalues)) <= 1e-12).all()
    np.testing.assert_allclose(np.sort_complex(modes.eigenvalues), np.sort_complex(free.eigenvalues), atol=1e-9)


def test_numbers_of_a_model_that_is_none():
    broken = linear(np.array([[1.0, np.nan], [0.0, 1.0]]), 1.0)
    assert broken.spectral_radius == broken.condition_number == np.inf
    assert np.isnan(broken.eigenvalues).all()
    assert np.isnan(broken.modes.shapes).all()
    assert linear(np.zeros((2, 2)), 1.0).modes.growth_rates.tolist() == [-np.inf, -np.inf]


def test_scipy_simulates_the_same(model):
    system = model.to_scipy()
    assert isinstance(system, scipy.signal.dlti)
    assert system.dt == model.dt
    if not model.input_names:
        np.testing.assert_array_equal(system.A, model.A)
        return
    u, x0 = np.random.default_rng(0).normal(size=(9, 2)), np.array([0.3, 0.1])
    _, judge, _ = scipy.signal.dlsim(system, u, x0=model.dictionary(x0))
    np.testing.assert_allclose(model.predict(x0, u[:-1], horizon=8), judge[1:], rtol=1e-10, atol=1e-12)


def test_python_control_simulates_the_same(model):
    system = model.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.dt == model.dt
    assert system.state_labels == [name.replace(".", "·") for name in model.names]
    assert system.output_labels == ["x1", "x2"]
    assert system.input_labels == list(model.input_names)
    if model.input_names:
        u, x0 = np.random.default_rng(0).normal(size=(9, 2)), np.array([0.3, 0.1])
        judge = control.forced_response(system, inputs=u.T, initial_state=model.dictionary(x0)).outputs.T
        np.testing.assert_allclose(model.predict(x0, u[:-1], horizon=8), judge[1:], rtol=1e-10, atol=1e-12)


def test_matrices_that_do_not_fit_are_refused(model):
    with pytest.raises(KoopsieveError, match=r"C does not fit.*Expected \(2, 5\), got \(1, 5\)"):
        replace(model, C=model.C[:1])


def test_a_model_says_what_it_is(model):
    assert repr(model).startswith("LinearModel(form linear, terms x1, x2, ")
