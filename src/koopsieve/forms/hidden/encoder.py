"""The encoder: hidden states as a linear function of past outputs and inputs, fitted when the model is known.

First the states of long simulations are regressed on the delay line: what they mean may have moved while the model was
fitted. Then Levenberg–Marquardt lowers the errors of the first steps after a start (D88).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, or_one
from koopsieve.forms.hidden.structure import HiddenStructure
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt, NormalEquations
from koopsieve.sieve.simulation.windows import Episode, Windows

_RIDGE = 1e-6  # of the regression, relative to the squared norm of each column
_MAX_ROWS = 40_000  # of the regression
_FIT = LevenbergMarquardt(iterations=4, tolerance=1e-3, damping=1e-2)


@dataclass(frozen=True, eq=False)
class EncoderProblem:
    """Errors of the first steps after a start, as a function of the encoder; all signals are standardised.

    Parameters
    ----------
    structure : HiddenStructure
    coef : array, shape (n + outputs, m)
    lines : array, shape (W, 1 + n_x)
        A one and the delay line at each start.
    windows : Windows
        Short ones.
    """

    structure: HiddenStructure
    coef: FloatArray
    lines: FloatArray
    windows: Windows

    def starts(self, theta: FloatArray) -> FloatArray:
        """Return the hidden starts that an encoder θ, row by row, gives."""
        found: FloatArray = self.lines @ theta.reshape(self.structure.states, -1).T
        return found

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error."""
        simulated = self.structure.simulate(self.coef, self.starts(theta), self.windows.inputs)
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(np.mean((simulated - self.windows.outputs) ** 2))
        return loss if np.isfinite(loss) else np.inf

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return the products of the Jacobian: ∂y/∂E = (∂y/∂x) ⊗ line, so they come window by window (D88)."""
        found, slopes = self.structure.start_sensitivities(self.coef, self.starts(theta), self.windows.inputs)
        gap = self.windows.outputs - found
        curve = np.einsum("wtoi,wtoj->ijw", slopes, slopes)
        pull = np.einsum("wtoi,wto->iw", slopes, gap)
        blocks = [[self.lines.T @ (one[:, None] * self.lines) for one in row] for row in curve]
        return NormalEquations(np.block(blocks), (pull @ self.lines).ravel())


def fitted_encoder(
    structure: HiddenStructure,
    coef: FloatArray,
    rough: FloatArray,
    episodes: Iterable[Episode],
    windows: Windows,
    burn: int,
    steps: int,
) -> FloatArray:
    """Return the encoder (n, 1 + n_x) of a model.

    Parameters
    ----------
    structure, coef
        The model.
    rough : array, shape (n, 1 + n_x)
        Starts the simulations.
    episodes : iterable of (lines, inputs)
    windows : Windows
        Short ones, to fit to.
    burn, steps : int
        Simulations run for `burn` and `steps`; the states after `burn` count.
    """
    encoder = regressed_encoder(structure, coef, rough, episodes, burn, steps)
    problem = EncoderProblem(structure, coef, _with_one(windows.starts), windows)
    theta = min((encoder.ravel(), rough.ravel()), key=problem.loss)
    return _FIT.fit(problem, theta).theta.reshape(rough.shape)


def regressed_encoder(
    structure: HiddenStructure, coef: FloatArray, rough: FloatArray, episodes: Iterable[Episode], burn: int, steps: int
) -> FloatArray:
    """Return the regression of simulated states on the delay line; parameters as in `fitted_encoder`."""
    n, width = structure.states, rough.shape[1]
    factor = TriangularFactor.empty(width, n)
    for lines, inputs in episodes:
        whole = burn + steps
        count = min((len(inputs) - 1) // whole, max(_MAX_ROWS // steps, 1))
        if count < 1 or factor.rows >= _MAX_ROWS:
            continue
        first = np.linspace(0, len(inputs) - 1 - whole, count).astype(int)
        acting = inputs[first[:, None] + np.arange(whole)]
        states = structure.run(coef, encoded(rough, lines[first]), acting)[:, burn:, :n]
        seen = lines[first[:, None] + 1 + np.arange(burn, whole)]
        low, high = structure.limits
        good = ((states > low) & (states < high)).all(axis=2)
        factor = factor.absorb(_with_one(seen[good]), states[good])
    if factor.rows < 2 * width:
        return rough
    scale = or_one(np.linalg.norm(factor.R, axis=0))
    stacked = np.vstack([factor.R / scale, np.sqrt(_RIDGE) * np.eye(width)])
    target = np.vstack([factor.S, np.zeros((width, n))])
    found: FloatArray = (np.linalg.lstsq(stacked, target, rcond=None)[0] / scale[:, None]).T
    return found


def encoded(encoder: FloatArray, lines: FloatArray) -> FloatArray:
    """Return hidden states (samples, n) of standardised delay lines (samples, n_x)."""
    found: FloatArray = encoder[:, 0] + lines @ encoder[:, 1:].T
    return found


def _with_one(lines: FloatArray) -> FloatArray:
    return np.hstack([np.ones((len(lines), 1)), lines])
