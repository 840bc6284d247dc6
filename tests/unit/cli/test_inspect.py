"""`koopsieve inspect` on models of every form that came out of `sift`: terms, eigenvalues, residuals."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from koopsieve.cli.app import app


def inspected(result, folder, *options):
    result.model.save(folder / "model.npz")
    done = CliRunner().invoke(app, ["inspect", str(folder / "model.npz"), *options])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("form", ["small_result", "bilinear_result"])
def test_eigenvalues_come_with_their_residuals(form, request, tmp_path):
    result = request.getfixturevalue(form)
    held = result.model.calibration.certificate
    told = json.loads(inspected(result, tmp_path, "--json"))
    np.testing.assert_allclose(told["certificate"]["residuals"], held.residuals)
    np.testing.assert_allclose([complex(*v) for v in told["certificate"]["eigenvalues"]], held.eigenvalues)
    assert told["certificate"]["invariance_error"] == pytest.approx(held.invariance_error)
    assert told["bands"]["steps_ahead"] == result.horizons[-1]
    shown = inspected(result, tmp_path)
    assert "residual" in shown
    assert f"{held.invariance_error:.3g}" in shown
    assert f"{held.eigenvalues[0].real:.4f}" in shown


def test_the_reprojected_form_has_no_eigenvalues(reprojected_result, tmp_path):
    assert "certificate" not in json.loads(inspected(reprojected_result, tmp_path, "--json"))
    assert "Eigenvalues" not in inspected(reprojected_result, tmp_path)
