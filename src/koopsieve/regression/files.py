"""Files of statistics, so that yesterday's data need not be kept to learn from tomorrow's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._archive import Arrays, read_archive, write_archive
from koopsieve._types import KoopsieveError, increasing_indices, sorted_horizons
from koopsieve.data import Signals
from koopsieve.regression.factor import TriangularFactor

if TYPE_CHECKING:
    from koopsieve.regression.statistics import RegressionStatistics

KIND = "koopsieve statistics"
VERSION = 2
_FIELDS = ("R", "S", "leftover", "rows")


def save_statistics(path: str | os.PathLike[str], statistics: RegressionStatistics) -> None:
    """Write statistics to one .npz file, whole or not at all."""
    ahead = statistics.ahead
    header: dict[str, Any] = {
        "observables": statistics.observables,
        "drives": statistics.drives,
        "outputs": statistics.outputs,
        "signals": statistics.signals.to_dict(),
        "ahead": None,
    }
    arrays = _arrays("one_step", statistics.factor)
    if ahead is not None:
        header["ahead"] = {"outputs": ahead.outputs, "horizons": ahead.horizons}
        arrays |= _arrays("ahead", ahead.factor)
    write_archive(path, KIND, VERSION, header, arrays)


def load_statistics(path: str | os.PathLike[str]) -> RegressionStatistics:
    """Read statistics that `save_statistics` wrote."""
    return read_archive(path, KIND, VERSION, _build)


def _build(header: dict[str, Any], arrays: Arrays) -> RegressionStatistics:
    from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics

    observables, drives = _names(header["observables"]), _names(header["drives"])
    signals = Signals.from_dict(header["signals"])
    L, inputs = len(observables), signals.acting
    known = tuple(increasing_indices("outputs", header["outputs"], L).tolist())
    factor = _factor("one_step", arrays, L + len(drives), L)
    if header["ahead"] is None:
        return RegressionStatistics(factor, observables, drives, None, known, signals)
    outputs = _names(header["ahead"]["outputs"])
    horizons = sorted_horizons(header["ahead"]["horizons"])
    further = _factor("ahead", arrays, L + len(inputs) * horizons[-1], len(outputs) * len(horizons))
    ahead = HorizonStatistics(further, observables, inputs, outputs, horizons)
    return RegressionStatistics(factor, observables, drives, ahead, known, signals)


def _names(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise KoopsieveError(f"Its names must be lists of text. Got {str(names)[:80]}.")
    return tuple(names)


def _arrays(prefix: str, factor: TriangularFactor) -> dict[str, NDArray[Any]]:
    return {f"{prefix}.{name}": np.asarray(getattr(factor, name), dtype=float) for name in _FIELDS}


def _factor(prefix: str, arrays: Arrays, p: int, q: int) -> TriangularFactor:
    R, S, leftover, rows = (arrays[f"{prefix}.{name}"] for name in _FIELDS)
    shapes = [values.shape for values in (R, S, leftover, rows)]
    if shapes != [(p, p), (p, q), (q,), ()] or any(v.dtype != np.float64 for v in (R, S, leftover, rows)):
        raise KoopsieveError(f"Its arrays do not belong to {p} regressors and {q} targets: they have shapes {shapes}.")
    finite = all(np.isfinite(v).all() for v in (R, S, leftover, rows))
    if not finite or np.tril(R, -1).any() or (leftover < 0).any() or rows < 0:
        raise KoopsieveError("Its arrays are not a triangular factor of any data.")
    return TriangularFactor(R, S, leftover, float(rows))
