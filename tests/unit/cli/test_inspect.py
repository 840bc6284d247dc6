"""`koopsieve inspect` on models of every form that came out of `sift`: terms, eigenvalues, residuals."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from koopsieve import KoopsieveError
from koopsieve.cli.app import app
from koopsieve.data import Embedding
from tests.unit.export.models import pendulum_model


def inspected(result, folder, *options):
    result.model.save(folder / "model.npz")
    done = CliRunner().invoke(app, ["inspect", str(folder / "model.npz"), *options])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("form", ["small_result", "bilinear_result"])
def test_eigenvalues_come_with_their_residuals(form, request, tmp_path):
    result = request.getfixturevalue(form)
    held = result.model.calibration.certificate
    found = json.loads(inspected(result, tmp_path, "--json"))
    np.testing.assert_allclose(found["certificate"]["residuals"], held.residuals)
    np.testing.assert_allclose([complex(*v) for v in found["certificate"]["eigenvalues"]], held.eigenvalues)
    assert found["certificate"]["invariance_error"] == pytest.approx(held.invariance_error)
    assert found["bands"]["steps_ahead"] == result.horizons[-1]
    shown = inspected(result, tmp_path)
    assert all(one in shown for one in ("residual", f"{held.invariance_error:.3g}", f"{held.eigenvalues[0].real:.4f}"))


def test_the_reprojected_form_has_no_eigenvalues(reprojected_result, tmp_path):
    assert "certificate" not in json.loads(inspected(reprojected_result, tmp_path, "--json"))
    assert "Eigenvalues" not in inspected(reprojected_result, tmp_path)


def test_hidden_states_are_named_and_coefficients_counted(tmp_path):
    model = pendulum_model("hidden", Embedding(1, 1))
    states = list(model.state_labels)
    model.save(tmp_path / "model.npz")
    shown, told = (
        CliRunner().invoke(app, ["inspect", str(tmp_path / "model.npz"), *more]).output for more in ((), ("--json",))
    )
    assert json.loads(told)["hidden_states"] == states
    lines = {line[:36].strip(): line[36:].strip() for line in shown.splitlines()}
    assert lines["hidden states"] == ", ".join(states)
    assert lines["coefficients"] == str(np.count_nonzero(model.coef))
    assert "observables" not in lines
    assert "on the states and outputs one step ahead" in shown


def test_bands_go_into_a_table(small_result, tmp_path):
    inspected(small_result, tmp_path, "--bands", str(tmp_path / "bands.csv"))
    rows = list(csv.DictReader((tmp_path / "bands.csv").read_text().splitlines()))
    bands, outputs = small_result.model.calibration.bands, small_result.model.output_names
    assert len(rows) == len(bands.steps) * len(outputs) * 4
    for row in rows[:: len(rows) // 7]:
        step, level, i = int(row["step"]), float(row["level"]), outputs.index(row["output"])
        assert float(row["half_width"]) == bands.half_widths(step, level)[-1, i]
        assert float(row["joint_half_width"]) == bands.half_widths(step, level, joint=True)[-1, i]


def test_a_model_without_bands_has_no_table(small_result, tmp_path):
    replace(small_result.model, calibration=None).save(tmp_path / "model.npz")
    done = CliRunner().invoke(app, ["inspect", str(tmp_path / "model.npz"), "--bands", str(tmp_path / "b.csv")])
    assert isinstance(done.exception, KoopsieveError)
    assert not (tmp_path / "b.csv").exists()
