"""Eigenvalues with residuals, small where the eigenfunction is the plant's own; modes; models made stable."""

from dataclasses import replace

import control
import numpy as np
import pytest
import scipy.linalg

from koopsieve import KoopsieveError, LeastSquares, LinearModel, States, Trajectories, compress, embed_delays, stabilise
from koopsieve.dictionary import Function, SquaredExponential
from koopsieve.forms.spectra import responses, spectrum
from tests.reference.pendulum import least_squares_model, simulate_pendulum


def driven(samples=400):
    rng = np.random.default_rng(0)
    A, B = np.array([[0.9, 0.2], [-0.2, 0.9]]), np.array([[1.0], [0.5]])
    u, x = rng.normal(size=(samples, 1)), np.zeros((samples + 1, 2))
    for k in range(samples):
        x[k + 1] = A @ x[k] + B @ u[k]
    return Trajectories.from_arrays(x, u, dt=0.1), A, B


def test_the_eigenvalues_of_the_plant_leave_nothing():
    data, A, B = driven()
    found = spectrum(LinearModel(A, B, np.eye(2), States().fit(data)), data)
    assert found.of == "A"
    np.testing.assert_allclose(found.residuals, 0, atol=1e-7)
    np.testing.assert_allclose(found.frequencies, np.arctan2(0.2, 0.9) / (2 * np.pi * 0.1))
    np.testing.assert_allclose(found.time_constants, -0.1 / np.log(np.hypot(0.9, 0.2)))


def literal_residual(value, step, lifted, added):
    """‖w·φ⁺ − λ w·φ − w·(what the inputs add)‖ / ‖w·φ‖ over all rows, w the left eigenvector."""
    w = np.linalg.svd((step.T - value * np.eye(len(step))).astype(complex))[2][-1].conj()
    missed, seen = [], []
    for phi, more in zip(lifted, added, strict=True):
        missed += [w @ phi[k + 1] - value * (w @ phi[k]) - w @ more[k] for k in range(len(more))]
        seen += [w @ phi[k] for k in range(len(more))]
    return np.linalg.norm(missed) / np.linalg.norm(seen)


def test_a_residual_is_the_literal_ratio():
    data, A, B = driven(50)
    wrong = A + np.array([[0.05, 0.0], [0.0, -0.1]])
    found = spectrum(LinearModel(wrong, B, np.eye(2), States().fit(data)), data)
    for value, residual in zip(found.values, found.residuals, strict=True):
        assert residual == pytest.approx(literal_residual(value, wrong, data.states, [data.inputs[0] @ B.T]))


def test_residuals_of_a_bilinear_model_are_the_literal_ratio(bilinear_result):
    """At the mean input ū: ψ⁺ against λψ and what the inputs add beyond ū, row by row."""
    model, data = bilinear_result.model, bilinear_result.evaluation.data
    found = spectrum(model, data)
    mean = np.concatenate(data.inputs).mean(axis=0)
    step = model.A + np.tensordot(mean, model.N, axes=1)
    lifted = [model.dictionary(x) for x in data.states]
    added = [
        [model.B @ u[k] + np.tensordot(u[k] - mean, model.N, axes=1) @ phi[k] for k in range(len(u))]
        for phi, u in zip(lifted, data.inputs, strict=True)
    ]
    for value, residual in zip(found.values[:3], found.residuals[:3], strict=True):
        assert residual == pytest.approx(literal_residual(value, step, lifted, added), rel=1e-4)


def test_an_observable_without_dynamics_of_its_own_shows():
    data, _, B = driven()
    phi = (States() + Function(lambda x: np.sin(50 * x[:, 0]), names=["wild"])).fit(data)
    found = spectrum(LinearModel(np.diag([0.9, 0.9, 0.5]), np.vstack([B, [[0.0]]]), np.eye(3)[:2], phi), data)
    assert found.residuals[np.argmin(np.abs(found.values - 0.5))] > 0.9


@pytest.mark.parametrize("form", ["bilinear_result", "reprojected_result"])
def test_other_forms_are_linearised_at_the_mean(form, request):
    result = request.getfixturevalue(form)
    data, model = result.evaluation.data, result.model
    found = spectrum(model, data)
    assert found.of == "step linearised at the mean state"
    assert (found.residuals is None) == (form == "reprojected_result")
    state = np.concatenate(data.states).mean(axis=0)
    step = model.jacobian(model.start(state[None])[0], np.concatenate(data.inputs).mean(axis=0))
    np.testing.assert_allclose(np.sort(np.abs(found.values)), np.sort(np.abs(np.linalg.eigvals(step.A))), atol=1e-9)


def test_responses_are_those_of_python_control():
    data, A, B = driven()
    found = responses(LinearModel(A, B, np.eye(2), States().fit(data)), data)
    system = control.ss(A, B, np.eye(2), np.zeros((2, 1)), dt=0.1)
    judge = control.step_response(system, timepts=found.time).outputs[:, 0]
    np.testing.assert_allclose(found.step[:, :, 0].T, judge, atol=1e-9)
    np.testing.assert_allclose(found.frequency[-1], 5.0)  # half the sample rate
    turns = np.exp(2j * np.pi * found.frequency * 0.1)
    np.testing.assert_allclose(found.gain, [system(z, squeeze=False) for z in turns], rtol=1e-9)
    assert found.stable


def linear(A, dt):
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(5, len(A))), dt=dt)
    return LinearModel(A, np.zeros((len(A), 0)), np.eye(len(A)), States().fit(data))


