"""Quadratic programmes against sums written out, derivatives by differences, and another solver."""

from dataclasses import replace

import casadi
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from koopsieve import LinearModel, Monomials, States, Trajectories
from koopsieve._types import KoopsieveError
from koopsieve.control import Limits, Weights
from koopsieve.control.prediction import linearised_prediction, simulated
from koopsieve.control.programme import QuadraticProgramme
from koopsieve.control.solver import Solver, within_input_limits
from koopsieve.data import Embedding
from tests.unit.export.models import FORMS, pendulum_model
from tests.unit.export.plant import plant_model

every_form = pytest.mark.parametrize("form", FORMS)
WEIGHTS = Weights(outputs=[2.0, 0.5], rates=0.1, inputs=0.01)
QUIET = {"printLevel": "none"}
LIMITS = Limits(inputs=(-0.6, 0.8), rates=0.5, outputs=([-np.inf, -0.2], [0.4, 0.5]), price=3.0)


def outputs_along(model, carried, plan, disturbance):
    """Plain loop."""
    found = []
    for u in plan:
        carried = model.advance(carried[None], u[None])[0] + disturbance
        found.append(model.read(carried[None])[0])
    return np.array(found)


def setting(form):
    """A model, what it carries, a plan of seven steps, a disturbance and a reference."""
    model, rng = pendulum_model(form, Embedding(1, 1)), np.random.default_rng(0)
    carried = model.start(rng.normal(size=(1, len(model.signals.state_names))))[0]
    disturbance = np.zeros(len(carried))
    disturbance[:2] = 0.1 * rng.normal(size=2)
    return model, carried, rng.normal(size=(7, 2)), disturbance, rng.normal(size=(7, 2))


@every_form
def test_a_prediction_along_a_plan_is_the_simulation_there(form):
    model, carried, plan, disturbance, _ = setting(form)
    found = model.to_qp(7).prediction(carried, disturbance, plan)
    expected = outputs_along(model, carried, plan, disturbance)
    np.testing.assert_allclose(found.free + found.G @ plan.ravel(), expected.ravel(), rtol=1e-9, atol=1e-11)


@every_form
def test_its_slope_is_that_of_differences(form):
    model, carried, plan, disturbance, _ = setting(form)
    found = model.to_qp(7).prediction(carried, disturbance, plan)
    for column in range(plan.size):
        step = np.zeros(plan.size)
        step[column] = 1e-5
        ends = [outputs_along(model, carried, plan + way * step.reshape(plan.shape), disturbance) for way in (1, -1)]
        np.testing.assert_allclose(found.G[:, column], (ends[0] - ends[1]).ravel() / 2e-5, rtol=1e-5, atol=1e-7)


def test_a_path_that_the_model_does_not_take_is_corrected():
    """The bilinear form is affine in the inputs along any path of its first step, so one step is exact."""
    model, carried, plan, disturbance, _ = setting("bilinear")
    path = simulated(model, carried, disturbance, plan[None])[0]
    found = linearised_prediction(model, carried, disturbance, plan, path + 0.1)
    first = outputs_along(model, carried, plan[:1], disturbance)
    np.testing.assert_allclose((found.free + found.G @ plan.ravel())[:2], first[0], rtol=1e-10)
    np.testing.assert_array_equal(found.path(plan)[0], carried)
    exact = linearised_prediction(model, carried, disturbance, plan, path)
    np.testing.assert_allclose(exact.path(plan), path, rtol=1e-9, atol=1e-11)


def cost_of(model, carried, plan, disturbance, reference, previous, excess):
    """The cost, term by term."""
    found, before = 0.0, previous
    for y, r, u, s in zip(outputs_along(model, carried, plan, disturbance), reference, plan, excess, strict=True):
        found += 0.5 * (2.0 * (y[0] - r[0]) ** 2 + 0.5 * (y[1] - r[1]) ** 2)
        found += 0.5 * 0.1 * ((u - before) ** 2).sum() + 0.5 * 0.01 * (u**2).sum()
        found += 3.0 * (s.sum() + 0.5 * (s**2).sum())
        before = u
    return found


def test_the_programme_is_the_cost_but_for_a_constant():
    model, carried, plan, disturbance, reference = setting("linear")
    problem, previous, rng = model.to_qp(7, WEIGHTS, LIMITS), np.array([0.2, -0.1]), np.random.default_rng(3)
    programme = problem.programme(carried, reference, previous, disturbance=disturbance)
    differences = []
    for _ in range(4):
        plan, excess = rng.normal(size=(7, 2)), rng.uniform(size=(7, 2))
        x = np.concatenate([plan.ravel(), excess.ravel()])
        value = 0.5 * x @ programme.P @ x + programme.q @ x
        differences.append(value - cost_of(model, carried, plan, disturbance, reference, previous, excess))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9, atol=1e-9)


