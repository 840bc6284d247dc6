"""Plans: they never cost more than the last one carried on, do not cycle, and say what they know."""

from dataclasses import replace

import casadi
import numpy as np
import pytest

from koopsieve.control import ControlLaw, Controller, Limits, PlanStatus, Weights
from koopsieve.control.planner import SETTLED_CHANGE, Planner, Request
from koopsieve.control.prediction_matrices import simulated
from koopsieve.control.state_estimate import FromHistory
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import embedded
from koopsieve.dictionary import States, Terms
from koopsieve.forms import ReprojectedModel
from koopsieve.uncertainty import Calibration
from koopsieve.uncertainty.support import Support
from tests.unit.export.models import FORMS, pendulum_model
from tests.unit.export.plant import PLANT_FORMS, plant_model

DEAD_TIME = 4


def heater(region=(0.0, 200.0)):
    """Return y[k+1] = 0.95 y[k] + 0.1 u[k−4]²."""
    steps = np.arange(20.0)[:, None]
    line = Trajectories.from_arrays(steps, steps[:-1], dt=1.0, state_names=["y"], input_names=["u"])
    phi = (States() + Terms("u[k-4]^2")).fit(embedded(line, Embedding(0, DEAD_TIME)))
    coef = np.zeros((len(phi.regressors), 1))
    coef[phi.regressors.index("y")], coef[phi.regressors.index("u[k-4]^2")] = 0.95, 0.1
    span = np.array([[region[0], *[0.0] * DEAD_TIME, 0.0], [region[1], *[10.0] * DEAD_TIME, 10.0]])
    return ReprojectedModel(coef, phi, span)


def problem_of(model, horizon=40, price=1e-3):
    return model.to_qp(horizon, Weights(1.0, price), Limits((0.0, 10.0)))


def heated(reference, start, acting, steps=60):
    """Inputs and outputs of the heater under control."""
    controller, past = Controller(problem_of(heater()), acting=acting), [acting] * DEAD_TIME
    outputs, inputs = [start], []
    for _ in range(steps):
        past = [controller.step([outputs[-1]], [reference])[0], *past]
        inputs.append(past[0])
        outputs.append(0.95 * outputs[-1] + 0.1 * past[DEAD_TIME] ** 2)
    return np.array(inputs), np.array(outputs)


@pytest.mark.parametrize("reference", [20.0, 50.0, 150.0])
@pytest.mark.parametrize("acting", [0.0, 5.0, 10.0])
def test_planning_again_from_the_same_place_does_not_cycle(reference, acting):
    """Full Gauss–Newton steps alternate between two plans here for ever."""
    problem = problem_of(heater())
    line = np.array([100.0, *[acting] * DEAD_TIME])
    request = Request(
        FromHistory(problem.model).start(line), np.full((40, 1), reference), np.array([acting]), problem.cost
    )
    planner, plan, path, costs = Planner(problem, 3, 1e-7, None), np.full((40, 1), acting), None, []
    for _ in range(12):
        found = planner.plan(request, plan, path)
        plan, path = found.acting, found.path
        costs.append(found.cost)
    assert (np.diff(costs) <= 1e-6 * np.array(costs[1:])).all()
    assert found.status is PlanStatus.SETTLED
    assert costs[-1] <= 1.01 * best_by_ipopt(request, problem)


def best_by_ipopt(request, problem, starts=(0.1, 3.0, 8.0)):
    """The least cost that IPOPT finds from several starts."""
    functions, opti = problem.model.to_casadi(), casadi.Opti()
    u, z, cost, before = opti.variable(problem.horizon), casadi.DM(request.now.carried), 0.0, request.previous[0]
    for h in range(problem.horizon):
        z = functions.step(z, u[h])
        cost += 0.5 * (functions.read(z) - request.reference[h, 0]) ** 2 + 0.5e-3 * (u[h] - before) ** 2
        before = u[h]
    opti.minimize(cost)
    opti.subject_to(opti.bounded(0.0, u, 10.0))
    opti.solver("ipopt", {"print_time": 0}, {"print_level": 0, "sb": "yes"})
    found = []
    for start in starts:
        opti.set_initial(u, start)
        found.append(opti.solve().value(cost))
    return min(found)


