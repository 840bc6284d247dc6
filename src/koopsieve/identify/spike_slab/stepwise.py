"""Which regressors to take in or out while the weights of all the others are solved anew, for a stack of targets.

Coordinate updates hold the other weights still, so among overlapping kernels they neither drop a regressor that its
neighbours could replace nor add one that takes over from them. `eliminate` is backward elimination, `select` forward
selection by orthogonal least squares; both go one regressor at a time, the best first, as long as the bound would rise
(D19, D21). They propose; whether the bound rises is checked by the caller.

When the squared error changes by 2x the bound changes by −ā·log(1 + x/b̄). A regressor with a given cost is therefore
judged by exp(−gain/ā) = (1 + x/b̄)·exp(±cost/ā), which is below one where the bound rises (D24): this needs no
logarithm per regressor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.standardise import StandardProblem

MIN_INDEPENDENT_ENERGY = 1e-11  # per row, outside the span of the active regressors: below, one depends on them
MAX_RELATIVE_FALL = 1 - 1e-12  # of b̄ by one regressor: more would leave rounding as noise
MIN_NOISE = 1e-24  # per row: b̄ stays above this


def eliminate(C: FloatArray, w: FloatArray, cost: FloatArray, a_bar: float, b_bar: FloatArray) -> BoolArray:
    """Return which active regressors to take out, by backward elimination, shape (n, k); at most half of them.

    C (n, k, k) is (G + D)⁻¹ over the active regressors of each target; w and cost (n, k) are the weights after the
    joint solve, and what it costs the bound to have the regressor in (D18); b̄ has shape (n, 1).
    """
    (n, k), most = w.shape, (w.shape[1] + 1) // 2
    variance = np.einsum("nkk->nk", C).copy()
    state = _Removals(np.arange(n), C, np.empty((n, most, k)), w, variance, b_bar, _exp(-cost / a_bar))
    return _turned(state, most, np.zeros((n, k), dtype=bool))


_ROUNDING = 1e-14  # of the variance at first; less is what subtraction leaves of nearly dependent regressors


@dataclass(frozen=True, eq=False)
class _Removals:
    """Targets whose bound still rises by a removal, and what is left of their regressions.

    C stays as it was given. The columns that left it are kept, each over the root of its pivot, so that any column of
    the present C is one of the original less its products with these; only the diagonal is brought up to date.
    """

    target: IndexArray
    C: FloatArray
    columns: FloatArray
    w: FloatArray
    variance: FloatArray
    b_bar: FloatArray
    saving: FloatArray

    def ratio(self) -> FloatArray:
        """Return exp(−gain/ā) of taking each regressor out: (D19), (D24)."""
        return (1 + self.growth / self.b_bar) * self.saving

    @cached_property
    def growth(self) -> FloatArray:
        """By how much b̄ grows without each regressor, ½·w_i²/C_ii: (D19)."""
        growth: FloatArray = 0.5 * self.w**2 / self.variance
        return growth

    def only(self, rows: IndexArray) -> _Removals:
        """Return the state of some of the targets."""
        if len(rows) == len(self.target):
            return self
        kept = (values[rows] for values in (self.columns, self.w, self.variance, self.b_bar, self.saving))
        return _Removals(self.target[rows], self.C, *kept)

    def after(self, leaving: IndexArray, removed: int) -> _Removals:
        """Return the state after each target lost one regressor, `removed` having left before: (D20)."""
        rows = np.arange(len(leaving))
        past, pivot = self.columns[:, :removed], self.variance[rows, leaving, None]
        column = self.C[self.target, leaving] - np.matmul(past[rows, None, :, leaving], past)[:, 0]
        scaled = self.columns[:, removed] = column / np.sqrt(pivot)
        w = self.w - column * (self.w[rows, leaving, None] / pivot)
        given = np.diagonal(self.C, axis1=1, axis2=2)[self.target]
        variance, saving = np.maximum(self.variance - scaled**2, _ROUNDING * given), self.saving.copy()
        variance[rows, leaving] = saving[rows, leaving] = np.inf  # it is gone, and cannot leave again
        b_bar = self.b_bar + self.growth[rows, leaving, None]
        return _Removals(self.target, self.C, self.columns, w, variance, b_bar, saving)


def select(
    problem: StandardProblem,
    V: FloatArray,
    s: FloatArray,
    cost: FloatArray,
    a_bar: float,
    b_bar: FloatArray,
    most: int,
) -> BoolArray:
    """Return which regressors to take in, by orthogonal least squares, shape (n, p); at most `most`.

    V (n, k, p) is L⁻¹G over the active regressors of each target, LLᵀ = G + D; s and cost (n, p) are Φᵀ(t − Φw) after
    the joint solve, and what it would cost the bound to have the regressor in (D18), inf for what is in; b̄ has shape
    (n, 1).
    """
    outside = problem.energy - np.einsum("nkp,nkp->np", V, V)
    (n, p), most = s.shape, min(most, len(problem.gram))
    newcomers = np.empty((n, most, p))
    state = _Additions(problem, np.arange(n), V, newcomers, s, outside, a_bar, b_bar, _exp(cost / a_bar))
    return _turned(state, most, np.zeros((n, p), dtype=bool))


@dataclass(frozen=True, eq=False)
class _Additions:
    """Targets whose bound still rises by an addition, and the part of each regressor outside their active ones.

    V stays as it was given; `newcomers` holds a row more for each regressor that came in, at the place of its target.
    `outside` is g_i less the squares of both over their rows, `s` the product of each regressor with the present
    residual.
    """

    problem: StandardProblem
    target: IndexArray
    V: FloatArray
    newcomers: FloatArray
    s: FloatArray
    outside: FloatArray
    a_bar: float
    b_bar: FloatArray
    charge: FloatArray

    def ratio(self) -> FloatArray:
        """Return exp(−gain/ā) of taking each regressor in, inf where it depends on the active ones: (D21), (D24)."""
        ratio = self._fall(self.s, self.outside)
        ratio /= self.b_bar
        np.minimum(ratio, MAX_RELATIVE_FALL, out=ratio)
        np.subtract(1, ratio, out=ratio)
        ratio *= self.charge
        np.copyto(ratio, np.inf, where=self.outside <= self._least)
        return ratio

    @property
    def _least(self) -> float:
        return MIN_INDEPENDENT_ENERGY * self.problem.rows

    def _fall(self, s: FloatArray, outside: FloatArray) -> FloatArray:
        """By how much b̄ falls with each regressor, ½·s_i²/(g_i − Σ_k V_ki²): (D21)."""
        fall: FloatArray = s * s
        fall *= 0.5
        fall /= np.maximum(outside, self._least)
        return fall

    def only(self, rows: IndexArray) -> _Additions:
        """Return the state of some of the targets."""
        if len(rows) == len(self.target):
            return self
        s, outside, b_bar, charge = self.s[rows], self.outside[rows], self.b_bar[rows], self.charge[rows]
        return replace(self, target=self.target[rows], s=s, outside=outside, b_bar=b_bar, charge=charge)

    def _explained(self, past: FloatArray, coming: IndexArray) -> FloatArray:
        """Return the products of all regressors with what comes in, as far as these rows explain them."""
        if len(self.target) == len(past):
            explained: FloatArray = np.matmul(past[self.target, None, :, coming], past)[:, 0]
            return explained
        places = zip(self.target.tolist(), coming.tolist(), strict=True)
        return np.stack([past[target, :, i] @ past[target] for target, i in places])  # which copies none of them

    def after(self, coming: IndexArray, added: int) -> _Additions:
        """Return the state after each target got one regressor more, `added` having come before: (D22), (D23)."""
        rows, v = np.arange(len(coming)), self.problem.gram[coming]
        s_in, outside_in = self.s[rows, coming, None], self.outside[rows, coming, None]
        length = np.sqrt(outside_in)
        for past in (self.V, self.newcomers[:, :added]):
            if past.shape[1]:
                v -= self._explained(past, coming)
        v /= length
        self.newcomers[self.target, added] = v
        s, outside = self.s - v * (s_in / length), self.outside - v * v
        lowest = np.maximum((1 - MAX_RELATIVE_FALL) * self.b_bar, MIN_NOISE * self.problem.rows)
        b_bar = np.maximum(self.b_bar - self._fall(s_in, outside_in), lowest)
        charge = self.charge * (self.b_bar / b_bar) ** (0.5 / self.a_bar)  # less noise makes weights narrower
        charge[rows, coming] = np.inf  # it is in, and cannot come again
        return replace(self, s=s, outside=outside, b_bar=b_bar, charge=charge)


def _turned(state: _Removals | _Additions, most: int, chosen: BoolArray) -> BoolArray:
    """Turn one regressor of each target at a time, the best first, as long as its bound would rise; return which."""
    for turned in range(most):
        ratio = state.ratio()
        best = np.argmin(ratio, axis=1)
        gaining = np.flatnonzero(ratio[np.arange(len(ratio)), best] < 1)
        state, best = state.only(gaining), best[gaining]
        if not gaining.size:
            break
        chosen[state.target, best] = True
        state = state.after(best, turned)
    return chosen


def _exp(values: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # an infinite cost is an infinite ratio
        return np.exp(values)