@every_form
def test_constraints_say_what_the_limits_say(form):
    model, carried, _, disturbance, reference = setting(form)
    problem, previous, rng = model.to_qp(7, WEIGHTS, LIMITS), np.array([0.2, -0.1]), np.random.default_rng(4)
    for size in (0.05, 0.3, 1.0):
        plan = previous + size * rng.normal(size=(7, 2))
        programme = problem.programme(carried, reference, previous, plan, disturbance)
        outputs = outputs_along(model, carried, plan, disturbance)
        excess = rng.uniform(0, 2, size=(7, 2))
        x = np.concatenate([plan.ravel(), excess.ravel()])
        met = (programme.A @ x >= programme.l - 1e-12) & (programme.A @ x <= programme.u + 1e-12)
        changes = np.diff(np.vstack([previous, plan]), axis=0)
        expected = [
            ((plan >= -0.6) & (plan <= 0.8)).ravel(),
            (np.abs(changes) <= 0.5).ravel(),
            (outputs <= np.array([0.4, 0.5]) + excess).ravel(),
            (outputs >= np.array([-np.inf, -0.2]) - excess).ravel(),
            np.ones(14, dtype=bool),
        ]
        np.testing.assert_array_equal(met, np.concatenate(expected))


def test_bounded_least_squares_gives_the_same_plan():
    model, carried, _, disturbance, reference = setting("linear")
    problem = model.to_qp(7, Weights(outputs=1.0, rates=0.0, inputs=0.2), Limits(inputs=(-0.3, 0.3)))
    programme = problem.programme(carried, reference, np.zeros(2), disturbance=disturbance)
    found = Solver(problem.pattern, problem.cost.moves, fixed=True, tolerance=1e-9).solve(programme)
    prediction = problem.prediction(carried, disturbance, np.zeros((7, 2)))
    rows = np.vstack([prediction.G, np.sqrt(0.2) * np.eye(14)])
    wanted = np.concatenate([reference.ravel() - prediction.free, np.zeros(14)])
    expected = lsq_linear(rows, wanted, bounds=(-0.3, 0.3), tol=1e-12).x
    assert (np.abs(expected) > 0.299).any()
    np.testing.assert_allclose(found, expected, atol=1e-5)


