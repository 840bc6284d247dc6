"""Which candidate of a path to take: the smallest that validation data cannot tell from the best.

Candidates are compared in pairs, block by block, by the logarithm of their error (D56): what is hard in a block is hard
for all of them and cancels.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.sieve.simulation.judge import Judgement

_ROUNDING, _DIVERGED = 1e-14, 1e6  # errors beyond these differ no more


class Matters(Enum):
    """What a model will be used for, and so what candidates are compared on."""

    HORIZONS = "predictions at the horizons asked for"
    SIMULATION = "long simulations"
    BOTH = "predictions and long simulations"


def choose_paired(judgement: Judgement, matters: Matters = Matters.BOTH, tolerance: float = 0.1) -> int:
    """Return the index of the first candidate that is as good as the best; candidates go from simple to complex.

    A candidate is as good if its error exceeds that of the best candidate by no more than one standard error of their
    paired difference, or by no more than `tolerance`. That is asked at each horizon alone and for the long simulation,
    as far as they matter: a gain at one must not be paid for at another. Where no candidate is as good everywhere, the
    one that misses least is taken.

    Parameters
    ----------
    judgement : Judgement
    matters : Matters
        What counts.
    tolerance : float
        Relative excess of the squared error that does not justify more terms.
    """
    measures = {Matters.HORIZONS: slice(0, -1), Matters.SIMULATION: slice(-1, None), Matters.BOTH: slice(None)}
    miss = np.max([_excess(log_errors(blocks), tolerance) for blocks in judgement.blocks[measures[matters]]], axis=0)
    return int(np.argmax(miss <= max(0.0, float(miss.min()))))


def log_errors(blocks: FloatArray) -> FloatArray:
    """Return the logarithms of errors; below rounding and after divergence all are alike."""
    return np.log(np.clip(np.nan_to_num(blocks, nan=np.inf, posinf=np.inf), _ROUNDING, _DIVERGED))


def _excess(logs: FloatArray, tolerance: float) -> FloatArray:
    """Return by how much each row's mean exceeds what is allowed above that of the best row (D56)."""
    best = int(np.argmin(logs.mean(axis=1)))
    gap = logs - logs[best]
    doubt = np.std(gap, axis=1, ddof=1) / np.sqrt(gap.shape[1]) if gap.shape[1] > 1 else np.zeros(len(gap))
    excess: FloatArray = gap.mean(axis=1) - np.maximum(doubt, np.log1p(tolerance))
    return excess
