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
VERSION = 3
_FIELDS = ("R", "S", "leftover_products", "rows")


def save_statistics(path: str | os.PathLike[str], statistics: RegressionStatistics) -> None:
    """Write statistics to one .npz file, whole or not at all."""
    multistep = statistics.multistep
    header: dict[str, Any] = {
        "observables": statistics.observables,
        "drives": statistics.input_terms,
        "outputs": statistics.outputs,
        "signals": statistics.signals.to_dict(),
        "ahead": None,
    }
    arrays = _arrays("one_step", statistics.factor)
    if statistics.region is not None:
        arrays["region"] = statistics.region
    if multistep is not None:
        header["ahead"] = {"outputs": multistep.outputs, "horizons": multistep.horizons}
        arrays |= _arrays("ahead", multistep.factor)
    write_archive(path, KIND, VERSION, header, arrays)


def load_statistics(path: str | os.PathLike[str]) -> RegressionStatistics:
    """Read statistics that `save_statistics` wrote."""
    return read_archive(path, KIND, VERSION, _build)


def _build(header: dict[str, Any], arrays: Arrays) -> RegressionStatistics:
    from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics

    observables, input_terms = _names(header["observables"]), _names(header["drives"])
    signals = Signals.from_dict(header["signals"])
    L, inputs = len(observables), signals.acting
    known = tuple(increasing_indices("outputs", header["outputs"], L).tolist())
    factor = _factor("one_step", arrays, L + len(input_terms), L)
    region = _region(arrays, len(signals.state_names) + len(inputs))
    if header["ahead"] is None:
        return RegressionStatistics(factor, observables, input_terms, None, known, signals, region)
    outputs = _names(header["ahead"]["outputs"])
    horizons = sorted_horizons(header["ahead"]["horizons"])
    further = _factor("ahead", arrays, L + len(inputs) * horizons[-1], len(outputs) * len(horizons))
    multistep = HorizonStatistics(further, observables, inputs, outputs, horizons)
    return RegressionStatistics(factor, observables, input_terms, multistep, known, signals, region)


def _region(arrays: Arrays, columns: int) -> NDArray[Any] | None:
    region = arrays.get("region")
    if region is not None and (region.shape != (2, columns) or not (region[0] <= region[1]).all()):
        raise KoopsieveError(f"Its region does not hold least and largest values of {columns} states and inputs.")
    return region


def _names(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise KoopsieveError(f"Its names must be lists of text. Got {str(names)[:80]}.")
    return tuple(names)


def _arrays(prefix: str, factor: TriangularFactor) -> dict[str, NDArray[Any]]:
    return {f"{prefix}.{name}": np.asarray(getattr(factor, name), dtype=float) for name in _FIELDS}


def _factor(prefix: str, arrays: Arrays, p: int, q: int) -> TriangularFactor:
    values = R, S, left, rows = [arrays[f"{prefix}.{name}"] for name in _FIELDS]
    shapes = [one.shape for one in values]
    if shapes != [(p, p), (p, q), (q, q), ()] or any(one.dtype != np.float64 for one in values):
        raise KoopsieveError(f"Its arrays do not belong to {p} regressors and {q} targets: they have shapes {shapes}.")
    squares = np.diagonal(left)
    possible = (squares >= 0).all() and np.allclose(left, left.T, atol=1e-9 * squares.max(initial=0.0)) and rows >= 0
    if not all(np.isfinite(one).all() for one in values) or np.tril(R, -1).any() or not possible:
        raise KoopsieveError("Its arrays are not a triangular factor of any data.")
    return TriangularFactor(R, S, left, float(rows))
