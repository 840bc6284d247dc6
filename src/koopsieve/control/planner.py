"""The search for a plan: Gauss–Newton steps on the cost that the model itself predicts, each checked before use.

Comes in: where the plant is, the reference, and the plan of the last step. Goes out: a plan that costs no more than the
last one carried on. In the linear form the programme is exact. In the others it is linearised along a plan; its answer
is taken where the model agrees with it, and otherwise steps of several lengths towards it are simulated (D87).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.control.control_problem import ControlProblem, Plan, PlanStatus
from koopsieve.control.prediction_matrices import AffinePrediction, PathPrediction, simulated
from koopsieve.control.programme import Cost
from koopsieve.control.solver import Solver
from koopsieve.control.state_estimate import Situation

STEP_LENGTHS = np.array([1.0, 0.5, 0.25, 0.1, 0.03])  # of the way from a plan to the programme's answer
PROBE_DISTANCES = np.array([-0.3, -0.1, -0.02, 0.02, 0.1, 0.3])  # of constant plans, in ranges of the input
MAX_DISAGREEMENT = 0.1  # between a programme's cost and the model's, as a share, up to which it is not simulated
SETTLED_CHANGE = 3e-3  # a share of the cost; less is no progress
CLEAR_PROGRESS = 2.0  # times the disagreement: a cost that falls by more has fallen, and needs no simulation yet
MIN_FIRST_ITERATIONS = 10  # at the first step, which has no plan to start from
ROUNDING = 1e-12  # of the cost of all outputs at zero: less is rounding


@dataclass(frozen=True, eq=False)
class Request:
    """What a plan is made for."""

    now: Situation  # where the plant is
    reference: FloatArray  # (H, n)
    previous: FloatArray  # (l,): the input before
    cost: Cost  # with the limits and measured inputs of this step

    def value(self, outputs: FloatArray, plans: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the costs of plans (k, H, l) with outputs (k, H, n); see `Cost.value`."""
        return self.cost.value(outputs, plans, self.reference, self.previous)

    @property
    def scale(self) -> float:
        """Cost of all outputs at zero: what differences of costs are compared with where the cost itself is tiny."""
        return 0.5 * float(np.einsum("ha,ab,hb->", self.reference, self.cost.Q, self.reference))


@dataclass(frozen=True, eq=False)
class EvaluatedPlan:
    """A plan and what becomes of it."""

    inputs: FloatArray  # (H, l)
    path: FloatArray | None  # (H + 1, size): what the model carries; none in the linear form
    outputs: FloatArray  # (H, n)
    cost: float
    cost_of_steps: FloatArray  # (H,)
    checked: bool = True  # whether the model itself was asked for the cost, and not only slopes around another path

    @property
    def stalled(self) -> bool:
        """Tell whether outputs come no nearer to the reference: a plan may be stuck where an input has no slope."""
        half = len(self.cost_of_steps) // 2
        return half > 0 and float(self.cost_of_steps[-half:].sum()) >= 0.9 * float(self.cost_of_steps[:half].sum()) > 0


