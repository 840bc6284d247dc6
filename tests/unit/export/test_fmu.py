"""Functional mock-up units, validated and simulated by FMPy."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import FORMS, pendulum_model

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install -e '.[fmu]'")


TIMINGS = {
    "linear": Embedding(1, 1),
    "bilinear": Embedding(),
    "reprojected": Embedding(0, 2, "k+1"),
    "hidden": Embedding(2, 2),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_unit_simulates_as_the_model_does(form, tmp_path):
    from fmpy.validation import validate_fmu

    model = pendulum_model(form, TIMINGS[form])
    path = model.to_fmu(tmp_path / "pendulum.fmu")
    assert validate_fmu(path) == []
    rng, steps = np.random.default_rng(0), 12
    inputs = rng.normal(size=(steps + 1, 2))
    inputs[0] = 0.0  # held before the start
    signals = np.array(
        [(model.dt * k, *row) for k, row in enumerate(inputs)], dtype=[(name, float) for name in ("time", "u1", "u2")]
    )
    found = fmpy.simulate_fmu(
        path,
        stop_time=steps * model.dt,
        step_size=model.dt,
        output_interval=model.dt,
        start_values={"x1 at the start": 0.3, "x2 at the start": -0.2},
        input=signals,
        output=["x1", "x2"],
    )
    history = np.tile([0.3, -0.2], (model.history, 1))
    past = model.history - 1 + model.signals.embedding.input_lead  # the input of a step is the one set before it
    along = np.vstack([np.zeros((past, 2)), inputs[:steps]])
    expected = model.predict(history, along, steps)
    simulated = np.column_stack([found["x1"], found["x2"]])
    np.testing.assert_allclose(simulated[0], [0.3, -0.2])
    np.testing.assert_allclose(simulated[1:], expected, rtol=1e-10, atol=1e-12)


def test_a_unit_holds_its_sources_and_names_are_made_fit_for_it(tmp_path):
    from fmpy.validation import validate_fmu

    names = Signals(("y", "y at the start"), ('<a&"b">', "line bell"), 0.1)
    model = pendulum_model("linear", data=replace(simulate_pendulum([80], 2), signals=names))
    path = model.to_fmu(tmp_path / "Höhe.fmu")
    assert validate_fmu(path) == []
    files = zipfile.ZipFile(path).namelist()
    assert {"modelDescription.xml", "sources/model.c", "sources/model.h", "sources/fmu.c"} <= set(files)
    assert any(name.startswith("binaries/") for name in files)
    description = fmpy.read_model_description(path)
    assert description.defaultExperiment.stepSize == "0.1"
    assert [v.name for v in description.modelVariables if v.causality == "input"] == ['<a&"b">', "line bell"]
    found = [variable.name for variable in description.modelVariables]
    assert found[:4] == ["y", "y at the start", '<a&"b">', "line bell"]
    assert found[4:] == ["y at the start (2)", "y at the start at the start"]


def test_a_missing_compiler_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    with pytest.raises(KoopsieveError, match=r"could not be compiled \(.*Expected a C and a C\+\+ compiler"):
        pendulum_model("linear").to_fmu(tmp_path / "pendulum.fmu")
    assert not list(tmp_path.iterdir())


def test_a_step_that_does_not_fit_says_why(tmp_path):
    path, messages = pendulum_model("linear").to_fmu(tmp_path / "pendulum.fmu"), []
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(
            path,
            stop_time=0.3,
            step_size=0.07,
            output_interval=0.07,
            logger=lambda *one: messages.append(one[-1].decode()),
        )
    assert any("must be a whole number of sample times" in text for text in messages)