def test_spectrum_of_a_known_oscillator():
    """x'' = −(2π·1.5)² x, damped with rate 0.3, sampled at 20 Hz."""
    rate, omega = -0.3, 2 * np.pi * 1.5
    model = linear(scipy.linalg.expm(0.05 * np.array([[rate, omega], [-omega, rate]])), dt=0.05)
    assert model.spectral_radius == pytest.approx(np.exp(0.05 * rate))
    np.testing.assert_allclose(np.abs(model.eigenvalues), np.exp(0.05 * rate))
    np.testing.assert_allclose(np.sort(model.modes.frequencies), [-1.5, 1.5])
    np.testing.assert_allclose(model.modes.growth_rates, rate)


def test_modes_rebuild_the_free_motion():
    recipe = States() + SquaredExponential(centers=3, coefficients=[0.5])
    free = least_squares_model(simulate_pendulum([100], 0), recipe)
    modes, x0 = free.modes, np.array([0.4, -0.2])
    values, vectors = np.linalg.eig(free.A)
    vectors = vectors[:, np.argsort(-np.abs(values), kind="stable")]
    weights = np.linalg.solve(vectors, free.dictionary(x0))
    rebuilt = np.stack([modes.shapes @ (modes.eigenvalues**h * weights) for h in range(1, 7)])
    np.testing.assert_allclose(rebuilt, free.predict(x0, horizon=6), atol=1e-9)
    assert (np.diff(np.abs(modes.eigenvalues)) <= 1e-12).all()
    np.testing.assert_allclose(np.sort_complex(modes.eigenvalues), np.sort_complex(free.eigenvalues), atol=1e-9)


def test_numbers_of_a_model_that_is_none():
    broken = replace(linear(np.eye(2), 1.0), A=np.array([[1.0, np.nan], [0.0, 1.0]]))
    assert broken.spectral_radius == broken.condition_number == np.inf
    assert np.isnan(broken.eigenvalues).all()
    assert np.isnan(broken.modes.shapes).all()
    assert linear(np.zeros((2, 2)), 1.0).modes.growth_rates.tolist() == [-np.inf, -np.inf]


@pytest.fixture
def growing():
    """A model of a plant that grows, and its statistics."""
    rng = np.random.default_rng(1)
    u, x = rng.normal(size=(60, 1)), np.zeros((61, 2))
    for k in range(60):
        x[k + 1] = [[1.05, 0.1], [0.0, 0.8]] @ x[k] + u[k] * np.array([0.2, 1.0])
    data = Trajectories.from_arrays(x + 0.01 * rng.normal(size=x.shape), u)
    phi = States().fit(data)
    statistics = compress(data, phi)
    return LinearModel.from_estimate(LeastSquares().identify(statistics), phi), statistics


def test_the_input_matrix_is_refitted_to_the_stable_dynamics_and_a_stable_model_stays(growing):
    model, statistics = growing
    stable = stabilise(model, statistics)
    assert model.spectral_radius > 1.01
    assert stable.spectral_radius <= 1 + 1e-9

    def misfit(A, B):
        return np.sum((statistics.S - statistics.R @ np.hstack([A, B]).T) ** 2)

    best = misfit(stable.A, stable.B)
    assert best < misfit(stable.A, model.B)
    assert all(misfit(stable.A, stable.B + step) > best for step in (-1e-3, 1e-3))
    assert stabilise(stable, statistics) is stable
    assert stabilise(model, statistics, radius=2.0) is model


def test_what_cannot_be_made_stable_is_refused(growing):
    model, statistics = growing
    with pytest.raises(KoopsieveError, match="radius"):
        stabilise(model, statistics, radius=0.0)
    with pytest.raises(KoopsieveError, match="observables"):
        stabilise(model, statistics.select([0]))


@pytest.mark.parametrize(("inputs_at", "oldest"), [("k", "u1[k-2]"), ("k+1", "u1[k-1]")])
def test_delayed_copies_stay_copies(inputs_at, oldest):
    """y[k-1] and y[k-2] are what y was, u[k-1] is what the input was, before and after."""
    rng = np.random.default_rng(2)
    u, y = rng.normal(size=(200, 1)), np.zeros((201, 1))
    for k in range(2, 200):
        y[k + 1] = 1.2 * y[k] - 0.1 * y[k - 2] + 0.3 * u[k - 1] + u[k]
    y += 0.01 * np.abs(y).max() * rng.normal(size=y.shape)
    data = embed_delays(Trajectories.from_arrays(y, u, state_names="y"), 3, 2, inputs_at)
    phi, names = States().fit(data), ("y", "y[k-3]", oldest)
    kept = [phi.names.index(name) for name in names]
    statistics = compress(data, phi).select(kept)
    model = LinearModel.from_estimate(LeastSquares().identify(statistics), phi.select(kept))
    stable = stabilise(model, statistics)
    assert model.spectral_radius > 1.01
    assert stable.spectral_radius <= 1 + 1e-9
    copies = [i for i, name in enumerate(model.names) if name != "y"]
    assert len(copies) == 5
    for before, after in ((model.A, stable.A), (model.B, stable.B)):
        np.testing.assert_allclose(after[copies], before[copies], rtol=0, atol=1e-15)
        assert set(np.unique(before[copies])) <= {0.0, 1.0}
    carried = [i for i, name in enumerate(model.names) if name not in names]
    assert not stable.A[0, carried].any()
