"""Models as .m files, run by Octave, against the same models in Python."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from koopsieve.dictionary import Function, States
from koopsieve.export.toolboxes import m_text
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import EVERY_BLOCK, FORMS, HOSTILE, pendulum_model

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


@pytest.mark.parametrize("outputs, inputs", HOSTILE)
def test_names_stay_within_their_comment(outputs, inputs):
    """Also without Octave: every line that holds a name is a comment of plain letters."""
    named = replace(simulate_pendulum([80], 2), signals=Signals(outputs, inputs, 0.1))
    plain = m_text(pendulum_model("linear", data=simulate_pendulum([80], 2)), "model")
    text = m_text(pendulum_model("linear", data=named), "model")
    assert text.isascii()
    code = [line for line in text.splitlines() if not line.startswith("%")]
    assert code == [line for line in plain.splitlines() if not line.startswith("%")]


@pytest.mark.parametrize("name", ["my model.m", "2nd.m", "model.txt", "end.m", "é.m", "a" * 64 + ".m"])
def test_a_file_that_could_not_be_called_is_refused(name, tmp_path):
    with pytest.raises(KoopsieveError, match="must be called like a function"):
        pendulum_model("linear").to_m(tmp_path / name)


def test_a_users_own_code_and_numbers_that_are_not_finite_are_refused(tmp_path):
    with pytest.raises(KoopsieveError, match=r"Function\(absolute\), .* in MATLAB"):
        pendulum_model("linear", recipe=States() + Function(np.abs, names=["a", "b"])).to_m(tmp_path / "model.m")
    model = pendulum_model("linear")
    with pytest.raises(KoopsieveError, match="coefficient of the model is nan"):
        replace(model, A=np.full_like(model.A, np.nan)).to_m(tmp_path / "model.m")
    assert not list(tmp_path.iterdir())
