"""Solvers of the programme of a step: active sets where only limits of inputs act, otherwise OSQP, set up once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csc_matrix

from koopsieve._types import BoolArray, FloatArray, KoopsieveError, needed
from koopsieve.control.programme import QuadraticProgramme

MIN_SCALE = 1e-12  # lower bound of the diagonal entries of P and the rows of A that units are made of
USABLE_STATUS = (1, 2, 7, 8)  # OSQP's codes for solved, nearly solved, out of iterations, and out of time
MIN_SECONDS = 1e-4  # what OSQP is always given; zero would mean no limit
MAX_ACTIVE_SETS = 8  # tried before OSQP is asked
ROUNDING = 1e-9  # of a limit or a slope, as a share of its size


def within_input_limits(programme: QuadraticProgramme, moves: int, start: FloatArray) -> FloatArray | None:
    """Return the minimiser of a programme if only limits of its inputs, the first `moves` variables, act; None if not.

    Primal–dual active sets (D94), from those of `start`: inputs at a limit are fixed there and the others solved for;
    those that go beyond a limit join the set, and those that the cost pulls back leave it. Where this ends the answer
    is exact. If the other limits hold there too, no excess is needed, and its price keeps it at zero.
    """
    P, q, low, high = programme.P[:moves, :moves], programme.q[:moves], programme.l[:moves], programme.u[:moves]
    pinned = low == high
    at_low, at_high = (start <= low) & ~pinned, (start >= high) & ~pinned
    for _ in range(MAX_ACTIVE_SETS):
        free = np.flatnonzero(~(at_low | at_high | pinned))
        x = np.where(at_high, high, low)
        x[free] = 0.0
        block = P if len(free) == moves else P[free[:, None], free]
        _, found, wrong = lapack.dposv(block, -(P @ x + q)[free]) if len(free) else (None, x[free], 0)
        if wrong or not np.isfinite(found).all():
            return None
        x[free] = found
        slope, near = P @ x + q, ROUNDING * np.abs(q).max()
        now_low, now_high = (x < low) | (at_low & (slope >= -near)), (x > high) | (at_high & (slope <= near))
        if (now_low == at_low).all() and (now_high == at_high).all():
            others = programme.A[moves:, :moves] @ x
            near = ROUNDING * (1 + np.abs(others))
            kept = (others >= programme.l[moves:] - near) & (others <= programme.u[moves:] + near)
            return np.concatenate([x, np.zeros(len(programme.q) - moves)]) if kept.all() else None
        at_low, at_high = now_low, now_high
    return None


def scaled(given: QuadraticProgramme) -> tuple[QuadraticProgramme, FloatArray]:
    """Return a programme in units in which P has ones on its diagonal and no entry of A is above one, and the units.

    x = units·x'. OSQP takes ten times fewer iterations where signals differ much in size.
    """
    units = 1.0 / np.sqrt(np.maximum(np.diag(given.P), MIN_SCALE))
    A = given.A * units
    rows = 1.0 / np.maximum(np.abs(A).max(axis=1), MIN_SCALE)
    P = given.P * units * units[:, None]
    return QuadraticProgramme(P, given.q * units, A * rows[:, None], given.l * rows, given.u * rows), units


def entries(dense: FloatArray, mask: BoolArray) -> FloatArray:
    """Return the entries of a matrix where the mask is true, column by column as OSQP wants them."""
    found: FloatArray = dense.T[mask.T]
    return found


def sparse(dense: FloatArray, mask: BoolArray) -> Any:
    """Return the matrix with an entry wherever the mask is true, zeros included."""
    found = csc_matrix(mask, dtype=float)
    found.data = entries(dense, mask)
    return found


class Solver:
    """Active sets, and an OSQP workspace for where they do not end.

    The workspace keeps what it has factored; up to the tolerance, answers depend on the programme alone. `pattern` is P
    and A with an entry that is not zero wherever one may ever stand, `moves` the number of inputs over the horizon, the
    other variables being excesses; with `fixed` P and A stay what they are at the first programme.
    """

    def __init__(
        self, pattern: tuple[FloatArray, FloatArray], moves: int, fixed: bool, tolerance: float = 1e-5
    ) -> None:
        self._osqp = needed("osqp", "A controller", "osqp")
        self._P, self._A = np.triu(pattern[0]) != 0, pattern[1] != 0
        self._moves, self._fixed, self._tolerance = moves, fixed, tolerance
        self._workspace: Any = None

    def solve(
        self, programme: QuadraticProgramme, start: FloatArray | None = None, seconds: float | None = None
    ) -> FloatArray:
        """Return the minimiser, searched from `start` and for at most `seconds`, if these are given."""
        if not (np.isfinite(programme.P).all() and np.isfinite(programme.q).all()):
            raise KoopsieveError(
                "The model's predictions over the horizon are not finite. Use a shorter horizon or a stable model."
            )
        exact = within_input_limits(
            programme, self._moves, np.zeros(self._moves) if start is None else start[: self._moves]
        )
        if exact is not None:
            return exact
        rescaled, units = scaled(programme)
        self._load(rescaled)
        if start is not None:
            self._workspace.warm_start(x=start / units)
        if seconds is not None:
            self._workspace.update_settings(time_limit=max(seconds, MIN_SECONDS))
        answer = self._workspace.solve(raise_error=False)
        if answer.info.status_val not in USABLE_STATUS:
            raise KoopsieveError(f"OSQP found no input: {answer.info.status}. Check the limits of inputs and rates.")
        found: FloatArray = np.array(answer.x, dtype=float) * units
        return found

    def _load(self, programme: QuadraticProgramme) -> None:
        if self._workspace is None:
            self._workspace = self._osqp.OSQP()
            self._workspace.setup(
                sparse(programme.P, self._P),
                programme.q,
                sparse(programme.A, self._A),
                programme.l,
                programme.u,
                verbose=False,
                eps_abs=self._tolerance,
                eps_rel=self._tolerance,
                max_iter=10_000,
                warm_starting=True,
            )
            return
        changed = {} if self._fixed else {"Px": entries(programme.P, self._P), "Ax": entries(programme.A, self._A)}
        self._workspace.update(q=programme.q, l=programme.l, u=programme.u, **changed)
