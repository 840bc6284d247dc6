"""Models in CasADi and do-mpc against the same models in Python."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from koopsieve.dictionary import Function, States, Terms
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import DRIVEN_MONOMIALS, EMBEDDINGS, EVERY_BLOCK, FORMS, names_of, pendulum_model

ROOT = Path(__file__).parents[3]
every_form = pytest.mark.parametrize("form", FORMS)


def points_of(model):
    """States and acting inputs along a record."""
    record = simulate_pendulum([24], len(model.input_names), seed=2)
    states, acting = model.signals.embedding.embed(record.states[0], record.inputs[0])
    return zip(states[: len(acting) : 3], acting[::3], strict=True)


def column(values):
    return np.asarray(values).ravel()


def compare(model):
    found = model.to_casadi()
    slopes = casadi.Function("slopes", *_slopes(found.step))
    for x, v in points_of(model):
        z = model.start(x[None])
        close = {"rtol": 1e-11, "atol": 1e-12}
        np.testing.assert_allclose(column(found.lift(x)), model.dictionary(x), **close)
        np.testing.assert_allclose(column(found.start(x)), z[0], **close)
        np.testing.assert_allclose(column(found.step(z[0], v)), model.advance(z, v[None])[0], **close)
        np.testing.assert_allclose(column(found.read(z[0])), model.read(z)[0], **close)
        around = model.jacobians(z, v[None])
        A, B = slopes(z[0], v)
        np.testing.assert_allclose(np.array(A), around.A[0], rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(np.array(B), around.B[0], rtol=1e-10, atol=1e-11)


def _slopes(step):
    carried, acting = casadi.MX.sym("z", step.size1_in(0)), casadi.MX.sym("u", step.size1_in(1))
    following = step(carried, acting)
    return [carried, acting], [casadi.jacobian(following, carried), casadi.jacobian(following, acting)]


@every_form
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=names_of)
def test_every_form_and_timing(form, embedding):
    compare(pendulum_model(form, embedding))


@every_form
def test_every_block(form):
    compare(pendulum_model(form, recipe=EVERY_BLOCK))


def test_monomials_of_states_and_inputs():
    compare(pendulum_model("reprojected", Embedding(1, 1), DRIVEN_MONOMIALS))


@every_form
def test_without_inputs(form):
    compare(pendulum_model(form, inputs=0))


def test_the_derivatives_are_those_of_linearise():
    model = pendulum_model("reprojected", Embedding(1, 1), EVERY_BLOCK)
    history, inputs = np.array([[0.1, 0.2], [0.3, -0.4]]), np.array([[0.5, 0.1], [0.2, 0.3]])
    around = model.linearise(history, inputs)
    state = np.concatenate([history[1], history[0], inputs[0]])
    A, B = casadi.Function("slopes", *_slopes(model.to_casadi().step))(state, inputs[1])
    np.testing.assert_allclose(np.array(A), around.A, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.array(B), around.B, rtol=1e-10, atol=1e-12)


def test_roots_have_finite_slopes_where_they_begin():
    """Optimisers go there; a plain square root gives inf, and nan below zero."""
    model = pendulum_model("reprojected", recipe=States() + Terms("sqrt(x1)", "x2^1.5", "abs(x1)"), inputs=0)
    slopes = casadi.Function("slopes", *_slopes(model.to_casadi().step))
    for x in (np.array([0.0, 0.0]), np.array([-0.3, -0.2]), np.array([0.3, 0.2])):
        around = model.jacobians(x[None], np.zeros((1, 0)))
        np.testing.assert_allclose(np.array(slopes(x, np.zeros(0))[0]), around.A[0], rtol=1e-12, atol=1e-13)


def test_outputs_are_held_within_bounds():
    model = pendulum_model("reprojected")
    step = model.to_casadi().step
    x, v = np.array([90.0, -0.1]), np.array([9.0, 0.1])
    following = model.advance(x[None], v[None])[0]
    assert np.isin(following, model.bounds).any()
    np.testing.assert_allclose(column(step(x, v)), following, rtol=1e-11)
    A, B = casadi.Function("slopes", *_slopes(step))(x, v)
    around = model.jacobians(x[None], v[None])
    np.testing.assert_allclose(np.array(A), around.A[0], atol=1e-12)
    np.testing.assert_allclose(np.array(B), around.B[0], atol=1e-12)


def test_functions_go_through_files(tmp_path):
    model = pendulum_model("bilinear")
    paths = model.to_casadi().save(tmp_path / "new")
    assert [path.name for path in paths] == ["lift.casadi", "start.casadi", "step.casadi", "read.casadi"]
    step = casadi.Function.load(str(paths[2]))
    z, v = model.start(np.array([[0.1, 0.2]])), np.array([[0.3, 0.4]])
    np.testing.assert_allclose(column(step(z[0], v[0])), model.advance(z, v)[0], rtol=1e-12)


@every_form
def test_do_mpc_simulates_the_same(form):
    do_mpc = pytest.importorskip("do_mpc")
    model = pendulum_model(form, Embedding(1, 1))
    built = model.to_do_mpc()
    assert built.u.keys() == ["default", "u1", "u2"]
    assert {"x1", "x2"} <= set(built.aux.keys())
    simulator = do_mpc.simulator.Simulator(built)
    simulator.set_param(t_step=model.dt)
    simulator.setup()
    x, v = next(points_of(model))
    carried = model.start(x[None])
    simulator.x0 = carried[0]
    for _ in range(5):
        carried = model.advance(carried, v[None])
        np.testing.assert_allclose(column(simulator.make_step(v[:, None])), carried[0], rtol=1e-10, atol=1e-12)
    outputs = model.read(simulator.data["_x", "carried"][-1][None])[0]
    np.testing.assert_allclose(simulator.data["_aux", "x1"][-1], outputs[:1])


def test_do_mpc_is_imported_without_what_it_says_of_its_own_parts():
    pytest.importorskip("do_mpc")
    code = "from tests.unit.export.models import pendulum_model; pendulum_model('linear').to_do_mpc()"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_do_mpc_gets_names_that_it_takes():
    pytest.importorskip("do_mpc")
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


def test_a_users_own_code_cannot_be_exported():
    model = pendulum_model("linear", recipe=States() + Function(np.abs, names=["a", "b"]))
    for export in (model.to_casadi, model.to_do_mpc):
        with pytest.raises(KoopsieveError, match=r"The observables a, b .* Function\(absolute\), .* in CasADi"):
            export()


@pytest.mark.parametrize(
    "module, method, extra", [("casadi", "to_casadi", "casadi"), ("do_mpc", "to_do_mpc", "do-mpc")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(module, method, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KoopsieveError, match=rf"{method}\(\) needs {module}.*pip install 'koopsieve\[{extra}\]'"):
        getattr(pendulum_model("linear"), method)()
