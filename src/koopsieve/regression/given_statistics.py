"""Statistics that are given: as matrices of lifted samples that another program made, or as a file of an earlier run.

With files, yesterday's data need not be kept to learn from tomorrow's. Both are checked before they become statistics.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._archive import Arrays, read_archive, write_archive
from koopsieve._types import FloatArray, KoopsieveError, increasing_indices, real_matrix, sorted_horizons, warn_user
from koopsieve.data import Signals
from koopsieve.io.reading.columns import names_of
from koopsieve.regression.factor import TriangularFactor, refuse_vanishing

if TYPE_CHECKING:
    from koopsieve.regression.statistics import RegressionStatistics


def checked_matrices(
    Phi: Any, Phi_next: Any, U: Any, names: Sequence[str] | None, input_names: Sequence[str] | None
) -> tuple[FloatArray, FloatArray, tuple[str, ...], tuple[str, ...]]:
    """Return the design [Φ | U], the targets, and the names of observables and inputs; see `from_matrices`."""
    lifted, following = real_matrix("Phi", Phi), real_matrix("Phi_next", Phi_next)
    acting = np.empty((len(lifted), 0)) if U is None else real_matrix("U", U)
    _require_same_size(lifted, following, acting)
    observables = _names("names", names, Phi, lifted.shape[1], "phi")
    inputs = _names("input_names", input_names, U, acting.shape[1], "u")
    twice = [name for place, name in enumerate(observables + inputs) if name in (observables + inputs)[:place]]
    if twice:
        raise KoopsieveError(f"The name {twice[0]!r} occurs twice. Give every observable and every input its own name.")
    if lifted.shape[1] > len(lifted):
        warn_user(
            f"Phi has {lifted.shape[1]} columns and only {len(lifted)} rows. Rows are samples: if the columns are, "
            "transpose the matrices."
        )
    for what, matrix, columns in (("Phi", lifted, observables), ("Phi_next", following, observables)):
        _require_usable(what, matrix, columns)
    _require_usable("U", acting, inputs)
    return np.concatenate([lifted, acting], axis=1), following, observables, inputs


def _require_same_size(lifted: FloatArray, following: FloatArray, acting: FloatArray) -> None:
    if lifted.shape[1] == 0:
        raise KoopsieveError(f"Phi must have at least one column, an observable each. Got {lifted.shape}.")
    if following.shape != lifted.shape:
        raise KoopsieveError(
            "Phi_next must hold the same observables one step later, row by row: row k of Phi is φ(x[k]), row k of "
            f"Phi_next is φ(x[k+1]). Expected {lifted.shape}, got {following.shape}. Of one record lifted as Z, pass "
            "Z[:-1] and Z[1:]."
        )
    if len(lifted) == 0:
        raise KoopsieveError("Phi has no rows. Expected at least one transition.")
    if len(acting) != len(lifted):
        raise KoopsieveError(
            "U must have one row per row of Phi, the inputs that act in that step. "
            f"Expected {len(lifted)} rows, got {len(acting)}."
        )


def _names(what: str, names: Any, given: Any, columns: int, prefix: str) -> tuple[str, ...]:
    """Return one name per column: those given, else those of a data frame, else numbered ones."""
    if names is None:
        framed = getattr(given, "columns", None)
        return tuple(f"{prefix}{i + 1}" for i in range(columns)) if framed is None else tuple(map(str, framed))
    found = names_of(what, names)
    if len(found) != columns:
        raise KoopsieveError(f"{what} must name every column. Expected {columns} names, got {len(found)}.")
    wrong = [name for name in found if not isinstance(name, str) or not name]
    if wrong:
        raise KoopsieveError(f"{what} must be text and not empty. Got {wrong[0]!r}.")
    return found


def _require_usable(what: str, matrix: FloatArray, columns: tuple[str, ...]) -> None:
    """Refuse what is not finite, and columns whose squares vanish."""
    wrong = ~np.isfinite(matrix)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        kind = "missing (NaN)" if np.isnan(matrix[row, column]) else "infinite"
        raise KoopsieveError(
            f"{what} must hold finite numbers. {columns[column]} is {kind} in row {row}, and {int(wrong.sum())} of "
            f"{matrix.size} values are not finite. Leave those rows out of Phi, Phi_next and U, or repair them."
        )
    refuse_vanishing(np.abs(matrix).max(axis=0, initial=0.0), columns)


KIND = "koopsieve statistics"
VERSION = 3
_FIELDS = ("R", "S", "leftover_products", "rows")
_INPUT_TERMS, _MULTISTEP = "drives", "ahead"  # as files of version 0.2.0 call them


def save_statistics(path: str | os.PathLike[str], statistics: RegressionStatistics) -> None:
    """Write statistics to one .npz file, whole or not at all."""
    multistep = statistics.multistep
    header: dict[str, Any] = {
        "observables": statistics.observables,
        _INPUT_TERMS: statistics.input_terms,
        "outputs": statistics.outputs,
        "signals": statistics.signals.to_dict(),
        _MULTISTEP: None,
    }
    arrays = _arrays("one_step", statistics.factor)
    if statistics.region is not None:
        arrays["region"] = statistics.region
    if multistep is not None:
        header[_MULTISTEP] = {"outputs": multistep.outputs, "horizons": multistep.horizons}
        arrays |= _arrays(_MULTISTEP, multistep.factor)
    write_archive(path, KIND, VERSION, header, arrays)


def load_statistics(path: str | os.PathLike[str]) -> RegressionStatistics:
    """Read statistics that `save_statistics` wrote."""
    return read_archive(path, KIND, VERSION, _build)


def _build(header: dict[str, Any], arrays: Arrays) -> RegressionStatistics:
    from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics

    observables, input_terms = _texts(header["observables"]), _texts(header[_INPUT_TERMS])
    signals = Signals.from_dict(header["signals"])
    L, inputs = len(observables), signals.acting
    known = tuple(increasing_indices("outputs", header["outputs"], L).tolist())
    factor = _factor("one_step", arrays, L + len(input_terms), L)
    region = _region(arrays, len(signals.state_names) + len(inputs))
    if header[_MULTISTEP] is None:
        return RegressionStatistics(factor, observables, input_terms, None, known, signals, region)
    outputs = _texts(header[_MULTISTEP]["outputs"])
    horizons = sorted_horizons(header[_MULTISTEP]["horizons"])
    further = _factor(_MULTISTEP, arrays, L + len(inputs) * horizons[-1], len(outputs) * len(horizons))
    multistep = HorizonStatistics(further, observables, inputs, outputs, horizons)
    return RegressionStatistics(factor, observables, input_terms, multistep, known, signals, region)


def _region(arrays: Arrays, columns: int) -> NDArray[Any] | None:
    region = arrays.get("region")
    if region is not None and (region.shape != (2, columns) or not (region[0] <= region[1]).all()):
        raise KoopsieveError(f"Its region does not hold least and largest values of {columns} states and inputs.")
    return region


def _texts(names: Any) -> tuple[str, ...]:
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
