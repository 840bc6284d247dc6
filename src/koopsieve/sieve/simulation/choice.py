"""Which candidate of a path to take: the smallest that validation data cannot tell from the best.

Candidates are compared in pairs, block by block, by the logarithm of their error (D56): what is hard in a block is hard
for all of them and cancels.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.sieve.simulation.judge import Judgement

_ROUNDING, _DIVERGED = 1e-14, 1e6  # errors beyond these differ no more


def choose_paired(judgement: Judgement, tolerance: float = 0.1) -> int:
    """Return the index of the first candidate that is as good as the best; candidates go from small to large.

    A candidate is as good if, for the horizons together and for the long simulation, its error exceeds that of the best
    candidate there by no more than one standard error of their paired difference, or by no more than `tolerance`. Where
    none is as good in both, the one that misses least is taken.

    Parameters
    ----------
    judgement : Judgement
    tolerance : float
        Relative excess of the squared error that does not justify more terms.
    """
    horizons = np.mean([log_errors(blocks) for blocks in judgement.blocks[:-1]], axis=0)
    simulation = log_errors(judgement.blocks[-1])
    miss = np.maximum(_excess(horizons, tolerance), _excess(simulation, tolerance))
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
