"""Models in .mat files, read back by SciPy, and as .m files, run by Octave, against the same models in Python."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import EVERY_BLOCK, FORMS, HOSTILE, pendulum_model


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
    if form == "reprojected":
        np.testing.assert_array_equal(found["bounds"], model.bounds)


@pytest.mark.parametrize("inputs", [1, 2])
def test_the_matrices_step_as_the_model_does(inputs, tmp_path):
    model = pendulum_model("bilinear", inputs=inputs)
    model.to_mat(tmp_path / "model.mat")
    found = loadmat(tmp_path / "model.mat")
    z, u = model.start(np.array([[0.1, 0.2]]))[0], np.array([0.3, -0.4])[:inputs]
    N = found["N"].reshape(len(z), len(z), inputs)
    following = found["A"] @ z + found["B"] @ u + sum(u[j] * N[:, :, j] @ z for j in range(inputs))
    np.testing.assert_allclose(following, model.advance(z[None], u[None])[0], rtol=1e-12)


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


OCTAVE = shutil.which("octave-cli")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="Octave is not installed: apt-get install octave")
STEPS = 6
SCRIPT = """data = load('-ascii', 'data.txt');
z = {name}(data(1, 1:{n})');
for k = 1:{steps}
    [z, y] = {name}(z, data(k + 1, 1:{inputs})');
    printf('%.17g ', z, y);
    printf('\\n');
end
"""


def compare(model, folder, name="model"):
    """Free runs of Octave and of Python from one state."""
    rng = np.random.default_rng(5)
    state, acting = rng.normal(scale=0.3, size=len(model.state_names)), rng.normal(size=(STEPS, len(model.input_names)))
    model.to_m(folder / f"{name}.m")
    width = max(len(state), acting.shape[1])
    rows = [np.pad(row, (0, width - len(row))) for row in (state, *acting)]
    np.savetxt(folder / "data.txt", rows, fmt="%.17g")
    script = SCRIPT.format(name=name, n=len(state), steps=STEPS, inputs=acting.shape[1])
    (folder / "run_it.m").write_text(script)
    done = subprocess.run([OCTAVE, "--norc", "--no-history", "run_it.m"], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    carried = model.start(state[None])
    for line, u in zip(done.stdout.strip().splitlines(), acting, strict=True):
        carried = model.advance(carried, u[None])
        expected = np.concatenate([carried[0], model.read(carried)[0]])
        found = np.array(line.split(), dtype=float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@needs_octave
@pytest.mark.parametrize("form", FORMS)
def test_every_block(form, tmp_path):
    compare(pendulum_model(form, recipe=EVERY_BLOCK), tmp_path)


@needs_octave
@pytest.mark.parametrize("form", FORMS)
def test_delays_and_timing(form, tmp_path):
    compare(pendulum_model(form, Embedding(1, 2, "k+1")), tmp_path, name="tank_1")


@needs_octave
def test_without_inputs_and_held_within_limits(tmp_path):
    compare(pendulum_model("reprojected", inputs=0), tmp_path)
    model = replace(pendulum_model("reprojected"), limits=np.array([[-0.01, -0.02], [0.01, 0.02]]))
    compare(model, tmp_path)


@needs_octave
@pytest.mark.parametrize("outputs, inputs", HOSTILE)
def test_columns_may_have_any_name(outputs, inputs, tmp_path):
    named = replace(simulate_pendulum([80], 2), signals=Signals(outputs, inputs, 0.1))
    compare(pendulum_model("reprojected", Embedding(1, 1), data=named), tmp_path)


@pytest.mark.parametrize("name", ["my model.m", "2nd.m", "model.txt", "end.m", "é.m", "a" * 64 + ".m"])
def test_a_file_that_could_not_be_called_is_refused(name, tmp_path):
    with pytest.raises(KoopsieveError, match="must be called like a function"):
        pendulum_model("linear").to_m(tmp_path / name)
