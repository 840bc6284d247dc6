"""CasADi functions in files, and models in do-mpc."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pytest

from koopsieve.data import Embedding, Signals
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import FORMS, pendulum_model

ROOT = Path(__file__).parents[3]


def test_functions_go_through_files(tmp_path):
    model = pendulum_model("bilinear")
    paths = model.to_casadi().save(tmp_path / "new")
    assert [path.name for path in paths] == ["lift.casadi", "start.casadi", "step.casadi", "read.casadi"]
    step = casadi.Function.load(str(paths[2]))
    z, v = model.start(np.array([[0.1, 0.2]])), np.array([[0.3, 0.4]])
    np.testing.assert_allclose(np.array(step(z[0], v[0])).ravel(), model.advance(z, v)[0], rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_do_mpc_simulates_the_same(form):
    do_mpc = pytest.importorskip("do_mpc")
    model = pendulum_model(form, Embedding(1, 1))
    built = model.to_do_mpc()
    assert built.u.keys() == ["default", "u1", "u2"]
    assert {"x1", "x2"} <= set(built.aux.keys())
    simulator = do_mpc.simulator.Simulator(built)
    simulator.set_param(t_step=model.dt)
    simulator.setup()
    v, carried = np.array([0.3, -0.2]), model.start(np.array([[0.1, 0.2, 0.3, -0.4, 0.5, 0.1]]))
    simulator.x0 = carried[0]
    for _ in range(5):
        carried = model.advance(carried, v[None])
        np.testing.assert_allclose(simulator.make_step(v[:, None])[:, 0], carried[0], rtol=1e-10, atol=1e-12)
    outputs = model.read(simulator.data["_x", "carried"][-1][None])[0]
    np.testing.assert_allclose(simulator.data["_aux", "x1"][-1], outputs[:1])


def test_do_mpc_is_imported_without_what_it_says_of_its_own_parts_and_gets_names_that_it_takes():
    pytest.importorskip("do_mpc")
    code = "from tests.unit.export.models import pendulum_model; pendulum_model('linear').to_do_mpc()"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    names = Signals(("default", "a b"), ("carried", "a-b"), 0.1)
    built = pendulum_model("linear", data=replace(simulate_pendulum([80], 2), signals=names)).to_do_mpc()
    assert built.aux.keys() == ["default", "default_2", "a_b"]
    assert built.u.keys() == ["default", "carried_2", "a_b_2"]


@pytest.mark.filterwarnings("ignore::FutureWarning:casadi")  # do-mpc itself calls CasADi in an older way
def test_do_mpc_controls_with_it():
    """A tracking controller with a reference that changes in time, set up on top of the model."""
    do_mpc = pytest.importorskip("do_mpc")
    model = pendulum_model("reprojected")
    built = model.to_do_mpc(setup=False)
    built.set_variable("_tvp", "reference")
    built.setup()
    miss = (built.aux["x1"] - built.tvp["reference"]) ** 2
    mpc = do_mpc.controller.MPC(built)
    mpc.settings.n_horizon, mpc.settings.t_step = 5, model.dt
    mpc.settings.supress_ipopt_output()
    mpc.set_objective(mterm=miss, lterm=miss)
    mpc.set_rterm(u1=1e-3, u2=1e-3)
    template = mpc.get_tvp_template()
    template["_tvp"] = 0.05
    mpc.set_tvp_fun(lambda _: template)
    for name in ("u1", "u2"):
        mpc.bounds["lower", "_u", name], mpc.bounds["upper", "_u", name] = -1.0, 1.0
    mpc.setup()
    mpc.x0 = np.zeros(2)
    mpc.set_initial_guess()
    x = np.zeros((1, 2))
    for _ in range(6):
        u = mpc.make_step(x.T)
        x = model.advance(x, u.T)
    assert abs(model.read(x)[0, 0] - 0.05) < 0.01
