"""Proposals to take regressors in or out while all the other weights make up for it.

Coordinate updates hold the other weights still, so among overlapping kernels they neither drop a regressor that its
neighbours could replace nor add one that needs them to give way. The gains here are those of backward elimination and
of forward selection by orthogonal least squares, for a stack of targets at once. They propose; whether the bound rises
is checked elsewhere.

The noise of a target has the posterior Gamma(ā, b̄): a squared error that changes by 2x changes the bound by
−ā·log(1 + x/b̄). Prices are compared with that as ratios, exp(price/ā) with 1 + x/b̄, which spares the logarithms.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify.linalg.standardise import StandardProblem

DEPENDENT = 1e-11  # energy outside the span of the active regressors below which one counts as dependent on them


def eliminate(C: FloatArray, w: FloatArray, price: FloatArray, a_bar: float, b_bar: FloatArray) -> BoolArray:
    """Return which active regressors to take out, by backward elimination, shape (n, k); at most half of them at once.

    Taking regressor i out raises ‖t − Φw‖² by w_i²/C_ii, C = (G + D)⁻¹ over the active regressors, once the others have
    made up for it. Regressors leave one by one, the most dispensable first, while that costs less than their price.

    Parameters
    ----------
    C : array, shape (n, k, k)
        It stays as it is: the columns that left it are kept beside it, and its diagonal is brought up to date.
    w, price : array, shape (n, k)
        Weights after the joint solve; what it costs the bound to have the regressor in.
    a_bar : float
    b_bar : array, shape (n, 1)
    """
    (n, k), most = w.shape, (w.shape[1] + 1) // 2
    gone, columns = np.zeros((n, k), dtype=bool), np.empty((n, most, k))
    alive, variance, saved = np.arange(n), np.einsum("nii->ni", C).copy(), _ratio(-price, a_bar)
    for number in range(most):
        growth = 0.5 * w**2 / variance
        cost = (1 + growth / b_bar) * saved
        best = np.argmin(cost, axis=1)
        leaving = cost[np.arange(alive.size), best] < 1
        if not leaving.all():
            alive, best, growth, columns = alive[leaving], best[leaving], growth[leaving], columns[leaving]
            w, b_bar, saved, variance = w[leaving], b_bar[leaving], saved[leaving], variance[leaving]
        if alive.size == 0:
            break
        rows = np.arange(alive.size)
        gone[alive, best] = True
        b_bar = b_bar + growth[rows, best, None]
        column = C[alive, best] - np.matmul(columns[rows, None, :number, best], columns[:, :number])[:, 0]
        column /= np.sqrt(variance[rows, best])[:, None]
        w = w - column * (w[rows, best] / column[rows, best])[:, None]
        variance = variance - column**2
        variance[rows, best] = saved[rows, best] = np.inf
        columns[:, number] = column
    return gone


def select(
    problem: StandardProblem,
    V: FloatArray,
    s: FloatArray,
    price: FloatArray,
    a_bar: float,
    b_bar: FloatArray,
    most: int,
) -> BoolArray:
    """Return which regressors to take in, by orthogonal least squares, shape (n, p).

    With V = L⁻¹G over the active regressors (LLᵀ = G + D), regressor i lowers ‖t − Φw‖² by s_i²/(g_i − Σ_k V_ki²). The
    best comes in first, while that gains more than its price, up to `most`.

    Parameters
    ----------
    V : array, shape (n, k, p)
    s, price : array, shape (n, p)
        Φᵀ(t − Φw) after the joint solve; what it would cost the bound to have the regressor in, inf for what is in.
    a_bar : float
    b_bar : array, shape (n, 1)
    most : int
    """
    chosen = np.zeros(s.shape, dtype=bool)
    alive, filled, least = np.arange(len(s)), V.shape[1], DEPENDENT * problem.rows
    outside, dear = problem.energy - np.einsum("nkp,nkp->np", V, V), _ratio(price, a_bar)
    for _ in range(min(most, len(problem.gram))):
        np.copyto(dear, np.inf, where=outside <= least)
        fall = 0.5 * s**2 / np.maximum(outside, least)
        cost = (1 - np.minimum(fall / b_bar, 1 - 1e-12)) * dear
        best = np.argmin(cost, axis=1)
        coming = cost[np.arange(alive.size), best] < 1
        if not coming.all():
            alive, best, V, fall = alive[coming], best[coming], V[coming], fall[coming]
            s, b_bar, dear, outside = s[coming], b_bar[coming], dear[coming], outside[coming]
        if alive.size == 0:
            break
        if filled == V.shape[1]:
            V = np.concatenate([V, np.empty((len(V), 8, V.shape[2]))], axis=1)
        rows = np.arange(alive.size)
        chosen[alive, best] = True
        v = problem.gram[best] - np.matmul(V[rows, None, :filled, best], V[:, :filled])[:, 0]
        v /= np.sqrt(outside[rows, best])[:, None]
        s = s - v * (s[rows, best] / v[rows, best])[:, None]
        outside = outside - v**2
        V[:, filled] = v
        filled += 1
        lower = np.maximum(b_bar - fall[rows, best, None], np.maximum(1e-12 * b_bar, 1e-24 * problem.rows))
        dear = dear * (b_bar / lower) ** (0.5 / a_bar)  # a sharper noise makes every weight narrower, so dearer
        dear[rows, best] = np.inf
        b_bar = lower
    return chosen


def _ratio(price: FloatArray, a_bar: float) -> FloatArray:
    with np.errstate(over="ignore"):  # an infinite price is an infinite ratio
        return np.exp(price / a_bar)
