"""Eigenvalues with residuals: small where the eigenfunction is the plant's own."""

import numpy as np
import pytest

from koopsieve import Function, LinearModel, States, Trajectories
from koopsieve.forms.spectra import spectrum


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


def test_a_residual_is_the_literal_ratio():
    data, A, B = driven(50)
    wrong = A + np.array([[0.05, 0.0], [0.0, -0.1]])
    model = LinearModel(wrong, B, np.eye(2), States().fit(data))
    found = spectrum(model, data)
    x, u = data.states[0], data.inputs[0]
    for value, residual in zip(found.values, found.residuals, strict=True):
        w = np.linalg.svd((wrong.T - value * np.eye(2)).astype(complex))[2][-1].conj()
        missed = [w @ x[k + 1] - value * (w @ x[k]) - w @ (B @ u[k]) for k in range(50)]
        seen = [w @ x[k] for k in range(50)]
        assert residual == pytest.approx(np.linalg.norm(missed) / np.linalg.norm(seen))


def test_an_observable_without_dynamics_of_its_own_shows():
    data, _, B = driven()
    phi = (States() + Function(lambda x: np.sin(50 * x[:, 0]), names=["wild"])).fit(data)
    model = LinearModel(np.diag([0.9, 0.9, 0.5]), np.vstack([B, [[0.0]]]), np.eye(3)[:2], phi)
    found = spectrum(model, data)
    assert found.residuals[np.argmin(np.abs(found.values - 0.5))] > 0.9


@pytest.mark.parametrize("form", ["bilinear_result", "reprojected_result"])
def test_other_forms_are_linearised_at_the_mean(form, request):
    result = request.getfixturevalue(form)
    found = spectrum(result.model, result.evaluation.data)
    assert found.of == "step linearised at the mean state"
    assert (found.residuals is None) == (form == "reprojected_result")
    data, model = result.evaluation.data, result.model
    state = np.concatenate(data.states).mean(axis=0)
    step = model.jacobian(model.start(state[None])[0], np.concatenate(data.inputs).mean(axis=0))
    np.testing.assert_allclose(np.sort(np.abs(found.values)), np.sort(np.abs(np.linalg.eigvals(step.A))), atol=1e-9)


def test_residuals_of_a_bilinear_model_are_the_literal_ratio(bilinear_result):
    """At the mean input ū: ψ⁺ against λψ and what the inputs add beyond ū, row by row."""
    model, data = bilinear_result.model, bilinear_result.evaluation.data
    found = spectrum(model, data)
    mean = np.concatenate(data.inputs).mean(axis=0)
    step = model.A + np.tensordot(mean, model.N, axes=1)
    lifted = [model.dictionary(x) for x in data.states]
    for value, residual in zip(found.values[:3], found.residuals[:3], strict=True):
        w = np.linalg.svd((step.T - value * np.eye(len(step))).astype(complex))[2][-1].conj()
        missed, seen = [], []
        for phi, u in zip(lifted, data.inputs, strict=True):
            for k in range(len(u)):
                add = model.B @ u[k] + np.tensordot(u[k] - mean, model.N, axes=1) @ phi[k]
                missed.append(w @ phi[k + 1] - value * (w @ phi[k]) - w @ add)
                seen.append(w @ phi[k])
        assert residual == pytest.approx(np.linalg.norm(missed) / np.linalg.norm(seen), rel=1e-4)
