"""Predictions against independent simulators of the same linear system, and what `predict` refuses."""

from __future__ import annotations

from types import SimpleNamespace

import control
import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Monomials, States
from koopsieve.forms import LinearModel, ReprojectedModel


def dictionary_of(*names, degree=None, inputs=0):
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(
        rng.normal(size=(5, len(names))), rng.normal(size=(4, inputs)), dt=0.1, state_names=names
    )
    return (States() if degree is None else States() + Monomials(degree=degree)).fit(data)


def linear_dictionary(n, inputs=2):
    return dictionary_of(*(f"x{i + 1}" for i in range(n)), inputs=inputs)


def estimate_of(A, B, dictionary, precision=1.0):
    return SimpleNamespace(
        coef=np.vstack([A.T, B.T]), noise_precision=np.full(len(A), precision), regressors=dictionary.regressors
    )


@pytest.fixture
def oscillator():
    """Two coupled masses with two forces, held over each sample: exactly discretised by the matrix exponential."""
    K = np.array([[-2.0, 1.0], [1.0, -3.0]])
    continuous = np.block([[np.zeros((2, 2)), np.eye(2)], [K, -0.1 * np.eye(2)]])
    forces = np.vstack([np.zeros((2, 2)), [[1.0, 0.2], [0.0, 0.5]]])
    both = scipy.linalg.expm(0.1 * np.block([[continuous, forces], [np.zeros((2, 6))]]))
    return both[:4, :4], both[:4, 4:]


@pytest.fixture
def model(oscillator):
    dictionary = linear_dictionary(4)
    return LinearModel.from_estimate(estimate_of(*oscillator, dictionary), dictionary)


def test_coefficients_are_transposed_once(model, oscillator):
    assert np.array_equal(model.A, oscillator[0])
    assert np.array_equal(model.B, oscillator[1])
    assert np.array_equal(model.C, np.eye(4))
    assert model.output_names == ("x1", "x2", "x3", "x4")
    assert model.input_names == ("u1", "u2")
    assert model.names == model.dictionary.names
    assert model.dt == 0.1
    assert model.history == 1


def test_an_exactly_identified_linear_system_is_predicted_exactly(oscillator):
    A, B = oscillator
    rng = np.random.default_rng(0)
    x, u = np.empty((200, 4)), rng.normal(size=(199, 2))
    x[0] = rng.normal(size=4)
    for k in range(199):
        x[k + 1] = A @ x[k] + B @ u[k]
    coef = np.linalg.lstsq(np.hstack([x[:-1], u]), x[1:], rcond=None)[0]
    dictionary = linear_dictionary(4)
    estimate = SimpleNamespace(coef=coef, noise_precision=np.ones(4), regressors=dictionary.regressors)
    predicted = LinearModel.from_estimate(estimate, dictionary).predict(x[0], u, horizon=199)
    np.testing.assert_allclose(predicted, x[1:], rtol=0, atol=1e-11 * np.abs(x).max())


def test_agrees_with_forced_response_of_python_control(model):
    rng = np.random.default_rng(1)
    u, x0 = rng.normal(size=(50, 2)), rng.normal(size=4)
    system = control.ss(model.A, model.B, model.C, 0, dt=0.1)
    judge = control.forced_response(system, inputs=np.vstack([u, np.zeros(2)]).T, initial_state=x0).outputs.T
    np.testing.assert_allclose(model.predict(x0, u, horizon=50), judge[1:], rtol=1e-12, atol=1e-12)


def test_agrees_with_dlsim_of_scipy(model):
    rng = np.random.default_rng(2)
    u, x0 = rng.normal(size=(50, 2)), rng.normal(size=4)
    _, judge, _ = scipy.signal.dlsim((model.A, model.B, model.C, np.zeros((4, 2)), 0.1), np.vstack([u, u[:1]]), x0=x0)
    np.testing.assert_allclose(model.predict(x0, u, horizon=50), judge[1:], rtol=1e-12, atol=1e-12)