@pytest.mark.parametrize("acting", [0.0, 5.0])
def test_with_the_reference_below_the_measurement_it_does_not_heat(acting):
    inputs, outputs = heated(50.0, 100.0, acting)
    assert inputs[: np.flatnonzero(outputs < 70)[0] - DEAD_TIME].max() < 0.5
    np.testing.assert_allclose(outputs[-10:], 50.0, atol=0.05)
    inputs, outputs = heated(60.0, 0.0, 0.0)  # at u = 0 the square has no slope: a programme sees no use in heating
    assert inputs[0] > 5.0
    np.testing.assert_allclose(outputs[-10:], 60.0, atol=0.05)


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_never_costs_more_than_the_last_one_carried_on(form):
    model, rng = pendulum_model(form, Embedding(1, 1)), np.random.default_rng(0)
    problem = model.to_qp(6, Weights([2.0, 0.5], 0.05), Limits((-1.0, 1.0), rates=0.7, outputs=(-0.5, 0.5), price=2.0))
    law = ControlLaw(problem, FromHistory(model), iterations=2)
    state = law.step(law.start(), rng.normal(size=2), [0.3, 0.0])
    for _ in range(15):
        wanted, before = rng.normal(size=(6, 2)), state
        state = law.step(state, 2 * rng.normal(size=2), wanted)
        held = problem.cost.within(before.plan.acting[[*range(1, 6), -1]][None], before.acting)
        path = simulated(model, state.situation.carried, state.situation.disturbance, held)[0]
        cost, _ = problem.cost.value(model.read(path[1:])[None], held, wanted, before.acting)
        assert state.plan.cost <= cost[0] * (1 + SETTLED_CHANGE)
        kept = problem.cost.within(state.plan.acting[None], before.acting)[0]
        np.testing.assert_allclose(state.plan.acting, kept, atol=1e-12)


@pytest.mark.parametrize("form", PLANT_FORMS)
def test_a_plan_says_what_it_predicts_and_costs(form):
    model = plant_model(form)
    controller = Controller(model.to_qp(10, Weights([0.0, 1.0], 1e-3), Limits((-2.0, 2.0))))
    for y in ([0.1, 0.4], [0.3, 0.5], [0.2, 0.6]):
        before = controller.state.acting
        u = controller.step(y, [0.0, 0.8])
        plan, now = controller.plan, controller.state.situation
        np.testing.assert_array_equal(u, plan.inputs[0])
        path = simulated(model, now.carried, now.disturbance, plan.inputs[None])[0]
        np.testing.assert_allclose(plan.outputs, model.read(path[1:]), atol=2e-3)
        changes = np.diff(np.vstack([before, plan.inputs]), axis=0)
        expected = 0.5 * ((plan.outputs[:, 1] - 0.8) ** 2).sum() + 0.5e-3 * (changes**2).sum()
        assert plan.cost == pytest.approx(expected, rel=1e-9)
        assert plan.status is PlanStatus.SETTLED
        assert plan.iterations >= 1
        assert plan.outside is None  # the model does not know its data


def test_a_plan_says_when_it_leaves_the_data():
    model = heater()
    region = np.array([[0.0, *[0.0] * DEAD_TIME, 0.0], [200.0, *[10.0] * DEAD_TIME, 6.0]])
    support = Support(("y",), np.array([[1e-9]]), 1.0, region, np.array([[-10.0], [210.0]]))
    controller = Controller(problem_of(replace(model, calibration=Calibration(support=support))), acting=5.0)
    controller.step([100.0], [50.0])
    assert not controller.plan.outside.any()
    controller.step([100.0], [190.0])
    assert controller.plan.inputs.max() > 7.0
    assert controller.plan.outside.any()


def test_the_search_ends_with_its_iterations_or_its_time():
    one = Controller(problem_of(heater()), acting=5.0, iterations=1)
    one.step([100.0], [100.0])
    one.step([160.0], [50.0])
    assert one.plan.status is PlanStatus.ITERATIONS
    assert one.plan.iterations == 1
    hurried = Controller(problem_of(heater()), acting=5.0, time_limit=0.0)
    hurried.step([100.0], [50.0])
    assert hurried.plan.status is PlanStatus.TIME
    assert np.isfinite(hurried.plan.cost)


def test_a_plan_that_reached_the_bounds_of_the_model_finds_its_way_back():
    """All plans that heat strongly end at the bound, where the model's own slope is zero."""
    model = heater(region=(0.0, 40.0))  # held at 80
    point = np.array([[100.0, 0, 0, 0, 9.0]]), np.array([[9.0]])
    assert model.unheld_jacobians(*point).A[0, 0, 0] == pytest.approx(0.95)
    assert model.jacobians(*point).A[0, 0, 0] == 0.0
    controller, past, y = Controller(problem_of(model), acting=10.0), [10.0] * DEAD_TIME, 79.0
    for _ in range(60):
        past = [controller.step([y], [30.0])[0], *past]
        y = min(0.95 * y + 0.1 * past[DEAD_TIME] ** 2, 80.0)
    assert y == pytest.approx(30.0, abs=0.05)
