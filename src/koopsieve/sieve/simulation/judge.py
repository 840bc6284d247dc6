"""How well candidates predict validation data: at the horizons asked for, and in long simulations.

Comes in: coefficients of several candidates and validation episodes. Goes out: their errors, measure by measure and
block by block of windows, the same blocks for every candidate so that they can be compared in pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.sieve.simulation.simulate import Reprojected
from koopsieve.sieve.simulation.windows import Episode, Windows, draw_windows

_WINDOWS, _BLOCKS = 400, 20  # windows for the horizons, and blocks of neighbours they are put together to
_STRETCHES, _LONGEST = 16, 2000  # long simulations, and their steps at most


@dataclass(frozen=True, eq=False)
class Judgement:
    """Errors of candidates on validation data.

    Parameters
    ----------
    horizons : tuple of int
        Steps ahead of the first measures; the last measure is the long simulation.
    blocks : tuple of arrays, each (candidates, number of blocks)
        One per measure: mean squared error relative to the outputs' variance, averaged over the outputs.
    stretch : int
        Steps of a long simulation.
    """

    horizons: tuple[int, ...]
    blocks: tuple[FloatArray, ...]
    stretch: int

    @property
    def error(self) -> FloatArray:
        """Mean over the blocks, shape (candidates, measures)."""
        return np.stack([blocks.mean(axis=1) for blocks in self.blocks], axis=1)

    def joined(self, other: Judgement) -> Judgement:
        """Return the judgement of as many candidates on these blocks and on others, as folds give them."""
        pairs = zip(self.blocks, other.blocks, strict=True)
        return Judgement(self.horizons, tuple(np.hstack(pair) for pair in pairs), max(self.stretch, other.stretch))


def judge(
    model: Reprojected,
    coefs: Sequence[FloatArray],
    episodes: Iterable[Episode],
    horizons: Sequence[int],
    rng: np.random.Generator,
) -> Judgement:
    """Simulate every candidate over windows up to the longest horizon, and over stretches as long as the data allow.

    Parameters
    ----------
    model : Reprojected
        With all regressors.
    coefs : sequence of arrays (p, n)
        The candidates.
    episodes : iterable of (states, inputs)
        Validation episodes, embedded.
    horizons : sequence of int
        Steps ahead.
    rng : numpy.random.Generator
        Draws the windows.

    Raises
    ------
    KoopsieveError
        If no validation episode is as long as the longest horizon.
    """
    held, n = list(episodes), model.line.outputs
    wanted = tuple(sorted({int(h) for h in horizons}))
    longest = max((len(inputs) for _, inputs in held), default=0)
    if not wanted or wanted[0] < 1 or wanted[-1] > longest:
        raise KoopsieveError(
            f"horizons must be whole numbers between 1 and {longest}, the steps of the longest validation episode. "
            f"Got {list(horizons)}. Ask for shorter horizons, or hold out longer stretches."
        )
    variance = np.var(np.concatenate([states[:, :n] for states, _ in held]), axis=0)
    variance = np.where(variance > 0, variance, 1.0)
    short = draw_windows(held, n, wanted[-1], _WINDOWS, rng)
    stretch = _stretch(held, wanted[-1])
    long = draw_windows(held, n, stretch, _STRETCHES, rng)
    ahead = np.stack([_errors(model, coef, short, variance)[:, np.array(wanted) - 1] for coef in coefs])
    simulated = np.stack([_errors(model, coef, long, variance).mean(axis=1) for coef in coefs])
    blocks = [np.stack([b.mean(axis=1) for b in _split(ahead[:, :, m])], axis=1) for m in range(len(wanted))]
    return Judgement(wanted, (*blocks, simulated), stretch)


def _stretch(episodes: Sequence[Episode], horizon: int) -> int:
    """Return the steps of a long simulation: whole episodes of usual length, cut where they are very long."""
    usual = int(np.median([len(inputs) for _, inputs in episodes]))
    total = sum(len(inputs) for _, inputs in episodes)
    return max(horizon, min(usual, _LONGEST, max(total // _STRETCHES, usual // 2)))


def _errors(model: Reprojected, coef: FloatArray, windows: Windows, variance: FloatArray) -> FloatArray:
    """Return the squared error of every window after every step, mean over outputs, shape (W, T)."""
    used = np.flatnonzero(coef.any(axis=1))
    simulated = model.select(used).simulate(coef[used], windows.starts, windows.inputs)
    errors: FloatArray = np.mean((simulated - windows.outputs) ** 2 / variance, axis=2)
    return errors


def _split(errors: FloatArray) -> list[FloatArray]:
    return np.array_split(errors, min(_BLOCKS, errors.shape[1]), axis=1)