@every_form
def test_another_solver_gives_the_same_plan(form):
    """With rates, and outputs beyond their limits."""
    model, carried, plan, disturbance, reference = setting(form)
    tight = Limits(inputs=(-0.6, 0.8), rates=0.5, outputs=(-0.02, 0.02), price=0.05)
    problem, previous = model.to_qp(7, WEIGHTS, tight), np.array([0.2, -0.1])
    programme = problem.programme(carried, reference, previous, 0.1 * plan, disturbance)
    found = Solver(problem.pattern, problem.cost.moves, problem.same_at_every_step, tolerance=1e-9).solve(programme)
    judge = casadi.conic(
        "judge", "qpoases", {"h": casadi.DM(programme.P).sparsity(), "a": casadi.DM(programme.A).sparsity()}, QUIET
    )
    judged = judge(h=programme.P, g=programme.q, a=programme.A, lba=programme.l, uba=programme.u)
    expected = np.array(judged["x"]).ravel()
    assert (expected[14:] > 1e-3).any()  # an output is beyond its limits
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_solver_takes_programmes_one_after_the_other():
    """Matrices are exchanged inside OSQP; the answers are those of a new solver."""
    model, carried, plan, disturbance, reference = setting("bilinear")
    tight = Limits(inputs=(-0.6, 0.8), rates=0.05, outputs=(-0.02, 0.02), price=0.05)
    problem = model.to_qp(7, WEIGHTS, tight)
    kept = Solver(problem.pattern, problem.cost.moves, fixed=False, tolerance=1e-8)
    for scale in (0.0, 1.0, -1.0):
        programme = problem.programme(carried, reference, np.zeros(2), scale * plan, disturbance)
        fresh = Solver(problem.pattern, problem.cost.moves, fixed=False, tolerance=1e-8)
        assert within_input_limits(programme, problem.cost.moves, np.zeros(14)) is None
        np.testing.assert_allclose(kept.solve(programme), fresh.solve(programme), atol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_active_sets_end_where_no_input_can_do_better(seed):
    """Conditions of a minimum: no slope where an input is free, and a slope towards the limit where it is at one."""
    rng = np.random.default_rng(seed)
    root, q, pinned = rng.normal(size=(12, 9)), 4 * rng.normal(size=9), np.arange(9) == seed
    low, high = np.where(pinned, 0.1, -0.4), np.where(pinned, 0.1, 0.3)
    programme = QuadraticProgramme(root.T @ root, q, np.eye(9), low, high)
    x = within_input_limits(programme, 9, rng.normal(size=9))
    slope = programme.P @ x + q
    free, at_low, at_high = (x > low) & (x < high), (x == low) & ~pinned, (x == high) & ~pinned
    assert free.any()
    assert (at_low | at_high).any()
    np.testing.assert_allclose(slope[free], 0.0, atol=1e-12)
    assert (slope[at_low] > 0).all()
    assert (slope[at_high] < 0).all()
    beyond = QuadraticProgramme(np.eye(10), np.append(q, 1.0), np.eye(1, 10), np.array([5.0]), np.array([6.0]))
    rows = np.vstack([np.eye(9, 10), beyond.A])
    limited = replace(beyond, A=rows, l=np.append(low, 5.0), u=np.append(high, 6.0))
    assert within_input_limits(limited, 9, np.zeros(9)) is None  # a limit of an output is in the way: for OSQP


def test_in_the_linear_form_only_vectors_change():
    model, carried, _, _, reference = setting("linear")
    problem = model.to_qp(7, WEIGHTS, LIMITS)
    first = problem.programme(carried, reference, np.zeros(2))
    second = problem.programme(2 * carried, reference, np.ones(2))
    assert first.P is second.P
    assert first.A is second.A
    assert not np.array_equal(first.q, second.q)


def test_a_reference_holds_on_beyond_its_end():
    problem = plant_model("linear").to_qp(4)
    expected = [[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]]
    np.testing.assert_array_equal(problem.references([[1.0, 2.0], [3.0, 4.0]]), expected)
    np.testing.assert_array_equal(problem.references([1.0, 2.0]), np.tile([1.0, 2.0], (4, 1)))
    for wrong in ([1.0, 2.0, 3.0], np.zeros((2, 3)), [np.nan, 0.0], np.zeros((0, 2))):
        with pytest.raises(KoopsieveError, match=r"reference must be finite.*\(level, next\).*Expected \(2,\)"):
            problem.references(wrong)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"weights": Weights(outputs=[1.0, 2.0, 3.0])}, "weights of outputs must be one number.*Expected 2"),
        ({"weights": Weights(rates=-1.0)}, "weights of rates must be 0 or more"),
        ({"weights": Weights(inputs=np.inf)}, "weights of inputs must be 0 or more"),
        ({"limits": Limits(inputs=(1.0, -1.0))}, "least of inputs must be below the largest"),
        ({"limits": Limits(outputs=3.0)}, "limits of outputs must be a pair"),
        ({"limits": Limits(rates=0.0)}, "largest changes of the inputs, must be positive"),
        ({"limits": Limits(price=[1.0, -1.0])}, "exceeding a limit, must be positive"),
        ({"weights": [1.0, 2.0]}, r"weights must be a Weights, for example .* Got list: \[1\.0, 2\.0\]"),
        ({"limits": (-1.0, 1.0)}, r"limits must be a Limits, for example .* Got tuple: \(-1\.0, 1\.0\)"),
        ({"limits": Limits(inputs=(np.nan, 1.0))}, "limits of inputs must be one number.*got nan"),
        ({"horizon": 0}, "horizon, the number of steps, must be a whole number, 1 or more"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(KoopsieveError, match=message):
        plant_model("linear").to_qp(**{"horizon": 5, **settings})


@every_form
@pytest.mark.parametrize(
    "change, message",
    [
        ({"carried": np.zeros(7)}, r"carried has the wrong shape\. Expected \(\d,\), got \(7,\)"),
        ({"carried": None}, "carried must be finite"),
        ({"reference": [1.0]}, "reference must be finite"),
        ({"previous": [0.0, 1.0]}, "previous must be finite, one value per signal"),
        ({"previous": [np.nan]}, "previous must be finite, one value per signal"),
        ({"plan": np.zeros((4, 1))}, r"plan has the wrong shape\. Expected \(5, 1\), got \(4, 1\)"),
        ({"plan": np.full((5, 1), np.nan)}, "plan must be finite"),
        ({"disturbance": np.zeros(9)}, r"disturbance has the wrong shape\. Expected \(\d,\), got \(9,\)"),
    ],
)
def test_a_programme_of_wrong_shapes_is_refused(form, change, message):
    model = plant_model(form)
    carried = model.start(np.array([[0.1, 0.2]]))[0]
    given = {"carried": carried, "reference": [0.0, 1.0], "previous": [0.0]}
    assert model.to_qp(5).programme(**given).q.shape == (5,)
    if change.get("carried", 0) is None:
        change = {"carried": np.full_like(carried, np.nan)}
    with pytest.raises(KoopsieveError, match=message):
        model.to_qp(5).programme(**(given | change))


def test_a_model_without_inputs_is_refused():
    with pytest.raises(KoopsieveError, match="no inputs, so there is nothing to control"):
        pendulum_model("linear", inputs=0).to_qp(5)


@pytest.mark.parametrize("inputs", [0, 2])
def test_prediction_matrices_give_the_linear_prediction(inputs):
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(5, 2)), rng.normal(size=(4, inputs)))
    phi = (States() + Monomials()).fit(data)
    model = LinearModel(
        A=0.3 * rng.normal(size=(5, 5)),
        B=rng.normal(size=(5, inputs)),
        C=np.eye(5)[:2],
        dictionary=phi,
    )
    x, u = rng.normal(size=2), rng.normal(size=(7, inputs))
    F, G = model.prediction_matrices(7)
    assert F.shape == (14, 5)
    assert G.shape == (14, 7 * inputs)
    np.testing.assert_allclose((F @ phi(x) + G @ u.ravel()).reshape(7, 2), model.predict(x, u, 7), rtol=1e-10)


