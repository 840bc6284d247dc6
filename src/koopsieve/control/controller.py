"""Model predictive control in closed loop: a pure law, and a small object that remembers its state for its user."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import (
    NOT_NEGATIVE,
    SHARE,
    FloatArray,
    KoopsieveError,
    real_array,
    real_number,
    require_kind,
    whole_number,
)
from koopsieve.control.control_problem import ControlProblem, Plan
from koopsieve.control.kalman import KalmanFilter
from koopsieve.control.limits import Limits, per_signal, rows_of
from koopsieve.control.planner import Planner, Request
from koopsieve.control.programme import Cost
from koopsieve.control.state_estimate import GAIN, Estimator, Filtered, FromHistory, Innovations, Situation
from koopsieve.forms import Model
from koopsieve.uncertainty.noise import Noise

DRIFT = 0.1  # of the disturbance that a controller's filter estimates


@dataclass(frozen=True, eq=False)
class ControlState:
    """Memory of a control law between steps."""

    acting: FloatArray  # (l,): the inputs of the model that act now, measured ones included
    plan: Plan | None = None  # the inputs planned from now on; none before the first measurement
    situation: Situation | None = None  # where the plant is; none before the first measurement


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """State and measurement in, input and state out.

    Parameters
    ----------
    problem : ControlProblem
        What to minimise, from `Model.to_qp`.
    estimator : Estimator
        How the situation follows from measurements.
    iterations : int
        Largest number of quadratic programmes in a step; it ends as soon as the cost settles. The first step may take
        more. One is enough in the linear form.
    tolerance : float
        Tolerance of the solver.
    time_limit : float, optional
        Seconds after which no new iteration begins, and OSQP stops. What was found by then is returned; results may
        then differ from machine to machine.
    """

    problem: ControlProblem
    estimator: Estimator
    iterations: int = 3
    tolerance: float = 1e-5
    time_limit: float | None = None

    def __post_init__(self) -> None:
        whole_number("iterations", self.iterations, 1)
        real_number("tolerance, that of the solver,", self.tolerance, SHARE)
        if self.time_limit is not None:
            real_number("time_limit, the seconds of a step,", self.time_limit, NOT_NEGATIVE)
        model = self.problem.model  # machine code is loaded, or made, here and not at the first measurement
        anywhere = np.zeros((1, len(model.carried_names))), np.zeros((1, len(model.signals.inputs)))
        with np.errstate(all="ignore"):
            model.advance(*anywhere), model.jacobians(*anywhere)

    def start(self, acting: ArrayLike = 0.0) -> ControlState:
        """Return the state before the first measurement; `acting` are the moved inputs that act then."""
        given, names = real_array("acting", acting), self.problem.moved_names
        u = np.zeros(len(self.problem.model.signals.inputs))
        u[self.problem.moved] = per_signal("acting", np.full(len(names), given) if given.ndim == 0 else given, names)
        return ControlState(u)

    def step(
        self,
        state: ControlState,
        measured: ArrayLike,
        reference: ArrayLike,
        acted: ArrayLike | None = None,
        measured_inputs: ArrayLike | None = None,
        limits: Limits | None = None,
    ) -> ControlState:
        """Return the state with the input to apply until the next measurement; see `Controller.step`."""
        problem = self.problem
        begun, outputs = state.situation is not None, problem.model.signals.outputs
        y = per_signal("measured" if begun else "The first measured row", measured, outputs, missing=begun)
        wanted, cost, u = problem.references(reference), self._cost(measured_inputs, limits), state.acting.copy()
        if acted is not None:
            u[problem.moved] = per_signal("acted", acted, problem.moved_names)
        if state.situation is None:
            u[problem.pinned] = cost.low[0, problem.pinned]
            start, path = np.tile(u, (problem.horizon, 1)), None
        else:
            start, path = (
                _carried_on(state.plan) if state.plan is not None else (np.tile(u, (problem.horizon, 1)), None)
            )
        now = self._situation(state, u, y)
        plan = self._planner.plan(Request(now, wanted, u, cost), start, path)
        return ControlState(plan.acting[0], plan, now)

    def _cost(self, measured_inputs: ArrayLike | None, limits: Limits | None) -> Cost:
        """Return the cost with the limits and measured inputs of this step."""
        problem, found = self.problem, self.problem.cost
        if limits is not None:
            require_kind("limits= as Limits", limits, Limits, "Write Limits(inputs=(-1.0, 1.0)).")
            found = found.with_limits(limits, problem.moved)
        if (measured_inputs is None) == bool(len(problem.pinned)):
            raise KoopsieveError(
                f"measured_inputs, a value for each of ({', '.join(problem.measured_inputs) or 'none'}), "
                f"{'are needed at every step' if len(problem.pinned) else 'were given, but the problem has none'}."
            )
        if measured_inputs is None:
            return found
        forecast = rows_of("measured_inputs", measured_inputs, problem.measured_inputs, problem.horizon)
        return found.pinned(problem.pinned, forecast)

    def _situation(self, state: ControlState, acted: FloatArray, measured: FloatArray) -> Situation:
        if state.situation is not None:
            return self.estimator.update(state.situation, acted, measured)
        embedding = self.problem.model.signals.embedding
        past = [np.tile(measured, embedding.state_delays + 1), np.tile(acted, embedding.input_delays)]
        return self.estimator.start(np.concatenate(past))

    @cached_property
    def _planner(self) -> Planner:
        return Planner(self.problem, self.iterations, self.tolerance, self.time_limit)


@dataclass(eq=False)
class Controller:
    """A control law that remembers: measurement and reference in, input out.

    This object changes with every step. `law.step(state, …)` is the same without memory.

    Parameters
    ----------
    problem : ControlProblem
        What to minimise, from `Model.to_qp`.
    noise : Noise, optional
        Of plant and measurement, for the Kalman filter that estimates the state and the disturbance; by default the one
        that the model knows, as those from `sift` do. If it knows none, the state is the measured history.
    gain : float, optional
        Given, the state is the measured history even so: share of the newest one-step error that goes into the
        disturbance, 0.2 where there is no filter.
    drift : float, optional
        With a filter: rate of change of the disturbance, see `KalmanFilter`, 0.1 if left out; a larger one answers
        sooner, and moves the inputs more.
    gate : float
        Standard deviations beyond which a measurement is a spike and not used, one sample at most. It needs a model
        that knows its noise, or `noise`.
    iterations, tolerance, time_limit
        See `ControlLaw`.
    acting : float or array, shape (moved inputs,)
        The input that acts at the first measurement.
    """

    problem: ControlProblem
    noise: Noise | None = None
    gain: float | None = None
    drift: float | None = None
    gate: float = 8.0
    iterations: int = 3
    tolerance: float = 1e-5
    time_limit: float | None = None
    acting: ArrayLike = 0.0
    law: ControlLaw = field(init=False)
    state: ControlState = field(init=False)

    def __post_init__(self) -> None:
        require_kind("a ControlProblem", self.problem, ControlProblem, "Make it with model.to_qp(horizon=20).")
        self.law = self._law()
        self.reset(self.acting)

    def _law(self) -> ControlLaw:
        model = self.problem.model
        noise = model.noise if self.noise is None and self.gain is None else self.noise
        if self.noise is not None and self.gain is not None:
            raise KoopsieveError("gain= is for estimates from the history, noise= for a filter. Give one of the two.")
        if noise is None and self.drift is not None:
            raise KoopsieveError("drift= has no effect without a filter. Leave it out, or give noise= and no gain.")
        estimator: Estimator = (
            FromHistory(model, GAIN if self.gain is None else self.gain, self.gate)
            if noise is None
            else Filtered(KalmanFilter(model, noise, DRIFT if self.drift is None else self.drift, self.gate))
        )
        return ControlLaw(self.problem, estimator, self.iterations, self.tolerance, self.time_limit)

    def reset(self, acting: ArrayLike = 0.0) -> None:
        """Forget everything; `acting` is the input that acts at the next measurement."""
        self.state = self.law.start(acting)

    def follow_model(self, model: Model) -> None:
        """Go on with another model of the same signals, such as that of a `Predictor`; what is remembered stays."""
        situation, same = self.state.situation, model.carried_names == self.problem.model.carried_names
        self.problem = replace(self.problem, model=model)
        self.law = self._law()
        if situation is not None and not same:
            path = None if self.state.plan is None else replace(self.state.plan, path=None)
            self.state = replace(self.state, plan=path, situation=self.law.estimator.start(situation.line))

    @property
    def plan(self) -> Plan:
        """What the controller intends since its last step: inputs, outputs, cost, status.

        Raises
        ------
        KoopsieveError
            Before the first step.
        """
        if self.state.plan is None:
            raise KoopsieveError("There is no plan before the first step. Call controller.step(measured, reference).")
        return self.state.plan

    @property
    def innovations(self) -> Innovations:
        """The newest measurement less its prediction, which outputs were used, and a test of the model."""
        if self.state.situation is None:
            return Innovations.none(len(self.problem.model.signals.outputs))
        return self.state.situation.innovations

    def step(
        self,
        measured: ArrayLike,
        reference: ArrayLike,
        acted: ArrayLike | None = None,
        measured_inputs: ArrayLike | None = None,
        limits: Limits | None = None,
    ) -> FloatArray:
        """Return the input to apply from this measurement to the next.

        Parameters
        ----------
        measured : array, shape (n_outputs,)
            The newest outputs; NaN where one is missing, which is then predicted.
        reference : array, shape (n_outputs,), or (rows, n_outputs)
            Where the outputs should be from the next measurement on; the last row holds on.
        acted : array, shape (moved inputs,), optional
            The input that really acted since the last measurement, if it was not the one returned then.
        measured_inputs : array, shape (measured inputs,), or (rows, measured inputs), optional
            Inputs that are measured and not moved, from now on: the newest value, or a forecast; the last row holds on.
        limits : Limits, optional
            Other limits in this step only, with the same price.

        Returns
        -------
        array, shape (moved inputs,)

        Raises
        ------
        KoopsieveError
            If shapes do not fit, OSQP is not installed, or predictions are not finite.
        """
        self.state = self.law.step(self.state, measured, reference, acted, measured_inputs, limits)
        applied: FloatArray = self.plan.inputs[0]
        return applied

    def to_c(self, folder: str | os.PathLike[str], name: str = "controller", *, rounds: int = 400) -> tuple[Path, ...]:
        """Write filter and controller as C99, with the model, as `Model.to_c` does; linear and bilinear forms.

        `rounds` is the largest number of rounds of the solver for one quadratic programme; it bounds the time of a
        step, together with `iterations`. `time_limit` and `tolerance` are those of Python. Errors are those of
        `Model.to_c`, and one for a model of another form.
        """
        from koopsieve.control.c import to_c

        return to_c(self.law, self.acting, folder, name, rounds)


def _carried_on(plan: Plan) -> tuple[FloatArray, FloatArray | None]:
    """Return the rest of a plan and of its path, their last rows once more."""
    path = None if plan.path is None else np.concatenate([plan.path[1:], plan.path[-1:]])
    return np.concatenate([plan.acting[1:], plan.acting[-1:]]), path