def test_many_starts_equal_one_at_a_time(model, monkeypatch):
    rng = np.random.default_rng(3)
    x0, u = rng.normal(size=(7, 1, 4)), rng.normal(size=(7, 5, 2))
    together = model.predict(x0, u, horizon=5)
    assert together.shape == (7, 5, 4)
    for i in range(7):
        np.testing.assert_allclose(together[i], model.predict(x0[i], u[i], horizon=5), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(model.predict(x0, u[0], horizon=5)[0], together[0], rtol=1e-13, atol=1e-13)
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", 3 * 4 * 8)
    np.testing.assert_allclose(model.predict(x0, u, horizon=5), together, rtol=1e-13, atol=1e-13)


PRODUCTS = np.array([[0.9, 0, 0, 0], [0, 0.5, 0, 0.3], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=float)


def frozen_products():
    """x1⁺ = 0.9 x1, x2⁺ = 0.5 x2 + 0.3 x1·x2, with the products wrongly frozen."""
    dictionary = dictionary_of("x1", "x2", degree=2).select([0, 1, 2, 3])
    return LinearModel.from_estimate(estimate_of(PRODUCTS, np.zeros((4, 0)), dictionary), dictionary)


def test_reprojection_evaluates_the_dictionary_at_every_step():
    x0 = np.array([[1.0, 2.0], [-0.5, 0.7]])
    expected, x = [], x0
    for _ in range(4):
        x = np.column_stack([0.9 * x[:, 0], 0.5 * x[:, 1] + 0.3 * x[:, 0] * x[:, 1]])
        expected.append(x)
    model = frozen_products()
    anew = ReprojectedModel(PRODUCTS[:2].T, model.dictionary, np.array([[-5.0, -5.0], [5.0, 5.0]]))
    np.testing.assert_allclose(anew.predict(x0[:, None], horizon=4), np.stack(expected, axis=1), rtol=1e-14)
    linear = model.predict(x0[:, None], horizon=4)
    np.testing.assert_allclose(linear[:, 0], expected[0], rtol=1e-14)
    assert not np.allclose(linear[:, 3], expected[3])


def test_divergence_is_told_by_numbers_and_not_by_warnings():
    dictionary = dictionary_of("x1", "x2", degree=2).select([0, 1, 2, 3])
    estimate = estimate_of(1e60 * np.ones((4, 4)), np.zeros((4, 0)), dictionary)
    predicted = LinearModel.from_estimate(estimate, dictionary).predict([[[1.0, 1.0]], [[0.0, 0.0]]], horizon=9)
    assert np.isfinite(predicted[0, 0]).all()
    assert not np.isfinite(predicted[0, -1]).any()
    assert (predicted[1] == 0).all()


def test_restriction_takes_blocks():
    kept = frozen_products().restrict([0, 1, 3])
    assert kept.names == ("x1", "x2", "x1 x2")
    assert np.array_equal(kept.A, frozen_products().A[np.ix_([0, 1, 3], [0, 1, 3])])
    np.testing.assert_array_equal(kept.predict([1.0, 2.0], horizon=6), frozen_products().predict([1.0, 2.0], horizon=6))
    with pytest.raises(KoopsieveError, match=r"lose the outputs x2\."):
        frozen_products().restrict([0, 2, 3])
    with pytest.raises(KoopsieveError, match=r"lose the outputs x1, x2\."):
        frozen_products().restrict([])
    for wrong in ([1, 0], [0, 0, 1], [0, 4], [-1, 0], [0.0, 1.0], [True, True, False, False]):
        with pytest.raises(KoopsieveError, match="retained must be increasing indices below 4"):
            frozen_products().restrict(wrong)


@pytest.mark.parametrize("x0", [1.0, [1.0, 2.0, 3.0], np.zeros((2, 3)), np.zeros((1, 2, 5)), np.zeros((1, 1, 1, 4))])
def test_a_start_of_the_wrong_shape_is_refused(model, x0):
    with pytest.raises(KoopsieveError, match=r"Expected \(4,\), \(rows, 4\) or \(starts, rows, 4\), got"):
        model.predict(x0, np.zeros((1, 2)))


@pytest.mark.parametrize("x0, match", [([1, 2, np.nan, 4], "finite"), ([1j, 0, 0, 0], "real"), (list("abcd"), "real")])
def test_a_start_that_is_no_number_is_refused(model, x0, match):
    with pytest.raises(KoopsieveError, match=match):
        model.predict(x0, np.zeros((1, 2)))


def test_missing_inputs_are_refused(model):
    with pytest.raises(KoopsieveError, match=r"has inputs \(u1, u2\).*got none"):
        model.predict(np.zeros(4), horizon=3)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (4, 2), (3, 1), (5, 3, 2), (1, 3, 2)])
def test_inputs_of_the_wrong_shape_are_refused(model, shape):
    with pytest.raises(KoopsieveError, match=r"Expected \(3, 2\) or \(2, 3, 2\).*got"):
        model.predict(np.zeros((2, 1, 4)), np.zeros(shape), horizon=3)


def test_inputs_of_a_model_without_inputs_are_refused():
    with pytest.raises(KoopsieveError, match=r"Expected \(3, 0\)"):
        frozen_products().predict([1.0, 2.0], np.ones((3, 1)), horizon=3)
    assert frozen_products().predict([1.0, 2.0], np.ones((3, 0)), horizon=3).shape == (3, 2)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, "2"])
def test_a_horizon_that_is_no_number_of_steps_is_refused(model, horizon):
    with pytest.raises(KoopsieveError, match="a whole number, 1 or more"):
        model.predict(np.zeros(4), np.zeros((1, 2)), horizon=horizon)


def test_estimate_and_dictionary_must_belong_together(oscillator):
    whole, cut = linear_dictionary(4), linear_dictionary(4).select([0, 1, 2])
    with pytest.raises(KoopsieveError, match=r"dictionary\.select\(retained\)"):
        LinearModel.from_estimate(estimate_of(*oscillator, whole), cut)


def test_a_dictionary_without_measured_states_is_refused():
    dictionary = dictionary_of("x1", "x2", degree=2).select([2, 3])
    with pytest.raises(KoopsieveError, match=r"States\(\)"):
        LinearModel.from_estimate(estimate_of(np.eye(2), np.zeros((2, 0)), dictionary), dictionary)


def test_condition_numbers(model):
    assert model.condition_number == pytest.approx(np.linalg.cond(model.A.T))
    assert model.coef_condition_number == pytest.approx(np.linalg.cond(np.vstack([model.A.T, model.B.T])))
    assert frozen_products().restrict([0, 1]).condition_number == pytest.approx(1.8)
