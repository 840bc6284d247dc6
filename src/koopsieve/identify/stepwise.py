"""Proposals to take regressors in or out while all the other weights make up for it.

Coordinate updates hold the other weights still, so among overlapping kernels they neither drop a regressor that its
neighbours could replace nor add one that needs them to give way. The gains here are those of backward elimination and
of forward selection by orthogonal least squares, target by target. They propose; whether the bound rises is checked
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify import stacks
from koopsieve.identify.batches import batches
from koopsieve.identify.standardise import StandardProblem

DEPENDENT = 1e-11  # energy outside the span of the active regressors below which one counts as dependent on them
Noise = tuple[float, FloatArray]


def propose_drops(
    problem: StandardProblem, active: BoolArray, w: FloatArray, ridge: FloatArray, noise: Noise, price: FloatArray
) -> BoolArray:
    """Return which active regressors to take out, by backward elimination; at most half of them at once.

    Taking regressor i out raises ‖t − Φw‖² by w_i²/C_ii, C = (G + D)⁻¹ over the active regressors, once the others have
    made up for it. Regressors leave one by one, the most dispensable first, while that costs less than their price.

    Parameters
    ----------
    active : array of bool, shape (p, q)
        Which regressors are in.
    w, ridge, price : array, shape (p, q)
        Weights after the joint solve; its diagonal D; what it costs the bound to have the regressor in.
    noise : (ā, b̄)
        Parameters of q(ρ): a squared error that grows by x costs the bound ā·log(1 + x/2b̄).
    """
    a_bar, b_bar = noise
    out = np.zeros(active.shape, dtype=bool)
    for batch in batches(active):
        C = stacks.inverse(stacks.factorise(batch.system(problem, ridge), problem.rows))
        price_ = batch.gather(price, -np.inf)
        batch.scatter(out, _eliminate(C, batch.gather(w, 0.0), a_bar, b_bar[batch.targets, None], price_))
    return out


def _eliminate(C: FloatArray, w: FloatArray, a_bar: float, b_bar: FloatArray, price: FloatArray) -> BoolArray:
    """Run backward elimination on a batch: C (n, k, k), w and price (n, k); a regressor that left has price −inf."""
    gone = np.zeros(w.shape, dtype=bool)
    alive = np.arange(len(w))
    for _ in range((w.shape[1] + 1) // 2):
        growth = w**2 / np.where(np.isfinite(price), np.einsum("nii->ni", C), 1.0)
        gain = price - a_bar * np.log1p(0.5 * growth / b_bar)
        best = np.argmax(gain, axis=1)
        leaving = gain[np.arange(len(w)), best] > 0
        if not leaving.all():
            alive, best, growth = alive[leaving], best[leaving], growth[leaving]
            C, w, b_bar, price = C[leaving], w[leaving], b_bar[leaving], price[leaving]
        if alive.size == 0:
            break
        batch = np.arange(alive.size)
        gone[alive, best] = True
        price[batch, best] = -np.inf
        b_bar = b_bar + 0.5 * growth[batch, best, None]
        column = C[batch, :, best] / np.sqrt(C[batch, best, best])[:, None]
        w = w - column * (w[batch, best] / column[batch, best])[:, None]
        C -= column[:, :, None] * column[:, None, :]
    return gone


def propose_adds(
    problem: StandardProblem,
    active: BoolArray,
    correlation: FloatArray,
    ridge: FloatArray,
    noise: Noise,
    price: FloatArray,
    most: int,
    spare: int = 0,
) -> BoolArray:
    """Return which regressors to take in, by orthogonal least squares.

    With V = L⁻¹G over the active regressors (LLᵀ = G + D), regressor i lowers ‖t − Φw‖² by s_i²/(g_i − Σ_k V_ki²). The
    best comes in first, while that gains more than its price, up to `most`.

    Parameters
    ----------
    correlation : array, shape (p, q)
        Φᵀ(t − Φw) after the joint solve.
    most, spare : int
        How many may come in; how many of those although they gain nothing yet, for `propose_drops` to exchange them for
        others.
    """
    a_bar, b_bar = noise
    come = np.zeros(active.shape, dtype=bool)
    nothing = np.flatnonzero(~active.any(axis=0))
    for first in range(0, nothing.size, 64):
        targets = nothing[first : first + 64]
        V = np.zeros((targets.size, 0, len(active)))
        start = Forward(V, correlation[:, targets].T, b_bar[targets, None], price[:, targets].T)
        come[:, targets] = _select(problem, start, a_bar, most, spare).T
    for batch in batches(active, width=len(active)):
        L = stacks.factorise(batch.system(problem, ridge), problem.rows)
        V = stacks.forward(L, np.where(batch.real[:, :, None], problem.gram[batch.index], 0.0))
        worth = np.where(active[:, batch.targets], np.inf, price[:, batch.targets]).T
        start = Forward(V, correlation[:, batch.targets].T, b_bar[batch.targets, None], worth)
        come[:, batch.targets] = _select(problem, start, a_bar, most, spare).T
    return come


@dataclass(frozen=True, eq=False)
class Forward:
    """Where forward selection stands, for n targets: V (n, k, p); s and price (n, p); b̄ (n, 1)."""

    V: FloatArray
    s: FloatArray
    b_bar: FloatArray
    price: FloatArray


def _select(problem: StandardProblem, start: Forward, a_bar: float, most: int, spare: int) -> BoolArray:
    """Run forward selection; a regressor that is in has price inf."""
    s, b_bar, price = start.s, start.b_bar, start.price
    chosen = np.zeros(s.shape, dtype=bool)
    alive, left = np.arange(len(s)), np.full(len(s), spare)
    outside = problem.energy - np.einsum("nkp,nkp->np", start.V, start.V)
    V, filled = start.V, start.V.shape[1]
    for _ in range(most):
        independent = outside > DEPENDENT * problem.rows
        fall = np.where(independent, s**2 / np.where(independent, outside, 1.0), 0.0)
        gain = -a_bar * np.log1p(-np.minimum(0.5 * fall / b_bar, 1 - 1e-12)) - price
        best = np.argmax(np.where(independent, gain, -np.inf), axis=1)
        value = gain[np.arange(len(s)), best]
        left = left - (value <= 0)
        coming = (left >= 0) & np.isfinite(value)
        if not coming.all():
            alive, best, left, V, fall = alive[coming], best[coming], left[coming], V[coming], fall[coming]
            s, b_bar, price, outside = s[coming], b_bar[coming], price[coming], outside[coming]
        if alive.size == 0:
            break
        if filled == V.shape[1]:
            V = np.concatenate([V, np.empty((len(V), 8, V.shape[2]))], axis=1)
        batch = np.arange(alive.size)
        chosen[alive, best] = True
        v = problem.gram[best] - np.matmul(V[batch, None, :filled, best], V[:, :filled])[:, 0]
        v /= np.sqrt(outside[batch, best])[:, None]
        s = s - v * (s[batch, best] / v[batch, best])[:, None]
        outside = outside - v**2
        V[:, filled] = v
        filled += 1
        lower = np.maximum(b_bar - 0.5 * fall[batch, best, None], np.maximum(1e-12 * b_bar, 1e-24 * problem.rows))
        price = price + 0.5 * np.log(
            b_bar / lower
        )  # a sharper noise makes every weight's posterior narrower, so dearer
        price[batch, best] = np.inf
        b_bar = lower
    return chosen
