"""Conditioning of a regression: numerical rank and condition number of its design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.regression.statistics import RegressionStatistics


@dataclass(frozen=True)
class DesignDiagnostics:
    """Numerical rank and condition number of the design with every column scaled to unit length.

    Scaling first makes both independent of the units of the observables. A column of zeros stays zero and counts as
    missing rank.

    Parameters
    ----------
    columns : int
        Number of regressors, L + l.
    rank : int
        Singular values above max(rows, columns)·ε times the largest: number of regressors that the data determine.
    condition_number : float
        Largest over smallest singular value; inf when a column is zero or an exact combination of others.
    """

    columns: int
    rank: int
    condition_number: float


def design_diagnostics(statistics: RegressionStatistics) -> DesignDiagnostics:
    """Return rank and condition number of the column-scaled design, from its triangular factor alone."""
    R = statistics.R
    length = np.linalg.norm(R, axis=0)
    singular: FloatArray = np.linalg.svd(R / np.where(length > 0, length, 1.0), compute_uv=False).astype(float)
    columns = R.shape[1]
    smallest_seen = max(statistics.rows, columns) * np.finfo(float).eps * singular.max(initial=0.0)
    return DesignDiagnostics(columns, int(np.sum(singular > smallest_seen)), _ratio(singular))


def condition_number(matrix: FloatArray) -> float:
    """Return the ratio κ of the largest to the smallest singular value; inf for a singular or non-finite matrix.

    Examples
    --------
    >>> condition_number(np.diag([1.0, 100.0]))
    100.0
    """
    if not np.isfinite(matrix).all():
        return np.inf
    return _ratio(np.linalg.svd(matrix, compute_uv=False).astype(float))


def _ratio(singular: FloatArray) -> float:
    if singular.size == 0:
        return 1.0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = float(singular[0] / singular[-1])
    return np.inf if np.isnan(ratio) else ratio
