"""Quadratic programmes against sums written out, derivatives by differences, and another solver."""

import casadi
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from koopsieve import LinearModel, Monomials, States, Trajectories
from koopsieve._types import KoopsieveError
from koopsieve.control import Limits, Weights
from koopsieve.control.prediction_matrices import linearised_prediction, simulated
from koopsieve.control.programme import QuadraticProgramme
from koopsieve.control.solver import Solver, within_input_limits
from koopsieve.data import Embedding
from tests.unit.export.models import FORMS, pendulum_model
from tests.unit.export.plant import plant_model

every_form = pytest.mark.parametrize("form", FORMS)
Q, S, R = np.array([[2.0, 0.7], [0.7, 0.5]]), np.array([[0.3, -0.1], [-0.1, 0.2]]), np.diag([0.01, 0.02])
WEIGHTS = Weights(Q, S, R)
LIMITS = Limits(inputs=(-0.6, 0.8), rates=0.5, outputs=([-np.inf, -0.2], [0.4, 0.5]), price=3.0)
TIGHT = Limits(inputs=(-0.6, 0.8), rates=0.5, outputs=(-0.02, 0.02), price=0.05)
PREVIOUS = np.array([0.2, -0.1])


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


def solver_of(problem, tolerance=1e-9):
    return Solver(problem.pattern, problem.cost.moves, problem.model.step_is_linear, tolerance)


@every_form
def test_a_prediction_and_its_slope_are_those_of_the_simulation(form):
    model, carried, plan, disturbance, _ = setting(form)
    found = model.to_qp(7).prediction(carried, disturbance, plan)
    expected = outputs_along(model, carried, plan, disturbance)
    np.testing.assert_allclose(found.free + found.G @ plan.ravel(), expected.ravel(), rtol=1e-9, atol=1e-11)
    for column, step in enumerate(1e-5 * np.eye(plan.size).reshape(-1, *plan.shape)):
        ends = [outputs_along(model, carried, plan + way * step, disturbance).ravel() for way in (1, -1)]
        np.testing.assert_allclose(found.G[:, column], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-7)


def test_a_path_that_the_model_does_not_take_is_corrected():
    """The bilinear form is affine in the inputs along any path of its first step, so one step is exact."""
    model, carried, plan, disturbance, _ = setting("bilinear")
    path = simulated(model, carried, disturbance, plan[None])[0]
    found = linearised_prediction(model, carried, disturbance, plan, path + 0.1)
    first = outputs_along(model, carried, plan[:1], disturbance)
    np.testing.assert_allclose((found.free + found.G @ plan.ravel())[:2], first[0], rtol=1e-10)
    np.testing.assert_array_equal(found.path(plan)[0], carried)
    exact = linearised_prediction(model, carried, disturbance, plan, path)
    for along in (exact.path(plan), exact.corrected(model, plan, disturbance)):
        np.testing.assert_allclose(along, path, rtol=1e-9, atol=1e-11)
    other = 0.8 * plan  # along which the slopes of the first plan are not exact
    true = simulated(model, carried, disturbance, other[None])[0]
    missed = [np.abs(one - true).max() for one in (found.path(other), found.corrected(model, other, disturbance))]
    assert missed[1] < 0.3 * missed[0]  # a Newton step towards the model


@every_form
def test_the_programme_and_the_cost_are_the_sum_term_by_term(form):
    """In the linear form they differ by a constant; in the others the slopes are the same along the plan."""
    model, carried, plan, disturbance, reference = setting(form)
    problem, rng = model.to_qp(7, WEIGHTS, LIMITS), np.random.default_rng(3)
    programme = problem.programme(carried, reference, PREVIOUS, plan, disturbance)

    def differences(plan, excess):
        """Return the programme and the cost, less the sum written out; excess counts in the first, limits do below."""
        outputs, total = outputs_along(model, carried, plan, disturbance), 0.0
        for y, r, u, before in zip(outputs, reference, plan, [PREVIOUS, *plan[:-1]], strict=True):
            total += 0.5 * ((y - r) @ Q @ (y - r) + (u - before) @ S @ (u - before) + u @ R @ u)
        over = np.maximum(np.maximum([-np.inf, -0.2] - outputs, outputs - [0.4, 0.5]), 0.0)
        found = problem.cost.value(outputs[None], plan[None], reference, PREVIOUS)[0][0]
        assert found == pytest.approx(total + 3.0 * (over + 0.5 * over**2).sum(), rel=1e-12)
        x = np.concatenate([plan.ravel(), excess.ravel()])
        return 0.5 * x @ programme.P @ x + programme.q @ x - total - 3.0 * (excess + 0.5 * excess**2).sum()

    if form == "linear":
        found = [differences(rng.normal(size=(7, 2)), rng.uniform(size=(7, 2))) for _ in range(4)]
        np.testing.assert_allclose(found, found[0], rtol=1e-9, atol=1e-9)
    else:
        step, none = 1e-6 * rng.normal(size=plan.shape), np.zeros((7, 2))
        assert differences(plan + step, none) == pytest.approx(differences(plan - step, none), abs=1e-9)