@dataclass(frozen=True, eq=False)
class Planner:
    """The search and its settings; see `ControlLaw`."""

    problem: ControlProblem
    iterations: int
    tolerance: float
    time_limit: float | None

    def plan(self, request: Request, start: FloatArray, path: FloatArray | None) -> Plan:
        """Return a plan that costs no more than `start`, held within the limits.

        `start` (H, l) is the last plan, carried on, and `path` (H + 1, size) what the model was expected to carry under
        it; none at the first step.
        """
        deadline = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        first = request.cost.within(start[None], request.previous)[0]
        with np.errstate(over="ignore", invalid="ignore"):  # a plan that diverges costs infinity
            if self.problem.model.step_is_linear:
                found, count, status = self._exact(request, first, deadline)
            else:
                found, count, status = self._searched(request, first, path, deadline)
        if not np.isfinite(found.cost):
            raise KoopsieveError(
                "The model's predictions over the horizon are not finite. Use a shorter horizon or a stable model."
            )
        inputs = found.inputs[:, self.problem.moved]
        known = found.outputs, found.cost, count, status, found.inputs, found.path
        return Plan(inputs, *known, self.problem, request.now)

    def _exact(self, request: Request, start: FloatArray, deadline: float) -> tuple[EvaluatedPlan, int, PlanStatus]:
        """Solve the programme once, which in the linear form is exact."""
        prediction = self.problem.prediction(request.now.carried, request.now.disturbance, start)
        target = self._solved(request, prediction, start, deadline)
        plans = np.stack([start] if target is None else [start, target])
        outputs = np.stack([prediction.outputs(plan) for plan in plans])
        return _best(request, plans, outputs, None), 1, PlanStatus.SOLVER if target is None else PlanStatus.SETTLED

    def _searched(
        self, request: Request, start: FloatArray, path: FloatArray | None, deadline: float
    ) -> tuple[EvaluatedPlan, int, PlanStatus]:
        """Take steps that lower the cost until it settles."""
        probed = path is None or not np.isfinite(path).all()
        unknown = EvaluatedPlan(start, path, start, np.inf, start, checked=False)
        current = self._begun(request, start) if probed else unknown
        agreement = SETTLED_CHANGE if path is None else MAX_DISAGREEMENT
        allowed = max(self.iterations, MIN_FIRST_ITERATIONS) if path is None else self.iterations
        count, status = 0, PlanStatus.ITERATIONS
        while count < allowed and status is PlanStatus.ITERATIONS:
            if time.perf_counter() >= deadline and (count or probed):
                status = PlanStatus.TIME
                break
            count += 1
            now = request.now
            prediction = self.problem.prediction(now.carried, now.disturbance, current.inputs, current.path)
            target = self._solved(request, prediction, current.inputs, deadline)
            if target is None and not current.checked:
                current, probed = self._begun(request, start), True
            elif target is None or not isinstance(prediction, PathPrediction):
                status = PlanStatus.SOLVER
            else:
                current, settled = self._moved(request, prediction, current, target, agreement)
                if settled and not probed and self._may_be_stuck(current):
                    probed, other = True, self._simulated(request, self._probes(request, current.inputs))
                    settled = other.cost >= (1 - SETTLED_CHANGE) * current.cost
                    current = current if settled else other
                status = PlanStatus.SETTLED if settled else status
        if not current.checked:
            current = self._simulated(request, np.stack([start, current.inputs]))
        return current, count, status

    def _moved(
        self, request: Request, prediction: PathPrediction, current: EvaluatedPlan, target: FloatArray, agreement: float
    ) -> tuple[EvaluatedPlan, bool]:
        """Return the plan after one programme, and whether it can stay.

        Nothing is simulated where the programme and the model agree, or where the cost falls by far more than they
        disagree; otherwise steps of several lengths towards the programme's answer are.
        """
        path = prediction.corrected(self.problem.model, target, request.now.disturbance)
        plans = np.stack([target, target, current.inputs])
        outputs = np.stack([self._read(path[None])[0], *(prediction.outputs(plan) for plan in plans[1:])])
        (found, expected, before), each = request.value(outputs, plans)
        before = current.cost if current.checked else before
        gap, rounding = abs(found - expected), ROUNDING * request.scale
        agreed = gap <= agreement * expected + rounding and found + gap <= (1 + SETTLED_CHANGE) * before + rounding
        if agreed or before - found > max(CLEAR_PROGRESS * gap, SETTLED_CHANGE * before):
            return EvaluatedPlan(target, path, outputs[0], float(found), each[0], checked=bool(agreed)), bool(agreed)
        between = current.inputs + STEP_LENGTHS[:, None, None] * (target - current.inputs)
        better = self._simulated(request, between if current.checked else np.vstack([current.inputs[None], between]))
        settled = better.cost >= (1 - SETTLED_CHANGE) * before or abs(better.cost - expected) <= SETTLED_CHANGE * before
        return (current if current.checked and current.cost <= better.cost else better), bool(settled)

    def _begun(self, request: Request, start: FloatArray) -> EvaluatedPlan:
        """Return the best of a first plan and of constant ones, where there is no path to go on from."""
        return self._simulated(request, np.vstack([start[None], self._probes(request, start)]))

    def _may_be_stuck(self, found: EvaluatedPlan) -> bool:
        """Tell whether a plan misses the reference all along, and by more than the noise of the outputs."""
        noise = self.problem.model.noise
        known = None if noise is None else noise.one_step
        usual = 0.0 if known is None else 0.5 * float(np.diag(self.problem.cost.Q) @ known) * len(found.inputs)
        return found.stalled and float(found.cost_of_steps.sum()) > usual

    def _solved(
        self, request: Request, prediction: AffinePrediction, start: FloatArray, deadline: float
    ) -> FloatArray | None:
        """Return the plan that solves the programme of a prediction, held within the limits; None if there is none."""
        programme = self.problem.assembled(prediction, request.reference, request.previous, request.cost)
        warm = np.zeros(len(programme.q))
        warm[: start.size] = start.ravel()
        solver, left = self._solver, None if np.isinf(deadline) else deadline - time.perf_counter()
        try:
            found = solver.solve(programme, warm, left)
        except KoopsieveError:
            return None
        kept: FloatArray = request.cost.within(found[: start.size].reshape(1, *start.shape), request.previous)[0]
        return kept

    def _simulated(self, request: Request, plans: FloatArray) -> EvaluatedPlan:
        """Simulate plans together, and return the one that costs least."""
        paths = simulated(self.problem.model, request.now.carried, request.now.disturbance, plans)
        return _best(request, plans, self._read(paths), paths)

    def _read(self, paths: FloatArray) -> FloatArray:
        """Return the outputs (k, H, n) along paths (k, H + 1, size)."""
        count, steps, size = paths.shape
        return self.problem.model.read(paths[:, 1:].reshape(-1, size)).reshape(count, steps - 1, -1)

    def _probes(self, request: Request, around: FloatArray) -> FloatArray:
        """Return plans in which one input stays at some constant value: at its limits, and around where it is.

        A programme sees no way out where an input has no slope, such as the square of an input that is zero.
        """
        plans = []
        for j in self.problem.moved:
            low, high = self._range(request.cost, int(j))
            middle = np.clip(request.previous[j], low, high)
            for level in (low, high, *np.clip(middle + PROBE_DISTANCES * (high - low), low, high)):
                plans.append(around.copy())
                plans[-1][:, j] = level
        return request.cost.within(np.stack(plans), request.previous)

    def _range(self, cost: Cost, j: int) -> tuple[float, float]:
        """Return least and largest values of an input: its limits, or where the model is of use."""
        known = self.problem.model.working_range()[:, len(self.problem.model.signals.state_names) + j]
        low, high = cost.low[0, j], cost.high[0, j]
        return float(low if np.isfinite(low) else known[0]), float(high if np.isfinite(high) else known[1])

    @cached_property
    def _solver(self) -> Solver:
        problem = self.problem
        return Solver(problem.pattern, problem.cost.moves, problem.model.step_is_linear, self.tolerance)


def _best(request: Request, plans: FloatArray, outputs: FloatArray, paths: FloatArray | None) -> EvaluatedPlan:
    costs, each = request.value(outputs, plans)
    best = int(np.argmin(costs))
    path = None if paths is None else paths[best]
    return EvaluatedPlan(plans[best], path, outputs[best], float(costs[best]), each[best])
