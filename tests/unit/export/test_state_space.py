"""Models in .mat files, read back by SciPy."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding
from tests.unit.export.models import FORMS, pendulum_model


@pytest.mark.parametrize("form", FORMS)
def test_matrices_and_names_are_in_the_file(form, tmp_path):
    model = pendulum_model(form, Embedding(1, 2, "k+1"))
    model.to_mat(tmp_path / "model.mat")
    found = loadmat(tmp_path / "model.mat", squeeze_me=True)
    assert found["form"] == form
    assert found["dt"] == 0.1
    assert (found["state_delays"], found["input_delays"], found["inputs_at"]) == (1, 2, "k+1")
    for key, names in (("outputs", model.output_names), ("inputs", model.input_names), ("observables", model.names)):
        assert tuple(found[key]) == names
    assert tuple(found["states"]) == model.signals.state_names
    for name, values in model.arrays().items():
        expected = np.moveaxis(values, 0, -1) if name == "N" else values
        np.testing.assert_array_equal(found[name], expected)


def test_the_matrices_step_as_the_model_does(tmp_path):
    model = pendulum_model("bilinear")
    model.to_mat(tmp_path / "model.mat")
    found = loadmat(tmp_path / "model.mat")
    z, u = model.start(np.array([[0.1, 0.2]]))[0], np.array([0.3, -0.4])
    following = found["A"] @ z + found["B"] @ u + sum(u[j] * found["N"][:, :, j] @ z for j in range(2))
    np.testing.assert_allclose(following, model.advance(z[None], u[None])[0], rtol=1e-12)


def test_the_reprojected_form_brings_the_bounds_of_its_outputs(tmp_path):
    model = pendulum_model("reprojected")
    model.to_mat(tmp_path / "model.mat")
    np.testing.assert_array_equal(loadmat(tmp_path / "model.mat")["bounds"], model.bounds)


def test_one_input_keeps_its_axis(tmp_path):
    model = pendulum_model("bilinear", inputs=1)
    model.to_mat(tmp_path / "model.mat")
    assert loadmat(tmp_path / "model.mat")["N"].size == model.N.size


def test_a_model_that_is_not_finite_is_refused(tmp_path):
    model = pendulum_model("linear")
    with pytest.raises(KoopsieveError, match="model's A is not finite"):
        replace(model, A=np.full_like(model.A, np.inf)).to_mat(tmp_path / "model.mat")
    assert not list(tmp_path.iterdir())


def test_python_control_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(KoopsieveError, match=r"needs control.*pip install 'koopsieve\[control\]'"):
        pendulum_model("linear").to_control()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("embedding", [Embedding(), Embedding(1, 2)], ids=["no delays", "delays"])
def test_python_control_and_a_plain_function_simulate_every_form(form, embedding):
    control = pytest.importorskip("control")
    model, rng = pendulum_model(form, embedding), np.random.default_rng(0)
    u, x0 = 0.3 * rng.normal(size=(9, 2)), 0.2 * rng.normal(size=(1, len(model.signals.state_names)))
    carried, step, expected = model.start(x0)[0], model.to_function(), []
    for row in u[:-1]:
        carried, outputs = step(carried, row)
        expected.append(outputs)
    system = model.to_control()
    assert isinstance(system, control.StateSpace if form == "linear" else control.NonlinearIOSystem)
    assert system.input_labels == ["u1", "u2"]
    judge = control.input_output_response(system, model.dt * np.arange(9), u.T, model.start(x0)[0]).outputs.T
    np.testing.assert_allclose(judge[1:], expected, rtol=1e-9, atol=1e-11)
    slow = model.start(x0)
    for row, y in zip(u, expected, strict=False):
        slow = model.advance(slow, row[None])
        np.testing.assert_array_equal(model.read(slow)[0], y)


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_scipy_has_linear_systems_only(form):
    with pytest.raises(KoopsieveError, match=f"step of a {form} model is not linear. Use to_control"):
        pendulum_model(form).to_scipy()
