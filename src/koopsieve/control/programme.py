"""The cost of a plan, and the quadratic programme of one step in the form that OSQP takes.

minimise ½·xᵀPx + qᵀx subject to l ≤ A·x ≤ u, where x holds the inputs over the horizon and then, where outputs have
limits, by how much these are exceeded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.control.limits import Limits, Weights
from koopsieve.control.prediction_matrices import AffinePrediction


@dataclass(frozen=True, eq=False)
class QuadraticProgramme:
    """Matrices and vectors of one step; P and A are dense arrays here.

    Parameters
    ----------
    P : array, shape (v, v)
    q : array, shape (v,)
    A : array, shape (c, v)
    l, u : array, shape (c,)
    """

    P: FloatArray
    q: FloatArray
    A: FloatArray
    l: FloatArray  # noqa: E741 - OSQP's name
    u: FloatArray


@dataclass(frozen=True, eq=False)
class Cost:
    """Weights and limits spread over the horizon: what depends on neither state nor reference.

    Inputs that are measured and not moved are pinned: they have no weights, and their limits are their forecast.
    """

    # Q, S, R (n, n), (l, l) and (l, l): weights of outputs, of changes of the inputs, and of inputs
    Q: FloatArray
    S: FloatArray
    R: FloatArray
    # low, high (H, l): limits of inputs
    low: FloatArray
    high: FloatArray
    rates: FloatArray  # (l,): limits of their changes
    output_low: FloatArray  # (H, n)
    output_high: FloatArray  # (H, n)
    price: FloatArray  # (n,): of exceeding the outputs' limits
    limited: IndexArray  # which of the H·n future outputs may have limits
    rate_limited: bool  # whether changes of inputs may have limits

    @classmethod
    def of(cls, horizon: int, outputs: int, moved: IndexArray, inputs: int, weights: Weights, limits: Limits) -> Cost:
        """Spread weights and limits, which are those of the moved inputs, over horizon and inputs."""
        S, R = np.zeros((inputs, inputs)), np.zeros((inputs, inputs))
        S[np.ix_(moved, moved)], R[np.ix_(moved, moved)] = (
            weights.of("rates", len(moved)),
            weights.of("inputs", len(moved)),
        )
        low, high = np.zeros((horizon, inputs)), np.zeros((horizon, inputs))
        low[:, moved], high[:, moved] = limits.bounds("inputs", horizon, len(moved))
        rates = np.full(inputs, np.inf)
        rates[moved] = limits.rate_bounds(len(moved))
        least, most = limits.bounds("outputs", horizon, outputs)
        limited = np.flatnonzero((np.isfinite(least) | np.isfinite(most)).ravel())
        Q, price = weights.of("outputs", outputs), limits.prices(outputs)
        some = bool(np.isfinite(rates).any())
        return cls(Q, S, R, low, high, rates, least, most, price, limited, some)

    def with_limits(self, limits: Limits, moved: IndexArray) -> Cost:
        """Return the same weights and price with other limits; one that was not there before is refused."""
        H, n = self.output_low.shape
        least, most = limits.bounds("outputs", H, n)
        rates, added = self.rates.copy(), np.isfinite(least) | np.isfinite(most)
        rates[moved] = limits.rate_bounds(len(moved))
        added.flat[self.limited] = False
        if added.any() or (np.isfinite(rates).any() and not self.rate_limited):
            raise KoopsieveError(
                "limits= of a step may change limits, not add new ones. Give those outputs and rates a limit in to_qp "
                "too, as wide as you like."
            )
        low, high = self.low.copy(), self.high.copy()
        low[:, moved], high[:, moved] = limits.bounds("inputs", H, len(moved))
        return replace(self, low=low, high=high, rates=rates, output_low=least, output_high=most)

    def pinned(self, columns: IndexArray, forecast: FloatArray) -> Cost:
        """Return the cost with measured inputs held at their forecast (H, columns)."""
        low, high = self.low.copy(), self.high.copy()
        low[:, columns] = high[:, columns] = forecast
        return replace(self, low=low, high=high)

    @property
    def moves(self) -> int:
        """Number of inputs over the horizon."""
        return self.low.size

    @cached_property
    def prices(self) -> FloatArray:
        """The price of every output that may have limits."""
        return np.tile(self.price, len(self.low))[self.limited]

    @cached_property
    def rate_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest change of every input before each step, shape (H, l).

        Where limits of inputs move faster than the inputs may, the change that keeps to them is allowed.
        """
        up = np.tile(self.rates, (len(self.low), 1))
        down = -up
        with np.errstate(invalid="ignore"):
            down[1:] = np.fmin(down[1:], np.diff(self.high, axis=0))
            up[1:] = np.fmax(up[1:], np.diff(self.low, axis=0))
        return down, up

    @cached_property
    def changes(self) -> FloatArray:
        """The matrix D with D·U = (u[k], u[k+1] − u[k], …)."""
        return np.eye(self.moves) - np.eye(self.moves, k=-self.low.shape[1])

    @cached_property
    def of_inputs(self) -> FloatArray:
        """DᵀSD + R: the part of P that never changes."""
        each, D = np.eye(len(self.low)), self.changes
        found: FloatArray = D.T @ np.kron(each, self.S) @ D + np.kron(each, self.R)
        return found

    def value(
        self, outputs: FloatArray, plans: FloatArray, reference: FloatArray, previous: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the cost of plans (k, H, l) with outputs (k, H, n), and that of each step's outputs (k, H).

        An output that is not finite costs infinity.
        """
        with np.errstate(all="ignore"):
            gap = outputs - reference
            each = 0.5 * (gap @ self.Q * gap).sum(axis=2)
            if len(self.limited):
                excess = np.maximum(np.maximum(self.output_low - outputs, outputs - self.output_high), 0.0)
                each += (excess + 0.5 * excess**2) @ self.price
            change = plans.copy()
            change[:, 0] -= previous
            change[:, 1:] -= plans[:, :-1]
            moved = (change @ self.S * change + plans @ self.R * plans).sum(axis=(1, 2))
            total = each.sum(axis=1) + 0.5 * moved
        return np.where(np.isfinite(total), total, np.inf), each

    def within(self, plans: FloatArray, previous: FloatArray) -> FloatArray:
        """Return plans (k, H, l) held within the limits of inputs and rates; limits of inputs go first."""
        found: FloatArray = np.clip(plans, self.low, self.high)
        if not self.rate_limited:
            return found
        before = np.clip(previous, self.low[0], self.high[0])
        for h in range(plans.shape[1]):
            steady = np.clip(plans[:, h], before - self.rates, before + self.rates)
            found[:, h] = before = np.clip(steady, self.low[h], self.high[h])
        return found


def hessian(cost: Cost, G: FloatArray) -> FloatArray:
    """Return P: GᵀQG + DᵀSD + R for the inputs (D73), the price for exceeded limits."""
    slack = len(cost.limited)
    weighed = (cost.Q @ G.reshape(len(cost.low), -1, cost.moves)).reshape(G.shape)
    moved: FloatArray = G.T @ weighed + cost.of_inputs
    if not slack:
        return moved
    P = np.zeros((cost.moves + slack, cost.moves + slack))
    P[: cost.moves, : cost.moves] = moved
    P[cost.moves :, cost.moves :] = np.diag(cost.prices)
    return P


def constraint_matrix(cost: Cost, G: FloatArray) -> FloatArray:
    """Return A: rows of inputs, of their changes, and of outputs below, above their limits, and of the excess."""
    slack = len(cost.limited)
    rows = [np.eye(cost.moves, cost.moves + slack)]
    if cost.rate_limited:
        rows.append(np.hstack([cost.changes, np.zeros((cost.moves, slack))]))
    if slack:
        limited = G[cost.limited]
        rows += [np.hstack([limited, -np.eye(slack)]), np.hstack([limited, np.eye(slack)])]
        rows.append(np.hstack([np.zeros((slack, cost.moves)), np.eye(slack)]))
    return np.vstack(rows)


def gradient(cost: Cost, prediction: AffinePrediction, reference: FloatArray, previous: FloatArray) -> FloatArray:
    """Return q: GᵀQ(free − r), what the last input adds through the first change (D73), and the price of excess."""
    q = np.empty(cost.moves + len(cost.limited))
    q[cost.moves :] = cost.prices
    gap = prediction.free.reshape(reference.shape) - reference
    q[: cost.moves] = prediction.G.T @ (gap @ cost.Q).ravel()
    q[: len(previous)] -= cost.S @ previous
    return q


def bounds(cost: Cost, prediction: AffinePrediction, previous: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return l and u, rows as in `constraint_matrix`.

    The first change counts from the last input, or from the limit that someone else's input was beyond: limits of
    inputs go before limits of their changes, so that there is always an input to take.
    """
    lower, upper = [cost.low.ravel()], [cost.high.ravel()]
    if cost.rate_limited:
        start = np.zeros_like(cost.low)
        start[0] = np.clip(previous, cost.low[0], cost.high[0])
        down, up = cost.rate_bounds
        lower.append((down + start).ravel())
        upper.append((up + start).ravel())
    if len(cost.limited):
        free, none = prediction.free[cost.limited], np.full(len(cost.limited), np.inf)
        least, most = (one.ravel()[cost.limited] for one in (cost.output_low, cost.output_high))
        lower += [-none, least - free, np.zeros(len(cost.limited))]
        upper += [most - free, none, none]
    return np.concatenate(lower), np.concatenate(upper)