def test_weights_may_be_matrices():
    model, carried, plan, disturbance, reference = setting("reprojected")
    Q, S = np.array([[2.0, 0.7], [0.7, 0.5]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
    problem, previous = model.to_qp(7, Weights(Q, S, np.diag([0.01, 0.02]))), np.array([0.2, -0.1])
    expected = 0.0
    for y, r, u, before in zip(
        outputs_along(model, carried, plan, disturbance), reference, plan, [previous, *plan[:-1]], strict=True
    ):
        expected += 0.5 * ((y - r) @ Q @ (y - r) + (u - before) @ S @ (u - before) + u @ np.diag([0.01, 0.02]) @ u)
    outputs = outputs_along(model, carried, plan, disturbance)
    found, _ = problem.cost.value(outputs[None], plan[None], reference, previous)
    assert found[0] == pytest.approx(expected, rel=1e-12)
    programme = problem.programme(carried, reference, previous, plan, disturbance)
    step = 1e-6 * np.random.default_rng(0).normal(size=plan.shape)
    values = []
    for moved in (plan + step, plan - step):
        ahead = outputs_along(model, carried, moved, disturbance)
        values.append(problem.cost.value(ahead[None], moved[None], reference, previous)[0][0])
    slope = programme.P @ plan.ravel() + programme.q
    assert (values[0] - values[1]) / 2 == pytest.approx(slope @ step.ravel(), rel=1e-5)
    for wrong in ([[1.0, 0.5], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        with pytest.raises(KoopsieveError, match="must be symmetric and without negative eigenvalues"):
            model.to_qp(7, Weights(wrong))


def test_limits_may_change_along_the_horizon():
    model, carried, _, disturbance, reference = setting("linear")
    low, high = np.array([[-0.5, -0.5], [-0.2, -0.2]]), np.array([[0.5, 0.5], [0.1, 0.1]])
    outputs = (-np.inf, np.linspace(0.4, 0.1, 7)[:, None] * [1.0, 2.0])
    problem = model.to_qp(7, WEIGHTS, Limits((low, high), outputs=outputs))
    programme = problem.programme(carried, reference, np.zeros(2), disturbance=disturbance)
    np.testing.assert_array_equal(programme.u[:6], [0.5, 0.5, 0.1, 0.1, 0.1, 0.1])
    np.testing.assert_array_equal(programme.l[:6], [-0.5, -0.5, -0.2, -0.2, -0.2, -0.2])
    free = problem.prediction(carried, disturbance, np.zeros((7, 2))).free
    np.testing.assert_allclose(programme.u[14:28] + free, outputs[1].ravel())
    with pytest.raises(KoopsieveError, match=r"must have a row per step\. Expected \(rows, 2\), got \(3, 1\)"):
        model.to_qp(7, limits=Limits((-np.ones((3, 1)), 1.0)))
