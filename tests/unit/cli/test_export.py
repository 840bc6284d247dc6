"""`koopsieve export` as a user types it."""

import subprocess

import numpy as np
import pytest
from scipy.io import loadmat

from koopsieve._types import KoopsieveError
from koopsieve.cli.saved import Target, written
from koopsieve.dictionary import Function, States
from tests.unit.export.models import FORMS, pendulum_model


@pytest.mark.parametrize("form", FORMS)
def test_to_c(form, koopsieve, tmp_path):
    pendulum_model(form).save(tmp_path / "model.npz")
    code, out, err = koopsieve("export", "model.npz", "--to", "c", "--out", "plant/controller", "--name", "tank")
    assert (code, err) == (0, "")
    assert "Written: plant/controller/tank.h" in out
    subprocess.run(["make"], cwd=tmp_path / "plant" / "controller", check=True, capture_output=True)


def test_to_casadi_and_mat(koopsieve, tmp_path):
    casadi = pytest.importorskip("casadi")
    model = pendulum_model("bilinear")
    model.save(tmp_path / "model.npz")
    assert koopsieve("export", "model.npz", "--to", "casadi", "--out", "out")[0] == 0
    step = casadi.Function.load(str(tmp_path / "out" / "step.casadi"))
    z, u = model.start(np.array([[0.1, 0.2]])), np.array([[0.3, 0.4]])
    np.testing.assert_allclose(np.array(step(z[0], u[0])).ravel(), model.advance(z, u)[0], rtol=1e-12)
    assert koopsieve("export", "model.npz", "--to", "mat", "--out", "out")[0] == 0
    np.testing.assert_array_equal(loadmat(tmp_path / "out" / "model.mat")["A"], model.A)


def test_to_m_sympy_and_fmu(koopsieve, tmp_path):
    import sympy

    model = pendulum_model("reprojected")
    model.save(tmp_path / "model.npz")
    code, out, _ = koopsieve("export", "model.npz", "--to", "m", "--out", "out", "--name", "tank 1")
    assert (code, out.strip()) == (0, "Written: out/tank_1.m")
    assert (tmp_path / "out" / "tank_1.m").read_text().startswith("function [next, outputs] = tank_1(carried, input)")
    code, out, _ = koopsieve("export", "model.npz", "--to", "sympy", "--out", "equations")
    assert (code, out.strip()) == (0, "Written: equations/model.txt")
    lines = (tmp_path / "equations" / "model.txt").read_text().splitlines()
    step = sympy.sympify(lines[lines.index("# step") + 1])
    point = dict(zip(model.to_sympy().carried + model.to_sympy().inputs, (0.1, 0.2, 0.3, 0.4), strict=True))
    expected = model.advance(np.array([[0.1, 0.2]]), np.array([[0.3, 0.4]]))[0, 0]
    assert float(step.rhs.subs(point)) == pytest.approx(expected, rel=1e-12)
    pytest.importorskip("fmpy")
    code, out, _ = koopsieve("export", "model.npz", "--to", "fmu", "--out", "units", "--name", "tank")
    assert (code, out.strip(), (tmp_path / "units" / "tank.fmu").exists()) == (0, "Written: units/tank.fmu", True)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["model.npz", "--to", "fortran", "--out", "x"], "'fortran' is not one of"),
        (["missing.npz", "--to", "c", "--out", "x"], "missing.npz"),
        (["model.npz", "--to", "c"], "--out"),
        (["model.npz", "--to", "c", "--out", "model.npz"], "model.npz cannot be written to"),
        (["model.npz", "--to", "mat", "--out", "x", "--name", "../up"], "--name must be the name of a file"),
        (["model.npz", "--to", "fmu", "--out", "x", "--name", ""], "--name must be the name of a file"),
        (["model.npz", "--to", "casadi", "--out", "x", "--name", "tank"], "--name has no effect with"),
    ],
)
def test_what_goes_wrong_is_said(arguments, message, koopsieve, tmp_path):
    pendulum_model("linear").save(tmp_path / "model.npz")
    koopsieve.refused(message, "export", *arguments)


def test_a_users_own_code_is_named(tmp_path):
    model = pendulum_model("linear", recipe=States() + Function(np.sign, names=["s1", "s2"]))
    with pytest.raises(KoopsieveError, match=r"s1, s2 .*Function\(sign\)"):
        written(model, Target.C, tmp_path, "model")
