"""Nonlinear model predictive control with the plant's own equations, solved by IPOPT through CasADi: the limit.

It minimises the same cost within the same limits as `koopsieve.control.Controller`. The disturbance itself it does not
know: it smooths its one-step errors, as `Controller(…, gain=…)` does. States that are not measured it sees as they are
(`follow(…, whole_state=True)`), and dead time it knows.
"""

from types import SimpleNamespace

import casadi
import numpy as np

from koopsieve import Signals
from koopsieve.control import Limits
from koopsieve.control.state_estimate import FromHistory

QUIET = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.warm_start_init_point": "yes"}


class TrueModel:
    """The plant without its disturbance, as a model: one sample by Runge–Kutta, as in the simulation."""

    noise = support = None

    def __init__(self, task):
        names = tuple(f"x{i}" for i in range(len(task.initial)))
        self.signals, self.carried_names = Signals(names, task.inputs, task.dt), names
        state, drive = casadi.SX.sym("x", len(names)), casadi.SX.sym("u", len(task.inputs))
        following = _sampled(task, state, drive)
        self.function = casadi.Function("plant", [state, drive], [following])

    def start(self, states):
        return states

    def advance(self, carried, acting):
        return np.array([np.array(self.function(x, u)).ravel() for x, u in zip(carried, acting, strict=True)])

    def read(self, carried):
        return carried


def _sampled(task, state, drive):
    """The state one sample later."""
    substeps = max(1, int(np.ceil(task.dt / task.max_step - 1e-9)))
    h, inputs = task.dt / substeps, casadi.vertsplit(drive)

    def slope(x):
        return casadi.vertcat(*task.derivative(casadi.vertsplit(x), inputs, casadi))

    for _ in range(substeps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


class NonlinearMPC:
    """Multiple shooting over the horizon, started from the last solution."""

    def __init__(self, task, gain):
        self.task, self.H = task, task.horizon
        self.n, self.l, self.late = len(task.initial), len(task.inputs), task.dead_time
        self.past = [np.array(task.acting)] * self.late  # on their way, the oldest first
        self.model = TrueModel(task)
        self.estimator = FromHistory(self.model, gain)
        self.situation, self.solution, self.input = None, None, np.array(task.acting)
        self._build(np.array(Limits().prices(len(task.outputs))))

    def _build(self, price):
        task, H, n, width, m = self.task, self.H, self.n, self.l, len(self.task.outputs)
        X, U, S = casadi.MX.sym("X", n, H + 1), casadi.MX.sym("U", width, H), casadi.MX.sym("S", m, H)
        x0, w, before = casadi.MX.sym("x0", n), casadi.MX.sym("w", n), casadi.MX.sym("before", width)
        reference, past = casadi.MX.sym("r", m, H), casadi.MX.sym("past", width, self.late)
        measured = list(task.measured or range(n))
        arriving = casadi.horzcat(past, U)
        low, high = task.output_limits
        cost, g, bounds = 0.0, [X[:, 0] - x0], [(np.zeros(n), np.zeros(n))]
        previous = before
        for h in range(H):
            g.append(X[:, h + 1] - self.model.function(X[:, h], arriving[:, h]) - w)
            bounds.append((np.zeros(n), np.zeros(n)))
            outputs = X[measured, h + 1]
            cost += casadi.dot(task.output_weights, (outputs - reference[:, h]) ** 2) / 2
            cost += casadi.dot(task.rate_weights, (U[:, h] - previous) ** 2) / 2
            cost += casadi.dot(price, S[:, h] + S[:, h] ** 2 / 2)
            g += [outputs - S[:, h], outputs + S[:, h]]
            bounds += [(np.full(m, -np.inf), np.array(high)), (np.array(low), np.full(m, np.inf))]
            previous = U[:, h]
        decision = casadi.vertcat(casadi.vec(X), casadi.vec(U), casadi.vec(S))
        parameters = casadi.vertcat(x0, w, before, casadi.vec(past), casadi.vec(reference))
        programme = {"x": decision, "p": parameters, "f": cost, "g": casadi.vertcat(*g)}
        self.solver = casadi.nlpsol("nmpc", "ipopt", programme, QUIET)
        least, largest = task.input_limits
        states, none = np.full(n * (H + 1), np.inf), np.full(m * H, np.inf)
        self.fixed = {
            "lbx": np.concatenate([-states, np.tile(least, H), np.zeros(m * H)]),
            "ubx": np.concatenate([states, np.tile(largest, H), none]),
            "lbg": np.concatenate([lower for lower, _ in bounds]),
            "ubg": np.concatenate([upper for _, upper in bounds]),
        }

    def step(self, measured, reference):
        y = np.asarray(measured)
        arrived = self.past[0] if self.late else self.input  # in the step before this one
        now = self.situation = (
            self.estimator.start(y) if self.situation is None else self.estimator.update(self.situation, arrived, y)
        )
        if self.late:
            self.past = [*self.past[1:], self.input]
        rows = np.asarray(reference)[np.minimum(np.arange(self.H), len(reference) - 1)]
        parameters = np.concatenate([now.carried, now.disturbance, self.input, *self.past, rows.ravel()])
        found = self.solver(x0=self._guess(now), p=parameters, **self.fixed)
        self.solution = self._parts(np.array(found["x"]).ravel())
        self.input = np.clip(self.solution.U[0], *map(np.array, self.task.input_limits))
        return self.input

    def _guess(self, now):
        if self.solution is None:
            slack = np.zeros(len(self.task.outputs) * self.H)
            return np.concatenate([np.tile(now.carried, self.H + 1), np.tile(self.input, self.H), slack])
        X, U, S = self.solution.X, self.solution.U, self.solution.S
        return np.concatenate([part for rows in (X, U, S) for part in (rows[1:].ravel(), rows[-1])])

    def _parts(self, values):
        first, second = self.n * (self.H + 1), self.l * self.H
        return SimpleNamespace(
            X=values[:first].reshape(-1, self.n),
            U=values[first : first + second].reshape(-1, self.l),
            S=values[first + second :].reshape(-1, len(self.task.outputs)),
        )
