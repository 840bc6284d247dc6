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

_WINDOWS = 400  # windows for the horizons
_BLOCKS = 20  # blocks of neighbouring windows, and long simulations, at most
_LONGEST = 2000  # steps of a long simulation at most
_FEW = 4  # episodes below which long simulations take half of one


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

    def taken(self, candidates: Sequence[int]) -> Judgement:
        """Return the errors of some candidates."""
        chosen = np.asarray(candidates, dtype=np.intp)
        return Judgement(self.horizons, tuple(blocks[chosen] for blocks in self.blocks), self.stretch)

    def stacked(self, other: Judgement) -> Judgement:
        """Return the errors of these candidates and of others on the same blocks."""
        pairs = zip(self.blocks, other.blocks, strict=True)
        return Judgement(self.horizons, tuple(np.vstack(pair) for pair in pairs), self.stretch)

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
    steps = sum(len(inputs) for _, inputs in held)
    stretch = _stretch([len(inputs) for _, inputs in held], wanted[-1])
    long = draw_windows(held, n, stretch, int(np.clip(steps // stretch, 1, _BLOCKS)), rng)
    ahead = np.stack([_errors(model, coef, short, variance)[:, np.array(wanted) - 1] for coef in coefs])
    simulated = np.stack([_errors(model, coef, long, variance).mean(axis=1) for coef in coefs])
    count = int(np.clip(steps // (2 * wanted[-1]), 1, min(_BLOCKS, short.count)))  # so that blocks hardly overlap
    return Judgement(wanted, (*(_blocks(ahead[:, :, m], count) for m in range(len(wanted))), simulated), stretch)


def _stretch(lengths: Sequence[int], horizon: int) -> int:
    """Return the steps of a long simulation: a whole episode of usual length, or half of one where there are few."""
    usual = int(np.median(lengths))
    return max(horizon, min(usual if sum(lengths) >= _FEW * usual else usual // 2, _LONGEST))


def _errors(model: Reprojected, coef: FloatArray, windows: Windows, variance: FloatArray) -> FloatArray:
    """Return the squared error of every window after every step, mean over outputs, shape (W, T)."""
    used = np.flatnonzero(coef.any(axis=1))
    simulated = model.select(used).simulate(coef[used], windows.starts, windows.inputs)
    errors: FloatArray = np.mean((simulated - windows.outputs) ** 2 / variance, axis=2)
    return errors


def _blocks(errors: FloatArray, count: int) -> FloatArray:
    """Return the means of `count` blocks of consecutive windows, shape (candidates, count)."""
    return np.stack([part.mean(axis=1) for part in np.array_split(errors, count, axis=1)], axis=1)