@every_form
def test_constraints_say_what_the_limits_say(form):
    model, carried, _, disturbance, reference = setting(form)
    problem, rng = model.to_qp(7, WEIGHTS, LIMITS), np.random.default_rng(4)
    for size in (0.05, 0.3, 1.0):
        plan, excess = PREVIOUS + size * rng.normal(size=(7, 2)), rng.uniform(0, 2, size=(7, 2))
        programme = problem.programme(carried, reference, PREVIOUS, plan, disturbance)
        outputs = outputs_along(model, carried, plan, disturbance)
        x = np.concatenate([plan.ravel(), excess.ravel()])
        met = (programme.A @ x >= programme.l - 1e-12) & (programme.A @ x <= programme.u + 1e-12)
        expected = [
            (plan >= -0.6) & (plan <= 0.8),
            np.abs(np.diff(np.vstack([PREVIOUS, plan]), axis=0)) <= 0.5,
            outputs <= np.array([0.4, 0.5]) + excess,
            outputs >= np.array([-np.inf, -0.2]) - excess,
            np.ones((7, 2), dtype=bool),
        ]
        np.testing.assert_array_equal(met, np.concatenate(expected).ravel())


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
    other = problem.programme(2 * carried, reference, np.ones(2))
    assert programme.P is other.P  # in the linear form only vectors change
    assert programme.A is other.A
    assert not np.array_equal(programme.q, other.q)


def test_bounded_least_squares_gives_the_same_plan():
    model, carried, _, disturbance, reference = setting("linear")
    problem = model.to_qp(7, Weights(outputs=1.0, rates=0.0, inputs=0.2), Limits(inputs=(-0.3, 0.3)))
    found = solver_of(problem).solve(problem.programme(carried, reference, np.zeros(2), disturbance=disturbance))
    prediction = problem.prediction(carried, disturbance, np.zeros((7, 2)))
    rows = np.vstack([prediction.G, np.sqrt(0.2) * np.eye(14)])
    wanted = np.concatenate([reference.ravel() - prediction.free, np.zeros(14)])
    expected = lsq_linear(rows, wanted, bounds=(-0.3, 0.3), tol=1e-12).x
    assert (np.abs(expected) > 0.299).any()
    np.testing.assert_allclose(found, expected, atol=1e-5)


@every_form
def test_another_solver_gives_the_same_plans_one_after_the_other(form):
    """With rates, and outputs beyond their limits; matrices are exchanged inside OSQP."""
    model, carried, plan, disturbance, reference = setting(form)
    problem = model.to_qp(7, Weights([2.0, 0.5], 0.1, 0.01), TIGHT)
    kept = solver_of(problem)
    for scale in (0.1, 0.0, -0.1):
        programme = problem.programme(carried, reference, PREVIOUS, scale * plan, disturbance)
        sparsity = {"h": casadi.DM(programme.P).sparsity(), "a": casadi.DM(programme.A).sparsity()}
        judge = casadi.conic("judge", "qpoases", sparsity, {"printLevel": "none"})
        judged = judge(h=programme.P, g=programme.q, a=programme.A, lba=programme.l, uba=programme.u)
        expected = np.array(judged["x"]).ravel()
        assert (expected[14:] > 1e-3).any()  # an output is beyond its limits
        assert within_input_limits(programme, 14, np.zeros(14)) is None  # so that OSQP is asked
        np.testing.assert_allclose(kept.solve(programme), expected, atol=1e-5)


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
    limited = QuadraticProgramme(
        np.eye(10), np.append(q, 1.0), np.eye(10)[[*range(9), 0]], np.append(low, 5.0), np.append(high, 6.0)
    )
    assert within_input_limits(limited, 9, np.zeros(9)) is None  # a limit of an output is in the way: for OSQP


