"""The bilinear form over many windows: simulation, and the gradient of its loss by one backward pass.

One step (D64): φ⁺ = Aφ + Bu + Σ_j u_j N_j φ, written row by row as φ⁺ = [φ, u, u₁φ, …, u_lφ]·K, the products with those
observables only that vary. The lifted state is propagated and never lifted anew. Without inputs this is the linear
form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray

_FLOOR = 1e-14  # squared error relative to the output's variance below which differences are rounding


@dataclass(frozen=True, eq=False)
class LiftedWindows:
    """Windows of a lifted model.

    Parameters
    ----------
    starts : array, shape (W, L)
        The observables at the start of each window.
    inputs : array, shape (W, T, l)
        The input that acts in each step.
    outputs : array, shape (W, T, n)
        The outputs measured after each step.
    varying : array of int, shape (V,)
        The observables that are multiplied with the inputs.
    """

    starts: FloatArray
    inputs: FloatArray
    outputs: FloatArray
    varying: IndexArray

    def shortened(self, length: int) -> LiftedWindows:
        """Return the same windows, ended after `length` steps."""
        return replace(self, inputs=self.inputs[:, :length], outputs=self.outputs[:, :length])


def bilinear_design(lifted: FloatArray, inputs: FloatArray, varying: IndexArray) -> FloatArray:
    """Return [φ, u, u₁φ, …, u_lφ] of every row, shape (N, L + l + l·V)."""
    products = (inputs[:, :, None] * lifted[:, None, varying]).reshape(len(lifted), -1)
    return np.hstack([lifted, inputs, products])


def simulate_lifted(K: FloatArray, windows: LiftedWindows) -> FloatArray:
    """Return the lifted states at the start and after each step, shape (T + 1, W, L), (D64)."""
    steps = windows.inputs.shape[1]
    states = np.empty((steps + 1, *windows.starts.shape))
    states[0] = windows.starts
    for t in range(steps):
        states[t + 1] = bilinear_design(states[t], windows.inputs[:, t], windows.varying) @ K
    return states


def log_error_and_gradient(
    K: FloatArray, windows: LiftedWindows, columns: IndexArray, weight: FloatArray
) -> tuple[float, FloatArray]:
    """Return Σ weight·log(squared error) over steps and outputs, and its gradient by K (D52, D65).

    Parameters
    ----------
    K : array, shape (L + l + l·V, L)
    windows : LiftedWindows
    columns : array of int, shape (n,)
        The observables that are the outputs.
    weight : array, shape (T, n)
        Weight of each output after each step; they sum to one.

    Returns
    -------
    loss : float
        inf where the simulation overflows.
    gradient : array, as K
    """
    states = simulate_lifted(K, windows)
    errors = states[1:, :, columns] - windows.outputs.transpose(1, 0, 2)  # (T, W, n)
    variance = np.var(windows.outputs, axis=(0, 1))
    squared = np.mean(errors**2, axis=1) / np.where(variance > 0, variance, 1.0)
    if not np.isfinite(squared).all():
        return np.inf, np.zeros_like(K)
    held = np.maximum(squared, _FLOOR)
    slopes = 2 * errors * (weight / held * (squared > _FLOOR) / np.where(variance > 0, variance, 1.0))[:, None]
    gradient = _adjoint(K, states, windows, columns, slopes / errors.shape[1])
    return float(np.sum(weight * np.log(held))), gradient


def _adjoint(
    K: FloatArray, states: FloatArray, windows: LiftedWindows, columns: IndexArray, slopes: FloatArray
) -> FloatArray:
    """Return the gradient by K, given that by the outputs after every step (T, W, n): the steps backwards (D65)."""
    W, T, inputs_count = windows.inputs.shape
    L, varying = states.shape[2], windows.varying
    gradient, carried = np.zeros_like(K), np.zeros((W, L))
    for t in range(T - 1, -1, -1):
        carried[:, columns] += slopes[t]
        gradient += bilinear_design(states[t], windows.inputs[:, t], varying).T @ carried
        back = carried @ K.T
        products = back[:, L + inputs_count :].reshape(W, inputs_count, len(varying))
        carried = back[:, :L]
        carried[:, varying] += np.einsum("wj,wji->wi", windows.inputs[:, t], products)
    return gradient