def test_a_reference_holds_on_beyond_its_end():
    problem = plant_model("linear").to_qp(4)
    expected = [[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]]
    np.testing.assert_array_equal(problem.references([[1.0, 2.0], [3.0, 4.0]]), expected)
    np.testing.assert_array_equal(problem.references([1.0, 2.0]), np.tile([1.0, 2.0], (4, 1)))
    for wrong, got in (
        ([1.0, 2.0, 3.0], r"\(3,\)"),
        (np.zeros((2, 3)), r"\(2, 3\)"),
        (np.zeros((0, 2)), r"\(0, 2\)"),
        ([[1.0, 0.0], [np.nan, 0.0]], r"\[nan, 0\.0\] among the rows"),
    ):
        with pytest.raises(KoopsieveError, match=rf"reference must be finite.*\(level, next\).*\(2,\).*got {got}\."):
            problem.references(wrong)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"weights": Weights(outputs=[1.0, 2.0, 3.0])}, "weights of outputs must be one number.*Expected 2"),
        ({"weights": Weights(rates=-1.0)}, "weights of rates must be 0 or more"),
        ({"weights": Weights(inputs=np.inf)}, "weights of inputs must be 0 or more"),
        ({"weights": Weights([[1.0, 0.5], [0.0, 1.0]])}, "must be symmetric and without negative eigenvalues"),
        ({"weights": Weights([[1.0, 2.0], [2.0, 1.0]])}, "must be symmetric and without negative eigenvalues"),
        ({"limits": Limits(inputs=(1.0, -1.0))}, r"largest\. Got 1\.0 and -1\.0 \(signal 1 of 1, step 1\)\."),
        ({"limits": Limits(inputs=(-np.ones((3, 2)), 1.0))}, r"a row per step\. Expected \(rows, 1\), got \(3, 2\)"),
        ({"limits": Limits(outputs=3.0)}, "limits of outputs must be a pair"),
        ({"limits": Limits(rates=0.0)}, "largest changes of the inputs, must be positive"),
        ({"limits": Limits(price=[1.0, -1.0])}, "exceeding a limit, must be positive"),
        ({"weights": [1.0, 2.0]}, "Expected weights= as Weights, got list"),
        ({"limits": (-1.0, 1.0)}, "Expected limits= as Limits, got tuple"),
        ({"limits": Limits(inputs=(np.nan, 1.0))}, "limits of inputs must be one number.*got nan"),
        ({"horizon": 0}, "horizon, the number of steps, must be a whole number, 1 or more"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(KoopsieveError, match=message):
        plant_model("linear").to_qp(**{"horizon": 5, **settings})


@pytest.mark.parametrize(
    "change, message",
    [
        ({"carried": np.zeros(7)}, r"carried has the wrong shape\. Expected \(3,\), got \(7,\)"),
        ({"carried": np.full(3, np.nan)}, "carried must be finite"),
        ({"reference": [1.0]}, "reference must be finite"),
        ({"previous": [0.0, 1.0]}, "previous must be finite, one value per signal"),
        ({"previous": [np.nan]}, "previous must be finite, one value per signal"),
        ({"plan": np.zeros((4, 1))}, r"plan has the wrong shape\. Expected \(5, 1\), got \(4, 1\)"),
        ({"plan": np.full((5, 1), np.nan)}, "plan must be finite"),
        ({"disturbance": np.zeros(9)}, r"disturbance has the wrong shape\. Expected \(3,\), got \(9,\)"),
    ],
)
def test_a_programme_of_wrong_shapes_is_refused(change, message):
    given = {"carried": np.array([0.1, 0.2, 1.0]), "reference": [0.0, 1.0], "previous": [0.0]}
    problem = plant_model("bilinear").to_qp(5)
    assert problem.programme(**given).q.shape == (5,)
    with pytest.raises(KoopsieveError, match=message):
        problem.programme(**(given | change))


def test_a_model_without_inputs_is_refused():
    with pytest.raises(KoopsieveError, match="no inputs, so there is nothing to control"):
        pendulum_model("linear", inputs=0).to_qp(5)


@pytest.mark.parametrize("inputs", [0, 2])
def test_prediction_matrices_give_the_linear_prediction(inputs):
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(5, 2)), rng.normal(size=(4, inputs)))
    phi = (States() + Monomials()).fit(data)
    model = LinearModel(0.3 * rng.normal(size=(5, 5)), rng.normal(size=(5, inputs)), np.eye(5)[:2], phi)
    x, u = rng.normal(size=2), rng.normal(size=(7, inputs))
    F, G = model.prediction_matrices(7)
    assert (F.shape, G.shape) == ((14, 5), (14, 7 * inputs))
    np.testing.assert_allclose((F @ phi(x) + G @ u.ravel()).reshape(7, 2), model.predict(x, u, 7), rtol=1e-10)
